// SPDX-License-Identifier: GPL-2.0
#include "users_conf.h"

#include <string.h>

#include "parse.h"

static const char *const keys[] = { "group", "jobs", "pins", "queue", "max_pause" };

_Static_assert(sizeof(keys) / sizeof(keys[0]) == N_USERS_KEYS, "a place for each key");

struct place *users_conf_origin(struct users_conf *conf, const char *key)
{
	for (u32 i = 0; i < N_USERS_KEYS; i++)
		if (!strcmp(keys[i], key))
			return &conf->origins[i];
	return NULL;
}

static const char *take_number(const char *value, u32 *number)
{
	if (strcmp(value, "0"))
		return parse_count(value, MTS_MAX_JOBS, number);
	*number = 0;
	return NULL;
}

static const char *take_group(const char *value, char group[USERS_GROUP_SIZE])
{
	if (!*value)
		return "a name is missing: none is no group at all";
	if (strlen(value) >= USERS_GROUP_SIZE)
		return "too long for the name of a group";
	strcpy(group, strcmp(value, "none") ? value : "");
	return NULL;
}

static const char *take_pause(const char *value, u64 *pause)
{
	const char *wrong;
	u64 ns;

	wrong = parse_time(value, &ns);
	if (wrong)
		return wrong;
	if (ns < MTS_PAUSE_MIN_NS || ns > MTS_PAUSE_MAX_NS)
		return "not within 1s to 24h";
	*pause = ns;
	return NULL;
}

const char *users_conf_take(struct users_conf *conf, const char *key, const char *value)
{
	if (!strcmp(key, "group"))
		return take_group(value, conf->group);
	if (!strcmp(key, "jobs"))
		return take_number(value, &conf->jobs);
	if (!strcmp(key, "pins"))
		return take_number(value, &conf->pins);
	if (!strcmp(key, "queue"))
		return take_number(value, &conf->queue);
	return take_pause(value, &conf->max_pause_ns);
}
