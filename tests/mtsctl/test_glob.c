// SPDX-License-Identifier: GPL-2.0
/* Patterns of cgroups: a table, long paths, and a second opinion on random ones. */
#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "glob.h"

static const struct {
	const char *pattern;
	const char *path;
	bool matches;
} cases[] = {
	{ "a", "a", true },
	{ "a", "b", false },
	{ "a", "a/b", false },
	{ "a/b", "a", false },
	{ "a/b", "a/b", true },
	{ "*", "a", true },
	{ "*", "a/b", false },
	{ "*/*", "a/b", true },
	{ "*/*", "a", false },
	{ "a*", "abc", true },
	{ "a*", "a/c", false },
	{ "a?c", "abc", true },
	{ "a?c", "a/c", false },
	{ "[ab]", "b", true },
	{ "a[!/]c", "a/c", false },
	{ "**", "a", true },
	{ "**", "a/b/c", true },
	{ "a/**", "a", false },
	{ "a/**", "a/b", true },
	{ "a/**", "a/b/c", true },
	{ "a/**", "b/a", false },
	{ "**/b", "b", true },
	{ "**/b", "a/b", true },
	{ "**/b", "a/c/b", true },
	{ "**/b", "a/b/c", false },
	{ "a/**/b", "a/b", true },
	{ "a/**/b", "a/x/y/b", true },
	{ "a/**/b", "a/b/x", false },
	{ "a/**/b/**/c", "a/b/b/x/c", true },
	{ "a/**/b/**/c", "a/c/b", false },
	{ "a/**/**/b", "a/b", true },
	{ "a**b", "axxb", true },
	{ "a**b", "a/b", false },
	{ "user.slice/user-*.slice/**/*.scope", "user.slice/user-1.slice/session-2.scope", true },
	{ "user.slice/user-*.slice/**/*.scope",
	  "user.slice/user-1.slice/user@1.service/app.slice/x.scope", true },
	{ "user.slice/user-*.slice/**/*.scope", "user.slice/user-1.slice/x.service", false },
	/* systemd writes a dash of a path so; [*] is a star. */
	{ "a\\x2db", "a\\x2db", true },
	{ "a\\x2db", "ax2db", false },
	{ "a[*]", "a*", true },
	{ "a[*]", "ab", false },
};

static void test_table(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK(glob_path(cases[i].pattern, cases[i].path) == cases[i].matches, "%s %s",
		      cases[i].pattern, cases[i].path);
}

/* A user can make any path. It takes no longer for it. */
static void test_long(void)
{
	static char path[4096], pattern[200];

	for (int i = 0; i < 1000; i++)
		strcat(path, "a/");
	strcat(path, "b");
	for (int i = 0; i < 30; i++)
		strcat(pattern, "**/a/");
	strcat(pattern, "c");
	CHECK(!glob_path(pattern, path), "long");
	pattern[strlen(pattern) - 1] = 'b';
	CHECK(glob_path(pattern, path), "long");
}

/* By trying everything. */
static bool slow(const char *pattern, const char *path)
{
	size_t one = strcspn(pattern, "/"), name = strcspn(path, "/");
	const char *rest = pattern + one + (pattern[one] == '/');
	const char *below = path + name + (path[name] == '/');
	char a[64], b[64];

	if (!*pattern || !*path)
		return !*pattern && !*path;
	if (one == 2 && !strncmp(pattern, "**", 2))
		return !*rest || slow(rest, path) || slow(pattern, below);
	snprintf(a, sizeof(a), "%.*s", (int)one, pattern);
	snprintf(b, sizeof(b), "%.*s", (int)name, path);
	return !fnmatch(a, b, 0) && slow(rest, below);
}

static void random_text(char *text, const char *const *parts, int n)
{
	int length = 1 + rand() % 6;

	*text = '\0';
	for (int i = 0; i < length; i++) {
		strcat(text, i ? "/" : "");
		strcat(text, parts[rand() % n]);
	}
}

static void test_random(void)
{
	static const char *const parts[] = { "**", "*", "a", "b", "ab", "a*" };
	static const char *const names[] = { "a", "b", "ab", "abb" };
	char pattern[64], path[64];
	int matched = 0;

	srand(1);
	for (int i = 0; i < 200000; i++) {
		random_text(pattern, parts, 6);
		random_text(path, names, 4);
		matched += slow(pattern, path);
		CHECK(glob_path(pattern, path) == slow(pattern, path), "%s %s", pattern, path);
	}
	CHECK(matched > 10000, "%d", matched);
}

int main(void)
{
	test_table();
	test_long();
	test_random();
	return failures != 0;
}
