// SPDX-License-Identifier: GPL-2.0
#include "nearest.h"

#include <stddef.h>
#include <string.h>

#include "policy/pure.h"

#define LENGTH_MAX 32
#define FAR 3

/* Levenshtein's distance; FAR: that much, or more. */
static size_t distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b), row[LENGTH_MAX + 1];

	if (la > LENGTH_MAX || lb > LENGTH_MAX)
		return FAR;
	for (size_t k = 0; k <= lb; k++)
		row[k] = k;
	for (size_t i = 0; i < la; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t k = 0; k < lb; k++) {
			size_t change = diagonal + (a[i] != b[k]);

			diagonal = row[k + 1];
			row[k + 1] = mts_min(change, mts_min(row[k], row[k + 1]) + 1);
		}
	}
	return mts_min(row[lb], (size_t)FAR);
}

const char *nearest(const char *text, const char *const *words)
{
	size_t best = mts_min((size_t)FAR, (strlen(text) + 1) / 2);
	const char *found = NULL;

	for (; *words; words++) {
		size_t far = distance(text, *words);

		if (far >= best)
			continue;
		best = far;
		found = *words;
	}
	return found;
}
