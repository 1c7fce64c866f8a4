/* SPDX-License-Identifier: GPL-2.0 */
/* Which jobs have their memory protected, and how much of it. */
#ifndef _MTS_ROTOR_PROTECTION_H
#define _MTS_ROTOR_PROTECTION_H

#include "context.h"
#include "job.h"

/*
 * Protect the jobs that are in every bin, or would be with turns, those whose memory is kept, and
 * the holder (token.h). Withdraw the protection of all others. Not @wanted: protect none.
 */
void mts_protection_update(bool wanted);

#endif /* _MTS_ROTOR_PROTECTION_H */
