// SPDX-License-Identifier: GPL-2.0
/*
 * Radix sort by bytes, the lowest byte first; it compares no keys. Bytes that are equal in all keys
 * are skipped: sizes differ in four or five bytes.
 *
 * Neither sort() of the kernel nor qsort() of the C library: their call per comparison took half of
 * the time of planning.
 */
#include "binpack/sort.h"

#define BYTE 8u
#define BYTES (1u << BYTE)

static u32 byte_of(const struct mts_key *key, u32 shift)
{
	return key->value >> shift & (BYTES - 1);
}

/* Stable: keys with the same byte keep their order. */
static void sort_by_byte(const struct mts_key *from, u32 n, u32 shift, struct mts_key *to)
{
	u16 place[BYTES] = { 0 }; /* 16 bits suffice for MTS_MAX_JOBS */
	u32 i, before = 0;

	for (i = 0; i < n; i++)
		place[byte_of(&from[i], shift)]++;
	for (i = BYTES; i--;) {
		u32 keys = place[i];

		place[i] = before;
		before += keys;
	}
	for (i = 0; i < n; i++)
		to[place[byte_of(&from[i], shift)]++] = from[i];
}

/* Bits in which any two keys differ. */
static u64 differing(const struct mts_key *keys, u32 n)
{
	u64 bits = 0;
	u32 i;

	for (i = 1; i < n; i++)
		bits |= keys[i].value ^ keys[0].value;
	return bits;
}

void mts_keys_sort(struct mts_key *keys, u32 n, struct mts_key *spare)
{
	struct mts_key *from = keys, *to = spare;
	u64 bits = differing(keys, n);
	u32 shift;

	for (shift = 0; bits; shift += BYTE, bits >>= BYTE) {
		struct mts_key *sorted = to;

		if (!(bits & (BYTES - 1)))
			continue;
		sort_by_byte(from, n, shift, to);
		to = from;
		from = sorted;
	}
	if (from != keys)
		memcpy(keys, from, n * sizeof(*keys));
}
