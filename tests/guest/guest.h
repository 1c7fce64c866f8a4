/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests in guests share. A program is a table of tests:
 *
 *	GUEST_TESTS(TEST(create_twice), TEST(remove_twice));
 *
 * It prints TAP; --list prints the names, and `slow` behind those that `make test` leaves out;
 * arguments are names of tests to run. Each test
 * starts from, and is followed by, reset(): no jobs, no children, defaults, nothing stopped.
 * A failed check leaves the test at once, whatever it made is cleared away.
 *
 * Waiting is done with wait_until() or expect_within(): with a limit, never a bare sleep.
 */
#ifndef _MTS_GUEST_H
#define _MTS_GUEST_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "uapi/mts.h"

typedef uint32_t u32;
typedef uint64_t u64;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIB (1ull << 20)
#define PAGE 4096ul
#define NS_PER_MS 1000000ull
#define MODULE_FILE "/lab/mts.ko"
#define CGROUPS "/sys/fs/cgroup/"
#define BASE "mts" /* the module's cgroup_base, below CGROUPS */

/* ---- tests ------------------------------------------------------------------------ */

struct test {
	const char *name;
	void (*run)(void);
	unsigned int seconds; /* limit; 0: DEFAULT_SECONDS */
	bool slow; /* only in `make test-all`: harness.py says which */
};

#define TEST(function) TEST_WITHIN(function, 0)
#define TEST_WITHIN(function, limit)          \
	{                                     \
#function, function, limit, 0 \
	}
#define TEST_SLOW(function, limit)            \
	{                                     \
#function, function, limit, 1 \
	}
#define GUEST_TESTS(...) const struct test guest_tests[] = { __VA_ARGS__, { 0 } }

/* The table ends with an entry that has no name; main() is the library's. */
extern const struct test guest_tests[];

/* Leave the test; only in the test's own process. */
void guest_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4), noreturn));
void guest_skip(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* A line of diagnosis. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define fail(...) guest_fail(__FILE__, __LINE__, __VA_ARGS__)

#define check(condition, ...)              \
	do {                               \
		if (!(condition))          \
			fail(__VA_ARGS__); \
	} while (0)

/* An int of 0 or -errno is what it should be. */
#define expect(is, should) guest_expect(__FILE__, __LINE__, #is, is, should)
void guest_expect(const char *file, int line, const char *what, int is, int should);

/* ---- time ------------------------------------------------------------------------- */

u64 now_ns(void);
u64 now_ms(void);
void sleep_ms(unsigned int ms);

/* True as soon as the condition is; false if it is not within so many milliseconds. */
#define wait_until(condition, ms)                                \
	({                                                       \
		u64 _end = now_ms() + (ms);                      \
		bool _met;                                       \
		while (!(_met = (condition)) && now_ms() < _end) \
			sleep_ms(5);                             \
		_met;                                            \
	})

/* The rest says what was seen instead; it is evaluated after the wait. */
#define expect_within(ms, condition, ...)                                            \
	do {                                                                         \
		if (!wait_until(condition, ms))                                      \
			fail("not within " #ms " ms: " #condition ": " __VA_ARGS__); \
	} while (0)

/*
 * What is promised is asked for with expect_within(): within what was promised. What a test only
 * waits for (a rotation that goes on, children that are ready) comes when a slow host lets it:
 * another guest may have the other processor.
 */
#define SOON_MS 30000
#define expect_soon(condition, ...) expect_within(SOON_MS, condition, __VA_ARGS__)

/* ---- the device ------------------------------------------------------------------- */

/* The open device; -1 while closed. Children inherit it, and must close it before a rmmod. */
extern int mts_fd;

void mts_open(void);
void mts_close(void);

/* 0 or -errno. */
int mts_ioctl(unsigned long command, void *argument);
int fd_ioctl(int fd, unsigned long command, void *argument);

int try_create(const char *name, u32 flags, struct mts_job_create *result);
int try_add(int fd, u32 flags, struct mts_job_add *result);
int try_config(const struct mts_config *config);
int try_remove(u32 id);
int try_set(u32 id, u32 mask, u32 flags);
int try_pause(u32 id, u64 max_pause_ns);
int try_weight(u32 id, u32 weight);
int try_user_weight(u32 user, u32 weight);

/* These must succeed. */
u32 create_job(const char *name, u32 flags);
u32 add_job(const char *cgroup, u32 flags);
void remove_job(u32 id);
void set_job(u32 id, u32 mask, u32 flags);
void pause_job(u32 id, u64 max_pause_ns); /* 0: none */
void weigh_job(u32 id, u32 weight);
struct mts_config get_config(void);
void set_config(const struct mts_config *config);
void set_mode(u32 mode);
void choose_policy(u32 policy); /* and mode auto */
void choose_share(u32 share);
void set_max_pause(u64 ns);
struct mts_status get_status(void);
struct mts_stats get_stats(void);

/* Of all jobs or bins, up to n; returns the list's total. */
u32 get_jobs(struct mts_job_info *jobs, u32 n, struct mts_list *list);
u32 get_bins(struct mts_bin_info *bins, u32 n);
u32 count_jobs(void);
bool find_job(const char *name, struct mts_job_info *job);
bool find_id(u32 id, struct mts_job_info *job);
/* Fails the test if there is none. */
struct mts_job_info job_named(const char *name);

const char *state_name(u32 state);
const char *job_state_name(u32 state);
/* What the rotor and each job do, in one line; good until the next call. */
const char *describe(void);

/* ---- the module ------------------------------------------------------------------- */

/* 0 or -errno. On PREEMPT_RT it is asked to load there all the same. */
int module_load(const char *options);
bool is_preempt_rt(void);
int module_unload(void);
bool module_loaded(void);
/* Does the kernel's log hold this text after the given mark? */
long log_mark(void);
bool log_says(long mark, const char *text);
/*
 * In between the kernel's report of being out of memory, call trace included, is no complaint;
 * everything else that it says of that kind still is.
 */
void log_expect_oom(void);
void log_expect_oom_no_more(void);

/* Record the events mts:* with a clock that is now_ns()'s; the text is tracefs's. */
void trace_begin(void);
void trace_go_on(void); /* with those of a module that is loaded meanwhile */
void trace_so_far(char *text, size_t size);
void trace_end(char *text, size_t size);

/* ---- files and cgroups ------------------------------------------------------------ */

/* All of it, however it is handed out; fails the test if it is too long. */
void read_whole(const char *path, char *text, size_t size);

/* 0 or -errno; the buffer becomes a string. */
int read_file(const char *path, char *buffer, size_t size);
int write_file(const char *path, const char *text);

/* Cgroups are named relative to CGROUPS. */
int cg_read(const char *cgroup, const char *file, char *buffer, size_t size);
int cg_write(const char *cgroup, const char *file, const char *text);
/* Numbers of a file, or of a line "key number" in it; -1: could not be read, or no such key. */
long long cg_number(const char *cgroup, const char *file);
long long cg_key(const char *cgroup, const char *file, const char *key);
u64 vmstat(const char *key); /* of /proc/vmstat; a key that is not there fails the test */
bool cg_exists(const char *cgroup);
bool cg_frozen(const char *cgroup); /* really: cgroup.events */
bool cg_freeze_asked(const char *cgroup); /* cgroup.freeze */
/* Switches its accounts of pressure off: it does not count as asleep, and so takes turns. */
void cg_hide_sleep(const char *cgroup);
void cg_make(const char *cgroup); /* reset() removes it: the name must begin with "t-" */
int cg_remove(const char *cgroup);
int cg_open(const char *cgroup, int flags);
void cg_move(const char *cgroup, pid_t pid);
/* Of the calling process, or another: relative to CGROUPS. */
void cg_of(pid_t pid, char *cgroup, size_t size);
/* The cgroup of a job that the module made. */
const char *cg_job(const char *job);

/* ---- processes -------------------------------------------------------------------- */

/* fork(); a child that is still there is killed by reset(). The child must _exit(). */
pid_t spawn(void);
/* In a child: have so much memory, each page in use once. Exits with 3 if there is none. */
void touch(unsigned int mib);
/* Locks all memory but so much, as long as the test lasts. */
void leave_mib(unsigned int left);
/*
 * Bytes that the kernel says are available, and those that each processor keeps at hand: from
 * Linux 6.7 on up to an eighth of the memory, which the kernel leaves out.
 */
u64 memory_available(void);
bool is_alive(pid_t pid);
/* Its exit status; 128 + signal if killed; fails the test if it takes longer. */
int join(pid_t pid, unsigned int ms);
void kill_and_join(pid_t pid);
char process_state(pid_t pid);
/*
 * A suspend that stops all processes for 5 s and then has them go on, by a process of its own.
 * Skips the test where the kernel cannot.
 */
pid_t start_suspend(void);
/* Its end. Return: 0 or an errno. */
int end_suspend(pid_t pid);

enum hog_kind {
	HOG_RANDOM, /* touches its pages at random */
	HOG_SEQUENTIAL,
	HOG_READER, /* touches its pages once, then reads them at random */
	HOG_PART, /* touches its pages once, then a quarter of them at random */
	HOG_SPIN, /* touches its pages once, then counts */
	HOG_SLEEP, /* touches its pages once, then sleeps */
	HOG_DOZE, /* touches its pages once, then one of them every 10 ms */
};

enum hog_memory {
	HOG_PRIVATE, /* pages of 4 KiB */
	HOG_SHARED, /* shared with a child that only sleeps */
	HOG_HUGE, /* pages of 2 MiB, if the kernel has them */
	HOG_SHARED_HUGE, /* both, if shmem_enabled says advise */
};

struct hog_spec {
	const char *name; /* of its job, which it creates and enters */
	const char *cgroup; /* instead: enters this cgroup, relative to CGROUPS */
	u32 flags; /* of the job */
	u64 max_pause_ns; /* the same; 0: none of its own */
	u32 user; /* whose the job is; 0: root's */
	unsigned int mib;
	enum hog_kind kind;
	enum hog_memory memory;
	bool in_turns; /* turns may be taken when it starts */
	bool alone; /* it has a session of its own, and no file of this program */
	bool piped; /* the same, but its output is a pipe */
};

struct hog {
	pid_t pid;
	u32 id; /* of its job, if it has created one */
	char name[MTS_NAME_SIZE];
	char cgroup[256];
	struct hog_shared *shared;
};

/* Returns when all is touched, or at once if it may be frozen before that. */
void hog_start(struct hog *hog, const struct hog_spec *spec);
void hog_start_nowait(struct hog *hog, const struct hog_spec *spec);
bool hog_ready(const struct hog *hog);
u64 hog_progress(const struct hog *hog);
/* If it still fills its memory it takes no more, and gives back half; but it has 2 MiB before. */
void hog_enough(struct hog *hog);
/* HOG_PART: from now on it is this quarter, 0 to 3. */
void hog_use_part(struct hog *hog, u32 part);
/* Its memory, in its own address space. */
u64 hog_memory(const struct hog *hog);
/* Where @n of its pages lie in swap; 0: in memory, or nowhere any more. */
void hog_slots(const struct hog *hog, u64 first, u64 n, u64 *slots);
u64 hog_slot(const struct hog *hog, u64 index);
/* Fails the test unless it makes progress within so many milliseconds. */
void hog_expect_progress(const struct hog *hog, unsigned int ms);
void hog_kill(struct hog *hog);

/* ---- rotations -------------------------------------------------------------------- */

#define MAX_HOGS 16

extern struct hog hogs[MAX_HOGS];
extern unsigned int nhogs;
extern const unsigned int three_equal[3];
/*
 * For tests in which it does not matter how much moves: a switch takes a third of the time. A bin
 * of SMALL_BIN_MIB holds one of them.
 */
extern const unsigned int three_small[3];
#define SMALL_BIN_MIB 12

/* hogs[] are jobs "a", "b", … of these sizes; they run freely until rotate(). */
void start_hogs(enum hog_kind kind, unsigned int n, const unsigned int *mib);
void start_hogs_of(enum hog_memory memory, enum hog_kind kind, unsigned int n,
		   const unsigned int *mib);
/*
 * Mode always, min_slice at most 100 ms; slices do not grow, and memory counts that nobody
 * uses. Other things by default.
 */
void rotate(unsigned int bin_mib, unsigned int slice_ms, u32 evict);
/* The same with evict and max_pause automatic. */
void rotate_auto(unsigned int bin_mib, unsigned int slice_ms);
/* The same, but as by default memory that nobody uses does not count. */
void rotate_by_use(unsigned int bin_mib, unsigned int slice_ms, u32 evict);
/* After rotate(): as by default, memory that nobody uses does not count. */
void count_used_memory(void);
bool is_rotating(void);
/* The status and all @n bins in the middle of a slice. Return: false: there was a switch. */
bool look_at_bins(struct mts_status *s, struct mts_bin_info *bins, u32 n);
void expect_rotation(u32 bins);
/* As long as it takes on a slow host: SOON_MS for each, and as much for what goes on now. */
void wait_rounds(u64 rounds);
/* No hog is to be frozen; each makes progress within so many milliseconds. */
void expect_all_go_on(unsigned int ms);
/* Within so many milliseconds nothing is frozen, and all hogs go on. */
void expect_all_thawed(unsigned int ms);
/* Major faults of the hogs themselves: not what is brought back for them. */
u64 hogs_major_faults(void);
/* The first of hogs[] whose job is in that bin. */
struct hog *hog_of_bin(u32 bin);
/* Really frozen, and not just for the switch to its own bin. */
bool waits_for_its_turn(const struct mts_job_info *job);
/* Frozen in both of two looks at it, and never thawed in between. */
bool stood_still(const struct mts_job_info *before, const struct mts_job_info *after);
/* A job of hogs[] that waits for its turn. */
struct hog *frozen_hog(void);

/*
 * Of two hogs that take turns the one that runs ends: of the other's memory more than @mib MiB come
 * back in bulk, before it runs, and the rotor rests after @ms milliseconds at most.
 */
void expect_comes_back_to_the_last(unsigned int mib, unsigned int ms);

/*
 * The real thing: nobody sets a bin's size, the host is short of memory, and has swap. Three jobs
 * take turns by themselves, and then run on.
 */
void expect_turns_of_their_own(void);

/*
 * From the key to the thaw. The guest shares its host with others, who can take the time
 * away from it at any moment: of several tries the one in the middle counts.
 */
#define QUICK_MS 50
/* These sort them. */
void expect_quick(double *ms, unsigned int n);
void expect_median(double *ms, unsigned int n, unsigned int limit_ms);

/* ---- the swap disk, and bringing back --------------------------------------------- */

/* In one request at most. */
#define SWAP_REQUEST_MAX_KIB 124

struct swap_disk {
	unsigned int mib;
	/* One request at a time, of this many microseconds; 0: as fast as the guest's. */
	u64 request_us;
	/* The memory that it keeps its data in is taken at once: a write needs none. */
	bool taken;
};

/* Swap is on this disk, empty, until the test ends. */
void swap_use(const struct swap_disk *disk);
/* From now on requests that touch these pages of it fail. */
void swap_spoil(u64 first, u64 pages);
/* Until now. */
void swap_mend(void);
/* From now on no request is larger. 4 makes what is left to be read a matter of minutes. */
void swap_request_kib(unsigned int kib);
/* Instead of the disk a zram of 256 MiB that may have so much memory ("0": any), as mem_limit. */
void swap_zram(const char *limit);
/* Back to the guest's own disk; reset() does it. */
void swap_restore(void);

/* Fields of its statistics (Documentation/block/stat.rst). */
enum swap_stat {
	SWAP_READS = 0,
	SWAP_SECTORS_READ = 2,
	SWAP_SECTORS_WRITTEN = 6,
};

u64 swap_stat(enum swap_stat field);
/* The same of any disk, by its name in /sys/block. */
u64 disk_stat(const char *disk, enum swap_stat field);
/* priority: of swapon(2); -1: the kernel's choice. */
void swap_on(const char *disk, int priority);
void swap_off(const char *disk);

bool readahead_is(const char *text);
void set_readahead(const char *text);
/* Readahead is off: a bin is being brought back, and waits for the disk. */
bool is_bringing_back(void);
void in_the_middle_of_it(void);

/* No rotation, no jobs, no children, no cgroups of ours, defaults, the module loaded. */
const char *reset(void);

#endif /* _MTS_GUEST_H */
