/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of the host, by their usual paths: procfs and cgroup v2 are found where they are mounted,
 * and the tests' files below host_root().
 */
#ifndef MTSCTL_HOST_FILE_H
#define MTSCTL_HOST_FILE_H

#include <stdbool.h>

/*
 * Its text, up to 16 KiB, valid until the next call, also of proc_read(). NULL: there is no such
 * file, it is empty, or it cannot be read.
 */
const char *host_file_read(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool host_file_exists(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* MTSCTL_HOST_FILE_H */
