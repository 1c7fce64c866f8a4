/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Command lines of the benchmark programs: options, numbers, sizes and times. What is wrong ends
 * the program with status 2 and a message that names the option.
 */
#ifndef LAB_ARGS_H
#define LAB_ARGS_H

#include <stdint.h>

#define ARGS_USAGE 2 /* exit status */

enum args_kind {
	ARGS_NUMBER, /* uint64_t, by args_number() without units */
	ARGS_COUNT, /* the same, with units of 1000 */
	ARGS_BYTES, /* the same, with units of 1024 */
	ARGS_SIZE, /* uint64_t, by args_size() */
	ARGS_SECONDS, /* uint64_t, by args_seconds() */
	ARGS_TEXT, /* const char * */
	ARGS_FLAG, /* bool: true if it is given; without a value */
};

#define ARGS_POSITIVE 16u /* 0 is refused, and so is a time below a millisecond */

struct args_option {
	const char *name; /* the long one, without dashes; NULL ends a table */
	char letter; /* the short one; 0: none */
	unsigned int kind; /* enum args_kind, and ARGS_POSITIVE if it is */
	void *value; /* untouched if the option is not given */
};

/**
 * args_options() - take all options of a command line
 * @name: of the program, for messages; see args_program()
 * @usage: what --help prints
 * @options: up to 16; -h and --help are known without being in it
 *
 * The arguments that are no options are in argv from optind on.
 */
void args_options(const char *name, const char *usage, const struct args_option *options, int argc,
		  char **argv);

/* The program's name, for messages. Call it first, if not args_options(). */
void args_program(const char *name);

/* Prints the error and how to get help, and ends the program. */
__attribute__((noreturn, format(printf, 1, 2))) void args_refuse(const char *format, ...);

/* A whole number without sign; with an optional K, M or G of `kilo` (1000 or 1024) if not 0. */
uint64_t args_number(const char *option, const char *text, unsigned int kilo);

/* Bytes, of K, M or G (1024), more than 0 and a multiple of a page. */
uint64_t args_size(const char *option, const char *text);

/* Nanoseconds of a decimal number of seconds, 0 up to 10^8 s. */
uint64_t args_seconds(const char *option, const char *text);

/*
 * The index of a word among those allowed, given with bars between them. `option`: what stands
 * before the word, for the message.
 */
unsigned int args_word(const char *option, const char *text, const char *words);

#endif /* LAB_ARGS_H */
