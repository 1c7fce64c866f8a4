/* SPDX-License-Identifier: GPL-2.0 */
/* The keys of top, as a state machine. */
#ifndef MTSCTL_TOP_KEYS_H
#define MTSCTL_TOP_KEYS_H

#include "top_actions.h"
#include "top_lines.h"

enum top_mode {
	TOP_LIST, /* keys are commands */
	TOP_HELP,
	TOP_ASK_REMOVE,
	TOP_ASK_THAW,
	TOP_ASK_SLICE,
};

struct top_keys {
	enum top_mode mode;
	u32 id; /* the job of TOP_ASK_REMOVE */
	char input[16]; /* of TOP_ASK_SLICE */
	char said[TOP_SAID]; /* the result of the last action; empty: none */
};

/* The caller's next step after a key. */
enum top_after {
	TOP_REDRAW,
	TOP_REORDER, /* view->order has changed */
	TOP_REFRESH, /* something may have changed in the module, or view->by has */
	TOP_QUIT,
};

extern const char top_help[];

enum top_after top_key(struct top_keys *keys, struct top_view *view, const struct top_model *model,
		       int key);

/* The line at the bottom: a question, the last result, or the keys. */
void top_bottom(const struct top_keys *keys, const struct top_view *view, char *text, size_t size);

#endif /* MTSCTL_TOP_KEYS_H */
