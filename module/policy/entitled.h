/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What jobs are entitled to, and their service: the time that a job has run, divided by what it is
 * entitled to. Jobs that are served equally have run in proportion to their entitlements. Pure code
 * (pure.h).
 */
#ifndef _MTS_POLICY_ENTITLED_H
#define _MTS_POLICY_ENTITLED_H

#include "policy/pure.h"
#include "uapi/mts.h"

/*
 * Entitlements count in 1/65536 of a weight, so that a part of a weight is exact enough: 1/4096 of
 * the default weight is 1600 of them. The largest has 30 bits.
 */
#define MTS_ENTITLED_SHIFT 16
#define MTS_ENTITLED_DEFAULT (MTS_WEIGHT_DEFAULT << MTS_ENTITLED_SHIFT)

/* What a weight stands for; 0: MTS_WEIGHT_DEFAULT. */
static inline u32 mts_entitled(u32 weight)
{
	return weight ? weight << MTS_ENTITLED_SHIFT : MTS_ENTITLED_DEFAULT;
}

/*
 * The service of a job that has run for @ran_ns: as long as a job of the default weight has run
 * that is served as well; ns. @entitled: 0: MTS_ENTITLED_DEFAULT.
 */
u64 mts_entitled_service(u64 ran_ns, u64 entitled);

/* The reverse: how long a job runs for that service. */
u64 mts_entitled_ran(u64 service_ns, u64 entitled);

/*
 * Which entitlements are alike: those of one class differ by less than an eighth. Jobs get time in
 * proportion to what they are entitled to within as much. Return: below MTS_ENTITLED_CLASSES.
 */
#define MTS_ENTITLED_CLASSES (8u * 32)
u32 mts_entitled_class(u32 entitled);

#endif /* _MTS_POLICY_ENTITLED_H */
