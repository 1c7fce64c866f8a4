/* SPDX-License-Identifier: GPL-2.0 */
/* Makes jobs of what the rules decide. */
#ifndef MTSCTL_ENROL_H
#define MTSCTL_ENROL_H

#include "decide.h"

/* Ids of cgroups, sorted. */
struct enrol_ids {
	u64 *ids;
	u32 n, room;
	bool is_full; /* of those that were tried: there are too many jobs for more */
};

/*
 * How to go about it.
 * @dry: only say what would be added; the module need not be loaded
 * @tried: NULL: once. Else for a resident: a cgroup that is in it is left alone, so that it does
 *         not become a job again that a user has removed; each that is a job, or was to be one,
 *         comes in, but not while there are too many jobs. What has no process any more goes.
 *         And only what is new is said.
 * @users_pause_ns: for heed_shortest()
 * @heed_until_ns: heed_until()
 */
struct enrol_how {
	const struct command *command; /* for errors */
	bool dry;
	struct enrol_ids *tried;
	u64 users_pause_ns;
	u64 heed_until_ns;
};

/*
 * Adds each cgroup that is to be a job and is none yet, as `mtsctl add` does. If one fails, the
 * others are added all the same.
 *
 * Return: an exit status.
 */
int enrol_all(const struct conf *conf, const struct tree *tree, const struct decision *all,
	      const struct enrol_how *how);

/* " --pin --max-pause 5s", as for `mtsctl add`; empty: none. */
#define ENROL_OPTIONS (4 * FORMAT_SIZE)
const char *enrol_options(char buf[ENROL_OPTIONS], const struct rule *rule);

#endif /* MTSCTL_ENROL_H */
