/* SPDX-License-Identifier: GPL-2.0 */
/* News: what happened, once, with its circumstances. The same for hooks, journal and log. */
#ifndef MTSCTL_NEWS_H
#define MTSCTL_NEWS_H

#include <jansson.h>
#include <stdbool.h>

#include "policy/pure.h"

#define NEWS_FIELDS 20
#define NEWS_TEXT 256
#define NEWS_PREFIX "MTS_" /* of variables, and of fields in the journal */

enum news_kind {
	NEWS_BEGIN, /* turns begin, or a policy without turns begins to act */
	NEWS_END, /* and end */
	NEWS_STOP, /* a user or a fail-safe has stopped mts */
	NEWS_WAIT, /* a job has been frozen for longer than the setting says */
	NEWS_SWAP, /* swap is nearly full */
	NEWS_KINDS,
};

/**
 * struct news - one piece of news
 * @message: a sentence
 * @fields: without "event" and "message", which each piece has
 */
struct news {
	enum news_kind kind;
	char message[NEWS_TEXT];
	u32 n;
	struct news_field {
		const char *name; /* "waited_ns": MTS_WAITED_NS as a variable */
		bool is_number;
		u64 number;
		char text[NEWS_TEXT];
	} fields[NEWS_FIELDS];
};

/* Its word, "begin"; the same as the value of MTS_EVENT. */
const char *news_word(enum news_kind kind);
bool news_find(const char *word, enum news_kind *kind);

/* MESSAGE_ID in the journal, of which mts.catalog has the explanation. */
const char *news_id(enum news_kind kind);

/* A level of syslog(3). */
int news_level(enum news_kind kind);

void news_start(struct news *news, enum news_kind kind);
void news_text(struct news *news, const char *name, const char *text);
void news_number(struct news *news, const char *name, u64 number);
void news_say(struct news *news, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* NULL: there is no such field. */
const struct news_field *news_field(const struct news *news, const char *name);

/* "MTS_WAITED_NS=5", with bytes that are not printable replaced if @clean. */
void news_assignment(const struct news_field *field, bool clean, char *buf, size_t size);

json_t *news_json(const struct news *news);

/* What an event of the kind may look like: for `hooks test`. */
void news_example(struct news *news, enum news_kind kind);

#endif /* MTSCTL_NEWS_H */
