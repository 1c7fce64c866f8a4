/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the unit tests share: cmocka, seeded random numbers, and packings that
 * are checked by other means than the code under test uses.
 *
 * MTS_SEED (a number) and MTS_CASES (random cases for each property) in the
 * environment override the defaults.
 */
#ifndef _MTS_UNIT_H
#define _MTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "binpack/binpack.h"
#include "policy/bins.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define MIB (1ull << 20)
#define GIB (1ull << 30)

typedef unsigned __int128 u128;

extern const u32 unit_packers[3];
extern u32 unit_case; /* the random case under way, for messages */

/* Like assert_true(), and says how to come back to the case. */
#define check(condition)                                                          \
	do {                                                                      \
		if (!(condition)) {                                               \
			print_error("case %u, seed %llu: %s\n", unit_case,        \
				    (unsigned long long)unit_seed(), #condition); \
			fail();                                                   \
		}                                                                 \
	} while (0)

/* ---- random numbers ------------------------------------------------------ */

u64 unit_seed(void);
u32 unit_cases(u32 normally);

/* Each test starts its own sequence, whatever ran before. */
void random_start(const char *test);
u64 random_u64(void);
u64 random_below(u64 n);
u64 random_between(u64 low, u64 high);

/* ---- packings -------------------------------------------------------------- */

/* Each bin has jobs, and its sums are theirs. */
void check_bins_of(const struct mts_plan_job *jobs, u32 njobs, const struct mts_plan_bin *bins,
		   u32 nbins);

#define UNIT_MAX_ITEMS MTS_MAX_JOBS

struct instance {
	u64 capacity;
	u32 n;
	struct mts_item items[UNIT_MAX_ITEMS];
};

void instance_clear(struct instance *in, u64 capacity);
void instance_add(struct instance *in, u64 size, u32 prev);
void instance_remove(struct instance *in, u32 index);
void instance_shuffle(struct instance *in);

/* Of one of several kinds, up to max_n items, all of them newcomers. */
void instance_random(struct instance *in, u32 max_n);
/* Any bins of a last round, sensible or not. */
void instance_random_prev(struct instance *in);
void instance_forget_prev(struct instance *in);
void instance_next_round(struct instance *in);

/*
 * Pack, check every rule of binpack.h that holds for one result, and pack
 * again in other scratch memory for the same result. Return the bins.
 */
u32 pack(u32 packer, struct instance *in);

/* The bins of all items of `in`, which each test has. */
#define BINS(...)                                                     \
	do {                                                          \
		const u32 want[] = { __VA_ARGS__ };                   \
		u32 at;                                               \
                                                                      \
		assert_int_equal(ARRAY_SIZE(want), in.n);             \
		for (at = 0; at < in.n; at++)                         \
			assert_int_equal(in.items[at].bin, want[at]); \
	} while (0)

/* The load of a bin, not saturated. */
u128 load_of(const struct instance *in, u32 bin);
u128 fullest_of(const struct instance *in);

/* Do the items share bins in `a` as they do in `bin`? */
bool same_groups(const struct instance *in, const u32 *bin);
/* Do the items of each bin of the last round still share a bin, without others? */
bool none_moved(const struct instance *in);

/* Textbook versions: O(n^2), over the sorted sizes. Bins go to `bin`. */
u32 naive_pack(u32 packer, const struct instance *in, u32 *bin);
/* The least number of bins, by branch and bound; oversize ones alone. */
u32 optimal_bins(const struct instance *in);

#endif /* _MTS_UNIT_H */
