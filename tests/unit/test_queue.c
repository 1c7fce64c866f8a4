// SPDX-License-Identifier: GPL-2.0
/* The queue, and what is remembered of commands. */
#include "policy/past.h"
#include "policy/queue.h"
#include "unit.h"

#define MOST 12
#define SECOND 1000000000ull

static struct mts_queue_begun begun[2 * MOST];
static struct mts_queue_waiting waiting[MOST];
static struct mts_queue_line line;

static void host_of(u64 capacity)
{
	line = (struct mts_queue_line){
		.capacity = capacity,
		.processors = MOST,
		.is_settled = true,
		.begun = begun,
		.waiting = waiting,
	};
}

static void runs(u64 claim, u64 ends_ns)
{
	begun[line.nbegun++] = (struct mts_queue_begun){ .claim = claim, .ends_ns = ends_ns };
}

static void waits(u64 need, u64 runs_ns)
{
	waiting[line.nwaiting++] = (struct mts_queue_waiting){ .need = need, .runs_ns = runs_ns };
}

static void waits_unknown(u64 guess)
{
	waits(guess, U64_MAX);
	waiting[line.nwaiting - 1].is_guess = true;
}

static bool starts(u32 i)
{
	return !waiting[i].starts_ns;
}

static u32 starting(void)
{
	u32 n = 0;

	for (u32 i = 0; i < line.nwaiting; i++)
		n += starts(i);
	return n;
}

/* ---- who starts ------------------------------------------------------------------ */

static void as_many_start_as_fit(void **unused)
{
	(void)unused;
	host_of(22 * GIB);
	for (u32 i = 0; i < 10; i++)
		waits(6 * GIB, U64_MAX);
	mts_queue_decide(&line);
	check(starting() == 3);
	check(starts(0) && starts(1) && starts(2));
	check(!waiting[0].passes && line.nbegun == 3);
}

static void what_has_begun_keeps_its_claim(void **unused)
{
	(void)unused;
	host_of(22 * GIB);
	runs(6 * GIB, U64_MAX);
	runs(6 * GIB, U64_MAX);
	runs(6 * GIB, U64_MAX);
	waits(6 * GIB, U64_MAX);
	mts_queue_decide(&line);
	check(!starting());
}

static void a_job_larger_than_memory_runs_alone(void **unused)
{
	(void)unused;
	host_of(22 * GIB);
	waits(40 * GIB, U64_MAX);
	waits(1 * GIB, U64_MAX);
	mts_queue_decide(&line);
	check(starts(0) && !starts(1));
	host_of(22 * GIB);
	runs(1 * GIB, U64_MAX);
	waits(40 * GIB, U64_MAX);
	waits(1 * GIB, U64_MAX);
	mts_queue_decide(&line);
	check(!starting());
}

static void more_demand_than_memory_starts_none(void **unused)
{
	(void)unused;
	host_of(22 * GIB);
	runs(30 * GIB, U64_MAX);
	waits(1, U64_MAX);
	mts_queue_decide(&line);
	check(!starting());
	host_of(U64_MAX);
	runs(U64_MAX, U64_MAX);
	waits(U64_MAX, U64_MAX);
	mts_queue_decide(&line);
	check(!starting());
}

static void no_memory_at_all_is_no_obstacle(void **unused)
{
	(void)unused;
	host_of(0);
	waits(1 * GIB, U64_MAX);
	waits(1 * GIB, U64_MAX);
	mts_queue_decide(&line);
	check(starts(0) && !starts(1));
}

static void no_more_start_than_keep_the_processors_busy(void **unused)
{
	(void)unused;
	host_of(22 * GIB);
	line.processors = 2;
	for (u32 i = 0; i < 10; i++)
		waits(6 * GIB, 100 * SECOND);
	mts_queue_decide(&line);
	check(starting() == 2 && starts(0) && starts(1));
	mts_queue_foretell(&line);
	for (u32 i = 0; i < 10; i++)
		check(waiting[i].starts_ns == i / 2 * 100 * SECOND);
	/* One of two has four threads. */
	host_of(22 * GIB);
	line.processors = 4;
	runs(1 * GIB, U64_MAX);
	begun[0].threads = 4;
	waits(1 * GIB, U64_MAX);
	mts_queue_decide(&line);
	check(!starting());
	/* A job that was not in the queue does not count, nor one that sleeps. */
	begun[0].threads = 0;
	mts_queue_decide(&line);
	check(starts(0));
}

/* ---- passing ------------------------------------------------------------------------ */

static void a_small_job_passes_where_it_delays_none(void **unused)
{
	(void)unused;
	host_of(22 * GIB);
	for (u32 i = 0; i < 3; i++)
		runs(6 * GIB, U64_MAX);
	waits(6 * GIB, U64_MAX);
	/* When one of the three ends, 10 are free: for 6 and for this. */
	waits(3 * GIB, U64_MAX);
	mts_queue_decide(&line);
	check(!starts(0) && starts(1) && waiting[1].passes);
}

static void but_not_where_it_would(void **unused)
{
	(void)unused;
	host_of(22 * GIB);
	for (u32 i = 0; i < 3; i++)
		runs(6 * GIB, U64_MAX);
	waits(8 * GIB, U64_MAX);
	/* When one of the three ends, 10 are free: 8 and 3 are more. */
	waits(3 * GIB, U64_MAX);
	waits(512 * MIB, U64_MAX);
	mts_queue_decide(&line);
	check(!starts(0) && !starts(1) && starts(2));
}

static void whichever_ends_first_counts(void **unused)
{
	(void)unused;
	host_of(16 * GIB);
	runs(4 * GIB, U64_MAX);
	runs(10 * GIB, U64_MAX);
	waits(9 * GIB, U64_MAX);
	/* If the one of 10 ends, 12 are free: 9 and 2. If the one of 4 ends, neither fits. */
	waits(2 * GIB, U64_MAX);
	mts_queue_decide(&line);
	check(!starts(0) && starts(1));
	host_of(16 * GIB);
	runs(4 * GIB, U64_MAX);
	runs(10 * GIB, U64_MAX);
	waits(11 * GIB, U64_MAX);
	waits(2 * GIB, U64_MAX);
	mts_queue_decide(&line);
	check(!starting());
}

static void a_passing_job_delays_none_of_several(void **unused)
{
	(void)unused;
	host_of(22 * GIB);
	runs(20 * GIB, U64_MAX);
	waits(10 * GIB, U64_MAX);
	waits(11 * GIB, U64_MAX);
	/* It fits beside each of them, and not beside both. */
	waits(2 * GIB, U64_MAX);
	mts_queue_decide(&line);
	check(!starting());
	waiting[2].need = 512 * MIB;
	line.nbegun = 1;
	mts_queue_decide(&line);
	check(starts(2));
}

/* Does a set of jobs leave a room in which the older job fits, but not both? */
static bool can_delay(const u64 *claims, u32 n, u64 capacity, u64 need, u64 passing)
{
	u64 room = mts_sub_floor(capacity, need);

	for (u32 set = 0; set < 1u << n; set++) {
		u64 sum = 0;

		for (u32 i = 0; i < n; i++)
			sum += set >> i & 1 ? claims[i] : 0;
		if (sum <= room && sum + passing > room)
			return true;
	}
	return false;
}

/* Both ways: it never passes if it could delay one, and by the rounding alone it does not. */
static void passing_is_as_by_all_sets(void **unused)
{
	u32 cases = unit_cases(20000), passed = 0;

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < cases; unit_case++) {
		u64 capacity = random_between(1, 64 * GIB), claims[8], free = capacity, need, small;
		u32 n = random_between(1, 8);

		host_of(capacity);
		for (u32 i = 0; i < n; i++) {
			claims[i] = random_below(1 + free / (1 + random_below(4)));
			free -= claims[i];
			runs(claims[i], U64_MAX);
		}
		need = random_between(free + 1, capacity + capacity / 8);
		small = random_below(free + 1);
		waits(need, U64_MAX);
		waits(small, U64_MAX);
		mts_queue_decide(&line);
		check(!starts(0));
		if (starts(1)) {
			passed++;
			check(!can_delay(claims, n, capacity, need, small));
		} else {
			u64 slack = (n + 1) * (capacity / 4096 + 1);

			check(can_delay(claims, n, capacity, need, small + slack) ||
			      can_delay(claims, n, capacity + slack, need, small + slack));
		}
	}
	unit_case = 0;
	check(passed > cases / 50);
}

/* ---- needs that are guessed ------------------------------------------------------------ */

static void unknown_jobs_start_one_by_one(void **unused)
{
	(void)unused;
	host_of(22 * GIB);
	for (u32 i = 0; i < 3; i++)
		waits_unknown(0);
	mts_queue_decide(&line);
	check(starts(0) && !starts(1) && !starts(2));
	/* It still grows. */
	host_of(22 * GIB);
	runs(2 * GIB, U64_MAX);
	line.is_settled = false;
	waits_unknown(2 * GIB);
	mts_queue_decide(&line);
	check(!starting());
	line.is_settled = true;
	mts_queue_decide(&line);
	check(starts(0));
}

static void a_guess_does_not_pass(void **unused)
{
	(void)unused;
	host_of(22 * GIB);
	for (u32 i = 0; i < 3; i++)
		runs(6 * GIB, U64_MAX);
	waits(6 * GIB, U64_MAX);
	waits_unknown(1 * GIB);
	mts_queue_decide(&line);
	check(!starting());
}

/* ---- when the others start --------------------------------------------------------------- */

static void ends_that_are_known_foretell_starts(void **unused)
{
	(void)unused;
	host_of(22 * GIB);
	for (u32 i = 0; i < 10; i++)
		waits(6 * GIB, 100 * SECOND);
	mts_queue_decide(&line);
	mts_queue_foretell(&line);
	for (u32 i = 0; i < 10; i++)
		check(waiting[i].starts_ns == i / 3 * 100 * SECOND);
}

static void nothing_is_foretold_of_what_is_not_known(void **unused)
{
	(void)unused;
	host_of(10 * GIB);
	runs(6 * GIB, U64_MAX);
	runs(3 * GIB, 50 * SECOND);
	waits(4 * GIB, U64_MAX);
	waits(4 * GIB, U64_MAX);
	mts_queue_decide(&line);
	check(!starting());
	mts_queue_foretell(&line);
	check(waiting[0].starts_ns == 50 * SECOND);
	check(waiting[1].starts_ns == U64_MAX);
}

static void starts_keep_their_order_where_all_are_alike(void **unused)
{
	u32 cases = unit_cases(2000);

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < cases; unit_case++) {
		u64 size = random_between(1, 8 * GIB), last = 0;

		host_of(random_between(0, 32 * GIB));
		for (u32 i = 0; i < MOST; i++)
			waits(size, random_below(1000) * SECOND);
		mts_queue_decide(&line);
		mts_queue_foretell(&line);
		for (u32 i = 0; i < MOST; i++) {
			check(waiting[i].starts_ns >= last && waiting[i].starts_ns < U64_MAX);
			last = waiting[i].starts_ns;
		}
	}
	unit_case = 0;
}

/* ---- commands ------------------------------------------------------------------------------ */

static struct mts_past past;

static void note(u64 command, u64 need, u64 ran_ns)
{
	mts_past_note(&past, command, &(struct mts_past_run){ need, ran_ns });
}

static void the_last_two_runs_are_remembered(void **unused)
{
	struct mts_past_run run;

	(void)unused;
	memset(&past, 0, sizeof(past));
	check(!mts_past_expect(&past, 7, &run));
	note(7, 5 * GIB, 10 * SECOND);
	check(mts_past_expect(&past, 7, &run));
	check(run.need == 5 * GIB && run.ran_ns == 10 * SECOND);
	/* It has failed at once. */
	note(7, 1 * MIB, 0);
	check(mts_past_expect(&past, 7, &run));
	check(run.need == 5 * GIB && run.ran_ns == 5 * SECOND);
	note(7, 2 * MIB, 2 * SECOND);
	check(mts_past_expect(&past, 7, &run));
	check(run.need == 2 * MIB && run.ran_ns == 1 * SECOND);
	check(!mts_past_expect(&past, 8, &run));
}

static void no_command_is_none(void **unused)
{
	struct mts_past_run run;

	(void)unused;
	memset(&past, 0, sizeof(past));
	check(!mts_past_expect(&past, 0, &run));
}

static void the_oldest_is_forgotten(void **unused)
{
	struct mts_past_run run;

	(void)unused;
	memset(&past, 0, sizeof(past));
	for (u64 i = 1; i <= MTS_PAST_COMMANDS; i++)
		note(i, i, i);
	note(1, 1, 1);
	note(MTS_PAST_COMMANDS + 1, 1, 1);
	check(mts_past_expect(&past, 1, &run));
	check(!mts_past_expect(&past, 2, &run));
	check(mts_past_expect(&past, 3, &run) && run.need == 3);
	check(mts_past_expect(&past, MTS_PAST_COMMANDS + 1, &run));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_start_as_fit),
		cmocka_unit_test(what_has_begun_keeps_its_claim),
		cmocka_unit_test(a_job_larger_than_memory_runs_alone),
		cmocka_unit_test(more_demand_than_memory_starts_none),
		cmocka_unit_test(no_memory_at_all_is_no_obstacle),
		cmocka_unit_test(no_more_start_than_keep_the_processors_busy),
		cmocka_unit_test(a_small_job_passes_where_it_delays_none),
		cmocka_unit_test(but_not_where_it_would),
		cmocka_unit_test(whichever_ends_first_counts),
		cmocka_unit_test(a_passing_job_delays_none_of_several),
		cmocka_unit_test(passing_is_as_by_all_sets),
		cmocka_unit_test(unknown_jobs_start_one_by_one),
		cmocka_unit_test(a_guess_does_not_pass),
		cmocka_unit_test(ends_that_are_known_foretell_starts),
		cmocka_unit_test(nothing_is_foretold_of_what_is_not_known),
		cmocka_unit_test(starts_keep_their_order_where_all_are_alike),
		cmocka_unit_test(the_last_two_runs_are_remembered),
		cmocka_unit_test(no_command_is_none),
		cmocka_unit_test(the_oldest_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
