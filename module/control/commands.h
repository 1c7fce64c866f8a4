/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of uapi/mts.h, whatever carries them: the ioctls of /dev/mts, or the socket of mtsd.
 * The carrier copies the argument in and out, and checks whether the caller may ask.
 */
#ifndef _MTS_COMMANDS_H
#define _MTS_COMMANDS_H

#include "mts.h"

/* Does it change something, so that only an administrator may ask? */
bool mts_command_changes(unsigned int cmd);

/* Is it a command for mts_command()? */
bool mts_command_is_known(unsigned int cmd);

/**
 * mts_command() - carry out a command that is no list
 * @cmd: MTS_IOC_*
 * @arg: _IOC_SIZE(cmd) bytes, copied from the caller if _IOC_DIR(cmd) has _IOC_WRITE, else zeros.
 *	They are copied back if _IOC_DIR(cmd) has _IOC_READ, and there was no error.
 *
 * Return: 0 or an error of uapi/mts.h.
 */
int mts_command(unsigned int cmd, void *arg);

/**
 * struct mts_elements - the elements of a list
 * @at: list->count elements; the caller frees them with kvfree()
 * @size: bytes from one element to the next at @at
 * @distance: bytes from one element to the next in the caller's buffer. What is left of an element
 *	is cut off or filled with zeros.
 */
struct mts_elements {
	void *at;
	size_t size;
	size_t distance;
};

bool mts_command_is_list(unsigned int cmd);

/* Carry out MTS_IOC_JOBS, _BINS or _GONE. Return: 0; or an error, and there is nothing to free. */
int mts_command_list(unsigned int cmd, struct mts_list *list, struct mts_elements *elements);

#endif /* _MTS_COMMANDS_H */
