/* SPDX-License-Identifier: GPL-2.0 */
/* The terminal, by curses. */
#ifndef MTSCTL_TOP_SCREEN_H
#define MTSCTL_TOP_SCREEN_H

#include "mtsctl.h"
#include "top_lines.h"

/* Keys that are no characters; characters are themselves. */
enum top_key {
	TOP_KEY_NONE = 0, /* no more of them at the moment */
	TOP_KEY_ENTER = '\n',
	TOP_KEY_ESCAPE = 27,
	TOP_KEY_BACKSPACE = 127,
	TOP_KEY_UP = 256,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_RESIZE,
	TOP_KEY_OTHER,
};

/* Takes the terminal, or says why it cannot. Return: an exit status. */
int screen_enter(const struct command *command);

/* Gives it back as it was; does nothing if it was not taken. */
void screen_leave(void);

/* Its size as it is now, less the line at the bottom, into the view. */
void screen_size(struct top_view *view);

/* A frame and below it one line, in place of what was shown. */
void screen_show(const struct top_model *model, struct top_view *view, const char *bottom);

/* The text, and the line below. */
void screen_show_text(const char *text, const char *bottom);

int screen_key(void);

#endif /* MTSCTL_TOP_SCREEN_H */
