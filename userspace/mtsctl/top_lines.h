/* SPDX-License-Identifier: GPL-2.0 */
/* A frame of top as lines of ASCII, for the terminal and for --batch. */
#ifndef MTSCTL_TOP_LINES_H
#define MTSCTL_TOP_LINES_H

#include "top_model.h"

#define TOP_WIDTH_MIN 40u
#define TOP_WIDTH_MAX 250u

enum top_style {
	TOP_PLAIN,
	TOP_STRONG, /* the first line */
	TOP_HEADING, /* of columns */
	TOP_RUNNING, /* the bin that runs, and its jobs */
	TOP_FROZEN,
	TOP_SELECTED,
	TOP_STYLES,
};

struct top_line {
	char text[TOP_WIDTH_MAX + 1];
	enum top_style style;
	/* A bar: '#' in memory, '-' in swap. Empty if both are 0. */
	u32 bar_from;
	u32 bar_to;
};

/* Where the frame is cut. */
struct top_view {
	u32 width; /* columns; TOP_WIDTH_MIN..TOP_WIDTH_MAX */
	u32 height; /* lines; 0: no limit, and no job is selected */
	enum group_by by;
	enum top_order order;
	u32 row; /* the selected job or group */
	u32 first; /* the first one that is shown */
	u32 shown; /* the number of those shown; set by top_lines() */
};

typedef void (*top_put)(void *to, const struct top_line *line);

/* Moves view->first so that the selected row is shown. */
void top_lines(const struct top_model *model, struct top_view *view, top_put put, void *to);

#endif /* MTSCTL_TOP_LINES_H */
