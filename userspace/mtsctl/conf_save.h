/* SPDX-License-Identifier: GPL-2.0 */
/* mtsctl set --save: puts settings into conf.d/50-saved.conf. */
#ifndef MTSCTL_CONF_SAVE_H
#define MTSCTL_CONF_SAVE_H

struct conf_save;

/*
 * Writes the file anew beside the old one: each KEY=VALUE of @words, which are good and end with
 * NULL, in the place of its old value. All other lines stay.
 *
 * Return: an exit status; after an error, which is printed, there is nothing to end.
 */
int conf_save_begin(char **words, struct conf_save **save);

/*
 * @status EXIT_OK: the new file takes the place of the old one, at once. Else it is removed. Warns
 * of values that a later file changes again. NULL: nothing was to be saved.
 *
 * Return: @status, or the exit status of an error, which is printed.
 */
int conf_save_end(struct conf_save *save, int status);

#endif /* MTSCTL_CONF_SAVE_H */
