/* SPDX-License-Identifier: GPL-2.0 */
/* world: what happens to the rotor. One run is one load of the module, until it is unloaded. */
#ifndef WORLD_H
#define WORLD_H

#include "context.h"

/* Until so many switches have been done, or it has taken an hour of virtual time. */
void world_run(u64 seed, u64 switches);

/* The names of what may happen. */
u32 world_nactions(void);
const char *world_action(u32 i);

#endif /* WORLD_H */
