/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the section [users] of the configuration files for mtsd. */
#ifndef MTSD_USERS_LOAD_H
#define MTSD_USERS_LOAD_H

#include <sys/types.h>

#include "mtsd/rights.h"

struct users_rules {
	struct rights_limits limits;
	bool has_group; /* else no user is a member */
	gid_t group;
};

/* @folder: where mts.conf and conf.d are. Return: false: an error, which is logged. */
bool users_load(const char *folder, struct users_rules *rules);

#endif /* MTSD_USERS_LOAD_H */
