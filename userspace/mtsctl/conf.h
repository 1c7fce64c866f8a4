/* SPDX-License-Identifier: GPL-2.0 */
/* The configuration: what mts.conf(5) says, from one file or from all of them. */
#ifndef MTSCTL_CONF_H
#define MTSCTL_CONF_H

#include "conf_files.h"
#include "hooks_conf.h"
#include "rule.h"
#include "settings.h"
#include "users_conf.h"
#include "weights_conf.h"

#define CONF_SAVED "50-saved.conf"

struct conf {
	struct mts_config config; /* the mask says what the files set */
	struct place origins[N_SETTINGS]; /* where, in the order of settings[] */
	struct rule **rules; /* in their order */
	u32 nrules;
	bool exclusions; /* the built-in ones count */
	struct place exclusions_origin;
	struct hooks_conf hooks;
	struct users_conf users;
	struct weights_conf weights;
	char **files; /* in the order in which they are read */
	u32 nfiles;
	unsigned int errors; /* of lines, all printed */
};

/*
 * Reads @file; NULL: mts.conf and then conf.d/\*.conf, in the order of their names. Of a setting
 * the last value counts. No file at all is no error.
 *
 * Return: an exit status; EXIT_USAGE if a line has an error. In any case conf_free() it.
 */
int conf_read(struct conf *conf, const struct command *command, const char *file);

void conf_free(struct conf *conf);

/* "2 files: 5 settings, 3 rules", and ", 1 weight" if there is any */
const char *conf_summary(const struct conf *conf);

#endif /* MTSCTL_CONF_H */
