// SPDX-License-Identifier: GPL-2.0
#include "rotor/costs.h"

#include "context.h"
#include "policy/disk.h"
#include "policy/switches.h"

/* ---- pages ---------------------------------------------------------------------- */

struct mts_costs_move mts_costs_begin(void)
{
	return (struct mts_costs_move){
		.began = mts_disk_mark(),
		.urgent = mts_rotor.bring.urgent_ns,
	};
}

static struct mts_disk_sample sample_of(const struct mts_costs_move *move, u64 pages)
{
	if (mts_rotor.bring.urgent_ns != move->urgent)
		return (struct mts_disk_sample){ 0 };
	return mts_disk_since(&move->began, pages);
}

void mts_costs_out(const struct mts_costs_move *move, u64 pages)
{
	struct mts_disk_sample sample = sample_of(move, pages);

	mts_disk_collect(&mts_rotor.costs.out, &sample, ktime_get_ns());
}

void mts_costs_in(const struct mts_costs_move *move, u64 pages)
{
	struct mts_disk_sample sample = sample_of(move, pages);

	mts_disk_collect(&mts_rotor.costs.in, &sample, ktime_get_ns());
}

void mts_costs_note_request(u64 request_ns)
{
	u64 now = ktime_get_ns();

	if (!request_ns || mts_disk_request_ns(&mts_rotor.costs.disk, now))
		return;
	mutex_lock(&mts_lock);
	mts_rotor.costs.disk.request_ns = request_ns;
	mts_rotor.costs.disk.request_at_ns = now;
	mts_rotor.costs.disk.request_waited_ns = 0;
	mutex_unlock(&mts_lock);
}

void mts_costs_note_disk(void)
{
	struct mts_costs *costs = &mts_rotor.costs;
	u64 now = ktime_get_ns();

	mutex_lock(&mts_lock);
	if (mts_disk_note(&costs->disk.out, &costs->out, now))
		mts_rotor.costs.out = (struct mts_disk_sample){ 0 };
	if (mts_disk_note(&costs->disk.in, &costs->in, now)) {
		mts_rotor.costs.in = (struct mts_disk_sample){ 0 };
		mts_disk_note_in(&mts_rotor.costs.disk);
	}
	mutex_unlock(&mts_lock);
}

/* ---- switches -------------------------------------------------------------------- */

void mts_costs_note(u64 took, u64 bytes)
{
	const struct mts_plan *plan = &mts_rotor.round.plan;

	if (!plan->overlaps)
		bytes = mts_bins_mean_capped(mts_rotor.round.bins, plan);
	/* When turns begin all groups run, and some leave. */
	if (bytes)
		mts_switches_note(&mts_rotor.costs.switches, took, bytes, plan->overlaps);
	mts_costs_note_disk();
}

void mts_costs_plan(u32 evict, const struct mts_plan *plan, bool rotates)
{
	mts_switches_plan(&mts_rotor.costs.switches, evict, plan, mts_rotor_disk_is_slow(),
			  rotates);
}

static bool page_is_known(void)
{
	const struct mts_disk *disk = &mts_rotor.costs.disk;
	u64 now = ktime_get_ns();

	return mts_disk_is_known(&disk->out, now) && mts_disk_is_known(&disk->in, now);
}

void mts_costs_fill(struct mts_plan_conf *conf)
{
	const struct mts_disk *disk = &mts_rotor.costs.disk;

	conf->switch_ns = mts_rotor.costs.switches.mean_ns;
	conf->switch_bytes = mts_rotor.costs.switches.bytes;
	conf->switch_overlaps = mts_rotor.costs.switches.overlaps;
	conf->faults_are_dear = mts_rotor_disk_is_slow();
	if (!page_is_known())
		return;
	conf->mib_ns = (mts_disk_alone_ns(&disk->out) + mts_disk_alone_ns(&disk->in))
		       << (20 - PAGE_SHIFT);
	conf->mib_work_ns = (disk->out.worked_ns + disk->in.worked_ns) << (20 - PAGE_SHIFT);
}

bool mts_costs_are_guessed(bool overlaps)
{
	const struct mts_switches *switches = &mts_rotor.costs.switches;

	return page_is_known() && (!switches->bytes || switches->overlaps != overlaps);
}

void mts_costs_forget(void)
{
	mts_switches_forget(&mts_rotor.costs.switches);
}
