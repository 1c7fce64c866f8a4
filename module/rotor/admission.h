/* SPDX-License-Identifier: GPL-2.0 */
/* Admission: do turns pay? */
#ifndef _MTS_ROTOR_ADMISSION_H
#define _MTS_ROTOR_ADMISSION_H

#include "context.h"
#include "mts.h"

/*
 * While no turns are taken: can no job get memory (mts_admission_starves())? The log says so once.
 */
bool mts_admit_starves(void);

/*
 * What was found against acting, of policy=token too. NULL: holdings are not judged by themselves:
 * the choice judges the policy (MTS_POLICY_AUTO), or it acts by the user's word (mode=always,
 * bin=), whatever it costs. In the rotor's thread; takes mts_lock.
 */
struct mts_verdict *mts_admit_verdict(void);

/* A round is over that began at @began (ktime, ns), or was cut short: were turns worth it? */
void mts_admit_judge(u64 began, bool whole);

/* Has the host reclaimed memory in the last ten seconds? */
bool mts_admit_reclaims(void);

/*
 * What the jobs get of the processors without turns, while it may be asked for. Return: is there
 * more to decide by than before?
 */
bool mts_admit_look(void);

/* Does the configuration ask for turns whenever demand exceeds the capacity, whatever they cost? */
bool mts_admit_by_demand(const struct mts_config *config);

/* Have the jobs lost enough by memory, do few of them sleep, and is there no verdict against it? */
bool mts_admit_turns_pay(u64 now);

/* A new configuration has come: whatever was tried before is tried again. */
void mts_admit_retry(void);

/* The reason (MTS_REASON_*) for turns, or for none, by the plan. @freezable: jobs that can be. */
u32 mts_admit(const struct mts_config *config, u32 freezable);

/* A plan is made; there were @before bins. */
void mts_admit_note_turn(u32 before, bool on_demand);

#endif /* _MTS_ROTOR_ADMISSION_H */
