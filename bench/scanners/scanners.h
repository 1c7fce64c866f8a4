/* SPDX-License-Identifier: GPL-2.0 */
/* Hartman & Narasimhan's scanners and their monitor: declarations that their files share. */
#ifndef SCANNERS_H
#define SCANNERS_H

#include <stdint.h>

struct options {
	const char *name; /* of the scanner's process; the monitor looks for it and a number */
	uint64_t size; /* bytes of a scanner */
	uint64_t duration_ns; /* 0: no end */
	uint64_t goal; /* passes over the memory that are all of its work; 0: there is no end */
	uint64_t seed;
	int nice; /* of a scanner */
	uint64_t interval_ns; /* of monitoring; 1 s in the paper */
	uint64_t scanners; /* to launch */
	uint64_t first_ns; /* before the first launch; 12 s in the paper */
	uint64_t delay_ns; /* between launches; 115 s in the paper's example */
};

enum part {
	PART_RUN,
	PART_SCAN,
	PART_MONITOR
};

/* Returns only if the command line is good. */
enum part options_parse(struct options *options, int argc, char **argv);

/* One scanner, to its end. Returns the exit status. */
int scan(const struct options *options);

/* The monitor, until SIGTERM or SIGINT. Returns the exit status. */
int monitor(const struct options *options);

#endif /* SCANNERS_H */
