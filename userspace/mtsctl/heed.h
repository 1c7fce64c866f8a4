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
 * @shortest_ns: as of heed_shortest()
 */
void heed_check(const struct engine_container *container, bool has_pause, u64 shortest_ns,
		u32 *flags, u64 *max_pause_ns);

/*
 * The shortest pause limit that what is in the cgroup may ask of root by itself, as by its health
 * check or its watchdog; 0: any, and a pin. It is @users_pause_ns, of the section [users], if the
 * cgroup is another user's: that user could ask for it all, for any number of jobs.
 */
u64 heed_shortest(const char *dir, u64 users_pause_ns);

/* Until when a command that begins now asks engines. */
u64 heed_until(void);

/*
 * A rule has made a job of the cgroup with this path, below the cgroup root. If that is a
 * container's its health check is heeded: at once, or soon, by mts-container@.service, if mtsctl is
 * a service itself: that may neither write where the engine does, nor wait for it.
 *
 * @users_pause_ns: as for heed_shortest()
 * @until_ns: heed_until() of the beginning: no engine is asked later
 */
void heed_container(const struct command *command, const char *path, bool has_pause,
		    u64 users_pause_ns, u64 until_ns);

/*
 * mtsctl rules heed: heeds the check of a job's container. @what: its id; with ":keep" behind it a
 * user has chosen the pause limit.
 *
 * Return: an exit status.
 */
int heed_main(const struct command *command, const char *what);

#endif /* MTSCTL_HEED_H */
