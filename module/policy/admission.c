// SPDX-License-Identifier: GPL-2.0
/* Do turns pay? */
#include "policy/admission.h"

/*
 * A window lasts at least 200 ms: long compared with the ticks of several ms in which the kernel
 * counts processor time. It needs 3 looks at the jobs, or 10 if some jobs sleep part of the time,
 * because the fraction of time that they sleep decides.
 */
#define WINDOW_NS (200ull * 1000000)
#define LOOKS 3u
#define LOOKS_UNSURE 10u
/* A window ends after 2 s even with fewer looks, ns. Where memory is short, looking has to wait. */
#define WINDOW_MAX_NS (2ull * 1000000000)
/* A window older than this is discarded, ns: it no longer describes the present. */
#define STALE_NS (10ull * 1000000000)
/* A job seen asleep in at most 1 of 20 looks does not ask for a longer window. */
#define RARELY_PART 20u
/*
 * Divides what jobs that sometimes sleep would gain. A bin whose jobs all sleep at once leaves the
 * processors idle, and work that comes in while a job is frozen is delayed.
 */
#define SLEEPERS_PART 2u
/* Swap-ins per second above which jobs may wait for memory. A slow disk does 200. */
#define SWAPS_PER_S 10u
/*
 * At this many swap-ins per second jobs lose time on any disk, whatever the kernel's stall times
 * say: those leave out pages that the kernel does not count as part of the working set yet.
 */
#define MANY_SWAPS_PER_S 1000u
#define STALLED_PART 10u
/* Jobs starve only if they do so for 2 s, ns: a slow disk that writes may block readers for one. */
#define STARVES_NS (2ull * 1000000000)
/* One part in 100 of the expected share counts as no progress: time is counted in ticks. */
#define NOTHING_PART 100u

/*
 * Per mille of a processor. It can exceed the number of processors: time is counted in ticks, and
 * the time of children is added when they exit.
 */
static u64 share_of(u64 user_ns, u64 elapsed_ns)
{
	u64 unit = elapsed_ns / 1000;

	return unit ? mts_min(div64_u64(user_ns, unit), U32_MAX) : 0;
}

void mts_admission_count(struct mts_look *look, u32 awake)
{
	look->looks += MTS_LOOK;
	look->asleep += awake ? 0 : MTS_LOOK;
	look->awake += (u64)awake * MTS_LOOK;
}

/*
 * Only a job that no look found asleep. Memory pressure hides sleep: when a page fault takes ten
 * times as long as a job's sleep, few looks find the job asleep. To count such a job as a whole
 * processor would begin turns that cost more than they gain.
 */
static bool never_sleeps(const struct mts_look *look)
{
	return !look->asleep;
}

bool mts_admission_unsure(const struct mts_look *look)
{
	return (u64)look->asleep * RARELY_PART > look->looks && look->asleep < look->looks;
}

void mts_admission_add(struct mts_pool *pool, const struct mts_look *look, u64 elapsed_ns)
{
	u64 threads, user = share_of(look->user_ns, elapsed_ns);
	u32 awake = look->looks - look->asleep;

	if (!awake) {
		pool->potential += user;
		return;
	}
	threads = mts_max(div64_u64(look->awake + awake / 2, awake), 1ull);
	if (never_sleeps(look)) {
		pool->potential += 1000 * threads;
		return;
	}
	pool->user += user;
	pool->threads += threads;
	pool->looks += look->looks;
	pool->asleep += look->asleep;
}

u64 mts_admission_potential(const struct mts_pool *pool)
{
	u64 sleeps, runs;

	if (!pool->looks)
		return pool->potential;
	/* Time asleep and user time are both sums over all threads of the pool. */
	sleeps = div64_u64(1000 * pool->asleep, pool->looks) * pool->threads;
	runs = div64_u64(1000 * pool->user * pool->threads, mts_max(sleeps + pool->user, 1ull));
	return pool->potential + runs / SLEEPERS_PART;
}

void mts_admission_forget(struct mts_look *look)
{
	look->user_ns = 0;
	look->stalled_ns = 0;
	look->looks -= look->looks / 4;
	look->asleep -= (look->asleep + 3) / 4;
	look->awake -= look->awake / 4;
}

u64 mts_admission_awake(const struct mts_look *look)
{
	return look->looks ? div64_u64(1000 * look->awake, look->looks) : 0;
}

u64 mts_admission_could_run(u64 awake, u32 processors)
{
	return mts_max(mts_min(awake, 1000ull * processors), 1000ull);
}

bool mts_admission_look(struct mts_admission *a, u64 now, bool unsure)
{
	u64 elapsed = now - a->began;

	a->looks++;
	if (!a->began || elapsed >= WINDOW_MAX_NS)
		return true;
	return elapsed >= WINDOW_NS && a->looks >= (unsure ? LOOKS_UNSURE : LOOKS);
}

/* Is it 1/@part of the time in which threads could have run, or more? */
static bool stalls(const struct mts_window *window, u64 elapsed, u32 part)
{
	return window->stalled_ns >= elapsed / part * window->could_run / 1000;
}

static bool is_rare(u64 pages, u64 elapsed)
{
	return pages * 1000000000 < SWAPS_PER_S * elapsed;
}

/*
 * Low user time alone is no sign of waiting: programs that work in the kernel have little of it,
 * and swap a page now and then at next to no cost. An unknown stall time (U64_MAX) counts as
 * waiting.
 */
static bool waits_for_memory(const struct mts_window *window, u64 swapins, u64 elapsed)
{
	if (is_rare(swapins, elapsed))
		return false;
	return stalls(window, elapsed, STALLED_PART) ||
	       swapins * 1000000000 >= MANY_SWAPS_PER_S * elapsed;
}

static bool starves(const struct mts_admission *a, const struct mts_window *window, u64 elapsed)
{
	return window->full && a->share * NOTHING_PART < a->expected &&
	       window->stalled_ns != U64_MAX && stalls(window, elapsed, 2) &&
	       is_rare(window->swapins - a->swapins, elapsed) &&
	       is_rare(window->reclaimed - a->reclaimed, elapsed);
}

/*
 * Two windows in a row must show the shortage before turns begin. The first window may have begun
 * before memory ran out. And jobs that fill memory for the first time get next to nothing for a
 * moment, whatever follows; turns begun then would end at once, at the jobs' expense.
 */
bool mts_admission_close(struct mts_admission *a, u64 now, const struct mts_window *window)
{
	u64 elapsed = now - a->began;
	bool counts = a->began && elapsed < STALE_NS, is_short = false, starving = false;

	a->loses = false;
	if (counts) {
		a->share = share_of(window->user_ns, elapsed);
		a->wants = window->wants;
		a->expected = window->expected;
		a->loses = waits_for_memory(window, window->swapins - a->swapins, elapsed);
		is_short = a->loses && mts_forecast_is_better(a->expected, a->share);
		starving = starves(a, window, elapsed);
	}
	a->short_of_memory = is_short ? a->short_of_memory + 1 : 0;
	if (!starving)
		a->starving_since = 0;
	else if (!a->starving_since)
		a->starving_since = a->began;
	a->began = now;
	a->looks = 0;
	a->swapins = window->swapins;
	a->reclaimed = window->reclaimed;
	return counts;
}

bool mts_admission_starves(const struct mts_admission *a, u64 now)
{
	return a->starving_since && now - a->began < STALE_NS &&
	       a->began - a->starving_since >= STARVES_NS;
}

bool mts_admission_pays(const struct mts_admission *a)
{
	return a->short_of_memory >= MTS_FORECAST_WINDOWS;
}

void mts_admission_begin(struct mts_admission *a, u64 now)
{
	a->before = now - a->began < STALE_NS ? a->share : 0;
	a->rounds = 0;
	a->poor = 0;
}

void mts_admission_end(struct mts_admission *a)
{
	a->began = 0;
	a->looks = 0;
	a->short_of_memory = 0;
	a->starving_since = 0;
}

bool mts_admission_round(struct mts_admission *a, u64 user_ns, u64 elapsed_ns)
{
	if (elapsed_ns < MTS_JUDGED_NS)
		return true;
	a->during = share_of(user_ns, elapsed_ns);
	if (a->during < a->before) {
		a->poor++;
		return a->poor < MTS_FORECAST_WINDOWS;
	}
	a->poor = 0;
	a->rounds++;
	return true;
}

bool mts_admission_is_proven(const struct mts_admission *a)
{
	return a->rounds >= MTS_FORECAST_WINDOWS;
}
