// SPDX-License-Identifier: GPL-2.0
/* Memory of the host: whose pages are in it, and whose leave when it is full. */
#include "simulator.h"

u64 memory_usable(void)
{
	return host.scenario->usable;
}

/* Pages that the jobs of a phase have got since each was last settled. */
static u64 unsettled(enum phase phase)
{
	const struct crowd *crowd = &host.crowds[phase];

	return (crowd->threads * crowd->at - crowd->sum) >> FIX;
}

u64 memory_touched(void)
{
	return host.running_touched - host.kept_touched + unsettled(PHASE_TOUCH) * PAGE_SIZE;
}

/* Bytes that jobs hold whose pages others do not get. While they thrash only kept jobs fault. */
static u64 held(void)
{
	return host.frozen_resident + host.kept_resident + unsettled(PHASE_FAULT) * PAGE_SIZE;
}

u64 memory_for_running(void)
{
	return mts_min(mts_sub_floor(memory_usable(), held()), memory_touched());
}

u64 host_resident(void)
{
	if (host.regime == REGIME_THRASH)
		return held() + memory_for_running();
	return host.frozen_resident + host.running_resident +
	       (unsettled(PHASE_TOUCH) + unsettled(PHASE_FAULT)) * PAGE_SIZE;
}

u64 host_room(void)
{
	return mts_sub_floor(memory_usable(), host_resident());
}

u64 host_swapins(void)
{
	return host.bulk_in + (u64)((host.cycles + host.faulted) >> FIX);
}

/* Of a job that runs. */
void memory_set_resident(struct job *job, u64 bytes)
{
	if (bytes < job->resident)
		figures.swapped_out += job->resident - bytes;
	else
		figures.swapped_in += bytes - job->resident;
	host.running_resident += bytes - job->resident;
	if (job->kept)
		host.kept_resident += bytes - job->resident;
	job->resident = bytes;
}

void host_move_out(struct job *job, u64 bytes)
{
	job->resident -= bytes;
	host.frozen_resident -= bytes;
	figures.swapped_out += bytes;
	host_memory_changes();
}

void host_move_in(struct job *job, u64 bytes)
{
	job->resident += bytes;
	host.frozen_resident += bytes;
	figures.swapped_in += bytes;
	host.bulk_in += bytes / PAGE_SIZE;
	host_memory_changes();
}

/*
 * The host's own reclaim: the job frozen for longest loses pages first, as on the kernel's lists.
 */
void memory_take_excess(void)
{
	u64 excess = mts_sub_floor(host_resident(), memory_usable()), part;
	struct job *job;

	if (!excess || !host.frozen_resident)
		return;
	list_for_each_entry(job, &host.frozen, frozen) {
		part = mts_min(excess, job->resident);
		job->resident -= part;
		host.frozen_resident -= part;
		figures.swapped_out += part;
		host.reclaimed += part / PAGE_SIZE;
		excess -= part;
		if (!excess)
			break;
	}
}
