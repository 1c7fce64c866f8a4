// SPDX-License-Identifier: GPL-2.0
#include "watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format.h"
#include "host.h"
#include "host_file.h"
#include "ipc.h"
#include "mtsctl.h"
#include "output.h"
#include "watch_look.h"

/* How often to check that the module is still loaded, in s. */
#define LOOK_S 1

#define PREFIX "mtsctl."

/* An instance of tracefs for this process only, so that other tracing is not disturbed. */
static char instance[PATH_MAX];

/*
 * A new instance inherits the global trace options. Set those that change the format
 * of a line to what the parser expects. Skip options that this kernel does not have.
 */
static const struct {
	const char *file;
	const char *text;
} settings[] = {
	/* For each processor, about 2000 events. The default is more than a MiB. */
	{ "buffer_size_kb", "256" },
	{ "trace_clock", "mono" }, /* the clock of the device's times */
	{ "options/context-info", "1" },
	{ "options/irq-info", "1" },
	{ "options/record-tgid", "0" },
	{ "options/latency-format", "0" },
	{ "options/verbose", "0" },
	{ "options/raw", "0" },
	{ "options/hex", "0" },
	{ "options/bin", "0" },
	{ "options/fields", "0" },
	{ "options/stacktrace", "0" },
	{ "options/userstacktrace", "0" },
};

static volatile sig_atomic_t ended_by;

static void on_signal(int number)
{
	ended_by = number;
}

/* ---- the instance ------------------------------------------------------------ */

static int failed(const char *what, int err)
{
	if (err == EACCES || err == EPERM) {
		complain("%s: not permitted: run as root", what);
		return EXIT_PERMISSION;
	}
	complain("%s: %s", what, strerror(err));
	return EXIT_FAILED;
}

static bool has(const char *file)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", instance, file);
	return !access(path, F_OK);
}

static int set(const char *file, const char *text)
{
	char path[PATH_MAX + 32];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", instance, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err = errno;
	if (fd >= 0)
		close(fd);
	return err ? failed(path, err) : EXIT_OK;
}

/* A watch that was killed leaves its instance, which would trace for ever. */
static void remove_orphans(const char *instances)
{
	DIR *dir = opendir(instances);
	struct dirent *entry;
	int pid, end;

	while (dir && (entry = readdir(dir))) {
		end = 0;
		if (sscanf(entry->d_name, PREFIX "%d%n", &pid, &end) != 1 || entry->d_name[end])
			continue;
		/* If its pid is in use again and reads it, rmdir() says EBUSY. */
		if (kill(pid, 0) && errno == ESRCH)
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
}

static int make_instance(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/instances", host_tracing());
	if (access(path, F_OK)) {
		if (errno == EACCES)
			return failed(path, errno);
		complain("%s: no tracefs: is it mounted? (mount -t tracefs trace %s)", path,
			 host_tracing());
		return EXIT_FAILED;
	}
	remove_orphans(path);
	snprintf(instance, sizeof(instance), "%s/instances/" PREFIX "%d", host_tracing(), getpid());
	if (mkdir(instance, 0700))
		return failed(instance, errno);
	return EXIT_OK;
}

static int set_up(int *pipe)
{
	char path[PATH_MAX + 16];
	int ret = EXIT_OK;

	if (!has("events/mts")) {
		complain("the loaded module has no events: it is older than mtsctl");
		return EXIT_FAILED;
	}
	for (size_t i = 0; !ret && i < sizeof(settings) / sizeof(settings[0]); i++)
		if (has(settings[i].file))
			ret = set(settings[i].file, settings[i].text);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/trace_pipe", instance);
	*pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (*pipe < 0)
		return failed(path, errno);
	return set("events/mts/enable", "1");
}

/* ---- its lines ----------------------------------------------------------------- */

static int show_line(char *line, bool json)
{
	struct watch_event event;
	char text[256];
	u64 lost;

	if (watch_parse_lost(line, &lost)) {
		complain("%llu events were lost: they came faster than they were read", lost);
		return EXIT_OK;
	}
	if (!watch_parse(line, &event)) {
		complain("not understood: %s", format_name(text, sizeof(text), line));
		return EXIT_OK;
	}
	return json ? watch_show_json(&event) : watch_show(&event);
}

/* Show the complete lines, and keep the rest. Return: an exit status. */
static int show_lines(char *text, size_t *len, bool json)
{
	char *line = text, *end;
	int ret = EXIT_OK;

	while (!ret && (end = memchr(line, '\n', text + *len - line))) {
		*end = '\0';
		ret = show_line(line, json);
		line = end + 1;
	}
	*len -= line - text;
	memmove(text, line, *len);
	return ret;
}

/* Show all events that are in the pipe. Return: an exit status. */
static int drain(int pipe, bool json)
{
	static char text[65536];
	static size_t len;
	ssize_t got;
	int ret;

	while ((got = read(pipe, text + len, sizeof(text) - len)) > 0) {
		len += got;
		ret = show_lines(text, &len, json);
		if (ret)
			return ret;
		/* No line is as long as this: drop it. */
		if (len == sizeof(text))
			len = 0;
	}
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		return failed("trace_pipe", errno);
	/* main() prints the error of standard output. */
	return fflush(stdout) ? EXIT_FAILED : EXIT_OK;
}

static int stream(int pipe, bool json, const sigset_t *waiting)
{
	/* The second entry reports POLLERR when the reader of standard output has gone. */
	struct pollfd fds[] = { { .fd = pipe, .events = POLLIN }, { .fd = STDOUT_FILENO } };
	const struct timespec look = { .tv_sec = LOOK_S };
	int ret = EXIT_OK;

	while (!ret && !ended_by && !(fds[1].revents & POLLERR)) {
		if (ppoll(fds, 2, &look, waiting) < 0)
			fds[1].revents = 0;
		ret = drain(pipe, json);
		if (!ret && !has("events/mts")) {
			complain("the module has been unloaded");
			ret = EXIT_NO_MODULE;
		}
	}
	return ret;
}

/* ---- the command ----------------------------------------------------------------- */

/*
 * Signals are blocked except in ppoll(), so that none is lost between a check of
 * ended_by and the wait. SIGPIPE stays blocked until the instance is removed.
 */
static void catch_signals(sigset_t *before, sigset_t *waiting)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t blocked;
	size_t i;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGPIPE);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaddset(&blocked, signals[i]);
		sigaction(signals[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &blocked, before);
	*waiting = *before;
	sigaddset(waiting, SIGPIPE);
}

/* Let the signals end a write to a full pipe, too. Return: an exit status. */
static int end_output(const sigset_t *waiting)
{
	const struct output_end end = { .waiting = waiting, .ended = &ended_by };
	int err = output_may_end(&end);

	return err ? failed("standard output", -err) : EXIT_OK;
}

/* A kernel that is locked down so has no tracefs. */
static bool is_confidential(void)
{
	const char *text = host_file_read("/sys/kernel/security/lockdown");

	return text && strstr(text, "[confidentiality]");
}

/* mtsd has no trace events, and those of the module are root's. Return: an exit status. */
static int has_trace_events(bool *has)
{
	struct mts_status status;
	int err = ipc_status(&status);

	if (err)
		return device_failed("status", -err);
	*has = !ipc_is_for_users() && !(status.sees & MTS_SEES_BY_USERSPACE) && !is_confidential();
	return EXIT_OK;
}

/* Return: an exit status. */
static int look(bool json)
{
	sigset_t before, waiting;
	int ret;

	catch_signals(&before, &waiting);
	ret = end_output(&waiting);
	if (!ret)
		ret = watch_look(json, &waiting, &ended_by);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}

/* Return: an exit status. */
static int trace(bool json)
{
	sigset_t before, waiting;
	int ret, pipe = -1;

	/* An open device keeps the module from being unloaded. */
	ipc_close();
	catch_signals(&before, &waiting);
	ret = make_instance();
	if (ret)
		return ret;
	ret = set_up(&pipe);
	if (!ret)
		ret = end_output(&waiting);
	if (!ret)
		ret = stream(pipe, json, &waiting);
	/* Close first: the kernel does not remove an instance that is being read. */
	if (pipe >= 0)
		close(pipe);
	if (rmdir(instance) && failed(instance, errno) && !ret)
		ret = EXIT_FAILED;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}

int watch_main(const struct command *command, int argc, char **argv)
{
	bool json = false, has;
	int ret;

	ret = simple_options(command, argc, argv, &json);
	if (ret != OPTION_END)
		return ret;
	if (optind != argc)
		return usage_error(command, "unexpected '%s'", argv[optind]);
	ret = device_open();
	if (ret)
		return ret;
	ret = has_trace_events(&has);
	if (ret)
		return ret;
	return has ? trace(json) : look(json);
}
