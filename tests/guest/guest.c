// SPDX-License-Identifier: GPL-2.0
/* The frame of a test program, and what needs no job: time, files, cgroups. */
#include "guest.h"

#include <ctype.h>
#include <dirent.h>
#include <setjmp.h>
#include <sys/prctl.h>

#define DEFAULT_SECONDS 120

static sigjmp_buf leave;
static pid_t runner;
static char verdict[512];
enum {
	RAN = 0,
	FAILED = 1,
	SKIPPED = 2
};

static void say(char *text, size_t size, const char *format, va_list args)
{
	size_t i, used;

	vsnprintf(text, size, format, args);
	used = strlen(text);
	for (i = 0; i < used; i++)
		if (text[i] == '\n' || text[i] == '#')
			text[i] = ' ';
}

void note(const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	say(text, sizeof(text), format, args);
	va_end(args);
	printf("# %s\n", text);
}

static void leave_test(int how)
{
	if (getpid() == runner)
		siglongjmp(leave, how);
	fprintf(stderr, "guest: a check in a child: %s\n", verdict);
	_exit(127);
}

void guest_fail(const char *file, int line, const char *format, ...)
{
	size_t used = snprintf(verdict, sizeof(verdict), "%s:%d: ", file, line);
	const char *slash = strrchr(file, '/');
	va_list args;

	if (slash)
		used = snprintf(verdict, sizeof(verdict), "%s:%d: ", slash + 1, line);
	va_start(args, format);
	say(verdict + used, sizeof(verdict) - used, format, args);
	va_end(args);
	leave_test(FAILED);
	abort();
}

void guest_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(verdict, sizeof(verdict), format, args);
	va_end(args);
	leave_test(SKIPPED);
	abort();
}

/* An error's name, or a number. */
static const char *name_of(int value, char *number, size_t size)
{
	const char *name = value ? strerrorname_np(-value) : NULL;

	snprintf(number, size, "%d", value);
	return name ?: number;
}

void guest_expect(const char *file, int line, const char *what, int is, int should)
{
	char numbers[2][16];

	if (is != should)
		guest_fail(file, line, "%s is %s, should be %s", what,
			   name_of(is, numbers[0], sizeof(numbers[0])),
			   name_of(should, numbers[1], sizeof(numbers[1])));
}

static void on_alarm(int signal)
{
	(void)signal;
	if (getpid() != runner)
		return;
	snprintf(verdict, sizeof(verdict), "it took too long");
	siglongjmp(leave, FAILED);
}

static int run_test(const struct test *test)
{
	int how = sigsetjmp(leave, 1);

	if (!how) {
		alarm(test->seconds ? test->seconds : DEFAULT_SECONDS);
		test->run();
	}
	alarm(0);
	return how;
}

static int reset_safely(void)
{
	const char *left;
	int how = sigsetjmp(leave, 1);

	if (!how) {
		alarm(DEFAULT_SECONDS);
		left = reset();
		if (left) {
			snprintf(verdict, sizeof(verdict), "left behind: %s", left);
			how = FAILED;
		}
	}
	alarm(0);
	return how;
}

static bool report(int number, const struct test *test, u64 began)
{
	int how = run_test(test);

	if (how != RAN)
		note("seen at the end: %s", describe());
	if (how == RAN) {
		how = reset_safely();
	} else {
		char first[sizeof(verdict)];

		memcpy(first, verdict, sizeof(first));
		if (reset_safely() != RAN)
			note("afterwards: %s", verdict);
		memcpy(verdict, first, sizeof(verdict));
	}
	note("%s took %llu ms", test->name, (unsigned long long)(now_ms() - began));
	if (how == RAN)
		printf("ok %d - %s\n", number, test->name);
	else if (how == SKIPPED)
		printf("ok %d - %s # SKIP %s\n", number, test->name, verdict);
	else
		printf("not ok %d - %s # %s\n", number, test->name, verdict);
	return how != FAILED;
}

static bool is_chosen(const struct test *test, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], test->name))
			return true;
	return argc < 2;
}

static int run_tests(int argc, char **argv)
{
	const struct test *test;
	int number = 0, failed = 0, chosen = 0;

	for (test = guest_tests; test->name; test++)
		chosen += is_chosen(test, argc, argv);
	printf("1..%d\n", chosen);
	if (reset_safely() != RAN)
		note("at the start: %s", verdict);
	for (test = guest_tests; test->name; test++)
		if (is_chosen(test, argc, argv))
			failed += !report(++number, test, now_ms());
	return failed || !chosen ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_alarm };
	const struct test *test;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (test = guest_tests; test->name; test++)
			printf("%s%s\n", test->name, test->slow ? " slow" : "");
		return 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	runner = getpid();
	sigaction(SIGALRM, &action, NULL);
	/* What our children leave behind comes to us, so that reset() sees its end. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return run_tests(argc, argv);
}

/* ---- time ------------------------------------------------------------------------- */

u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

u64 now_ms(void)
{
	return now_ns() / NS_PER_MS;
}

void sleep_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* ---- files and cgroups ------------------------------------------------------------ */

int read_file(const char *path, char *buffer, size_t size)
{
	ssize_t length;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	buffer[0] = '\0';
	if (fd < 0)
		return -errno;
	length = read(fd, buffer, size - 1);
	if (length < 0) {
		length = -errno;
		close(fd);
		return (int)length;
	}
	buffer[length] = '\0';
	close(fd);
	return 0;
}

int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		error = -errno;
	close(fd);
	return error;
}

static void cg_path(char *path, size_t size, const char *cgroup, const char *file)
{
	snprintf(path, size, CGROUPS "%s/%s", cgroup, file);
}

int cg_read(const char *cgroup, const char *file, char *buffer, size_t size)
{
	char path[512];

	cg_path(path, sizeof(path), cgroup, file);
	return read_file(path, buffer, size);
}

int cg_write(const char *cgroup, const char *file, const char *text)
{
	char path[512];

	cg_path(path, sizeof(path), cgroup, file);
	return write_file(path, text);
}

long long cg_number(const char *cgroup, const char *file)
{
	char buffer[64];

	if (cg_read(cgroup, file, buffer, sizeof(buffer)) || !isdigit(buffer[0]))
		return -1;
	return atoll(buffer);
}

long long cg_key(const char *cgroup, const char *file, const char *key)
{
	char buffer[4096], *line, *rest = NULL;
	size_t length = strlen(key);

	if (cg_read(cgroup, file, buffer, sizeof(buffer)))
		return -1;
	for (line = strtok_r(buffer, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (!strncmp(line, key, length) && line[length] == ' ')
			return atoll(line + length);
	return -1;
}

u64 vmstat(const char *key)
{
	static char text[16384];
	size_t length = strlen(key);
	char *line, *rest = NULL;

	expect(read_file("/proc/vmstat", text, sizeof(text)), 0);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (!strncmp(line, key, length) && line[length] == ' ')
			return strtoull(line + length, NULL, 10);
	fail("no %s in /proc/vmstat", key);
}

bool cg_exists(const char *cgroup)
{
	char path[512];

	cg_path(path, sizeof(path), cgroup, "");
	return !access(path, F_OK);
}

bool cg_frozen(const char *cgroup)
{
	return cg_key(cgroup, "cgroup.events", "frozen") == 1;
}

void cg_hide_sleep(const char *cgroup)
{
	expect(cg_write(cgroup, "cgroup.pressure", "0"), 0);
}

bool cg_freeze_asked(const char *cgroup)
{
	return cg_number(cgroup, "cgroup.freeze") == 1;
}

void cg_make(const char *cgroup)
{
	char path[512];

	cg_path(path, sizeof(path), cgroup, "");
	check(!mkdir(path, 0755), "mkdir %s: %m", path);
}

int cg_remove(const char *cgroup)
{
	char path[512];

	cg_path(path, sizeof(path), cgroup, "");
	return rmdir(path) ? -errno : 0;
}

int cg_open(const char *cgroup, int flags)
{
	char path[512];
	int fd;

	cg_path(path, sizeof(path), cgroup, "");
	fd = open(path, flags | O_CLOEXEC);
	check(fd >= 0, "open %s: %m", path);
	return fd;
}

void cg_move(const char *cgroup, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	expect(cg_write(cgroup, "cgroup.procs", text), 0);
}

void cg_of(pid_t pid, char *cgroup, size_t size)
{
	char path[64], buffer[512], *end;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	cgroup[0] = '\0';
	if (read_file(path, buffer, sizeof(buffer)) || strncmp(buffer, "0::/", 4))
		return;
	end = strchr(buffer, '\n');
	if (end)
		*end = '\0';
	snprintf(cgroup, size, "%s", buffer + 4);
}

const char *cg_job(const char *job)
{
	static char paths[8][256];
	static unsigned int next;
	char *path = paths[next++ % ARRAY_SIZE(paths)];

	snprintf(path, sizeof(paths[0]), BASE "/%s", job);
	return path;
}
