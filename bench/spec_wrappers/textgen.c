// SPDX-License-Identifier: GPL-2.0
/*
 * Writes text of made-up words from a seed: the input of the stand-ins that
 * compress and count. Words are drawn so that the rank-r word is about 1/r as
 * frequent as the first (Zipf's law); compressors find as much in it as in
 * prose: gzip makes it less than half as long.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "run.h"

#define WORDS 8192u
#define LONGEST 14u
#define MAX_BYTES (1ull << 32)

static const char usage[] =
	"usage: textgen [--seed N] [--runs N] BYTES\n"
	"\n"
	"Writes BYTES bytes of made-up text, N times (1), the same for the same seed (1).\n";

struct words {
	char text[WORDS][LONGEST + 2];
};

/* Syllables, so that words share beginnings and ends as real ones do. */
static void make_words(struct words *words, uint64_t *random)
{
	static const char consonants[] = "bcdfghjklmnpqrstvwz";
	static const char vowels[] = "aeiouaeio";

	for (unsigned int i = 0; i < WORDS; i++) {
		/* frequent words are short */
		unsigned int syllables =
			1 + (i > 30) + (i > 500) + (unsigned int)random_below(random, 2);
		char *text = words->text[i];

		for (unsigned int s = 0; s < syllables; s++) {
			*text++ = consonants[random_below(random, sizeof(consonants) - 1)];
			*text++ = vowels[random_below(random, sizeof(vowels) - 1)];
			if (!random_below(random, 3))
				*text++ = consonants[random_below(random, sizeof(consonants) - 1)];
		}
		*text = '\0';
	}
}

/*
 * A rank with probability about in proportion to 1/(rank + 1): uniform in the
 * power of two that it lies in, which is itself uniform.
 */
static unsigned int draw(uint64_t *random)
{
	unsigned int power = (unsigned int)random_below(random, 13);

	return (1u << power) - 1 + (unsigned int)random_below(random, 1u << power);
}

static void write_text(const struct words *words, uint64_t bytes, uint64_t *random)
{
	unsigned int in_sentence = 0, column = 0;

	while (bytes) {
		const char *word = words->text[draw(random)];
		char out[LONGEST + 8];
		size_t length;

		length = strlen(word);
		memcpy(out, word, length);
		if (!in_sentence)
			out[0] = (char)(out[0] - 'a' + 'A');
		if (++in_sentence > 4 + random_below(random, 16)) {
			out[length++] = '.';
			in_sentence = 0;
		}
		column += (unsigned int)length + 1;
		out[length++] = column > 90 ? '\n' : ' ';
		if (column > 90)
			column = 0;
		if (length > bytes)
			length = bytes;
		if (fwrite_unlocked(out, 1, length, stdout) != length)
			errx(EXIT_FAILURE, "cannot write: %s", strerror(errno));
		bytes -= length;
	}
}

int main(int argc, char **argv)
{
	static struct words words;
	struct run run = run_parse("textgen", usage, MAX_BYTES, argc, argv);

	make_words(&words, &run.random);
	for (uint64_t i = 0; i < run.runs; i++)
		write_text(&words, run.size, &run.random);
	if (fflush(stdout))
		errx(EXIT_FAILURE, "cannot write: %s", strerror(errno));
	return EXIT_SUCCESS;
}
