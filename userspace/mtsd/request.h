/* SPDX-License-Identifier: GPL-2.0 */
/* One request: reads it, has it carried out, and replies. */
#ifndef MTSD_REQUEST_H
#define MTSD_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct mts_backend;
struct mts_wire_request;

/* The process at the other end. */
struct mts_peer {
	int fd;
	bool is_ours; /* root, or the user that this mtsd is of */
	bool is_member; /* of the users' group */
};

/* Before any request: what carries them out. */
void mts_request_init(const struct mts_backend *backend);

/* Root, or the user that this mtsd is of. */
bool mts_is_ours(uid_t uid);

/*
 * The head of a request, and the descriptor that came with it; -1: none. Of a user none is taken:
 * to close it, or to end with it, waits for its file system, which may be the user's, for ever. One
 * that is never installed is not flushed.
 */
bool mts_request_read(const struct mts_peer *peer, struct mts_wire_request *request, int *fd);

/* @passed: a descriptor of the caller, or -1. Return: false: the connection is of no more use. */
bool mts_request_answer(const struct mts_peer *peer, const struct mts_wire_request *request,
			void *argument, int passed);

/* The same. */
bool mts_reply(int fd, int err, const void *argument, size_t size);

#endif /* MTSD_REQUEST_H */
