/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Distributions of whole numbers, bytes or nanoseconds, as people write them:
 *
 *	constant:V           V; the word may be left out
 *	uniform:LOW..HIGH    every value as often
 *	exponential:MEAN
 *	lognormal:MEDIAN,S   its logarithm is normal, with standard deviation S
 *	pareto:LOW..HIGH,A   bounded Pareto with index A: many small ones, few large ones
 *	file:PATH            one value a line, in their order; blank lines and #... are skipped
 */
#ifndef LAB_DISTRIBUTION_H
#define LAB_DISTRIBUTION_H

#include <stddef.h>
#include <stdint.h>

#include "policy/pure.h"

enum distribution_kind {
	DISTRIBUTION_CONSTANT,
	DISTRIBUTION_UNIFORM,
	DISTRIBUTION_EXPONENTIAL,
	DISTRIBUTION_LOGNORMAL,
	DISTRIBUTION_PARETO,
	DISTRIBUTION_FILE,
};

struct distribution {
	enum distribution_kind kind;
	u64 low; /* or the only value, the mean, the median */
	u64 high;
	double shape;
	u64 *values; /* of a file */
	size_t count;
};

/* The help text of the forms above, for --help. */
extern const char distribution_help[];

/* Reads one value: parse_size(), parse_time(). Return: NULL, or an error text. */
typedef const char *(*distribution_parse_value)(const char *text, u64 *value);

/**
 * distribution_parse() - from text to a distribution
 *
 * Return: NULL, or an error text that the next call overwrites.
 */
const char *distribution_parse(const char *text, distribution_parse_value parse,
			       struct distribution *d);

/**
 * distribution_draw() - the value number @index of a sequence
 * @random: state of random.h; the same state and index give the same value
 *
 * A file's values begin again when they are used up. Others are 2^60 at most.
 */
u64 distribution_draw(const struct distribution *d, uint64_t *random, size_t index);

#endif /* LAB_DISTRIBUTION_H */
