// SPDX-License-Identifier: GPL-2.0
/* The plan of one round. */
#include "policy/bins.h"

/*
 * The longest cycle of rounds that the swap traffic is searched for; if there is
 * none, the mean of so many rounds is taken. Few bins repeat after a few rounds;
 * this bounds the work for many.
 */
#define TRAFFIC_ROUNDS 64

/* ---- slices --------------------------------------------------------------- */

static u64 mul_sat(u64 a, u32 b)
{
	return b && a > div64_u64(U64_MAX, b) ? U64_MAX : a * b;
}

static u64 slice_of(const struct mts_plan_conf *conf, const struct mts_plan_bin *bin, u64 capacity,
		    u64 full)
{
	u64 share = 0;

	/* Also what keeps the quotient within 64 bits, and off a zero divisor. */
	if (bin->demand >= capacity)
		return full;
	if (bin->demand && full)
		share = mul_u64_u64_div_u64(full, bin->demand, capacity);
	return mts_max(share, mts_min(conf->min_slice_ns, full));
}

/* Give out slices, where a full bin has the given one. Return the longest pause. */
static u64 set_slices(const struct mts_plan_conf *conf, struct mts_plan_bin *bins,
		      struct mts_plan *plan, u64 full)
{
	u64 shortest = U64_MAX, run = 0;
	u32 i;

	for (i = 0; i < plan->nbins; i++) {
		bins[i].slice_ns = slice_of(conf, &bins[i], plan->capacity, full);
		shortest = mts_min(shortest, bins[i].slice_ns);
		run = mts_add_sat(run, bins[i].slice_ns);
	}
	plan->run_ns = run;
	plan->round_ns = mts_add_sat(run, mul_sat(conf->switch_ns, plan->nbins));
	return plan->round_ns - shortest;
}

static void set_pauses(struct mts_plan_bin *bins, struct mts_plan *plan)
{
	u32 i;

	for (i = 0; i < plan->nbins; i++) {
		bins[i].pause_ns = plan->round_ns - bins[i].slice_ns;
		plan->longest_pause_ns = mts_max(plan->longest_pause_ns, bins[i].pause_ns);
	}
}

/* Sum of what the bins can hold: each at most the capacity. */
static u64 sum_capped(const struct mts_plan_bin *bins, const struct mts_plan *plan)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < plan->nbins; i++)
		sum = mts_add_sat(sum, mts_min(bins[i].demand, plan->capacity));
	return sum;
}

/*
 * A full bin's slice with which switches take @overhead of a round, and no
 * shorter than conf->slice_ns. Bins that are kept at the minimum make the
 * round longer than reckoned here, and their share smaller.
 */
static u64 full_slice(const struct mts_plan_conf *conf, const struct mts_plan_bin *bins,
		      const struct mts_plan *plan, u32 overhead)
{
	u64 switches, slices, sum = sum_capped(bins, plan);

	if (!overhead || overhead >= 1000 || !conf->switch_ns || plan->nbins < 2 || !sum)
		return conf->slice_ns;
	/* Beyond it the answer is the longest slice there is, whatever the rest. */
	switches = mts_min(conf->switch_ns, MTS_SLICE_MAX_NS) * plan->nbins;
	slices = div64_u64(switches * (1000 - overhead), overhead);
	if (slices / plan->nbins >= MTS_SLICE_MAX_NS)
		slices = MTS_SLICE_MAX_NS * plan->nbins;
	/* All bins together have sum / capacity times a full slice, at least once. */
	slices = mul_u64_u64_div_u64(slices, plan->capacity, mts_max(sum, plan->capacity));
	return mts_max(conf->slice_ns, mts_min(slices, MTS_SLICE_MAX_NS));
}

/*
 * Of [low, high), the longest full slice that keeps the limit, where low keeps it by
 * @below and high exceeds it by @above. A longer full slice never makes a pause shorter, and
 * the pause grows almost in a straight line, so the next try is where the line
 * between the two ends crosses the limit. An end that is tried in vain twice
 * in a row counts for half (the Illinois algorithm), and every fourth try is
 * the middle, which bounds their number whatever the line looks like.
 */
static u64 search_slice(const struct mts_plan_conf *conf, struct mts_plan_bin *bins,
			struct mts_plan *plan, u64 low, u64 high, u64 below, u64 above)
{
	u32 tries, lows = 0, highs = 0;

	for (tries = 1; high - low > 1; tries++) {
		u64 step = (high - low) / 2;
		u64 pause, mid;

		if (tries % 4)
			step = mul_u64_u64_div_u64(high - low, below, mts_add_sat(below, above));
		mid = mts_min(low + mts_max(step, 1), high - 1);
		pause = set_slices(conf, bins, plan, mid);
		if (pause <= plan->max_pause_ns) {
			low = mid;
			below = plan->max_pause_ns - pause;
			highs = 0;
			if (++lows > 1)
				above = mts_max(above / 2, 1);
		} else {
			high = mid;
			above = pause - plan->max_pause_ns;
			lows = 0;
			if (++highs > 1)
				below /= 2;
		}
	}
	return low;
}

/*
 * Slices as they should be, or shorter for no pause to exceed @limit: shorter
 * full slices shrink all slices in proportion, while those that are at the
 * minimum already stay there. Return: whether they are.
 */
static bool limit_slices(const struct mts_plan_conf *conf, struct mts_plan_bin *bins,
			 struct mts_plan *plan, u64 full, u64 limit)
{
	u64 low = mts_min(conf->min_slice_ns, conf->slice_ns);
	u64 longest = set_slices(conf, bins, plan, full), shortest;

	plan->max_pause_ns = limit;
	if (longest <= limit)
		return false;
	shortest = set_slices(conf, bins, plan, low);
	/* With very many bins even the shortest slices may exceed it. */
	if (shortest <= limit)
		set_slices(conf, bins, plan,
			   search_slice(conf, bins, plan, low, full, limit - shortest,
					longest - limit));
	return true;
}

void mts_plan_slices(const struct mts_plan_conf *conf, struct mts_plan_bin *bins,
		     struct mts_plan *plan)
{
	u64 full = full_slice(conf, bins, plan, conf->overhead);

	plan->longest_pause_ns = 0;
	if (plan->nbins < 2) {
		set_slices(conf, bins, plan, full);
		plan->round_ns = 0;
		plan->run_ns = 0;
		plan->max_pause_ns = conf->max_pause_ns;
		return;
	}
	if (limit_slices(conf, bins, plan, full, conf->max_pause_ns) &&
	    conf->stretched_pause_ns > conf->max_pause_ns && plan->run_ns < plan->round_ns / 2) {
		full = full_slice(conf, bins, plan, conf->overhead ? MTS_OVERHEAD_MAX : 0);
		limit_slices(conf, bins, plan, full, conf->stretched_pause_ns);
	}
	set_pauses(bins, plan);
}

void mts_plan_limit_pause(struct mts_plan_conf *conf, u64 max_pause_ns)
{
	bool is_auto = !max_pause_ns;

	conf->max_pause_ns =
		mts_sub_floor(is_auto ? MTS_PAUSE_AUTO_NS : max_pause_ns, MTS_PAUSE_MARGIN_NS);
	conf->stretched_pause_ns =
		is_auto ? MTS_PAUSE_MAX_NS - MTS_PAUSE_MARGIN_NS : conf->max_pause_ns;
}

bool mts_plan_pauses_too_long(const struct mts_plan *plan)
{
	return plan->longest_pause_ns > plan->max_pause_ns + MTS_PAUSE_MARGIN_NS;
}

/* ---- swap traffic ---------------------------------------------------------- */

/*
 * The memory while bins take turns. The queue holds the bins that have
 * something in it, in the order in which they ran: its front runs next, its
 * back runs again last.
 */
struct memory {
	u64 *held; /* by each bin */
	u64 *before; /* the same, at the end of an earlier round */
	u32 *queue; /* a ring of nbins */
	u32 front;
	u32 queued;
	u64 free;
	u64 in;
	u64 out;
};

static size_t traffic_scratch(u32 n)
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
 * The traffic of one round differs from that of the next even when nothing
 * changes: what is left over in memory belongs to another bin each time. So
 * the mean is taken, from one round to the one that leaves the memory as it
 * was (Brent's search for a cycle: the round to come back to moves on after
 * 1, 2, 4, ... rounds, for the first ones may never come back).
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
	if (conf->evict != MTS_EVICT_FULL) {
		rotate(bins, plan, scratch);
		return;
	}
	plan->swap_in_bytes = sum_capped(bins, plan);
	plan->swap_out_bytes = plan->swap_in_bytes;
}

/* ---- the round -------------------------------------------------------------- */

struct mts_plan_conf mts_plan_conf_of(const struct mts_config *config)
{
	struct mts_plan_conf conf = {
		.pack = config->pack,
		.evict = config->evict,
		.slice_ns = config->slice_ns,
		.min_slice_ns = config->min_slice_ns,
		.overhead = config->overhead,
	};

	mts_plan_limit_pause(&conf, config->max_pause_ns);
	return conf;
}

size_t mts_plan_scratch(u32 n)
{
	if (n > MTS_MAX_JOBS)
		n = 0; /* mts_plan_round() will refuse it */

	return n * sizeof(struct mts_item) + mts_max(mts_binpack_scratch(n), traffic_scratch(n));
}

static bool is_resident(const struct mts_plan_job *job)
{
	return job->flags & MTS_PLAN_RESIDENT;
}

static u64 sum_residents(const struct mts_plan_job *jobs, u32 n)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		sum = mts_add_sat(sum, jobs[i].stays);
		if (is_resident(&jobs[i]))
			sum = mts_add_sat(sum, jobs[i].demand);
	}
	return sum;
}

static bool is_member(const struct mts_plan_job *jobs, u32 i)
{
	return jobs[i].group != MTS_BIN_NONE && jobs[i].group != i;
}

/* The groups and jobs that are not resident, in their order, from what mts_plan_join() left. */
static u32 close_up(const struct mts_plan_job *jobs, u32 n, struct mts_item *items)
{
	u32 nitems = 0;
	u32 i;

	for (i = 0; i < n; i++)
		if (!is_resident(&jobs[i]) && !is_member(jobs, i))
			items[nitems++] = items[i];
	return nitems;
}

static void fill_bins(struct mts_plan_job *jobs, u32 n, const struct mts_item *items,
		      struct mts_plan_bin *bins, struct mts_plan *plan)
{
	u32 i;

	for (i = 0; i < plan->nbins; i++)
		bins[i] = (struct mts_plan_bin){ 0 };
	for (i = 0; i < n; i++) {
		struct mts_plan_bin *bin;

		if (is_resident(&jobs[i])) {
			jobs[i].bin = MTS_BIN_EVERY;
			continue;
		}
		/* The first of a group comes before the others. */
		jobs[i].bin = is_member(jobs, i) ? jobs[jobs[i].group].bin : items++->bin;
		bin = &bins[jobs[i].bin];
		bin->demand = mts_add_sat(bin->demand, jobs[i].demand);
		bin->jobs++;
		bin->threads += jobs[i].threads;
		plan->demand = mts_add_sat(plan->demand, jobs[i].demand);
	}
}

static void mark_overfull(struct mts_plan_bin *bins, const struct mts_plan *plan)
{
	u32 i;

	for (i = 0; i < plan->nbins; i++)
		if (bins[i].demand > plan->capacity)
			bins[i].flags |= MTS_PLAN_OVERFULL;
}

/* Return: the fullest bin. */
static u64 fullest(const struct mts_plan_bin *bins, u32 nbins)
{
	u64 most = 0;
	u32 i;

	for (i = 0; i < nbins; i++)
		most = mts_max(most, bins[i].demand);
	return most;
}

/* Into bins, by memory alone. Return: how many, or an error. */
static int pack(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		struct mts_plan_bin *bins, struct mts_plan *plan, void *scratch)
{
	struct mts_item *items = scratch;
	u64 residents = sum_residents(jobs, n);
	u64 capacity = mts_sub_floor(conf->capacity, residents);
	int nbins;

	mts_plan_join(conf, jobs, n, capacity, items);
	nbins = mts_binpack(conf->pack, items, close_up(jobs, n, items), capacity, items + n);
	if (nbins < 0)
		return nbins;
	*plan = (struct mts_plan){
		.nbins = nbins,
		.capacity = capacity,
		.resident_demand = residents,
	};
	fill_bins(jobs, n, items, bins, plan);
	return nbins;
}

/* With as many ties as are no worse for memory: all, half of them, a quarter, an eighth. */
static int pack_tied(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		     struct mts_plan_bin *bins, struct mts_plan *plan, void *scratch)
{
	struct mts_plan_conf some = *conf;
	u64 tolerable;
	int nbins, tied;
	u32 part;

	some.nties = 0;
	nbins = pack(&some, jobs, n, bins, plan, scratch);
	if (nbins < 2 || !conf->nties || n > MTS_PLAN_MANY)
		return nbins;
	tolerable = mts_max(plan->capacity, fullest(bins, nbins));
	for (part = 0; part < 4; part++) {
		some.nties = conf->nties >> part;
		tied = pack(&some, jobs, n, bins, plan, scratch);
		if (tied <= nbins && fullest(bins, tied) <= tolerable)
			return tied;
	}
	some.nties = 0;
	return pack(&some, jobs, n, bins, plan, scratch);
}

int mts_plan_round(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		   struct mts_plan_bin *bins, struct mts_plan *plan, void *scratch)
{
	int nbins;

	if (n > MTS_MAX_JOBS)
		return -EINVAL;

	nbins = pack_tied(conf, jobs, n, bins, plan, scratch);
	if (nbins < 0)
		return nbins;
	mts_plan_spread(conf, jobs, n, bins, plan);
	mark_overfull(bins, plan);
	mts_plan_slices(conf, bins, plan);
	return 0;
}

u64 mts_plan_cut(const struct mts_plan_bin *bins, u32 nbins, u32 running, const u64 *left,
		 u64 switch_ns)
{
	u64 planned = bins[running].slice_ns, longest = planned;
	u64 slices = planned, switches = 0;
	u32 i, bin;

	for (i = 1; i < nbins; i++) {
		u64 time;

		bin = (running + i) % nbins;
		if (left[bin] == U64_MAX)
			continue;
		time = mts_sub_floor(left[bin], switches);
		if (time < slices)
			longest = mts_min(longest, mul_u64_u64_div_u64(planned, time, slices));
		slices = mts_add_sat(slices, bins[bin].slice_ns);
		switches = mts_add_sat(switches, switch_ns);
	}
	return longest;
}

u32 mts_plan_newcomer(const struct mts_plan_bin *bins, u32 nbins, u64 capacity, u32 running,
		      u64 demand)
{
	u32 i;

	/* While nothing runs, bin 0 is the next to run. */
	if (running >= nbins)
		running = 0;
	for (i = running; i < nbins; i++)
		if (mts_bin_has_room(&bins[i], capacity, demand))
			return i;
	for (i = 0; i < running; i++)
		if (mts_bin_has_room(&bins[i], capacity, demand))
			return i;
	return MTS_BIN_NONE;
}
