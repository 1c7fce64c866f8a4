// SPDX-License-Identifier: GPL-2.0
/* The plan of a round. */
#include "policy/bins.h"
#include "policy/plan.h"
#include "policy/slices.h"
#include "policy/traffic.h"
#include "unit.h"

#define MAX MTS_MAX_JOBS
#define SECOND 1000000000ull

static struct mts_plan_job jobs[MAX + 1];
static struct mts_plan_bin bins[MAX];
static struct mts_plan plan;
static u32 njobs;

static const struct mts_plan_conf usual = {
	.pack = MTS_PACK_FFD,
	.evict = MTS_EVICT_NEED,
	.capacity = 1000,
	.slice_ns = SECOND,
	.min_slice_ns = SECOND / 10,
	.max_pause_ns = 60 * SECOND,
};

static void add(u64 demand, u32 flags)
{
	jobs[njobs++] = (struct mts_plan_job){
		.demand = demand,
		.flags = flags,
		.prev_bin = MTS_BIN_NONE,
		.bin = 0xdead,
	};
}

static void given(u32 n, const u64 *demands)
{
	njobs = 0;
	while (n--)
		add(*demands++, 0);
}

#define GIVEN(...) given(sizeof((u64[]){ __VA_ARGS__ }) / sizeof(u64), (u64[]){ __VA_ARGS__ })

/* Rules of every plan, computed in another way. */
static void check_plan(const struct mts_plan_conf *conf)
{
	u64 residents = 0, demand = 0, round = 0, longest = 0;
	u32 i, j;

	for (i = 0; i < njobs; i++) {
		residents = mts_add_sat(residents, jobs[i].kept_bytes);
		if (jobs[i].flags & MTS_PLAN_RESIDENT) {
			check(jobs[i].bin == MTS_BIN_EVERY);
			residents = mts_add_sat(residents, jobs[i].demand);
		} else {
			check(jobs[i].bin < plan.nbins);
			demand = mts_add_sat(demand, jobs[i].demand);
		}
	}
	check(plan.resident_demand == residents);
	check(plan.demand == demand);
	check(plan.capacity == (conf->capacity > residents ? conf->capacity - residents : 0));
	for (i = 0; i < plan.nbins; i++) {
		u64 sum = 0;
		u32 members = 0;

		for (j = 0; j < njobs; j++) {
			if (jobs[j].bin == i) {
				sum = mts_add_sat(sum, jobs[j].demand);
				members++;
			}
		}
		check(members && bins[i].jobs == members);
		check(bins[i].demand == sum);
		check(bins[i].flags == (sum > plan.capacity ? MTS_PLAN_OVERFULL : 0));
		check(bins[i].slice_ns <= (conf->overhead ?
						   mts_max(MTS_SLICE_MAX_NS, conf->max_pause_ns) :
						   conf->slice_ns));
		check(bins[i].slice_ns >= mts_min(conf->min_slice_ns, conf->slice_ns));
		round += bins[i].slice_ns + conf->switch_ns;
	}
	if (plan.nbins < 2)
		round = 0;
	for (i = 0; i < plan.nbins; i++) {
		u64 pause = plan.nbins < 2 ? 0 : round - bins[i].slice_ns;

		check(bins[i].pause_ns == pause);
		longest = mts_max(longest, pause);
	}
	check(plan.round_ns == round);
	check(plan.longest_pause_ns == longest);
}

/* Without the rules for slices: those are of equal weights. */
static void weighted_plan(const struct mts_plan_conf *conf)
{
	void *scratch = malloc(mts_plan_scratch(njobs) + 1);

	check(mts_plan_round(conf, jobs, njobs, bins, &plan, scratch) == 0);
	free(scratch);
}

static void make_plan(const struct mts_plan_conf *conf)
{
	size_t bytes = mts_plan_scratch(njobs);
	void *scratch = malloc(bytes);

	memset(scratch, 0xa5, bytes);
	memset(&plan, 0xa5, sizeof(plan));
	memset(bins, 0xa5, sizeof(bins));
	check(mts_plan_round(conf, jobs, njobs, bins, &plan, scratch) == 0);
	check(!plan.swap_in_bytes && !plan.swap_out_bytes);
	memset(scratch, 0xa5, bytes);
	mts_plan_traffic(conf, bins, &plan, scratch);
	free(scratch);
	check_plan(conf);
}

static void slices_of_the_paper(void **unused)
{
	(void)unused;
	/* Section 4.3: [1, 1, 0.5] */
	GIVEN(1000, 500, 1000);
	make_plan(&usual);
	assert_int_equal(plan.nbins, 3);
	assert_int_equal(bins[0].slice_ns, SECOND);
	assert_int_equal(bins[1].slice_ns, SECOND);
	assert_int_equal(bins[2].slice_ns, SECOND / 2);
	assert_int_equal(plan.round_ns, 5 * SECOND / 2);
	assert_int_equal(plan.longest_pause_ns, 2 * SECOND);
	assert_int_equal(bins[0].pause_ns, 3 * SECOND / 2);
}

static void slices_have_a_minimum(void **unused)
{
	(void)unused;
	GIVEN(1000, 99);
	make_plan(&usual);
	assert_int_equal(bins[1].slice_ns, SECOND / 10);
	GIVEN(1000, 101);
	make_plan(&usual);
	assert_int_equal(bins[1].slice_ns, SECOND * 101 / 1000);
}

/* What switches take of a round, per mille. */
static u64 overhead(const struct mts_plan_conf *conf)
{
	return plan.nbins * conf->switch_ns * 1000 / plan.round_ns;
}

/* Measured with smaller bins: it takes as long as its bytes do. */
static void a_switch_takes_as_long_as_its_bytes(void **unused)
{
	static const u64 then[] = { 256 << 20, 256 << 20, 256 << 20, 1, 1 };
	static const u64 now[] = { 1ull << 30, 64 << 20, 1, 1, U64_MAX / 4 };
	static const u64 takes[] = { 4 * SECOND, SECOND, SECOND, SECOND, SECOND << 16 };
	u32 i;

	(void)unused;
	for (i = 0; i < 5; i++) {
		struct mts_plan_conf conf = usual;

		conf.capacity = now[i];
		conf.max_pause_ns = U64_MAX / 2;
		GIVEN(now[i], now[i]);
		make_plan(&conf);
		conf.switch_ns = SECOND;
		conf.switch_bytes = then[i];
		mts_plan_slices(&conf, bins, &plan);
		assert_int_equal(plan.nbins, 2);
		assert_int_equal(plan.round_ns - plan.run_ns, 2 * takes[i]);
	}
}

static void slices_grow_with_the_price_of_a_switch(void **unused)
{
	struct mts_plan_conf conf = usual;

	(void)unused;
	conf.overhead = 50;
	conf.switch_ns = SECOND / 100;
	GIVEN(1000, 1000);
	make_plan(&conf);
	assert_int_equal(bins[0].slice_ns, SECOND); /* 1 %: cheap enough */

	conf.switch_ns = SECOND / 2;
	make_plan(&conf);
	assert_int_equal(bins[0].slice_ns, SECOND / 2 * 19);
	assert_int_equal(bins[1].slice_ns, SECOND / 2 * 19);
	assert_int_equal(overhead(&conf), 50);

	/* Bins that are not full have less, a full one so much more. */
	GIVEN(1000, 600, 500);
	make_plan(&conf);
	assert_int_equal(plan.nbins, 3);
	assert_in_range(overhead(&conf), 49, 50);
	check(bins[0].slice_ns > SECOND / 2 * 19);

	/* An oversize job has a full slice and no more. */
	GIVEN(1ull << 60, 1000);
	make_plan(&conf);
	assert_int_equal(bins[0].slice_ns, SECOND / 2 * 19);

	conf.overhead = 0;
	make_plan(&conf);
	assert_int_equal(bins[0].slice_ns, SECOND);
}

static void growth_has_its_limits(void **unused)
{
	struct mts_plan_conf conf = usual;

	(void)unused;
	conf.overhead = 50;
	conf.switch_ns = 2 * SECOND;
	conf.max_pause_ns = 30 * SECOND;
	GIVEN(1000, 1000);
	make_plan(&conf);
	assert_in_range(plan.longest_pause_ns, 30 * SECOND - 10, 30 * SECOND);
	assert_int_equal(bins[0].slice_ns, bins[1].slice_ns);

	conf.max_pause_ns = U64_MAX;
	conf.switch_ns = U64_MAX / 8192; /* of 4096 bins the sum is a number still */
	make_plan(&conf);
	assert_int_equal(bins[0].slice_ns, MTS_PAUSE_MAX_NS);

	/* Nothing grows where there is nothing to switch. */
	conf.switch_ns = 2 * SECOND;
	GIVEN(1000);
	make_plan(&conf);
	assert_int_equal(bins[0].slice_ns, SECOND);
	conf.capacity = 0;
	GIVEN(1000, 1000);
	make_plan(&conf);
	assert_int_equal(bins[0].slice_ns, SECOND);
}

static void random_jobs(u32 max, u64 most)
{
	u32 n = random_between(1, max);

	njobs = 0;
	while (n--) {
		add(random_between(0, most), random_below(12) ? 0 : MTS_PLAN_RESIDENT);
		if (!random_below(12))
			jobs[njobs - 1].kept_bytes = random_between(0, most);
	}
}

/* Weights of 100, 200 and 400: their mean is 700/3. */
static void slices_are_in_proportion_to_weights(void **unused)
{
	struct mts_plan_conf conf = usual;
	u32 i;

	(void)unused;
	GIVEN(1000, 1000, 1000);
	for (i = 0; i < 3; i++)
		jobs[i].entitled = mts_entitled(100 << i);
	weighted_plan(&conf);
	assert_int_equal(plan.nbins, 3);
	for (i = 0; i < 3; i++)
		assert_in_range(bins[i].slice_ns, (SECOND * 3 << i) / 7 - 1000,
				(SECOND * 3 << i) / 7 + 1000);
	/* So switches take as much of the time. */
	assert_in_range(plan.run_ns, 3 * SECOND - 1000, 3 * SECOND + 1000);

	/* In a bin of two the mean counts; the shortest slice is as long as ever. */
	GIVEN(500, 500, 1000);
	jobs[0].entitled = mts_entitled(1);
	jobs[1].entitled = mts_entitled(5);
	jobs[2].entitled = mts_entitled(9997);
	weighted_plan(&conf);
	assert_int_equal(plan.nbins, 2);
	assert_int_equal(bins[jobs[0].bin].slice_ns, conf.min_slice_ns);
	assert_in_range(bins[jobs[2].bin].slice_ns, 1990000000, 2 * SECOND);
}

/* Whatever all of them weigh, if it is the same. */
static void equal_weights_change_nothing(void **unused)
{
	struct mts_plan_bin before[MAX];
	struct mts_plan_conf conf = usual;
	u32 i, weight;

	(void)unused;
	random_start("equal");
	conf.overhead = 50;
	conf.switch_ns = SECOND / 5;
	for (unit_case = 0; unit_case < unit_cases(200); unit_case++) {
		conf.step = random_below(2) * random_between(1, 300);
		random_jobs(60, 500);
		weighted_plan(&conf);
		memcpy(before, bins, plan.nbins * sizeof(*bins));
		weight = random_between(MTS_WEIGHT_MIN, MTS_WEIGHT_MAX);
		for (i = 0; i < njobs; i++)
			jobs[i].entitled = mts_entitled(weight);
		weighted_plan(&conf);
		check(!plan.entitled);
		for (i = 0; i < plan.nbins; i++)
			check(bins[i].slice_ns == before[i].slice_ns &&
			      bins[i].pause_ns == before[i].pause_ns &&
			      bins[i].demand == before[i].demand);
	}
}

/* Of any weights: no slice is too short, no pause too long, and no more than slices differ. */
static void weights_break_no_limit(void **unused)
{
	struct mts_plan_conf conf = usual;
	u32 i, limited = 0;

	(void)unused;
	random_start("weights");
	for (unit_case = 0; unit_case < unit_cases(1000); unit_case++) {
		conf.step = random_below(2) * random_between(1, 300);
		conf.overhead = random_below(2) * 50;
		conf.switch_ns = random_below(2) * SECOND / 5;
		conf.max_pause_ns = random_between(5, 60) * SECOND;
		random_jobs(random_below(20) ? 40 : 2000, random_below(2) ? 100 : 1100);
		for (i = 0; i < njobs; i++)
			jobs[i].entitled =
				random_below(8) ? random_between(1, 1u << random_below(30)) : 0;
		weighted_plan(&conf);
		check_bins_of(jobs, njobs, bins, plan.nbins);
		for (i = 0; i < plan.nbins; i++) {
			check(bins[i].slice_ns >= mts_min(conf.min_slice_ns, conf.slice_ns));
			check(bins[i].slice_ns <= plan.run_ns || plan.overlaps || plan.nbins < 2);
			check(bins[i].pause_ns <= plan.longest_pause_ns);
		}
		limited += plan.longest_pause_ns == conf.max_pause_ns;
		check(plan.longest_pause_ns <= plan.round_ns);
		/* Minimal slices may be too long. */
		if (plan.longest_pause_ns > conf.max_pause_ns + 1)
			check(plan.longest_pause_ns <=
			      plan.nbins * (conf.switch_ns + 2 * conf.min_slice_ns));
	}
}

static void min_slice_above_slice(void **unused)
{
	struct mts_plan_conf conf = usual;

	(void)unused;
	conf.min_slice_ns = 2 * SECOND;
	GIVEN(1000, 10);
	make_plan(&conf);
	assert_int_equal(bins[0].slice_ns, SECOND);
	assert_int_equal(bins[1].slice_ns, SECOND);
}

static void oversize_is_bounded(void **unused)
{
	(void)unused;
	GIVEN(5000, 400, 1001);
	make_plan(&usual);
	assert_int_equal(plan.nbins, 3);
	assert_int_equal(bins[0].slice_ns, SECOND * 400 / 1000);
	assert_int_equal(bins[0].flags, 0);
	assert_int_equal(bins[1].slice_ns, SECOND);
	assert_int_equal(bins[2].slice_ns, SECOND);
	assert_int_equal(bins[2].flags, MTS_PLAN_OVERFULL);
}

static void rw_leftovers_are_overfull(void **unused)
{
	struct mts_plan_conf conf = usual;

	(void)unused;
	conf.pack = MTS_PACK_RW;
	GIVEN(600, 600, 600);
	make_plan(&conf);
	assert_int_equal(plan.nbins, 2);
	assert_int_equal(bins[0].flags, MTS_PLAN_OVERFULL);
	assert_int_equal(bins[0].slice_ns, SECOND);
	assert_int_equal(bins[1].flags, 0);
}

static void one_bin_has_no_round(void **unused)
{
	struct mts_plan_conf conf = usual;
	u32 evict;

	(void)unused;
	conf.switch_ns = SECOND;
	conf.max_pause_ns = 0;
	for (evict = MTS_EVICT_OFF; evict <= MTS_EVICT_FULL; evict++) {
		conf.evict = evict;
		GIVEN(500, 300);
		make_plan(&conf);
		assert_int_equal(plan.nbins, 1);
		assert_int_equal(plan.round_ns, 0);
		assert_int_equal(plan.longest_pause_ns, 0);
		assert_int_equal(plan.swap_out_bytes, 0);
		assert_int_equal(plan.swap_in_bytes, 0);
		assert_int_equal(bins[0].slice_ns, SECOND * 800 / 1000);
	}
}

static void no_jobs(void **unused)
{
	(void)unused;
	njobs = 0;
	make_plan(&usual);
	assert_int_equal(plan.nbins, 0);
	assert_int_equal(mts_plan_round(&usual, NULL, 0, NULL, &plan, NULL), 0);
	assert_int_equal(plan.capacity, 1000);
}

static void residents_come_off_the_capacity(void **unused)
{
	(void)unused;
	GIVEN(500);
	add(300, MTS_PLAN_RESIDENT);
	add(250, 0);
	add(100, MTS_PLAN_RESIDENT);
	make_plan(&usual);
	assert_int_equal(plan.capacity, 600);
	assert_int_equal(plan.nbins, 2);
	assert_int_equal(plan.resident_demand, 400);
	assert_int_equal(bins[1].slice_ns, SECOND * 250 / 600);

	njobs = 0;
	add(300, MTS_PLAN_RESIDENT);
	make_plan(&usual);
	assert_int_equal(plan.nbins, 0);

	/* They take all of it, and more. */
	add(900, MTS_PLAN_RESIDENT);
	add(1, 0);
	add(2, 0);
	make_plan(&usual);
	assert_int_equal(plan.capacity, 0);
	assert_int_equal(plan.nbins, 2);
	assert_int_equal(bins[0].slice_ns, SECOND);
}

static void what_stays_comes_off_the_capacity(void **unused)
{
	(void)unused;
	GIVEN(700, 0, 300);
	jobs[1].kept_bytes = 200;
	make_plan(&usual);
	assert_int_equal(plan.capacity, 800);
	assert_int_equal(plan.resident_demand, 200);
	assert_int_equal(plan.nbins, 2);
	/* It takes its turns all the same, and needs no bin for itself. */
	assert_int_equal(jobs[1].bin, 0);
	assert_int_equal(bins[0].demand, 700);
	assert_int_equal(bins[0].slice_ns, SECOND * 700 / 800);

	GIVEN(700, 0);
	jobs[1].kept_bytes = 200;
	jobs[1].prev_bin = 1;
	make_plan(&usual);
	assert_int_equal(plan.nbins, 1);
}

/* Of 1000 bytes. Return: do exempt jobs of so many leave no room for two others? */
static bool exempt_take_all(u64 exempt, u64 first, u64 second)
{
	GIVEN(first, second);
	if (exempt)
		add(exempt, MTS_PLAN_RESIDENT);
	make_plan(&usual);
	return mts_plan_exempt_take_all(bins, &plan);
}

static void exempt_jobs_may_take_all(void **unused)
{
	(void)unused;
	check(exempt_take_all(1000, 10, 10));
	check(exempt_take_all(5000, 10, 10));
	check(exempt_take_all(995, 10, 2000));
	check(!exempt_take_all(990, 10, 10));
	check(!exempt_take_all(995, 5, 10));
	check(!exempt_take_all(1000, 0, 0));
	/* They would not fit without it, either. */
	check(!exempt_take_all(1, 2000, 2000));
	check(!exempt_take_all(0, 2000, 2000));
	check(!exempt_take_all(0, 10, 10));
}

static void jobs_keep_their_bins(void **unused)
{
	(void)unused;
	GIVEN(600, 300, 500, 100);
	jobs[0].prev_bin = 1;
	jobs[1].prev_bin = 0;
	jobs[2].prev_bin = 0;
	jobs[3].flags = MTS_PLAN_RESIDENT;
	jobs[3].prev_bin = 7;
	make_plan(&usual);
	assert_int_equal(jobs[0].bin, 1);
	assert_int_equal(jobs[1].bin, 0);
	assert_int_equal(jobs[2].bin, 0);
}

static void bad_plans(void **unused)
{
	struct mts_plan_conf conf = usual;

	(void)unused;
	GIVEN(1);
	assert_int_equal(mts_plan_round(&conf, jobs, MAX + 1, bins, &plan, NULL), -EINVAL);
	conf.pack = 3;
	assert_int_equal(mts_plan_round(&conf, NULL, 0, NULL, &plan, NULL), -EINVAL);
	assert_true(mts_plan_scratch(U32_MAX) < MIB);
}

static void everything_saturates(void **unused)
{
	struct mts_plan_conf conf = usual;
	void *scratch;
	u32 evict;

	(void)unused;
	for (evict = MTS_EVICT_OFF; evict <= MTS_EVICT_FULL; evict++) {
		conf.evict = evict;
		conf.capacity = U64_MAX;
		GIVEN(U64_MAX, U64_MAX - 1, U64_MAX / 2, 0);
		make_plan(&conf);
		assert_int_equal(plan.nbins, 3);
		assert_true(plan.demand == U64_MAX);
		/* One share of nearly all of it: the product has 94 bits. */
		assert_int_equal(bins[1].slice_ns, SECOND - 1);
		assert_int_equal(bins[2].slice_ns, SECOND / 2 - 1);
		conf.capacity = 0;
		make_plan(&conf);
		assert_int_equal(plan.swap_in_bytes, 0);
		add(U64_MAX, MTS_PLAN_RESIDENT);
		add(U64_MAX, MTS_PLAN_RESIDENT);
		conf.capacity = U64_MAX;
		make_plan(&conf);
		assert_int_equal(plan.capacity, 0);
		assert_true(plan.resident_demand == U64_MAX);
	}
	conf.slice_ns = U64_MAX;
	conf.switch_ns = U64_MAX;
	conf.max_pause_ns = 5;
	njobs = 0;
	add(1, 0);
	add(2, 0);
	conf.capacity = 2;
	scratch = malloc(mts_plan_scratch(njobs));
	assert_int_equal(mts_plan_round(&conf, jobs, njobs, bins, &plan, scratch), 0);
	assert_true(plan.round_ns == U64_MAX);
	free(scratch);
}

/* ---- pauses ---------------------------------------------------------------- */

static void slices_shrink_for_the_pause(void **unused)
{
	struct mts_plan_conf conf = usual;

	(void)unused;
	GIVEN(1000, 1000, 1000, 500);
	conf.max_pause_ns = 3 * SECOND;
	make_plan(&conf);
	assert_int_equal(bins[0].slice_ns, SECOND); /* 3 s it is */
	conf.max_pause_ns = 3 * SECOND / 2;
	make_plan(&conf);
	assert_int_equal(bins[0].slice_ns, SECOND / 2);
	assert_int_equal(bins[3].slice_ns, SECOND / 4);
	assert_int_equal(plan.longest_pause_ns, 3 * SECOND / 2);
	/* Switches count, all four of them. */
	conf.switch_ns = SECOND / 8;
	make_plan(&conf);
	assert_int_equal(bins[0].slice_ns, SECOND / 3);
	assert_int_equal(plan.longest_pause_ns, 3 * (SECOND / 3) + SECOND / 2);
}

static void slices_shrink_to_the_minimum(void **unused)
{
	struct mts_plan_conf conf = usual;
	u32 i;

	(void)unused;
	GIVEN(1000, 1000, 1000, 500);
	conf.switch_ns = 2 * SECOND;
	conf.max_pause_ns = SECOND;
	make_plan(&conf);
	for (i = 0; i < 4; i++)
		assert_int_equal(bins[i].slice_ns, SECOND / 10);
	assert_int_equal(plan.longest_pause_ns, 8 * SECOND + 3 * SECOND / 10);
}

/*
 * Where switches leave less than half of a round, pauses may be longer, as long as it takes for
 * slices to have half. Not where the caller gives no second, longer limit.
 */
static void pauses_stretch_for_half_of_the_round(void **unused)
{
	struct mts_plan_conf conf = usual;

	(void)unused;
	GIVEN(1000, 1000, 1000, 1000);
	conf.overhead = 50;
	conf.switch_ns = 5 * SECOND;
	conf.max_pause_ns = 23 * SECOND;
	make_plan(&conf);
	assert_int_equal(plan.max_pause_ns, 23 * SECOND);
	assert_int_equal(bins[0].slice_ns, SECOND);
	assert_int_equal(plan.run_ns, 4 * SECOND);
	conf.stretched_pause_ns = 60 * SECOND;
	make_plan(&conf);
	assert_int_equal(plan.max_pause_ns, 60 * SECOND);
	assert_int_equal(bins[0].slice_ns, 5 * SECOND);
	assert_int_equal(plan.run_ns, 20 * SECOND);
	assert_int_equal(plan.longest_pause_ns, 35 * SECOND);
	/* As far as it goes. */
	conf.stretched_pause_ns = 29 * SECOND;
	make_plan(&conf);
	assert_int_equal(bins[0].slice_ns, 3 * SECOND);
	assert_int_equal(plan.longest_pause_ns, 29 * SECOND);
	assert_false(mts_plan_pauses_too_long(&plan));
	/* It does not suffice even so. */
	conf.switch_ns = 10 * SECOND;
	make_plan(&conf);
	assert_int_equal(bins[0].slice_ns, SECOND / 10);
	assert_int_equal(plan.max_pause_ns, 29 * SECOND);
	assert_true(mts_plan_pauses_too_long(&plan));
	/* Half is there already. */
	conf.switch_ns = 5 * SECOND;
	conf.max_pause_ns = 36 * SECOND;
	conf.stretched_pause_ns = 60 * SECOND;
	make_plan(&conf);
	assert_int_equal(plan.max_pause_ns, 36 * SECOND);
	assert_true(plan.longest_pause_ns <= 36 * SECOND);
	/* Slices that are not to grow do not. */
	conf.max_pause_ns = 23 * SECOND;
	conf.overhead = 0;
	make_plan(&conf);
	assert_int_equal(bins[0].slice_ns, SECOND);
}

/* Before a switch was measured, slices alone may tell that no turns keep the limit. */
static void slices_alone_may_be_too_long(void **unused)
{
	struct mts_plan_conf conf = usual;

	(void)unused;
	GIVEN(1000, 1000, 1000, 1000);
	conf.slice_ns = 2 * SECOND;
	conf.min_slice_ns = 2 * SECOND;
	conf.max_pause_ns = 6 * SECOND;
	make_plan(&conf);
	assert_int_equal(plan.longest_pause_ns, 6 * SECOND);
	assert_false(mts_plan_slices_too_long(bins, &plan));
	/* Switches are what exceeds the limit. */
	conf.switch_ns = 10 * SECOND;
	make_plan(&conf);
	assert_true(mts_plan_pauses_too_long(&plan));
	assert_int_equal(plan.longest_pause_ns, 46 * SECOND);
	assert_false(mts_plan_slices_too_long(bins, &plan));
	conf.switch_ns = 0;
	conf.max_pause_ns = 5 * SECOND;
	make_plan(&conf);
	assert_true(mts_plan_slices_too_long(bins, &plan));
}

/* Beyond that slices are as long as switches ask for. */
static void a_long_pause_is_for_slices_that_are_cut(void **unused)
{
	struct mts_plan_conf conf = usual;
	struct mts_plan before;
	u32 i;

	(void)unused;
	GIVEN(1000, 1000, 1000, 1000);
	for (i = 0; i < 4; i++)
		jobs[i].threads = 1;
	conf.overhead = 50;
	conf.switch_ns = 20 * SECOND;
	conf.max_pause_ns = 30 * SECOND;
	conf.stretched_pause_ns = 60 * SECOND;
	make_plan(&conf);
	assert_true(mts_plan_pauses_too_long(&plan));
	assert_true(mts_plan_wants_long_pauses(&plan));
	before = plan;
	/* Still too short: 80 s of switches, and the slices of three. */
	mts_plan_allow_pause(&conf, 60 * SECOND);
	make_plan(&conf);
	assert_int_equal(plan.max_pause_ns, 60 * SECOND);
	assert_false(mts_plan_long_pauses_pay(&plan, &before));
	mts_plan_allow_pause(&conf, 120 * SECOND + MTS_PAUSE_MARGIN_NS);
	make_plan(&conf);
	assert_int_equal(plan.max_pause_ns, 120 * SECOND);
	assert_int_equal(plan.longest_pause_ns / SECOND, 119);
	assert_int_equal(bins[0].slice_ns / SECOND, 13);
	assert_true(mts_plan_long_pauses_pay(&plan, &before));
	assert_true(mts_plan_wants_long_pauses(&plan));
	before = plan;
	mts_plan_allow_pause(&conf, 240 * SECOND + MTS_PAUSE_MARGIN_NS);
	make_plan(&conf);
	assert_true(mts_plan_long_pauses_pay(&plan, &before));
	/* Nothing is cut: no longer pause is asked for, and none is planned. */
	conf.switch_ns = SECOND / 100;
	make_plan(&conf);
	assert_false(mts_plan_wants_long_pauses(&plan));
	assert_int_equal(plan.max_pause_ns, 30 * SECOND);
}

static void pauses_double_up_to_the_longest(void **unused)
{
	u64 limit = 0;
	u32 n = 0;

	(void)unused;
	while (limit < MTS_PAUSE_UNATTENDED_NS) {
		u64 longer = mts_plan_longer_pause(limit);

		assert_true(longer >= 2 * MTS_PAUSE_STRETCHED_NS || !limit);
		assert_true(longer > limit);
		limit = longer;
		n++;
	}
	assert_int_equal(limit, MTS_PAUSE_UNATTENDED_NS);
	assert_int_equal(n, 4);
}

/* What a switch takes is known only when the first one is over. */
static void slices_may_be_planned_anew(void **unused)
{
	struct mts_plan_conf conf = usual;
	struct mts_plan_bin known[4];
	struct mts_plan whole;

	(void)unused;
	GIVEN(1000, 700, 400, 100);
	conf.overhead = 50;
	conf.max_pause_ns = 50 * SECOND;
	conf.switch_ns = 2 * SECOND;
	make_plan(&conf);
	memcpy(known, bins, sizeof(known));
	whole = plan;
	conf.switch_ns = 30 * SECOND;
	make_plan(&conf);
	assert_true(mts_plan_pauses_too_long(&plan));
	conf.switch_ns = 2 * SECOND;
	mts_plan_slices(&conf, bins, &plan);
	assert_memory_equal(known, bins, plan.nbins * sizeof(*known));
	assert_memory_equal(&whole, &plan, sizeof(plan));
}

/* 0 is the automatic one; a limit of the user's is never exceeded. */
static void limits_of_a_pause(void **unused)
{
	struct mts_plan_conf conf = usual;

	(void)unused;
	mts_plan_limit_pause(&conf, 0);
	assert_int_equal(conf.max_pause_ns, MTS_PAUSE_AUTO_NS - MTS_PAUSE_MARGIN_NS);
	assert_int_equal(conf.stretched_pause_ns, MTS_PAUSE_STRETCHED_NS - MTS_PAUSE_MARGIN_NS);
	mts_plan_limit_pause(&conf, 10 * SECOND);
	assert_int_equal(conf.max_pause_ns, 10 * SECOND - MTS_PAUSE_MARGIN_NS);
	assert_int_equal(conf.stretched_pause_ns, conf.max_pause_ns);
	assert_int_equal(conf.longest_pause_ns, 0);
}

static u64 naive_slice(const struct mts_plan_conf *conf, u32 bin, u64 full)
{
	u128 slice = plan.capacity ? (u128)full * bins[bin].demand / plan.capacity : full;

	if (bins[bin].demand >= plan.capacity)
		slice = full;
	return slice < conf->min_slice_ns ? conf->min_slice_ns : slice;
}

static u64 naive_pause(const struct mts_plan_conf *conf, u64 full)
{
	u64 round = 0, shortest = U64_MAX;
	u32 i;

	for (i = 0; i < plan.nbins; i++) {
		u64 slice = naive_slice(conf, i, full);

		round += slice + conf->switch_ns;
		shortest = mts_min(shortest, slice);
	}
	return plan.nbins < 2 ? 0 : round - shortest;
}

/* Times of a few ns, so that every full slice can be tried one by one. */
static void slices_are_the_longest_that_keep_the_pause(void **unused)
{
	u32 shrunk = 0;

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(2000); unit_case++) {
		struct mts_plan_conf conf = usual;
		u64 full;
		u32 i;

		conf.pack = unit_packers[random_below(3)];
		conf.capacity = random_between(1, 1000);
		conf.slice_ns = random_between(1, 300);
		conf.min_slice_ns = random_between(0, random_between(0, conf.slice_ns));
		conf.max_pause_ns = random_between(0, 3000);
		conf.switch_ns = random_below(2) * random_below(100);
		random_jobs(20, conf.capacity + conf.capacity / 8);
		make_plan(&conf);

		for (full = conf.slice_ns; full > conf.min_slice_ns; full--)
			if (naive_pause(&conf, full) <= conf.max_pause_ns)
				break;
		for (i = 0; i < plan.nbins; i++)
			check(bins[i].slice_ns == naive_slice(&conf, i, full));
		shrunk += full < conf.slice_ns && full > conf.min_slice_ns;
	}
	check(shrunk || unit_case < 100);
}

/* ---- swap traffic ------------------------------------------------------------ */

static void full_eviction_moves_everything(void **unused)
{
	struct mts_plan_conf conf = usual;

	(void)unused;
	conf.evict = MTS_EVICT_FULL;
	GIVEN(1000, 600, 700, 5000);
	make_plan(&conf);
	assert_int_equal(plan.swap_in_bytes, 1000 + 600 + 700 + 1000);
	assert_int_equal(plan.swap_out_bytes, plan.swap_in_bytes);
}

static void need_moves_what_does_not_fit(void **unused)
{
	struct mts_plan_conf conf = usual;

	(void)unused;
	/* 200 do not fit beside the other bin, in each direction. */
	GIVEN(600, 600);
	make_plan(&conf);
	assert_int_equal(plan.swap_in_bytes, 400);
	assert_int_equal(plan.swap_out_bytes, 400);
	conf.evict = MTS_EVICT_OFF;
	make_plan(&conf);
	assert_int_equal(plan.swap_in_bytes, 400);
	/* Nothing is left of the others. */
	GIVEN(1000, 1000, 1000);
	make_plan(&conf);
	assert_int_equal(plan.swap_in_bytes, 3000);
	/* Rounds of 1750 and of 2000 take turns. */
	GIVEN(750, 750, 750);
	make_plan(&conf);
	assert_int_equal(plan.swap_in_bytes, 1875);
	assert_int_equal(plan.swap_out_bytes, 1875);
}

#define HISTORY 4000

struct traffic {
	u64 in;
	u64 out;
	u32 cycle; /* rounds */
};

/* Remembers all states, and looks for the bin that runs last each time. */
static struct traffic naive_traffic(void)
{
	static u64 held[HISTORY + 1][64];
	static u64 in[HISTORY + 1], out[HISTORY + 1];
	struct traffic t = { 0 };
	u64 now[64] = { 0 };
	u32 round, i, back;

	for (round = 0; round < HISTORY; round++) {
		memcpy(held[round], now, sizeof(now));
		for (t.cycle = 1; t.cycle <= round; t.cycle++)
			if (!memcmp(held[round - t.cycle], now, sizeof(now)))
				goto found;
		in[round] = 0;
		out[round] = 0;
		for (i = 0; i < plan.nbins; i++) {
			u64 need = mts_min(bins[i].demand, plan.capacity);
			u64 used = need;

			in[round] += need - now[i];
			now[i] = need;
			for (back = 1; back < plan.nbins; back++)
				used += now[(i + back) % plan.nbins];
			for (back = 1; back < plan.nbins && used > plan.capacity; back++) {
				u64 *last = &now[(i + plan.nbins - back) % plan.nbins];
				u64 part = mts_min(*last, used - plan.capacity);

				*last -= part;
				used -= part;
				out[round] += part;
			}
			check(used <= plan.capacity);
		}
	}
	t.cycle = round;
found:
	for (i = round - t.cycle; i < round; i++) {
		t.in += in[i];
		t.out += out[i];
	}
	t.in /= t.cycle;
	t.out /= t.cycle;
	return t;
}

static void traffic_is_what_rotating_moves(void **unused)
{
	u32 compared = 0, rounds = 0;

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(2000); unit_case++) {
		struct mts_plan_conf conf = usual;
		u64 sum = 0;
		struct traffic t;
		u32 i;

		conf.pack = unit_packers[random_below(3)];
		conf.evict = random_below(2) ? MTS_EVICT_NEED : MTS_EVICT_OFF;
		conf.capacity = random_between(1, unit_case % 2 ? 40 : 1000);
		random_jobs(unit_case % 3 ? 8 : 40, conf.capacity + conf.capacity / 8);
		make_plan(&conf);
		for (i = 0; i < plan.nbins; i++)
			sum += mts_min(bins[i].demand, plan.capacity);
		check(plan.swap_in_bytes <= sum && plan.swap_out_bytes <= sum);
		check(plan.nbins > 1 || !plan.swap_in_bytes);
		if (plan.nbins < 2)
			continue;
		t = naive_traffic();
		if (t.cycle > 64)
			continue;
		check(plan.swap_in_bytes == t.in);
		check(plan.swap_out_bytes == t.out);
		check(plan.swap_in_bytes == plan.swap_out_bytes);
		compared++;
		rounds = t.cycle > rounds ? t.cycle : rounds;
	}
	check((compared > unit_case / 3 && rounds > 2) || unit_case < 100);
}

/* The memory that one bin leaves over goes through all of them: long cycles. */
static void traffic_of_long_cycles(void **unused)
{
	struct mts_plan_conf conf = usual;
	u32 longest = 0;
	u32 n;

	(void)unused;
	for (n = 2; n <= 60; n++) {
		struct traffic t;

		njobs = 0;
		while (njobs < n)
			add(501, 0);
		make_plan(&conf);
		t = naive_traffic();
		longest = t.cycle > longest ? t.cycle : longest;
		if (t.cycle > 64)
			continue;
		assert_int_equal(plan.swap_in_bytes, t.in);
		assert_int_equal(plan.swap_out_bytes, t.out);
	}
	print_message("# longest cycle: %u rounds\n", longest);
	assert_true(longest > 32);
}

static void traffic_of_four_thousand_bins(void **unused)
{
	struct mts_plan_conf conf = usual;
	u64 sum = 0;

	(void)unused;
	random_start(__func__);
	conf.capacity = 4 * GIB;
	njobs = 0;
	while (njobs < MAX) {
		add(2 * GIB + 1 + random_below(GIB), 0);
		sum += jobs[njobs - 1].demand;
	}
	make_plan(&conf);
	assert_int_equal(plan.nbins, MAX);
	/* What can stay over is little: at most a capacity in each round. */
	assert_in_range(plan.swap_in_bytes, sum - MAX * 2 * GIB, sum);
	assert_in_range(plan.swap_in_bytes, plan.swap_out_bytes - 4 * GIB,
			plan.swap_out_bytes + 4 * GIB);
}

/* ---- slices as they begin ------------------------------------------------------ */

static void slices_are_cut_for_waiting_bins(void **unused)
{
	const struct mts_plan_bin three[] = {
		{ .slice_ns = 6 },
		{ .slice_ns = 10 },
		{ .slice_ns = 4 },
	};
	const u32 after_0[] = { 1, 2 }, after_2[] = { 0, 1 };

	(void)unused;
	/* Time enough: 6 until bin 1's, 6 + 2 + 10 until bin 2's. */
	assert_int_equal(mts_plan_cut(three, 0, after_0, 2, (u64[]){ 0, 6, 18 }, 2), 6);
	assert_int_equal(mts_plan_cut(three, 0, after_0, 2, (u64[]){ U64_MAX, 100, 100 }, 2), 6);
	/* The next bin waits: only the running bin's slice is cut. */
	assert_int_equal(mts_plan_cut(three, 0, after_0, 2, (u64[]){ 0, 5, 18 }, 2), 5);
	/* The one after it: bin 1's slice shrinks as well, the switch does not. */
	assert_int_equal(mts_plan_cut(three, 0, after_0, 2, (u64[]){ 0, 6, 10 }, 2), 3);
	assert_int_equal(mts_plan_cut(three, 0, after_0, 2, (u64[]){ 0, 2, 10 }, 2), 2);
	/* A bin without a frozen job has no turn. */
	assert_int_equal(mts_plan_cut(three, 0, after_0, 2, (u64[]){ 0, U64_MAX, 6 }, 2), 6);
	assert_int_equal(mts_plan_cut(three, 0, after_0, 2, (u64[]){ 0, U64_MAX, U64_MAX }, 2), 6);
	/* Turns go round. */
	assert_int_equal(mts_plan_cut(three, 2, after_2, 2, (u64[]){ 4, 7, 0 }, 2), 2);
	assert_int_equal(mts_plan_cut(three, 2, after_2, 2, (u64[]){ 4, 12, 0 }, 2), 4);
	/* Too late. */
	assert_int_equal(mts_plan_cut(three, 0, after_0, 2, (u64[]){ 0, 6, 2 }, 2), 0);
	assert_int_equal(mts_plan_cut(three, 0, after_0, 2, (u64[]){ 0, 0, 18 }, 2), 0);
	assert_int_equal(mts_plan_cut(three, 0, NULL, 0, (u64[]){ 0 }, 2), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_of_the_paper),
		cmocka_unit_test(slices_have_a_minimum),
		cmocka_unit_test(a_switch_takes_as_long_as_its_bytes),
		cmocka_unit_test(slices_grow_with_the_price_of_a_switch),
		cmocka_unit_test(growth_has_its_limits),
		cmocka_unit_test(slices_are_in_proportion_to_weights),
		cmocka_unit_test(equal_weights_change_nothing),
		cmocka_unit_test(weights_break_no_limit),
		cmocka_unit_test(min_slice_above_slice),
		cmocka_unit_test(oversize_is_bounded),
		cmocka_unit_test(rw_leftovers_are_overfull),
		cmocka_unit_test(one_bin_has_no_round),
		cmocka_unit_test(no_jobs),
		cmocka_unit_test(residents_come_off_the_capacity),
		cmocka_unit_test(what_stays_comes_off_the_capacity),
		cmocka_unit_test(exempt_jobs_may_take_all),
		cmocka_unit_test(jobs_keep_their_bins),
		cmocka_unit_test(bad_plans),
		cmocka_unit_test(everything_saturates),
		cmocka_unit_test(slices_shrink_for_the_pause),
		cmocka_unit_test(slices_shrink_to_the_minimum),
		cmocka_unit_test(pauses_stretch_for_half_of_the_round),
		cmocka_unit_test(slices_alone_may_be_too_long),
		cmocka_unit_test(a_long_pause_is_for_slices_that_are_cut),
		cmocka_unit_test(pauses_double_up_to_the_longest),
		cmocka_unit_test(slices_may_be_planned_anew),
		cmocka_unit_test(limits_of_a_pause),
		cmocka_unit_test(slices_are_the_longest_that_keep_the_pause),
		cmocka_unit_test(full_eviction_moves_everything),
		cmocka_unit_test(need_moves_what_does_not_fit),
		cmocka_unit_test(traffic_is_what_rotating_moves),
		cmocka_unit_test(traffic_of_long_cycles),
		cmocka_unit_test(traffic_of_four_thousand_bins),
		cmocka_unit_test(slices_are_cut_for_waiting_bins),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
