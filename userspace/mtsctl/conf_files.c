// SPDX-License-Identifier: GPL-2.0
#include "conf_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf_file.h"

/* Not hidden ones, such as an editor's. */
static int is_conf(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return *entry->d_name != '.' && end && !strcmp(end, ".conf");
}

static int failed(const char *file, int err)
{
	complain_at(&(struct place){ .file = file }, "%s", strerror(err));
	return EXIT_FAILED;
}

static int each_in(const char *folder, int (*on_file)(void *user, const char *path), void *user)
{
	struct dirent **entries;
	char path[PATH_MAX];
	int n, ret, worst;

	worst = conf_dir_check(folder);
	if (worst)
		return worst;
	/* By bytes: no program of mts sets a locale. */
	n = scandir(folder, &entries, is_conf, alphasort);
	if (n < 0)
		return failed(folder, errno);
	for (int i = 0; i < n; i++) {
		if (snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name) <
		    (int)sizeof(path))
			ret = on_file(user, path);
		else
			ret = failed(folder, ENAMETOOLONG);
		worst = ret > worst ? ret : worst;
		free(entries[i]);
	}
	free(entries);
	return worst;
}

/* Also as a link that leads nowhere, which is an error then. */
static bool exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

int conf_files_each(const char *folder, int (*on_file)(void *user, const char *path), void *user)
{
	char path[PATH_MAX];
	int ret, worst = EXIT_OK;

	if (exists(folder))
		worst = conf_dir_check(folder);
	if (worst)
		return worst;
	snprintf(path, sizeof(path), "%s/" CONF_MAIN, folder);
	if (exists(path))
		worst = on_file(user, path);
	snprintf(path, sizeof(path), "%s/" CONF_FOLDER, folder);
	if (exists(path)) {
		ret = each_in(path, on_file, user);
		worst = ret > worst ? ret : worst;
	}
	return worst;
}
