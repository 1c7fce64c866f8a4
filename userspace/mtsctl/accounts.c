// SPDX-License-Identifier: GPL-2.0
#include "accounts.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parse.h"

#define GROUPS_MAX 1024 /* of a user, in a static program */
#define ENTRY_SIZE 16384 /* of a line of passwd(5), which has some 100 bytes */

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

bool account_exists(u32 uid)
{
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd room, *entry = NULL;
	char *text = malloc(ENTRY_SIZE);

	while (file && text && !fgetpwent_r(file, &room, text, ENTRY_SIZE, &entry) &&
	       entry->pw_uid != uid)
		entry = NULL;
	free(text);
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

static struct passwd *passwd_of_id(u32 uid)
{
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd *entry = NULL;

	while (file && (entry = fgetpwent(file)) && entry->pw_uid != uid)
		;
	if (file)
		fclose(file);
	return entry;
}

static bool has_member(const struct group *group, const char *name)
{
	for (char **member = group->gr_mem; *member; member++)
		if (!strcmp(*member, name))
			return true;
	return false;
}

int account_groups(const struct account *account)
{
	FILE *file = fopen("/etc/group", "re");
	gid_t groups[GROUPS_MAX];
	struct group *entry;
	size_t n = 0;

	groups[n++] = account->gid;
	while (file && n < GROUPS_MAX && (entry = fgetgrent(file)))
		if (has_member(entry, account->name))
			groups[n++] = entry->gr_gid;
	if (file)
		fclose(file);
	return setgroups(n, groups);
}
#else
static struct passwd *passwd_of_id(u32 uid)
{
	return getpwuid(uid);
}

bool account_exists(u32 uid)
{
	struct passwd room, *entry = NULL;
	char *text = malloc(ENTRY_SIZE);

	if (text)
		getpwuid_r(uid, &room, text, ENTRY_SIZE, &entry);
	free(text);
	return entry;
}

int account_groups(const struct account *account)
{
	return initgroups(account->name, account->gid);
}

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

const char *account_name(u32 uid)
{
	static struct {
		u32 uid;
		char name[64]; /* empty: none yet */
	} known[16];
	typeof(&known[0]) place = &known[uid % (sizeof(known) / sizeof(known[0]))];
	const struct passwd *entry;

	if (*place->name && place->uid == uid)
		return place->name;
	entry = passwd_of_id(uid);
	place->uid = uid;
	if (entry && *entry->pw_name)
		snprintf(place->name, sizeof(place->name), "%s", entry->pw_name);
	else
		snprintf(place->name, sizeof(place->name), "%u", uid);
	return place->name;
}

bool account_of(u32 uid, struct account *account)
{
	const struct passwd *entry = passwd_of_id(uid);

	if (!entry)
		return false;
	snprintf(account->name, sizeof(account->name), "%s", entry->pw_name);
	snprintf(account->home, sizeof(account->home), "%s", entry->pw_dir);
	snprintf(account->shell, sizeof(account->shell), "%s", entry->pw_shell);
	account->gid = entry->pw_gid;
	return true;
}
