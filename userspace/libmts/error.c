// SPDX-License-Identifier: GPL-2.0
#include "libmts/error.h"

#include <string.h>

#include "libmts/connection.h"
#include "mtsd/wire.h"

static const char *not_permitted(int err, bool for_users)
{
	if (!for_users)
		return "not permitted: run as root (CAP_SYS_ADMIN in the initial user namespace)";
	if (err == EACCES)
		return "not yours: a user's job is a cgroup that the user owns, in which all "
		       "processes are the user's; jobs that root or a rule has made are root's";
	return "not permitted: only root may do this; of jobs of their own, members of the group "
	       "that mts.conf(5) names below [users], mts by default, too";
}

const char *mts_error_text(int err, bool for_users)
{
	switch (err) {
	case EPERM:
	case EACCES:
		return not_permitted(err, for_users);
	case MTS_WIRE_TOO_MANY_JOBS:
		return "you have as many jobs already as jobs= in the section [users] of "
		       "mts.conf(5) allows: remove one first";
	case MTS_WIRE_TOO_MANY_PINS:
		return "you have as many pinned jobs already as pins= in the section [users] of "
		       "mts.conf(5) allows: unpin one first";
	case MTS_WIRE_TOO_SHORT_PAUSE:
		return "the pause limit is shorter than max_pause= in the section [users] of "
		       "mts.conf(5) allows";
	case MTS_WIRE_TOO_MUCH_WEIGHT:
		return "only root gives a job more than the usual weight, 100";
	case MTS_WIRE_TOO_MANY_QUEUED:
		return "you have as many jobs in the queue already as queue= in the section "
		       "[users] of mts.conf(5) allows";
	case MTS_WIRE_TOO_LARGE:
		return "the sizes that you have given to jobs are more than half of the host's "
		       "memory together: leave it out, or wait until one ends";
	case E2BIG:
		return "there is too much in the cgroup: users may enrol 1024 cgroups, 8192 "
		       "processes and 32 levels at most";
	case ENXIO:
		return "the module is not loaded (modprobe mts)";
	case EPROTO:
		return "what answers is no mtsd, or it has ended";
	case EAGAIN:
		return "too many callers ask at a time, or jobs come faster than they are listed: "
		       "try again";
	}
	return NULL;
}

/* Of a command about a job. */
static const char *text_of_job(int err)
{
	switch (err) {
	case ENOENT:
		return "no such job";
	case EEXIST:
		return "it is a job already, or lies above or below one, or a job or a cgroup of "
		       "that name exists";
	case ENOSPC:
		return "there are as many jobs already as there can be";
	case EBUSY:
		return "it holds PID 1, a kernel thread, the caller or one of its ancestors, which "
		       "are never frozen; of a user who enters: another process";
	case ENODEV:
		return "the cgroup was removed";
	case EOPNOTSUPP:
		return "not supported: the memory controller is not enabled in the cgroup, or jobs "
		       "of children cannot be made here";
	case ENOTTY:
		return "the loaded module does not know this command: it is too old";
	case ECHILD:
		return "another process has made the connection";
	}
	return NULL;
}

/* Of mts_connect(). */
static const char *text_of_connect(int err)
{
	switch (err) {
	case ENOENT:
	case ECONNREFUSED:
	case ENODEV:
	case ENXIO:
		return "the module is not loaded, and no mtsd answers";
	case EACCES:
	case EPERM:
		return "not permitted: it is root's, and no mtsd answers for users "
		       "(mts-users.service)";
	}
	return NULL;
}

const char *mts_strerror(const struct mts_connection *connection, int err)
{
	const char *text;

	err = err < 0 ? -err : err;
	if (connection) {
		text = mts_error_text(err, mts_is_for_users(connection));
		text = text ? text : text_of_job(err);
	} else {
		text = text_of_connect(err);
	}
	return text ? text : strerror(err);
}
