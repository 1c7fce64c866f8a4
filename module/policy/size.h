/* SPDX-License-Identifier: GPL-2.0 */
/* Sizes in parameters, as 512M. Pure code (pure.h). */
#ifndef _MTS_POLICY_SIZE_H
#define _MTS_POLICY_SIZE_H

#include "policy/pure.h"

/**
 * mts_size_parse() - read a size
 * @text: decimal digits and perhaps one of K, M, G, T, P and E, in either case: powers of 1024
 * @bytes: result
 *
 * The kernel's memparse() wraps: to it 16777217T is 1T.
 *
 * Return: 0; -EINVAL: it is no size; -ERANGE: it is one of 2^64 bytes or more.
 */
int mts_size_parse(const char *text, u64 *bytes);

#endif /* _MTS_POLICY_SIZE_H */
