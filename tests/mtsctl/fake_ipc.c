// SPDX-License-Identifier: GPL-2.0
/*
 * ipc.h and host.h without a kernel module, for tests. The environment says
 * what the module is like:
 *
 *  MTS_FAKE       the scenario, see scenarios[]; "absent", "forbidden"
 *  MTS_FAKE_FAIL  CALL=ERRNO: that call fails; CALL=ERRNO*N: the first N times;
 *                 CALL=ERRNO+N: all but the first N times
 *  MTS_FAKE_LOG   a file that gets a line for every call that changes something
 *  MTS_FAKE_ABI   of the module; below 2 it knows no pause limits, below 4 no queue
 *  MTS_FAKE_COMMANDS  a file that gets the number of the command of each job that is submitted, and
 *                 whether it has no terminal
 *  MTS_FAKE_CGROUP_ID  cgroup_id of job 0; those of the others are ID_STEP apart
 *  MTS_FAKE_CONFIG_BIN, MTS_FAKE_CONFIG_SLICE, MTS_FAKE_CONFIG_OVERHEAD, MTS_FAKE_CONFIG_MODE,
 *  MTS_FAKE_CONFIG_POLICY  of the configuration
 *  MTS_FAKE_PROC, MTS_FAKE_CGROUPS, MTS_FAKE_TRACING, MTS_FAKE_ETC
 *                 in place of /proc, /sys/fs/cgroup, /sys/kernel/tracing and /etc/mts;
 *                 the cgroup of job N by its id is the directory job-N there
 *  MTS_FAKE_ROOT  has all other files, as lib/modules
 *  MTS_FAKE_USER  who runs mtsctl, if not root
 *  MTS_FAKE_WEIGHTS  of users, "UID:WEIGHT" with blanks between them, in order
 *  MTS_FAKE_NOW   a file that is read at each open: a scenario, and KEY=NUMBER:
 *                 begins=, stops= and rounds= of the counters; since= and total= of job 1, when it
 *                 was frozen (s; a second passes from open to open, the first is 1000) and for how
 *                 long before (ms); gone=: the job of that id has ended
 *  MTS_FAKE_EVENTS  a file of lines as trace_pipe has them: fake_tracefs.c
 *  MTS_FAKE_JOBS  of the scenario "cgroups": directories below MTS_FAKE_CGROUPS,
 *                 with blanks between them, that are the jobs 1, 2, ...
 *  MTS_FAKE_PARENTS  the jobs that these came from, likewise; 0: from none
 *
 * A second passes, and counters grow, from open to open. Jobs that are removed
 * or pinned stay so.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host.h"
#include "ipc.h"
#include "mtsd/wire.h"

#define MIB (1ull << 20)
#define SECOND 1000000000ull
#define NOW (1000 * SECOND)
#define SEES_ALL                                                                                \
	(MTS_SEES_TTY | MTS_SEES_TTY_OUTPUT | MTS_SEES_UNIX | MTS_SEES_PIPES | MTS_SEES_EVDEV | \
	 MTS_SEES_REALTIME | MTS_SEES_SWAPINS)
#define ID_STEP (1ull << 40) /* farther apart than inode numbers are */

static const char *env(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value ? value : otherwise;
}

unsigned int host_processors(void)
{
	return strtoul(env("MTS_FAKE_PROCESSORS", "1"), NULL, 0);
}

const char *host_proc(void)
{
	return env("MTS_FAKE_PROC", "/proc");
}

const char *host_root(void)
{
	return env("MTS_FAKE_ROOT", "/nonexistent");
}

bool host_is_root(void)
{
	return strcmp(env("MTS_FAKE_USER", "root"), "root") == 0;
}

const char *host_config(void)
{
	return env("MTS_FAKE_ETC", "/nonexistent");
}

const char *host_cgroups(void)
{
	return env("MTS_FAKE_CGROUPS", "/nonexistent");
}

const char *host_tracing(void)
{
	return env("MTS_FAKE_TRACING", "/nonexistent");
}

static int fail(const char *call)
{
	const char *wanted = env("MTS_FAKE_FAIL", "");
	static int failed; /* or asked */
	int err, times = 0;
	char how = '\0';
	size_t len = strlen(call);

	if (strncmp(wanted, call, len) || wanted[len] != '=')
		return 0;
	if (sscanf(wanted + len + 1, "%d%c%d", &err, &how, &times) < 1)
		return 0;
	if (how && (failed++ >= times) == (how == '*'))
		return 0;
	return -err;
}

/* The directory of job `number` of the scenario "cgroups", from 1. */
static bool listed_cgroup(u32 number, char path[4096])
{
	const char *at = env("MTS_FAKE_JOBS", "");
	size_t length;

	for (;; at += length) {
		at += strspn(at, " ");
		length = strcspn(at, " ");
		if (!length)
			return false;
		if (!--number)
			break;
	}
	snprintf(path, 4096, "%s/%.*s", host_cgroups(), (int)length, at);
	return true;
}

static int open_listed(u64 id)
{
	char path[4096];
	struct stat st;
	int fd;

	for (u32 i = 1; listed_cgroup(i, path); i++) {
		if (stat(path, &st) || st.st_ino != id)
			continue;
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	return -ESTALE;
}

int host_cgroup_open(u64 id)
{
	u64 first = strtoull(env("MTS_FAKE_CGROUP_ID", "1000"), NULL, 0);
	int fd = fail("cgroup_open");
	char path[4096];

	if (fd)
		return fd;
	if (*env("MTS_FAKE_JOBS", ""))
		return open_listed(id);
	snprintf(path, sizeof(path), "%s/job-%llu", host_cgroups(), (id - first) / ID_STEP);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

__attribute__((format(printf, 1, 2))) static void record(const char *format, ...)
{
	const char *path = getenv("MTS_FAKE_LOG");
	FILE *file = path ? fopen(path, "a") : NULL;
	va_list args;

	if (!file)
		return;
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
	fputc('\n', file);
	fclose(file);
}

/* ---- scenarios ------------------------------------------------------------ */

struct scenario {
	struct mts_status status;
	struct mts_policy_info policy;
	struct mts_bin_info bins[MTS_MAX_JOBS];
	struct mts_job_info jobs[MTS_MAX_JOBS];
};

static struct scenario now;
static u32 opened; /* times before */
static u32 removed[16], nremoved;
static u32 pins[16], npins; /* ids whose flag was turned over */

static struct mts_job_info *new_job(const char *name, u32 state, u32 bin, u64 mib)
{
	struct mts_job_info *job = &now.jobs[now.status.jobs++];
	u32 users = strtoul(env("MTS_FAKE_USERS", "0"), NULL, 0); /* 0: all jobs are root's */

	job->id = now.status.jobs;
	snprintf(job->name, sizeof(job->name), "%s", name);
	job->state = state;
	job->input_age_ms = MTS_INPUT_AGE_MAX;
	job->last_call_age_ms = MTS_CALL_AGE_MAX;
	job->threads = strtoul(env("MTS_FAKE_THREADS", "0"), NULL, 0);
	job->weight = now.status.abi < 4 ? 0 : MTS_WEIGHT_DEFAULT;
	job->user = now.status.abi < 4 || !users ? 0 : 60001 + (job->id - 1) % users;
	job->bin = bin;
	job->demand = mib * MIB;
	job->resident = state == MTS_JOB_FROZEN ? 0 : mib * MIB;
	job->swapped = state == MTS_JOB_FROZEN ? mib * MIB : 0;
	job->cgroup_id =
		strtoull(env("MTS_FAKE_CGROUP_ID", "1000"), NULL, 0) + (u64)job->id * ID_STEP;
	if (state == MTS_JOB_FROZEN || state == MTS_JOB_FREEZING) {
		now.status.frozen++;
		job->frozen_since_ns = NOW - 1500000000;
		job->frozen_longest_ns = 3 * SECOND;
	}
	if (bin < MTS_MAX_JOBS) {
		now.bins[bin].jobs++;
		now.bins[bin].demand += job->demand;
		if (now.status.bins <= bin)
			now.status.bins = bin + 1;
		now.status.demand += job->demand;
	} else if (bin == MTS_BIN_EVERY) {
		now.status.resident_demand += job->demand;
	}
	return job;
}

static void detail(u32 state, u32 reason, const char *text)
{
	now.status.state = state;
	now.status.reason = reason;
	snprintf(now.status.detail, sizeof(now.status.detail), "%s", text);
}

/* Two jobs that fit; the state of the first one. */
static void two_fit(u32 state)
{
	new_job("alpha", state, MTS_BIN_NONE, 10);
	new_job("beta", MTS_JOB_RUNNING, MTS_BIN_NONE, 20);
	now.status.capacity = 96 * MIB;
	now.status.demand = 30 * MIB;
}

static void idle(void)
{
	detail(MTS_STATE_IDLE, MTS_REASON_FITS, "everything fits: 30.0 MiB in 96.0 MiB");
	two_fit(MTS_JOB_RUNNING);
}

static void empty(void)
{
	detail(MTS_STATE_IDLE, MTS_REASON_NO_JOBS, "");
}

static void off(void)
{
	detail(MTS_STATE_OFF, MTS_REASON_NONE, "mode=off");
}

/* Three bins of 2 s, 2 s and 1 s, 0.1 s a switch; bin 1 has 1.3 s left. */
static void rotating(void)
{
	struct mts_job_info *job;

	detail(MTS_STATE_RUNNING, MTS_REASON_OVERCOMMIT,
	       "the jobs need 230 MiB, 96.0 MiB may be used, and the host reclaims");
	new_job("alpha", MTS_JOB_FROZEN, 0, 60);
	new_job("beta", MTS_JOB_RUNNING, 1, 90);
	new_job("gamma", MTS_JOB_FROZEN, 0, 32);
	job = new_job("make", MTS_JOB_FROZEN, 2, 48);
	job->flags = MTS_JOB_EACH;
	job = new_job("make.1", MTS_JOB_FREEZING, 2, 1);
	job->parent = 4;
	job->frozen_since_ns = 0;
	job = new_job("xterm", MTS_JOB_RESIDENT, MTS_BIN_EVERY, 4);
	job->flags = MTS_JOB_PIN;
	new_job("audio", MTS_JOB_REALTIME, MTS_BIN_EVERY, 1);
	job = new_job("stubborn", MTS_JOB_LEFT_OUT, MTS_BIN_EVERY, 1);
	job->freeze_failures = 2;
	job = new_job("debugged", MTS_JOB_FOREIGN, MTS_BIN_EVERY, 1);
	job->demand = 500 * MIB; /* of which most is in swap, and stays there */
	new_job("newcomer", MTS_JOB_RUNNING, MTS_BIN_NONE, 1);
	new_job("twin", MTS_JOB_RUNNING, 1, 1);
	new_job("twin", MTS_JOB_RUNNING, 1, 1);
	new_job("strange \"name\"\n\xff\xfe with all sorts of things in it, and long too",
		MTS_JOB_FROZEN, 0, 1);
	new_job("42", MTS_JOB_RUNNING, 1, 1);
	now.bins[0].slice_ns = 2 * SECOND;
	now.bins[1].slice_ns = 2 * SECOND;
	now.bins[2].slice_ns = SECOND;
	now.status.current_bin = 1;
	now.status.capacity = 96 * MIB;
	now.status.round = 12;
	now.status.slice_ends_ns = now.status.now_ns + 1300000000;
	now.status.round_ns = 5300000000;
	now.status.longest_pause_ns = 4300000000;
	now.status.max_pause_ns = 30 * SECOND;
	now.status.evict = MTS_EVICT_NEED;
}

/* One has input now, two more have input but no room, and one had input before. */
static void used(void)
{
	struct mts_job_info *job;

	rotating();
	job = new_job("shell", MTS_JOB_INTERACTIVE, MTS_BIN_EVERY, 0);
	job->input_age_ms = 2100;
	job = new_job("editor", MTS_JOB_FROZEN, 0, 0);
	job->flags = MTS_JOB_STAYS;
	job->input_age_ms = 90000;
	job->demand = 8 * MIB;
	job->resident = 8 * MIB;
	now.status.resident_demand += 8 * MIB;
	now.status.interactive = 1;
	now.status.crowded_out = 2;
}

/* Limits of single jobs: one shortens the slices, one is resident for it. Calls of two more. */
static void limits(void)
{
	struct mts_job_info *job;

	rotating();
	now.jobs[0].max_pause_ns = 5 * SECOND;
	now.jobs[0].weight = 400;
	now.status.limited_by = now.jobs[0].id;
	job = new_job("quick", MTS_JOB_LIMITED, MTS_BIN_EVERY, 4);
	job->max_pause_ns = 2 * SECOND;
	now.status.limited = 1;
	job = new_job("served", MTS_JOB_CALLED, 0, 1);
	job->calls = 3;
	job->calls_refused = 1;
	job->last_call = MTS_CALL_TASK;
	job->last_call_pid = 4711;
	job->last_call_age_ms = 3200;
	job = new_job("refused", MTS_JOB_FROZEN, 0, 1);
	job->calls = 1;
	job->calls_refused = 1;
	job->last_call = MTS_CALL_SIGNAL;
	job->last_call_age_ms = 100;
	job->last_call_refused = 1;
}

/* Limits of cgroups: one job cannot be evicted, one in part, and one is kept from what it needs. */
static void cgroup_limited(void)
{
	struct mts_job_info *job;

	rotating();
	now.jobs[0].memory_limit = 60 * MIB;
	now.jobs[2].immovable = 8 * MIB;
	new_job("idle", MTS_JOB_SLEEPING, MTS_BIN_EVERY, 0);
	job = new_job("pod", MTS_JOB_NO_SWAP, MTS_BIN_EVERY, 4);
	job->immovable = job->demand;
}

/*
 * Six groups of 30 MiB, 1 s each and 0.1 s a switch, of which three run; group 4 came in last and
 * has 0.7 s left. Of those that wait group 5 comes first: a job of it has a limit of its own. Then
 * group 1.
 */
static void groups(void)
{
	static const bool runs[] = { true, false, true, false, true, false };
	static const u64 waited[] = { 0, 4 * SECOND, 0, 3 * SECOND, 0, 2 * SECOND };
	struct mts_job_info *job;
	char name[8];

	detail(MTS_STATE_RUNNING, MTS_REASON_OVERCOMMIT, "the jobs' demand exceeds the capacity");
	for (u32 i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "job.%u", i);
		job = new_job(name, runs[i] ? MTS_JOB_RUNNING : MTS_JOB_FROZEN, i, 30);
		if (!runs[i])
			job->frozen_since_ns = NOW - waited[i];
		now.bins[i].slice_ns = SECOND;
		now.bins[i].flags = MTS_BIN_OVERLAPS | (runs[i] ? MTS_BIN_RUNS : 0);
	}
	now.jobs[5].max_pause_ns = 4 * SECOND;
	now.status.current_bin = 4;
	now.status.capacity = 96 * MIB;
	now.status.round = 12;
	now.status.slice_ends_ns = now.status.now_ns + 700000000;
	now.status.round_ns = 6600000000;
	now.status.longest_pause_ns = 3600000000;
	now.status.max_pause_ns = 30 * SECOND;
	now.status.evict = MTS_EVICT_NEED;
}

/* Group 1 replaces group 0; the groups 2 and 4 run on. */
static void groups_switching(void)
{
	groups();
	now.status.state = MTS_STATE_SWITCHING;
	now.status.slice_ends_ns = 0;
	now.status.current_bin = 1;
	now.bins[0].flags = MTS_BIN_OVERLAPS;
	now.bins[1].flags = MTS_BIN_OVERLAPS | MTS_BIN_RUNS;
	now.jobs[0].state = MTS_JOB_FROZEN;
	now.jobs[0].frozen_since_ns = NOW;
	now.status.frozen++;
}

/* Three have not begun: of one the start is foretold, of one nothing is known. */
static void queue(void)
{
	struct mts_job_info *job;

	detail(MTS_STATE_IDLE, MTS_REASON_FITS, "everything fits: 70.0 MiB in 96.0 MiB");
	new_job("alpha", MTS_JOB_RUNNING, MTS_BIN_NONE, 70);
	now.status.capacity = 96 * MIB;
	now.status.demand = 70 * MIB;
	job = new_job("sim", MTS_JOB_QUEUED, MTS_BIN_NONE, 0);
	job->flags = MTS_JOB_QUEUE;
	job->size = 40 * MIB;
	job->size_from = MTS_SIZE_COMMAND;
	job->queue_place = 1;
	job->queued_since_ns = NOW - 90 * SECOND;
	job->starts_ns = NOW + 300 * SECOND;
	job->starts_by_ns = NOW + 3510 * SECOND;
	job = new_job("sim-2", MTS_JOB_QUEUED, MTS_BIN_NONE, 0);
	job->flags = MTS_JOB_QUEUE;
	job->size = 30 * MIB;
	job->size_from = MTS_SIZE_GIVEN;
	job->queue_place = 2;
	job->queued_since_ns = NOW - 80 * SECOND;
	job->starts_by_ns = NOW + 86320 * SECOND;
	job = new_job("fresh", MTS_JOB_QUEUED, MTS_BIN_NONE, 0);
	job->flags = MTS_JOB_QUEUE;
	job->queued_since_ns = NOW;
	job->starts_by_ns = NOW + 86400 * SECOND;
}

static void switching(void)
{
	rotating();
	now.status.state = MTS_STATE_SWITCHING;
	now.status.slice_ends_ns = 0;
}

/* Turns are over, and the memory of the job that is still frozen comes back. */
static void ending(void)
{
	detail(MTS_STATE_SWITCHING, MTS_REASON_FITS, "the jobs' demand fits in the capacity");
	two_fit(MTS_JOB_FROZEN);
	now.status.round = 12;
}

static void no_gain(void)
{
	detail(MTS_STATE_IDLE, MTS_REASON_NO_GAIN, "turns cost the jobs more than they gained");
	two_fit(MTS_JOB_RUNNING);
}

static void slow_swap(void)
{
	detail(MTS_STATE_IDLE, MTS_REASON_SLOW_SWAP, "switches take too long");
	two_fit(MTS_JOB_RUNNING);
}

static void exempt(void)
{
	detail(MTS_STATE_IDLE, MTS_REASON_EXEMPT, "exempt jobs leave no room for any other job");
	two_fit(MTS_JOB_RUNNING);
}

static void fair(void)
{
	struct mts_job_info *job;

	detail(MTS_STATE_SHARING, MTS_REASON_FAIR,
	       "jobs that swap more than their share are delayed");
	two_fit(MTS_JOB_RUNNING);
	job = new_job("hog", MTS_JOB_DELAYED, MTS_BIN_NONE, 200);
	job->swap_wait_ns = 4 * SECOND;
	job->delays = 17;
}

static void token(void)
{
	detail(MTS_STATE_SHARING, MTS_REASON_TOKEN, "one job at a time keeps its memory");
	two_fit(MTS_JOB_RUNNING);
	new_job("lucky", MTS_JOB_HOLDER, MTS_BIN_NONE, 200)->holdings = 2;
}

/* Frozen and queued jobs, some for longer than they may be. */
static void overdue(void)
{
	struct mts_job_info *job;

	rotating();
	for (u32 i = 0; i < now.status.jobs; i++)
		now.jobs[i].frozen_since_ns = 0;
	now.status.max_pause_ns = 30 * SECOND;
	new_job("by-turns", MTS_JOB_FROZEN, 0, 1)->frozen_since_ns = NOW - 31 * SECOND;
	job = new_job("by-its-own", MTS_JOB_FROZEN, 0, 1);
	job->frozen_since_ns = NOW - 3 * SECOND;
	job->max_pause_ns = 2 * SECOND;
	new_job("in-time", MTS_JOB_FROZEN, 0, 1)->frozen_since_ns = NOW - 29 * SECOND;
	job = new_job("queued", MTS_JOB_QUEUED, MTS_BIN_NONE, 1);
	job->queued_since_ns = NOW - 300 * SECOND;
	job->starts_by_ns = NOW - SECOND;
	job = new_job("queued-in-time", MTS_JOB_QUEUED, MTS_BIN_NONE, 1);
	job->queued_since_ns = NOW - 200 * SECOND;
	job->starts_by_ns = NOW + SECOND;
}

/* policy=auto: turns are barred, token is on trial. */
static void chosen(void)
{
	token();
	now.policy = (struct mts_policy_info){
		.policy = MTS_POLICY_TOKEN,
		.on_trial = 1,
		.since_ns = NOW - 4 * SECOND,
		.of = { { 830, MTS_GIVES_MEASURED, 61 * SECOND, 25 * SECOND },
			{ 310, MTS_GIVES_MEASURED, 5 * SECOND, 0 },
			{ 0, MTS_GIVES_UNKNOWN, 0, 0 },
			{ 1250, MTS_GIVES_FORECAST, 1500000000, 0 } },
	};
}

/* policy=auto: nothing is better. */
static void chosen_none(void)
{
	detail(MTS_STATE_IDLE, MTS_REASON_COPES,
	       "demand exceeds the capacity, but no policy would gain the jobs anything");
	two_fit(MTS_JOB_RUNNING);
	now.policy = (struct mts_policy_info){
		.policy = MTS_POLICY_NONE,
		.of = { { 600, MTS_GIVES_FORECAST, SECOND, 0 },
			{ 950, MTS_GIVES_MEASURED, SECOND, 0 },
			{ 950, MTS_GIVES_FORECAST, SECOND, 0 },
			{ 950, MTS_GIVES_FORECAST, SECOND, 0 } },
	};
}

static void policy_none(void)
{
	detail(MTS_STATE_IDLE, MTS_REASON_POLICY, "policy=none leaves that to the kernel");
	two_fit(MTS_JOB_RUNNING);
}

static void stopped(u32 reason, const char *text)
{
	detail(MTS_STATE_STOPPED, reason, text);
	new_job("alpha", MTS_JOB_RUNNING, MTS_BIN_NONE, 60);
	new_job("beta", MTS_JOB_RUNNING, MTS_BIN_NONE, 90);
	now.status.demand = 150 * MIB;
}

static void oom(void)
{
	stopped(MTS_REASON_OOM, "the kernel ran out of memory: everything was thawed");
}

static void paused(void)
{
	stopped(MTS_REASON_SUSPEND, "the host suspends");
	now.status.state = MTS_STATE_PAUSED;
}

/* 200 jobs in 20 bins, with the largest numbers that there are. */
static void many(void)
{
	char name[MTS_NAME_SIZE];

	detail(MTS_STATE_RUNNING, MTS_REASON_OVERCOMMIT,
	       "a detail as long as details get: the jobs need more memory than there is, and the "
	       "host reclaims memory all the time, it does");
	for (u32 i = 0; i < 200; i++) {
		snprintf(name, sizeof(name),
			 "a-name-as-long-as-a-name-may-be-"
			 "which-is-63-characters-%u",
			 i);
		new_job(name, i % 20 ? MTS_JOB_FROZEN : MTS_JOB_RUNNING, i % 20, 1023ull << 30 | i);
	}
	for (u32 i = 0; i < 20; i++)
		now.bins[i].slice_ns = 60 * SECOND;
	for (u32 i = 0; i < 200; i++) {
		now.jobs[i].id = 4294967000u + i;
		now.jobs[i].frozen_since_ns = now.jobs[i].frozen_since_ns ? 1 : 0;
	}
	now.status.capacity = UINT64_MAX;
	now.status.demand = UINT64_MAX;
	now.status.resident_demand = UINT64_MAX;
	now.status.round = UINT64_MAX;
	now.status.round_ns = 3600 * SECOND;
	now.status.longest_pause_ns = UINT64_MAX;
	now.status.max_pause_ns = UINT64_MAX;
	now.status.evict = UINT32_MAX;
	now.status.slice_ends_ns = NOW + 59 * SECOND;
}

/* A name that has to be escaped, and is good UTF-8. */
static void escapes(void)
{
	idle();
	new_job("a\"b\\c\nd\xc3\xa9", MTS_JOB_RUNNING, MTS_BIN_NONE, 1);
}

/* As many jobs as there can be, in 41 bins. */
static void full(void)
{
	char name[MTS_NAME_SIZE];

	detail(MTS_STATE_RUNNING, MTS_REASON_OVERCOMMIT, "the jobs need 4.0 GiB");
	for (u32 i = 0; i < MTS_MAX_JOBS; i++) {
		snprintf(name, sizeof(name), "job.%u", i + 1);
		new_job(name, i / 100 ? MTS_JOB_FROZEN : MTS_JOB_RUNNING, i / 100, 1);
	}
	for (u32 i = 0; i < now.status.bins; i++)
		now.bins[i].slice_ns = SECOND;
	now.status.current_bin = 0;
	now.status.capacity = 100 * MIB;
	now.status.round_ns = 50 * SECOND;
	now.status.slice_ends_ns = now.status.now_ns + SECOND;
}

/* What `add` made of the directories of MTS_FAKE_JOBS, with the names that the module keeps. */
static void cgroups(void)
{
	const char *parents = env("MTS_FAKE_PARENTS", "");
	struct mts_job_info *job;
	char path[4096], *end;
	struct stat st;

	detail(MTS_STATE_IDLE, MTS_REASON_FITS, "");
	for (u32 i = 1; listed_cgroup(i, path); i++) {
		job = new_job(strrchr(path, '/') + 1, MTS_JOB_RUNNING, MTS_BIN_NONE, 1);
		if (!stat(path, &st))
			job->cgroup_id = st.st_ino;
		job->parent = strtoul(parents, &end, 10);
		parents = end;
	}
}

static void unseen(void)
{
	idle();
	now.status.sees = MTS_SEES_TTY | MTS_SEES_REALTIME;
}

/* mtsd answers, as the module is not loaded. */
static void userspace(void)
{
	idle();
	now.status.sees = MTS_SEES_BY_USERSPACE;
}

/* Numbers of a newer module. */
static void newer(void)
{
	rotating();
	now.status.abi = 7;
	now.status.state = 99;
	now.status.reason = 99;
	now.status.each_how = 99;
	now.status.sees = 1u << 30;
	now.jobs[0].state = 99;
}

static const struct {
	const char *name;
	void (*make)(void);
} scenarios[] = {
	{ "idle", idle },
	{ "empty", empty },
	{ "off", off },
	{ "rotating", rotating },
	{ "used", used },
	{ "switching", switching },
	{ "groups", groups },
	{ "groups-switching", groups_switching },
	{ "oom", oom },
	{ "paused", paused },
	{ "many", many },
	{ "newer", newer },
	{ "no-each", idle },
	{ "torn", rotating },
	{ "moving", rotating },
	{ "full", full },
	{ "escapes", escapes },
	{ "ending", ending },
	{ "unseen", unseen },
	{ "userspace", userspace },
	{ "limits", limits },
	{ "cgroup-limits", cgroup_limited },
	{ "gone", idle },
	{ "cgroups", cgroups },
	{ "no-gain", no_gain },
	{ "slow-swap", slow_swap },
	{ "exempt", exempt },
	{ "queue", queue },
	{ "fair", fair },
	{ "token", token },
	{ "policy-none", policy_none },
	{ "chosen", chosen },
	{ "chosen-none", chosen_none },
	{ "overdue", overdue },
};

/* Of MTS_FAKE_NOW; empty: there is none. */
static char live[256];

static void read_live(void)
{
	const char *path = getenv("MTS_FAKE_NOW");
	FILE *file = path ? fopen(path, "r") : NULL;
	size_t n = file ? fread(live, 1, sizeof(live) - 1, file) : 0;

	live[n] = '\0';
	if (file)
		fclose(file);
}

static bool live_value(const char *key, u64 *value)
{
	char wanted[32];
	const char *at;

	snprintf(wanted, sizeof(wanted), " %s=", key);
	at = strstr(live, wanted);
	if (at)
		*value = strtoull(at + strlen(wanted), NULL, 10);
	return at;
}

static const char *scenario(void)
{
	static char name[32];

	if (sscanf(live, "%31s", name) == 1)
		return name;
	return env("MTS_FAKE", "idle");
}

static void make_live_job(void)
{
	u64 value;

	if (live_value("since", &value))
		now.jobs[0].frozen_since_ns = value * SECOND;
	if (live_value("total", &value))
		now.jobs[0].frozen_total_ns = value * 1000000;
}

static void forget_removed(void)
{
	u64 ended = 0;
	u32 n = 0;

	live_value("gone", &ended);
	for (u32 i = 0; i < now.status.jobs; i++) {
		bool gone = now.jobs[i].id == ended;

		for (u32 k = 0; k < nremoved; k++)
			gone |= removed[k] == now.jobs[i].id;
		if (!gone)
			now.jobs[n++] = now.jobs[i];
	}
	now.status.jobs = n;
	for (u32 k = 0; k < npins; k++)
		for (u32 i = 0; i < n; i++)
			if (now.jobs[i].id == pins[k])
				now.jobs[i].flags ^= MTS_JOB_PIN;
}

static void make_scenario(void)
{
	memset(&now, 0, sizeof(now));
	now.status.abi = strtoul(env("MTS_FAKE_ABI", "4"), NULL, 0);
	now.status.now_ns = NOW + opened * SECOND;
	now.status.generation = 5;
	now.status.each_how = MTS_EACH_BEFORE_USER;
	now.status.sees = SEES_ALL;
	now.status.current_bin = MTS_BIN_NONE;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (strcmp(scenarios[i].name, scenario()))
			continue;
		scenarios[i].make();
		if (now.status.bins && now.status.current_bin == MTS_BIN_NONE)
			now.status.current_bin = 0;
		if (now.status.abi >= 4 && now.status.bins && !now.bins[0].flags)
			now.bins[now.status.current_bin].flags = MTS_BIN_RUNS;
		if (!strcmp(scenario(), "no-each"))
			now.status.each_how = MTS_EACH_NONE;
		forget_removed();
		make_live_job();
		return;
	}
	fprintf(stderr, "fake: no scenario %s\n", scenario());
	abort();
}

/* ---- ipc.h ------------------------------------------------------------------ */

static const char *name = MTS_DEVICE;

void ipc_choose(const char *engine)
{
	if (!strcmp(engine, "userspace"))
		name = MTS_SOCKET;
}

const char *ipc_name(void)
{
	return name;
}

void ipc_limit(u32 seconds)
{
	(void)seconds;
}

int ipc_open(void)
{
	read_live();
	if (!strcmp(scenario(), "absent"))
		return -ENOENT;
	if (!strcmp(scenario(), "forbidden"))
		return -EACCES;
	make_scenario();
	opened++;
	return fail("open");
}

void ipc_close(void)
{
}

int ipc_config_get(struct mts_config *config)
{
	int ret = fail("config_get");

	if (ret)
		return ret;
	*config = (struct mts_config){
		.mask = MTS_CONFIG_ALL,
		.mode = strtoul(env("MTS_FAKE_CONFIG_MODE", "1"), NULL, 0), /* auto */
		.policy = strtoul(env("MTS_FAKE_CONFIG_POLICY", "0"), NULL, 0), /* turns */
		.share = strtoul(env("MTS_FAKE_CONFIG_SHARE", "0"), NULL, 0), /* job */
		.pack = MTS_PACK_BFD,
		.evict = strtoul(env("MTS_FAKE_CONFIG_EVICT", "1"), NULL, 0), /* need */
		.demand = MTS_DEMAND_USED,
		.slice_ns = strtoull(env("MTS_FAKE_CONFIG_SLICE", "2000000000"), NULL, 0),
		.bin_bytes = strtoull(env("MTS_FAKE_CONFIG_BIN", "0"), NULL, 0),
		.min_slice_ns = 100000000,
		.max_pause_ns = 30 * SECOND,
		.overhead = strtoul(env("MTS_FAKE_CONFIG_OVERHEAD", "25"), NULL, 0),
		.interactive = strtoul(env("MTS_FAKE_CONFIG_INTERACTIVE", "250"), NULL, 0),
		.step = strtoul(env("MTS_FAKE_CONFIG_STEP", "4294967295"), NULL, 0), /* bin */
	};
	/* As ipc.c, with an older module. */
	if (now.status.abi < 4) {
		config->mask &= ~(MTS_CONFIG_STEP | MTS_CONFIG_POLICY | MTS_CONFIG_SHARE);
		config->step = MTS_STEP_BIN;
	}
	return 0;
}

int ipc_config_set(const struct mts_config *c)
{
	int ret = fail("config_set");

	if (!ret)
		record("set mask=%#x mode=%u pack=%u evict=%u slice=%llu bin=%llu min=%llu "
		       "pause=%llu overhead=%u demand=%u interactive=%u step=%u queue=%u policy=%u "
		       "share=%u",
		       c->mask, c->mode, c->pack, c->evict, c->slice_ns, c->bin_bytes,
		       c->min_slice_ns, c->max_pause_ns, c->overhead, c->demand, c->interactive,
		       c->step, c->queue, c->policy, c->share);
	return ret;
}

/* " pause=N", " weight=N" and " user=N", as far as they are given. */
static const char *wish_text(u32 flags, u64 max_pause_ns, u32 weight, u32 user)
{
	static char text[96];
	size_t used;

	used = snprintf(text, sizeof(text), max_pause_ns ? " pause=%llu" : "", max_pause_ns);
	if (weight)
		used += snprintf(text + used, sizeof(text) - used, " weight=%u", weight);
	if (flags & MTS_JOB_USER)
		snprintf(text + used, sizeof(text) - used, " user=%u", user);
	return text;
}

/* A module of ABI 1 takes a limit for a field that is reserved, and one before ABI 4 a weight. */
static int refuse_new(u32 flags, u64 max_pause_ns, u32 weight)
{
	return (max_pause_ns && now.status.abi < 2) || (weight && now.status.abi < 4) ||
			       (flags & MTS_JOB_USER && now.status.abi < 4) ||
			       (flags & MTS_JOB_EACH_LEAF && now.status.abi < 3) ?
		       -EINVAL :
		       0;
}

/* As libmts of a module that knows no queue. */
static int create_old(const struct mts_job_submit *job)
{
	u32 flags = job->flags & ~MTS_JOB_BATCH;
	int ret;

	if (flags & MTS_JOB_QUEUE || job->size || job->max_wait_ns)
		return -ENOTTY;
	ret = fail("job_create");
	if (!ret)
		ret = refuse_new(flags & ~MTS_JOB_USER, job->max_pause_ns, job->weight);
	record("create name=%s flags=%u ret=%d%s", job->name, flags & ~MTS_JOB_USER, ret,
	       wish_text(0, job->max_pause_ns, job->weight, 0));
	return ret;
}

static int submit(const struct mts_job_submit *job)
{
	int ret = fail("job_submit");

	if (!ret)
		ret = refuse_new(job->flags, job->max_pause_ns, job->weight);
	record("submit name=%s flags=%u ret=%d%s", job->name,
	       job->flags & ~(MTS_JOB_BATCH | MTS_JOB_USER), ret,
	       wish_text(job->flags, job->max_pause_ns, job->weight, job->user));
	if (job->size || job->max_wait_ns)
		record("size=%llu wait=%llu", job->size, job->max_wait_ns);
	return ret;
}

int ipc_job_enter(struct mts_job_submit *job)
{
	bool is_old = strtoul(env("MTS_FAKE_ABI", "4"), NULL, 0) < 4;
	const char *commands = getenv("MTS_FAKE_COMMANDS");
	FILE *file = commands ? fopen(commands, "a") : NULL;
	int ret = is_old ? create_old(job) : submit(job);

	if (file) {
		fprintf(file, "%llu %d\n", job->command, !!(job->flags & MTS_JOB_BATCH));
		fclose(file);
	}
	if (!ret)
		job->id = 7;
	return ret;
}

bool ipc_is_for_users(void)
{
	return !strcmp(env("MTS_FAKE_USER", "root"), "member");
}

const char *ipc_chosen(void)
{
	return NULL;
}

int ipc_job_add(struct mts_job_add *add)
{
	int ret = fail("job_add");

	if (!ret)
		ret = refuse_new(add->flags, add->max_pause_ns, add->weight);
	if (!ret) {
		record("add flags=%u fd=%s%s", add->flags & ~MTS_JOB_USER,
		       add->cgroup_fd >= 0 ? "open" : "bad",
		       wish_text(add->flags, add->max_pause_ns, add->weight, add->user));
		add->id = 7;
	}
	return ret;
}

/* The module, unless MTS_FAKE_TAKES is set: then mtsd. */
int ipc_job_take(struct mts_job_take *take)
{
	int ret = *env("MTS_FAKE_TAKES", "") ? fail("job_take") : -ENOTTY;

	if (!ret)
		ret = refuse_new(take->flags, take->max_pause_ns, take->weight);
	if (!ret) {
		record("take pid=%d flags=%u%s", take->pid, take->flags,
		       wish_text(take->flags, take->max_pause_ns, take->weight, take->user));
		take->id = 7;
		snprintf(take->name, sizeof(take->name), "worker-%d", take->pid);
	}
	return ret;
}

int ipc_job_remove(u32 id)
{
	int ret = fail("job_remove");

	if (!ret && nremoved < 16)
		removed[nremoved++] = id;
	if (!ret)
		record("remove %u", id);
	return ret;
}

int ipc_job_set(u32 id, u32 mask, u32 flags)
{
	int ret = fail("job_set");

	if (!ret && npins < 16)
		pins[npins++] = id;
	if (!ret)
		record("job_set %u mask=%u flags=%u", id, mask, flags);
	return ret;
}

int ipc_job_pause(u32 id, u64 max_pause_ns)
{
	int ret = now.status.abi < 2 ? -ENOTTY : fail("job_pause");

	if (!ret)
		record("job_pause %u %llu", id, (unsigned long long)max_pause_ns);
	return ret;
}

int ipc_job_weight(u32 id, u32 weight)
{
	int ret = now.status.abi < 4 ? -ENOTTY : fail("job_weight");

	if (!ret)
		record("job_weight %u %u", id, weight);
	return ret;
}

int ipc_status(struct mts_status *status)
{
	int ret = fail("status");

	if (!ret)
		*status = now.status;
	return ret;
}

int ipc_stats(struct mts_stats *stats)
{
	u32 steps = opened - 1;
	int ret = fail("stats");

	if (ret)
		return ret;
	*stats = (struct mts_stats){
		.rounds = 12,
		.switches = 36 + steps,
		.freezes = 100,
		.evict_asked = 3ull << 30,
		.evict_got = UINT64_MAX,
		.freeze_ns = (36 + steps) * 40000000ull,
		.evict_ns = (36 + steps) * 50000000ull,
		.bring_back_ns = (36 + steps) * 10000000ull,
		.brought_back = 25600ull * steps,
		.slice_ns = 70 * SECOND,
		.call_tasks = 41,
		.call_refused = 42,
		.foreign_freezes = 43,
	};
	live_value("rounds", (u64 *)&stats->rounds);
	live_value("begins", (u64 *)&stats->begins);
	live_value("stops", (u64 *)&stats->stops);
	if (!strcmp(scenario(), "rotating"))
		stats->evict_got = (2ull << 30) + steps * 200 * MIB;
	return 0;
}

/* Known while there are turns; a slow disk in the scenario of that name; MTS_FAKE_PAGE_NS. */
int ipc_disk(struct mts_disk_info *disk)
{
	u64 page_ns = strtoull(env("MTS_FAKE_PAGE_NS", "0"), NULL, 0);
	bool slow = !strcmp(scenario(), "slow-swap");
	int ret = fail("disk");

	if (ret)
		return ret;
	*disk = (struct mts_disk_info){ 0 };
	if (now.status.abi < 4)
		return 0;
	if (slow || now.status.state == MTS_STATE_RUNNING)
		disk->out = (struct mts_page_way){ 8240, 2700, 5540, 4 * SECOND };
	if (page_ns) {
		disk->out = (struct mts_page_way){ page_ns, page_ns, 0, SECOND };
		disk->in = disk->out;
	}
	if (!slow)
		return 0;
	disk->in = (struct mts_page_way){ 152000, 2400, 149000, 61 * SECOND };
	disk->request_ns = 4700000;
	disk->flags = MTS_DISK_WAITED_FOR | MTS_DISK_NEEDS_ROWS;
	return 0;
}

int ipc_policy(struct mts_policy_info *policy)
{
	int ret = fail("policy");

	if (!ret)
		*policy = now.policy;
	return ret;
}

int ipc_user_weight(u32 user, u32 weight)
{
	int ret = now.status.abi < 4 ? -ENOTTY : fail("user_weight");

	if (!ret)
		record("user_weight %u %u", user, weight);
	return ret;
}

int ipc_users(struct mts_user_weights *weights)
{
	const char *text = env("MTS_FAKE_WEIGHTS", "");
	struct mts_user_weight of;
	int ret = fail("users"), used;

	if (ret)
		return ret;
	weights->n = 0;
	for (; sscanf(text, "%u:%u%n", &of.user, &of.weight, &used) == 2; text += used)
		weights->of[weights->n++] = of;
	return 0;
}

int ipc_thaw(void)
{
	int ret = fail("thaw");

	if (!ret)
		record("thaw");
	return ret;
}

static void *copy(const void *from, u32 count, size_t size)
{
	void *to = count ? malloc(count * size) : NULL;

	if (to)
		memcpy(to, from, count * size);
	return to;
}

int ipc_jobs(struct mts_job_info **jobs, u32 *count, u64 *generation)
{
	static int asked;
	int ret = fail("jobs");

	if (ret)
		return ret;
	asked++;
	*count = now.status.jobs;
	*jobs = copy(now.jobs, *count, sizeof(**jobs));
	*generation = now.status.generation;
	/* torn: the lists never agree; moving: from the third time on. */
	if (!strcmp(scenario(), "torn") || (!strcmp(scenario(), "moving") && asked < 3))
		(*generation)++;
	return 0;
}

int ipc_gone(struct mts_gone_info **gone, u32 *count)
{
	const struct mts_gone_info infos[] = {
		{ .id = 5,
		  .why = MTS_GONE_MOVED,
		  .cgroup_id = 1,
		  .moved_to = strtoull(env("MTS_FAKE_CGROUP_ID", "1000"), NULL, 0),
		  .gone_ns = NOW - 2 * SECOND,
		  .name = "make" },
		{ .id = 7,
		  .why = MTS_GONE_EMPTY,
		  .cgroup_id = 2,
		  .gone_ns = NOW - 9 * SECOND,
		  .name = "pod.scope" },
	};
	int ret = fail("gone");

	if (ret)
		return ret;
	*count = strcmp(scenario(), "gone") ? 0 : sizeof(infos) / sizeof(*infos);
	*gone = copy(infos, *count, sizeof(**gone));
	return 0;
}

int ipc_bins(struct mts_bin_info **bins, u32 *count, u64 *generation)
{
	int ret = fail("bins");

	if (ret)
		return ret;
	*count = now.status.bins;
	*bins = copy(now.bins, *count, sizeof(**bins));
	*generation = now.status.generation;
	return 0;
}
