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

/* A link may lead to where others can put another file in the place of this one. */
static void check_folders(struct hook *hook)
{
	char real[PATH_MAX], *end;
	struct stat st;

	if (!realpath(hook->path, real)) {
		judge(hook, HOOK_REFUSED, "%s", strerror(errno));
		return;
	}
	while ((end = strrchr(real, '/')) && end != real) {
		*end = '\0';
		if (!stat(real, &st) && is_others(&st)) {
			judge(hook, HOOK_REFUSED,
			      "users other than root can write the directory %.100s", real);
			return;
		}
	}
}

static void check(struct hook *hook)
{
	struct stat st, link;

	if (hook->name[strspn(hook->name, NAME_BYTES)])
		judge(hook, HOOK_IGNORED, "its name has more than letters, digits, - and _");
	else if (stat(hook->path, &st) || lstat(hook->path, &link))
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
	else if (S_ISLNK(link.st_mode))
		check_folders(hook);
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
			check(hook);
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
	for (u32 i = 0; i < hooks->n; i++)
		free(hooks->hooks[i].path);
	free(hooks->hooks);
	hooks->hooks = NULL;
	hooks->n = 0;
}
