// SPDX-License-Identifier: GPL-2.0
#include "policy/traffic.h"

#include "policy/bins.h"

/*
 * Rounds within which a cycle of the swap traffic is searched for. Without a cycle, the mean of so
 * many rounds is used. Few bins repeat after a few rounds; with many bins the limit bounds the
 * work.
 */
#define TRAFFIC_ROUNDS 64

/*
 * Simulated memory while bins take turns. The queue holds the bins that have bytes in memory, in
 * the order in which they ran: the front runs next, the back runs again last.
 */
struct memory {
	u64 *held; /* bytes of each bin in memory */
	u64 *before; /* the same at the end of an earlier round */
	u32 *queue; /* a ring of nbins entries */
	u32 front;
	u32 queued;
	u64 free;
	u64 in;
	u64 out;
};

size_t mts_plan_traffic_scratch(u32 n)
{
	return 2 * n * sizeof(u64) + n * sizeof(u32);
}

static void evict_from_back(struct memory *m, u32 nbins, u64 bytes)
{
	while (bytes && m->queued) {
		u32 last = (m->front + m->queued - 1) % nbins;
		u64 *held = &m->held[m->queue[last]];
		u64 part = mts_min(*held, bytes);

		*held -= part;
		bytes -= part;
		m->free += part;
		m->out = mts_add_sat(m->out, part);
		if (!*held)
			m->queued--;
	}
}

static void run_bin(struct memory *m, u32 nbins, u32 bin, u64 need)
{
	u64 lack = need - m->held[bin];

	if (m->queued && m->queue[m->front] == bin) {
		m->front = (m->front + 1) % nbins;
		m->queued--;
	}
	evict_from_back(m, nbins, mts_sub_floor(lack, m->free));

	m->free -= lack;
	m->in = mts_add_sat(m->in, lack);
	m->held[bin] = need;
	if (need)
		m->queue[(m->front + m->queued++) % nbins] = bin;
}

/*
 * The traffic of successive rounds differs even if nothing changes: the bin that keeps left-over
 * memory is another one each time. So take the mean over a cycle: the rounds from one state of the
 * memory to the next equal state. The search is Brent's: the state to compare with is replaced
 * after 1, 2, 4, ... rounds, because the first states may never recur.
 */
static void rotate(const struct mts_plan_bin *bins, struct mts_plan *plan, void *scratch)
{
	u64 size = plan->nbins * sizeof(u64);
	u32 rounds = 0, limit = 1;
	struct memory m = { .free = plan->capacity };
	u32 i;

	m.held = scratch;
	m.before = m.held + plan->nbins;
	m.queue = (void *)(m.before + plan->nbins);
	memset(m.held, 0, size);
	memset(m.before, 0, size);

	for (;;) {
		for (i = 0; i < plan->nbins; i++)
			run_bin(&m, plan->nbins, i, mts_min(bins[i].demand, plan->capacity));
		rounds++;
		if (!memcmp(m.held, m.before, size) || rounds == TRAFFIC_ROUNDS)
			break;
		if (rounds == limit) {
			memcpy(m.before, m.held, size);
			m.in = 0;
			m.out = 0;
			rounds = 0;
			limit *= 2;
		}
	}
	plan->swap_in_bytes = div64_u64(m.in, rounds);
	plan->swap_out_bytes = div64_u64(m.out, rounds);
}

void mts_plan_traffic(const struct mts_plan_conf *conf, const struct mts_plan_bin *bins,
		      struct mts_plan *plan, void *scratch)
{
	plan->swap_in_bytes = 0;
	plan->swap_out_bytes = 0;
	if (plan->nbins < 2)
		return;
	/* Of overlapping bins, those that run fill the memory: what waits is out. */
	if (conf->evict != MTS_EVICT_FULL && !plan->overlaps) {
		rotate(bins, plan, scratch);
		return;
	}
	plan->swap_in_bytes = mts_bins_sum_capped(bins, plan);
	plan->swap_out_bytes = plan->swap_in_bytes;
}
