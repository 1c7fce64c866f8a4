/* SPDX-License-Identifier: GPL-2.0 */
/* Between whom time is shared out (enum mts_share_by). In the rotor's thread. */
#ifndef _MTS_ROTOR_USERS_H
#define _MTS_ROTOR_USERS_H

#include "context.h"
#include "job.h"
#include "policy/users.h"

/*
 * Set what the jobs of the roster are entitled to from now on that @which says; NULL: all. While a
 * round lasts, only jobs that come are set: the others of their users keep what they have until the
 * next plan. Under mts_lock. Writes the scratch memory.
 */
void mts_users_entitle(bool (*which)(const struct mts_job *job));

/* Does each user have a share (MTS_SHARE_USER), as of the last plan? */
bool mts_users_have_shares(void);

/* The weights of users, as of the last plan; NULL: users have no shares. */
const struct mts_user_weights *mts_users_weights(void);

/* In any thread; takes mts_lock. @weight: 0: MTS_WEIGHT_DEFAULT. Return: 0 or -ENOSPC. */
int mts_users_weigh(u32 user, u32 weight);

/* Copy up to @n of the weights other than the default one. Return: how many there are. mts_lock. */
u32 mts_users_list_weights(struct mts_user_weight *of, u32 n);

#endif /* _MTS_ROTOR_USERS_H */
