// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "host.h"
#include "parse.h"
#include "watchdog.h"

/* "NAME=" at the beginning of an entry. Return: the value; NULL: another name. */
static const char *value_of(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return strncmp(entry, name, length) ? NULL : entry + length;
}

/* A number of digits only; 0 for any other text. */
static u64 number_of(const char *text)
{
	u64 number;

	if (!*text || text[strspn(text, "0123456789")])
		return 0;
	errno = 0;
	number = strtoull(text, NULL, 10);
	return errno ? 0 : number;
}

/*
 * The watchdog time of one process; 0: none. WATCHDOG_PID names the process that must report. Its
 * children inherit the variables, but must not report.
 */
static u64 watchdog_of_process(pid_t pid)
{
	u64 usec = 0, of = 0;
	bool has_pid = false;
	char path[PATH_MAX], *entry = NULL;
	const char *value;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%d/environ", host_proc(), pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (getdelim(&entry, &room, '\0', file) > 0) {
		value = value_of(entry, "WATCHDOG_USEC=");
		if (value)
			usec = number_of(value);
		value = value_of(entry, "WATCHDOG_PID=");
		if (value) {
			has_pid = true;
			of = number_of(value);
		}
	}
	free(entry);
	fclose(file);
	if (has_pid && of != (u64)pid)
		return 0;
	return usec > UINT64_MAX / 1000 ? UINT64_MAX : usec * 1000;
}

int watchdog_of_cgroup(const char *dir, u64 *ns)
{
	struct process *processes = NULL;
	u32 room = 64, total = 0;
	int ret;

	*ns = 0;
	do {
		void *more;

		room = mts_max(room, total + total / 8);
		more = realloc(processes, room * sizeof(*processes));
		if (!more) {
			free(processes);
			return -ENOMEM;
		}
		processes = more;
		ret = cgroup_processes(dir, 0, processes, room, &total);
	} while (!ret && total > room);
	for (u32 i = 0; !ret && i < total; i++) {
		u64 own = watchdog_of_process(processes[i].pid);

		if (own && (!*ns || own < *ns))
			*ns = own;
	}
	free(processes);
	return ret;
}
