/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Health checks of containers that are jobs.
 *
 * A container engine starts the health check as a process in the container. mts sees that and thaws
 * the job, but not a job that has used up its budget: then the check waits for its turn. So a pause
 * may take half of the time that the engine waits, and the check has the other half.
 */
#ifndef MTSCTL_HEED_H
#define MTSCTL_HEED_H

#include <stdbool.h>

#include "engine.h"

/*
 * The limit and the pin that a job of this container is to have, and a word about it. The device is
 * open.
 *
 * @has_pause: *@max_pause_ns is what a user has chosen, 0 for none: it is only said if that is too
 *	long
 */
void heed_check(const struct engine_container *container, bool has_pause, u32 *flags,
		u64 *max_pause_ns);

/*
 * A rule has made a job of the cgroup with this path, below the cgroup root. If that is a
 * container's its health check is heeded: at once, or soon, by mts-container@.service, if mtsctl is
 * a service itself: that may neither write where the engine does, nor wait for it.
 */
void heed_container(const struct command *command, const char *path, bool has_pause);

/*
 * mtsctl rules heed: heeds the check of a job's container. @what: its id; with ":keep" behind it a
 * user has chosen the pause limit.
 *
 * Return: an exit status.
 */
int heed_main(const struct command *command, const char *what);

#endif /* MTSCTL_HEED_H */
