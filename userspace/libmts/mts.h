/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libmts: jobs of the medium-term scheduler, from C and C++. libmts(3) is its manual.
 *
 * A connection is one to the kernel module (/dev/mts) or to mtsd, which answers the same commands;
 * which of them makes no difference to the caller. uapi/mts.h has the structures and what they
 * mean; mtsctl(8), below "WITHOUT ROOT", says what a user who is not root may ask.
 *
 * Errors. A function that returns int returns 0, or more where it says so, or a negative errno:
 * those of uapi/mts.h, and those that mts_strerror() explains. errno itself has no meaning. After
 * an error nothing has changed, and results are as they were. After ETIMEDOUT and EPROTO only
 * mts_disconnect() is of use.
 *
 * Threads. The library has no state but that of connections. One thread at a time may use a
 * connection; several threads have one each, or a lock. No function changes the handling of a
 * signal, and none raises SIGPIPE; a function that waits goes on after a signal.
 *
 * Processes. A connection is closed at an exec. mtsd takes the process that has connected for the
 * one that asks: a child process makes a connection of its own. mtsd may end one that is idle, if
 * another caller needs its place: the next function makes it anew, with the rights that the process
 * has then. EAGAIN: too many callers ask at a time.
 *
 * Compatibility. The structures of uapi/mts.h that grow, struct mts_job_info and struct mts_stats,
 * are passed with their size. So a program that was compiled with an older header works with a
 * newer library, and fields that the module does not know are 0.
 */
#ifndef LIBMTS_MTS_H
#define LIBMTS_MTS_H

#include <stdbool.h>
#include <stddef.h>

#include "uapi/mts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- connections ------------------------------------------------------------------------- */

struct mts_connection;

/**
 * mts_connect() - connect to the module, or to mtsd
 * @engine: "module"; "userspace": the mtsd of the host; "user": the mtsd of this user; or the path
 *	of a socket, with a '/' in front. NULL: what the environment variable MTS_ENGINE says; else
 *	the module, or the mtsd of the host if the module is not loaded or is for root alone
 * @limit_s: each wait for mtsd ends with ETIMEDOUT after so many seconds; 0: never
 * @connection: out; mts_disconnect() frees it
 *
 * Return: 0 or -errno. ENOENT, ECONNREFUSED: there is neither; EACCES: it is root's; EINVAL:
 * @engine is none of these.
 */
int mts_connect(const char *engine, unsigned int limit_s, struct mts_connection **connection);

/* Jobs stay as they are. NULL: nothing happens. */
void mts_disconnect(struct mts_connection *connection);

/* What mts_connect() opens first, for messages. Return: 0, or -ENAMETOOLONG. */
int mts_engine_path(const char *engine, char *path, size_t size);

/*
 * Is what answers a mtsd of root's, and this process not root? Then the jobs that it makes are
 * cgroups of its own user.
 */
bool mts_is_for_users(const struct mts_connection *connection);

/* A command of uapi/mts.h as it is: MTS_IOC_*, and its structure. */
int mts_call(struct mts_connection *connection, unsigned long request, void *argument);

/*
 * What a result of these functions means, in English: a text that stays. @err: with or without its
 * sign. @connection: where it comes from; NULL: from mts_connect().
 */
const char *mts_strerror(const struct mts_connection *connection, int err);

/* ---- jobs -------------------------------------------------------------------------------- */

/**
 * mts_job_enter() - make a job of the calling process, as mtsctl run does before it executes
 * @job: name, flags, max_pause_ns, weight and what the queue goes by; the rest is 0.
 *	out: id, cgroup_id and, if it was empty, the name
 *
 * All threads of the process move into the job's cgroup, and what it starts from now on belongs to
 * the job. Memory that it has stays charged to the cgroup that it comes from: enter first, then
 * allocate.
 *
 * Of a user (mts_is_for_users()) the cgroup that the process is in becomes the job, and has the
 * name of that: it has to be the user's own, with no other process in it. systemd-run(1) makes such
 * ones: systemd-run --user --scope PROGRAM.
 *
 * Return: 0 or -errno, as MTS_IOC_JOB_SUBMIT. ECHILD: another process has made the connection.
 * Of users, EACCES: the cgroup is not the user's; EBUSY: there is another process in it.
 */
int mts_job_enter(struct mts_connection *connection, struct mts_job_submit *job);

/* A number that stands for a command with its words, and its user: mts_job_submit.command. */
__u64 mts_command_number(const char *const *words, unsigned int uid);

/* Make an empty job (MTS_IOC_JOB_CREATE), to which processes are moved by its cgroup.procs. */
int mts_job_new(struct mts_connection *connection, struct mts_job_create *job);

/* Make a job of a cgroup that there is (MTS_IOC_JOB_ADD). */
int mts_job_add_cgroup(struct mts_connection *connection, struct mts_job_add *job);

/* Make a job of one process (MTS_IOC_JOB_TAKE). ENOTTY: the module, which cannot. */
int mts_job_add_process(struct mts_connection *connection, struct mts_job_take *job);

/* Thaw the job and forget it; its processes run on. The rest: as the MTS_IOC_JOB_... of uapi. */
int mts_job_forget(struct mts_connection *connection, __u32 id);

/* Pinned: it is never frozen or evicted. */
int mts_job_set_pin(struct mts_connection *connection, __u32 id, bool is_pinned);

/* The flags in @mask, MTS_JOB_*, become those in @flags. */
int mts_job_set_flags(struct mts_connection *connection, __u32 id, __u32 mask, __u32 flags);

/* ns; 0: no limit of its own. */
int mts_job_set_pause(struct mts_connection *connection, __u32 id, __u64 max_pause_ns);

/* 0: the usual one. */
int mts_job_set_weight(struct mts_connection *connection, __u32 id, __u32 weight);

/**
 * mts_job_find() - the job with a name
 * @size: sizeof(*job)
 *
 * Return: 0 or -errno. ENOENT: there is none; ENOTUNIQ: there are several.
 */
int mts_job_find(struct mts_connection *connection, const char *name, struct mts_job_info *job,
		 size_t size);

/* ---- lists ------------------------------------------------------------------------------- */

/**
 * mts_jobs_get() - all jobs, in order of id
 * @jobs: out; free(3) frees it; NULL if there is none
 * @size: sizeof(**jobs)
 * @generation: out; lists and a status with the same one agree with each other. NULL: not wanted
 *
 * Return: 0 or -errno. EAGAIN: jobs come faster than they are listed.
 */
int mts_jobs_get(struct mts_connection *connection, struct mts_job_info **jobs, size_t size,
		 __u32 *count, __u64 *generation);

/* All bins, in order of index. */
int mts_bins_get(struct mts_connection *connection, struct mts_bin_info **bins, __u32 *count,
		 __u64 *generation);

/* Jobs that ended although their work may go on, the latest first. ENOTTY: an older module. */
int mts_gone_get(struct mts_connection *connection, struct mts_gone_info **gone, __u32 *count);

/* Users whose weight is not the usual one, in order of user id. ENOTTY: an older module. */
int mts_users_get(struct mts_connection *connection, struct mts_user_weight **users, __u32 *count);

/* ---- state ------------------------------------------------------------------------------- */

int mts_status_get(struct mts_connection *connection, struct mts_status *status);

/**
 * mts_status_wait() - wait until something happens
 * @status: in: what the caller knows; out: the present one. A zeroed one is out of date
 * @interval_ms: it is asked for so often; 0: each 100 ms
 * @timeout_ms: negative: for ever
 *
 * Something is: the number of jobs, of frozen ones or of bins changes, a round or a switch begins,
 * state or reason change. What is undone within the interval is not seen: mts-events(7) has each
 * event.
 *
 * Return: 1: something has happened; 0: the time is over; or -errno.
 */
int mts_status_wait(struct mts_connection *connection, struct mts_status *status,
		    unsigned int interval_ms, int timeout_ms);

/* Counters. @size: sizeof(*stats) */
int mts_stats_get(struct mts_connection *connection, struct mts_stats *stats, size_t size);

/* A module of ABI 3 or less does not measure it: then all is 0, which means not known. */
int mts_disk_get(struct mts_connection *connection, struct mts_disk_info *disk);

/* Which policy is in force, and what each gives; the same of an older module. */
int mts_policy_get(struct mts_connection *connection, struct mts_policy_info *policy);

/* An older module leaves the bits of fields that it does not know out of the mask. */
int mts_config_get(struct mts_connection *connection, struct mts_config *config);
int mts_config_set(struct mts_connection *connection, const struct mts_config *config);

/* What a user is entitled to with MTS_SHARE_USER (struct mts_user_weight). 0: the usual weight. */
int mts_user_set_weight(struct mts_connection *connection, __u32 user, __u32 weight);

/* Thaw all jobs and stop, until a mode is set. */
int mts_thaw(struct mts_connection *connection);

#ifdef __cplusplus
}
#endif

#endif /* LIBMTS_MTS_H */
