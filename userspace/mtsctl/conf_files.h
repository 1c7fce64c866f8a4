/* SPDX-License-Identifier: GPL-2.0 */
/* The configuration files: mts.conf, and then conf.d/\*.conf in the order of their names. */
#ifndef MTSCTL_CONF_FILES_H
#define MTSCTL_CONF_FILES_H

#define CONF_MAIN "mts.conf"
#define CONF_FOLDER "conf.d"

/*
 * Calls @on_file for each that there is; no file at all is no error. @folder is the one that they
 * are in; one that others can write is refused, with a message. Return: an exit status, the worst.
 */
int conf_files_each(const char *folder, int (*on_file)(void *user, const char *path), void *user);

#endif /* MTSCTL_CONF_FILES_H */
