/* SPDX-License-Identifier: GPL-2.0 */
/* Time, in nanoseconds of CLOCK_MONOTONIC. */
#ifndef LAB_CLOCK_H
#define LAB_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline double clock_seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* Returns 0 at that time, or EINTR if a signal was caught before. */
static inline int clock_sleep_until(uint64_t when)
{
	struct timespec until = { .tv_sec = (time_t)(when / 1000000000u),
				  .tv_nsec = (long)(when % 1000000000u) };

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Sleeps for so long, whatever signals come. */
static inline void clock_sleep(uint64_t ns)
{
	uint64_t until = clock_now() + ns;

	while (clock_sleep_until(until) == EINTR)
		;
}

#endif /* LAB_CLOCK_H */
