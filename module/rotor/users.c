// SPDX-License-Identifier: GPL-2.0
#include "rotor/users.h"

#include "policy/users.h"
#include "rotor/roster.h"
#include "rotor/state.h"
#include "rotor/turn.h"

static bool have_shares; /* as of the last call of mts_users_entitle() */

bool mts_users_have_shares(void)
{
	return have_shares;
}

/* By their indices in the roster. */
static void divide(struct mts_user_job *jobs, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		const struct mts_job *job = mts_rotor.roster.jobs[i];

		jobs[i] = (struct mts_user_job){
			.user = job->owner,
			.weight = job->weight,
			.takes_turns = !mts_roster_is_resident(job),
		};
	}
	mts_users_divide(jobs, n, jobs + n);
}

void mts_users_entitle(bool (*which)(const struct mts_job *job))
{
	struct mts_user_job *jobs = mts_rotor.scratch;
	u32 i, n = mts_rotor.roster.n;

	have_shares = mts_rotor_config()->share == MTS_SHARE_USER;
	if (have_shares)
		divide(jobs, n);
	for (i = 0; i < n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (!which || which(job))
			mts_turn_entitle(job, have_shares ? jobs[i].entitled :
							    mts_entitled(job->weight));
	}
}
