// SPDX-License-Identifier: GPL-2.0
#include "accounts.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "parse.h"

#ifdef STATIC_BUILD
/* A static program loads no modules of nsswitch.conf(5): it has what is in the files. */
static struct passwd *passwd_of(const char *name)
{
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd *entry = NULL;

	while (file && (entry = fgetpwent(file)) && strcmp(entry->pw_name, name))
		;
	if (file)
		fclose(file);
	return entry;
}

static struct group *group_of(const char *name)
{
	FILE *file = fopen("/etc/group", "re");
	struct group *entry = NULL;

	while (file && (entry = fgetgrent(file)) && strcmp(entry->gr_name, name))
		;
	if (file)
		fclose(file);
	return entry;
}
#else
static struct passwd *passwd_of(const char *name)
{
	return getpwnam(name);
}

static struct group *group_of(const char *name)
{
	return getgrnam(name);
}
#endif

bool account_user(const char *text, u32 *id)
{
	const struct passwd *entry = passwd_of(text);

	if (entry)
		*id = entry->pw_uid;
	return entry || parse_id(text, id);
}

bool account_group(const char *text, u32 *id)
{
	const struct group *entry = group_of(text);

	if (entry)
		*id = entry->gr_gid;
	return entry || parse_id(text, id);
}
