// SPDX-License-Identifier: GPL-2.0
#include "rotor/lend.h"

#include "context.h"
#include "jobs/budget.h"
#include "jobs/interactive.h"
#include "rotor/freeze.h"
#include "rotor/state.h"

/* Does it run out of turn by the budget, and not because it is in every bin anyway? */
static bool is_lent(const struct mts_job *job)
{
	return READ_ONCE(job->lent) && !job->limited && !job->sleeps &&
	       !(READ_ONCE(job->flags) & MTS_JOB_PIN) && !job->realtime && !job->untouchable &&
	       !mts_job_is_spared(job);
}

bool mts_lend_look(void)
{
	struct mts_share share = { .processors = num_online_cpus(), .bins = mts_rotor.round.nbins };
	bool over = false;
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++)
		share.jobs += mts_rotor.roster.jobs[i]->bin < mts_rotor.round.nbins;
	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];
		bool out_of_turn = !job->runs && !READ_ONCE(job->frozen);

		mts_budget_look(job, out_of_turn && is_lent(job), share);
		over |= out_of_turn && READ_ONCE(job->call.honoured) && mts_freeze_is_for(job);
	}
	return over;
}
