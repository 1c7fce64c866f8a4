// SPDX-License-Identifier: GPL-2.0
#include "enrol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "add.h"
#include "ipc.h"

/* The jobs that there are, by the ids of their cgroups, sorted. */
struct known {
	u64 *ids;
	u32 n;
};

/* What has become of a cgroup that is to be a job. */
enum { IS_NEW, IS_JOB, HAS_JOB_BELOW };

static int by_id(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static int read_known(struct known *known)
{
	struct mts_job_info *jobs = NULL;
	u64 generation;
	u32 count;
	int ret = ipc_jobs(&jobs, &count, &generation);

	if (ret)
		return device_failed("rules apply", -ret);
	known->ids = calloc(count ?: 1, sizeof(*known->ids));
	if (!known->ids) {
		free(jobs);
		return device_failed("rules apply", ENOMEM);
	}
	for (known->n = 0; known->n < count; known->n++)
		known->ids[known->n] = jobs[known->n].cgroup_id;
	qsort(known->ids, known->n, sizeof(*known->ids), by_id);
	free(jobs);
	return EXIT_OK;
}

static bool is_known(const struct known *known, u64 id)
{
	return known->n && bsearch(&id, known->ids, known->n, sizeof(id), by_id);
}

static int look_up(const struct known *known, const struct tree *tree, u32 cgroup)
{
	for (u32 i = cgroup; i; i = tree->cgroups[i].parent)
		if (is_known(known, tree->cgroups[i].id))
			return IS_JOB;
	for (u32 i = cgroup + 1; i < tree->cgroups[cgroup].end; i++)
		if (is_known(known, tree->cgroups[i].id))
			return HAS_JOB_BELOW;
	return IS_NEW;
}

const char *enrol_options(char buf[3 * FORMAT_SIZE], const struct rule *rule)
{
	char pause[FORMAT_SIZE];
	size_t used = 0;

	buf[0] = '\0';
	if (rule->flags & MTS_JOB_PIN)
		used += sprintf(buf + used, " --pin");
	if (rule->flags & (MTS_JOB_EACH | MTS_JOB_EACH_LEAF))
		used += sprintf(buf + used, " --each=%s",
				rule->flags & MTS_JOB_EACH ? "child" : "leaf");
	if (rule->has_pause)
		snprintf(buf + used, 3 * FORMAT_SIZE - used, " --max-pause %s",
			 rule->max_pause_ns ? format_time_exact(pause, rule->max_pause_ns) : "off");
	return buf;
}

/* Return: an exit status; EXIT_OK also if the cgroup has gone meanwhile. */
static int add_one(const struct rule *rule, const char *dir)
{
	const struct add_wish wish = { .flags = rule->flags,
				       .has_pause = rule->has_pause,
				       .max_pause_ns = rule->max_pause_ns };
	struct stat st;
	int ret;

	if (stat(dir, &st))
		return EXIT_OK;
	ret = add_cgroup(dir, &wish);
	return ret && stat(dir, &st) ? EXIT_OK : ret;
}

static void say_one(const struct rule *rule, const char *dir)
{
	char name[PATH_MAX], options[3 * FORMAT_SIZE];

	printf("would add%s %s by rule %s\n", enrol_options(options, rule),
	       format_name(name, sizeof(name), dir), rule->name);
}

/* For --dry-run: what a rule would take, if it was not excluded. */
static void say_excluded(const struct conf *conf, const struct tree *tree, u32 cgroup,
			 const struct decision *d)
{
	char why[EXCLUSION_TEXT], name[PATH_MAX], dir[PATH_MAX];

	format_name(name, sizeof(name), tree->cgroups[cgroup].path);
	if (d->has_watchdog) {
		if (!decide_dir(tree, cgroup, dir) &&
		    exclusion_by_watchdog(dir, decide_pause(conf, conf->rules[d->owner - 1]), why))
			printf("excluded %s: %s\n", name, why);
		return;
	}
	if (d->owner != OWNER_EXCLUDED || !exclusion_find(tree, cgroup, conf->exclusions, why))
		return;
	for (u32 i = 0; i < conf->nrules; i++) {
		if (conf->rules[i]->never || !decide_takes(tree, conf->rules[i], cgroup, NULL))
			continue;
		printf("excluded %s: %s\n", name, why);
		return;
	}
}

int enrol_all(const struct conf *conf, const struct tree *tree, const struct decision *all,
	      bool dry)
{
	u32 added = 0, known_jobs = 0, failed = 0;
	struct known known = { 0 };
	int ret, worst = EXIT_OK;
	char dir[PATH_MAX];

	/* Without the module nothing is a job yet. */
	if (!dry || !ipc_open()) {
		worst = dry ? EXIT_OK : device_open();
		if (!worst)
			worst = read_known(&known);
		if (worst)
			return worst;
	}
	for (u32 i = 1; i < tree->ncgroups && worst != EXIT_PERMISSION; i++) {
		const struct rule *rule;
		int state;

		if (dry)
			say_excluded(conf, tree, i, &all[i]);
		if (!all[i].is_job || decide_dir(tree, i, dir))
			continue;
		rule = conf->rules[all[i].owner - 1];
		state = look_up(&known, tree, i);
		known_jobs += state == IS_JOB;
		if (state == HAS_JOB_BELOW)
			complain("rules: %s: there is a job below it already: 'mtsctl remove' it, and "
				 "this becomes one",
				 dir);
		if (state != IS_NEW)
			continue;
		ret = EXIT_OK;
		if (dry)
			say_one(rule, dir);
		else
			ret = add_one(rule, dir);
		added += !ret;
		failed += !!ret;
		worst = ret > worst ? ret : worst;
	}
	free(known.ids);
	printf("%u %s, %u %s already", added, dry ? "would be added" : "added", known_jobs,
	       known_jobs == 1 ? "is a job" : "are jobs");
	if (failed)
		printf(", %u failed", failed);
	printf("\n");
	return worst;
}
