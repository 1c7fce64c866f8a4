// SPDX-License-Identifier: GPL-2.0
/*
 * Hartman and Narasimhan's monitor (Virtual Memory-Induced Priority Inversion,
 * sections 3 and 4.2). It is constant: it uses little. It is reflective: it counts
 * its own use. It is locked into memory, like theirs.
 * It must go on while the host thrashes. So after its first sample it allocates
 * nothing, opens no file but the device, and touches no new page.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "format.h"
#include "ipc.h"
#include "mtsctl.h"
#include "ticker.h"
#include "values.h"
#include "vitals.h"

#define SECOND 1000000000ull
#define LINE_SIZE 1024

/* A sample: counters since boot or since the start, and present values. */
struct look {
	u64 time_ns; /* CLOCK_REALTIME */
	struct vitals vitals;
	bool module;
	struct mts_status status;
	u64 cpu_ns; /* of this process */
	u64 majflt;
	u64 minflt;
};

static u64 clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

/* Open and close the device each time: an open device keeps the module from being unloaded. */
static void look_at_module(struct look *look)
{
	static bool said;
	int err;

	err = -ipc_open();
	if (!err)
		err = -ipc_status(&look->status);
	ipc_close();
	look->module = !err;
	if (err && !said)
		complain("monitor: %s: %s: fields of the module stay empty", ipc_name(),
			 device_error(err));
	said |= err != 0;
}

static int look_around(struct look *look)
{
	struct rusage usage;
	int ret;

	look->time_ns = clock_ns(CLOCK_REALTIME);
	ret = vitals_read(&look->vitals);
	if (ret)
		return ret;
	look_at_module(look);
	getrusage(RUSAGE_SELF, &usage);
	look->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	look->majflt = usage.ru_majflt;
	look->minflt = usage.ru_minflt;
	return 0;
}

/* ---- a line -------------------------------------------------------------------- */

struct line {
	char text[LINE_SIZE];
	size_t used;
	bool json;
};

/* Add a field. A @value of NULL means: no value at the moment. */
static void put(struct line *line, const char *name, const char *value)
{
	int n;

	if (line->json)
		n = snprintf(line->text + line->used, LINE_SIZE - line->used, "%s\"%s\": %s",
			     line->used ? ", " : "{", name, value && *value ? value : "null");
	else
		n = snprintf(line->text + line->used, LINE_SIZE - line->used, "%s%s",
			     line->used ? "," : "", value ? value : "");
	line->used += n;
}

static void put_u64(struct line *line, const char *name, bool known, u64 value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", value);
	put(line, name, known ? text : NULL);
}

static void make_line(struct line *line, const struct look *last, const struct look *now, u64 late)
{
	const struct vitals *v = &now->vitals, *before = &last->vitals;
	u32 bin = now->status.current_bin;

	line->used = 0;
	if (line->json)
		put_u64(line, "schema_version", true, JSON_SCHEMA_VERSION);
	put_u64(line, "time_ns", true, now->time_ns);
	put_u64(line, "late_ns", true, late);
	put(line, "load", v->load);
	put_u64(line, "mem_available", true, v->mem_available);
	put_u64(line, "swap_free", true, v->swap_free);
	put_u64(line, "pswpin", true, v->pswpin - before->pswpin);
	put_u64(line, "pswpout", true, v->pswpout - before->pswpout);
	put_u64(line, "pgmajfault", true, v->pgmajfault - before->pgmajfault);
	put_u64(line, "bin", now->module && bin != MTS_BIN_NONE, bin);
	put_u64(line, "frozen", now->module, now->status.frozen);
	put_u64(line, "own_cpu_ns", true, now->cpu_ns - last->cpu_ns);
	put_u64(line, "own_majflt", true, now->majflt - last->majflt);
	put_u64(line, "own_minflt", true, now->minflt - last->minflt);
	line->used += snprintf(line->text + line->used, LINE_SIZE - line->used,
			       line->json ? "}\n" : "\n");
}

#define CSV_HEAD                                                                             \
	"time_ns,late_ns,load,mem_available,swap_free,pswpin,pswpout,pgmajfault,bin,frozen," \
	"own_cpu_ns,own_majflt,own_minflt\n"

/* Without stdio, which would allocate memory. Return: an exit status. */
static int write_out(struct ticker *ticker, const char *text, size_t size)
{
	struct output_end end = ticker_end(ticker);
	int err = output_write(&end, text, size);

	if (err)
		complain("standard output: %s", strerror(-err));
	return err ? EXIT_FAILED : EXIT_OK;
}

static int watch(struct ticker *ticker, u32 count, bool json)
{
	static struct line line;
	static struct look looks[2];
	u32 n = 0;
	int ret = EXIT_OK;

	/* The first sample touches all the memory that later samples need. */
	line.json = json;
	if (look_around(&looks[0]))
		goto failed;
	make_line(&line, &looks[0], &looks[0], 0);
	if (!json)
		ret = write_out(ticker, CSV_HEAD, strlen(CSV_HEAD));
	if (look_around(&looks[0]))
		goto failed;
	while (!ret && (!count || n < count) && ticker_wait(ticker, -1) == TICK) {
		const struct look *last = &looks[n % 2];
		struct look *now = &looks[++n % 2];

		if (look_around(now))
			goto failed;
		make_line(&line, last, now, ticker->late);
		ret = write_out(ticker, line.text, line.used);
	}
	return ret;
failed:
	complain("monitor: /proc cannot be read");
	return EXIT_FAILED;
}

static int monitor(u64 interval, u32 count, bool json)
{
	struct ticker ticker;
	int ret;

	ret = vitals_open();
	if (!ret)
		ret = ticker_start(&ticker, interval);
	if (ret) {
		complain("monitor: /proc: %s", strerror(-ret));
		return EXIT_FAILED;
	}
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		complain("monitor: the memory cannot be locked (%s): lines may be late",
			 strerror(errno));
	ret = watch(&ticker, count, json);
	ticker_stop(&ticker);
	return ret;
}

int monitor_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {
		{ "interval", required_argument, NULL, 'i' },
		{ "count", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	u64 interval = SECOND;
	bool json = false;
	u32 count = 0;
	int opt, ret = EXIT_OK;

	while (!ret && (opt = next_option(command, argc, argv, "", options)) != OPTION_END) {
		switch (opt) {
		case 'i':
			ret = value_interval(command, "--interval ", optarg, &interval);
			break;
		case 'c':
			ret = value_count(command, "--count ", optarg, U32_MAX, &count);
			break;
		case 'j':
			json = true;
			break;
		case OPTION_HELP:
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (ret)
		return ret;
	if (optind != argc)
		return usage_error(command, "unexpected '%s'", argv[optind]);
	return monitor(interval, count, json);
}
