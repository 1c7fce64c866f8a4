/* SPDX-License-Identifier: GPL-2.0 */
/* Tells systemd how a service of Type=notify is: for mtsd, and for mtsctl rules watch. */
#ifndef MTSD_NOTIFY_H
#define MTSD_NOTIFY_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* sd_notify(3), without libsystemd, of which there is no static library. */
static inline void notify(const char *state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	int fd;

	if (!path || strlen(path) >= sizeof(address.sun_path))
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	strcpy(address.sun_path, path);
	if (*path == '@')
		*address.sun_path = '\0';
	sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
	       offsetof(struct sockaddr_un, sun_path) + strlen(path));
	close(fd);
}

#endif /* MTSD_NOTIFY_H */
