// SPDX-License-Identifier: GPL-2.0
/* Packing after an earlier round: which items stay, which move, and the numbers of the bins. */
#include "unit.h"

static struct instance in, fresh;

#define GIVEN(capacity, ...)                                                \
	given(capacity, sizeof((u64[][2]){ __VA_ARGS__ }) / sizeof(u64[2]), \
	      (u64[][2]){ __VA_ARGS__ })

static void given(u64 capacity, u32 n, u64 (*size_prev)[2])
{
	u32 i;

	instance_clear(&in, capacity);
	for (i = 0; i < n; i++)
		instance_add(&in, size_prev[i][0], size_prev[i][1]);
}

#define NEW MTS_BIN_NONE

static void all_stay_where_they_fit(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		/* Afresh it would be 5 + 4, 3 + 2. */
		GIVEN(10, { 5, 1 }, { 4, 0 }, { 3, 0 }, { 2, 1 });
		assert_int_equal(pack(unit_packers[i], &in), 2);
		BINS(1, 0, 0, 1);
	}
}

static void gaps_close_in_order(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		GIVEN(10, { 8, 4095 }, { 7, 17 }, { 9, 300 }, { 4, NEW });
		assert_int_equal(pack(unit_packers[i], &in),
				 unit_packers[i] == MTS_PACK_RW ? 3 : 4);
		assert_int_equal(in.items[1].bin, 0);
		assert_int_equal(in.items[2].bin, 1);
		assert_int_equal(in.items[0].bin, 2);
		if (unit_packers[i] != MTS_PACK_RW)
			assert_int_equal(in.items[3].bin, 3);
	}
}

static void newcomers_fill_the_gaps(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		GIVEN(10, { 5, 0 }, { 6, 1 }, { 4, NEW }, { 5, NEW });
		assert_int_equal(pack(unit_packers[i], &in), 2);
		BINS(0, 1, 1, 0);
	}
}

/* The bins that stay have room of 4 and of 2. Afresh it would take three. */
static void newcomers_fit_best_among_those_who_stay(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < 2; i++) {
		GIVEN(10, { 4, 0 }, { 2, 0 }, { 5, 1 }, { 3, 1 }, { 4, NEW }, { 2, NEW });
		assert_int_equal(pack(unit_packers[i], &in), 2);
		BINS(0, 0, 1, 1, 0, 1);
	}
}

static void the_last_number_is_a_bin(void **unused)
{
	const u32 last = MTS_MAX_JOBS - 1;
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		GIVEN(10, { 5, last }, { 4, last - 1 }, { 3, last - 1 }, { 2, last });
		assert_int_equal(pack(unit_packers[i], &in), 2);
		BINS(1, 0, 0, 1);
	}
}

/* Some numbers are no bins of a last round. */
static void garbage_is_new(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		GIVEN(10, { 5, MTS_BIN_EVERY }, { 5, MTS_MAX_JOBS }, { 5, 2 }, { 5, 0x80000000 });
		assert_int_equal(pack(unit_packers[i], &in), 2);
		BINS(0, 1, 0, 1);
	}
}

static void the_largest_stay_in_a_bin_outgrown(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < 2; i++) {
		GIVEN(10, { 3, 0 }, { 8, 0 }, { 5, 1 });
		assert_int_equal(pack(unit_packers[i], &in), 2);
		BINS(1, 0, 1);
	}
}

static void a_new_bin_comes_last(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		GIVEN(10, { 9, 0 }, { 4, 0 }, { 9, 1 }, { 8, 2 });
		assert_int_equal(pack(unit_packers[i], &in),
				 unit_packers[i] == MTS_PACK_RW ? 3 : 4);
		if (unit_packers[i] != MTS_PACK_RW)
			BINS(0, 3, 1, 2);
	}
}

static void the_smallest_bin_breaks_up(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		/* 19 bytes fit in two bins: only 2 and 1 move. Packed anew, 6 and 3 would meet. */
		GIVEN(10, { 6, 2 }, { 2, 2 }, { 2, 1 }, { 1, 1 }, { 5, 0 }, { 3, 0 });
		assert_int_equal(pack(unit_packers[i], &in), 2);
		BINS(1, 1, 0, 1, 0, 0);
	}
}

static void a_bin_more_is_not_worth_it(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		/* 5 and 4 cannot stay together if 6, 5, 5, 4 shall fit in two. */
		GIVEN(10, { 5, 3 }, { 4, 3 }, { 6, 5 }, { 5, NEW });
		assert_int_equal(pack(unit_packers[i], &in), 2);
		if (unit_packers[i] == MTS_PACK_RW)
			continue;
		/* The bin of 6 and 4 goes by the 4, the other by the 5: both were 3. */
		BINS(1, 0, 0, 1);
	}
}

static void packed_afresh_goes_by_the_lowest_member(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < 2; i++) {
		GIVEN(10, { 6, 9 }, { 6, 2 }, { 4, 7 }, { 4, 7 });
		/* { 6, 9 } with a 4, { 6, 2 } with a 4; 4 and 4 cannot stay together. */
		assert_int_equal(pack(unit_packers[i], &in), 2);
		BINS(1, 0, 1, 0);
	}
}

static void rw_stays_beyond_the_capacity(void **unused)
{
	(void)unused;
	GIVEN(10, { 6, NEW }, { 6, NEW }, { 6, NEW }, { 1, NEW }, { 1, NEW });
	assert_int_equal(pack(MTS_PACK_RW, &in), 2);
	instance_next_round(&in);
	assert_int_equal(pack(MTS_PACK_RW, &in), 2);
	assert_true(none_moved(&in));
	/* Other names for the bins, so that first fit alone would not do. */
	GIVEN(10, { 6, 1 }, { 6, 0 }, { 6, 1 }, { 1, 0 }, { 1, 0 });
	assert_int_equal(pack(MTS_PACK_RW, &in), 2);
	BINS(1, 0, 1, 0, 0);
}

static void rw_does_not_stay_in_too_few_bins(void **unused)
{
	(void)unused;
	/* Afresh, one bin has 12 of 10; that must not keep 12 and 11 in two bins of three. */
	GIVEN(10, { 6, 0 }, { 6, 0 }, { 6, 1 }, { 6, 1 });
	assert_int_equal(pack(MTS_PACK_RW, &in), 3);
}

static void oversize_keeps_its_number(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		GIVEN(10, { 9, 2 }, { 30, 1 }, { 8, 0 }, { 20, NEW });
		assert_int_equal(pack(unit_packers[i], &in), 4);
		BINS(2, 1, 0, 3);
	}
}

static void one_that_grows_oversize_leaves_the_others_together(void **unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
		GIVEN(10, { 11, 0 }, { 3, 0 }, { 4, 0 }, { 6, 1 }, { 3, 1 });
		assert_int_equal(pack(unit_packers[i], &in), 3);
		BINS(1, 0, 0, 2, 2);
	}
}

/* ---- properties ------------------------------------------------------------ */

static void the_same_again_is_the_same(void **unused)
{
	u32 i;

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(2000); unit_case++) {
		for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
			u32 nbins, at;

			instance_random(&in, 40);
			if (unit_case % 2)
				instance_random_prev(&in);
			nbins = pack(unit_packers[i], &in);
			if (fullest_of(&in) > U64_MAX)
				continue; /* sums saturate: how full is not known */
			instance_next_round(&in);
			check(pack(unit_packers[i], &in) == nbins);
			for (at = 0; at < in.n; at++)
				check(in.items[at].bin == in.items[at].prev);
		}
	}
}

static void never_worse_than_afresh(void **unused)
{
	u32 i;

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(2000); unit_case++) {
		instance_random(&in, unit_case % 20 ? 30 : 300);
		instance_random_prev(&in);
		fresh = in;
		instance_forget_prev(&fresh);
		for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
			check(pack(unit_packers[i], &in) <= pack(unit_packers[i], &fresh));
			if (fullest_of(&fresh) > in.capacity && fullest_of(&fresh) <= U64_MAX)
				check(fullest_of(&in) <= fullest_of(&fresh));
			if (fullest_of(&fresh) <= in.capacity)
				check(fullest_of(&in) <= in.capacity);
		}
	}
}

/* A bin beyond the capacity is no place for one that fits elsewhere. */
static void rw_newcomer_goes_where_there_is_room(void **unused)
{
	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(10000); unit_case++) {
		struct mts_item *newcomer;
		u64 size;
		u32 nbins, i;
		bool room = false;

		instance_random(&in, 12);
		instance_random_prev(&in);
		pack(MTS_PACK_RW, &in);
		instance_next_round(&in);
		size = random_below(in.capacity / 4 + 1);
		instance_add(&in, size, NEW);
		newcomer = &in.items[in.n - 1];
		nbins = pack(MTS_PACK_RW, &in);
		for (i = 0; i < in.n - 1 && in.items[i].bin == in.items[i].prev; i++)
			;
		if (i < in.n - 1 || load_of(&in, newcomer->bin) <= in.capacity || !size)
			continue;
		for (i = 0; i < nbins; i++)
			room |= load_of(&in, i) + size <= in.capacity;
		check(!room);
	}
}

static u32 bins_left(const struct instance *p)
{
	u32 bins = 0;
	u32 i, j;

	for (i = 0; i < p->n; i++) {
		for (j = 0; j < i && p->items[j].prev != p->items[i].prev; j++)
			;
		bins += i == j;
	}
	return bins;
}

/* If a bin was saved, any item may have moved. */
static void check_none_moved(u32 packer)
{
	u32 left = bins_left(&in);
	u32 nbins = pack(packer, &in);

	check(nbins <= left);
	check(nbins < left || none_moved(&in));
}

static void one_leaves_none_moves(void **unused)
{
	u32 i;

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(2000); unit_case++) {
		for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
			instance_random(&in, 40);
			if (unit_case % 2)
				instance_random_prev(&in);
			pack(unit_packers[i], &in);
			if (fullest_of(&in) > in.capacity)
				continue; /* afresh it might be less full */
			instance_next_round(&in);
			instance_remove(&in, random_below(in.n));
			if (in.n)
				check_none_moved(unit_packers[i]);
		}
	}
}

static void one_grows_within_its_bin_none_moves(void **unused)
{
	u32 i;

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(2000); unit_case++) {
		for (i = 0; i < ARRAY_SIZE(unit_packers); i++) {
			struct mts_item *item;
			u32 before;

			instance_random(&in, 40);
			before = pack(unit_packers[i], &in);
			item = &in.items[random_below(in.n)];
			if (fullest_of(&in) > in.capacity || item->size > in.capacity)
				continue;
			item->size += random_between(0, in.capacity - load_of(&in, item->bin));
			instance_next_round(&in);
			/* More bytes may need one more bin; no other item moves for it. */
			if (unit_packers[i] == MTS_PACK_RW) {
				fresh = in;
				instance_forget_prev(&fresh);
				if (pack(MTS_PACK_RW, &fresh) != before)
					continue;
			}
			check_none_moved(unit_packers[i]);
		}
	}
}

/* One that outgrows its bin: the other bins' members stay, unless afresh is better. */
static void one_outgrows_its_bin_the_others_stay(void **unused)
{
	u32 stayed = 0;
	u32 i, j;

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(2000); unit_case++) {
		for (i = 0; i < 2; i++) {
			u32 grown, nbins, fresh_bins, before;
			bool together = true;

			instance_random(&in, 40);
			before = pack(unit_packers[i], &in);
			grown = random_below(in.n);
			if (in.items[grown].size > in.capacity)
				continue;
			instance_next_round(&in);
			in.items[grown].size = random_between(in.items[grown].size, in.capacity);
			fresh = in;
			instance_forget_prev(&fresh);
			fresh_bins = pack(unit_packers[i], &fresh);
			nbins = pack(unit_packers[i], &in);
			check(nbins <= fresh_bins);
			if (fresh_bins <= before)
				continue;
			for (j = 0; j < in.n; j++)
				together &= in.items[j].prev == in.items[grown].prev ||
					    in.items[j].bin == in.items[j].prev;
			check(together);
			stayed++;
		}
	}
	check(stayed || unit_case < 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_stay_where_they_fit),
		cmocka_unit_test(gaps_close_in_order),
		cmocka_unit_test(newcomers_fill_the_gaps),
		cmocka_unit_test(newcomers_fit_best_among_those_who_stay),
		cmocka_unit_test(the_last_number_is_a_bin),
		cmocka_unit_test(garbage_is_new),
		cmocka_unit_test(the_largest_stay_in_a_bin_outgrown),
		cmocka_unit_test(a_new_bin_comes_last),
		cmocka_unit_test(the_smallest_bin_breaks_up),
		cmocka_unit_test(a_bin_more_is_not_worth_it),
		cmocka_unit_test(packed_afresh_goes_by_the_lowest_member),
		cmocka_unit_test(rw_stays_beyond_the_capacity),
		cmocka_unit_test(rw_does_not_stay_in_too_few_bins),
		cmocka_unit_test(oversize_keeps_its_number),
		cmocka_unit_test(one_that_grows_oversize_leaves_the_others_together),
		cmocka_unit_test(the_same_again_is_the_same),
		cmocka_unit_test(never_worse_than_afresh),
		cmocka_unit_test(rw_newcomer_goes_where_there_is_room),
		cmocka_unit_test(one_leaves_none_moves),
		cmocka_unit_test(one_grows_within_its_bin_none_moves),
		cmocka_unit_test(one_outgrows_its_bin_the_others_stay),
	};

	return cmocka_run_group_tests_name("stable", tests, NULL, NULL);
}
