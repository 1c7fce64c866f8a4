/* SPDX-License-Identifier: GPL-2.0 */
/* The terminal, through curses. */
#ifndef MTSCTL_TOP_SCREEN_H
#define MTSCTL_TOP_SCREEN_H

#include "mtsctl.h"
#include "top_lines.h"

/* Keys that are no characters; characters are themselves. */
enum top_key {
	TOP_KEY_NONE = 0, /* no key is waiting */
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

/* Takes the terminal, or prints an error. Return: an exit status. */
int screen_enter(const struct command *command);

/* Restores the terminal; does nothing if it was not taken. */
void screen_leave(void);

/* Puts its present size, without the line at the bottom, into the view. */
void screen_size(struct top_view *view);

/* Shows a frame, and one line below it. */
void screen_show(const struct top_model *model, struct top_view *view, const char *bottom);

/* Shows a text, and one line below it. */
void screen_show_text(const char *text, const char *bottom);

int screen_key(void);

#endif /* MTSCTL_TOP_SCREEN_H */
