/* SPDX-License-Identifier: GPL-2.0 */
/* Asks container engines: podman, docker and nerdctl, those of them that are installed. */
#ifndef MTSCTL_ENGINE_H
#define MTSCTL_ENGINE_H

#include <sys/types.h>

#include "container.h"
#include "mtsctl.h"

/* Of a container that runs, or is paused. */
struct engine_container {
	const char *engine; /* the command */
	char id[CONTAINER_ID + 1];
	char name[CONTAINER_NAME_SIZE];
	pid_t pid; /* its first process */
	/* Its health check; 0: it has none that its engine calls. */
	u64 check_interval_ns, check_timeout_ns;
};

/*
 * The container with this name, or an id that begins so, of the engine that knows it. A rootless
 * engine knows those of one user: @user, or with 0 the calling one.
 *
 * Return: an exit status. The function prints an error unless it is EXIT_OK.
 */
int engine_find(const struct command *command, const char *name, u32 user,
		struct engine_container *found);

#endif /* MTSCTL_ENGINE_H */
