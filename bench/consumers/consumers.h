/* SPDX-License-Identifier: GPL-2.0 */
/* The benchmark tool of Maziero et al.: declarations that its files share. */
#ifndef CONSUMERS_H
#define CONSUMERS_H

#include <stdint.h>

/* The names in brackets are the paper's (section 4.1). */
struct options {
	uint64_t processes; /* consumers (N) */
	uint64_t index; /* of this one, 0 to N-1 (i) */
	uint64_t size; /* bytes of each (S) */
	uint64_t writes; /* in a cycle (W) */
	uint64_t sleep_ns; /* between two cycles (t_s) */
	uint64_t delay_ns; /* between the starts of two consumers (t_c) */
	uint64_t lead_ns; /* before the first one starts; 10 s in the paper */
	uint64_t interval_ns; /* of measuring; 1 s in the paper */
	uint64_t seed;
	uint64_t active_ns; /* how long a consumer is active (t_p = N t_c + t_c) */
};

enum part {
	PART_RUN,
	PART_CONSUME,
	PART_MEASURE
};

/* Returns only if the command line is good. */
enum part options_parse(struct options *options, int argc, char **argv);

/* One consumer, to its end. Returns the exit status. */
int consume(const struct options *options);

/* The measuring process: until SIGTERM or SIGINT. Returns the exit status. */
int measure(const struct options *options);

#endif /* CONSUMERS_H */
