// SPDX-License-Identifier: GPL-2.0
#include "distribution.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#define MOST 0x1p60
#define SHAPE_MAX 100.0

const char distribution_help[] =
	"  constant:V            V; the word may be left out\n"
	"  uniform:LOW..HIGH     every value as often\n"
	"  exponential:MEAN\n"
	"  lognormal:MEDIAN,S    its logarithm is normal, with standard deviation S\n"
	"  pareto:LOW..HIGH,A    bounded Pareto with index A: many small, few large\n"
	"  file:PATH             one value a line, in their order, and again from the start\n";

static char complaint[512];

__attribute__((format(printf, 1, 2))) static const char *complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(complaint, sizeof(complaint), format, args);
	va_end(args);
	return complaint;
}

/* ---- reading ---------------------------------------------------------------- */

/* The text before the separator; *text becomes the text after it. NULL: there is no separator. */
static const char *cut(char **text, const char *separator)
{
	char *found = strstr(*text, separator), *part = *text;

	if (!found)
		return NULL;
	*found = '\0';
	*text = found + strlen(separator);
	return part;
}

static const char *take_value(const char *text, distribution_parse_value parse, u64 *value)
{
	const char *wrong = parse(text, value);

	if (wrong)
		return complain("\"%s\": %s", text, wrong);
	return *value > MOST ? complain("\"%s\": too large", text) : NULL;
}

static const char *take_shape(const char *text, double *shape)
{
	char *end;

	*shape = strtod(text, &end);
	if (end == text || *end || !(*shape > 0 && *shape <= SHAPE_MAX))
		return complain("\"%s\": not a number above 0, %g at most", text, SHAPE_MAX);
	return NULL;
}

static const char *take_range(char *text, distribution_parse_value parse, struct distribution *d)
{
	const char *low = cut(&text, ".."), *wrong;

	if (!low)
		return "two values with .. between them are needed: LOW..HIGH";
	wrong = take_value(low, parse, &d->low);
	if (!wrong)
		wrong = take_value(text, parse, &d->high);
	if (!wrong && d->low > d->high)
		wrong = "the upper end is below the lower one";
	return wrong;
}

static const char *take_shaped(char *text, distribution_parse_value parse, struct distribution *d)
{
	const char *first = cut(&text, ","), *wrong;

	if (!first)
		return d->kind == DISTRIBUTION_PARETO ? "the index is missing: LOW..HIGH,A" :
							"the deviation is missing: MEDIAN,S";
	wrong = take_shape(text, &d->shape);
	if (wrong)
		return wrong;
	if (d->kind == DISTRIBUTION_LOGNORMAL)
		wrong = take_value(first, parse, &d->low);
	else
		wrong = take_range((char *)first, parse, d);
	if (!wrong && !d->low)
		wrong = "0 is no value of this distribution";
	return wrong;
}

static const char *add_line(char *line, distribution_parse_value parse, struct distribution *d)
{
	u64 *more;

	line[strcspn(line, "#\r\n")] = '\0';
	line += strspn(line, " \t");
	line[strcspn(line, " \t")] = '\0';
	if (!*line)
		return NULL;
	more = reallocarray(d->values, d->count + 1, sizeof(*more));
	if (!more)
		return "no memory";
	d->values = more;
	return take_value(line, parse, &d->values[d->count++]);
}

static const char *take_file(const char *path, distribution_parse_value parse,
			     struct distribution *d)
{
	FILE *file = fopen(path, "re");
	const char *wrong = NULL;
	unsigned int number = 0;
	char *line = NULL, copy[256];
	size_t size = 0;

	if (!file)
		return complain("%s: %s", path, strerror(errno));
	while (!wrong && getline(&line, &size, file) >= 0) {
		number++;
		wrong = add_line(line, parse, d);
	}
	free(line);
	fclose(file);
	if (wrong) {
		snprintf(copy, sizeof(copy), "%s", wrong);
		return complain("%s:%u: %s", path, number, copy);
	}
	return d->count ? NULL : complain("%s: no value in it", path);
}

static const char *take(char *text, distribution_parse_value parse, struct distribution *d)
{
	static const char *const words[] = { "constant",  "uniform", "exponential",
					     "lognormal", "pareto",  "file" };
	const char *word = cut(&text, ":");

	if (!word)
		return take_value(text, parse, &d->low);
	for (d->kind = 0; strcmp(word, words[d->kind]); d->kind++)
		if (d->kind == DISTRIBUTION_FILE)
			return complain("\"%s\": not one of constant, uniform, exponential, "
					"lognormal, pareto, file",
					word);
	switch (d->kind) {
	case DISTRIBUTION_CONSTANT:
	case DISTRIBUTION_EXPONENTIAL:
		return take_value(text, parse, &d->low);
	case DISTRIBUTION_UNIFORM:
		return take_range(text, parse, d);
	case DISTRIBUTION_LOGNORMAL:
	case DISTRIBUTION_PARETO:
		return take_shaped(text, parse, d);
	default:
		return take_file(text, parse, d);
	}
}

const char *distribution_parse(const char *text, distribution_parse_value parse,
			       struct distribution *d)
{
	char *copy = strdup(text);
	const char *wrong;

	*d = (struct distribution){ .kind = DISTRIBUTION_CONSTANT };
	wrong = copy ? take(copy, parse, d) : "no memory";
	free(copy);
	return wrong;
}

/* ---- drawing ------------------------------------------------------------------ */

/* Uniform, neither 0 nor 1. */
static double fraction(uint64_t *random)
{
	return ((double)(random_next(random) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller; the other one of the pair is not used. */
static double normal(uint64_t *random)
{
	double radius = sqrt(-2 * log(fraction(random)));

	return radius * cos(2 * M_PI * fraction(random));
}

/* By the inverse of its distribution function. */
static double pareto(const struct distribution *d, uint64_t *random)
{
	double tail = pow((double)d->low / (double)d->high, d->shape);

	return (double)d->low * pow(1 - fraction(random) * (1 - tail), -1 / d->shape);
}

static u64 whole(double value)
{
	return (u64)(value < MOST ? value + 0.5 : MOST);
}

u64 distribution_draw(const struct distribution *d, uint64_t *random, size_t index)
{
	switch (d->kind) {
	case DISTRIBUTION_UNIFORM:
		return d->low + random_below(random, d->high - d->low + 1);
	case DISTRIBUTION_EXPONENTIAL:
		return whole(-(double)d->low * log(fraction(random)));
	case DISTRIBUTION_LOGNORMAL:
		return whole((double)d->low * exp(d->shape * normal(random)));
	case DISTRIBUTION_PARETO:
		return mts_min(whole(pareto(d, random)), d->high);
	case DISTRIBUTION_FILE:
		return d->values[index % d->count];
	default:
		return d->low;
	}
}
