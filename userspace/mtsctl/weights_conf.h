/* SPDX-License-Identifier: GPL-2.0 */
/* The section [weights] of mts.conf(5): what users are entitled to. */
#ifndef MTSCTL_WEIGHTS_CONF_H
#define MTSCTL_WEIGHTS_CONF_H

#include "mtsctl.h"
#include "policy/users.h"

/* @place: where the last value of this user is; .file is NULL: there is none */
struct weight_line {
	u32 user;
	struct place place;
};

struct weights_conf {
	struct mts_user_weights weights; /* of a user the last value counts */
	struct weight_line *lines; /* one of each user */
	u32 n;
};

/* The line of a user, by name or number. NULL: there is no such user; an error is printed. */
struct weight_line *weights_conf_line(struct weights_conf *conf, const struct command *command,
				      const char *user);

/* Takes USER=N. Return: EXIT_OK; or an exit status, and an error is printed. */
int weights_conf_take(struct weights_conf *conf, const struct command *command,
		      const struct weight_line *line, const char *user, const char *value);

/*
 * From now on users have the weights that @conf says, and all others the usual one. @before: set to
 * the weights so far. Return: an exit status; after an error, which is printed, all is as before.
 */
int weights_conf_load(const struct weights_conf *conf, struct mts_user_weights *before);

/* Back to the weights of before. */
void weights_conf_undo(const struct weights_conf *conf, const struct mts_user_weights *before);

void weights_conf_free(struct weights_conf *conf);

#endif /* MTSCTL_WEIGHTS_CONF_H */
