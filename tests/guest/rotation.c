// SPDX-License-Identifier: GPL-2.0
/* Jobs that take turns: what the tests of the rotor begin with. */
#include "guest.h"

const unsigned int three_equal[3] = { 24, 24, 24 };
const unsigned int three_small[3] = { 8, 8, 8 };

struct hog hogs[MAX_HOGS];
unsigned int nhogs;

void start_hogs(enum hog_kind kind, unsigned int n, const unsigned int *mib)
{
	start_hogs_of(HOG_PRIVATE, kind, n, mib);
}

void start_hogs_of(enum hog_memory memory, enum hog_kind kind, unsigned int n,
		   const unsigned int *mib)
{
	unsigned int i;
	char name[2] = "a";

	check(n <= MAX_HOGS, "%u jobs: there is room for %u", n, MAX_HOGS);
	set_mode(MTS_MODE_OFF);
	nhogs = 0;
	for (i = 0; i < n; i++, name[0]++) {
		struct hog_spec spec = {
			.name = name, .mib = mib[i], .kind = kind, .memory = memory
		};

		hog_start(&hogs[nhogs++], &spec);
	}
}

static void rotate_by(unsigned int bin_mib, unsigned int slice_ms, u32 evict, u32 demand,
		      unsigned int max_pause_ms)
{
	set_config(&(struct mts_config){
		.mask = MTS_CONFIG_ALL,
		.mode = MTS_MODE_ALWAYS,
		.evict = evict,
		.slice_ns = slice_ms * NS_PER_MS,
		.bin_bytes = bin_mib * MIB,
		.min_slice_ns = (slice_ms < 100 ? slice_ms : 100) * NS_PER_MS,
		.max_pause_ns = max_pause_ms * NS_PER_MS,
		.overhead = 0, /* slices are as long as the test says */
		.interactive = MTS_DEFAULT_INTERACTIVE,
		.demand = demand,
		.step = MTS_STEP_BIN,
	});
}

void rotate(unsigned int bin_mib, unsigned int slice_ms, u32 evict)
{
	rotate_by(bin_mib, slice_ms, evict, MTS_DEMAND_ALLOCATED, 30000);
}

void rotate_auto(unsigned int bin_mib, unsigned int slice_ms)
{
	rotate_by(bin_mib, slice_ms, MTS_EVICT_AUTO, MTS_DEMAND_ALLOCATED, 0);
}

void rotate_by_use(unsigned int bin_mib, unsigned int slice_ms, u32 evict)
{
	rotate_by(bin_mib, slice_ms, evict, MTS_DEMAND_USED, 30000);
}

void count_used_memory(void)
{
	set_config(&(struct mts_config){
		.mask = MTS_CONFIG_DEMAND,
		.demand = MTS_DEMAND_USED,
	});
}

bool is_rotating(void)
{
	u32 state = get_status().state;

	return state == MTS_STATE_RUNNING || state == MTS_STATE_SWITCHING;
}

bool look_at_bins(struct mts_status *s, struct mts_bin_info *bins, u32 n)
{
	struct mts_status after;

	*s = get_status();
	expect(get_bins(bins, n), n);
	after = get_status();
	return s->state == MTS_STATE_RUNNING && after.state == MTS_STATE_RUNNING &&
	       s->slice_ends_ns && s->slice_ends_ns == after.slice_ends_ns &&
	       s->generation == after.generation && s->current_bin == after.current_bin;
}

void expect_rotation(u32 bins)
{
	expect_soon(is_rotating(), "%s", describe());
	expect_soon(get_status().bins == bins, "not %u bins: %s", bins, describe());
}

void wait_rounds(u64 rounds)
{
	u64 end = get_stats().rounds + rounds;

	if (!wait_until(get_stats().rounds >= end, (rounds + 1) * SOON_MS))
		fail("not %llu more rounds but %llu: %s", (unsigned long long)rounds,
		     (unsigned long long)(get_stats().rounds + rounds - end), describe());
}

void expect_all_go_on(unsigned int ms)
{
	unsigned int i;

	for (i = 0; i < nhogs; i++) {
		check(!cg_freeze_asked(hogs[i].cgroup), "%s: cgroup.freeze is 1: %s", hogs[i].name,
		      describe());
		hog_expect_progress(&hogs[i], ms);
	}
}

void expect_all_thawed(unsigned int ms)
{
	if (!wait_until(!get_status().frozen, ms))
		fail("not thawed within %u ms: %s", ms, describe());
	expect_all_go_on(15000);
}

struct hog *hog_of_bin(u32 bin)
{
	unsigned int i;

	for (i = 0; i < nhogs; i++)
		if (job_named(hogs[i].name).bin == bin)
			return &hogs[i];
	fail("no hog in bin %u: %s", bin, describe());
}

bool waits_for_its_turn(const struct mts_job_info *job)
{
	return job->state == MTS_JOB_FROZEN && job->bin != get_status().current_bin;
}

bool stood_still(const struct mts_job_info *before, const struct mts_job_info *after)
{
	return before->state == MTS_JOB_FROZEN && after->state == MTS_JOB_FROZEN &&
	       before->frozen_since_ns == after->frozen_since_ns;
}

struct hog *frozen_hog(void)
{
	struct mts_job_info job;
	u64 end = now_ms() + 5000;
	unsigned int i;

	for (; now_ms() < end; sleep_ms(5))
		for (i = 0; i < nhogs; i++)
			if (find_job(hogs[i].name, &job) && waits_for_its_turn(&job))
				return &hogs[i];
	fail("no job is frozen: %s", describe());
}

void expect_comes_back_to_the_last(unsigned int mib, unsigned int ms)
{
	struct hog *last;
	u64 before, faults, pages;

	expect_soon(get_status().state == MTS_STATE_RUNNING, "%s", describe());
	last = frozen_hog();
	before = get_stats().brought_back;
	kill_and_join((last == &hogs[0] ? &hogs[1] : &hogs[0])->pid);
	hogs[0] = *last;
	nhogs = 1;
	faults = hogs_major_faults();
	expect_within(ms, get_status().state == MTS_STATE_IDLE, "%s", describe());
	expect_all_thawed(1000);
	expect(get_status().reason, MTS_REASON_NO_JOBS);
	pages = get_stats().brought_back - before;
	check(pages > mib * MIB / PAGE, "%lu pages brought back: %s", pages, describe());
	faults = hogs_major_faults() - faults;
	check(faults < pages / 20, "%lu pages brought back, but %lu major faults", pages, faults);
}

void expect_turns_of_their_own(void)
{
	static const unsigned int mib[] = { 155, 155, 155 };
	struct hog_spec spec = { .kind = HOG_RANDOM };
	u32 i;

	/*
	 * A switch moves 310 MiB: 6 s on the host's clock, 20 on the counted one; two of them and
	 * the slices are more than 30 s, with which turns would be given up.
	 */
	set_config(&(struct mts_config){ .mask = MTS_CONFIG_SLICE | MTS_CONFIG_OVERHEAD |
						 MTS_CONFIG_MAX_PAUSE,
					 .slice_ns = 2000 * NS_PER_MS,
					 .max_pause_ns = MTS_PAUSE_STRETCHED_NS,
					 .overhead = 0 });
	for (i = 0; i < 3; i++) {
		char name[2] = { (char)('a' + i), 0 };

		spec.name = name;
		spec.mib = mib[i];
		hog_start_nowait(&hogs[i], &spec);
	}
	nhogs = 3;
	expect_within(60000, get_status().bins >= 2, "%s", describe());
	expect_within(300000,
		      job_named("a").slices >= 2 && job_named("b").slices >= 2 &&
			      job_named("c").slices >= 2,
		      "%s", describe());
	check(get_status().state != MTS_STATE_STOPPED, "%s", describe());
	for (i = 0; i < 3; i++)
		check(job_named(hogs[i].name).frozen_longest_ns < MTS_PAUSE_STRETCHED_NS, "%s",
		      describe());
	set_mode(MTS_MODE_OFF);
	expect_all_thawed(1000);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void expect_median(double *ms, unsigned int n, unsigned int limit_ms)
{
	unsigned int i;

	qsort(ms, n, sizeof(*ms), compare);
	for (i = 0; i < n; i++)
		note("after %.2f ms", ms[i]);
	check(ms[n / 2] < limit_ms, "%.1f ms in the middle of %u", ms[n / 2], n);
}

void expect_quick(double *ms, unsigned int n)
{
	expect_median(ms, n, QUICK_MS);
}
