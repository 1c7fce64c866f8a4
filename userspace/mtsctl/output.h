/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Standard output that nobody reads for the moment: a command that has an orderly end, and blocks
 * its signals for it, is still ended by them.
 */
#ifndef MTSCTL_OUTPUT_H
#define MTSCTL_OUTPUT_H

#include <signal.h>
#include <stddef.h>

/**
 * struct output_end - what ends a wait
 * @waiting: signals that are blocked meanwhile, as for ppoll()
 * @ended: not 0: one of the others has come
 */
struct output_end {
	const sigset_t *waiting;
	const volatile sig_atomic_t *ended;
};

/* All of it, as soon as somebody reads. Return: 0, also if the end came before, or -errno. */
int output_write(const struct output_end *end, const char *text, size_t size);

/* The same for what is written by stdio from now on; @ended is static. Return: 0 or -errno. */
int output_may_end(const struct output_end *end);

#endif /* MTSCTL_OUTPUT_H */
