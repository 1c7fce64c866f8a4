// SPDX-License-Identifier: GPL-2.0
#include "policy/queue.h"

/*
 * Sums of claims are rounded to this part of the capacity: 64 MiB of 256 GiB. Rounding only
 * refuses to let a job pass, by up to one part for each job that has begun.
 */
#define PARTS 4096
/*
 * Older jobs that a passing one is compared with; those behind them do not pass. Each comparison
 * takes PARTS / 64 steps: 1 ms in all, where nothing has changed. Slurm looks at 500 by default
 * (bf_max_job_test), each half minute.
 */
#define MOST_PASSED 64
/* Ends of jobs that a forecast goes through. */
#define MOST_ENDS 256

/**
 * struct sums - which sums the claims of any of some jobs can have
 * @part: bytes of a part
 * @bits: bit i: a sum of i parts, each claim rounded up
 * @n: jobs
 * @all: parts of all of them together
 */
struct sums {
	u64 part;
	u64 bits[PARTS / 64];
	u32 n;
	u64 all;
};

static void sums_begin(struct sums *sums, u64 capacity)
{
	*sums = (struct sums){ .part = capacity / PARTS + 1, .bits = { 1 } };
}

static void sums_add(struct sums *sums, u64 claim)
{
	u64 parts = div64_u64(claim, sums->part) + (claim > 0);
	u32 words = parts / 64, bits = parts % 64, i;

	sums->n++;
	sums->all = mts_add_sat(sums->all, parts);
	if (parts >= PARTS)
		return;
	/* From above, so that each word is read before it is changed. */
	for (i = PARTS / 64; i-- > words;) {
		u64 moved = sums->bits[i - words] << bits;

		if (bits && i > words)
			moved |= sums->bits[i - words - 1] >> (64 - bits);
		sums->bits[i] |= moved;
	}
}

/* Can a sum be @least at least and @most at most? May say yes if none is, by the rounding. */
static bool sums_lie_between(const struct sums *sums, u64 least, u64 most)
{
	/* A sum of i parts is more than i - n of them, and no more than i. */
	u64 i = least ? div64_u64(least - 1, sums->part) + 1 : 0;
	u64 high = div64_u64(most, sums->part) + sums->n;

	/* @bits has no larger sums. */
	if (high >= PARTS && sums->all >= PARTS)
		return true;
	for (; i <= mts_min(high, PARTS - 1); i++) {
		if (!(sums->bits[i / 64] >> (i % 64)))
			i |= 63; /* none in the rest of this word */
		else if (sums->bits[i / 64] >> (i % 64) & 1)
			return true;
	}
	return false;
}

/*
 * Would an older job that needs @need start later if one that needs @passing had begun? So if those
 * before it can leave a room in which it fits, but not both.
 */
static bool delays(const struct sums *before, u64 capacity, u64 need, u64 passing)
{
	/* A job that fits nowhere waits until it is alone. */
	u64 room = mts_sub_floor(capacity, need);

	return sums_lie_between(before, passing > room ? 0 : room - passing + 1, room);
}

static u64 claims(const struct mts_queue_line *line)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < line->nbegun; i++)
		sum = mts_add_sat(sum, line->begun[i].claim);
	return sum;
}

/* Do jobs of the queue keep all processors busy? */
static bool is_busy(const struct mts_queue_line *line)
{
	u64 threads = 0;
	u32 i;

	for (i = 0; i < line->nbegun; i++)
		threads += line->begun[i].threads;
	return threads >= line->processors;
}

static bool fits(const struct mts_queue_line *line, const struct mts_queue_waiting *job)
{
	if (job->is_guess && !line->is_settled)
		return false;
	return !line->nbegun || job->need <= mts_sub_floor(line->capacity, claims(line));
}

static void start(struct mts_queue_line *line, struct mts_queue_waiting *job, u64 at)
{
	job->starts_ns = at;
	line->begun[line->nbegun++] = (struct mts_queue_begun){
		.claim = job->need,
		.threads = 1, /* at least; how many is seen when it runs */
		.ends_ns = job->runs_ns == U64_MAX ? U64_MAX : mts_add_sat(at, job->runs_ns),
	};
	/* It is to show what such jobs need, before another one starts. */
	if (job->is_guess)
		line->is_settled = false;
}

/* Does it delay one of the older jobs, whose indices are @older[0..@n)? */
static bool delays_any(const struct mts_queue_line *line, const u32 *older, u32 n,
		       const struct mts_queue_waiting *job)
{
	struct sums before;
	u32 i;

	sums_begin(&before, line->capacity);
	for (i = 0; i < line->nbegun; i++)
		sums_add(&before, line->begun[i].claim);
	for (i = 0; i < n; i++) {
		u64 need = line->waiting[older[i]].need;

		if (delays(&before, line->capacity, need, job->need))
			return true;
		/* It comes before the next one. */
		sums_add(&before, need);
	}
	return false;
}

/* Start what can start, @at ns from now. */
static void start_all(struct mts_queue_line *line, u64 at)
{
	u32 older[MOST_PASSED], n = 0, i;

	for (i = 0; i < line->nwaiting && n < MOST_PASSED && !is_busy(line); i++) {
		struct mts_queue_waiting *job = &line->waiting[i];

		if (job->starts_ns != U64_MAX)
			continue;
		/* What a guessed one would delay is not known. */
		if (fits(line, job) &&
		    (!n || (!job->is_guess && !delays_any(line, older, n, job)))) {
			job->passes = n && !at;
			start(line, job, at);
		} else {
			older[n++] = i;
		}
	}
}

void mts_queue_decide(struct mts_queue_line *line)
{
	u32 i;

	for (i = 0; i < line->nwaiting; i++) {
		line->waiting[i].starts_ns = U64_MAX;
		line->waiting[i].passes = false;
	}
	start_all(line, 0);
}

/* The next one that ends; line->nbegun: none, as far as can be foretold. */
static u32 next_end(const struct mts_queue_line *line)
{
	u32 i, next = line->nbegun;
	u64 ends = U64_MAX;

	for (i = 0; i < line->nbegun; i++) {
		if (line->begun[i].ends_ns < ends) {
			ends = line->begun[i].ends_ns;
			next = i;
		}
	}
	return next;
}

static bool is_any_left(const struct mts_queue_line *line)
{
	u32 i;

	for (i = 0; i < line->nwaiting; i++)
		if (line->waiting[i].starts_ns == U64_MAX)
			return true;
	return false;
}

void mts_queue_foretell(struct mts_queue_line *line)
{
	u32 ends, next;
	u64 at;

	for (ends = 0; ends < MOST_ENDS && is_any_left(line); ends++) {
		next = next_end(line);
		if (next == line->nbegun)
			return;
		at = line->begun[next].ends_ns;
		line->begun[next] = line->begun[--line->nbegun];
		/* Those that have begun by then have grown to what they need. */
		line->is_settled = true;
		start_all(line, at);
	}
}
