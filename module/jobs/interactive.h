/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interactive jobs: jobs that a person uses. Hooks note input and output; policy/interactive.h
 * turns them into credit. The owner of a job's credit.
 *
 * Credit expires with time, so that no event ends it. The rotor sees that at its next round.
 */
#ifndef _MTS_INTERACTIVE_H
#define _MTS_INTERACTIVE_H

#include "job.h"

/* Per mille of the capacity that interactive jobs may hold together; 0: no job is interactive. */
void mts_interactive_set_share(u32 permille);

/* Do hooks have to note input at all? Any context. */
bool mts_interactive_is_on(void);

/*
 * The job has input from a person; @step programs lie in between. If it is frozen, the watchdog
 * thaws it at once. Under RCU; any context.
 */
void mts_interactive_give(struct mts_job *job, u32 step);

/* A task in no job has input; it may send a request to a job. Any context. */
void mts_interactive_note_input(void);

/* The job writes to a terminal. That counts if it follows input. Under RCU; any context. */
void mts_interactive_answer(struct mts_job *job);

/* Was there any input just now? If not, output and requests need not be noted. Any context. */
bool mts_interactive_is_busy(void);

/* The job must not be frozen until the rotor has had time to see why. Any context. */
void mts_interactive_spare(struct mts_job *job);

/* The budget does not grant a run for the job's last input. Any context. */
void mts_interactive_refuse(struct mts_job *job);

/* The job has been thawed because it was interactive or spared. Under its freeze_lock. */
void mts_interactive_thawed(struct mts_job *job);

/* Was there any input in the last 10 seconds? Any context. */
bool mts_interactive_is_used(void);

/* Has the job credit, and is its input not refused? Then it is in every bin. Any context. */
bool mts_job_is_interactive(const struct mts_job *job);

/* Has the job credit, but there was no room, or its account is empty? Any context. */
bool mts_job_is_crowded_out(const struct mts_job *job);

/* Was it interactive in the last MTS_STAY_MS? Then its memory stays. Any context. */
bool mts_job_was_used(const struct mts_job *job);

/* Has it just got a real-time thread, for example, and the rotor may not know? Any context. */
bool mts_job_is_spared(const struct mts_job *job);

/* Must it not be frozen now: spared, interactive, or called (calls.h)? Any context. */
bool mts_job_is_wanted(const struct mts_job *job);

/* Time since its last input, as in struct mts_job_info. */
u32 mts_interactive_age_ms(const struct mts_job *job);

/* A plan has decided for this input: @granted: the job is in every bin. Under mts_lock. */
void mts_interactive_judge(struct mts_job *job, u64 last_input, bool granted);

#endif /* _MTS_INTERACTIVE_H */
