// SPDX-License-Identifier: GPL-2.0
#include "keyboard.h"

#include <linux/uinput.h>

#include "guest.h"

/* What evdev of X takes for a keyboard. */
#define LAST_KEY KEY_KPDOT

int keyboard_make(const char *name)
{
	struct uinput_setup setup = { .id = { .bustype = BUS_VIRTUAL } };
	int key, fd = open("/dev/uinput", O_WRONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		guest_skip("the guest has no uinput");
	snprintf(setup.name, sizeof(setup.name), "%s", name);
	check(!ioctl(fd, UI_SET_EVBIT, EV_KEY), "uinput: %m");
	for (key = KEY_ESC; key <= LAST_KEY; key++)
		check(!ioctl(fd, UI_SET_KEYBIT, key), "uinput: %m");
	check(!ioctl(fd, UI_DEV_SETUP, &setup) && !ioctl(fd, UI_DEV_CREATE), "uinput: %m");
	return fd;
}

bool keyboard_path(const char *name, char *path, size_t size)
{
	char found[64];
	unsigned int i;
	bool is;
	int fd;

	for (i = 0; i < 32; i++) {
		snprintf(path, size, "/dev/input/event%u", i);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		is = ioctl(fd, EVIOCGNAME(sizeof(found)), found) > 0 && !strcmp(found, name);
		close(fd);
		if (is)
			return true;
	}
	return false;
}

void keyboard_press(int keyboard)
{
	const struct input_event events[] = {
		{ .type = EV_KEY, .code = KEY_A, .value = 1 },
		{ .type = EV_SYN, .code = SYN_REPORT },
		{ .type = EV_KEY, .code = KEY_A, .value = 0 },
		{ .type = EV_SYN, .code = SYN_REPORT },
	};

	check(write(keyboard, events, sizeof(events)) == sizeof(events), "uinput: %m");
}
