/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mtsctl's one connection to the module, or to mtsd: libmts/mts.h. The tests link another
 * implementation of this header (tests/mtsctl/fake_ipc.c).
 *
 * Every function returns 0 or a negative errno; uapi/mts.h lists them. A function
 * that fails leaves its results unchanged. Call ipc_open() first.
 */
#ifndef MTSCTL_IPC_H
#define MTSCTL_IPC_H

#include "policy/users.h"
#include "uapi/mts.h"

/*
 * What is to answer: "module", "userspace", "user" (the mtsd of this user) or the path of mtsd's
 * socket. NULL is the default: what the environment variable MTS_ENGINE says; else the module, or
 * mtsd if the module is not loaded.
 */
void ipc_choose(const char *engine);

/* From the next ipc_open() on each wait for mtsd ends with ETIMEDOUT after so long; 0: never. */
void ipc_limit(u32 seconds);

/* What ipc_choose() was told last. */
const char *ipc_chosen(void);

/* The device or socket that ipc_open() tries first, for messages. */
const char *ipc_name(void);

int ipc_open(void);
void ipc_close(void);

/*
 * Is what answers a mtsd of root's, and this process not root? Then it may do what mtsd(8) says
 * below USERS.
 */
bool ipc_is_for_users(void);

/* A module that does not know a field leaves its bit out of the mask; its step is MTS_STEP_BIN. */
int ipc_config_get(struct mts_config *config);
int ipc_config_set(const struct mts_config *config);

/* As mts_job_enter(). ENOTTY: a module of ABI 3 or older, and the queue is asked for. */
int ipc_job_enter(struct mts_job_submit *job);
int ipc_job_add(struct mts_job_add *add);
int ipc_job_take(struct mts_job_take *take); /* ENOTTY: the module; only mtsd can */
int ipc_job_remove(u32 id);
int ipc_job_set(u32 id, u32 mask, u32 flags);
int ipc_job_pause(u32 id, u64 max_pause_ns); /* 0: no limit of its own */
int ipc_job_weight(u32 id, u32 weight);

int ipc_status(struct mts_status *status);
int ipc_stats(struct mts_stats *stats);
/* A module of ABI 3 or less does not measure it: then all is 0, which means not known. */
int ipc_disk(struct mts_disk_info *disk);
int ipc_user_weight(u32 user, u32 weight); /* 0: the usual one */
int ipc_users(struct mts_user_weights *weights); /* an older module: none */
/* An older module: all is 0, which is turns, and no choice. */
int ipc_policy(struct mts_policy_info *policy);
int ipc_thaw(void);

/*
 * The whole list, in memory that the caller frees; NULL if it is empty. Fields that an older module
 * does not know are 0, but last_call_age_ms is MTS_CALL_AGE_MAX.
 */
int ipc_jobs(struct mts_job_info **jobs, u32 *count, u64 *generation);
/* Without a generation; the latest first. ENOTTY: a module that does not remember them. */
int ipc_gone(struct mts_gone_info **gone, u32 *count);
int ipc_bins(struct mts_bin_info **bins, u32 *count, u64 *generation);

#endif /* MTSCTL_IPC_H */
