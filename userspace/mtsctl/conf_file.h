/* SPDX-License-Identifier: GPL-2.0 */
/* Reads one configuration file, INI by libinih, and says the line of everything in it. */
#ifndef MTSCTL_CONF_FILE_H
#define MTSCTL_CONF_FILE_H

#include <stdbool.h>

#include "mtsctl.h"

/* Bytes of a file. A thousand rules have less. */
#define CONF_FILE_MAX (1u << 20)

/*
 * What the file has, in its order. A function that prints an error returns false. @place is valid
 * until it returns, its file for as long as the caller's path.
 */
struct conf_events {
	bool (*section)(void *user, const struct place *place, const char *name);
	bool (*key)(void *user, const struct place *place, const char *key, const char *value);
	void *user;
};

/*
 * Refuses, with a message, a file that is not regular, that is larger than CONF_FILE_MAX, or that
 * users other than root and the caller own or can write.
 *
 * @errors: is increased by the number of errors in the lines, which are printed.
 * Return: an exit status: EXIT_OK also with errors in the lines.
 */
int conf_file_read(const char *path, const struct conf_events *events, unsigned int *errors);

/* Opens it for reading, with the same checks. Return: an exit status. */
int conf_file_open(const char *path, int *fd);

/* Refuses, with a message, a directory that others own or can write. Return: an exit status. */
int conf_dir_check(const char *path);

#endif /* MTSCTL_CONF_FILE_H */
