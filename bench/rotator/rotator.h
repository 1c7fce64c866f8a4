/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rotator: the module's policy as a daemon in user space, for comparison.
 *
 * rotator.c   the round: one bin after the other
 * options.c   the command line
 * host.c      what /proc says of the host; files below --root
 * cgroup.c    files of a job's cgroup
 * jobs.c      the table of jobs
 * each.c      gives children of --each jobs cgroups of their own
 * forks.c     hears of forks (proc connector)
 * round.c     measures and plans, with module/policy and module/binpack
 * switch.c    freeze, evict, bring back, thaw
 * pages.c     bulk bring-back: process_madvise over what /proc/PID/pagemap says is swapped
 * stats.c     figures, written to a file
 *
 * Units: bytes, nanoseconds (CLOCK_MONOTONIC).
 */
#ifndef ROTATOR_H
#define ROTATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/bins.h"
#include "policy/demand.h"
#include "policy/fit.h"
#include "policy/switches.h"
#include "settings.h"

#define MAX_JOBS 1024u
#define MAX_NAMES 256u
#define NAME_SIZE 64u
#define PAGE 4096ull
#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull

/* ---- options.c -------------------------------------------------------------- */

struct names {
	unsigned int count;
	const char *name[MAX_NAMES];
};

struct options {
	const char *root; /* "": the real host; else a directory with fakes of /proc and /sys */
	const char *base; /* cgroup directory of the jobs */
	const char *stats; /* "": not written */
	struct names each;
	struct names resident;
	struct mts_config config;
	uint64_t poll_ns; /* how often jobs and processes are looked for */
	bool bring_back;
	bool page_out;
	bool fork_events;
	bool plan; /* print the plan and end */
};

extern struct options options;

/* Fills `options`, or ends the program: --help, or usage (status 2). */
void options_parse(int argc, char **argv);

bool names_hold(const struct names *names, const char *name);

/* ---- host.c ----------------------------------------------------------------- */

struct host {
	uint64_t total;
	uint64_t available; /* MemAvailable without slab, as the module reckons */
	uint64_t free;
	uint64_t swap_free;
	uint64_t scanned; /* pages that the host's own reclaim has looked at since it booted */
	uint64_t swapped_in; /* pages, the same */
};

uint64_t now_ns(void);

/* A path below --root, in a buffer that the next call overwrites. */
__attribute__((format(printf, 1, 2))) const char *host_path(const char *format, ...);

/* A file into `buf`, NUL-terminated. Return: its length, or -1 with errno. */
ssize_t read_file(const char *path, char *buf, size_t size);

/* The number after `key` and a blank or colon at a line's start; 0 if there is none. */
uint64_t keyed_value(const char *text, const char *key);

/* Ends the program if /proc cannot be read. */
void host_read(struct host *host);

/* The parent of a process; 0 if it is gone. */
pid_t host_parent(pid_t pid);

/* Page faults since it was forked; 0 if it is gone. */
uint64_t host_faults(pid_t pid);

/* Whether a thread of the process runs, or waits for a disk or for memory. */
bool host_can_run(pid_t pid);

/* ---- jobs.c ----------------------------------------------------------------- */

struct job {
	char name[NAME_SIZE];
	struct mts_usage usage;
	uint64_t demand;
	uint64_t resident; /* bytes in memory that count towards the demand */
	uint64_t frozen_since;
	uint64_t left_out_until; /* did not freeze */
	char parent[NAME_SIZE]; /* the --each job that it was split off; "": none */
	pid_t first; /* of an --each job: the process whose children are split off */
	u32 bin; /* index, MTS_BIN_EVERY, MTS_BIN_NONE: not placed yet */
	bool each;
	bool pinned; /* in every bin */
	bool frozen;
	bool warm; /* has run since it was evicted */
	bool seen; /* by the scan that is under way */
	bool new; /* wants to be placed */
};

extern struct job jobs[MAX_JOBS];
extern u32 job_count;

/*
 * Bring the table up to date with the populated directories below the base: jobs come and go.
 * Empty cgroups that were split off are removed. Return: whether anything changed.
 */
bool jobs_scan(void);

struct job *jobs_find(const char *name);

/* Add a job whose cgroup exists. NULL: the table is full. */
struct job *jobs_add(const char *name, const struct job *parent);

/* ---- cgroup.c --------------------------------------------------------------- */

#define MAX_PIDS 4096u

/* Each returns false, with errno, if the cgroup is going or the kernel refuses. */
bool cgroup_usage(const struct job *job, struct mts_usage *usage);
bool cgroup_current(const struct job *job, uint64_t *bytes);
bool cgroup_freeze(const struct job *job, bool freeze);
bool cgroup_is_frozen(const struct job *job);
bool cgroup_evict(const struct job *job, uint64_t bytes);
bool cgroup_is_populated(const struct job *job);

/* Make one beside the others. */
bool cgroup_make(const char *name);
bool cgroup_move(const char *name, pid_t pid);

/* Its processes. Return: how many, at most `max`. */
size_t cgroup_pids(const struct job *job, pid_t *pids, size_t max);

/* The name of the job that a process is in; false if it is in none. */
bool cgroup_of(pid_t pid, char name[NAME_SIZE]);

/* ---- each.c, forks.c --------------------------------------------------------- */

/* A process was forked; does nothing unless its parent is in an --each job. */
void each_forked(pid_t parent, pid_t child);

/* Look through the --each jobs for children that are still in their parent's cgroup. */
void each_poll(void);

/* Return: a socket to wait on; -1: this kernel, or this user, has no fork events. */
int forks_open(void);

/* Read the events that have come, without waiting. */
void forks_read(int fd);

/* ---- round.c ----------------------------------------------------------------- */

struct round {
	struct mts_plan plan;
	struct mts_plan_bin bins[MAX_JOBS];
	u32 nbins; /* 0: everything runs */
	u32 running;
	struct mts_switches switches;
	bool slow_swap; /* the last one that moved enough to tell waited for the disk for most of it */
	bool planned_blindly; /* this round: the time of a switch was not known */
	uint64_t scanned; /* of struct host, when it last grew */
	uint64_t reclaimed_ns; /* when the host was last seen to reclaim; 0: never */
	uint64_t slice_began;
	uint64_t swapped_in; /* of struct host, when the slice began */
	struct mts_lesson lesson;
};

extern struct round round_now;

void round_init(void);
void round_note_reclaim(void);
bool round_measure(struct job *job);

/* Measure and plan. Return: the number of bins, 0 if no turns are to be taken. */
u32 round_plan(void);
void round_place_newcomers(void);

/*
 * A switch is through: if it is the first one, slices, pauses and eviction go by it from now on. In
 * the module only if its round cannot bear it.
 */
void round_note_switch(uint64_t took);

void round_slice_begins(void);

/* Has the running bin outgrown the capacity, by an eighth? */
bool round_outgrown(void);

/*
 * Does the running bin swap while it runs, although it was to fit? Then the next plan's capacity
 * is less.
 */
bool round_swaps(void);

/* Turns are over: forget what the last turns have taught. */
void round_rests(void);
bool round_can_run(u32 bin);
void round_print_plan(void);

/* ---- switch.c, pages.c -------------------------------------------------------- */

void switch_to(u32 bin);

/* Newcomers have been placed: freeze or thaw them. */
void switch_settle(void);
void switch_thaw_all(void);

/*
 * Read back what is swapped of a process, asking for `budget` bytes at most.
 * Return: bytes asked for. The reads may still be under way.
 */
uint64_t pages_bring_back(pid_t pid, uint64_t budget);

/*
 * Evict at least so many bytes of a frozen process's own memory, if there are, by whole mappings.
 */
void pages_page_out(pid_t pid, uint64_t want);

/* Run at normal priority, for work that may take long; and back. */
void be_polite(bool polite);

/* ---- stats.c ------------------------------------------------------------------ */

/* Sums since the start. */
struct stats {
	uint64_t rounds;
	uint64_t switches;
	uint64_t early_switches; /* a bin slept */
	uint64_t regroups; /* a bin outgrew the capacity, or swapped */
	uint64_t freeze_ns;
	uint64_t evict_ns;
	uint64_t bring_back_ns;
	uint64_t evict_asked;
	uint64_t evict_got;
	uint64_t brought_back; /* bytes asked for */
	uint64_t freeze_timeouts;
	uint64_t split; /* children that were given a cgroup */
	uint64_t split_late; /* of them, those that had been charged for memory before */
	uint64_t split_late_bytes; /* which stays with the parent's cgroup */
};

extern struct stats stats;

/* Replace the file as a whole; errors are told once. */
void stats_write(void);

#endif /* ROTATOR_H */
