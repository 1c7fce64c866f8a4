/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What pure code may use. Files in binpack/ and policy/ include this header and no other system
 * header. So they compile unchanged in the module, in mtsctl, in the unit tests and in simulations.
 * Pure code is plain C over arrays and integers: no locks, no allocation, no kernel objects, no
 * floating point.
 *
 * Sums of sizes never wrap: they saturate at U64_MAX (mts_add_sat()).
 */
#ifndef _MTS_PURE_H
#define _MTS_PURE_H

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#else
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#ifndef U64_MAX
#define U64_MAX UINT64_MAX
#endif
#ifndef U32_MAX
#define U32_MAX UINT32_MAX
#endif

/* As in <linux/math64.h>; the 128-bit path serves products that overflow 64 bits. */
static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 c)
{
	u64 product;

	if (!__builtin_mul_overflow(a, b, &product))
		return product / c;
	return (u64)((unsigned __int128)a * b / c);
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}
#endif

static inline u64 mts_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 mts_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 mts_add_sat(u64 a, u64 b)
{
	return a + b < a ? U64_MAX : a + b;
}

static inline u64 mts_sub_floor(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

#endif /* _MTS_PURE_H */
