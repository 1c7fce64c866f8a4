/* SPDX-License-Identifier: GPL-2.0 */
/* What mtsd tells its guardian. */
#ifndef MTSD_GUARDIAN_WIRE_H
#define MTSD_GUARDIAN_WIRE_H

#include <stdint.h>

/* Descriptors of the guardian: the socket to mtsd (SEQPACKET), and the file of the record. */
#define GUARDIAN_SOCKET_FD 3
#define GUARDIAN_RECORD_FD 4

enum guardian_what {
	GUARDIAN_LEARN, /* with the descriptor of a job's cgroup.freeze */
	GUARDIAN_FORGET,
	GUARDIAN_LOOK, /* a job is about to be frozen: watch the beat */
};

struct guardian_message {
	uint32_t what;
	uint32_t slot;
};

#endif /* MTSD_GUARDIAN_WIRE_H */
