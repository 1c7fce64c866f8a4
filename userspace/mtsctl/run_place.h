/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where `mtsctl run` of a user who is not root has its job: in the cgroup that mtsctl is in, if the
 * user owns it and mtsctl is alone in it; else in a scope that the user's systemd manager makes.
 * There the limits and accounts of the user hold, and the job ends with the user's sessions.
 *
 * With --each the job is a cgroup in that one, beside which mts makes those of the children.
 */
#ifndef MTSCTL_RUN_PLACE_H
#define MTSCTL_RUN_PLACE_H

#include "policy/pure.h"
#include "uapi/mts.h"

/**
 * run_in_place() - make a job that this process is in
 * @job: the flags and the pause limit of the job
 * @here: there is to be no scope: mtsctl has been started in one
 * @name: of the job; NULL: after @command
 * @args: what follows "mtsctl run", for the mtsctl that runs in the scope
 *
 * Return: EXIT_OK; EXIT_RUN, and an error is printed. Where a scope is needed it executes
 * systemd-run(1), and returns only if that fails.
 */
int run_in_place(struct mts_job_submit *job, bool here, const char *name, const char *command,
		 char **args);

/*
 * Says to a terminal that the job is held, if it may be. Before it is asked for: a process that is
 * held prints nothing.
 */
void run_announce(const struct mts_job_submit *job);

#endif /* MTSCTL_RUN_PLACE_H */
