// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "top_keys.h"
#include "top_screen.h"

const char top_help[] =
	"mtsctl top\n"
	"\n"
	"  up down PgUp PgDn Home End  select a job\n"
	"  p          pin it (never freeze it), or unpin it\n"
	"  r          remove it from the jobs; it is thawed and runs on\n"
	"  s          change the slice of a full bin\n"
	"  T          thaw everything and stop the rotation\n"
	"  o O        next, previous order of the jobs\n"
	"  g G        jobs one by one, or summed up by user, unit or container\n"
	"  space      refresh now\n"
	"  q          quit\n"
	"\n"
	"  *          the bin that runs, or is being brought back\n"
	"  # - >      demand that is in memory, in swap, and above the capacity\n"
	"  switch     freezing, evicting and bringing back, from bin to bin\n"
	"  disk/s     bytes that mts moved to swap and back, and the whole host\n"
	"  RESIDENT   and SWAPPED are the present values, DEMAND is that of the plan\n"
	"  FAULT/s    pages a second that the job waited for\n"
	"  LONGEST    of the job in the group that has been frozen for longest\n"
	"\n"
	"If there are more than 256 jobs, only the jobs on the screen are refreshed,\n"
	"unless the order is by faults, or jobs are summed up.\n";

static void select_row(struct top_view *view, const struct top_model *model, s64 row)
{
	s64 last = (s64)top_model_rows(model) - 1;

	if (row > last)
		row = last;
	view->row = row < 0 ? 0 : row;
}

/* NULL: there is no job, or it is a row of several. */
static const struct mts_job_info *selected(struct top_keys *keys, const struct top_view *view,
					   const struct top_model *model)
{
	if (model->by == BY_JOB)
		return top_model_job(model, view->row);
	snprintf(keys->said, sizeof(keys->said), "that is for one job: g shows jobs one by one");
	return NULL;
}

static enum top_after list_key(struct top_keys *keys, struct top_view *view,
			       const struct top_model *model, int key)
{
	const struct mts_job_info *job;
	s64 row = view->row;

	switch (key) {
	case 'q':
		return TOP_QUIT;
	case TOP_KEY_UP:
	case 'k':
		select_row(view, model, row - 1);
		break;
	case TOP_KEY_DOWN:
	case 'j':
		select_row(view, model, row + 1);
		break;
	case TOP_KEY_PAGE_UP:
		view->first = mts_sub_floor(view->first, view->shown);
		select_row(view, model, row - view->shown);
		break;
	case TOP_KEY_PAGE_DOWN:
		view->first += view->shown;
		select_row(view, model, row + view->shown);
		break;
	case TOP_KEY_HOME:
		select_row(view, model, 0);
		break;
	case TOP_KEY_END:
		select_row(view, model, (s64)top_model_rows(model) - 1);
		break;
	case 'h':
	case '?':
		keys->mode = TOP_HELP;
		break;
	case 'o':
		view->order = (view->order + 1) % TOP_ORDERS;
		return TOP_REORDER;
	case 'O':
		view->order = (view->order + TOP_ORDERS - 1) % TOP_ORDERS;
		return TOP_REORDER;
	case 'g':
		view->by = (view->by + 1) % BY_END;
		return TOP_REFRESH;
	case 'G':
		view->by = (view->by + BY_END - 1) % BY_END;
		return TOP_REFRESH;
	case 's':
		keys->mode = TOP_ASK_SLICE;
		keys->input[0] = '\0';
		break;
	case 'T':
		keys->mode = TOP_ASK_THAW;
		break;
	case 'r':
		job = selected(keys, view, model);
		if (!job)
			break;
		keys->mode = TOP_ASK_REMOVE;
		keys->id = job->id;
		break;
	case 'p':
		job = selected(keys, view, model);
		if (!job)
			break;
		top_pin(job, keys->said);
		return TOP_REFRESH;
	case ' ':
		return TOP_REFRESH;
	}
	return TOP_REDRAW;
}

/* Every key but y means no. */
static enum top_after answer_key(struct top_keys *keys, int key)
{
	enum top_mode asked = keys->mode;

	keys->mode = TOP_LIST;
	if (key != 'y' && key != 'Y') {
		snprintf(keys->said, sizeof(keys->said), "nothing was done");
		return TOP_REDRAW;
	}
	if (asked == TOP_ASK_REMOVE)
		top_remove(keys->id, keys->said);
	else
		top_thaw(keys->said);
	return TOP_REFRESH;
}

static enum top_after input_key(struct top_keys *keys, int key)
{
	size_t length = strlen(keys->input);

	switch (key) {
	case TOP_KEY_ENTER:
		keys->mode = TOP_LIST;
		if (!length)
			return TOP_REDRAW;
		top_set_slice(keys->input, keys->said);
		return TOP_REFRESH;
	case TOP_KEY_ESCAPE:
		keys->mode = TOP_LIST;
		break;
	case TOP_KEY_BACKSPACE:
		if (length)
			keys->input[length - 1] = '\0';
		break;
	default:
		if (key > 127 || (!isalnum(key) && key != '.') || length + 1 >= sizeof(keys->input))
			break;
		keys->input[length] = key;
		keys->input[length + 1] = '\0';
		break;
	}
	return TOP_REDRAW;
}

enum top_after top_key(struct top_keys *keys, struct top_view *view, const struct top_model *model,
		       int key)
{
	if (key == TOP_KEY_RESIZE)
		return TOP_REDRAW;
	keys->said[0] = '\0';
	switch (keys->mode) {
	case TOP_HELP:
		keys->mode = TOP_LIST;
		return key == 'q' ? TOP_QUIT : TOP_REDRAW;
	case TOP_ASK_REMOVE:
	case TOP_ASK_THAW:
		return answer_key(keys, key);
	case TOP_ASK_SLICE:
		return input_key(keys, key);
	default:
		return list_key(keys, view, model, key);
	}
}

void top_bottom(const struct top_keys *keys, const struct top_view *view, char *text, size_t size)
{
	switch (keys->mode) {
	case TOP_HELP:
		snprintf(text, size, "any key goes back, q quits");
		break;
	case TOP_ASK_REMOVE:
		snprintf(text, size, "remove job %u, so that it is never frozen? (y/n)", keys->id);
		break;
	case TOP_ASK_THAW:
		snprintf(text, size, "thaw everything and stop the rotation? (y/n)");
		break;
	case TOP_ASK_SLICE:
		snprintf(text, size, "slice of a full bin (10ms to 60s): %s_", keys->input);
		break;
	default:
		if (*keys->said)
			snprintf(text, size, "%s", keys->said);
		else
			snprintf(text, size,
				 "h help  %ss slice  T thaw  o order: %s  g by %s  q quit",
				 view->by == BY_JOB ? "p pin  r remove  " : "",
				 word_of(top_order_words, view->order),
				 word_of(group_by_words, view->by));
		break;
	}
}
