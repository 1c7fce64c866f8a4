/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events without trace events: of what has changed from one look at the jobs to the next. For users
 * who are not root, and for mtsd, which has no trace events.
 *
 * They have the names and fields of trace events, but no field that cannot be seen so: mts_job
 * (enrolled and forgotten), mts_freeze, mts_thaw, mts_round, mts_admission and mts_stop.
 */
#ifndef MTSCTL_WATCH_LOOK_H
#define MTSCTL_WATCH_LOOK_H

#include <signal.h>
#include <stdbool.h>

/*
 * Prints events until a signal sets *@ended, or the reader of standard output is gone. The device
 * is open. @waiting: signals that stay blocked during a wait.
 *
 * Return: an exit status.
 */
int watch_look(bool json, const sigset_t *waiting, const volatile sig_atomic_t *ended);

#endif /* MTSCTL_WATCH_LOOK_H */
