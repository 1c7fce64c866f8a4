// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format.h"
#include "ipc.h"
#include "mtsctl.h"
#include "ticker.h"
#include "top_keys.h"
#include "top_screen.h"
#include "values.h"

/* Beyond this number, read only the jobs on the screen: each takes ten system calls. */
#define LOOK_AT_ALL 256

struct top {
	struct sample samples[2];
	u32 at; /* index of the newer one */
	u32 taken; /* number of samples, up to 2 */
	struct top_history history;
	struct top_model model;
	struct top_view view;
	struct top_keys keys;
};

static void look_at_jobs(const struct top *top, struct sample *now)
{
	const struct top_model *old = &top->model;
	u32 end = mts_min(top->view.first + top->view.shown, top_model_rows(old));

	if (now->s.njobs <= LOOK_AT_ALL || top->view.order == TOP_BY_FAULTS ||
	    top->view.by != BY_JOB || old->by != BY_JOB || !top->view.height) {
		sample_look_all(now);
		return;
	}
	for (u32 row = top->view.first; row < end; row++) {
		const struct mts_job_info *job = snapshot_job(&now->s, top_model_job(old, row)->id);

		if (job)
			sample_look(now, job - now->s.jobs);
	}
}

/* Close the device between samples: an open device keeps the module from being unloaded. */
static int take(const struct top *top, struct sample *now)
{
	int ret = ipc_open();

	*now = (struct sample){ 0 };
	if (ret) {
		screen_leave();
		return device_absent(-ret);
	}
	ret = sample_take(now);
	ipc_close();
	if (ret) {
		screen_leave();
		return device_failed("top", -ret);
	}
	look_at_jobs(top, now);
	return EXIT_OK;
}

/* The selection follows the job or the group. If that is gone, the row stays selected. */
static int model_anew(struct top *top, const struct top_selected *selected)
{
	const struct sample *before = top->taken > 1 ? &top->samples[!top->at] : NULL;
	u32 row;
	int ret;

	top_model_free(&top->model);
	ret = top_model_make(&top->model, before, &top->samples[top->at], &top->history,
			     top->view.by, top->view.order);
	if (ret) {
		screen_leave();
		return device_failed("top", -ret);
	}
	row = top_model_row(&top->model, selected);
	if (row < top_model_rows(&top->model))
		top->view.row = row;
	return EXIT_OK;
}

/* A key does not replace the older sample, so that rates are those since the last tick. */
static int refresh(struct top *top, bool tick)
{
	struct top_selected selected = top_model_selected(&top->model, top->view.row);
	struct sample now;
	int ret = take(top, &now);

	if (ret) {
		sample_free(&now);
		return ret;
	}
	if (tick || top->taken < 2) {
		top->at = !top->at;
		top->taken = mts_min(top->taken + 1, 2);
	}
	sample_free(&top->samples[top->at]);
	top->samples[top->at] = now;
	top_history_note(&top->history, &now);
	return model_anew(top, &selected);
}

static void top_free(struct top *top)
{
	top_model_free(&top->model);
	sample_free(&top->samples[0]);
	sample_free(&top->samples[1]);
}

/* ---- on a terminal -------------------------------------------------------------- */

static void draw(struct top *top)
{
	char bottom[TOP_WIDTH_MAX];

	top_bottom(&top->keys, &top->view, bottom, sizeof(bottom));
	screen_size(&top->view);
	if (top->keys.mode == TOP_HELP)
		screen_show_text(top_help, bottom);
	else
		screen_show(&top->model, &top->view, bottom);
}

/* Handle all keys that were typed. Return: an exit status. */
static int on_keys(struct top *top, bool *quit)
{
	struct top_selected selected;
	int key, ret = EXIT_OK;

	while (!ret && !*quit && (key = screen_key()) != TOP_KEY_NONE) {
		switch (top_key(&top->keys, &top->view, &top->model, key)) {
		case TOP_REDRAW:
			break;
		case TOP_REORDER:
			selected = top_model_selected(&top->model, top->view.row);
			ret = model_anew(top, &selected);
			break;
		case TOP_REFRESH:
			ret = refresh(top, false);
			break;
		case TOP_QUIT:
			*quit = true;
			break;
		}
	}
	return ret;
}

static int show_live(const struct command *command, struct top *top, struct ticker *ticker,
		     u32 count)
{
	bool quit = false;
	u32 frames = 1;
	int ret;

	ret = screen_enter(command);
	while (!ret && !quit) {
		draw(top);
		switch (ticker_wait(ticker, STDIN_FILENO)) {
		case TICK:
			quit = count && frames++ == count;
			ret = quit ? EXIT_OK : refresh(top, true);
			break;
		case TICK_INPUT:
		case TICK_SIGNAL:
			ret = on_keys(top, &quit);
			break;
		case TICK_END:
			quit = true;
			break;
		}
	}
	screen_leave();
	return ret;
}

/* ---- --batch -------------------------------------------------------------------- */

static void print_line(void *to, const struct top_line *line)
{
	int length = strlen(line->text);

	while (length && line->text[length - 1] == ' ')
		length--;
	fprintf(to, "%.*s\n", length, line->text);
}

/* The first frame comes after the first delay, so that each frame has rates. */
static int show_batch(struct top *top, struct ticker *ticker, u32 count)
{
	struct output_end end = ticker_end(ticker);
	int ret = output_may_end(&end);

	if (ret)
		return device_failed("top", -ret);
	top->view.width = COLUMNS;
	for (u32 frames = 0; !ret && (!count || frames < count); frames++) {
		if (ticker_wait(ticker, -1) != TICK)
			break;
		ret = refresh(top, true);
		if (ret)
			break;
		if (frames)
			putchar('\n');
		top_lines(&top->model, &top->view, print_line, stdout);
		/* main() prints the error. */
		if (fflush(stdout))
			ret = EXIT_FAILED;
	}
	return ret;
}

static int show(const struct command *command, bool batch, u32 count, u64 delay,
		const struct top_view *view)
{
	struct top top = { .view = *view };
	struct ticker ticker;
	int ret;

	ret = refresh(&top, true);
	if (!ret) {
		ret = ticker_start(&ticker, delay);
		if (ret) {
			ret = device_failed("top", -ret);
		} else {
			ret = batch ? show_batch(&top, &ticker, count) :
				      show_live(command, &top, &ticker, count);
			ticker_stop(&ticker);
		}
	}
	top_free(&top);
	return ret;
}

int top_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {
		{ "batch", no_argument, NULL, 'b' },
		{ "by", required_argument, NULL, 'g' },
		{ "count", required_argument, NULL, 'n' },
		{ "delay", required_argument, NULL, 'd' },
		{ "order", required_argument, NULL, 'o' },
		{ 0 },
	};
	u32 count = 0, by = BY_JOB, order = TOP_BY_BIN;
	u64 delay = 1000000000;
	bool batch = false;
	int opt, ret = EXIT_OK;

	while (!ret &&
	       (opt = next_option(command, argc, argv, "bg:n:d:o:", options)) != OPTION_END) {
		switch (opt) {
		case 'b':
			batch = true;
			break;
		case 'g':
			ret = value_word(command, "--by ", optarg, group_by_words, &by);
			break;
		case 'n':
			ret = value_count(command, "--count ", optarg, U32_MAX, &count);
			break;
		case 'd':
			ret = value_interval(command, "--delay ", optarg, &delay);
			break;
		case 'o':
			ret = value_word(command, "--order ", optarg, top_order_words, &order);
			break;
		case OPTION_HELP:
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (ret)
		return ret;
	if (optind != argc)
		return usage_error(command, "unexpected '%s'", argv[optind]);
	return show(command, batch, count, delay, &(struct top_view){ .by = by, .order = order });
}
