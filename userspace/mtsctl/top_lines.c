// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "format.h"
#include "top_lines.h"

/* Columns of the longest values, beside the bar and beside the name. */
#define BIN_COLUMNS 47u
#define JOB_COLUMNS 67u
/* A column of the user, where that leaves as much for the name as on a terminal of 80. */
#define USER_COLUMN 8u
#define USER_WIDTH_MIN (JOB_COLUMNS + 13 + USER_COLUMN + 1)
/* And one of the unit: "user@1000.service". */
#define UNIT_COLUMN 17u
#define UNIT_WIDTH_MIN (USER_WIDTH_MIN + UNIT_COLUMN + 1)
/* Beside the name of a group; its user is in it, but for groups that are users. */
#define GROUP_COLUMNS 56u

struct frame {
	const struct top_model *m;
	struct top_view *view;
	top_put put;
	void *to;
	u32 used; /* lines so far */
	bool users; /* the user of each job is shown */
	bool units; /* and its unit */
};

__attribute__((format(printf, 3, 4))) static void print(struct frame *f, enum top_style style,
							const char *format, ...)
{
	struct top_line line = { .style = style };
	va_list args;

	va_start(args, format);
	vsnprintf(line.text, f->view->width + 1, format, args);
	va_end(args);
	f->put(f->to, &line);
	f->used++;
}

/* Bytes a second without "/s"; "-": not known. */
static const char *size_or_dash(char buf[FORMAT_SIZE], u64 bytes)
{
	return bytes == TOP_UNKNOWN ? "-" : format_size(buf, bytes);
}

static const char *time_or_dash(char buf[FORMAT_SIZE], u64 ns)
{
	return ns ? format_time(buf, ns) : "-";
}

static const char *share_or_dash(char buf[FORMAT_SIZE], bool known, u32 permille)
{
	snprintf(buf, FORMAT_SIZE, "%u.%u %%", permille / 10, permille % 10);
	return known ? buf : "-";
}

/* "0.3", "120", "3.4k" */
static const char *faults_or_dash(char buf[FORMAT_SIZE], u64 per_1000s)
{
	double faults = per_1000s / 1e3;

	if (per_1000s == TOP_UNKNOWN)
		return "-";
	if (faults >= 9999.5)
		snprintf(buf, FORMAT_SIZE, "%.0fk", faults / 1e3);
	else
		snprintf(buf, FORMAT_SIZE, "%.*f", faults && faults < 9.95, faults);
	return buf;
}

/* ---- the head ----------------------------------------------------------------- */

static void show_title(struct frame *f)
{
	const struct sample *now = f->m->now;
	const struct mts_status *st = &now->s.status;
	char slice[FORMAT_SIZE], left[160], clock[16] = "", chosen[32] = "";
	time_t seconds = time(NULL);
	struct tm tm;

	if (now->config.policy == MTS_POLICY_AUTO)
		snprintf(chosen, sizeof(chosen), " (%s%s)",
			 word_of(policy_words, now->s.policy.policy),
			 now->s.policy.on_trial ? " on trial" : "");
	snprintf(left, sizeof(left), "mts %s (%s), mode=%s %s%s%s", word_of(state_words, st->state),
		 word_of(reason_words, st->reason), word_of(mode_words, now->config.mode),
		 now->config.policy ? "policy=" : "slice=",
		 now->config.policy ? word_of(policy_words, now->config.policy) :
				      format_time_exact(slice, now->config.slice_ns),
		 chosen);
	if (localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	print(f, TOP_STRONG, "%-*s %s", (int)f->view->width - 9, left, clock);
}

/* Of the older one. */
static const char *page_age(char buf[FORMAT_SIZE + 8], const struct mts_disk_info *disk)
{
	char age[FORMAT_SIZE];

	if (!disk->out.elapsed_ns && !disk->in.elapsed_ns)
		return "";
	snprintf(buf, FORMAT_SIZE + 8, "; %s ago",
		 format_time(age, mts_max(disk->out.age_ns, disk->in.age_ns)));
	return buf;
}

/* How many jobs have not begun, and which one is the next. */
static void show_queue(struct frame *f)
{
	const struct snapshot *s = &f->m->now->s;
	const struct mts_job_info *next = NULL;
	char name[MTS_NAME_SIZE], needs[FORMAT_SIZE] = "?", in[FORMAT_SIZE] = "?", by[FORMAT_SIZE];
	u64 now = s->status.now_ns;
	u32 n = 0;

	for (u32 i = 0; i < s->njobs; i++) {
		if (s->jobs[i].state != MTS_JOB_QUEUED)
			continue;
		n++;
		if (!next || s->jobs[i].queue_place == 1)
			next = &s->jobs[i];
	}
	if (!n)
		return;
	if (next->size)
		format_size(needs, next->size);
	if (next->starts_ns)
		format_time(in, mts_sub_floor(next->starts_ns, now));
	print(f, TOP_PLAIN, "queue   %u; next %s: needs %s, starts in %s, at the latest in %s", n,
	      format_name(name, sizeof(name), snapshot_label(s, next)), needs, in,
	      format_time(by, mts_sub_floor(next->starts_by_ns, now)));
}

static void show_head(struct frame *f)
{
	const struct top_rates *r = &f->m->rates;
	const struct sample *now = f->m->now;
	const struct mts_status *st = &now->s.status;
	char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE + 8], d[FORMAT_SIZE];
	char round[128] = "";

	show_title(f);
	print(f, TOP_PLAIN, "why     %s", *st->detail ? st->detail : "-");
	if (snapshot_rotates(&now->s) && snapshot_overlaps(&now->s))
		snprintf(round, sizeof(round), "; %u of %u groups run; round %s, longest pause %s",
			 snapshot_running(&now->s), now->s.nbins, format_time(a, st->round_ns),
			 format_time(b, st->longest_pause_ns));
	else if (st->round_ns)
		snprintf(round, sizeof(round), "; round %llu takes %s, longest pause %s", st->round,
			 format_time(a, st->round_ns), format_time(b, st->longest_pause_ns));
	print(f, TOP_PLAIN, "jobs    %u, %u frozen%s", st->jobs, st->frozen, round);
	show_queue(f);
	print(f, TOP_PLAIN, "switch  last %s, mean %s; %s of the last round, %s of all rounds",
	      time_or_dash(a, f->m->switch_last_ns), time_or_dash(b, f->m->switch_mean_ns),
	      share_or_dash(c, f->m->share_known, f->m->share),
	      share_or_dash(d, now->stats.switches, f->m->share_mean));
	print(f, TOP_PLAIN, "disk/s  evicted %s, brought back %s; host out %s, in %s",
	      size_or_dash(a, r->evicted), size_or_dash(b, r->brought_back),
	      size_or_dash(c, r->out), size_or_dash(d, r->in));
	print(f, TOP_PLAIN, "page    out %s, in %s%s",
	      format_page_time(a, now->s.disk.out.elapsed_ns),
	      format_page_time(b, now->s.disk.in.elapsed_ns), page_age(c, &now->s.disk));
	if (!now->vitals_known)
		print(f, TOP_PLAIN, "memory  -");
	else
		print(f, TOP_PLAIN, "memory  %s available, %s of swap free; %s major faults/s",
		      format_size(a, now->vitals.mem_available),
		      format_size(b, now->vitals.swap_free), faults_or_dash(c, r->faults));
}

/* ---- bins --------------------------------------------------------------------- */

static u32 cells(u64 bytes, u64 capacity, u32 width)
{
	return mts_min(mul_u64_u64_div_u64(mts_min(bytes, capacity), width, capacity), width);
}

/*
 * '#' is the part of the demand in memory, '-' the rest, which is in swap. '>' ends a
 * bar whose demand is above the capacity.
 */
static void draw_bar(char *bar, u32 width, const struct top_sum *sum, u64 capacity)
{
	u32 demand, resident;

	memset(bar, ' ', width);
	bar[width] = '\0';
	if (!capacity)
		return;
	demand = cells(sum->demand, capacity, width);
	resident = cells(mts_min(sum->resident, sum->demand), capacity, width);
	memset(bar, '-', demand);
	memset(bar, '#', resident);
	if (sum->demand > capacity)
		bar[width - 1] = '>';
}

static void show_sum(struct frame *f, enum top_style style, const char *label,
		     const struct top_sum *sum, const char *slice, const char *runs)
{
	u32 width = mts_max(f->view->width, BIN_COLUMNS + 10) - BIN_COLUMNS;
	struct top_line line = { .style = style, .bar_from = 7, .bar_to = 7 + width };
	char bar[TOP_WIDTH_MAX + 1], demand[FORMAT_SIZE];

	draw_bar(bar, width, sum, f->m->now->s.status.capacity);
	snprintf(line.text, f->view->width + 1, "%5s [%s] %8s %5u %8s  %s", label, bar,
		 format_size(demand, sum->demand), sum->jobs, slice, runs);
	line.bar_to = mts_min(line.bar_to, f->view->width);
	f->put(f->to, &line);
	f->used++;
}

static void show_bin(struct frame *f, u32 bin)
{
	const struct snapshot *s = &f->m->now->s;
	bool current = snapshot_runs(s, bin);
	char label[16], slice[FORMAT_SIZE], in[FORMAT_SIZE], runs[2 * FORMAT_SIZE] = "";

	if (snapshot_comes(s, bin))
		snprintf(runs, sizeof(runs), "coming");
	/* Which of several leave is not decided before the switch. */
	else if (current && snapshot_overlaps(s))
		snprintf(runs, sizeof(runs), "now");
	else if (current)
		snprintf(runs, sizeof(runs), "%s left", format_time(in, snapshot_slice_left(s)));
	else if (snapshot_rotates(s))
		snprintf(runs, sizeof(runs), "in %s", format_time(in, snapshot_starts_in(s, bin)));
	snprintf(label, sizeof(label), "%s%u", current ? "* " : "", bin);
	show_sum(f, current ? TOP_RUNNING : TOP_FROZEN, label, &f->m->bins[bin],
		 format_time(slice, s->bins[bin].slice_ns), runs);
}

static void show_bins_heading(struct frame *f)
{
	u32 width = mts_max(f->view->width, BIN_COLUMNS + 10) - BIN_COLUMNS;
	char text[FORMAT_SIZE + 64], capacity[FORMAT_SIZE];

	if (f->m->now->s.status.capacity)
		snprintf(text, sizeof(text), "of %s: # memory, - swap",
			 format_size(capacity, f->m->now->s.status.capacity));
	else
		snprintf(text, sizeof(text), "capacity: not measured yet");
	print(f, TOP_HEADING, "%5s  %-*.*s  %8s %5s %8s  %-9s",
	      snapshot_overlaps(&f->m->now->s) ? "GROUP" : "BIN", (int)width, (int)width, text,
	      "DEMAND", "JOBS", "SLICE", "RUNS");
}

/* The running bins, then those that come in after them, in their order: @n in all. */
static void show_first_bins(struct frame *f, u32 n)
{
	const struct snapshot *s = &f->m->now->s;
	u32 bin = MTS_BIN_NONE, shown = 0;

	for (u32 i = 0; i < s->nbins && shown < n; i++) {
		if (!snapshot_runs(s, i))
			continue;
		show_bin(f, i);
		shown++;
	}
	for (; shown < n && (bin = snapshot_after(s, bin)) != MTS_BIN_NONE; shown++)
		show_bin(f, bin);
}

/* At most `room` lines. */
static void show_bins(struct frame *f, u32 room)
{
	const struct top_model *m = f->m;
	u32 n = m->nbins, began;

	show_bins_heading(f);
	began = f->used;
	if (!n) {
		show_sum(f, TOP_PLAIN, "all", &m->all, "", "");
		return;
	}
	if (n > room && snapshot_rotates(&m->now->s))
		show_first_bins(f, room - 1);
	else
		for (u32 i = 0; i < (n > room ? room - 1 : n); i++)
			show_bin(f, i);
	n = f->used - began;
	if (n < m->nbins)
		print(f, TOP_PLAIN, "%5s %u more %ss", "...", m->nbins - n,
		      snapshot_bin_word(&m->now->s));
	if (f->used - began < room && m->every.jobs)
		show_sum(f, TOP_PLAIN, "every", &m->every, "", "always");
	if (f->used - began < room && m->stays.jobs)
		show_sum(f, TOP_PLAIN, "stays", &m->stays, "", "in turn");
	if (f->used - began < room && m->none.jobs)
		show_sum(f, TOP_PLAIN, "none", &m->none, "", "");
}

/* ---- jobs --------------------------------------------------------------------- */

static void show_job(struct frame *f, u32 row, int id_width, int name_width)
{
	const struct top_job *job = &f->m->jobs[row];
	const struct mts_job_info *info = job->info;
	const struct snapshot *s = &f->m->now->s;
	char demand[FORMAT_SIZE], resident[FORMAT_SIZE], swapped[FORMAT_SIZE], faults[FORMAT_SIZE];
	char name[MTS_NAME_SIZE], bin[16], frozen[FORMAT_SIZE] = "";
	char user[USER_COLUMN + 2] = "", unit[UNIT_COLUMN + 2] = "", text[UNIT_COLUMN + 1];
	enum top_style style = TOP_PLAIN;

	if (info->bin == MTS_BIN_EVERY)
		snprintf(bin, sizeof(bin), "every");
	else if (info->bin == MTS_BIN_NONE)
		snprintf(bin, sizeof(bin), "-");
	else
		snprintf(bin, sizeof(bin), "%u", info->bin);
	if (job->frozen_ns)
		format_time(frozen, job->frozen_ns);
	if (f->view->height && row == f->view->row)
		style = TOP_SELECTED;
	else if (job->frozen_ns)
		style = TOP_FROZEN;
	else if (snapshot_runs(s, info->bin))
		style = TOP_RUNNING;
	if (f->users)
		snprintf(user, sizeof(user), "%-*s ", USER_COLUMN,
			 format_name_short(text, USER_COLUMN, group_user(s, info)));
	if (f->units)
		snprintf(unit, sizeof(unit), "%-*s ", UNIT_COLUMN,
			 format_name_short(text, UNIT_COLUMN, group_name(s, BY_UNIT, info)));
	print(f, style, "%*u %s%s%-*s %-11s %5s %8s %8s %8s %7s %7s", id_width, info->id, user,
	      unit, name_width,
	      format_name_weight(name, name_width, snapshot_label(s, info), info->weight),
	      word_of(job_state_words, info->state), bin, format_size(demand, info->demand),
	      format_size(resident, info->resident), format_size(swapped, info->swapped), frozen,
	      faults_or_dash(faults, job->faults));
}

static bool has_units(const struct snapshot *s)
{
	for (u32 i = 0; i < s->njobs; i++)
		if (snapshot_unit(s, &s->jobs[i]))
			return true;
	return false;
}

static void show_jobs(struct frame *f)
{
	struct top_view *v = f->view;
	int id_width = 4, name_width;

	for (u32 i = 0; i < f->m->njobs; i++)
		id_width = mts_max(id_width, snprintf(NULL, 0, "%u", f->m->jobs[i].info->id));
	name_width = mts_max(v->width, JOB_COLUMNS + 13) - JOB_COLUMNS - (id_width - 4);
	f->users = snapshot_has_users(&f->m->now->s) && v->width >= USER_WIDTH_MIN;
	if (f->users)
		name_width -= USER_COLUMN + 1;
	f->units = v->width >= UNIT_WIDTH_MIN && has_units(&f->m->now->s);
	if (f->units)
		name_width -= UNIT_COLUMN + 1;
	name_width = mts_min(name_width, MTS_NAME_SIZE - 1);
	print(f, TOP_HEADING, "%*s %s%s%-*s %-11s %5s %8s %8s %8s %7s %7s", id_width, "ID",
	      f->users ? "USER     " : "", f->units ? "UNIT              " : "", name_width, "JOB",
	      "STATE", snapshot_overlaps(&f->m->now->s) ? "GROUP" : "BIN", "DEMAND", "RESIDENT",
	      "SWAPPED", "FROZEN", "FAULT/s");
	if (!f->m->njobs)
		print(f, TOP_PLAIN, "%*s no jobs: mtsctl run, mtsctl add", id_width, "");
	for (u32 i = 0; i < v->shown; i++)
		show_job(f, v->first + i, id_width, name_width);
}

/* ---- groups of jobs ------------------------------------------------------------- */

static void show_group(struct frame *f, u32 row, int name_width)
{
	const struct top_group *group = &f->m->groups[row];
	const struct snapshot *s = &f->m->now->s;
	char demand[FORMAT_SIZE], resident[FORMAT_SIZE], swapped[FORMAT_SIZE], faults[FORMAT_SIZE];
	char name[MTS_NAME_SIZE], user[USER_COLUMN + 2] = "", text[USER_COLUMN + 1];
	char frozen[FORMAT_SIZE] = "";
	enum top_style style = TOP_PLAIN;

	if (group->frozen_ns)
		format_time(frozen, group->frozen_ns);
	if (f->view->height && row == f->view->row)
		style = TOP_SELECTED;
	else if (group->frozen == group->jobs)
		style = TOP_FROZEN;
	if (f->m->by == BY_USER) {
		format_name_weight(name, name_width, group_user(s, group->job),
				   mts_user_weight(&s->weights, group->job->user));
	} else {
		format_name_short(name, name_width, group_name(s, f->m->by, group->job));
		snprintf(user, sizeof(user), " %-*s", USER_COLUMN,
			 format_name_short(text, USER_COLUMN, group_user(s, group->job)));
	}
	print(f, style, "%-*s%s %5u %6u %8s %8s %8s %7s %7s", name_width, name, user, group->jobs,
	      group->frozen, format_size(demand, group->demand),
	      format_size(resident, group->resident), format_size(swapped, group->swapped), frozen,
	      faults_or_dash(faults, group->faults));
}

static void show_groups(struct frame *f)
{
	struct top_view *v = f->view;
	bool of_users = f->m->by == BY_USER;
	u32 columns = GROUP_COLUMNS + (of_users ? 0 : USER_COLUMN + 1);
	int name_width = mts_min(mts_max(v->width, COLUMNS) - columns, MTS_NAME_SIZE - 1);

	print(f, TOP_HEADING, "%-*s%s %5s %6s %8s %8s %8s %7s %7s", name_width,
	      group_heading(f->m->by), of_users ? "" : " USER    ", "JOBS", "FROZEN", "DEMAND",
	      "RESIDENT", "SWAPPED", "LONGEST", "FAULT/s");
	if (!f->m->ngroups)
		print(f, TOP_PLAIN, "%s", "no jobs: mtsctl run, mtsctl add");
	for (u32 i = 0; i < v->shown; i++)
		show_group(f, v->first + i, name_width);
}

/* Which of the rows fit, with the selected one. */
static void scroll(struct frame *f, u32 room)
{
	struct top_view *v = f->view;
	u32 rows = top_model_rows(f->m);

	v->shown = mts_min(rows, room);
	v->row = mts_min(v->row, mts_sub_floor(rows, 1));
	v->first = mts_min(v->first, rows - v->shown);
	if (v->row < v->first)
		v->first = v->row;
	if (v->row >= v->first + v->shown)
		v->first = mts_sub_floor(v->row + 1, v->shown);
}

/* The bins get up to two fifths of the lines below the head, without the headings. */
void top_lines(const struct top_model *model, struct top_view *view, top_put put, void *to)
{
	struct frame f = { .m = model, .view = view, .put = put, .to = to };
	u32 height = view->height ? view->height : U32_MAX;

	show_head(&f);
	print(&f, TOP_PLAIN, "%s", "");
	show_bins(&f, view->height ? mts_max(mts_sub_floor(height, 10) * 2 / 5, 2) : height);
	print(&f, TOP_PLAIN, "%s", "");
	scroll(&f, mts_sub_floor(height, f.used + 1));
	if (model->by == BY_JOB)
		show_jobs(&f);
	else
		show_groups(&f);
}
