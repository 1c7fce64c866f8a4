// SPDX-License-Identifier: GPL-2.0
#include "rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts.h"
#include "host.h"
#include "nearest.h"
#include "parse.h"
#include "values.h"

#define BLANKS " \t"

static const struct word yes_words[] = {
	{ "yes", 1, NULL },
	{ "no", 0, NULL },
	{ 0 },
};

static const struct word rule_each_words[] = {
	{ "self", RULE_SELF, NULL },
	{ "child", RULE_CHILD, NULL },
	{ "leaf", RULE_LEAF, NULL },
	{ 0 },
};

/* ---- conditions -------------------------------------------------------------------------- */

static bool out_of_memory(const struct command *command)
{
	usage_error(command, "out of memory");
	return false;
}

/* Cuts the value at its blanks. Return: false: an error is printed. */
static bool take_words(const struct command *command, const char *key, const char *value,
		       struct rule_words *words)
{
	char *rest = NULL;

	words->text = strdup(value);
	words->cut = strdup(value);
	if (!words->text || !words->cut)
		return out_of_memory(command);
	for (char *word = strtok_r(words->cut, BLANKS, &rest); word;
	     word = strtok_r(NULL, BLANKS, &rest)) {
		if (words->n == RULE_WORDS) {
			usage_error(command, "%s= has more than %d words: write another rule", key,
				    RULE_WORDS);
			return false;
		}
		words->words[words->n++] = word;
	}
	return true;
}

/* A pattern as it is compared: without the cgroup root, and without slashes at the ends. */
static char *below_root(char *pattern)
{
	const char *root = host_cgroups();
	size_t length = strlen(root);

	if (!strncmp(pattern, root, length) && strchr("/", pattern[length]))
		pattern += length;
	pattern += strspn(pattern, "/");
	for (char *end = pattern + strlen(pattern); end > pattern && end[-1] == '/'; end--)
		end[-1] = '\0';
	return pattern;
}

static bool has_component(const char *pattern, const char *component)
{
	size_t length = strlen(component);

	for (const char *at = pattern; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (!strncmp(at, component, length) && strchr("/", at[length]))
			return true;
	}
	return false;
}

static bool take_cgroup(struct rule *rule, const struct command *command, const char *value)
{
	struct rule_words *words = &rule->conditions[RULE_CGROUP];

	if (!take_words(command, "cgroup", value, words))
		return false;
	for (u32 i = 0; i < words->n; i++) {
		char *pattern = below_root(words->words[i]);

		words->words[i] = pattern;
		if (!*pattern) {
			usage_error(command,
				    "cgroup=%s: the root cgroup holds the whole host and "
				    "is never a job: name one below it",
				    value);
			return false;
		}
		if (has_component(pattern, ".") || has_component(pattern, "..") ||
		    strstr(pattern, "//")) {
			usage_error(command,
				    "cgroup=%s: no cgroup has such a path: leave out '.', "
				    "'..' and double slashes",
				    value);
			return false;
		}
	}
	return true;
}

/* Names without a slash. @hint: what to write in place of one with it. */
static bool take_names(struct rule *rule, const struct command *command, const char *value,
		       enum rule_condition condition, const char *hint)
{
	struct rule_words *words = &rule->conditions[condition];
	const char *key = rule_condition_name(condition);

	if (!take_words(command, key, value, words))
		return false;
	for (u32 i = 0; i < words->n; i++) {
		if (!strchr(words->words[i], '/'))
			continue;
		usage_error(command, "%s=%s: %s", key, value, hint);
		return false;
	}
	return true;
}

static bool take_unit(struct rule *rule, const struct command *command, const char *value)
{
	return take_names(rule, command, value, RULE_UNIT,
			  "the name of a unit has no slash: cgroup= takes a path");
}

static bool take_container(struct rule *rule, const struct command *command, const char *value)
{
	return take_names(rule, command, value, RULE_CONTAINER,
			  "the name of a container has no slash: cgroup= takes a path");
}

static bool take_command(struct rule *rule, const struct command *command, const char *value)
{
	return take_names(rule, command, value, RULE_COMMAND,
			  "write the name of the program without its directory");
}

static bool take_accounts(struct rule *rule, const struct command *command, const char *value,
			  enum rule_condition condition, bool (*find)(const char *, u32 *))
{
	struct rule_words *words = &rule->conditions[condition];
	const char *key = rule_condition_name(condition);

	if (!take_words(command, key, value, words))
		return false;
	for (u32 i = 0; i < words->n; i++) {
		if (find(words->words[i], &words->ids[i]))
			continue;
		usage_error(command,
			    "%s=%s: this host has no %s '%s': write its name or its "
			    "number",
			    key, value, key, words->words[i]);
		return false;
	}
	return true;
}

static bool take_user(struct rule *rule, const struct command *command, const char *value)
{
	return take_accounts(rule, command, value, RULE_USER, account_user);
}

static bool take_group(struct rule *rule, const struct command *command, const char *value)
{
	return take_accounts(rule, command, value, RULE_GROUP, account_group);
}

/* ---- options ------------------------------------------------------------------------------ */

static bool take_each(struct rule *rule, const struct command *command, const char *value)
{
	return !value_word(command, "each=", value, rule_each_words, &rule->each);
}

static bool take_pin(struct rule *rule, const struct command *command, const char *value)
{
	u32 yes = 0;

	if (value_word(command, "pin=", value, yes_words, &yes))
		return false;
	rule->flags |= yes ? MTS_JOB_PIN : 0;
	return true;
}

static bool take_never(struct rule *rule, const struct command *command, const char *value)
{
	u32 yes = 0;

	if (value_word(command, "never=", value, yes_words, &yes))
		return false;
	rule->never = yes;
	return true;
}

static bool take_pause(struct rule *rule, const struct command *command, const char *value)
{
	rule->has_pause = true;
	return !value_limit(command, "max-pause=", value, &rule->max_pause_ns);
}

static bool take_weight(struct rule *rule, const struct command *command, const char *value)
{
	return !value_weight(command, "weight=", value, &rule->weight);
}

static bool take_processes(struct rule *rule, const struct command *command, const char *value)
{
	static const struct word words[] = {
		{ "leaf", MTS_JOB_EACH_LEAF, NULL },
		{ "child", MTS_JOB_EACH, NULL },
		{ 0 },
	};
	u32 flag;

	if (value_word(command, "each-process=", value, words, &flag))
		return false;
	rule->flags |= flag;
	return true;
}

/* ---- the table ---------------------------------------------------------------------------- */

/* The conditions come first, in the order of enum rule_condition. */
static const struct {
	const char *key;
	bool (*take)(struct rule *rule, const struct command *command, const char *value);
} keys[] = {
	{ "cgroup", take_cgroup },
	{ "unit", take_unit },
	{ "container", take_container },
	{ "user", take_user },
	{ "group", take_group },
	{ "command", take_command },
	{ "each", take_each },
	{ "each-process", take_processes },
	{ "pin", take_pin },
	{ "max-pause", take_pause },
	{ "weight", take_weight },
	{ "never", take_never },
};

#define N_KEYS (sizeof(keys) / sizeof(keys[0]))
#define KEYS_TEXT                                                                             \
	"cgroup, unit, container, user, group, command, each, each-process, pin, max-pause, " \
	"weight or never"

_Static_assert(N_KEYS <= sizeof(((struct rule *)0)->lines) / sizeof(unsigned int), "lines");

const char *rule_condition_name(enum rule_condition condition)
{
	return keys[condition].key;
}

bool rule_begin(struct rule *rule, const struct command *command, const struct place *place,
		const char *name)
{
	const char *wrong = parse_job_name(name);

	*rule = (struct rule){ .place = *place };
	if (strlen(name) >= RULE_NAME_SIZE) {
		usage_error(command, "the name of a rule has at most %d bytes", RULE_NAME_SIZE - 1);
		return false;
	}
	strcpy(rule->name, name);
	if (wrong)
		usage_error(command, "the name of rule '%s': %s", name, wrong);
	return !wrong;
}

static void unknown_key(const struct command *command, const char *key)
{
	const char *names[N_KEYS + 1] = { NULL }, *near;

	for (size_t i = 0; i < N_KEYS; i++)
		names[i] = keys[i].key;
	near = nearest(key, names);
	if (near)
		usage_error(command, "unknown key '%s': is it %s? Keys of a rule are " KEYS_TEXT,
			    key, near);
	else
		usage_error(command, "unknown key '%s': keys of a rule are " KEYS_TEXT, key);
}

bool rule_key(struct rule *rule, const struct command *command, const struct place *place,
	      const char *key, const char *value)
{
	size_t i = 0;

	while (i < N_KEYS && strcmp(keys[i].key, key))
		i++;
	if (i == N_KEYS) {
		unknown_key(command, key);
		return false;
	}
	if (rule->lines[i]) {
		usage_error(command,
			    "%s is given twice in this rule, first in line %u: write all "
			    "words in one line, or another rule",
			    key, rule->lines[i]);
		return false;
	}
	rule->lines[i] = place->line;
	if (!*value) {
		usage_error(command, "%s=: a value is missing", key);
		return false;
	}
	return keys[i].take(rule, command, value);
}

bool rule_end(const struct rule *rule, const struct command *command)
{
	unsigned int conditions = 0, options = 0;

	for (size_t i = 0; i < N_KEYS; i++) {
		if (i < RULE_CONDITIONS)
			conditions += !!rule->lines[i];
		else if (keys[i].take != take_never)
			options += !!rule->lines[i];
	}
	if (!conditions) {
		usage_error(command,
			    "rule %s has no condition: write one of cgroup, unit, "
			    "container, user, group and command; cgroup=** is every cgroup",
			    rule->name);
		return false;
	}
	if (rule->never && options) {
		usage_error(command, "rule %s: never=yes makes no job: leave out the other options",
			    rule->name);
		return false;
	}
	if (rule->each != RULE_SELF && !rule->lines[RULE_CGROUP] && !rule->lines[RULE_UNIT] &&
	    !rule->lines[RULE_CONTAINER]) {
		usage_error(command,
			    "rule %s: each=%s takes what is below a cgroup: name that with "
			    "cgroup=, unit= or container=",
			    rule->name, word_of(rule_each_words, rule->each));
		return false;
	}
	return true;
}

void rule_free(struct rule *rule)
{
	for (u32 i = 0; i < RULE_CONDITIONS; i++) {
		free(rule->conditions[i].text);
		free(rule->conditions[i].cut);
	}
}
