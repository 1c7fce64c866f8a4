/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Command lines of the benchmark programs: numbers, sizes and times. What is wrong ends the
 * program with status 2 and a message that names the option.
 */
#ifndef LAB_ARGS_H
#define LAB_ARGS_H

#include <stdint.h>

#define ARGS_USAGE 2 /* exit status */

/* The program's name, for messages. Call it first. */
void args_program(const char *name);

/* Says what is wrong and how to get help, and ends the program. */
__attribute__((noreturn, format(printf, 1, 2))) void args_refuse(const char *format, ...);

/* A whole number without sign; with an optional K, M or G of `kilo` (1000 or 1024) if not 0. */
uint64_t args_number(const char *option, const char *text, unsigned int kilo);

/* Bytes, of K, M or G (1024), more than 0 and a multiple of a page. */
uint64_t args_size(const char *option, const char *text);

/* Nanoseconds of a decimal number of seconds, 0 up to 10^8 s. */
uint64_t args_seconds(const char *option, const char *text);

#endif /* LAB_ARGS_H */
