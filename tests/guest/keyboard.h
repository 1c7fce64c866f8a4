/* SPDX-License-Identifier: GPL-2.0 */
/* Keyboards made with uinput. */
#ifndef _MTS_GUEST_KEYBOARD_H
#define _MTS_GUEST_KEYBOARD_H

#include <stdbool.h>
#include <stddef.h>

/* Letters and the like. Skips the test where there is no uinput. Closed, it is gone. */
int keyboard_make(const char *name);
/* Where programs read it: /dev/input/event*. False: it is not there (yet). */
bool keyboard_path(const char *name, char *path, size_t size);
/* The letter a, and up again. */
void keyboard_press(int keyboard);

#endif /* _MTS_GUEST_KEYBOARD_H */
