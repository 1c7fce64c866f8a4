/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which jobs somebody waits for: hooks note input and answers, policy/interactive.h
 * says what that makes of a job. The one owner of a job's credit.
 *
 * Nothing has to be done for a job to cease: it is a matter of the time. The rotor
 * sees it at its next round.
 */
#ifndef _MTS_INTERACTIVE_H
#define _MTS_INTERACTIVE_H

#include "job.h"

/* Per mille of the capacity that interactive jobs may hold together; 0: there are none. */
void mts_interactive_set_share(u32 permille);

/* Is there anything to be noted? For hooks; any context. */
bool mts_interactive_is_on(void);

/*
 * Somebody types at the job, or points, or waits for it; so many programs lie in between. If it is
 * frozen the watchdog thaws it at once. Under RCU; any context.
 */
void mts_interactive_give(struct mts_job *job, u32 step);

/* Somebody types at a task that is in no job, and that may ask one for something. Any context. */
void mts_interactive_note_input(void);

/* The job shows something, which counts if it is an answer; under RCU, any context. */
void mts_interactive_answer(struct mts_job *job);

/* Has anybody typed at all, just now? If not, neither of these two need be asked. */
bool mts_interactive_is_busy(void);

/* The job must not stand still, until the rotor has had time to see why; any context. */
void mts_interactive_spare(struct mts_job *job);

/* The budget has nothing left for its last input. Any context. */
void mts_interactive_refuse(struct mts_job *job);

/* It has been thawed for one of these reasons; under its freeze_lock. */
void mts_interactive_thawed(struct mts_job *job);

/* Has anybody typed in the last seconds? Any context. */
bool mts_interactive_is_used(void);

/* Is it in every bin for its input? Any context. */
bool mts_job_is_interactive(const struct mts_job *job);

/* Has it had input, but there was no room for it? Any context. */
bool mts_job_is_crowded_out(const struct mts_job *job);

/* Has it been interactive lately, so that its memory had better stay? Any context. */
bool mts_job_was_used(const struct mts_job *job);

/* Is it in every bin until the rotor sees why: it has become real-time, say? Any context. */
bool mts_job_is_spared(const struct mts_job *job);

/* Must it not be frozen now: spared, interactive, or called (calls.h)? Any context. */
bool mts_job_is_wanted(const struct mts_job *job);

/* Since its last input, as in struct mts_job_info. */
u32 mts_interactive_age_ms(const struct mts_job *job);

/* As of this input, is it in every bin, or in one like others? Under mts_lock. */
void mts_interactive_judge(struct mts_job *job, u64 last_input, bool granted);

#endif /* _MTS_INTERACTIVE_H */
