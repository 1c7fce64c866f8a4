// SPDX-License-Identifier: GPL-2.0
#include "libmts/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libmts/socket.h"
#include "mtsd/wire.h"

static const char *chosen(const char *engine)
{
	const char *name = engine ? engine : getenv("MTS_ENGINE");

	return name && *name ? name : NULL;
}

int mts_engine_path(const char *engine, char *path, size_t size)
{
	const char *name = chosen(engine), *run = getenv("XDG_RUNTIME_DIR");
	int length;

	/* The socket of the user's own mtsd: systemd sets the variable for each session. */
	if (name && !strcmp(name, "user"))
		length = snprintf(path, size, "%s/" MTS_USER_SOCKET,
				  run && *run ? run : "$XDG_RUNTIME_DIR");
	else if (!name || !strcmp(name, "module"))
		length = snprintf(path, size, "%s", MTS_DEVICE);
	else
		length = snprintf(path, size, "%s", strcmp(name, "userspace") ? name : MTS_SOCKET);
	return length < (int)size ? 0 : -ENAMETOOLONG;
}

static int open_socket(const char *path, unsigned int limit_s, struct mts_connection *connection)
{
	int fd = mts_socket_open(path, limit_s);

	if (fd < 0)
		return fd;
	connection->fd = fd;
	connection->is_socket = true;
	connection->limit_s = limit_s;
	strcpy(connection->path, path);
	return 0;
}

static int open_it(const char *engine, unsigned int limit_s, struct mts_connection *connection)
{
	char path[MTS_SOCKET_PATH];
	int err, other;

	err = mts_engine_path(engine, path, sizeof(path));
	if (err)
		return err;
	if (strcmp(path, MTS_DEVICE))
		return *path == '/' ? open_socket(path, limit_s, connection) :
		       *path == '$' ? -ENOENT :
				      -EINVAL;
	connection->fd = open(path, O_RDWR | O_CLOEXEC);
	if (connection->fd >= 0)
		return 0;
	err = -errno;
	/* The module is not loaded, or for root: mtsd may run, as the engine or as the door. */
	if (chosen(engine))
		return err;
	other = open_socket(MTS_SOCKET, limit_s, connection);
	/* An mtsd that does not answer is there. */
	return !other || other == -ETIMEDOUT ? other : err;
}

int mts_connect(const char *engine, unsigned int limit_s, struct mts_connection **connection)
{
	struct mts_connection *its = calloc(1, sizeof(*its));
	int err;

	if (!its)
		return -ENOMEM;
	err = open_it(engine, limit_s, its);
	if (err) {
		free(its);
		return err;
	}
	its->owner = getpid();
	*connection = its;
	return 0;
}

void mts_disconnect(struct mts_connection *connection)
{
	if (!connection)
		return;
	close(connection->fd);
	free(connection);
}

bool mts_is_for_users(const struct mts_connection *connection)
{
	return connection->is_socket && geteuid() && mts_socket_server(connection->fd) != geteuid();
}

/* With the same descriptor, as a program may have it in its poll(). Return: 0 or -errno. */
static int connect_again(struct mts_connection *connection)
{
	int fd = mts_socket_open(connection->path, connection->limit_s), err = 0;

	if (fd < 0)
		return fd;
	if (dup3(fd, connection->fd, O_CLOEXEC) < 0)
		err = -errno;
	close(fd);
	if (!err)
		connection->owner = getpid();
	return err;
}

/* mtsd ends a connection that is idle, if another caller needs its place. */
static int call_mtsd(struct mts_connection *connection, unsigned long request, void *argument)
{
	int err = mts_socket_call(connection->fd, request, argument);

	if (err != -EAGAIN)
		return err;
	err = connect_again(connection);
	if (err)
		return err == -ETIMEDOUT ? err : -EPROTO;
	return mts_socket_call(connection->fd, request, argument);
}

int mts_call(struct mts_connection *connection, unsigned long request, void *argument)
{
	int ret;

	if (connection->is_socket)
		return call_mtsd(connection, request, argument);
	do {
		ret = ioctl(connection->fd, request, argument);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : 0;
}
