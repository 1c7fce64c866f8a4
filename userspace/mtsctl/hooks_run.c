// SPDX-License-Identifier: GPL-2.0
#include "hooks_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format.h"

#define SECOND 1000000000ull
/* From SIGTERM to SIGKILL. */
#define GRACE_NS (2 * SECOND)

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

void hooks_run_begin(struct hooks_run *run)
{
	run->input = -1;
	/* What a hook leaves behind becomes a child, and is reaped. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void hooks_run_add(struct hooks_run *run, const struct news *news)
{
	typeof(run->slots[0]) *slot = &run->slots[news->kind];

	slot->order = ++run->orders;
	slot->waits = true;
	slot->merged++;
	slot->news = *news;
}

/* ---- what a hook gets --------------------------------------------------------------------- */

/* Is it the same variable? */
static bool is_same(const char *a, const char *b)
{
	size_t length = strcspn(a, "=");

	return !strncmp(a, b, length) && b[length] == '=';
}

static bool is_set(char *const *all, u32 n, const char *variable)
{
	for (u32 i = 0; i < n; i++)
		if (all[i] && is_same(variable, all[i]))
			return true;
	return false;
}

/* The event, and the environment of mtsctl. */
static char **make_environment(const struct news *news)
{
	char text[NEWS_TEXT + 64];
	struct news more;
	u32 n = 0, own, room = news->n + 3;
	char **all;

	for (char **v = environ; *v; v++)
		room++;
	all = calloc(room, sizeof(*all));
	if (!all)
		return NULL;
	news_start(&more, news->kind);
	news_text(&more, "event", news_word(news->kind));
	news_text(&more, "message", news->message);
	for (u32 i = 0; i < more.n + news->n; i++) {
		news_assignment(i < more.n ? &more.fields[i] : &news->fields[i - more.n], true,
				text, sizeof(text));
		all[n++] = strdup(text);
	}
	own = n;
	for (char **v = environ; *v; v++)
		if (!is_set(all, own, *v))
			all[n++] = strdup(*v);
	return all;
}

static void free_environment(char **all)
{
	for (char **v = all; v && *v; v++)
		free(*v);
	free(all);
}

/*
 * A file: to write it cannot block, and a hook that does not read it is none the worse. It is
 * sealed: a process that a hook runs as another user could write it by /proc/PID/fd/0 otherwise,
 * and the next hook would read that as root.
 */
static int make_input(const struct news *news)
{
	static const int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
	json_t *root = news_json(news);
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	int fd = memfd_create("mts-event", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (!text || dprintf(fd, "%s\n", text) < 0 || fcntl(fd, F_ADD_SEALS, seals))) {
		close(fd);
		fd = -1;
	}
	free(text);
	json_decref(root);
	return fd;
}

/* ---- one event ---------------------------------------------------------------------------- */

static void end_event(struct hooks_run *run)
{
	hooks_free(&run->hooks);
	free_environment(run->environment);
	run->environment = NULL;
	if (run->input >= 0)
		close(run->input);
	run->input = -1;
	run->is_busy = false;
}

/* A beginning does not pass an older end, nor an end a beginning: the last one is what holds. */
static bool is_in_order(const struct hooks_run *run, enum news_kind kind)
{
	enum news_kind other = kind == NEWS_BEGIN ? NEWS_END : NEWS_BEGIN;

	return (kind != NEWS_BEGIN && kind != NEWS_END) || !run->slots[other].waits ||
	       run->slots[kind].order < run->slots[other].order;
}

/* Of the events that may run the oldest; NEWS_KINDS: there is none. */
static enum news_kind next_event(const struct hooks_run *run, u64 now)
{
	enum news_kind next = NEWS_KINDS;

	for (u32 i = 0; i < NEWS_KINDS; i++)
		if (run->slots[i].waits && run->slots[i].next_ns <= now && is_in_order(run, i) &&
		    (next == NEWS_KINDS || run->slots[i].order < run->slots[next].order))
			next = i;
	return next;
}

static void begin_event(struct hooks_run *run, enum news_kind kind, u64 now)
{
	typeof(run->slots[0]) *slot = &run->slots[kind];

	run->is_busy = true;
	run->kind = kind;
	run->at = 0;
	slot->waits = false;
	slot->next_ns = now + run->every_ns;
	if (slot->merged > 1)
		news_number(&slot->news, "merged", slot->merged);
	slot->merged = 0;
	/* hooks_read() and the list of hooks are of now: a new hook needs no restart. */
	if (hooks_read(&run->hooks)) {
		run->failures++;
		end_event(run);
		return;
	}
	run->environment = make_environment(&slot->news);
	run->input = make_input(&slot->news);
	if (!run->environment || run->input < 0) {
		complain("hooks: out of memory: no hook runs for %s", news_word(kind));
		run->failures++;
		end_event(run);
	}
}

/* ---- one hook ----------------------------------------------------------------------------- */

/* In the child. A descriptor of its own, so that no other process moves its offset. */
static bool take_input(int input)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", input);
	fd = open(path, O_RDONLY);
	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0)
		return false;
	if (fd != STDIN_FILENO)
		close(fd);
	return true;
}

/* In the child. */
static void __attribute__((noreturn)) become(const struct hooks_run *run, const struct hook *hook)
{
	char *const argv[] = { hook->path, NULL };
	sigset_t none;
	int fd;

	/*
	 * A group of its own, so that all of it can be ended; and no terminal: what it runs as
	 * another user could type commands there.
	 */
	setsid();
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	umask(022);
	/* Of the service, which the kernel is to spare; a hook is as good a victim as any. */
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "0", 1) < 0)
		complain("hooks: oom_score_adj: %s", strerror(errno));
	if (!take_input(run->input) || chdir("/"))
		_exit(EXIT_NOT_FOUND);
	execve(hook->real, argv, run->environment);
	complain("hooks: %s cannot be executed: %s%s", hook->name, strerror(errno),
		 errno == ENOEXEC ? " (does it begin with #!?)" : "");
	_exit(EXIT_CANNOT_EXEC);
}

/* All of it; or the process alone, before it has its session. */
static void signal_hook(const struct hooks_run *run, int number)
{
	if (kill(-run->pid, number))
		kill(run->pid, number);
}

static void start_hook(struct hooks_run *run, const struct hook *hook, u64 now)
{
	pid_t pid;

	fflush(stdout);
	fflush(stderr);
	pid = fork();
	if (!pid)
		become(run, hook);
	if (pid < 0) {
		complain("hooks: %s: fork: %s", hook->name, strerror(errno));
		run->failures++;
		run->at++;
		return;
	}
	run->pid = pid;
	run->runs++;
	run->began_ns = now;
	run->deadline_ns = now + run->timeout_ns;
	run->is_asked = false;
	run->is_late = false;
}

/* The next one that runs; of the others is said why not, unless that is usual. */
static void next_hook(struct hooks_run *run, u64 now)
{
	while (!run->pid && run->at < run->hooks.n) {
		struct hook *hook = &run->hooks.hooks[run->at];

		hook_check(hook);
		if (hook->verdict == HOOK_RUNS) {
			start_hook(run, hook, now);
			continue;
		}
		if (hook->verdict == HOOK_REFUSED) {
			complain("hooks: %s is refused: %s", hook->path, hook->reason);
			run->failures++;
		}
		run->at++;
	}
	if (!run->pid)
		end_event(run);
}

static void tell_end(struct hooks_run *run, const siginfo_t *info)
{
	const char *name = run->hooks.hooks[run->at].name;
	const char *event = news_word(run->kind);
	char time[FORMAT_SIZE];
	bool is_good = info->si_code == CLD_EXITED && !info->si_status;

	run->failures += !is_good || run->is_late;
	if (run->is_ending)
		complain("hooks: %s (%s) was ended: mtsctl ends", name, event);
	else if (run->is_late)
		complain("hooks: %s (%s) took longer than %s and was ended", name, event,
			 format_time(time, run->timeout_ns));
	else if (info->si_code != CLD_EXITED)
		complain("hooks: %s (%s) was ended by signal %d (%s)", name, event, info->si_status,
			 strsignal(info->si_status));
	else if (info->si_status)
		complain("hooks: %s (%s) failed with status %d", name, event, info->si_status);
	else if (run->is_loud)
		printf("%s: done in %s\n", name, format_time(time, now_ns() - run->began_ns));
}

static void reap(struct hooks_run *run)
{
	siginfo_t info = { 0 };

	/* It keeps its number until its group, which has the same, is ended as well. */
	if (run->pid && !waitid(P_PID, run->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	    info.si_pid) {
		signal_hook(run, SIGKILL);
		tell_end(run, &info);
		waitpid(run->pid, NULL, 0);
		run->pid = 0;
		run->at++;
	}
	/* What hooks left behind. */
	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
	       info.si_pid != run->pid) {
		waitpid(info.si_pid, NULL, 0);
		info.si_pid = 0;
	}
}

static void end_late_hook(struct hooks_run *run, u64 now)
{
	if (!run->pid || now < run->deadline_ns)
		return;
	run->is_late = true;
	signal_hook(run, run->is_asked ? SIGKILL : SIGTERM);
	run->is_asked = true;
	run->deadline_ns = now + GRACE_NS;
}

void hooks_run_step(struct hooks_run *run)
{
	enum news_kind kind;
	u64 now;

	reap(run);
	now = now_ns();
	end_late_hook(run, now);
	while (!run->pid) {
		if (run->is_busy)
			next_hook(run, now);
		if (run->is_busy)
			break;
		kind = next_event(run, now);
		if (kind == NEWS_KINDS)
			break;
		begin_event(run, kind, now);
	}
}

u64 hooks_run_due(const struct hooks_run *run)
{
	u64 due = run->pid ? run->deadline_ns : U64_MAX;

	for (u32 i = 0; !run->pid && i < NEWS_KINDS; i++)
		if (run->slots[i].waits && is_in_order(run, i))
			due = mts_min(due, run->slots[i].next_ns);
	return due;
}

void hooks_run_end(struct hooks_run *run)
{
	const struct timespec moment = { .tv_nsec = 10000000 };

	for (u32 i = 0; i < NEWS_KINDS; i++)
		if (run->slots[i].waits)
			complain("hooks: mtsctl ends: no hook has run for %s: %s", news_word(i),
				 run->slots[i].news.message);
	run->is_ending = true;
	run->deadline_ns = 0;
	while (run->pid) {
		end_late_hook(run, now_ns());
		nanosleep(&moment, NULL);
		reap(run);
	}
	end_event(run);
}
