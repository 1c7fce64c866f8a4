/* SPDX-License-Identifier: GPL-2.0 */
/* The programs of /etc/mts/hooks.d: which of them run. */
#ifndef MTSCTL_HOOKS_H
#define MTSCTL_HOOKS_H

#include "mtsctl.h"

#define HOOKS_FOLDER "hooks.d"
#define HOOK_REASON 160

enum hook_verdict {
	HOOK_RUNS,
	HOOK_IGNORED, /* as run-parts(8) does: its name, or it is not executable */
	HOOK_REFUSED, /* another user could change it */
};

struct hook {
	char *path;
	const char *name; /* in @path */
	char *real; /* what is executed: @path without links; NULL unless it runs */
	enum hook_verdict verdict;
	char reason[HOOK_REASON]; /* why it does not run */
};

struct hooks {
	char folder[256];
	struct hook *hooks; /* in the order in which they run: of their names, by bytes */
	u32 n;
};

/*
 * No folder is no error: then there are no hooks. Return: an exit status; in any case hooks_free()
 * it.
 */
int hooks_read(struct hooks *hooks);
void hooks_free(struct hooks *hooks);

/* Checks it again, as just before it runs: a hook before it may have changed files. */
void hook_check(struct hook *hook);

#endif /* MTSCTL_HOOKS_H */
