/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads counters from files of procfs and cgroup v2 while memory is short. It
 * allocates nothing: it reads into one static buffer.
 */
#ifndef MTSCTL_PROC_H
#define MTSCTL_PROC_H

#include <stdbool.h>

#include "policy/pure.h"

/* A descriptor of /proc/NAME, to be kept open, or -errno. */
int proc_open(const char *name);

/* The file, up to 16 KiB. Valid until the next call; NULL: it cannot be read. */
const char *proc_read(int fd);

/* The number after a line's first word, which may end in a colon; false: no such line. */
bool proc_value(const char *text, const char *name, u64 *value);

#endif /* MTSCTL_PROC_H */
