// SPDX-License-Identifier: GPL-2.0
#include "conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf_file.h"
#include "conf_files.h"
#include "host.h"
#include "nearest.h"

enum section {
	IN_MTS,
	IN_RULES,
	IN_RULE,
	IN_HOOKS,
	IN_USERS,
	IN_WEIGHTS,
	IN_NONE /* of an unknown one */
};

/* While a file is read. */
struct state {
	struct conf *conf;
	struct command command; /* with the line that is read */
	const char *file;
	enum section section;
	struct rule *rule; /* of IN_RULE */
};

static int out_of_memory(void)
{
	complain("the configuration: out of memory");
	return EXIT_FAILED;
}

/* Return: false: no memory. */
static bool list_add(void ***list, u32 *n, void *entry)
{
	void **more = realloc(*list, (*n + 1) * sizeof(**list));

	if (!more || !entry)
		return false;
	*list = more;
	more[(*n)++] = entry;
	return true;
}

/* ---- sections and keys ------------------------------------------------------------------- */

static bool end_rule(struct state *s)
{
	bool is_good = true;

	if (!s->rule)
		return true;
	s->command.place = &s->rule->place;
	if (!s->rule->is_bad)
		is_good = rule_end(s->rule, &s->command);
	s->rule = NULL;
	return is_good;
}

static bool begin_rule(struct state *s, const struct place *place, const char *name)
{
	struct rule *rule = calloc(1, sizeof(*rule));
	struct conf *conf = s->conf;
	bool is_good = rule && rule_begin(rule, &s->command, place, name);

	for (u32 i = 0; is_good && i < conf->nrules; i++) {
		const struct rule *other = conf->rules[i];

		if (strcmp(other->name, name))
			continue;
		usage_error(&s->command, "there is a rule %s in %s:%u: choose another name", name,
			    other->place.file, other->place.line);
		is_good = false;
	}
	if (!rule || !list_add((void ***)&conf->rules, &conf->nrules, rule)) {
		free(rule);
		out_of_memory();
		return false;
	}
	s->section = IN_RULE;
	s->rule = rule;
	return is_good;
}

static bool unknown_section(struct state *s, const char *name)
{
	static const char *const names[] = { "mts", "rules", "hooks", "users", "weights", NULL };
	const char *near = nearest(name, names);

	s->section = IN_NONE;
	if (!strcmp(name, "rule"))
		usage_error(&s->command, "the rule has no name: write [rule NAME]");
	else if (near)
		usage_error(&s->command, "unknown section [%s]: is it [%s]?", name, near);
	else
		usage_error(&s->command,
			    "unknown section [%s]: there are [mts], [rules], [hooks], [users], "
			    "[weights] and [rule NAME]",
			    name);
	return false;
}

static bool on_section(void *user, const struct place *place, const char *name)
{
	struct state *s = user;
	bool is_good = end_rule(s);

	s->command.place = place;
	if (!strcmp(name, "mts"))
		s->section = IN_MTS;
	else if (!strcmp(name, "rules"))
		s->section = IN_RULES;
	else if (!strcmp(name, "hooks"))
		s->section = IN_HOOKS;
	else if (!strcmp(name, "users"))
		s->section = IN_USERS;
	else if (!strcmp(name, "weights"))
		s->section = IN_WEIGHTS;
	else if (!strncmp(name, "rule", 4) && strchr(" \t", name[4]) && name[4])
		is_good &= begin_rule(s, place, name + 4 + strspn(name + 4, " \t"));
	else
		is_good = unknown_section(s, name);
	return is_good;
}

/* In the same file. */
static bool is_twice(struct state *s, const char *key, const struct place *before)
{
	if (before->file != s->file)
		return false;
	usage_error(&s->command, "%s is given twice in this file, first in line %u: remove one",
		    key, before->line);
	return true;
}

static bool take_setting(struct state *s, const struct place *place, const char *key,
			 const char *value)
{
	const struct setting *setting = setting_find(key, strlen(key));
	struct conf *conf = s->conf;
	struct place *origin;
	const char *near;

	if (!setting) {
		near = setting_nearest(key);
		if (near)
			usage_error(&s->command, "unknown key '%s': is it %s? Keys of [mts] are %s",
				    key, near, setting_keys());
		else
			usage_error(&s->command, "unknown key '%s': keys of [mts] are %s", key,
				    setting_keys());
		return false;
	}
	origin = &conf->origins[setting - settings];
	if (is_twice(s, key, origin) || setting->take(&s->command, value, &conf->config))
		return false;
	conf->config.mask |= setting->bit;
	*origin = *place;
	return true;
}

static bool take_exclusions(struct state *s, const struct place *place, const char *key,
			    const char *value)
{
	struct conf *conf = s->conf;

	if (strcmp(key, "exclusions")) {
		usage_error(&s->command,
			    "unknown key '%s': the only key of [rules] is exclusions. "
			    "A rule has a section [rule NAME]",
			    key);
		return false;
	}
	if (is_twice(s, key, &conf->exclusions_origin))
		return false;
	if (strcmp(value, "on") && strcmp(value, "off")) {
		usage_error(&s->command, "exclusions=%s: not one of on or off", value);
		return false;
	}
	conf->exclusions = !strcmp(value, "on");
	conf->exclusions_origin = *place;
	return true;
}

static bool take_hooks(struct state *s, const struct place *place, const char *key,
		       const char *value)
{
	struct hooks_conf *hooks = &s->conf->hooks;
	struct place *origin = hooks_conf_origin(hooks, key);

	if (!origin) {
		usage_error(&s->command, "unknown key '%s': keys of [hooks] are " HOOKS_KEYS, key);
		return false;
	}
	if (is_twice(s, key, origin) || hooks_conf_take(hooks, &s->command, key, value))
		return false;
	*origin = *place;
	return true;
}

static bool take_weight(struct state *s, const struct place *place, const char *key,
			const char *value)
{
	struct weights_conf *weights = &s->conf->weights;
	struct weight_line *line = weights_conf_line(weights, &s->command, key);

	if (!line || is_twice(s, key, &line->place) ||
	    weights_conf_take(weights, &s->command, line, key, value))
		return false;
	line->place = *place;
	return true;
}

static bool take_users(struct state *s, const struct place *place, const char *key,
		       const char *value)
{
	struct users_conf *users = &s->conf->users;
	struct place *origin = users_conf_origin(users, key);
	const char *wrong;

	if (!origin) {
		usage_error(&s->command, "unknown key '%s': keys of [users] are " USERS_KEYS, key);
		return false;
	}
	if (is_twice(s, key, origin))
		return false;
	wrong = users_conf_take(users, key, value);
	if (wrong) {
		usage_error(&s->command, "%s=%s: %s", key, value, wrong);
		return false;
	}
	*origin = *place;
	return true;
}

static bool on_key(void *user, const struct place *place, const char *key, const char *value)
{
	struct state *s = user;
	bool is_good = true; /* of an unknown section, which has been an error */

	s->command.place = place;
	if (s->section == IN_MTS)
		is_good = take_setting(s, place, key, value);
	else if (s->section == IN_RULES)
		is_good = take_exclusions(s, place, key, value);
	else if (s->section == IN_HOOKS)
		is_good = take_hooks(s, place, key, value);
	else if (s->section == IN_USERS)
		is_good = take_users(s, place, key, value);
	else if (s->section == IN_WEIGHTS)
		is_good = take_weight(s, place, key, value);
	else if (s->section == IN_RULE)
		is_good = rule_key(s->rule, &s->command, place, key, value);
	if (s->rule)
		s->rule->is_bad |= !is_good;
	return is_good;
}

/* ---- files ---------------------------------------------------------------------------------- */

struct all {
	struct conf *conf;
	const struct command *command;
};

static int read_one(struct conf *conf, const struct command *command, const char *path)
{
	struct state state = { .conf = conf, .command = *command, .section = IN_NONE };
	struct conf_events events = { .section = on_section, .key = on_key, .user = &state };
	char *file = strdup(path);
	int ret;

	if (!list_add((void ***)&conf->files, &conf->nfiles, file)) {
		free(file);
		return out_of_memory();
	}
	state.file = file;
	ret = conf_file_read(file, &events, &conf->errors);
	conf->errors += !end_rule(&state);
	return ret;
}

static int read_next(void *user, const char *path)
{
	const struct all *all = user;

	return read_one(all->conf, all->command, path);
}

/* Values that are good by themselves. */
static int check_together(struct conf *conf, const struct command *command)
{
	const struct setting *min = setting_find("min_slice", strlen("min_slice"));
	struct command at = *command;

	at.place = &conf->origins[min - settings];
	return settings_check(&at, &conf->config, 0);
}

int conf_read(struct conf *conf, const struct command *command, const char *file)
{
	struct all all = { conf, command };
	int ret;

	*conf = (struct conf){ .exclusions = true,
			       .hooks = HOOKS_CONF_DEFAULT,
			       .users = USERS_CONF_DEFAULT };
	ret = file ? read_one(conf, command, file) :
		     conf_files_each(host_config(), read_next, &all);
	if (!ret && !conf->errors && check_together(conf, command))
		conf->errors++;
	return ret ?: conf->errors ? EXIT_USAGE : EXIT_OK;
}

void conf_free(struct conf *conf)
{
	for (u32 i = 0; i < conf->nrules; i++) {
		rule_free(conf->rules[i]);
		free(conf->rules[i]);
	}
	for (u32 i = 0; i < conf->nfiles; i++)
		free(conf->files[i]);
	weights_conf_free(&conf->weights);
	free(conf->rules);
	free(conf->files);
}

const char *conf_summary(const struct conf *conf)
{
	u32 n = __builtin_popcount(conf->config.mask), weights = conf->weights.n;
	static char text[128];
	int used;

	used = snprintf(text, sizeof(text), "%u file%s: %u setting%s, %u rule%s", conf->nfiles,
			conf->nfiles == 1 ? "" : "s", n, n == 1 ? "" : "s", conf->nrules,
			conf->nrules == 1 ? "" : "s");
	if (weights)
		snprintf(text + used, sizeof(text) - used, ", %u weight%s", weights,
			 weights == 1 ? "" : "s");
	return text;
}
