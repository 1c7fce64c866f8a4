// SPDX-License-Identifier: GPL-2.0
/* SYN8: the result, for people and for programs. */
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "clock.h"
#include "syn8.h"

static const char *const outcome_names[] = {
	[OUTCOME_DONE] = "done",
	[OUTCOME_LIMIT] = "limit",
	[OUTCOME_INTERRUPTED] = "interrupted",
	[OUTCOME_FAILED] = "failed",
};

static const char *const state_names[] = {
	[STATE_RUNNING] = "running",
	[STATE_DONE] = "done",
	[STATE_ENDED] = "ended",
	[STATE_FAILED] = "failed",
};

struct totals {
	uint64_t done;
	uint64_t minor;
	uint64_t major;
	double user; /* seconds */
	double system;
	unsigned int finished; /* processes */
	unsigned int failed;
};

static double timeval_seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static struct totals add_up(const struct options *options, const struct result *result)
{
	struct totals totals = { 0 };

	for (unsigned int i = 0; i < options->processes; i++) {
		const struct child *child = &result->children[i];

		totals.done += child->done;
		totals.minor += (uint64_t)child->usage.ru_minflt;
		totals.major += (uint64_t)child->usage.ru_majflt;
		totals.user += timeval_seconds(child->usage.ru_utime);
		totals.system += timeval_seconds(child->usage.ru_stime);
		totals.finished += child->state == STATE_DONE;
		totals.failed += child->state == STATE_FAILED;
	}
	return totals;
}

static double fraction(const struct options *options, uint64_t done)
{
	return (double)done / ((double)options->processes * (double)options->accesses);
}

/* Why a child failed; an empty text if it did not. */
static void why_failed(const struct child *child, char *text, size_t size)
{
	text[0] = '\0';
	if (child->state != STATE_FAILED)
		return;
	if (WIFSIGNALED(child->wait_status))
		snprintf(text, size, "killed by signal %d (%s)%s", WTERMSIG(child->wait_status),
			 strsignal(WTERMSIG(child->wait_status)),
			 WTERMSIG(child->wait_status) == SIGKILL ? ": out of memory?" : "");
	else if (child->error == CHILD_NO_MEMORY)
		snprintf(text, size, "could not allocate its memory");
	else if (child->error == CHILD_LOST_DATA)
		snprintf(text, size, "data lost: %" PRIu32 " bad pages", child->bad_pages);
	else
		snprintf(text, size, "exit status %d", WEXITSTATUS(child->wait_status));
}

void report_text(FILE *out, const struct options *options, const struct result *result)
{
	struct totals totals = add_up(options, result);
	char why[128];

	fprintf(out,
		"%u processes of %" PRIu64 " KiB, %" PRIu64 " accesses each, seed %" PRIu64 "\n",
		options->processes, options->size >> 10, options->accesses, options->seed);
	fprintf(out, "%7s %-7s %7s %10s %9s %9s %10s %10s\n", "child", "state", "work", "seconds",
		"user", "system", "minor", "major");
	for (unsigned int i = 0; i < options->processes; i++) {
		const struct child *child = &result->children[i];

		why_failed(child, why, sizeof(why));
		fprintf(out, "%7u %-7s %6.2f%% %10.3f %9.3f %9.3f %10ld %10ld%s%s\n", i,
			state_names[child->state],
			100.0 * (double)child->done / (double)options->accesses,
			clock_seconds(child->finished_ns - child->started_ns),
			timeval_seconds(child->usage.ru_utime),
			timeval_seconds(child->usage.ru_stime), child->usage.ru_minflt,
			child->usage.ru_majflt, *why ? "  " : "", why);
	}
	fprintf(out, "outcome       %s\n", outcome_names[result->outcome]);
	fprintf(out, "elapsed       %.3f s\n", clock_seconds(result->elapsed_ns));
	fprintf(out, "work done     %.4f%%\n", 100.0 * fraction(options, totals.done));
	fprintf(out, "processes     %u finished, %u failed\n", totals.finished, totals.failed);
	fprintf(out, "faults        %" PRIu64 " minor, %" PRIu64 " major\n", totals.minor,
		totals.major);
	fprintf(out, "pages swapped %" PRIu64 " in, %" PRIu64 " out (whole host)\n",
		result->swaps.in, result->swaps.out);
}

void report_json(FILE *out, const struct options *options, const struct result *result)
{
	struct totals totals = add_up(options, result);
	char why[128];

	fprintf(out,
		"{\"parameters\": {\"processes\": %u, \"size\": %" PRIu64 ", \"accesses\": %" PRIu64
		", \"seed\": %" PRIu64 ", \"limit\": %.3f},\n",
		options->processes, options->size, options->accesses, options->seed,
		clock_seconds(options->limit_ns));
	fprintf(out, " \"children\": [\n");
	for (unsigned int i = 0; i < options->processes; i++) {
		const struct child *child = &result->children[i];

		why_failed(child, why, sizeof(why));
		fprintf(out,
			"  {\"pid\": %d, \"state\": \"%s\", \"error\": \"%s\""
			", \"accesses\": %" PRIu64
			", \"elapsed\": %.9f, \"user\": %.6f, \"system\": %.6f"
			", \"minor_faults\": %ld, \"major_faults\": %ld}%s\n",
			(int)child->pid, state_names[child->state], why, child->done,
			clock_seconds(child->finished_ns - child->started_ns),
			timeval_seconds(child->usage.ru_utime),
			timeval_seconds(child->usage.ru_stime), child->usage.ru_minflt,
			child->usage.ru_majflt, i + 1 < options->processes ? "," : "");
	}
	fprintf(out,
		" ],\n \"outcome\": \"%s\", \"elapsed\": %.9f, \"work_done\": %.9f"
		", \"accesses\": %" PRIu64 ",\n \"user\": %.6f, \"system\": %.6f"
		", \"minor_faults\": %" PRIu64 ", \"major_faults\": %" PRIu64
		", \"pswpin\": %" PRIu64 ", \"pswpout\": %" PRIu64
		",\n \"finished\": %u, \"failed\": %u}\n",
		outcome_names[result->outcome], clock_seconds(result->elapsed_ns),
		fraction(options, totals.done), totals.done, totals.user, totals.system,
		totals.minor, totals.major, result->swaps.in, result->swaps.out, totals.finished,
		totals.failed);
}
