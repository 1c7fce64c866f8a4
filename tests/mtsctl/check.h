/* SPDX-License-Identifier: GPL-2.0 */
/* What the C tests of mtsctl count, and say of it. */
#ifndef _CHECK_H
#define _CHECK_H

#include <stdio.h>

static int failures;

/* A condition, and printf()'s arguments with what else is to be said if it does not hold. */
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
