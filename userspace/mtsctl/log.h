/* SPDX-License-Identifier: GPL-2.0 */
/* mtsctl log: what the journal's news add up to. */
#ifndef MTSCTL_LOG_H
#define MTSCTL_LOG_H

#include <jansson.h>
#include <stdbool.h>

#include "policy/pure.h"
#include "uapi/mts.h"

/* Turns, from one end to the other. Times are CLOCK_REALTIME, ns; 0: not known. */
struct log_turns {
	u64 began_ns, ended_ns;
	u64 times; /* more than once, between two looks */
	char reason[24], detail[MTS_DETAIL_SIZE]; /* why they began */
	char end_reason[24], end_detail[MTS_DETAIL_SIZE]; /* why they ended */
};

struct log_stop {
	u64 time_ns;
	u64 times;
	char reason[24], detail[MTS_DETAIL_SIZE];
};

/* The longest wait of a job. */
struct log_wait {
	u64 time_ns;
	u64 waited_ns;
	u64 id;
	char name[MTS_NAME_SIZE];
};

struct log_swap {
	u64 time_ns;
	u64 swap_free, swap_total;
};

struct log_list {
	void *all;
	u32 n;
};

struct log {
	struct log_list turns, stops, waits, swaps;
	bool is_short; /* of memory */
};

/* Takes the next entry of the journal: an object of its fields, whose values are texts. */
void log_add(struct log *log, json_t *entry);
void log_free(struct log *log);

/* Print all of it; on one screen, or as JSON. Return: an exit status. */
int log_show(struct log *log, u64 since_s);
int log_show_json(struct log *log, u64 since_s);

/*
 * 12h, 22:00, today, yesterday, 2026-11-29, "2026-11-29 22:00[:30]": seconds since 1970, before
 * @now. Return: NULL, or a text that says what is wrong.
 */
const char *log_parse_since(const char *text, u64 now, u64 *since);

#endif /* MTSCTL_LOG_H */
