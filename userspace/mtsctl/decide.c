// SPDX-License-Identifier: GPL-2.0
#include "decide.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "container.h"
#include "format.h"
#include "glob.h"
#include "host.h"
#include "unit.h"

#define COMM_LENGTH 15 /* the kernel cuts a longer name of a command */

/* The text is written only if it is wanted. */
__attribute__((format(printf, 2, 3))) static void say(char *why, const char *format, ...)
{
	va_list args;

	if (!why)
		return;
	va_start(args, format);
	vsnprintf(why, DECIDE_TEXT, format, args);
	va_end(args);
}

/* ---- where: cgroup=, unit= and container= ---------------------------------------------------- */

static bool match_any(const struct rule_words *words, const char *text,
		      bool (*match)(const char *pattern, const char *text))
{
	for (u32 i = 0; i < words->n; i++)
		if (match(words->words[i], text))
			return true;
	return false;
}

/* Its engine may forget a container while the tree is looked at: then its name is not known. */
static bool is_container(const struct rule_words *words, const char *path, char *why)
{
	char name[CONTAINER_NAME_SIZE];
	struct container container;

	if (!words->n)
		return true;
	if (!container_of_path(path, &container)) {
		say(why, "container=%s: it is in no container", words->text);
		return false;
	}
	if (!container_name(path, name)) {
		say(why, "container=%s: the name of container %.*s is not known", words->text,
		    CONTAINER_ID_SHORT, container.id);
		return false;
	}
	if (match_any(words, name, glob_word))
		return true;
	say(why, "container=%s does not match its container %s", words->text, name);
	return false;
}

static bool is_here(const struct tree *tree, const struct rule *rule, u32 cgroup, char *why)
{
	const struct rule_words *globs = &rule->conditions[RULE_CGROUP];
	const struct rule_words *units = &rule->conditions[RULE_UNIT];
	const struct rule_words *containers = &rule->conditions[RULE_CONTAINER];
	const struct tree_cgroup *c = &tree->cgroups[cgroup];
	char unit[NAME_MAX + 1];

	if (globs->n && !match_any(globs, c->path + 1, glob_path)) {
		say(why, "cgroup=%s does not match its path", globs->text);
		return false;
	}
	if (units->n && !unit_of_path(c->path, unit)) {
		say(why, "unit=%s: it is in no unit", units->text);
		return false;
	}
	if (units->n && !match_any(units, unit, glob_word)) {
		say(why, "unit=%s does not match its unit %s", units->text, unit);
		return false;
	}
	if (!globs->n && !units->n && !containers->n && c->first == c->own_end) {
		say(why, "without cgroup=, unit= and container= a rule takes only cgroups with "
			 "processes of their own, not below them");
		return false;
	}
	return is_container(containers, c->path, why);
}

/* ---- its processes: user=, group= and command= -------------------------------------------- */

static bool has_id(const struct rule_words *words, u32 id)
{
	for (u32 i = 0; i < words->n; i++)
		if (words->ids[i] == id && id != TREE_NO_ID)
			return true;
	return false;
}

static bool is_user(const struct rule_words *words, const struct tree_process *process)
{
	return has_id(words, process->uid);
}

static bool is_group(const struct rule_words *words, const struct tree_process *process)
{
	return has_id(words, process->gid) || tree_process_has_group(process, words->ids, words->n);
}

/* The name of the program, which the kernel does not cut. */
static bool exe_matches(const struct rule_words *words, pid_t pid)
{
	char link[PATH_MAX], exe[PATH_MAX];
	const char *name;
	ssize_t length;

	if (snprintf(link, sizeof(link), "%s/%d/exe", host_proc(), pid) >= (int)sizeof(link))
		return false;
	length = readlink(link, exe, sizeof(exe) - 1);
	if (length < 0)
		return false;
	exe[length] = '\0';
	name = strrchr(exe, '/');
	return match_any(words, name ? name + 1 : exe, glob_word);
}

static bool is_command(const struct rule_words *words, const struct tree_process *process)
{
	return match_any(words, process->comm, glob_word) ||
	       (strlen(process->comm) == COMM_LENGTH && exe_matches(words, process->pid));
}

static const struct {
	enum rule_condition condition;
	bool (*holds)(const struct rule_words *words, const struct tree_process *process);
} of_processes[] = {
	{ RULE_USER, is_user },
	{ RULE_GROUP, is_group },
	{ RULE_COMMAND, is_command },
};

/* One process for each condition. Return: false: of one there is none. */
static bool has_processes(const struct tree *tree, const struct rule *rule, u32 cgroup, char *why)
{
	const struct tree_cgroup *c = &tree->cgroups[cgroup];

	for (size_t k = 0; k < sizeof(of_processes) / sizeof(of_processes[0]); k++) {
		const struct rule_words *words = &rule->conditions[of_processes[k].condition];
		u32 i = c->first;

		while (words->n && i < c->all_end &&
		       !of_processes[k].holds(words, &tree->processes[i]))
			i++;
		if (!words->n || i < c->all_end)
			continue;
		say(why, "%s=%s: none of its processes has it",
		    rule_condition_name(of_processes[k].condition), words->text);
		return false;
	}
	return true;
}

/* ---- a rule --------------------------------------------------------------------------------- */

/* The cgroup, or one above it, that cgroup=, unit= and container= name. */
static bool is_below(const struct tree *tree, const struct rule *rule, u32 cgroup, char *why)
{
	for (u32 i = cgroup; i; i = tree->cgroups[i].parent)
		if (is_here(tree, rule, i, i == cgroup ? why : NULL))
			return true;
	return false;
}

static bool is_where(const struct tree *tree, const struct rule *rule, u32 cgroup, char *why)
{
	const struct tree_cgroup *c = &tree->cgroups[cgroup];

	/* What is below a cgroup that never is a job never is one either. */
	if (rule->never)
		return is_below(tree, rule, cgroup, why);
	if (rule->each == RULE_SELF)
		return is_here(tree, rule, cgroup, why);
	if (rule->each == RULE_LEAF && c->has_children) {
		say(why, "each=leaf: there are cgroups below it");
		return false;
	}
	if (rule->each == RULE_LEAF)
		return is_below(tree, rule, cgroup, why);
	if (c->parent && is_here(tree, rule, c->parent, NULL))
		return true;
	say(why, "each=child: the cgroup above it does not match");
	return false;
}

bool decide_takes(const struct tree *tree, const struct rule *rule, u32 cgroup,
		  char why[DECIDE_TEXT])
{
	const struct tree_cgroup *c = &tree->cgroups[cgroup];

	if (!cgroup) {
		say(why, "the root cgroup holds the whole host");
		return false;
	}
	if (c->first == c->all_end) {
		say(why, "no process is in it or below it");
		return false;
	}
	if (!is_where(tree, rule, cgroup, why) || !has_processes(tree, rule, cgroup, why))
		return false;
	say(why, "all of its conditions hold");
	return true;
}

/* The longest pause of a job of the rule. */
static u64 pause_of(const struct conf *conf, const struct rule *rule)
{
	if (rule->has_pause)
		return rule->max_pause_ns; /* 0: the watchdog is to be ignored */
	if (conf->config.mask & MTS_CONFIG_MAX_PAUSE && conf->config.max_pause_ns)
		return conf->config.max_pause_ns;
	return MTS_PAUSE_UNATTENDED_NS;
}

int decide_dir(const struct tree *tree, u32 cgroup, char dir[PATH_MAX])
{
	return snprintf(dir, PATH_MAX, "%s%s", host_cgroups(), tree->cgroups[cgroup].path) <
			       PATH_MAX ?
		       0 :
		       -ENAMETOOLONG;
}

bool decide_watchdog(const struct conf *conf, const struct tree *tree, u32 cgroup,
		     const struct rule *rule, char why[EXCLUSION_TEXT])
{
	char dir[PATH_MAX];

	return !decide_dir(tree, cgroup, dir) &&
	       exclusion_by_watchdog(dir, pause_of(conf, rule), why);
}

/* ---- all of them --------------------------------------------------------------------------- */

static u32 owner_of(const struct conf *conf, const struct tree *tree, u32 cgroup)
{
	char why[EXCLUSION_TEXT];

	if (exclusion_find(tree, cgroup, conf->exclusions, why))
		return OWNER_EXCLUDED;
	for (u32 i = 0; i < conf->nrules; i++)
		if (decide_takes(tree, conf->rules[i], cgroup, NULL))
			return OWNER_RULE(i);
	return OWNER_NONE;
}

/* Read only of what else would be a job: it asks for the environment of each process. */
static bool watchdog_kills(const struct conf *conf, const struct tree *tree, u32 cgroup,
			   const struct rule *rule)
{
	char why[EXCLUSION_TEXT];

	return conf->exclusions && !(rule->flags & MTS_JOB_PIN) &&
	       decide_watchdog(conf, tree, cgroup, rule, why);
}

static void decide_one(const struct conf *conf, const struct tree *tree, u32 i,
		       struct decision *all)
{
	struct decision *d = &all[i];

	if (d->owner == OWNER_EXCLUDED || d->owner == OWNER_NONE)
		return;
	for (u32 k = i + 1; k < tree->cgroups[i].end && !d->blocked_by; k++)
		if (all[k].owner < d->owner)
			d->blocked_by = k;
	if (conf->rules[d->owner - 1]->never || d->blocked_by)
		return;
	d->has_watchdog = watchdog_kills(conf, tree, i, conf->rules[d->owner - 1]);
	d->is_job = !d->has_watchdog;
}

struct decision *decide(const struct conf *conf, const struct tree *tree)
{
	struct decision *all = calloc(tree->ncgroups ?: 1, sizeof(*all));

	for (u32 i = 0; all && i < tree->ncgroups; i++) {
		bool is_empty = tree->cgroups[i].first == tree->cgroups[i].all_end;

		all[i].owner = !i || is_empty ? OWNER_NONE : owner_of(conf, tree, i);
	}
	for (u32 i = 1; all && i < tree->ncgroups;) {
		decide_one(conf, tree, i, all);
		i = all[i].is_job ? tree->cgroups[i].end : i + 1;
	}
	return all;
}
