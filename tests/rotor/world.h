/* SPDX-License-Identifier: GPL-2.0 */
/* world: draws what happens to the rotor. A run is one life of the module, from load to unload. */
#ifndef WORLD_H
#define WORLD_H

#include "context.h"
#include "uapi/mts.h"

/*
 * Run until @switches switches are done, or for an hour of virtual time. @weighs: jobs have
 * weights and users, too, which are drawn apart from all else.
 */
void world_run(u64 seed, u64 switches, bool weighs);

/* As mts_init() and mts_exit() of main.c, and as a configuration that is set. */
void world_load(const struct mts_config *with);
void world_configure(const struct mts_config *with);
void world_unload(void);

/* The names of the actions. */
u32 world_nactions(void);
const char *world_action(u32 i);

#endif /* WORLD_H */
