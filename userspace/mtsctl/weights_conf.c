// SPDX-License-Identifier: GPL-2.0
#include "weights_conf.h"

#include <stdio.h>
#include <stdlib.h>

#include "ipc.h"
#include "values.h"

struct weight_line *weights_conf_line(struct weights_conf *conf, const struct command *command,
				      const char *user)
{
	struct weight_line *more;
	u32 id;

	if (value_user(command, "", user, &id))
		return NULL;
	for (u32 i = 0; i < conf->n; i++)
		if (conf->lines[i].user == id)
			return &conf->lines[i];
	more = realloc(conf->lines, (conf->n + 1) * sizeof(*more));
	if (!more) {
		complain("the configuration: out of memory");
		return NULL;
	}
	conf->lines = more;
	more[conf->n] = (struct weight_line){ .user = id };
	return &more[conf->n++];
}

int weights_conf_take(struct weights_conf *conf, const struct command *command,
		      const struct weight_line *line, const char *user, const char *value)
{
	char what[256];
	u32 weight;

	snprintf(what, sizeof(what), "%s=", user);
	if (value_weight(command, what, value, &weight))
		return EXIT_USAGE;
	if (!mts_user_weights_set(&conf->weights, line->user, weight))
		return usage_error(command, "%s=%s: %d users have a weight other than %u already",
				   user, value, MTS_MAX_USERS, MTS_WEIGHT_DEFAULT);
	return EXIT_OK;
}

/* Users that are not in @to first: they make room. Return: 0, or a negative errno. */
static int change(const struct mts_user_weights *from, const struct mts_user_weights *to)
{
	int ret = 0;

	for (u32 i = 0; !ret && i < from->n; i++)
		if (mts_user_weight(to, from->of[i].user) == MTS_WEIGHT_DEFAULT)
			ret = ipc_user_weight(from->of[i].user, MTS_WEIGHT_DEFAULT);
	for (u32 i = 0; !ret && i < to->n; i++)
		if (mts_user_weight(from, to->of[i].user) != to->of[i].weight)
			ret = ipc_user_weight(to->of[i].user, to->of[i].weight);
	return ret;
}

int weights_conf_load(const struct weights_conf *conf, struct mts_user_weights *before)
{
	int ret = ipc_users(before);

	if (!ret)
		ret = change(before, &conf->weights);
	if (!ret)
		return EXIT_OK;
	weights_conf_undo(conf, before);
	return device_failed("config load: weights of users", -ret);
}

void weights_conf_undo(const struct weights_conf *conf, const struct mts_user_weights *before)
{
	change(&conf->weights, before);
}

void weights_conf_free(struct weights_conf *conf)
{
	free(conf->lines);
}
