// SPDX-License-Identifier: GPL-2.0
/* What takes two processors. The guest has the host's clock: no test looks at how long it took. */
#include "guest.h"

/*
 * First fit puts both small jobs beside the first large one, and one of the guest's two
 * processors would idle while the other large one runs.
 */
static void a_bin_keeps_both_processors_busy(void)
{
	static const unsigned int mib[] = { 24, 24, 4, 4 };
	struct mts_job_info small, other;

	expect(sysconf(_SC_NPROCESSORS_ONLN), 2);
	start_hogs(HOG_RANDOM, 4, mib);
	rotate(36, 500, MTS_EVICT_OFF);
	expect_rotation(2);
	wait_rounds(2);
	small = job_named("c");
	other = job_named("d");
	note("threads %u %u, bins %u %u", small.threads, other.threads, small.bin, other.bin);
	check(small.bin != other.bin, "both small jobs are in bin %u: %s", small.bin, describe());
	check(job_named("a").bin != job_named("b").bin, "%s", describe());
	check(job_named("a").threads == 1, "%u threads", job_named("a").threads);
}

#define THREADS "/sys/module/mts/parameters/threads"

static u64 workers_ns_in_rounds(u64 rounds)
{
	u64 before = get_stats().workers_ns;

	wait_rounds(rounds);
	return get_stats().workers_ns - before;
}

/* What keeps a processor busy is done by all of them, unless the user wants less. */
static void several_threads_move_memory(void)
{
	static const unsigned int four_equal[] = { 20, 20, 20, 20 };
	struct mts_stats before, after;
	u64 helped;

	check(sysconf(_SC_NPROCESSORS_ONLN) > 1, "there is one processor");
	start_hogs(HOG_RANDOM, 4, four_equal);
	rotate(45, 700, MTS_EVICT_FULL);
	wait_rounds(1);
	before = get_stats();
	helped = workers_ns_in_rounds(2);
	after = get_stats();
	check(helped > (after.bring_back_ns - before.bring_back_ns) / 8,
	      "they helped for %lu us of bringing back %llu us, evicting %llu us", helped / 1000,
	      (after.bring_back_ns - before.bring_back_ns) / 1000,
	      (after.evict_ns - before.evict_ns) / 1000);

	write_file(THREADS, "1");
	wait_rounds(1);
	helped = workers_ns_in_rounds(2);
	write_file(THREADS, "0");
	check(!helped, "they helped all the same, for %lu us", helped / 1000);
	check(workers_ns_in_rounds(3) > 0, "they never came back");
}

static u32 count_evictions_by(const char *text, const char *name, const char *thread)
{
	char job[64];
	u32 n = 0;

	snprintf(job, sizeof(job), " name=%s", name);
	for (; text; text = strchr(text, '\n')) {
		const char *end = strchrnul(++text, '\n');
		const char *event = memmem(text, end - text, "mts_evict:", 10);

		n += event && end - event > (long)strlen(job) &&
		     !memcmp(end - strlen(job), job, strlen(job)) &&
		     memmem(text, end - text, thread, strlen(thread));
	}
	return n;
}

/* A job alone in its bin is evicted by the rotor, and by a worker that helps it. */
static void several_threads_evict_one_job(void)
{
	static const unsigned int two_large[] = { 80, 80 };
	static char text[1 << 20];
	u32 rotor, workers;

	start_hogs(HOG_RANDOM, 2, two_large);
	rotate(85, 2000, MTS_EVICT_FULL);
	wait_rounds(1);
	trace_begin();
	wait_rounds(2);
	trace_end(text, sizeof(text));
	rotor = count_evictions_by(text, "a", "mts_rotor");
	workers = count_evictions_by(text, "a", "kworker");
	check(rotor, "the rotor evicts nothing: %s", describe());
	check(workers, "no worker helps in %u evictions: %s", rotor, describe());
	check(workers <= rotor, "%u of %u", workers, rotor);
	/* A job of all memory waits for both switches: as long as its pause limit at most. */
	hog_expect_progress(&hogs[0], 60000);
	hog_expect_progress(&hogs[1], 60000);
}

GUEST_TESTS(TEST(a_bin_keeps_both_processors_busy), TEST(several_threads_move_memory),
	    TEST(several_threads_evict_one_job));
