/* SPDX-License-Identifier: GPL-2.0 */
/* labdrive: helpers for every part. Times are nanoseconds of CLOCK_MONOTONIC. */
#ifndef LABDRIVE_UTIL_H
#define LABDRIVE_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define NS_PER_S 1000000000u
#define NEVER UINT64_MAX
#define KIB 1024u
#define MIB (1024u * 1024u)

/**
 * fail() - "drive: error TEXT" on the report, and exit with 1
 *
 * Nothing could be measured. What was started is killed first, see fail_cleanup.
 */
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...);

/* Called by fail() before it exits; NULL: nothing has been started. */
extern void (*fail_cleanup)(void);

/**
 * warn() - note something that the reader of the figures must know
 *
 * The text becomes an element of "warnings" in the outcome. At most 32 are kept.
 */
__attribute__((format(printf, 1, 2))) void warn(const char *format, ...);

size_t warning_count(void);
const char *warning(size_t index);

/* Memory for the whole run; zeroed; fails the run if there is none. */
void *allocate(size_t count, size_t size);

/* A formatted text in memory of its own. */
__attribute__((format(printf, 1, 2))) char *text(const char *format, ...);

/* Writes a text into an existing file such as /proc/self/oom_score_adj. 0, or -errno. */
int write_file(const char *path, const char *content);

/* Sleeps. A signal does not cut it short. */
void pause_ns(uint64_t ns);

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static inline uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

#endif
