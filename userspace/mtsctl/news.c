// SPDX-License-Identifier: GPL-2.0
#include "news.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "format.h"

#define SECOND 1000000000ull

static const struct {
	const char *word;
	const char *id;
	int level;
} kinds[] = {
	[NEWS_BEGIN] = { "begin", "47f8654ca136489680d9987e7c856c04", LOG_INFO },
	[NEWS_END] = { "end", "589b21ce4a1243a0b87c700efbf9d8b9", LOG_INFO },
	[NEWS_STOP] = { "stop", "172d9ac2aba7462ea8c66fb3284c5458", LOG_WARNING },
	[NEWS_WAIT] = { "wait", "49ccbaf16436439e86a6c468242beed0", LOG_NOTICE },
	[NEWS_SWAP] = { "swap-full", "3c404265a77640dc808a3a0ca78d351b", LOG_WARNING },
};

const char *news_word(enum news_kind kind)
{
	return kinds[kind].word;
}

const char *news_id(enum news_kind kind)
{
	return kinds[kind].id;
}

int news_level(enum news_kind kind)
{
	return kinds[kind].level;
}

bool news_find(const char *word, enum news_kind *kind)
{
	for (u32 i = 0; i < NEWS_KINDS; i++) {
		if (strcmp(kinds[i].word, word))
			continue;
		*kind = i;
		return true;
	}
	return false;
}

void news_start(struct news *news, enum news_kind kind)
{
	*news = (struct news){ .kind = kind };
}

/* A piece of news has fewer fields than there is room for: the tables in this file say so. */
static struct news_field *add(struct news *news, const char *name)
{
	struct news_field *field = &news->fields[mts_min(news->n, NEWS_FIELDS - 1)];

	news->n = mts_min(news->n + 1, NEWS_FIELDS);
	*field = (struct news_field){ .name = name };
	return field;
}

void news_text(struct news *news, const char *name, const char *text)
{
	struct news_field *field = add(news, name);

	snprintf(field->text, sizeof(field->text), "%s", text);
}

void news_number(struct news *news, const char *name, u64 number)
{
	struct news_field *field = add(news, name);

	field->is_number = true;
	field->number = number;
	snprintf(field->text, sizeof(field->text), "%llu", number);
}

void news_say(struct news *news, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(news->message, sizeof(news->message), format, args);
	va_end(args);
}

const struct news_field *news_field(const struct news *news, const char *name)
{
	for (u32 i = 0; i < news->n; i++)
		if (!strcmp(news->fields[i].name, name))
			return &news->fields[i];
	return NULL;
}

void news_assignment(const struct news_field *field, bool clean, char *buf, size_t size)
{
	size_t used = snprintf(buf, size, NEWS_PREFIX "%s=", field->name);

	for (char *c = buf + strlen(NEWS_PREFIX); *c; c++)
		*c = toupper((unsigned char)*c);
	if (clean)
		format_text(buf + used, size - used, field->text);
	else
		snprintf(buf + used, size - used, "%s", field->text);
}

json_t *news_json(const struct news *news)
{
	json_t *root = json_object();

	json_put(&root, "event", json_string(news_word(news->kind)));
	for (u32 i = 0; i < news->n; i++) {
		const struct news_field *field = &news->fields[i];

		json_put(&root, field->name,
			 field->is_number ? json_u64(field->number) : json_text(field->text));
	}
	json_put(&root, "message", json_text(news->message));
	return root;
}

/* Of a host of 16 GiB, whose jobs need 30. */
void news_example(struct news *news, enum news_kind kind)
{
	news_start(news, kind);
	news_text(news, "from", "module");
	switch (kind) {
	case NEWS_BEGIN:
		news_text(news, "reason", "overcommit");
		news_text(news, "detail", "the jobs' demand exceeds the capacity");
		news_number(news, "jobs", 4);
		news_number(news, "demand", 30ull << 30);
		news_number(news, "capacity", 14ull << 30);
		news_say(news, "turns begin: the jobs' demand exceeds the capacity");
		break;
	case NEWS_END:
		news_text(news, "reason", "fits");
		news_text(news, "detail", "the jobs' demand fits in the capacity");
		news_number(news, "acted_ns", 5400 * SECOND);
		news_text(news, "job", "example");
		news_number(news, "job_id", 1);
		news_number(news, "waited_ns", 29 * SECOND);
		news_say(news, "turns end: the jobs' demand fits in the capacity");
		break;
	case NEWS_STOP:
		news_text(news, "reason", "oom");
		news_text(news, "detail", "the kernel was out of memory");
		news_say(news, "mts has stopped, all jobs run: the kernel was out of memory");
		break;
	case NEWS_WAIT:
		news_text(news, "job", "example");
		news_number(news, "job_id", 1);
		news_number(news, "waited_ns", 61 * SECOND);
		news_say(news, "the job example has been frozen for 1m 01s");
		break;
	case NEWS_SWAP:
		news_number(news, "swap_free", 1ull << 30);
		news_number(news, "swap_total", 32ull << 30);
		news_say(news, "swap is nearly full: 1.0 GiB of 32.0 GiB are free");
		break;
	case NEWS_KINDS:
		break;
	}
	news_number(news, "test", 1);
}
