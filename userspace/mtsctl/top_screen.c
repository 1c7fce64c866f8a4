// SPDX-License-Identifier: GPL-2.0
#include <curses.h>
#include <stdlib.h>
#include <term.h>
#include <unistd.h>

#include "top_screen.h"

static SCREEN *screen;
static attr_t styles[TOP_STYLES], in_memory, in_swap;

/* Check here: initscr() would end the program without saying what to do. */
static int check_terminal(const struct command *command)
{
	const char *name = getenv("TERM");
	int err, known;
	bool moves;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return usage_error(command, "not on a terminal: use --batch");
	if (!name || !*name)
		return usage_error(command, "TERM is not set: set it, or use --batch");
	known = setupterm(name, STDOUT_FILENO, &err);
	if (known != OK && err != 1)
		return usage_error(command,
				   "TERM=%s: no such terminal in the terminfo database: set TERM "
				   "or TERMINFO, or use --batch",
				   name);
	moves = known == OK && cursor_address && clear_screen;
	if (known == OK)
		del_curterm(cur_term);
	if (!moves)
		return usage_error(command, "TERM=%s: it cannot move its cursor: use --batch",
				   name);
	return EXIT_OK;
}

/* Without colours, use bold and reverse. */
static void choose_styles(void)
{
	styles[TOP_STRONG] = A_BOLD;
	styles[TOP_HEADING] = A_REVERSE;
	styles[TOP_RUNNING] = A_BOLD;
	styles[TOP_SELECTED] = A_REVERSE | A_BOLD;
	if (!has_colors() || getenv("NO_COLOR") || start_color() != OK)
		return;
	use_default_colors();
	init_pair(1, COLOR_GREEN, -1);
	init_pair(2, COLOR_CYAN, -1);
	init_pair(3, COLOR_BLUE, -1);
	styles[TOP_RUNNING] = COLOR_PAIR(1) | A_BOLD;
	styles[TOP_FROZEN] = COLOR_PAIR(2);
	in_memory = COLOR_PAIR(1);
	in_swap = COLOR_PAIR(3);
}

int screen_enter(const struct command *command)
{
	int ret = check_terminal(command);

	if (ret)
		return ret;
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return usage_error(command, "curses cannot use the terminal: use --batch");
	choose_styles();
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	set_escdelay(50);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	return EXIT_OK;
}

void screen_leave(void)
{
	if (!screen)
		return;
	/* For the shell's prompt on terminals without an alternate screen. */
	move(LINES - 1, 0);
	clrtoeol();
	refresh();
	endwin();
	delscreen(screen);
	screen = NULL;
}

void screen_size(struct top_view *view)
{
	view->width = mts_min(mts_max(COLS, TOP_WIDTH_MIN), TOP_WIDTH_MAX);
	view->height = mts_max(LINES - 1, 1);
}

static void draw_bar(int y, const struct top_line *line)
{
	for (u32 x = line->bar_from; x < line->bar_to; x++) {
		if (line->text[x] == '#')
			mvaddch(y, x, '#' | in_memory);
		else if (line->text[x] == '-' || line->text[x] == '>')
			mvaddch(y, x, line->text[x] | in_swap);
	}
}

static void draw_line(void *to, const struct top_line *line)
{
	int *y = to;

	if (*y >= LINES - 1)
		return;
	attrset(styles[line->style]);
	mvaddnstr(*y, 0, line->text, COLS);
	if (line->style == TOP_SELECTED || line->style == TOP_HEADING)
		for (int x = getcurx(stdscr); getcury(stdscr) == *y && x < COLS; x++)
			addch(' ');
	draw_bar(*y, line);
	attrset(A_NORMAL);
	(*y)++;
}

static void draw_bottom(const char *bottom)
{
	attrset(styles[TOP_STRONG]);
	/* Leave the last cell empty: writing to it scrolls some terminals. */
	mvaddnstr(LINES - 1, 0, bottom, COLS - 1);
	attrset(A_NORMAL);
	refresh();
}

void screen_show(const struct top_model *model, struct top_view *view, const char *bottom)
{
	int y = 0;

	erase();
	top_lines(model, view, draw_line, &y);
	draw_bottom(bottom);
}

void screen_show_text(const char *text, const char *bottom)
{
	erase();
	mvaddstr(0, 0, text);
	draw_bottom(bottom);
}

int screen_key(void)
{
	int key = getch();

	switch (key) {
	case ERR:
		return TOP_KEY_NONE;
	case '\r':
	case KEY_ENTER:
		return TOP_KEY_ENTER;
	case '\b':
	case KEY_BACKSPACE:
		return TOP_KEY_BACKSPACE;
	case KEY_UP:
		return TOP_KEY_UP;
	case KEY_DOWN:
		return TOP_KEY_DOWN;
	case KEY_PPAGE:
		return TOP_KEY_PAGE_UP;
	case KEY_NPAGE:
		return TOP_KEY_PAGE_DOWN;
	case KEY_HOME:
		return TOP_KEY_HOME;
	case KEY_END:
		return TOP_KEY_END;
	case KEY_RESIZE:
		/* Redraw all: the terminal's contents after a resize are not known. */
		clearok(curscr, TRUE);
		return TOP_KEY_RESIZE;
	default:
		return key < 256 ? key : TOP_KEY_OTHER;
	}
}
