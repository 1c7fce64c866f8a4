/* SPDX-License-Identifier: GPL-2.0 */
/* Counts and prints the failures of mtsctl's C tests. */
#ifndef _CHECK_H
#define _CHECK_H

#include <stdio.h>

static int failures;

/* A condition, and arguments of printf() for the message if it does not hold. */
#define CHECK(condition, ...)                                                 \
	do {                                                                  \
		if (!(condition)) {                                           \
			failures++;                                           \
			printf("%s:%d: %s:", __FILE__, __LINE__, #condition); \
			printf(" " __VA_ARGS__);                              \
			putchar('\n');                                        \
		}                                                             \
	} while (0)

#endif /* _CHECK_H */
