// SPDX-License-Identifier: GPL-2.0
/* mtsctl rules check, explain, apply, watch and heed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "conf.h"
#include "decide.h"
#include "enrol.h"
#include "format.h"
#include "heed.h"
#include "ipc.h"
#include "mtsctl.h"
#include "parse.h"
#include "rules.h"

#define LABEL 18

/* @tree, @all: not for watch, which looks again and again. */
struct rules {
	struct conf conf;
	struct tree tree;
	struct decision *all;
};

/* What there is now. */
static int look(struct rules *rules)
{
	int ret = tree_read(&rules->tree);

	if (ret) {
		complain("rules: the cgroups of this host cannot be read: %s", strerror(-ret));
		return ret == -EACCES ? EXIT_PERMISSION : EXIT_FAILED;
	}
	rules->all = decide(&rules->conf, &rules->tree);
	return rules->all ? EXIT_OK : device_failed("rules", ENOMEM);
}

static void end(struct rules *rules)
{
	free(rules->all);
	tree_free(&rules->tree);
	conf_free(&rules->conf);
}

/* ---- check ------------------------------------------------------------------------------- */

static u32 jobs_of(const struct rules *rules, u32 rule)
{
	u32 n = 0;

	for (u32 i = 0; i < rules->tree.ncgroups; i++)
		n += rules->all[i].is_job && rules->all[i].owner == OWNER_RULE(rule);
	return n;
}

/* That a rule would take. */
static u32 excluded(const struct rules *rules)
{
	u32 n = 0;

	for (u32 i = 0; i < rules->tree.ncgroups; i++) {
		bool takes = rules->all[i].has_watchdog;

		for (u32 k = 0;
		     rules->all[i].owner == OWNER_EXCLUDED && !takes && k < rules->conf.nrules; k++)
			takes = decide_takes(&rules->tree, rules->conf.rules[k], i, NULL);
		n += takes;
	}
	return n;
}

static int check(const struct rules *rules)
{
	const struct conf *conf = &rules->conf;
	u32 n;

	printf("%s; no error\n", conf_summary(conf));
	for (u32 i = 0; i < conf->nrules; i++) {
		const struct rule *rule = conf->rules[i];

		n = jobs_of(rules, i);
		if (rule->never)
			printf("  %-*s keeps what it matches from being a job\n", LABEL,
			       rule->name);
		else
			printf("  %-*s takes %u cgroup%s now\n", LABEL, rule->name, n,
			       n == 1 ? "" : "s");
	}
	n = excluded(rules);
	if (n)
		printf("  %-*s %u cgroup%s that a rule would take: 'mtsctl rules apply --dry-run' "
		       "says which\n",
		       LABEL, "excluded", n, n == 1 ? "" : "s");
	return EXIT_OK;
}

/* ---- explain ------------------------------------------------------------------------------- */

/* A process's cgroup, or one that is named. Return: an exit status. */
static int find_cgroup(const struct rules *rules, const char *text, u32 *cgroup)
{
	char dir[PATH_MAX], path[PATH_MAX];
	u64 id;
	pid_t pid;
	int ret;

	if (!parse_pid(text, &pid)) {
		ret = cgroup_of_process(pid, path);
		if (!ret && tree_find(&rules->tree, path, cgroup))
			return EXIT_OK;
		if (ret == -ESRCH)
			complain("rules explain: no process %d", pid);
		else
			complain("rules explain: the cgroup of process %d is not among those of "
				 "this host",
				 pid);
		return EXIT_FAILED;
	}
	ret = cgroup_dir(text, dir);
	if (!ret)
		ret = cgroup_dir_id(dir, &id);
	for (*cgroup = 0; !ret && *cgroup < rules->tree.ncgroups; (*cgroup)++)
		if (rules->tree.cgroups[*cgroup].id == id)
			return EXIT_OK;
	complain(
		"rules explain: %s: %s: name a process by its id, or a cgroup by its path, such as "
		"user.slice/my.scope",
		text, ret ? strerror(-ret) : "no such cgroup");
	return EXIT_FAILED;
}

static void explain_exclusion(const struct rules *rules, u32 cgroup)
{
	const struct conf *conf = &rules->conf;
	const struct decision *d = &rules->all[cgroup];
	char why[EXCLUSION_TEXT];

	if (exclusion_find(&rules->tree, cgroup, conf->exclusions, why) ||
	    (d->has_watchdog &&
	     decide_watchdog(conf, &rules->tree, cgroup, conf->rules[d->owner - 1], why)))
		printf("  %-*s yes: %s\n", LABEL, "excluded", why);
	else
		printf("  %-*s no%s\n", LABEL, "excluded",
		       conf->exclusions ? "" : " (exclusions=off)");
}

static void explain_rules(const struct rules *rules, u32 cgroup)
{
	char why[DECIDE_TEXT], clean[DECIDE_TEXT];

	for (u32 i = 0; i < rules->conf.nrules; i++) {
		bool takes = decide_takes(&rules->tree, rules->conf.rules[i], cgroup, why);

		format_text(clean, sizeof(clean), why);
		printf("  %-*s %s: %s\n", LABEL, rules->conf.rules[i]->name, takes ? "yes" : "no",
		       clean);
	}
}

/* Of a cgroup that takes no part in a job. */
static void explain_none(const struct rules *rules, u32 cgroup)
{
	const struct decision *d = &rules->all[cgroup];
	char path[PATH_MAX], why[EXCLUSION_TEXT];
	const struct rule *rule;

	printf("  %-*s no job: ", LABEL, "result");
	if (d->owner == OWNER_EXCLUDED || d->has_watchdog) {
		printf("it is excluded before all rules\n");
		return;
	}
	if (d->owner == OWNER_NONE) {
		printf("no rule takes it\n");
		return;
	}
	rule = rules->conf.rules[d->owner - 1];
	if (rule->never) {
		printf("rule %s says never=yes\n", rule->name);
		return;
	}
	format_name(path, sizeof(path), rules->tree.cgroups[d->blocked_by].path);
	if (rules->all[d->blocked_by].owner != OWNER_EXCLUDED)
		printf("rule %s takes it, but an earlier rule, %s, has %s below it\n", rule->name,
		       rules->conf.rules[rules->all[d->blocked_by].owner - 1]->name, path);
	else if (exclusion_find(&rules->tree, d->blocked_by, rules->conf.exclusions, why))
		printf("rule %s takes it, but %s below it is excluded: %s\n", rule->name, path,
		       why);
}

static int explain(const struct rules *rules, const char *text)
{
	char name[PATH_MAX], options[ENROL_OPTIONS];
	const struct rule *rule;
	u32 cgroup, job;
	int ret = find_cgroup(rules, text, &cgroup);

	if (ret)
		return ret;
	printf("%s\n", format_name(name, sizeof(name), rules->tree.cgroups[cgroup].path));
	explain_exclusion(rules, cgroup);
	explain_rules(rules, cgroup);
	for (job = cgroup; job && !rules->all[job].is_job; job = rules->tree.cgroups[job].parent)
		;
	if (!job) {
		explain_none(rules, cgroup);
		return EXIT_OK;
	}
	rule = rules->conf.rules[rules->all[job].owner - 1];
	if (job == cgroup)
		printf("  %-*s a job", LABEL, "result");
	else
		printf("  %-*s a part of the job %s", LABEL, "result",
		       format_name(name, sizeof(name), rules->tree.cgroups[job].path));
	printf(" by rule %s%s (%s:%u)\n", rule->name, enrol_options(options, rule),
	       rule->place.file, rule->place.line);
	return EXIT_OK;
}

/* ---- the command line ------------------------------------------------------------------------ */

int rules_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {
		{ "dry-run", no_argument, NULL, 'n' },
		{ "file", required_argument, NULL, 'f' },
		{ 0 },
	};
	const char *file = NULL, *verb, *word;
	struct rules rules;
	struct enrol_how how = { .command = command };
	bool is_check, is_explain, is_watch;
	int opt, ret;

	while ((opt = next_option(command, argc, argv, "", options)) != OPTION_END) {
		if (opt == 'n')
			how.dry = true;
		else if (opt == 'f')
			file = optarg;
		else
			return opt == OPTION_HELP ? EXIT_OK : EXIT_USAGE;
	}
	verb = optind < argc ? argv[optind] : "";
	word = optind + 1 < argc ? argv[optind + 1] : NULL;
	is_check = !strcmp(verb, "check");
	is_explain = !strcmp(verb, "explain");
	is_watch = !strcmp(verb, "watch");
	if (!strcmp(verb, "heed") && word && argc - optind == 2 && !how.dry && !file)
		return heed_main(command, word);
	if (!is_check && !is_explain && !is_watch && strcmp(verb, "apply"))
		return usage_error(command, "'%s': say check, explain, apply or watch", verb);
	if (argc - optind > 2 || (word && !is_check && !is_explain) || (word && file && is_check))
		return usage_error(command, "unexpected '%s'", argv[argc - 1]);
	if (!word && is_explain)
		return usage_error(command, "explain: name a process or a cgroup");
	if (how.dry && strcmp(verb, "apply"))
		return usage_error(command, "--dry-run is for apply");
	rules = (struct rules){ 0 };
	ret = conf_read(&rules.conf, command, is_check && word ? word : file);
	how.users_pause_ns = rules.conf.users.max_pause_ns;
	how.heed_until_ns = heed_until();
	if (!ret && !is_watch)
		ret = look(&rules);
	if (!ret && is_check)
		ret = check(&rules);
	else if (!ret && is_explain)
		ret = explain(&rules, word);
	else if (!ret && is_watch)
		ret = rules_watch(command, &rules.conf, file);
	else if (!ret)
		ret = enrol_all(&rules.conf, &rules.tree, rules.all, &how);
	end(&rules);
	return ret;
}
