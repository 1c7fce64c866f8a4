/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which cgroups the rules make jobs of. Of two cgroups, one above the other, only one can be a job:
 *  - a cgroup belongs to the first rule that takes it; an exclusion comes before all rules;
 *  - it becomes a job, with all below it, unless something below it is excluded or belongs to an
 *    earlier rule. Then those below it are looked at one by one.
 */
#ifndef MTSCTL_DECIDE_H
#define MTSCTL_DECIDE_H

#include "conf.h"
#include "exclusions.h"
#include "tree.h"

#define DECIDE_TEXT 320

#define OWNER_EXCLUDED 0u
#define OWNER_RULE(i) ((i) + 1) /* conf->rules[i] */
#define OWNER_NONE 0xffffffffu

struct decision {
	u32 owner; /* OWNER_* */
	bool is_job;
	u32 blocked_by; /* the first cgroup below it that keeps it from being a job; 0: none */
	bool has_watchdog; /* excluded for it, of a rule that would take the cgroup */
};

/* Of each cgroup of the tree. NULL: no memory. The caller frees it. */
struct decision *decide(const struct conf *conf, const struct tree *tree);

/*
 * Does this rule take the cgroup, whatever other rules and exclusions say? Writes why, or why not;
 * @why may be NULL.
 */
bool decide_takes(const struct tree *tree, const struct rule *rule, u32 cgroup,
		  char why[DECIDE_TEXT]);

/* Does systemd's watchdog kill the cgroup as a job of the rule? Writes why. */
bool decide_watchdog(const struct conf *conf, const struct tree *tree, u32 cgroup,
		     const struct rule *rule, char why[EXCLUSION_TEXT]);

/* The directory of a cgroup. Return: 0 or -ENAMETOOLONG. */
int decide_dir(const struct tree *tree, u32 cgroup, char dir[PATH_MAX]);

#endif /* MTSCTL_DECIDE_H */
