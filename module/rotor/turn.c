// SPDX-License-Identifier: GPL-2.0
/*
 * Disjoint bins run one after the other, each once a round. Of overlapping bins several run at a
 * time, and policy/window.h says which come and which leave.
 */
#include "rotor/turn.h"

#include "context.h"
#include "binpack/sort.h"
#include "policy/bins.h"
#include "policy/window.h"
#include "rotor/roster.h"
#include "rotor/round.h"
#include "rotor/state.h"

static bool overlaps(void)
{
	return mts_rotor.round.plan.overlaps;
}

/* ---- service ------------------------------------------------------------------------------ */

/* A time of ktime, without the time that it was frozen; ns. */
static s64 unfrozen(const struct mts_job *job, u64 now)
{
	u64 frozen = READ_ONCE(job->frozen_total), since = READ_ONCE(job->frozen_since);

	if (READ_ONCE(job->frozen))
		frozen += mts_sub_floor(now, since);
	return now - frozen;
}

/* Of the time since it began to take turns, and of what it was given then; ns. */
static u64 service_of(const struct mts_job *job, u64 now)
{
	return mts_entitled_service(max_t(s64, unfrozen(job, now) - job->served_from, 0),
				    job->entitled);
}

static void set_service(struct mts_job *job, u64 now, u64 service)
{
	u64 ran = min_t(u64, mts_entitled_ran(service, job->entitled), S64_MAX / 2);

	job->served_from = unfrozen(job, now) - (s64)ran;
	/* 0 says that it takes none. */
	job->served_from = job->served_from ?: 1;
}

static bool takes_turns(const struct mts_job *job)
{
	return job->bin < mts_rotor.round.nbins;
}

/*
 * A job that begins to take turns has had as much as the one with the least. With none it would be
 * the last to leave for as long as the others have taken turns.
 */
void mts_turn_note_plan(u32 before)
{
	u64 now = ktime_get_ns(), least = U64_MAX;
	struct mts_job *job;
	u32 i;

	lockdep_assert_held(&mts_lock);
	for (i = 0; i < mts_rotor.roster.n; i++) {
		job = mts_rotor.roster.jobs[i];
		if (before < 2 || !takes_turns(job))
			job->served_from = 0;
		else if (job->served_from)
			least = min(least, service_of(job, now));
	}
	for (i = 0; i < mts_rotor.roster.n; i++) {
		job = mts_rotor.roster.jobs[i];
		if (!takes_turns(job) || job->served_from)
			continue;
		set_service(job, now, least == U64_MAX ? 0 : least);
	}
}

void mts_turn_entitle(struct mts_job *job, u32 entitled)
{
	bool is_served = job->served_from && job->entitled != entitled;
	u64 now = is_served ? ktime_get_ns() : 0;
	u64 service = is_served ? service_of(job, now) : 0;

	lockdep_assert_held(&mts_lock);
	job->entitled = entitled;
	if (is_served)
		set_service(job, now, service);
}

/* The places of all bins, by the order. */
static void note_places(void)
{
	u32 i;

	memset(mts_rotor.turns.place, 0, mts_rotor.round.nbins * sizeof(*mts_rotor.turns.place));
	for (i = 0; i < mts_rotor.turns.n; i++)
		mts_rotor.turns.place[mts_rotor.turns.order[i]] = i;
}

/* ---- disjoint bins ------------------------------------------------------------------------ */

/*
 * The bin that has waited longest: rounds may be cut short, and no bin may starve by that. When
 * turns begin, the bin with the shortest slice, which keeps the others waiting least.
 */
static u32 first_bin(void)
{
	u64 since = U64_MAX;
	u32 first = 0, i;

	for (i = 1; i < mts_rotor.round.nbins; i++)
		if (mts_rotor.round.bins[i].slice_ns < mts_rotor.round.bins[first].slice_ns)
			first = i;
	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (job->frozen && job->bin < mts_rotor.round.nbins && job->frozen_since < since) {
			since = job->frozen_since;
			first = job->bin;
		}
	}
	return first;
}

/* As a ring: after the last bin the first one runs again. */
static void order_bins(u32 lead)
{
	u32 i, nbins = mts_rotor.round.nbins;

	mts_rotor.turns.n = nbins - 1;
	for (i = 0; i + 1 < nbins; i++)
		mts_rotor.turns.order[i] = (lead + 1 + i) % nbins;
}

/* The next bin of the ring that has jobs; MTS_BIN_NONE: all have had their turn. */
static u32 next_bin(void)
{
	u32 bin, nbins = mts_rotor.round.nbins;

	while (mts_rotor.turns.left) {
		bin = (mts_rotor.turns.first + nbins - mts_rotor.turns.left) % nbins;
		mts_rotor.turns.left--;
		if (mts_rotor.round.bins[bin].jobs)
			return bin;
	}
	return MTS_BIN_NONE;
}

static u32 turn_of_bins(void)
{
	u32 bin = next_bin();

	if (bin == MTS_BIN_NONE)
		return bin;
	mutex_lock(&mts_lock);
	mts_round_choose(bin);
	mutex_unlock(&mts_lock);
	order_bins(bin);
	return bin;
}

/* ---- overlapping bins --------------------------------------------------------------------- */

static void measure(u64 now, u64 limit)
{
	u32 i;

	mts_round_clear_waits();
	for (i = 0; i < mts_rotor.roster.n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];

		if (!takes_turns(job))
			continue;
		mts_round_note_wait(job->bin, service_of(job, now),
				    READ_ONCE(job->frozen) ?
					    READ_ONCE(job->frozen_since) +
						    mts_job_pause_limit(job, limit) :
					    now);
	}
}

/*
 * In a pause a job falls behind by no more than that pause. Where entitlements differ one may fall
 * behind further, or be ahead: it can never have what it is entitled to. That is forgotten: it
 * would have to be made up for when entitlements change. Return: something was.
 */
static bool forget_lags(u64 now, u64 pause_ns)
{
	u64 usual = mts_window_service(mts_rotor.round.bins, mts_rotor.round.nbins);
	u64 service, lag, bounded;
	bool forgot = false;
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (!takes_turns(job))
			continue;
		lag = mts_entitled_service(pause_ns, job->entitled);
		service = service_of(job, now);
		bounded = clamp(service, mts_sub_floor(usual, lag), mts_add_sat(usual, lag));
		if (bounded == service)
			continue;
		set_service(job, now, bounded);
		forgot = true;
	}
	return forgot;
}

static void measure_groups(void)
{
	u64 now = ktime_get_ns(), limit = mts_rotor.planning.max_pause_ns;

	measure(now, limit);
	if (mts_rotor.round.plan.entitled && forget_lags(now, limit))
		measure(now, limit);
}

/* Those that are to wait, by the ends of their pauses. */
static void order_groups(void)
{
	struct mts_key *keys = mts_rotor.scratch;
	const struct mts_plan_bin *bin;
	u64 now = ktime_get_ns();
	u32 i, n = 0;

	for (i = 0; i < mts_rotor.round.nbins; i++) {
		bin = &mts_rotor.round.bins[i];
		if (bin->next || !bin->jobs)
			continue;
		/* What leaves now is due last; the largest key is the first. */
		keys[n++] = (struct mts_key){
			.value = U64_MAX -
				 (bin->runs ? mts_add_sat(now, mts_rotor.planning.max_pause_ns) :
					      bin->due_ns),
			.index = i,
		};
	}
	mts_keys_sort(keys, n, keys + n);
	for (i = 0; i < n; i++)
		mts_rotor.turns.order[i] = keys[i].index;
	mts_rotor.turns.n = n;
}

static u32 turn_of_groups(void)
{
	u32 i, lead, comes = 0;

	mutex_lock(&mts_lock);
	measure_groups();
	lead = mts_round_choose_groups();
	if (lead != MTS_BIN_NONE)
		mts_round_set_slice(lead, mts_window_slice(mts_rotor.round.bins,
							   mts_rotor.round.nbins, lead));
	mutex_unlock(&mts_lock);
	if (lead == MTS_BIN_NONE)
		return lead;
	for (i = 0; i < mts_rotor.round.nbins; i++)
		comes += mts_rotor.round.bins[i].next && !mts_rotor.round.bins[i].runs;
	mts_rotor.turns.left = mts_sub_floor(mts_rotor.turns.left, max(comes, 1U));
	order_groups();
	return lead;
}

void mts_turn_add_group(u32 bin)
{
	lockdep_assert_held(&mts_lock);
	mts_rotor.turns.place[bin] = 0;
	if (mts_rotor.round.bins[bin].runs)
		return;
	/* What is frozen now is due last. */
	mts_rotor.turns.place[bin] = mts_rotor.turns.n;
	mts_rotor.turns.order[mts_rotor.turns.n++] = bin;
}

/* ---- both --------------------------------------------------------------------------------- */

void mts_turn_begin_round(void)
{
	mts_rotor.turns.left = mts_rotor.round.nbins;
	/* The order was that of the last round's bins. */
	mts_rotor.turns.n = 0;
	note_places();
	mts_rotor.turns.first = overlaps() ? 0 : first_bin();
}

u32 mts_turn_next(void)
{
	u32 lead;

	if (!mts_rotor.turns.left)
		return MTS_BIN_NONE;
	lead = overlaps() ? turn_of_groups() : turn_of_bins();
	if (lead == MTS_BIN_NONE)
		return lead;
	note_places();
	return lead;
}

u32 mts_turn_rank(const struct mts_job *job)
{
	u32 n = mts_rotor.turns.n;

	/* A job in no bin goes last. */
	return job->bin < mts_rotor.round.nbins && n ? n - 1 - mts_rotor.turns.place[job->bin] : n;
}
