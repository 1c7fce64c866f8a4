/* SPDX-License-Identifier: GPL-2.0 */
/* The words for the protocol's numbers. A number of a newer module is "unknown". */
#ifndef MTSCTL_WORDS_H
#define MTSCTL_WORDS_H

#include <stdbool.h>

#include "policy/pure.h"

struct word {
	const char *word;
	u32 value;
	const char *alias; /* accepted as well; may be NULL */
};

/* These lists end with a NULL word. */
extern const struct word mode_words[];
extern const struct word policy_words[];
extern const struct word gives_words[];
extern const struct word share_words[];
extern const struct word pack_words[];
extern const struct word evict_words[];
extern const struct word demand_words[];
extern const struct word queue_words[];
extern const struct word size_from_words[];
extern const struct word state_words[];
extern const struct word reason_words[];
extern const struct word job_state_words[];
extern const struct word call_words[];
extern const struct word each_words[];
extern const struct word sees_words[]; /* bits, MTS_SEES_* */

const char *word_of(const struct word *words, u32 value);
bool word_value(const struct word *words, const char *text, u32 *value);

/* "off, need or full" */
const char *word_list(const struct word *words, char *buf, size_t size);

#endif /* MTSCTL_WORDS_H */
