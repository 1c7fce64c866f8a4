/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module's knobs, for programs that decide as it does: KEY=VALUE words as `mtsctl set` takes
 * them, but for demand, interactive, mode=shadow, policy=fair or auto, and a bin that is a share.
 * Values are read by mtsctl's parse.c.
 */
#ifndef LAB_SETTINGS_H
#define LAB_SETTINGS_H

#include "policy/pure.h"
#include "uapi/mts.h"

/* For --help: the keys with their defaults. */
#define SETTINGS_HELP                                                                    \
	"KEY=VALUE, with the module's defaults, as in `mtsctl set`: mode=auto|always,\n" \
	"policy=turns|token|none, slice=5s, min_slice=200ms, max_pause=auto|TIME,\n"     \
	"overhead=5%|off, bin=auto|SIZE, step=bin|auto|SIZE, pack=ffd|bfd|rw,\n"         \
	"evict=auto|off|need|full.\n"

/* What a fresh module has. */
extern const struct mts_config settings_default;

/* Takes one word; an error ends the program (args_refuse()). */
void settings_take(struct mts_config *config, const char *word);

/* When all words are taken: as in the module, a slice alone takes a longer min_slice down. */
void settings_finish(struct mts_config *config);

/* A single time between two limits. `name`: the text before it, for the message. */
u64 settings_time(const char *name, const char *text, u64 low, u64 high);

#endif /* LAB_SETTINGS_H */
