/* SPDX-License-Identifier: GPL-2.0 */
/* MTS_POLICY_TOKEN: one job at a time keeps its memory, and the others make room. */
#ifndef _MTS_ROTOR_TOKEN_H
#define _MTS_ROTOR_TOKEN_H

#include "context.h"

/*
 * Choose the holder as policy/token.h does, once for each measurement of the jobs. Return: ns until
 * the next call.
 */
u64 mts_token_step_all(u64 now);

/* The jobs are about to be measured again. */
void mts_token_rest(void);

/* The policy acts no more: there is no holder, and the accounts are forgotten. */
void mts_token_end(void);

#endif /* _MTS_ROTOR_TOKEN_H */
