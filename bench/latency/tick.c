// SPDX-License-Identifier: GPL-2.0
/*
 * A periodic task, as a monitor is: it wakes up, uses its memory, and sleeps until the next time.
 * A time that was missed is made up for, late. Its parent has locked the memory in which the task
 * notes how late it was, and reports at the end, however far the task has come.
 */
#include "latency.h"

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "clock.h"
#include "proc.h"
#include "samples.h"
#include "signals.h"
#include "work.h"

#define LOOK_NS 10000000u /* between two looks whether the task has begun */

/*
 * Shared by both; followed by how late it woke up, and how late it was through, each time, and
 * by room for the parent's own sums.
 */
struct notes {
	uint64_t start_ns; /* 0: the task has not begun; atomic */
	uint64_t done; /* times; atomic */
	uint64_t late_ns[];
};

static struct notes *notes_get(uint64_t count)
{
	size_t size = sizeof(struct notes) + 3 * count * sizeof(uint64_t);
	struct notes *notes =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (notes == MAP_FAILED)
		err(EXIT_FAILURE, "no memory");
	return notes;
}

static __attribute__((noreturn)) void task(const struct options *options,
					   const struct schedule *schedule, struct notes *notes,
					   struct work_slot *slot)
{
	uint64_t *woke = notes->late_ns, *through = woke + schedule->count;
	struct memory memory;
	uint64_t start;

	memory_get(&memory, options);
	start = clock_now();
	__atomic_store_n(&notes->start_ns, start, __ATOMIC_RELEASE);
	for (uint64_t i = 0; i < schedule->count; i++) {
		uint64_t due = start + schedule->due_ns[i];

		while (clock_sleep_until(due) == EINTR)
			if (signalled)
				_exit(4);
		woke[i] = clock_now() - due;
		memory_use(&memory);
		through[i] = clock_now() - due;
		__atomic_store_n(&notes->done, i + 1, __ATOMIC_RELEASE);
		work_add(slot, 1);
	}
	_exit(EXIT_SUCCESS);
}

/* Until that time, unless the task or we are ended before. */
static void wait_until(uint64_t when)
{
	while (!signalled && clock_sleep_until(when))
		;
}

static void report(const struct options *options, const struct schedule *schedule,
		   struct notes *notes)
{
	uint64_t *woke = notes->late_ns, *through = woke + schedule->count;
	const uint64_t done = __atomic_load_n(&notes->done, __ATOMIC_ACQUIRE);
	const uint64_t count = schedule->count - schedule->first;
	const uint64_t missing = schedule->count - done < count ? schedule->count - done : count;
	/* The first of all has none before it. */
	const uint64_t from = schedule->first > 0 ? schedule->first - 1 : 0;
	uint64_t *jitter = through + schedule->count, differences;
	const uint64_t now = clock_now();

	for (uint64_t i = done; i < schedule->count; i++) {
		uint64_t due = notes->start_ns + schedule->due_ns[i];

		/* it may have woken up */
		if (i > done || !woke[i])
			woke[i] = now > due ? now - due : 0;
		through[i] = now > due ? now - due : 0;
	}
	/* Before the others are sorted. */
	differences = samples_differences(jitter, through + from, schedule->count - from);
	printf("{\"program\": \"latency\", \"part\": \"%s\", \"wake\": ", options->name);
	samples_print(stdout, woke + schedule->first, count, missing);
	fputs(", \"latency\": ", stdout);
	samples_print(stdout, through + schedule->first, count, missing);
	fputs(", \"jitter\": ", stdout);
	samples_print(stdout, jitter, differences, missing < differences ? missing : differences);
	puts("}");
	if (fflush(stdout) || ferror(stdout))
		err(EXIT_FAILURE, "cannot write the result");
}

int tick(const struct options *options)
{
	struct schedule schedule;
	struct work_slot *slot;
	struct notes *notes;
	uint64_t start;
	int status;
	pid_t pid;

	schedule_make(&schedule, options);
	notes = notes_get(schedule.count);
	slot = work_join(options->name, schedule.count);
	pid = children_fork(SIGKILL);
	if (!pid)
		task(options, &schedule, notes, slot);
	proc_lock();
	while (!(start = __atomic_load_n(&notes->start_ns, __ATOMIC_ACQUIRE)) && !signalled &&
	       !waitpid(pid, &status, WNOHANG))
		clock_sleep(LOOK_NS);
	if (!start)
		return signalled ? 4 : EXIT_FAILURE;
	wait_until(start + options->skip_ns + options->duration_ns);
	if (!signalled)
		report(options, &schedule, notes);
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status))
		return WEXITSTATUS(status);
	return signalled ? 4 : EXIT_SUCCESS;
}
