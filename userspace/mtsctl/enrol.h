/* SPDX-License-Identifier: GPL-2.0 */
/* Makes jobs of what the rules decide. */
#ifndef MTSCTL_ENROL_H
#define MTSCTL_ENROL_H

#include "decide.h"

/*
 * Adds each cgroup that is to be a job and is none yet, as `mtsctl add` does; if one fails, the
 * others are added all the same. @dry: only says so; the module need not be loaded.
 *
 * Return: an exit status.
 */
int enrol_all(const struct conf *conf, const struct tree *tree, const struct decision *all,
	      bool dry);

/* " --pin --max-pause 5s", as for `mtsctl add`; empty: none. */
const char *enrol_options(char buf[3 * FORMAT_SIZE], const struct rule *rule);

#endif /* MTSCTL_ENROL_H */
