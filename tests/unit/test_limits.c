// SPDX-License-Identifier: GPL-2.0
/* Jobs with pause limits of their own: residents within a room, shorter slices beyond it. */
#include "unit.h"

#include "policy/bins.h"
#include "policy/limits.h"
#include "policy/plan.h"
#include "policy/slices.h"

#define MAX MTS_MAX_JOBS
#define SECOND 1000000000ull
#define MARGIN MTS_PAUSE_MARGIN_NS

static struct mts_plan_job jobs[MAX];
static struct mts_plan_bin bins[MAX];
static struct mts_plan plan;
static struct mts_limits limits;
static u64 scratch[MAX * 16];
static u32 njobs;

/* A full bin runs for 10 s; a switch takes 0.1 s. */
static const struct mts_plan_conf usual = {
	.pack = MTS_PACK_FFD,
	.evict = MTS_EVICT_NEED,
	.capacity = 1000,
	.slice_ns = 10 * SECOND,
	.min_slice_ns = SECOND / 10,
	.max_pause_ns = 60 * SECOND - MARGIN,
	.stretched_pause_ns = 60 * SECOND - MARGIN,
	.switch_ns = SECOND / 10,
};

static u32 add(u64 demand, u64 max_pause_ns)
{
	jobs[njobs] = (struct mts_plan_job){
		.demand = demand,
		.max_pause_ns = max_pause_ns,
		.prev_bin = MTS_BIN_NONE,
	};
	return njobs++;
}

static void make(const struct mts_plan_conf *conf, u64 room)
{
	limits = (struct mts_limits){ .room = room, .residents = 77, .by = 77 };
	assert_true(sizeof(scratch) >= mts_plan_scratch(njobs));
	assert_int_equal(mts_plan_round(conf, jobs, njobs, bins, &plan, scratch), 0);
	assert_int_equal(mts_plan_limits(conf, jobs, njobs, bins, &plan, &limits, scratch), 0);
}

static bool is_limited(u32 job)
{
	assert_int_equal(!!(jobs[job].flags & MTS_PLAN_LIMITED), jobs[job].bin == MTS_BIN_EVERY);
	return jobs[job].flags & MTS_PLAN_LIMITED;
}

static bool is_kept(u32 job)
{
	return jobs[job].bin == MTS_BIN_EVERY ||
	       bins[jobs[job].bin].pause_ns + MARGIN <= jobs[job].max_pause_ns ||
	       (plan.max_pause_ns + MARGIN <= jobs[job].max_pause_ns && !plan.breaks_limit);
}

static void without_limits_nothing_changes(void **unused)
{
	struct mts_plan before;

	(void)unused;
	njobs = 0;
	add(600, 0);
	add(700, 0);
	add(800, 0);
	assert_int_equal(mts_plan_round(&usual, jobs, njobs, bins, &before, scratch), 0);
	make(&usual, 500);
	assert_memory_equal(&plan, &before, sizeof(plan));
	assert_int_equal(limits.room, 500);
	assert_int_equal(limits.residents, 0);
	assert_int_equal(limits.by, MTS_BIN_NONE);
}

/* The plan already keeps the limit: nothing to do. */
static void a_long_limit_changes_nothing(void **unused)
{
	u32 job;

	(void)unused;
	njobs = 0;
	job = add(600, 60 * SECOND);
	add(700, 0);
	add(800, 0);
	make(&usual, 1000);
	assert_true(is_kept(job));
	assert_false(is_limited(job));
	assert_int_equal(limits.room, 1000);
}

/* The pause is compared with the limit less the margin, to the nanosecond. */
static void the_margin_is_kept(void **unused)
{
	u64 pause;
	u32 job;

	(void)unused;
	njobs = 0;
	job = add(600, 0);
	add(700, 0);
	make(&usual, 1000);
	pause = bins[jobs[job].bin].pause_ns;
	jobs[job].max_pause_ns = pause + MARGIN;
	make(&usual, 1000);
	assert_false(is_limited(job));
	jobs[job].max_pause_ns--;
	make(&usual, 1000);
	assert_true(is_limited(job));
}

static void a_short_limit_makes_it_resident(void **unused)
{
	u32 job;

	(void)unused;
	njobs = 0;
	job = add(200, 2 * SECOND);
	add(700, 0);
	add(700, 0);
	make(&usual, 250);
	assert_true(is_limited(job));
	assert_int_equal(limits.residents, 1);
	assert_int_equal(limits.room, 50);
	assert_int_equal(limits.by, MTS_BIN_NONE);
	/* The others still have long slices, of a smaller bin. */
	assert_int_equal(plan.nbins, 2);
	assert_int_equal(plan.capacity, 800);
	assert_int_equal(plan.resident_demand, 200);
	assert_true(bins[0].slice_ns > 8 * SECOND);
}

/* The shortest limit comes first, of equal ones the first job; the next one has no room. */
static void the_shortest_limit_comes_first(void **unused)
{
	u32 first, second, third;

	(void)unused;
	njobs = 0;
	third = add(100, 4 * SECOND);
	second = add(100, 3 * SECOND);
	first = add(100, 2 * SECOND);
	add(900, 0);
	add(900, 0);
	make(&usual, 200);
	assert_true(is_limited(first));
	assert_true(is_limited(second));
	assert_false(is_limited(third));
	assert_int_equal(limits.by, third);
	assert_true(is_kept(third));

	for (njobs = 0; njobs < 3;)
		add(100, 3 * SECOND);
	add(900, 0);
	add(900, 0);
	make(&usual, 100);
	assert_true(is_limited(0));
	assert_false(is_limited(1));
	assert_int_equal(limits.by, 1);
	assert_true(is_kept(2));
}

static void beyond_the_room_the_round_is_shortened(void **unused)
{
	u32 job, longer;

	(void)unused;
	njobs = 0;
	job = add(600, 3 * SECOND);
	longer = add(700, 4 * SECOND);
	add(800, 0);
	make(&usual, 100);
	assert_false(is_limited(job));
	assert_int_equal(limits.residents, 0);
	assert_int_equal(limits.by, job);
	assert_true(is_kept(job));
	assert_true(is_kept(longer));
	assert_int_equal(plan.nbins, 3);
	assert_true(plan.longest_pause_ns <= 3 * SECOND - MARGIN);
	/* As long as it allows. */
	assert_true(plan.longest_pause_ns > 3 * SECOND - MARGIN - SECOND / 1000);
	assert_int_equal(limits.room, 100);
}

/* Without the interactive share there is no room at all. */
static void no_room_shortens(void **unused)
{
	u32 job;

	(void)unused;
	njobs = 0;
	job = add(1, 5 * SECOND);
	add(700, 0);
	add(800, 0);
	make(&usual, 0);
	assert_int_equal(limits.by, job);
	assert_true(is_kept(job));
}

/* Switches alone take longer than the limit: short slices would not help, so they stay long. */
static void a_limit_that_no_slices_keep_makes_it_resident(void **unused)
{
	struct mts_plan_conf slow = usual;
	u32 job, longer;

	(void)unused;
	slow.switch_ns = 3 * SECOND;
	njobs = 0;
	job = add(300, 2 * SECOND);
	longer = add(300, 59 * SECOND);
	add(900, 0);
	add(900, 0);
	add(900, 0);
	make(&slow, 10);
	assert_true(is_limited(job));
	assert_false(is_limited(longer));
	assert_int_equal(limits.by, MTS_BIN_NONE);
	assert_int_equal(limits.room, 0);
	assert_int_equal(plan.capacity, 700);
	assert_int_equal(bins[jobs[2].bin].slice_ns, 10 * SECOND);
}

/* Jobs that are resident for other reasons, and two that then fit, are no reason to do more. */
static void residents_have_no_pause(void **unused)
{
	u32 job, pinned;

	(void)unused;
	njobs = 0;
	pinned = add(100, SECOND);
	jobs[pinned].flags = MTS_PLAN_RESIDENT;
	job = add(200, SECOND);
	add(750, 0);
	make(&usual, 1000);
	assert_true(jobs[pinned].flags == MTS_PLAN_RESIDENT);
	assert_true(is_limited(job));
	assert_int_equal(plan.nbins, 1);
	assert_int_equal(limits.by, MTS_BIN_NONE);
}

/* Kept memory of a job has been granted before. */
static void what_stays_takes_no_room(void **unused)
{
	u32 job;

	(void)unused;
	njobs = 0;
	job = add(100, 2 * SECOND);
	jobs[job].kept_bytes = 50;
	add(700, 0);
	add(700, 0);
	make(&usual, 99);
	assert_false(is_limited(job));
	assert_int_equal(limits.by, job);
	make(&usual, 100);
	assert_true(is_limited(job));
	assert_int_equal(limits.room, 0);
}

static void a_slice_anew_keeps_the_limit(void **unused)
{
	struct mts_plan_conf known = usual;
	u32 job;

	(void)unused;
	known.switch_ns = 0;
	njobs = 0;
	job = add(600, 4 * SECOND);
	add(700, 0);
	add(800, 0);
	make(&known, 100);
	assert_int_equal(limits.by, job);
	known.switch_ns = SECOND / 2;
	assert_true(mts_plan_shorten(&known, &jobs[job], bins, &plan));
	assert_true(is_kept(job));
	known.switch_ns = 2 * SECOND;
	assert_false(mts_plan_shorten(&known, &jobs[job], bins, &plan));
}

static void random_conf(struct mts_plan_conf *conf)
{
	*conf = usual;
	conf->pack = unit_packers[random_below(3)];
	conf->switch_ns = random_below(2) ? random_below(SECOND) : 0;
	conf->overhead = random_below(2) ? 50 : 0;
	conf->processors = random_between(0, 4);
	mts_plan_limit_pause(conf, random_below(2) ? 0 : random_between(1, 60) * SECOND);
}

/*
 * Any jobs: jobs exempt for their limits hold no more than the room, unless no slices keep a limit.
 * And each limit is kept, unless the bound on the number of passes is reached.
 */
static void limits_are_kept(void **unused)
{
	u32 broken = 0, cases = unit_cases(3000), i;

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < cases; unit_case++) {
		u64 room = random_below(600), held = 0;
		struct mts_plan_conf conf;
		u32 n = random_between(0, 40);

		random_conf(&conf);
		njobs = 0;
		while (njobs < n)
			add(random_below(900),
			    random_below(3) ? 0 : random_between(1, 60) * SECOND);
		make(&conf, room);
		for (i = 0; i < njobs; i++) {
			check(jobs[i].max_pause_ns || !is_limited(i));
			if (is_limited(i))
				held += jobs[i].demand;
			else if (jobs[i].max_pause_ns && plan.nbins >= 2)
				broken += !is_kept(i);
		}
		check(held <= room ? limits.room == room - held : !limits.room);
		check(limits.by == MTS_BIN_NONE || (plan.nbins >= 2 && is_kept(limits.by)));
	}
	if (broken > cases / 100) {
		print_error("%u limits are not kept\n", broken);
		fail();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_limits_nothing_changes),
		cmocka_unit_test(a_long_limit_changes_nothing),
		cmocka_unit_test(the_margin_is_kept),
		cmocka_unit_test(a_short_limit_makes_it_resident),
		cmocka_unit_test(the_shortest_limit_comes_first),
		cmocka_unit_test(beyond_the_room_the_round_is_shortened),
		cmocka_unit_test(no_room_shortens),
		cmocka_unit_test(a_limit_that_no_slices_keep_makes_it_resident),
		cmocka_unit_test(residents_have_no_pause),
		cmocka_unit_test(what_stays_takes_no_room),
		cmocka_unit_test(a_slice_anew_keeps_the_limit),
		cmocka_unit_test(limits_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
