/* SPDX-License-Identifier: GPL-2.0 */
/* The section [hooks] of mts.conf(5). */
#ifndef MTSCTL_HOOKS_CONF_H
#define MTSCTL_HOOKS_CONF_H

#include <stdbool.h>

#include "mtsctl.h"

#define HOOKS_KEYS "wait, swap, every and timeout"
#define N_HOOKS_KEYS 4

struct hooks_conf {
	u64 wait_ns; /* of struct news_watch; 0: off */
	u32 swap_permille; /* the same */
	u64 every_ns; /* of struct hooks_run; 0: off */
	u64 timeout_ns;
	struct place origins[N_HOOKS_KEYS]; /* of the keys, in the order of HOOKS_KEYS */
};

/* What holds where no file says something else. */
#define HOOKS_CONF_DEFAULT                                                                         \
	{                                                                                          \
		.wait_ns = MTS_PAUSE_UNATTENDED_NS, /* max_pause=auto freezes no job for longer */ \
			.swap_permille = 100, .every_ns = 60 * 1000000000ull,                      \
		.timeout_ns = 10 * 1000000000ull,                                                  \
	}

/* The place where the key was given before; NULL: there is no such key. */
struct place *hooks_conf_origin(struct hooks_conf *conf, const char *key);

/* Takes a value. Return: an exit status; an error is printed. */
int hooks_conf_take(struct hooks_conf *conf, const struct command *command, const char *key,
		    const char *value);

#endif /* MTSCTL_HOOKS_CONF_H */
