// SPDX-License-Identifier: GPL-2.0
/*
 * Phases of the running jobs, and their regime. Jobs in the same phase make the same progress, so
 * that time passes for all of them in one step, however many they are (struct crowd).
 */
#include "simulator.h"

/* Of a fault on a new page, the part that is the program's: it fills it (docs/simulation.md). */
#define TOUCH_USER_PART 3u
#define NO_PROGRESS (~(u128)0) /* of a crowd in which no job is */

u64 phases_threads(void)
{
	return host.crowds[PHASE_TOUCH].threads + host.crowds[PHASE_FAULT].threads +
	       host.crowds[PHASE_WORK].threads + host.crowds[PHASE_THRASH].threads;
}

static u64 left_of(const struct job *job)
{
	switch (job->phase) {
	case PHASE_TOUCH:
		return job->touching;
	case PHASE_FAULT:
		return (job->touched - job->resident) / PAGE_SIZE;
	default:
		return job->working_ns;
	}
}

static void spend(struct job *job, u64 ns)
{
	job->ran_ns += ns;
	figures.consumed_ns += ns;
}

/* So many pages of it have come back. */
static void wait_for(struct job *job, u64 pages)
{
	job->faults += pages;
	job->waited_ns += pages * host.crowds[job->phase].waits;
}

/* What a job has done: pages, or nanoseconds of work. */
static void credit(struct job *job, u64 done)
{
	const struct crowd *crowd = &host.crowds[job->phase];
	u64 faults;

	switch (job->phase) {
	case PHASE_TOUCH:
		job->touching -= done;
		job->touched += done * PAGE_SIZE;
		job->resident += done * PAGE_SIZE;
		host.running_touched += done * PAGE_SIZE;
		host.running_resident += done * PAGE_SIZE;
		if (job->kept) {
			host.kept_touched += done * PAGE_SIZE;
			host.kept_resident += done * PAGE_SIZE;
		}
		job->user_ns += done * host.scenario->costs.touch / TOUCH_USER_PART;
		break;
	case PHASE_FAULT:
		memory_set_resident(job, job->resident + done * PAGE_SIZE);
		wait_for(job, done);
		break;
	case PHASE_THRASH:
		faults = done / host.work_of_cycle;
		wait_for(job, faults);
		job->stalled_ns += faults * crowd->stalls;
		spend(job, faults * crowd->cycle);
		/* fall through */
	default:
		job->working_ns -= done;
		job->user_ns += done;
		spend(job, done);
		return;
	}
	job->stalled_ns += done * crowd->stalls;
	spend(job, done * crowd->cycle);
}

void host_settle(struct job *job)
{
	struct crowd *crowd = &host.crowds[job->phase];
	u128 progress;
	u64 done;

	if (job->phase == PHASE_NONE)
		return;
	progress = crowd->at - job->since;
	done = mts_min((job->threads * progress) >> FIX, left_of(job));
	/* A fraction of a page stays for the next time. */
	if (done < left_of(job))
		progress = ((u128)done << FIX) / job->threads;
	job->since += progress;
	crowd->sum += job->threads * progress;
	credit(job, done);
	if (host.regime == REGIME_THRASH && !job->kept)
		memory_set_resident(job, mul_u64_u64_div_u64(job->touched, memory_for_running(),
							     mts_max(memory_touched(), 1)));
}

static enum phase phase_of(const struct job *job)
{
	if (host.regime == REGIME_THRASH && !job->kept)
		return job->touching ? PHASE_TOUCH : PHASE_THRASH;
	if (job->touched - job->resident >= PAGE_SIZE)
		return PHASE_FAULT;
	return job->touching ? PHASE_TOUCH : PHASE_WORK;
}

static void enter_phase(struct job *job)
{
	struct crowd *crowd;
	u128 left;

	job->kept = host.regime == REGIME_THRASH && job->low >= job->touched && job->low;
	if (job->kept) {
		host.kept_touched += job->touched;
		host.kept_resident += job->resident;
	}
	job->phase = phase_of(job);
	crowd = &host.crowds[job->phase];
	left = (u128)left_of(job) << FIX;
	if (!crowd->threads)
		crowd->next = NO_PROGRESS;
	crowd->threads += job->threads;
	job->since = crowd->at;
	job->target = crowd->at + (left + job->threads - 1) / job->threads;
	crowd->sum += job->threads * job->since;
	if (job->target < crowd->next)
		crowd->next = job->target;
}

static void leave_phase(struct job *job)
{
	struct crowd *crowd = &host.crowds[job->phase];

	host_settle(job);
	crowd->threads -= job->threads;
	crowd->sum -= job->threads * job->since;
	job->phase = PHASE_NONE;
	if (job->kept) {
		host.kept_touched -= job->touched;
		host.kept_resident -= job->resident;
	}
	job->kept = false;
}

/* Where that costs nothing it takes no time either. */
static void touch_at_once(struct job *job)
{
	u64 bytes = job->touching * PAGE_SIZE;

	if (host.scenario->costs.touch || !bytes)
		return;
	job->touching = 0;
	job->touched += bytes;
	job->resident += bytes;
}

void host_start_job(struct job *job)
{
	if (job->is_frozen) {
		list_del_rcu(&job->frozen);
		host.frozen_resident -= job->resident;
		job->is_frozen = false;
	}
	touch_at_once(job);
	host.running_resident += job->resident;
	host.running_touched += job->touched;
	job->running = host.nrunning;
	host.running[host.nrunning++] = job;
	enter_phase(job);
	host_changes();
}

void host_protect_job(struct job *job, u64 low)
{
	if (job->phase == PHASE_NONE) {
		job->low = low;
		return;
	}
	leave_phase(job);
	job->low = low;
	enter_phase(job);
	host_changes();
}

void host_hold_job(struct job *job)
{
	job->is_frozen = true;
	/* It has nothing that the host could reclaim. */
	job->frozen.next = &job->frozen;
	job->frozen.prev = &job->frozen;
}

static void take_from_running(struct job *job)
{
	leave_phase(job);
	host.running_resident -= job->resident;
	host.running_touched -= job->touched;
	host.running[job->running] = host.running[--host.nrunning];
	host.running[job->running]->running = job->running;
	host_changes();
}

void host_stop_job(struct job *job)
{
	take_from_running(job);
	host.frozen_resident += job->resident;
	job->is_frozen = true;
	job->frozen_at = host_now();
	list_add_tail(&job->frozen, &host.frozen);
}

void phases_settle(void)
{
	u32 i;

	for (i = 0; i < host.nrunning; i++)
		host_settle(host.running[i]);
}

static void end_job(struct job *job)
{
	if (host.here == host.arrived) {
		phases_settle();
		figures_jain();
	}
	take_from_running(job);
	figures.swap_dropped += job->touched - job->resident;
	job->ended = true;
	host.here--;
	if (host.with_module)
		jobs_ended(job);
}

/* Jobs that have finished a phase enter the next one. */
void phases_finish(enum phase phase)
{
	struct crowd *crowd = &host.crowds[phase];
	struct job *job;
	u32 i;

	if (!crowd->threads || crowd->at < crowd->next)
		return;
	crowd->next = NO_PROGRESS;
	for (i = host.nrunning; i--;) {
		job = host.running[i];
		if (job->phase != phase)
			continue;
		if (crowd->at < job->target) {
			crowd->next = job->target < crowd->next ? job->target : crowd->next;
			continue;
		}
		host_settle(job);
		if (!job->working_ns && (phase == PHASE_WORK || phase == PHASE_THRASH)) {
			end_job(job);
			continue;
		}
		leave_phase(job);
		enter_phase(job);
		host_changes();
	}
}

static enum regime regime_now(void)
{
	bool grows = host.crowds[PHASE_TOUCH].threads || host.crowds[PHASE_FAULT].threads;

	if (host.regime == REGIME_THRASH && host.frozen_resident < PAGE_SIZE)
		return memory_touched() > memory_for_running() ? REGIME_THRASH : REGIME_ROOM;
	if (host_room() >= PAGE_SIZE)
		return REGIME_ROOM;
	if (host.frozen_resident >= PAGE_SIZE)
		return REGIME_TAKE;
	return grows || host_resident() > memory_usable() ? REGIME_THRASH : REGIME_ROOM;
}

void phases_set_regime(void)
{
	enum regime before = host.regime, regime = regime_now();
	u32 i;

	if (regime == before)
		return;
	for (i = 0; i < host.nrunning; i++)
		leave_phase(host.running[i]);
	host.regime = regime;
	for (i = 0; i < host.nrunning; i++)
		enter_phase(host.running[i]);
	/* Of what all of them touch and does not fit each has the same share in swap. */
	if (regime == REGIME_THRASH)
		phases_settle();
	host_changes();
}
