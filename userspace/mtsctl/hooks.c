// SPDX-License-Identifier: GPL-2.0
#include "hooks.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf_file.h"
#include "host.h"

#define NAME_BYTES "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
/* As many as the kernel follows: path_resolution(7). */
#define LINKS_MAX 40

__attribute__((format(printf, 3, 4))) static void
judge(struct hook *hook, enum hook_verdict verdict, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(hook->reason, sizeof(hook->reason), format, args);
	va_end(args);
	hook->verdict = verdict;
}

/*
 * Only root and the caller of mtsctl may say what is run. In a sticky directory others cannot
 * replace a file.
 */
static bool is_others(const struct stat *st)
{
	return (st->st_uid && st->st_uid != geteuid()) ||
	       (st->st_mode & 0022 && !(S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX));
}

static bool check_directory(struct hook *hook, const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		judge(hook, HOOK_REFUSED, "%.100s: %s", path, strerror(errno));
	else if (is_others(&st))
		judge(hook, HOOK_REFUSED, "users other than root can write the directory %.100s",
		      path);
	else
		return true;
	return false;
}

/* @rest becomes what the link says, and then what it was. Return: 0 or a negative errno. */
static int follow(const char *link, char rest[PATH_MAX])
{
	char target[PATH_MAX];
	size_t left = strlen(rest) + 1;
	ssize_t length = readlink(link, target, sizeof(target));

	if (length < 0)
		return -errno;
	if (length + left > PATH_MAX)
		return -ENAMETOOLONG;
	memmove(rest + length, rest, left);
	memcpy(rest, target, length);
	return 0;
}

/* Appends to @real, which has no links, one component. Return: 0 or a negative errno. */
static int append(char real[PATH_MAX], const char *name, size_t length)
{
	size_t used = strlen(real);

	if (length == 2 && !strncmp(name, "..", length)) {
		real[used ? (size_t)(strrchr(real, '/') - real) : 0] = '\0';
	} else if (length != 1 || *name != '.') {
		if (used + length + 2 > PATH_MAX)
			return -ENAMETOOLONG;
		real[used] = '/';
		memcpy(real + used + 1, name, length);
		real[used + 1 + length] = '\0';
	}
	return 0;
}

/*
 * As realpath(3), but it checks each directory on the way, also those that only links pass through:
 * whoever can write one of them says what is run.
 */
static bool resolve(struct hook *hook, char real[PATH_MAX])
{
	char rest[PATH_MAX], *name;
	struct stat st;
	u32 links = 0;
	int err = 0;

	snprintf(rest, sizeof(rest), "%s", hook->path);
	*real = '\0';
	while (!err && *(name = rest + strspn(rest, "/"))) {
		size_t used = strlen(real), length = strcspn(name, "/");

		if (!check_directory(hook, *real ? real : "/"))
			return false;
		err = append(real, name, length);
		memmove(rest, name + length, strlen(name + length) + 1);
		if (!err && lstat(*real ? real : "/", &st))
			err = -errno;
		if (err || !S_ISLNK(st.st_mode))
			continue;
		if (st.st_uid && st.st_uid != geteuid()) {
			judge(hook, HOOK_REFUSED, "the link %.100s belongs to user %u, not to root",
			      real, st.st_uid);
			return false;
		}
		err = ++links > LINKS_MAX ? -ELOOP : follow(real, rest);
		real[*rest == '/' ? 0 : used] = '\0';
	}
	if (err)
		judge(hook, HOOK_REFUSED, "%s", strerror(-err));
	return !err;
}

void hook_check(struct hook *hook)
{
	char real[PATH_MAX];
	struct stat st;

	free(hook->real);
	hook->real = NULL;
	hook->verdict = HOOK_RUNS;
	*hook->reason = '\0';
	if (hook->name[strspn(hook->name, NAME_BYTES)]) {
		judge(hook, HOOK_IGNORED, "its name has more than letters, digits, - and _");
		return;
	}
	if (stat(hook->path, &st)) {
		judge(hook, HOOK_IGNORED, "%s", strerror(errno));
		return;
	}
	if (!resolve(hook, real))
		return;
	/* What is executed: no link can lead elsewhere meanwhile. */
	if (lstat(real, &st))
		judge(hook, HOOK_IGNORED, "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		judge(hook, HOOK_IGNORED, "not a regular file");
	else if (st.st_uid && st.st_uid != geteuid())
		judge(hook, HOOK_REFUSED, "it belongs to user %u, not to root: chown root it",
		      st.st_uid);
	else if (st.st_mode & 0022)
		judge(hook, HOOK_REFUSED,
		      "users other than its owner can write it (mode %04o): chmod go-w it",
		      st.st_mode & 07777);
	else if (!(st.st_mode & 0111))
		judge(hook, HOOK_IGNORED, "not executable");
	else
		hook->real = strdup(real);
	if (hook->verdict == HOOK_RUNS && !hook->real)
		judge(hook, HOOK_REFUSED, "%s", strerror(ENOMEM));
}

static int is_file(const struct dirent *entry)
{
	return *entry->d_name != '.';
}

int hooks_read(struct hooks *hooks)
{
	struct dirent **entries;
	struct stat st;
	int n, ret;

	*hooks = (struct hooks){ 0 };
	snprintf(hooks->folder, sizeof(hooks->folder), "%s/" HOOKS_FOLDER, host_config());
	if (lstat(hooks->folder, &st) && errno == ENOENT)
		return EXIT_OK;
	ret = conf_dir_check(host_config());
	if (!ret)
		ret = conf_dir_check(hooks->folder);
	if (ret)
		return ret;
	/* By bytes: mtsctl sets no locale. */
	n = scandir(hooks->folder, &entries, is_file, alphasort);
	if (n < 0)
		return device_failed(hooks->folder, errno);
	hooks->hooks = calloc((size_t)n + 1, sizeof(*hooks->hooks));
	for (int i = 0; i < n; i++) {
		struct hook *hook = hooks->hooks ? &hooks->hooks[hooks->n] : NULL;

		if (hook && asprintf(&hook->path, "%s/%s", hooks->folder, entries[i]->d_name) > 0) {
			hook->name = strrchr(hook->path, '/') + 1;
			hook_check(hook);
			hooks->n++;
		} else {
			ret = EXIT_FAILED;
		}
		free(entries[i]);
	}
	free(entries);
	if (ret)
		complain("%s: out of memory", hooks->folder);
	return ret;
}

void hooks_free(struct hooks *hooks)
{
	for (u32 i = 0; i < hooks->n; i++) {
		free(hooks->hooks[i].path);
		free(hooks->hooks[i].real);
	}
	free(hooks->hooks);
	hooks->hooks = NULL;
	hooks->n = 0;
}
