/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes to a standard output that may block, such as a full pipe. A command that blocks SIGINT and
 * SIGTERM for an orderly end can still be ended by them meanwhile.
 */
#ifndef MTSCTL_OUTPUT_H
#define MTSCTL_OUTPUT_H

#include <signal.h>
#include <stddef.h>

/**
 * struct output_end - what ends a wait
 * @waiting: signals that stay blocked during the wait, as for ppoll()
 * @ended: not 0: another signal has come, and the wait must end
 */
struct output_end {
	const sigset_t *waiting;
	const volatile sig_atomic_t *ended;
};

/* Writes all of it, as soon as it is read. Return: 0, also if a signal ends it, or -errno. */
int output_write(const struct output_end *end, const char *text, size_t size);

/* The same for stdio's stdout from now on; @ended must be static. Return: 0 or -errno. */
int output_may_end(const struct output_end *end);

#endif /* MTSCTL_OUTPUT_H */
