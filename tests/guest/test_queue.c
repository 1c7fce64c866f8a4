// SPDX-License-Identifier: GPL-2.0
/* The queue: a job that does not fit is held before it executes anything, and what starts it. */
#include "guest.h"

#include <pty.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define HOUR_NS (3600 * 1000 * NS_PER_MS)
/* The rotor looks ten times a second at least; a slow host takes its time. */
#define START_MS 2000

/* What the jobs tell: shared with all children. */
struct told {
	u64 began_ns;
};

static int try_submit(const char *name, u64 size, u64 max_wait_ns, u32 flags,
		      struct mts_job_submit *submit)
{
	*submit = (struct mts_job_submit){
		.flags = flags,
		.size = size,
		.max_wait_ns = max_wait_ns,
	};
	snprintf(submit->name, sizeof(submit->name), "%s", name);
	return mts_ioctl(MTS_IOC_JOB_SUBMIT, submit);
}

static struct told *share(unsigned int n)
{
	struct told *told = mmap(NULL, n * sizeof(*told), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	check(told != MAP_FAILED, "mmap: %m");
	return told;
}

/* A process that submits itself, tells when it goes on, has its memory, and sleeps. */
static pid_t submit_sleeper(const char *name, u64 size, u64 max_wait_ns, struct told *told)
{
	struct mts_job_submit submit;
	pid_t pid = spawn();

	if (pid)
		return pid;
	if (try_submit(name, size, max_wait_ns, MTS_JOB_ENTER | MTS_JOB_QUEUE, &submit))
		_exit(4);
	told->began_ns = now_ns();
	mts_close();
	touch(size / MIB);
	for (;;)
		pause();
}

static bool is_queued(const char *name)
{
	struct mts_job_info job;

	return find_job(name, &job) && job.state == MTS_JOB_QUEUED;
}

/* The capacity is 60 MiB, and job "a" has 40 of them. */
static void fill(void)
{
	static const unsigned int size = 40;
	struct mts_config config = get_config();

	start_hogs(HOG_SLEEP, 1, &size);
	config.mask = MTS_CONFIG_BIN | MTS_CONFIG_MODE;
	config.bin_bytes = 60 * MIB;
	config.mode = MTS_MODE_AUTO;
	set_config(&config);
}

/* Job "held", of 30 MiB, in the queue behind it. */
static pid_t hold(struct told *told, u64 max_wait_ns)
{
	pid_t pid;

	fill();
	pid = submit_sleeper("held", 30 * MIB, max_wait_ns, told);
	expect_soon(is_queued("held"), "%s", describe());
	expect_soon(cg_frozen(cg_job("held")), "%s", describe());
	sleep_ms(1500);
	check(is_queued("held") && !told->began_ns, "it goes on: %s", describe());
	return pid;
}

/* ---- the protocol ------------------------------------------------------------------ */

static void wrong_submissions_are_refused(void)
{
	const u32 enter = MTS_JOB_ENTER;
	struct mts_job_submit s;

	expect(try_submit("x", 0, 0, enter | MTS_JOB_QUEUE | MTS_JOB_PIN, &s), -EINVAL);
	expect(try_submit("x", 0, 0, MTS_JOB_QUEUE, &s), -EINVAL);
	expect(try_submit("x", 0, 0, enter | MTS_JOB_STAYS, &s), -EINVAL);
	expect(try_submit("x", 0, 0, enter | 1u << 30, &s), -EINVAL);
	expect(try_submit("x", 1, 0, enter, &s), -ERANGE);
	expect(try_submit("x", MTS_BIN_MAX_BYTES + 1, 0, enter, &s), -ERANGE);
	expect(try_submit("x", 0, 1, enter, &s), -ERANGE);
	expect(try_submit("x", 0, MTS_WAIT_MAX_NS + 1, enter, &s), -ERANGE);
	expect(try_submit("no good", 0, 0, enter, &s), -EINVAL);
	s = (struct mts_job_submit){ .name = "x", .each_max = 1 };
	expect(mts_ioctl(MTS_IOC_JOB_SUBMIT, &s), -EINVAL);
	s = (struct mts_job_submit){ .name = "x", .max_pause_ns = 1 };
	expect(mts_ioctl(MTS_IOC_JOB_SUBMIT, &s), -ERANGE);
	check(!count_jobs() && !cg_exists(cg_job("x")), "%s", describe());
	/* An older mtsctl does not know of it. */
	expect(try_create("x", MTS_JOB_QUEUE, &(struct mts_job_create){ 0 }), -EINVAL);
}

/* As MTS_IOC_JOB_CREATE: without a process, and with what it says shown. */
static void a_submission_without_queue_is_a_job(void)
{
	struct mts_job_submit s;
	struct mts_job_info job;

	expect(try_submit("x", 30 * MIB, 0, MTS_JOB_PIN, &s), 0);
	job = job_named("x");
	check(job.id == s.id && job.cgroup_id == s.cgroup_id && job.state == MTS_JOB_RESIDENT &&
		      job.size == 30 * MIB && job.size_from == MTS_SIZE_GIVEN && !job.starts_by_ns,
	      "%s", describe());
}

static void batch_jobs_are_held_if_the_queue_is_auto(void)
{
	struct mts_config config;
	struct mts_job_submit s;

	fill();
	if (!spawn()) {
		if (try_submit("free", 30 * MIB, 0, MTS_JOB_ENTER | MTS_JOB_BATCH, &s))
			_exit(4);
		for (;;)
			pause();
	}
	expect_soon(count_jobs() == 2, "%s", describe());
	expect_soon(job_named("free").state == MTS_JOB_RUNNING, "%s", describe());
	config = get_config();
	expect(config.queue, MTS_QUEUE_OFF);
	config.mask = MTS_CONFIG_QUEUE;
	config.queue = MTS_QUEUE_AUTO + 1;
	expect(try_config(&config), -EINVAL);
	config.queue = MTS_QUEUE_AUTO;
	set_config(&config);
	if (!spawn()) {
		if (try_submit("batch", 30 * MIB, 0, MTS_JOB_ENTER | MTS_JOB_BATCH, &s))
			_exit(4);
		for (;;)
			pause();
	}
	expect_soon(is_queued("batch"), "%s", describe());
}

/* ---- held, and started -------------------------------------------------------------- */

static void it_begins_when_there_is_room(void)
{
	struct told *told = share(1);
	struct mts_stats before = get_stats(), after;
	struct mts_job_info job;

	hold(told, HOUR_NS);
	job = job_named("held");
	check(job.queue_place == 1 && job.size == 30 * MIB && !job.starts_ns &&
		      job.starts_by_ns == job.queued_since_ns + HOUR_NS && !job.frozen_since_ns,
	      "%s", describe());
	expect(get_status().frozen, 0);
	/* Its shell's memory apart, it has none. */
	check(job.resident < 4 * MIB, "it has %llu KiB", (unsigned long long)job.resident / 1024);
	hog_kill(&hogs[0]);
	expect_within(START_MS, told->began_ns, "%s", describe());
	job = job_named("held");
	check(job.state == MTS_JOB_RUNNING && !job.starts_by_ns && job.queued_ns > 1000 * NS_PER_MS,
	      "%s", describe());
	check(!job.frozen_total_ns, "its wait counts as a pause");
	after = get_stats();
	check(after.queue_starts == before.queue_starts + 1 && after.freezes == before.freezes,
	      "%llu started, %llu freezes", (unsigned long long)after.queue_starts,
	      (unsigned long long)after.freezes);
}

static void one_that_fits_begins_at_once(void)
{
	struct told *told = share(1);
	u64 asked = now_ns();

	fill();
	submit_sleeper("small", 10 * MIB, 0, told);
	expect_soon(told->began_ns, "%s", describe());
	note("after %llu ms", (unsigned long long)((told->began_ns - asked) / NS_PER_MS));
}

static void it_begins_after_its_longest_wait(void)
{
	struct told *told = share(1);
	u64 asked = now_ns(), after;

	hold(told, 4000 * NS_PER_MS);
	expect_within(6000, told->began_ns, "%s", describe());
	after = (told->began_ns - asked) / NS_PER_MS;
	check(after >= 3500, "after %llu ms", (unsigned long long)after);
	/* It takes turns. */
	rotate(60, 300, MTS_EVICT_FULL);
	expect_rotation(2);
}

static void a_thaw_starts_it(void)
{
	struct told *told = share(1);

	hold(told, HOUR_NS);
	expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
	expect_within(1000, told->began_ns, "%s", describe());
}

static void mode_off_starts_it(void)
{
	struct told *told = share(1);

	hold(told, HOUR_NS);
	set_mode(MTS_MODE_OFF);
	expect_within(1000, told->began_ns, "%s", describe());
}

static void a_pin_or_a_removal_starts_it(void)
{
	struct told *told = share(2);

	hold(&told[0], HOUR_NS);
	set_job(job_named("held").id, MTS_JOB_PIN, MTS_JOB_PIN);
	expect_within(START_MS, told[0].began_ns, "%s", describe());
	submit_sleeper("second", 30 * MIB, 0, &told[1]);
	expect_soon(is_queued("second"), "%s", describe());
	remove_job(job_named("second").id);
	expect_within(1000, told[1].began_ns, "%s", describe());
}

/* An administrator's thaw by hand. */
static void a_thaw_by_another_process_starts_it(void)
{
	struct told *told = share(1);

	hold(told, HOUR_NS);
	expect(cg_write(cg_job("held"), "cgroup.freeze", "0"), 0);
	expect_within(START_MS, told->began_ns, "%s", describe());
	expect_soon(job_named("held").state == MTS_JOB_RUNNING, "%s", describe());
}

/* ---- signals ----------------------------------------------------------------------------- */

static void sigterm_ends_it(void)
{
	struct told *told = share(1);
	pid_t pid = hold(told, HOUR_NS);

	kill(pid, SIGTERM);
	check(join(pid, 1000) == 128 + SIGTERM, "it has not ended");
	check(!told->began_ns, "it went on");
	expect_within(START_MS, count_jobs() == 1 && !cg_exists(cg_job("held")), "%s", describe());
}

/* SIGTERM that it ignores, as nohup has it for SIGHUP, ends nothing and starts nothing. */
static void a_signal_that_it_ignores_changes_nothing(void)
{
	struct told *told = share(1);
	struct mts_job_submit s;
	pid_t pid;

	fill();
	pid = spawn();
	if (!pid) {
		signal(SIGHUP, SIG_IGN);
		if (try_submit("held", 30 * MIB, 0, MTS_JOB_ENTER | MTS_JOB_QUEUE, &s))
			_exit(4);
		told->began_ns = now_ns();
		for (;;)
			pause();
	}
	expect_soon(is_queued("held") && cg_frozen(cg_job("held")), "%s", describe());
	kill(pid, SIGHUP);
	sleep_ms(1000);
	check(is_queued("held") && !told->began_ns && is_alive(pid), "%s", describe());
}

/* Of mtsctl run, at a terminal; other keys neither start nor end it. */
static void ctrl_c_leaves_the_queue(void)
{
	char text[256];
	int master;
	pid_t pid;

	fill();
	pid = forkpty(&master, NULL, NULL, NULL);
	check(pid >= 0, "forkpty: %m");
	if (!pid) {
		execl("/bin/mtsctl", "mtsctl", "run", "--queue", "--size", "30M", "--name", "held",
		      "--", "touch", "/tmp/began", NULL);
		_exit(125);
	}
	expect_soon(is_queued("held") && cg_frozen(cg_job("held")), "%s", describe());
	check(write(master, "yes\r", 4) == 4, "write: %m");
	sleep_ms(1000);
	check(is_queued("held"), "keys start it: %s", describe());
	check(write(master, "\x03", 1) == 1, "write: %m");
	check(join(pid, 1000) == 128 + SIGINT, "Ctrl-C did not end it");
	check(access("/tmp/began", F_OK), "the command has run");
	expect_within(START_MS, count_jobs() == 1, "%s", describe());
	check(read(master, text, sizeof(text)) > 0 && strstr(text, "'mtsctl status' shows"),
	      "nothing was said");
	close(master);
}

/* ---- what commands need ------------------------------------------------------------------ */

static void run_once(const char *name, unsigned int mib)
{
	struct mts_job_submit s = { .flags = MTS_JOB_ENTER, .command = 4711 };
	pid_t pid = spawn();

	if (!pid) {
		snprintf(s.name, sizeof(s.name), "%s", name);
		if (mts_ioctl(MTS_IOC_JOB_SUBMIT, &s))
			_exit(4);
		touch(mib);
		sleep_ms(3000);
		_exit(0);
	}
	expect(join(pid, SOON_MS), 0);
	expect_soon(!count_jobs(), "%s", describe());
}

static void what_a_command_needed_is_remembered(void)
{
	struct mts_job_submit s = { .name = "again", .command = 4711 };
	struct mts_job_info job;
	u64 before, now;

	run_once("first", 30);
	expect(mts_ioctl(MTS_IOC_JOB_SUBMIT, &s), 0);
	job = job_named("again");
	check(job.size_from == MTS_SIZE_COMMAND && job.size >= 30 * MIB && job.size < 36 * MIB,
	      "from %u: %llu KiB", job.size_from, (unsigned long long)job.size / 1024);
	remove_job(job.id);
	/* And so is how long it ran. */
	if (!spawn()) {
		s = (struct mts_job_submit){ .name = "third", .flags = 1, .command = 4711 };
		if (mts_ioctl(MTS_IOC_JOB_SUBMIT, &s))
			_exit(4);
		for (;;)
			pause();
	}
	expect_soon(count_jobs() == 1, "%s", describe());
	fill();
	before = now_ns();
	submit_sleeper("held", 30 * MIB, 0, share(1));
	expect_soon(is_queued("held") && job_named("held").queue_place, "%s", describe());
	job = job_named("held");
	now = now_ns();
	/* "third" ends 3 to 10 s after it began; "a", which is unknown, does not. */
	check(!job.starts_ns || (job.starts_ns > before && job.starts_ns < now + 10000 * NS_PER_MS),
	      "foretold in %lld ms", (long long)(job.starts_ns - now) / 1000000);
}

/* ---- ten jobs, three of which fit ---------------------------------------------------------- */

#define JOBS 10

/* Each page once, then some at random. */
static void work(unsigned int mib, unsigned int touches)
{
	volatile char *memory =
		mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u64 state = 1, at;

	if (memory == MAP_FAILED)
		_exit(3);
	for (at = 0; at < mib * MIB; at += PAGE)
		memory[at] = 1;
	while (touches--) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		memory[(state >> 20) % (mib * MIB)]++;
	}
	_exit(0);
}

static u64 cpu_ns_of_children(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ull +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ull;
}

/* As ten jobs of 6 GB on 24 GB. The ideal: memory for all, and the processor always busy. */
static void ten_jobs_take_as_long_as_with_memory_for_all(void)
{
	unsigned int mib = memory_available() / MIB / 4, i, late = 0;
	u64 out = vmstat("pswpout"), in = vmstat("pswpin"), began, took, ideal;
	struct told *told = share(JOBS);
	struct mts_job_submit s;
	pid_t pids[JOBS];
	char name[16];

	ideal = cpu_ns_of_children();
	began = now_ns();
	for (i = 0; i < JOBS; i++) {
		pids[i] = spawn();
		if (pids[i])
			continue;
		snprintf(name, sizeof(name), "job-%u", i);
		if (try_submit(name, mib * MIB, 0, MTS_JOB_ENTER | MTS_JOB_QUEUE, &s))
			_exit(4);
		told[i].began_ns = now_ns();
		work(mib, 80000000);
	}
	for (i = 0; i < JOBS; i++)
		expect(join(pids[i], 300000), 0);
	took = now_ns() - began;
	ideal = cpu_ns_of_children() - ideal;
	note("%u MiB each: %llu ms, of the ideal %llu ms: %llu per mille", mib,
	     (unsigned long long)took / 1000000, (unsigned long long)ideal / 1000000,
	     (unsigned long long)(took * 1000 / ideal));
	check(vmstat("pswpout") == out && vmstat("pswpin") == in, "%llu pages went out, %llu in",
	      (unsigned long long)(vmstat("pswpout") - out),
	      (unsigned long long)(vmstat("pswpin") - in));
	check(took * 100 <= ideal * 102, "more than 1.02 of the ideal");
	/* They waited. */
	for (i = 0; i < JOBS; i++)
		late += told[i].began_ns - began > took / 2;
	check(late >= JOBS / 3, "%u began late", late);
}

GUEST_TESTS(TEST(wrong_submissions_are_refused), TEST(a_submission_without_queue_is_a_job),
	    TEST(batch_jobs_are_held_if_the_queue_is_auto), TEST(it_begins_when_there_is_room),
	    TEST(one_that_fits_begins_at_once), TEST(it_begins_after_its_longest_wait),
	    TEST(a_thaw_starts_it), TEST(mode_off_starts_it), TEST(a_pin_or_a_removal_starts_it),
	    TEST(a_thaw_by_another_process_starts_it), TEST(sigterm_ends_it),
	    TEST(a_signal_that_it_ignores_changes_nothing), TEST(ctrl_c_leaves_the_queue),
	    TEST(what_a_command_needed_is_remembered),
	    TEST_SLOW(ten_jobs_take_as_long_as_with_memory_for_all, 400));
