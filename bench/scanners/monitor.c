// SPDX-License-Identifier: GPL-2.0
/*
 * The monitor (sections 2 and 3). It is constant: it uses little. It is reflective: it measures
 * itself, too. It is locked into memory, as in section 4.2 of the paper. It reads the counters of
 * tables 1 and 2 once an interval and prints a line at once.
 *
 * Three counters of table 1 exist only in the authors' kernel. A scanner never gives memory back,
 * so two of them follow from others. Created pages (zerofilled) are its pages in memory and in swap
 * together. Reclaimed pages are its pages in swap and its major faults. There is no substitute for
 * reclaimscans.
 */
#include "scanners.h"

#include <dirent.h>
#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "proc.h"
#include "signals.h"

#define WATCHED 32u
#define PIDS 65536u
/* Looks at a process until it is known not to become a scanner by exec(). */
#define LOOKS 40u

struct watched {
	pid_t pid; /* 0: free */
	bool self;
	struct proc_task task; /* at the last sample */
	uint64_t existing; /* pages in memory and in swap, at most so far */
	uint64_t reclaimed; /* so far */
};

struct global {
	uint64_t ns, swapin, swapout, memtotal, memfree, memshared;
};

static struct watched watched[WATCHED];
static unsigned char looks[PIDS];

static const char *read_or_die(const char *path)
{
	const char *text = proc_read(path);

	if (text)
		return text;
	err(EXIT_FAILURE, "%s", path);
}

static void read_global(struct global *global)
{
	const char *text = read_or_die("/proc/vmstat");

	global->ns = clock_now();
	global->swapin = proc_value(text, "pswpin");
	global->swapout = proc_value(text, "pswpout");
	text = read_or_die("/proc/meminfo");
	global->memtotal = proc_value(text, "MemTotal");
	global->memfree = proc_value(text, "MemFree");
	global->memshared = proc_value(text, "Shmem");
}

static bool is_watched(pid_t pid)
{
	for (unsigned int i = 0; i < WATCHED; i++)
		if (watched[i].pid == pid)
			return true;
	return false;
}

static void watch(pid_t pid, const struct proc_task *task)
{
	for (unsigned int i = 0; i < WATCHED; i++) {
		if (watched[i].pid)
			continue;
		watched[i] = (struct watched){ .pid = pid, .self = pid == getpid() };
		printf("{\"id\": %u, \"comm\": \"%s\", \"pid\": %d, \"ppid\": %d, \"t\": %.4f}\n",
		       i, task->comm, (int)pid, task->ppid, clock_seconds(clock_now()));
		return;
	}
}

/* Scanners are called by the name and a number. */
static bool is_scanner(const char *comm, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(comm, name, length) && comm[length] >= '0' && comm[length] <= '9';
}

/* New scanners; the monitor itself is the first that it finds. */
static void look_around(const char *name)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		long pid = strtol(entry->d_name, NULL, 10);
		struct proc_task task;

		if (pid <= 0 || is_watched((pid_t)pid) || looks[pid % PIDS] >= LOOKS)
			continue;
		looks[pid % PIDS]++;
		if (!proc_task((pid_t)pid, &task))
			continue;
		if (task.ppid == 2 || pid == 2)
			looks[pid % PIDS] = LOOKS; /* a thread of the kernel */
		else if (is_scanner(task.comm, name) || pid == getpid())
			watch((pid_t)pid, &task);
	}
	if (directory)
		closedir(directory);
}

/* One process's part of a line, as differences to the last sample. False if it is gone. */
static bool sample_task(struct watched *entry, unsigned int id, char *text, size_t size)
{
	struct proc_task last = entry->task, now;
	uint64_t existing = entry->existing, reclaimed = entry->reclaimed, back;

	if (!proc_task(entry->pid, &now) || !now.vsize)
		return false; /* or a zombie */
	entry->task = now;
	if (now.rss + now.swap > existing)
		existing = now.rss + now.swap;
	back = now.majflt + now.minflt > existing ? now.majflt + now.minflt - existing : 0;
	if (now.swap + back > reclaimed)
		reclaimed = now.swap + back;
	snprintf(text, size,
		 ",[%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.2f,%" PRId64 ",%" PRIu64
		 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
		 id, now.minflt - last.minflt, now.majflt - last.majflt, now.utime - last.utime,
		 now.stime - last.stime, (double)(now.ran_ns - last.ran_ns) / 1e6, now.priority,
		 now.rss, now.swap, existing - entry->existing, reclaimed - entry->reclaimed);
	entry->existing = existing;
	entry->reclaimed = reclaimed;
	return true;
}

/*
 * The heuristic of table 2: -1 without scanners, 0 if it is completely fair, 1 if it is completely
 * unfair. The paper has no formula; this is how much less than the largest resident set the
 * smallest one is.
 */
static double fairness(void)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (unsigned int i = 0; i < WATCHED; i++) {
		if (!watched[i].pid || watched[i].self)
			continue;
		if (watched[i].task.rss < least)
			least = watched[i].task.rss;
		if (watched[i].task.rss > most)
			most = watched[i].task.rss;
	}
	if (!most)
		return -1;
	return (double)(most - least) / (double)most;
}

static void sample(const struct options *options, struct global *last)
{
	static char tasks[8192];
	struct global now;
	size_t used = 0;

	read_global(&now);
	look_around(options->name);
	tasks[0] = '\0';
	for (unsigned int i = 0; i < WATCHED && used + 256 < sizeof(tasks); i++) {
		if (!watched[i].pid)
			continue;
		if (sample_task(&watched[i], i, tasks + used, sizeof(tasks) - used)) {
			used += strlen(tasks + used);
			continue;
		}
		printf("{\"id\": %u, \"exit\": true, \"t\": %.4f}\n", i, clock_seconds(now.ns));
		watched[i].pid = 0;
	}
	printf("[%.4f,%.4f,%.2f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.3f%s]\n",
	       clock_seconds(now.ns),
	       ((double)(now.ns - last->ns) - (double)options->interval_ns) / 1e9,
	       (double)(clock_now() - now.ns) / 1e6, now.memfree, now.memshared,
	       now.swapin - last->swapin, now.swapout - last->swapout, fairness(), tasks);
	fflush(stdout);
	*last = now;
}

int monitor(const struct options *options)
{
	struct global last;
	uint64_t next;

	proc_lock();
	read_global(&last);
	next = last.ns;
	printf("{\"program\": \"scanners\", \"part\": \"monitor\", \"start\": %.4f"
	       ", \"interval\": %.6f, \"memtotal\": %" PRIu64 ", \"ticks_per_second\": %ld"
	       ", \"columns\": [\"t\", \"jitter\", \"readtime_ms\", \"memfree\", \"memshared\""
	       ", \"swapin\", \"swapout\", \"fairness\"]"
	       ", \"task\": [\"id\", \"minflt\", \"majflt\", \"utime\", \"stime\", \"ran_ms\""
	       ", \"priority\", \"rss\", \"swap\", \"zerofilled\", \"reclaimed\"]}\n",
	       clock_seconds(last.ns), clock_seconds(options->interval_ns), last.memtotal,
	       sysconf(_SC_CLK_TCK));
	fflush(stdout);
	while (!signalled)
		if (!clock_tick(&next, options->interval_ns))
			sample(options, &last);
	return EXIT_SUCCESS;
}
