/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cases: single faults of the rotor, each on a plain host (host.h), where nothing is drawn but the
 * order of threads. A case is named after its fault. test_cases.py says which are not mended yet.
 */
#ifndef CASES_H
#define CASES_H

#include <stdio.h>

#include "host.h"

#define GIB (1ull << 30)
#define MIB (1ull << 20)
#define MS ((u64)NSEC_PER_MSEC)
#define SECOND ((u64)NSEC_PER_SEC)

struct a_case {
	const char *name;
	void (*does)(void);
};

#define CASE(does)          \
	{                   \
#does, does \
	}

extern const struct a_case rotor_cases[], window_cases[], limit_cases[], queue_cases[],
	fair_cases[], token_cases[], auto_cases[], weight_cases[], pause_cases[], freezer_cases[];

/* What the case is about: a fault that is not mended fails here. */
#define EXPECT(condition, ...)                                         \
	do {                                                           \
		if (!(condition))                                      \
			mts_user_bug("EXPECT", __LINE__, __VA_ARGS__); \
	} while (0)

/* What has to hold before that. */
#define NEED(condition, ...)                                           \
	do {                                                           \
		if (!(condition))                                      \
			mts_user_bug(__FILE__, __LINE__, __VA_ARGS__); \
	} while (0)

/* 8 GiB, of which a sixteenth is the kernel's; a disk of 400 MB/s. */
extern const struct host usual_host;

/* As at load, but for the mode. */
struct mts_config config_of(u32 mode);

/* Begin a case: the module is loaded on this host. It ends with world_unload(). */
void case_begin(const struct host *given, u32 mode);

/* Until @is, for @ns at most, looked at each millisecond. Return: the time that passed, ns. */
u64 wait_until(bool (*is)(void *data), void *data, u64 ns);

/* Run the case of that name; a violation ends the program. An unknown name is one. */
void cases_run(const char *name, u64 seed);

/* One name a line. */
void cases_print(FILE *to);

#endif /* CASES_H */
