/* SPDX-License-Identifier: GPL-2.0 */
/* What every command of mtsctl shares. */
#ifndef MTSCTL_H
#define MTSCTL_H

#include <getopt.h>
#include <stdbool.h>

#include "policy/pure.h"
#include "uapi/mts.h"

/* Exit statuses; mtsctl.8 documents them. */
enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1, /* the request failed */
	EXIT_USAGE = 2, /* bad usage or bad input: nothing was tried */
	EXIT_NO_MODULE = 3,
	EXIT_PERMISSION = 4,
	/* mtsctl run only, as with env(1) and timeout(1) */
	EXIT_RUN = 125,
	EXIT_CANNOT_EXEC = 126,
	EXIT_NOT_FOUND = 127,
};

/* A line of a file, from 1; 0: the file as a whole. */
struct place {
	const char *file;
	unsigned int line;
};

struct command {
	const char *name;
	int (*function)(const struct command *command, int argc, char **argv);
	const char *description; /* one line */
	const char *usage; /* the arguments after "mtsctl NAME" */
	const char *details; /* options, one a line; may be NULL */
	/* The line that is read for it, for usage_error(); NULL: the command line. */
	const struct place *place;
};

int run_main(const struct command *command, int argc, char **argv);
int add_main(const struct command *command, int argc, char **argv);
int remove_main(const struct command *command, int argc, char **argv);
int pause_main(const struct command *command, int argc, char **argv);
int weight_main(const struct command *command, int argc, char **argv);
int pin_main(const struct command *command, int argc, char **argv);
int get_main(const struct command *command, int argc, char **argv);
int set_main(const struct command *command, int argc, char **argv);
int status_main(const struct command *command, int argc, char **argv);
int top_main(const struct command *command, int argc, char **argv);
int plan_main(const struct command *command, int argc, char **argv);
int why_main(const struct command *command, int argc, char **argv);
int monitor_main(const struct command *command, int argc, char **argv);
int thaw_main(const struct command *command, int argc, char **argv);
int config_main(const struct command *command, int argc, char **argv);
int hooks_main(const struct command *command, int argc, char **argv);
int log_main(const struct command *command, int argc, char **argv);
int rules_main(const struct command *command, int argc, char **argv);
int stats_main(const struct command *command, int argc, char **argv);
int doctor_main(const struct command *command, int argc, char **argv);
int watch_main(const struct command *command, int argc, char **argv);

/* "mtsctl: ..." and a newline on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "mtsctl: FILE:LINE: ...", without bytes that are not printable ASCII. */
void complain_at(const struct place *place, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * About the command line: the message, and a line that names the help. About a line of a file
 * (command->place): as complain_at(). Always returns EXIT_USAGE.
 */
int usage_error(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define OPTION_END (-1)
#define OPTION_ERROR (-2) /* an error is printed: return EXIT_USAGE */
#define OPTION_HELP (-3) /* the help is printed: return EXIT_OK */
#define OPTION_WORD 1 /* an argument in its place, if shorts starts with "-" */

/*
 * getopt_long() that knows --help and prints errors. `shorts` may start with
 * "+" (stop at the first argument) or "-" (OPTION_WORD). Short options may
 * follow, but not h. Values of options must be above OPTION_WORD.
 */
int next_option(const struct command *command, int argc, char **argv, const char *shorts,
		const struct option *options);

/*
 * For commands that have at most the option --json, which sets *json; NULL: not even that. Return:
 * OPTION_END, or the exit status if the command ends here.
 */
int simple_options(const struct command *command, int argc, char **argv, bool *json);

/* Opens the device, or prints an error. Return: an exit status. */
int device_open(void);

/* Prints why the device cannot be opened. Return: an exit status. */
int device_absent(int err);

/* Is the module, or mtsd, of this ABI or a newer one? The device is open. */
bool device_knows(u32 abi);

/* Does the module know pause limits of jobs and calls? The device is open. */
bool device_has_limits(void);

/* Does the module not know one of these? The device is open. */
bool device_is_too_old(u32 job_flags, u64 max_pause_ns, u32 weight);

/* What a positive errno of a command means. */
const char *device_error(int err);

/* Prints that `what` failed with `err`, a positive errno. Return: an exit status. */
int device_failed(const char *what, int err);

#endif /* MTSCTL_H */
