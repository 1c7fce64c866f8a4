// SPDX-License-Identifier: GPL-2.0
/*
 * Sorting keys: short runs by insertion, then merging them from one array into
 * another and back.
 *
 * Not with sort() of the kernel or qsort() of the C library: those call a
 * function for every comparison and move elements of any size, which was half
 * of what planning took; and this one is the same, and as fast, in both.
 */
#include "packing.h"

/* Runs that are sorted by insertion: so few that this is less work than merging. */
#define RUN 8u

static void sort_run(struct mts_key *run, u32 n, u64 flip)
{
	u32 i, at;

	for (i = 1; i < n; i++) {
		struct mts_key key = run[i];

		for (at = i; at && (key.value ^ flip) < (run[at - 1].value ^ flip); at--)
			run[at] = run[at - 1];
		run[at] = key;
	}
}

/* Two neighbouring sorted runs, from[0..middle-1] and from[middle..end-1], into one. */
static void merge(const struct mts_key *from, u32 middle, u32 end, struct mts_key *to, u64 flip)
{
	const struct mts_key *left = from, *left_end = from + middle;
	const struct mts_key *right = left_end, *right_end = from + end;

	/* In order already: most often so where little has changed since the last round. */
	if (middle == end || (left_end[-1].value ^ flip) <= (right->value ^ flip)) {
		memcpy(to, from, end * sizeof(*to));
		return;
	}
	while (left < left_end && right < right_end) {
		/* Of equal ones the left comes first: ties stay in their order. */
		if ((right->value ^ flip) < (left->value ^ flip))
			*to++ = *right++;
		else
			*to++ = *left++;
	}
	if (left < left_end)
		memcpy(to, left, (left_end - left) * sizeof(*to));
	else
		memcpy(to, right, (right_end - right) * sizeof(*to));
}

void mts_keys_sort(struct mts_key *keys, u32 n, struct mts_key *spare, bool descending)
{
	/* The order of the complements is the order turned round. */
	u64 flip = descending ? U64_MAX : 0;
	struct mts_key *from = keys, *to = spare;
	u32 width, i;

	for (i = 0; i < n; i += RUN)
		sort_run(keys + i, mts_min(RUN, n - i), flip);
	for (width = RUN; width < n; width *= 2) {
		struct mts_key *sorted = to;

		for (i = 0; i < n; i += 2 * width) {
			u32 end = mts_min(2 * width, n - i);

			merge(from + i, mts_min(width, end), end, to + i, flip);
		}
		to = from;
		from = sorted;
	}
	if (from != keys)
		memcpy(keys, from, n * sizeof(*keys));
}
