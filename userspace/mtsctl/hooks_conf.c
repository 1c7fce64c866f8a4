// SPDX-License-Identifier: GPL-2.0
#include "hooks_conf.h"

#include <string.h>

#include "values.h"

#define SECOND 1000000000ull
#define TIMEOUT_MIN_NS (100 * 1000000ull) /* a shell needs some ms on a busy host */
#define TIMEOUT_MAX_NS (600 * SECOND)
#define SWAP_MAX 900u /* per mille */

static const char *const keys[] = { "wait", "swap", "every", "timeout" };

_Static_assert(sizeof(keys) / sizeof(keys[0]) == N_HOOKS_KEYS, "a place for each key");

struct place *hooks_conf_origin(struct hooks_conf *conf, const char *key)
{
	for (u32 i = 0; i < N_HOOKS_KEYS; i++)
		if (!strcmp(keys[i], key))
			return &conf->origins[i];
	return NULL;
}

int hooks_conf_take(struct hooks_conf *conf, const struct command *command, const char *key,
		    const char *value)
{
	if (!strcmp(key, "wait"))
		return value_limit(command, "wait=", value, &conf->wait_ns);
	if (!strcmp(key, "swap"))
		return value_share(command, "swap=", value, SWAP_MAX, &conf->swap_permille);
	if (!strcmp(key, "every"))
		return value_limit(command, "every=", value, &conf->every_ns);
	return value_time(command, "timeout=", value, TIMEOUT_MIN_NS, TIMEOUT_MAX_NS,
			  &conf->timeout_ns);
}
