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

/*
 * As an interval timer: sleeps until *next, which moves on by `interval`, as clock_sleep_until().
 * Delays do not add up, and missed times are left out.
 */
static inline int clock_tick(uint64_t *next, uint64_t interval)
{
	uint64_t now = clock_now();

	*next += interval;
	if (*next < now)
		*next += (now - *next) / interval * interval;
	return clock_sleep_until(*next);
}

#endif /* LAB_CLOCK_H */
