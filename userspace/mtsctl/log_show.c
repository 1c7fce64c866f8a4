// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format.h"
#include "log.h"
#include "mtsctl.h"
#include "news.h"

#define SECOND 1000000000ull
/* Lines of each part on a screen of 24. */
#define TURNS_SHOWN 7u
#define STOPS_SHOWN 4u
#define WAITS_SHOWN 4u

/* ---- entries -------------------------------------------------------------------------------- */

/* A text that is not UTF-8, or has bytes that cannot be printed, is an array of bytes. */
static void join_bytes(json_t *array, char *text, size_t size)
{
	size_t n = mts_min(json_array_size(array), size - 1);

	for (size_t i = 0; i < n; i++) {
		json_int_t byte = json_integer_value(json_array_get(array, i));

		text[i] = byte > 0 && byte < 256 ? (char)byte : '\0';
	}
	text[n] = '\0';
}

/* "": there is no such field, or it is no text. It is there until the next call. */
static const char *text_of(json_t *entry, const char *name)
{
	static char text[NEWS_TEXT];
	char field[64];
	json_t *value;

	snprintf(field, sizeof(field), NEWS_PREFIX "%s", name);
	value = json_object_get(entry, field);
	if (!json_is_array(value))
		return json_string_value(value) ?: "";
	join_bytes(value, text, sizeof(text));
	return text;
}

static u64 number_of(json_t *entry, const char *name)
{
	return strtoull(text_of(entry, name), NULL, 10);
}

#define COPY(field, entry, name) snprintf(field, sizeof(field), "%s", text_of(entry, name))

/* Return: room for one more, zeroed; NULL: there is no memory. */
static void *more(struct log *log, struct log_list *list, size_t size)
{
	char *all = realloc(list->all, (list->n + 1) * size);

	if (!all) {
		log->is_short = true;
		return NULL;
	}
	list->all = all;
	return memset(all + list->n++ * size, 0, size);
}

static struct log_turns *turns_of(const struct log *log)
{
	return log->turns.all;
}

static void add_begin(struct log *log, json_t *entry)
{
	struct log_turns *turns = more(log, &log->turns, sizeof(*turns));

	if (!turns)
		return;
	turns->began_ns = number_of(entry, "TIME_NS");
	turns->times = mts_max(number_of(entry, "TIMES"), 1);
	COPY(turns->reason, entry, "REASON");
	COPY(turns->detail, entry, "DETAIL");
}

static void add_end(struct log *log, json_t *entry)
{
	struct log_turns *turns = log->turns.n ? turns_of(log) + log->turns.n - 1 : NULL;
	u64 time = number_of(entry, "TIME_NS"), acted = number_of(entry, "ACTED_NS");

	/* They began before the first entry. */
	if (!turns || turns->ended_ns) {
		turns = more(log, &log->turns, sizeof(*turns));
		if (!turns)
			return;
		turns->times = 1;
		turns->began_ns = acted ? mts_sub_floor(time, acted) : 0;
	}
	turns->ended_ns = time;
	COPY(turns->end_reason, entry, "REASON");
	COPY(turns->end_detail, entry, "DETAIL");
}

static void add_stop(struct log *log, json_t *entry)
{
	struct log_stop *stop = more(log, &log->stops, sizeof(*stop));

	if (!stop)
		return;
	stop->time_ns = number_of(entry, "TIME_NS");
	stop->times = mts_max(number_of(entry, "TIMES"), 1);
	COPY(stop->reason, entry, "REASON");
	COPY(stop->detail, entry, "DETAIL");
}

/* Of each job the longest one. */
static void add_wait(struct log *log, json_t *entry)
{
	u64 id = number_of(entry, "JOB_ID"), waited = number_of(entry, "WAITED_NS");
	struct log_wait *wait = log->waits.all;
	u32 i;

	if (!waited)
		return;
	for (i = 0; i < log->waits.n; i++)
		if (wait[i].id == id && !strcmp(wait[i].name, text_of(entry, "JOB")))
			break;
	if (i == log->waits.n) {
		if (!more(log, &log->waits, sizeof(*wait)))
			return;
		wait = log->waits.all;
	}
	if (waited <= wait[i].waited_ns)
		return;
	wait[i].id = id;
	wait[i].waited_ns = waited;
	wait[i].time_ns = number_of(entry, "TIME_NS");
	COPY(wait[i].name, entry, "JOB");
}

static void add_swap(struct log *log, json_t *entry)
{
	struct log_swap *swap = more(log, &log->swaps, sizeof(*swap));

	if (!swap)
		return;
	swap->time_ns = number_of(entry, "TIME_NS");
	swap->swap_free = number_of(entry, "SWAP_FREE");
	swap->swap_total = number_of(entry, "SWAP_TOTAL");
}

void log_add(struct log *log, json_t *entry)
{
	enum news_kind kind;

	if (!news_find(text_of(entry, "EVENT"), &kind))
		return;
	if (kind == NEWS_BEGIN)
		add_begin(log, entry);
	else if (kind == NEWS_END)
		add_end(log, entry);
	else if (kind == NEWS_STOP)
		add_stop(log, entry);
	else if (kind == NEWS_SWAP)
		add_swap(log, entry);
	if (kind == NEWS_END || kind == NEWS_WAIT)
		add_wait(log, entry);
}

void log_free(struct log *log)
{
	free(log->turns.all);
	free(log->stops.all);
	free(log->waits.all);
	free(log->swaps.all);
}

static int by_length(const void *a, const void *b)
{
	const struct log_wait *one = a, *other = b;

	return (one->waited_ns < other->waited_ns) - (one->waited_ns > other->waited_ns);
}

static void sort_waits(struct log *log)
{
	if (log->waits.n)
		qsort(log->waits.all, log->waits.n, sizeof(struct log_wait), by_length);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* "Nov 29 22:04:05", of this host's time zone. */
static const char *format_when(char buf[FORMAT_SIZE], u64 ns)
{
	time_t when = ns / SECOND;
	struct tm tm;

	if (!ns || !localtime_r(&when, &tm) || !strftime(buf, FORMAT_SIZE, "%b %e %H:%M:%S", &tm))
		snprintf(buf, FORMAT_SIZE, "%-15s", "?");
	return buf;
}

static void print_cut(const char *prefix, const char *text)
{
	char clean[MTS_DETAIL_SIZE * 2 + 64];
	int width = COLUMNS - (int)strlen(prefix);

	format_text(clean, sizeof(clean), text);
	if ((int)strlen(clean) > width)
		strcpy(clean + width - 2, "..");
	printf("%s%s\n", prefix, clean);
}

static const char *how_often(char buf[FORMAT_SIZE], u64 n)
{
	if (n == 1)
		return "once";
	snprintf(buf, FORMAT_SIZE, "%llu times", n);
	return buf;
}

static void show_one_turns(const struct log_turns *turns)
{
	char when[FORMAT_SIZE], length[FORMAT_SIZE] = "", prefix[64],
				text[2 * MTS_DETAIL_SIZE + 64];

	if (turns->began_ns && turns->ended_ns && turns->times == 1)
		format_time(length, mts_sub_floor(turns->ended_ns, turns->began_ns));
	else if (turns->times > 1)
		snprintf(length, sizeof(length), "%llu times", turns->times);
	snprintf(prefix, sizeof(prefix), "  %s  %-9s ", format_when(when, turns->began_ns), length);
	if (!turns->ended_ns)
		snprintf(text, sizeof(text), "%s; not ended", turns->reason);
	else
		snprintf(text, sizeof(text), "%s; ended: %s, %s",
			 *turns->reason ? turns->reason : "began earlier", turns->end_reason,
			 turns->end_detail);
	print_cut(prefix, text);
}

static void show_turns(const struct log *log)
{
	const struct log_turns *all = turns_of(log);
	char buf[FORMAT_SIZE], time[FORMAT_SIZE];
	u64 n = 0, acted = 0;
	u32 first = log->turns.n > TURNS_SHOWN ? log->turns.n - TURNS_SHOWN : 0;

	for (u32 i = 0; i < log->turns.n; i++) {
		n += all[i].times;
		if (all[i].began_ns && all[i].ended_ns)
			acted += mts_sub_floor(all[i].ended_ns, all[i].began_ns);
	}
	if (!n) {
		printf("Turns: none\n");
		return;
	}
	printf("Turns: %s, %s in all\n", how_often(buf, n), format_time(time, acted));
	if (first)
		printf("  (%u earlier: --json)\n", first);
	for (u32 i = first; i < log->turns.n; i++)
		show_one_turns(&all[i]);
}

static void show_stops(const struct log *log)
{
	const struct log_stop *all = log->stops.all;
	char buf[FORMAT_SIZE], prefix[64], text[MTS_DETAIL_SIZE + 32];
	u32 first = log->stops.n > STOPS_SHOWN ? log->stops.n - STOPS_SHOWN : 0;
	u64 n = 0;

	for (u32 i = 0; i < log->stops.n; i++)
		n += all[i].times;
	if (!n) {
		printf("Stops: none\n");
		return;
	}
	printf("Stops: %s\n", how_often(buf, n));
	if (first)
		printf("  (%u earlier: --json)\n", first);
	for (u32 i = first; i < log->stops.n; i++) {
		snprintf(prefix, sizeof(prefix), "  %s  ", format_when(buf, all[i].time_ns));
		snprintf(text, sizeof(text), "%s: %s", all[i].reason, all[i].detail);
		print_cut(prefix, text);
	}
}

static void show_waits(const struct log *log)
{
	const struct log_wait *all = log->waits.all;
	char when[FORMAT_SIZE], time[FORMAT_SIZE], name[40];

	if (!log->waits.n)
		return;
	printf("Longest waits:\n");
	for (u32 i = 0; i < log->waits.n && i < WAITS_SHOWN; i++)
		printf("  %s  %-9s %s\n", format_when(when, all[i].time_ns),
		       format_time(time, all[i].waited_ns),
		       format_name_short(name, sizeof(name) - 1, all[i].name));
}

static void show_swap(const struct log *log)
{
	const struct log_swap *all = log->swaps.all;
	char buf[FORMAT_SIZE], when[FORMAT_SIZE], size[FORMAT_SIZE];

	if (!log->swaps.n)
		return;
	printf("Swap nearly full: %s, last %s with %s free\n", how_often(buf, log->swaps.n),
	       format_when(when, all[log->swaps.n - 1].time_ns),
	       format_size(size, all[log->swaps.n - 1].swap_free));
}

int log_show(struct log *log, u64 since_s)
{
	char when[FORMAT_SIZE];

	sort_waits(log);
	printf("Since %s\n", format_when(when, since_s * SECOND));
	if (!log->turns.n && !log->stops.n && !log->waits.n && !log->swaps.n) {
		printf("No news. mts-hooks.service writes them, if it is enabled "
		       "(systemctl enable --now\nmts-hooks)%s.\n",
		       geteuid() ? ", and root can read them, and the group systemd-journal" : "");
		return EXIT_OK;
	}
	show_turns(log);
	show_stops(log);
	show_waits(log);
	show_swap(log);
	return EXIT_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *turns_json(const struct log *log)
{
	json_t *list = json_array();

	for (u32 i = 0; i < log->turns.n; i++) {
		const struct log_turns *turns = &turns_of(log)[i];
		bool ended = turns->ended_ns;
		json_t *one = json_object();

		json_put(&one, "began_ns", json_u64_or_null(turns->began_ns));
		json_put(&one, "ended_ns", json_u64_or_null(turns->ended_ns));
		json_put(&one, "times", json_u64(turns->times));
		json_put(&one, "reason", *turns->reason ? json_text(turns->reason) : json_null());
		json_put(&one, "detail", *turns->reason ? json_text(turns->detail) : json_null());
		json_put(&one, "end_reason", ended ? json_text(turns->end_reason) : json_null());
		json_put(&one, "end_detail", ended ? json_text(turns->end_detail) : json_null());
		json_append(&list, one);
	}
	return list;
}

static json_t *stops_json(const struct log *log)
{
	const struct log_stop *all = log->stops.all;
	json_t *list = json_array();

	for (u32 i = 0; i < log->stops.n; i++) {
		json_t *one = json_object();

		json_put(&one, "time_ns", json_u64(all[i].time_ns));
		json_put(&one, "times", json_u64(all[i].times));
		json_put(&one, "reason", json_text(all[i].reason));
		json_put(&one, "detail", json_text(all[i].detail));
		json_append(&list, one);
	}
	return list;
}

static json_t *waits_json(const struct log *log)
{
	const struct log_wait *all = log->waits.all;
	json_t *list = json_array();

	for (u32 i = 0; i < log->waits.n; i++) {
		json_t *one = json_object();

		json_put(&one, "job", json_text(all[i].name));
		json_put(&one, "job_id", json_u64(all[i].id));
		json_put(&one, "waited_ns", json_u64(all[i].waited_ns));
		json_put(&one, "time_ns", json_u64(all[i].time_ns));
		json_append(&list, one);
	}
	return list;
}

static json_t *swaps_json(const struct log *log)
{
	const struct log_swap *all = log->swaps.all;
	json_t *list = json_array();

	for (u32 i = 0; i < log->swaps.n; i++) {
		json_t *one = json_object();

		json_put(&one, "time_ns", json_u64(all[i].time_ns));
		json_put(&one, "swap_free", json_u64(all[i].swap_free));
		json_put(&one, "swap_total", json_u64(all[i].swap_total));
		json_append(&list, one);
	}
	return list;
}

int log_show_json(struct log *log, u64 since_s)
{
	json_t *root = json_root();

	sort_waits(log);
	json_put(&root, "since_ns", json_u64(since_s * SECOND));
	json_put(&root, "turns", turns_json(log));
	json_put(&root, "stops", stops_json(log));
	json_put(&root, "waits", waits_json(log));
	json_put(&root, "swap_full", swaps_json(log));
	return json_print(root);
}
