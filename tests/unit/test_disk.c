// SPDX-License-Identifier: GPL-2.0
/* What a page costs: which samples count, for how long, and what follows. */
#include "policy/disk.h"
#include "unit.h"

#define US 1000ull
#define SECOND 1000000000ull
#define PAGES (4ull * MTS_DISK_LEAST_PAGES)
#define NOW (3600 * SECOND)

/* A move of PAGES, of whose pages each took so long, ns. */
static struct mts_disk_sample sample_of(u64 worked, u64 waited)
{
	return (struct mts_disk_sample){
		.elapsed_ns = PAGES * (worked + waited),
		.worked_ns = PAGES * worked,
		.waited_ns = PAGES * waited,
		.pages = PAGES,
	};
}

static struct mts_page_cost cost_of(u64 worked, u64 waited)
{
	struct mts_disk_sample sample = sample_of(worked, waited);
	struct mts_page_cost cost = { 0 };

	assert_true(mts_disk_note(&cost, &sample, NOW));
	return cost;
}

static void nothing_is_known(void **unused)
{
	const struct mts_disk disk = { 0 };

	(void)unused;
	assert_false(mts_disk_is_known(&disk.out, NOW));
	assert_false(mts_disk_is_waited_for(&disk, NOW));
	assert_false(mts_disk_needs_rows(&disk, NOW));
	assert_int_equal(mts_disk_row_ns(&disk, NOW), 0);
}

static void a_figure_is_of_a_page(void **unused)
{
	struct mts_page_cost cost = cost_of(3 * US, 7 * US);

	(void)unused;
	assert_int_equal(cost.elapsed_ns, 10 * US);
	assert_int_equal(cost.worked_ns, 3 * US);
	assert_int_equal(cost.waited_ns, 7 * US);
	assert_int_equal(cost.at_ns, NOW);
}

/* Several threads share the work; beside jobs that run, a thread also waits for a processor. */
static void a_page_takes_less_where_a_processor_is_free(void **unused)
{
	struct mts_page_cost cost = { .elapsed_ns = 100, .worked_ns = 20, .waited_ns = 30 };

	(void)unused;
	assert_int_equal(mts_disk_alone_ns(&cost), 50);
	cost.worked_ns = 400;
	assert_int_equal(mts_disk_alone_ns(&cost), 100);
}

static void the_latest_sample_counts(void **unused)
{
	struct mts_disk_sample later = sample_of(2 * US, 1 * US);
	struct mts_page_cost cost = cost_of(3 * US, 7 * US);

	(void)unused;
	assert_true(mts_disk_note(&cost, &later, NOW + 1));
	assert_int_equal(cost.elapsed_ns, 3 * US);
	assert_int_equal(cost.at_ns, NOW + 1);
}

static void a_small_sample_changes_nothing(void **unused)
{
	struct mts_disk_sample part = { .elapsed_ns = 50 * US, .pages = MTS_DISK_LEAST_PAGES - 1 };
	struct mts_disk_sample one = { .elapsed_ns = 14 * US, .waited_ns = 64, .pages = 1 };
	struct mts_page_cost cost = cost_of(3 * US, 7 * US);

	(void)unused;
	assert_false(mts_disk_note(&cost, &part, NOW + 1));
	assert_int_equal(cost.elapsed_ns, 10 * US);
	assert_int_equal(cost.at_ns, NOW);
	/* Several parts are enough together. */
	mts_disk_add(&part, &one);
	assert_true(mts_disk_note(&cost, &part, NOW + 1));
	assert_int_equal(cost.elapsed_ns, 1 * US);
	assert_int_equal(cost.worked_ns, 0);
	assert_int_equal(cost.waited_ns, 1);
}

static void pages_that_cost_nothing_are_known(void **unused)
{
	struct mts_disk_sample free = { .pages = PAGES };
	struct mts_page_cost cost = { 0 };

	(void)unused;
	assert_true(mts_disk_note(&cost, &free, 0));
	assert_int_equal(cost.elapsed_ns, 1);
	assert_true(mts_disk_is_known(&cost, 1));
}

static void a_figure_expires(void **unused)
{
	struct mts_disk disk = { .out = cost_of(3 * US, 100 * US) };

	(void)unused;
	assert_true(mts_disk_is_known(&disk.out, NOW + MTS_DISK_EXPIRES_NS - 1));
	assert_true(mts_disk_needs_rows(&disk, NOW + MTS_DISK_EXPIRES_NS - 1));
	assert_int_equal(mts_disk_row_ns(&disk, NOW + MTS_DISK_EXPIRES_NS - 1), 100 * US);
	assert_false(mts_disk_is_known(&disk.out, NOW + MTS_DISK_EXPIRES_NS));
	assert_false(mts_disk_needs_rows(&disk, NOW + MTS_DISK_EXPIRES_NS));
	assert_false(mts_disk_is_waited_for(&disk, NOW + MTS_DISK_EXPIRES_NS));
	assert_int_equal(mts_disk_row_ns(&disk, NOW + MTS_DISK_EXPIRES_NS), 0);
}

/* Fault: a few pages of a busy disk counted with those that were moved hours later. */
static void moves_that_are_no_sample_expire(void **unused)
{
	struct mts_disk_sample slow = { .elapsed_ns = SECOND, .waited_ns = SECOND, .pages = 32 };
	struct mts_disk_sample fast = { .elapsed_ns = 320 * US, .pages = 32 };
	struct mts_disk_sample sum = { 0 };

	(void)unused;
	mts_disk_collect(&sum, &slow, NOW);
	mts_disk_collect(&sum, &fast, NOW + MTS_DISK_EXPIRES_NS - 1);
	assert_int_equal(sum.pages, 64);
	assert_int_equal(sum.waited_ns, SECOND);
	mts_disk_collect(&sum, &fast, NOW + MTS_DISK_EXPIRES_NS);
	assert_int_equal(sum.pages, 32);
	assert_int_equal(sum.waited_ns, 0);
	/* The time of the first one counts. */
	mts_disk_collect(&sum, &fast, NOW + 2 * MTS_DISK_EXPIRES_NS - 1);
	assert_int_equal(sum.pages, 64);
	mts_disk_collect(&sum, &fast, NOW + 2 * MTS_DISK_EXPIRES_NS);
	assert_int_equal(sum.pages, 32);
}

static void the_disk_limits_where_it_takes_longer_than_a_processor(void **unused)
{
	(void)unused;
	assert_false(mts_disk_limits(3 * US, 3 * US));
	assert_true(mts_disk_limits(3 * US, 3 * US + 1));
	assert_false(mts_disk_limits(0, 0));
}

static void rows_are_needed_where_a_request_takes_longer_than_eight_pages(void **unused)
{
	const struct mts_disk_sample bulk = sample_of(3 * US, 9 * US);
	const struct mts_disk_sample fast = sample_of(3 * US, 3 * US);

	(void)unused;
	assert_false(mts_disk_needs_rows_for(&bulk, 8 * 9 * US));
	assert_true(mts_disk_needs_rows_for(&bulk, 8 * 9 * US + 1));
	/* It is not known. */
	assert_true(mts_disk_needs_rows_for(&bulk, 0));
	/* The processor is what limits: requests cost what they cost. */
	assert_false(mts_disk_needs_rows_for(&fast, 5000 * US));
	assert_false(mts_disk_needs_rows_for(&fast, 0));
}

/* Another disk, or other work on it: what a request took is not known any more. */
static void a_request_belongs_to_what_pages_took(void **unused)
{
	struct mts_disk disk = { .in = cost_of(2 * US, 20 * US),
				 .request_ns = 500 * US,
				 .request_at_ns = NOW };

	(void)unused;
	mts_disk_note_in(&disk);
	assert_int_equal(mts_disk_request_ns(&disk, NOW), 500 * US);
	disk.in.waited_ns = 80 * US;
	mts_disk_note_in(&disk);
	assert_int_equal(mts_disk_request_ns(&disk, NOW), 500 * US);
	disk.in.waited_ns = 84 * US;
	assert_int_equal(mts_disk_request_ns(&disk, NOW), 0);
	disk.in.waited_ns = 4 * US;
	assert_int_equal(mts_disk_request_ns(&disk, NOW), 0);
	disk.in.waited_ns = 5 * US;
	assert_int_equal(mts_disk_request_ns(&disk, NOW), 500 * US);
}

/*
 * Disks as they are: what a page takes the disk in bulk, and a request, of sixteen at once. The
 * processor's work on a page is that of an AMD EPYC or of the laboratory, and goes on meanwhile.
 */
static void disks_of_each_kind(void **unused)
{
	static const struct {
		u64 worked, page, request;
		bool waited, rows;
	} disks[] = {
		{ 2700, 1300, 5000, false, false }, /* NVMe, 3 GB/s, 80 us a request */
		{ 2700, 8200, 8200, true, false }, /* an SSD at SATA, 500 MB/s, 100 us */
		{ 1200, 8200, 8200, true, false }, /* the same beside a faster processor */
		{ 2700, 16400, 62000, true, false }, /* in a network, 250 MB/s, 1 ms */
		{ 2700, 16400, 5000000, true, true }, /* a rotating disk at its best, 250 MB/s */
		{ 2700, 41000, 8000000, true, true }, /* 100 MB/s */
		{ 14000, 8200, 8200, false, false }, /* the laboratory's ssd, */
		{ 14000, 152000, 4700000, true, true }, /* and its paper: 124 KiB in 4.7 ms, */
		{ 56000, 152000, 4700000, true, true }, /* beside a processor of a quarter */
	};
	struct mts_disk disk;
	size_t i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(disks); i++) {
		u64 waits = mts_sub_floor(disks[i].page, disks[i].worked);

		disk = (struct mts_disk){
			.out = cost_of(disks[i].worked, waits),
			.in = cost_of(disks[i].worked, waits),
			.request_ns = disks[i].request,
			.request_at_ns = NOW,
		};
		assert_int_equal(mts_disk_is_waited_for(&disk, NOW), disks[i].waited);
		assert_int_equal(mts_disk_needs_rows(&disk, NOW), disks[i].rows);
	}
}

static void a_request_expires(void **unused)
{
	struct mts_disk disk = { .request_ns = 8200, .request_at_ns = NOW };
	u64 expired = NOW + MTS_DISK_EXPIRES_NS;

	(void)unused;
	assert_int_equal(mts_disk_request_ns(&disk, expired - 1), 8200);
	assert_int_equal(mts_disk_request_ns(&disk, expired), 0);
	disk.in = cost_of(2700, 5500);
	disk.in.at_ns = expired;
	assert_false(mts_disk_needs_rows(&disk, expired - 1));
	assert_true(mts_disk_needs_rows(&disk, expired));
}

/* Clean pages go without a write: what comes in tells. */
static void both_ways_count_together(void **unused)
{
	struct mts_disk disk = { .out = cost_of(2 * US, 0), .in = cost_of(2 * US, 20 * US) };

	(void)unused;
	assert_true(mts_disk_is_waited_for(&disk, NOW));
	assert_true(mts_disk_needs_rows(&disk, NOW));
	disk.request_ns = 8 * 10 * US;
	disk.request_at_ns = NOW;
	assert_false(mts_disk_needs_rows(&disk, NOW));
	disk.request_ns++;
	assert_true(mts_disk_needs_rows(&disk, NOW));
	disk.in = cost_of(2 * US, 4 * US);
	assert_false(mts_disk_is_waited_for(&disk, NOW));
	assert_false(mts_disk_needs_rows(&disk, NOW));
	/* One way is known alone. */
	disk.out.at_ns = 0;
	assert_true(mts_disk_is_waited_for(&disk, NOW));
}

static void a_page_in_a_row_is_that_of_the_faster_way(void **unused)
{
	struct mts_disk disk = { .out = cost_of(2 * US, 900 * US), .in = cost_of(2 * US, 20 * US) };

	(void)unused;
	assert_int_equal(mts_disk_row_ns(&disk, NOW), 20 * US);
	disk.in.at_ns = 0;
	assert_int_equal(mts_disk_row_ns(&disk, NOW), 900 * US);
}

static void pages_are_scattered_where_requests_take_the_time(void **unused)
{
	struct mts_disk_sample rows = sample_of(2 * US, 80 * US);
	struct mts_disk_sample apart = sample_of(2 * US, 80 * US + PAGES);

	(void)unused;
	assert_false(mts_disk_is_scattered(&rows, 20 * US));
	assert_true(mts_disk_is_scattered(&apart, 20 * US));
	assert_false(mts_disk_is_scattered(&apart, 0));
	/* An SSD: the processor takes as long. */
	apart = sample_of(81 * US, 81 * US);
	assert_false(mts_disk_is_scattered(&apart, 20 * US));
	/* Next to nothing went. */
	apart = sample_of(2 * US, 81 * US);
	apart.pages = 0;
	assert_true(mts_disk_is_scattered(&apart, 20 * US));
	apart.waited_ns = 64 * 80 * US;
	assert_false(mts_disk_is_scattered(&apart, 20 * US));
}

/* By the time alone: 410 MB/s, where a page takes 10 us, is the limit. */
static void a_disk_far_behind_takes_four_times_the_work(void **unused)
{
	(void)unused;
	assert_false(mts_disk_is_far_behind(1000, 1000 * 4 * MTS_DISK_PAGE_WORK_NS));
	assert_true(mts_disk_is_far_behind(1000, 1000 * 4 * MTS_DISK_PAGE_WORK_NS + 4));
	assert_false(mts_disk_is_far_behind(0, 0));
	/* A SATA SSD is not; a rotating disk is. */
	assert_false(mts_disk_is_far_behind(500000000 / 4096, SECOND));
	assert_true(mts_disk_is_far_behind(250000000 / 4096, SECOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_known),
		cmocka_unit_test(a_figure_is_of_a_page),
		cmocka_unit_test(a_page_takes_less_where_a_processor_is_free),
		cmocka_unit_test(the_latest_sample_counts),
		cmocka_unit_test(a_small_sample_changes_nothing),
		cmocka_unit_test(pages_that_cost_nothing_are_known),
		cmocka_unit_test(a_figure_expires),
		cmocka_unit_test(moves_that_are_no_sample_expire),
		cmocka_unit_test(the_disk_limits_where_it_takes_longer_than_a_processor),
		cmocka_unit_test(rows_are_needed_where_a_request_takes_longer_than_eight_pages),
		cmocka_unit_test(a_request_expires),
		cmocka_unit_test(a_request_belongs_to_what_pages_took),
		cmocka_unit_test(disks_of_each_kind),
		cmocka_unit_test(both_ways_count_together),
		cmocka_unit_test(a_page_in_a_row_is_that_of_the_faster_way),
		cmocka_unit_test(a_disk_far_behind_takes_four_times_the_work),
		cmocka_unit_test(pages_are_scattered_where_requests_take_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
