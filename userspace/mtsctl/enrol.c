// SPDX-License-Identifier: GPL-2.0
#include "enrol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "add.h"
#include "heed.h"
#include "ipc.h"

/* What has become of a cgroup that is to be a job. */
enum {
	IS_NEW,
	IS_JOB,
	HAS_JOB_BELOW
};

static int by_id(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The jobs that there are. */
static int read_known(struct enrol_ids *known)
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

static bool is_known(const struct enrol_ids *known, u64 id)
{
	return known->n && bsearch(&id, known->ids, known->n, sizeof(id), by_id);
}

/* Return: false: no memory. */
static bool remember(struct enrol_ids *tried, u64 id)
{
	u32 at = tried->n;

	if (is_known(tried, id))
		return true;
	if (tried->n == tried->room) {
		u32 room = tried->room ? 2 * tried->room : 64;
		u64 *more = realloc(tried->ids, room * sizeof(*more));

		if (!more)
			return false;
		tried->ids = more;
		tried->room = room;
	}
	for (; at && tried->ids[at - 1] > id; at--)
		tried->ids[at] = tried->ids[at - 1];
	tried->ids[at] = id;
	tried->n++;
	return true;
}

/* A cgroup that has become empty may become a job again. */
static void forget_empty(struct enrol_ids *tried, const struct tree *tree)
{
	struct enrol_ids alive = { 0 };
	u32 n = 0;

	for (u32 i = 1; i < tree->ncgroups; i++)
		if (tree->cgroups[i].first != tree->cgroups[i].all_end &&
		    is_known(tried, tree->cgroups[i].id) && !remember(&alive, tree->cgroups[i].id))
			goto out;
	for (u32 i = 0; i < tried->n; i++)
		if (is_known(&alive, tried->ids[i]))
			tried->ids[n++] = tried->ids[i];
	tried->n = n;
out:
	free(alive.ids);
}

static int look_up(const struct enrol_ids *known, const struct tree *tree, u32 cgroup)
{
	for (u32 i = cgroup; i; i = tree->cgroups[i].parent)
		if (is_known(known, tree->cgroups[i].id))
			return IS_JOB;
	for (u32 i = cgroup + 1; i < tree->cgroups[cgroup].end; i++)
		if (is_known(known, tree->cgroups[i].id))
			return HAS_JOB_BELOW;
	return IS_NEW;
}

const char *enrol_options(char buf[ENROL_OPTIONS], const struct rule *rule)
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
		used += snprintf(buf + used, ENROL_OPTIONS - used, " --max-pause %s",
				 rule->max_pause_ns ? format_time_exact(pause, rule->max_pause_ns) :
						      "off");
	if (rule->weight)
		snprintf(buf + used, ENROL_OPTIONS - used, " --weight %u", rule->weight);
	return buf;
}

/* Return: an exit status; EXIT_OK also if the cgroup has gone meanwhile. */
static int add_one(const struct enrol_how *how, const struct rule *rule, const char *path,
		   const char *dir, u32 *no_room)
{
	const struct add_wish wish = { .flags = rule->flags,
				       .has_pause = rule->has_pause,
				       .max_pause_ns = rule->max_pause_ns,
				       .users_pause_ns = how->users_pause_ns,
				       .weight = rule->weight,
				       .no_room = no_room };
	struct stat st;
	int ret;

	if (stat(dir, &st))
		return EXIT_OK;
	ret = add_cgroup(dir, &wish);
	if (!ret && !(rule->flags & MTS_JOB_PIN))
		heed_container(how->command, path, rule->has_pause, how->users_pause_ns,
			       how->heed_until_ns);
	return ret && stat(dir, &st) ? EXIT_OK : ret;
}

static void say_one(const struct rule *rule, const char *dir)
{
	char name[PATH_MAX], options[ENROL_OPTIONS];

	printf("would add%s %s by rule %s\n", enrol_options(options, rule),
	       format_name(name, sizeof(name), dir), rule->name);
}

/* For --dry-run: what a rule would take, if it was not excluded. */
static void say_excluded(const struct conf *conf, const struct tree *tree, u32 cgroup,
			 const struct decision *d)
{
	char why[EXCLUSION_TEXT], name[PATH_MAX];

	format_name(name, sizeof(name), tree->cgroups[cgroup].path);
	if (d->has_watchdog) {
		if (decide_watchdog(conf, tree, cgroup, conf->rules[d->owner - 1], why))
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

struct counts {
	u32 added, known, failed;
	u32 no_room; /* how often there were too many jobs for more: the first is said */
};

/* Return: an exit status. */
static int enrol_one(const struct rule *rule, const struct tree *tree, u32 cgroup,
		     const struct enrol_ids *known, const struct enrol_how *how,
		     struct counts *counts)
{
	int state = look_up(known, tree, cgroup), ret = EXIT_OK;
	u64 id = tree->cgroups[cgroup].id;
	u32 before = counts->no_room;
	char dir[PATH_MAX];

	if ((how->tried && is_known(how->tried, id)) || decide_dir(tree, cgroup, dir))
		return EXIT_OK;
	counts->known += state == IS_JOB;
	if (state == HAS_JOB_BELOW)
		complain("rules: %s: there is a job below it already: 'mtsctl remove' that, and "
			 "this becomes one",
			 dir);
	if (state == IS_NEW && how->dry)
		say_one(rule, dir);
	else if (state == IS_NEW)
		ret = add_one(how, rule, tree->cgroups[cgroup].path, dir, &counts->no_room);
	/* It may become one later. */
	if (how->tried && counts->no_room == before && !remember(how->tried, id))
		return device_failed("rules watch", ENOMEM);
	counts->added += state == IS_NEW && !ret;
	counts->failed += !!ret;
	return ret;
}

static void say_counts(const struct counts *counts, bool dry)
{
	printf("%u %s, %u %s already", counts->added, dry ? "would be added" : "added",
	       counts->known, counts->known == 1 ? "is a job" : "are jobs");
	if (counts->failed)
		printf(", %u failed", counts->failed);
	printf("\n");
}

int enrol_all(const struct conf *conf, const struct tree *tree, const struct decision *all,
	      const struct enrol_how *how)
{
	struct enrol_ids known = { 0 };
	struct counts counts = { .no_room = how->tried && how->tried->is_full };
	const u32 said = counts.no_room;
	int ret, worst = EXIT_OK;

	/* To say what would be done the module need not be there: then nothing is a job yet. */
	if (!how->dry || !ipc_open()) {
		worst = how->dry ? EXIT_OK : device_open();
		if (!worst)
			worst = read_known(&known);
		if (worst)
			return worst;
	}
	if (how->tried)
		forget_empty(how->tried, tree);
	for (u32 i = 1; i < tree->ncgroups && worst != EXIT_PERMISSION; i++) {
		if (how->dry)
			say_excluded(conf, tree, i, &all[i]);
		if (!all[i].is_job)
			continue;
		/* Those that follow have no room either. */
		if (counts.no_room > said) {
			counts.failed++;
			continue;
		}
		ret = enrol_one(conf->rules[all[i].owner - 1], tree, i, &known, how, &counts);
		worst = ret > worst ? ret : worst;
	}
	free(known.ids);
	if (how->tried)
		how->tried->is_full = counts.no_room > said;
	else
		say_counts(&counts, how->dry);
	return worst;
}
