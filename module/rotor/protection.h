/* SPDX-License-Identifier: GPL-2.0 */
/* Which jobs have their memory protected, and how much of it. */
#ifndef _MTS_ROTOR_PROTECTION_H
#define _MTS_ROTOR_PROTECTION_H

#include "context.h"

/*
 * Protect jobs that are in every bin as of now, or would be if turns were taken, or whose memory
 * is, and no others. Not @wanted: none at all.
 */
void mts_protection_update(bool wanted);

#endif /* _MTS_ROTOR_PROTECTION_H */
