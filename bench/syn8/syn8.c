// SPDX-License-Identifier: GPL-2.0
/*
 * SYN8: the synthetic benchmark of Reuven & Wiseman, section 5.1.
 *
 * This file is the parent: it forks the children, watches them, ends them at the limit, and
 * collects what they did. It is small, locks its memory, and sleeps in between, so that it can
 * still tell the time while the host thrashes.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "syn8.h"

struct run {
	const struct options *options;
	struct child_slot *slots; /* shared with the children */
	struct child *children;
	unsigned int started;
	unsigned int running;
	FILE *progress;
	uint64_t start_ns;
	struct swaps start_swaps;
};

static __attribute__((noreturn)) void die(const char *what)
{
	fprintf(stderr, "syn8: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILED);
}

/* Pages swapped since the host booted; zero where the kernel does not count them. */
static struct swaps read_swaps(void)
{
	struct swaps swaps = { 0 };
	char name[64];
	uint64_t value;
	FILE *file = fopen("/proc/vmstat", "re");

	if (!file)
		die("/proc/vmstat");
	while (fscanf(file, "%63s %" SCNu64, name, &value) == 2) {
		if (!strcmp(name, "pswpin"))
			swaps.in = value;
		else if (!strcmp(name, "pswpout"))
			swaps.out = value;
	}
	fclose(file);
	return swaps;
}

static struct swaps swaps_since_start(const struct run *run)
{
	struct swaps now = read_swaps();

	return (struct swaps){ .in = now.in - run->start_swaps.in,
			       .out = now.out - run->start_swaps.out };
}

static __attribute__((noreturn)) void child_main(const struct run *run, unsigned int index,
						 pid_t parent, const sigset_t *unblocked)
{
	/* A terminal's interrupt goes to all: the parent reports first, then ends the children. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	sigprocmask(SIG_SETMASK, unblocked, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILED);
	_exit(child_run(run->options, index, &run->slots[index], run->children[index].work));
}

static void child_reaped(struct run *run, struct child *child, int wait_status,
			 const struct rusage *usage)
{
	const struct child_slot *slot = &run->slots[child - run->children];

	child->wait_status = wait_status;
	child->usage = *usage;
	run->running--;
	if (child->state != STATE_RUNNING)
		return; /* ended by us: its work was noted then */
	child->done = slot->done;
	child->error = slot->error;
	child->bad_pages = slot->bad_pages;
	child->state = wait_status ? STATE_FAILED : STATE_DONE;
	child->finished_ns = slot->finished_ns ? slot->finished_ns : clock_now();
}

static void reap(struct run *run, int flags)
{
	struct rusage usage;
	int wait_status;
	pid_t pid;

	while (run->running && (pid = wait4(-1, &wait_status, flags, &usage)) > 0)
		for (unsigned int i = 0; i < run->started; i++)
			if (run->children[i].pid == pid)
				child_reaped(run, &run->children[i], wait_status, &usage);
}

/* The counter for the laboratory's driver, beside the report: bench/common/work.h. */
static void join_work(struct run *run)
{
	char name[32];

	if (!getenv("LAB_WORK"))
		return;
	for (unsigned int i = 0; i < run->options->processes; i++) {
		snprintf(name, sizeof(name), "syn8.%u", i);
		run->children[i].work = work_join(name, run->options->accesses);
	}
}

/* Notes the work done up to now before anything else, then ends what still runs. */
static void end_children(struct run *run)
{
	uint64_t now = clock_now();

	reap(run, WNOHANG);
	for (unsigned int i = 0; i < run->started; i++) {
		struct child *child = &run->children[i];

		if (child->state == STATE_RUNNING) {
			child->done = run->slots[i].done;
			child->state = STATE_ENDED;
			child->finished_ns = now;
		}
	}
	for (unsigned int i = 0; i < run->started; i++)
		if (run->children[i].state == STATE_ENDED)
			kill(run->children[i].pid, SIGKILL);
	reap(run, 0);
}

static void start_children(struct run *run, const sigset_t *unblocked)
{
	pid_t parent = getpid();

	for (unsigned int i = 0; i < run->options->processes; i++) {
		struct child *child = &run->children[i];

		child->started_ns = clock_now();
		child->pid = fork();
		if (!child->pid)
			child_main(run, i, parent, unblocked);
		if (child->pid < 0) {
			int error = errno;

			end_children(run);
			errno = error;
			die("fork");
		}
		run->started++;
		run->running++;
	}
}

static void print_progress(const struct run *run)
{
	const struct options *options = run->options;
	double all = (double)options->processes * (double)options->accesses;
	struct swaps swaps = swaps_since_start(run);
	uint64_t done = 0;

	for (unsigned int i = 0; i < run->started; i++)
		done += run->slots[i].done;
	fprintf(run->progress,
		"syn8: seconds=%.3f work=%.6f accesses=%" PRIu64 " running=%u pswpin=%" PRIu64
		" pswpout=%" PRIu64 "\n",
		(double)(clock_now() - run->start_ns) / 1e9, (double)done / all, done, run->running,
		swaps.in, swaps.out);
	fflush(run->progress);
}

/* Until all children have ended, the limit, or a signal. */
static enum outcome watch(struct run *run, const sigset_t *signals)
{
	const struct options *options = run->options;
	uint64_t limit = options->limit_ns ? run->start_ns + options->limit_ns : UINT64_MAX;
	uint64_t next = options->interval_ns ? run->start_ns + options->interval_ns : UINT64_MAX;

	while (run->running) {
		uint64_t now = clock_now();
		uint64_t until = limit < next ? limit : next;
		struct timespec wait = { .tv_sec = 3600 };
		int signal;

		if (now >= limit)
			return OUTCOME_LIMIT;
		if (now >= next) {
			print_progress(run);
			/* lines that were missed are not made up for */
			next += (now - next) / options->interval_ns * options->interval_ns +
				options->interval_ns;
			continue;
		}
		if (until != UINT64_MAX) {
			wait.tv_sec = (time_t)((until - now) / 1000000000u);
			wait.tv_nsec = (long)((until - now) % 1000000000u);
		}
		signal = sigtimedwait(signals, NULL, &wait);
		if (signal == SIGINT || signal == SIGTERM)
			return OUTCOME_INTERRUPTED;
		reap(run, WNOHANG);
	}
	return OUTCOME_DONE;
}

static void prepare(struct run *run)
{
	const struct options *options = run->options;

	run->slots = mmap(NULL, options->processes * sizeof(*run->slots), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (run->slots == MAP_FAILED)
		die("mmap");
	run->children = calloc(options->processes, sizeof(*run->children));
	if (!run->children)
		die("calloc");
	join_work(run);
	run->progress = stderr;
	if (options->progress) {
		run->progress = fopen(options->progress, "ae");
		if (!run->progress)
			die(options->progress);
	}
	/* Not inherited by the children. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		fprintf(stderr, "syn8: cannot lock the parent's memory (%s): --limit may be late\n",
			strerror(errno));
}

int main(int argc, char **argv)
{
	static const int exit_codes[] = {
		[OUTCOME_DONE] = EXIT_DONE,
		[OUTCOME_LIMIT] = EXIT_LIMIT,
		[OUTCOME_INTERRUPTED] = EXIT_INTERRUPTED,
		[OUTCOME_FAILED] = EXIT_FAILED,
	};
	struct options options;
	struct run run = { .options = &options };
	struct result result;
	sigset_t signals, unblocked;

	options_parse(&options, argc, argv);
	prepare(&run);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, &unblocked);

	run.start_swaps = read_swaps();
	run.start_ns = clock_now();
	start_children(&run, &unblocked);
	result.outcome = watch(&run, &signals);
	result.elapsed_ns = clock_now() - run.start_ns;
	result.swaps = swaps_since_start(&run);
	end_children(&run);

	result.children = run.children;
	for (unsigned int i = 0; i < options.processes; i++)
		if (run.children[i].state == STATE_FAILED)
			result.outcome = OUTCOME_FAILED;
	if (options.json)
		report_json(stdout, &options, &result);
	else
		report_text(stdout, &options, &result);
	if (fflush(stdout) || ferror(stdout))
		die("cannot write the result");
	return exit_codes[result.outcome];
}
