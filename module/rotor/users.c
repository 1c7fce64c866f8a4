// SPDX-License-Identifier: GPL-2.0
#include "rotor/users.h"

#include "rotor/roster.h"
#include "rotor/state.h"
#include "rotor/turn.h"

static struct mts_user_weights weights; /* under mts_lock */

/* As of the last call of mts_users_entitle(), for the rotor's thread. */
static bool have_shares;
static struct mts_user_weights weights_in_force;

int mts_users_weigh(u32 user, u32 weight)
{
	bool has_room;

	mutex_lock(&mts_lock);
	has_room = mts_user_weights_set(&weights, user, weight ?: MTS_WEIGHT_DEFAULT);
	if (has_room)
		mts_wake_rotor(MTS_ROTOR_EV_CONFIG);
	mutex_unlock(&mts_lock);
	return has_room ? 0 : -ENOSPC;
}

u32 mts_users_list_weights(struct mts_user_weight *of, u32 n)
{
	lockdep_assert_held(&mts_lock);
	memcpy(of, weights.of, min(n, weights.n) * sizeof(*of));
	return weights.n;
}

const struct mts_user_weights *mts_users_weights(void)
{
	return have_shares ? &weights_in_force : NULL;
}

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
	mts_users_divide(jobs, n, &weights_in_force, jobs + n);
}

void mts_users_entitle(bool (*which)(const struct mts_job *job))
{
	struct mts_user_job *jobs = mts_rotor.scratch;
	u32 i, n = mts_rotor.roster.n;

	have_shares = mts_rotor_config()->share == MTS_SHARE_USER;
	weights_in_force = weights;
	if (have_shares)
		divide(jobs, n);
	for (i = 0; i < n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (!which || which(job))
			mts_turn_entitle(job, have_shares ? jobs[i].entitled :
							    mts_entitled(job->weight));
	}
}
