// SPDX-License-Identifier: GPL-2.0
#include "run_as.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accounts.h"
#include "mtsctl.h"
#include "parse.h"

/* sudo(8) names the command that it was given: "/usr/sbin/mtsctl run make". */
static bool is_by_sudo(void)
{
	const char *command = getenv("SUDO_COMMAND"), *base;
	size_t length;

	if (!command)
		return false;
	length = strcspn(command, " ");
	for (base = command + length; base > command && base[-1] != '/'; base--)
		;
	return command + length - base == (ptrdiff_t)strlen("mtsctl") &&
	       !strncmp(base, "mtsctl", strlen("mtsctl"));
}

u32 run_as_invoker(void)
{
	const char *uid = getenv("SUDO_UID");
	u32 id;

	return !getuid() && !geteuid() && is_by_sudo() && uid && parse_id(uid, &id) ? id : 0;
}

static int failed(const char *what)
{
	complain("run: cannot run the command as the user of sudo: %s: %s. With --as-root it runs "
		 "as root",
		 what, strerror(errno));
	return EXIT_RUN;
}

int run_as(u32 uid)
{
	struct account account;

	if (!account_of(uid, &account)) {
		errno = ENOENT;
		return failed("no such user");
	}
	if (account_groups(&account))
		return failed("its groups");
	if (setresgid(account.gid, account.gid, account.gid))
		return failed("its group");
	if (setresuid(uid, uid, uid))
		return failed("its user id");
	if (setenv("HOME", account.home, 1) || setenv("SHELL", account.shell, 1) ||
	    setenv("USER", account.name, 1) || setenv("LOGNAME", account.name, 1))
		return failed("its environment");
	return EXIT_OK;
}
