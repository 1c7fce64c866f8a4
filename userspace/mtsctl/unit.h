/* SPDX-License-Identifier: GPL-2.0 */
/* The systemd unit that a cgroup belongs to. */
#ifndef MTSCTL_UNIT_H
#define MTSCTL_UNIT_H

#include <limits.h>
#include <stdbool.h>

/*
 * The innermost unit of a path below the cgroup root, of the system or of a user. Return: false:
 * none.
 */
bool unit_of_path(const char *path, char unit[NAME_MAX + 1]);

#endif /* MTSCTL_UNIT_H */
