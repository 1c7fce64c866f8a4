// SPDX-License-Identifier: GPL-2.0
/* Jobs that wait for each other: how ties are remembered, and how such jobs are packed. */
#include "policy/bins.h"
#include "policy/plan.h"
#include "policy/ties.h"
#include "unit.h"

#define MAX 64 /* of the fuzz */
#define MANY (MTS_PLAN_MANY + 1)

static struct mts_plan_job jobs[MANY + MAX];
static struct mts_plan_bin bins[MANY + MAX];
static struct mts_plan_tie ties[MANY + MAX];
static struct mts_plan plan;
static u32 njobs, nties;

static void forget(void)
{
	njobs = 0;
	nties = 0;
}

static void add(u64 demand)
{
	jobs[njobs++] = (struct mts_plan_job){
		.demand = demand,
		.prev_bin = MTS_BIN_NONE,
		.threads = 1,
	};
}

static void tie(u32 a, u32 b)
{
	ties[nties++] = (struct mts_plan_tie){ .a = a, .b = b };
}

static void plan_with(u32 pack, u32 some, u32 processors)
{
	const struct mts_plan_conf conf = {
		.pack = pack,
		.capacity = 100,
		.slice_ns = 1000000000,
		.min_slice_ns = 100000000,
		.max_pause_ns = 60000000000,
		.processors = processors,
		.ties = ties,
		.nties = some,
	};
	void *scratch = calloc(1, mts_plan_scratch(njobs) + 1);

	check(scratch && !mts_plan_round(&conf, jobs, njobs, bins, &plan, scratch));
	free(scratch);
}

static void plan_ffd(void)
{
	plan_with(MTS_PACK_FFD, nties, 0);
}

static void remember_bins(void)
{
	u32 i;

	for (i = 0; i < njobs; i++)
		jobs[i].prev_bin = jobs[i].bin;
}

/* The sums of each bin are those of its jobs. */
static void check_bins(void)
{
	u64 sum = 0;
	u32 i;

	check_bins_of(jobs, njobs, bins, plan.nbins);
	for (i = 0; i < plan.nbins; i++)
		sum += bins[i].demand;
	check(plan.demand == sum);
}

/* ---- packing ---------------------------------------------------------------------- */

/* First fit: the third goes to the first, the fourth to the second. */
static void two_large_and_two_small(u64 second)
{
	forget();
	add(75);
	add(second);
	add(20);
	add(20);
}

static void tied_jobs_share_a_bin(void **unused)
{
	(void)unused;
	two_large_and_two_small(50);
	plan_ffd();
	check(plan.nbins == 2 && jobs[2].bin != jobs[3].bin);
	check(jobs[2].group == MTS_BIN_NONE);
	tie(3, 2);
	plan_ffd();
	check_bins();
	check(plan.nbins == 2 && jobs[2].bin == jobs[3].bin && jobs[2].bin == jobs[1].bin);
	check(jobs[2].group == 2 && jobs[3].group == 2 && jobs[0].group == MTS_BIN_NONE);
}

/* No other job moves for it, and the next round leaves them as they are. */
static void only_they_move(void **unused)
{
	(void)unused;
	two_large_and_two_small(50);
	plan_ffd();
	remember_bins();
	tie(2, 3);
	plan_ffd();
	check(jobs[0].bin == jobs[0].prev_bin && jobs[1].bin == jobs[1].prev_bin);
	check(jobs[2].bin == jobs[3].bin);
	remember_bins();
	plan_ffd();
	check(jobs[0].bin == jobs[0].prev_bin && jobs[2].bin == jobs[2].prev_bin);
	check(jobs[2].bin == jobs[3].bin);
	/* A tie that is forgotten is no reason to part. */
	nties = 0;
	plan_ffd();
	check(jobs[2].bin == jobs[3].bin);
}

static void the_smaller_one_moves(void **unused)
{
	(void)unused;
	forget();
	add(60);
	add(60);
	add(30);
	add(10);
	jobs[0].prev_bin = 0;
	jobs[2].prev_bin = 0;
	jobs[1].prev_bin = 1;
	jobs[3].prev_bin = 1;
	tie(2, 3);
	plan_ffd();
	check_bins();
	check(jobs[2].bin == 0 && jobs[3].bin == 0 && jobs[0].bin == 0 && jobs[1].bin == 1);
}

static void no_bin_more_for_it(void **unused)
{
	(void)unused;
	two_large_and_two_small(75);
	tie(2, 3);
	plan_ffd();
	check_bins();
	check(plan.nbins == 2 && jobs[2].bin != jobs[3].bin);
	check(jobs[2].group == MTS_BIN_NONE);
}

static void what_is_too_large_together_stays_apart(void **unused)
{
	(void)unused;
	forget();
	add(60);
	add(60);
	add(10);
	tie(0, 1);
	tie(1, 2);
	plan_ffd();
	check_bins();
	check(jobs[0].bin != jobs[1].bin && jobs[1].bin == jobs[2].bin);
	check(jobs[0].group == MTS_BIN_NONE && jobs[2].group == 1);
}

/* If not all ties can be had, the first ones are. */
static void the_first_ties_count(void **unused)
{
	(void)unused;
	forget();
	add(75); /* 0 */
	add(50); /* 1 */
	add(20);
	add(20);
	add(75); /* 4: beside it nothing of 40 has room */
	add(10);
	add(15);
	tie(2, 3);
	tie(5, 0);
	tie(6, 1);
	tie(6, 4);
	plan_ffd();
	check_bins();
	check(plan.nbins == 3);
	check(jobs[2].bin == jobs[3].bin);
}

static void residents_have_no_ties(void **unused)
{
	(void)unused;
	two_large_and_two_small(50);
	jobs[2].flags = MTS_PLAN_RESIDENT;
	tie(2, 3);
	plan_ffd();
	check(jobs[2].bin == MTS_BIN_EVERY && jobs[3].bin < plan.nbins);
	check(jobs[2].group == MTS_BIN_NONE && jobs[3].group == MTS_BIN_NONE);
}

/* To keep processors busy others are moved, not these. */
static void they_are_not_spread(void **unused)
{
	(void)unused;
	forget();
	add(80);
	add(80);
	add(10);
	add(10);
	plan_with(MTS_PACK_FFD, 0, 2);
	check(jobs[2].bin != jobs[3].bin);
	tie(2, 3);
	plan_with(MTS_PACK_FFD, nties, 2);
	check_bins();
	check(jobs[2].bin == jobs[3].bin);
}

/* So many that they are packed once only, each as large as a bin. */
static void very_many_are_packed_without_ties(void **unused)
{
	(void)unused;
	two_large_and_two_small(50);
	while (njobs < MANY)
		add(100);
	tie(3, 2);
	plan_ffd();
	check_bins();
	check(jobs[2].group == MTS_BIN_NONE && jobs[3].group == MTS_BIN_NONE);
}

/* Whatever the ties, they cost no bin, no fuller one, and groups hold together. */
static void check_any_ties(u32 many)
{
	static const u32 packs[] = { MTS_PACK_FFD, MTS_PACK_BFD, MTS_PACK_RW };
	u32 i, n;

	for (n = 0; n < unit_cases(many ? 100 : 500); n++) {
		u32 pack = packs[random_below(ARRAY_SIZE(packs))], nbins;
		u64 fullest = 100;

		forget();
		unit_case = n;
		for (i = 1 + many + (u32)random_below(MAX); i; i--)
			add(random_below(n % 2 ? 120 : 40));
		for (i = 0; i < njobs; i++) {
			jobs[i].prev_bin = (u32)random_below(njobs);
			if (!random_below(10))
				jobs[i].flags = MTS_PLAN_RESIDENT;
			tie((u32)random_below(njobs), (u32)random_below(njobs));
		}
		plan_with(pack, 0, 0);
		nbins = plan.nbins;
		for (i = 0; i < nbins; i++)
			fullest = bins[i].demand > fullest ? bins[i].demand : fullest;
		plan_with(pack, nties, 0);
		check_bins();
		check(plan.nbins <= nbins);
		for (i = 0; i < plan.nbins; i++)
			check(bins[i].demand <= fullest);
		for (i = 0; i < njobs; i++)
			check(jobs[i].group == MTS_BIN_NONE ||
			      (jobs[i].group <= i && jobs[i].bin == jobs[jobs[i].group].bin));
	}
}

static void fuzz(void **unused)
{
	(void)unused;
	random_start("ties");
	check_any_ties(0);
}

static void fuzz_of_very_many(void **unused)
{
	(void)unused;
	random_start("many_ties");
	check_any_ties(MTS_PLAN_MANY);
}

/* ---- memory ----------------------------------------------------------------------- */

#define S 1000000000ull

static void it_is_remembered_for_a_while(void **unused)
{
	struct mts_ties known = { 0 };

	(void)unused;
	check(!mts_ties_id(&known, 0, S));
	check(mts_ties_note(&known, 7, S, true));
	check(!mts_ties_note(&known, 7, S, true)); /* in the same look */
	check(mts_ties_id(&known, 0, S) == 7);
	check(mts_ties_note(&known, 7, 2 * S, false));
	check(mts_ties_id(&known, 0, MTS_TIE_NS + S) == 7);
	check(!mts_ties_id(&known, 0, MTS_TIE_NS + 2 * S));
}

static void who_shares_the_bin_is_not_new(void **unused)
{
	struct mts_ties known = { 0 };
	u32 i;

	(void)unused;
	check(!mts_ties_note(&known, 7, S, false));
	for (i = 0; i < MTS_TIES; i++)
		check(!mts_ties_id(&known, i, S));
}

static void since_when_it_is_known(void **unused)
{
	struct mts_ties known = { 0 };

	(void)unused;
	mts_ties_note(&known, 7, 5 * S, true);
	mts_ties_note(&known, 7, 9 * S, true);
	check(mts_ties_known(&known, 7, 9 * S, 6 * S));
	check(!mts_ties_known(&known, 7, 9 * S, 5 * S));
	check(!mts_ties_known(&known, 8, 9 * S, 9 * S));
	/* Forgotten, it begins anew. */
	check(!mts_ties_known(&known, 7, 10 * S + MTS_TIE_NS, 6 * S));
	mts_ties_note(&known, 7, 10 * S + MTS_TIE_NS, true);
	check(!mts_ties_known(&known, 7, 10 * S + MTS_TIE_NS, 6 * S));
}

static void who_was_seen_longest_ago_makes_room(void **unused)
{
	struct mts_ties known = { 0 };
	u32 i, found = 0;

	(void)unused;
	for (i = 0; i < MTS_TIES; i++)
		check(mts_ties_note(&known, 10 + i, (1 + i) * S, true));
	check(mts_ties_note(&known, 10, 20 * S, true));
	check(mts_ties_note(&known, 99, 21 * S, true));
	for (i = 0; i < MTS_TIES; i++)
		found += mts_ties_id(&known, i, 21 * S) == 99 ||
			 mts_ties_id(&known, i, 21 * S) == 10;
	check(found == 2 && !mts_ties_known(&known, 11, 21 * S, 21 * S));
	/* Ties of the same look do not replace each other. */
	for (i = 0; i < 10; i++)
		mts_ties_note(&known, 200 + i, 22 * S, true);
	for (i = 0; i < MTS_TIES; i++)
		check(mts_ties_id(&known, i, 22 * S) < 200 + MTS_TIES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tied_jobs_share_a_bin),
		cmocka_unit_test(only_they_move),
		cmocka_unit_test(the_smaller_one_moves),
		cmocka_unit_test(no_bin_more_for_it),
		cmocka_unit_test(what_is_too_large_together_stays_apart),
		cmocka_unit_test(the_first_ties_count),
		cmocka_unit_test(residents_have_no_ties),
		cmocka_unit_test(they_are_not_spread),
		cmocka_unit_test(very_many_are_packed_without_ties),
		cmocka_unit_test(fuzz),
		cmocka_unit_test(fuzz_of_very_many),
		cmocka_unit_test(it_is_remembered_for_a_while),
		cmocka_unit_test(who_shares_the_bin_is_not_new),
		cmocka_unit_test(since_when_it_is_known),
		cmocka_unit_test(who_was_seen_longest_ago_makes_room),
	};

	return cmocka_run_group_tests_name("ties", tests, NULL, NULL);
}
