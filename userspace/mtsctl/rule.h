/* SPDX-License-Identifier: GPL-2.0 */
/* A rule of mts.conf(5): which cgroups become jobs, and how. */
#ifndef MTSCTL_RULE_H
#define MTSCTL_RULE_H

#include <stdbool.h>

#include "mtsctl.h"

#define RULE_NAME_SIZE 45 /* with the NUL: libinih keeps 49 bytes of "rule NAME" */
#define RULE_WORDS 32 /* of a condition */

/* What a condition says: any of the words. */
enum rule_condition {
	RULE_CGROUP, /* patterns, from the cgroup root, without a slash in front */
	RULE_UNIT, /* patterns */
	RULE_CONTAINER, /* patterns of names */
	RULE_USER, /* numbers */
	RULE_GROUP,
	RULE_COMMAND, /* patterns */
	RULE_CONDITIONS,
};

enum rule_each {
	RULE_SELF, /* the cgroup, with all below it */
	RULE_CHILD, /* each cgroup in it */
	RULE_LEAF, /* each cgroup below it, or itself, that has none in it */
};

struct rule_words {
	u32 n; /* 0: the rule does not have the condition */
	char *text; /* the value, as it is written */
	char *words[RULE_WORDS]; /* of @cut; NULL: numbers count */
	u32 ids[RULE_WORDS];
	char *cut;
};

struct rule {
	char name[RULE_NAME_SIZE];
	struct place place;
	struct rule_words conditions[RULE_CONDITIONS];
	unsigned int lines[16]; /* of each key, in the order of the table; 0: not given */
	bool is_bad; /* one of its lines has an error */
	bool never;
	u32 each; /* enum rule_each */
	u32 flags; /* MTS_JOB_PIN, MTS_JOB_EACH, MTS_JOB_EACH_LEAF */
	bool has_pause;
	u64 max_pause_ns; /* 0: no limit */
	u32 weight; /* 0: not given */
};

/* The key of a condition. */
const char *rule_condition_name(enum rule_condition condition);

/* Checks a name of "rule NAME". Return: false: an error is printed. */
bool rule_begin(struct rule *rule, const struct command *command, const struct place *place,
		const char *name);

/* One KEY=VALUE. Return: false: an error is printed. */
bool rule_key(struct rule *rule, const struct command *command, const struct place *place,
	      const char *key, const char *value);

/* What is wrong with the rule as a whole. Return: false: an error is printed. */
bool rule_end(const struct rule *rule, const struct command *command);

void rule_free(struct rule *rule);

#endif /* MTSCTL_RULE_H */
