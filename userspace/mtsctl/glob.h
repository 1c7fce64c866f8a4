/* SPDX-License-Identifier: GPL-2.0 */
/* Patterns of the paths of cgroups. */
#ifndef MTSCTL_GLOB_H
#define MTSCTL_GLOB_H

#include <stdbool.h>

/*
 * Does the path, without a slash in front, match? Between slashes a pattern is that of fnmatch(3):
 * "*", "?" and "[...]" never match a slash. "**" between slashes is any number of directories, none
 * too; at the end it is at least one.
 */
bool glob_path(const char *pattern, const char *path);

/* Does a word without slashes match? */
bool glob_word(const char *pattern, const char *word);

#endif /* MTSCTL_GLOB_H */
