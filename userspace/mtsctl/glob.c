// SPDX-License-Identifier: GPL-2.0
#include "glob.h"

#include <fnmatch.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static size_t length_of(const char *at)
{
	return strcspn(at, "/");
}

/* The next directory, or the end. */
static const char *after(const char *at)
{
	at += length_of(at);
	return at + (*at == '/');
}

static bool is_any(const char *pattern)
{
	return length_of(pattern) == 2 && !strncmp(pattern, "**", 2);
}

static bool match_one(const char *pattern, const char *path)
{
	char one[NAME_MAX + 1], name[NAME_MAX + 1];

	if (length_of(pattern) > NAME_MAX || length_of(path) > NAME_MAX)
		return false;
	snprintf(one, sizeof(one), "%.*s", (int)length_of(pattern), pattern);
	snprintf(name, sizeof(name), "%.*s", (int)length_of(path), path);
	return !fnmatch(one, name, FNM_NOESCAPE);
}

/*
 * After a mismatch only the last "**" can take more: if an earlier one could, the last one could as
 * well. So the time is the product of the two lengths, whatever paths users make.
 */
bool glob_path(const char *pattern, const char *path)
{
	const char *any = NULL, *from = NULL; /* behind the last "**"; what it has not taken */

	while (*path) {
		if (*pattern && is_any(pattern)) {
			any = after(pattern);
			if (!*any)
				return true;
			pattern = any;
			from = path;
		} else if (*pattern && match_one(pattern, path)) {
			pattern = after(pattern);
			path = after(path);
		} else if (any) {
			pattern = any;
			from = after(from);
			path = from;
		} else {
			return false;
		}
	}
	return !*pattern;
}

bool glob_word(const char *pattern, const char *word)
{
	return !fnmatch(pattern, word, FNM_NOESCAPE);
}
