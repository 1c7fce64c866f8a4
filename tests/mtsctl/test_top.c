// SPDX-License-Identifier: GPL-2.0
/* The model of top: from two samples to what is shown; and its lines. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "mtsctl.h"
#include "top_lines.h"

#define SECOND 1000000000ull
#define MIB (1ull << 20)
#define JOBS 5u
#define BINS 3u

/* What the rest of mtsctl needs from its main file. */
void complain(const char *format, ...)
{
	(void)format;
}

/* A sample without memory of its own. */
struct made {
	struct sample sample;
	struct mts_job_info jobs[JOBS];
	struct mts_bin_info bins[BINS];
	u64 faults[JOBS];
};

static const struct {
	const char *name;
	u32 bin;
	u64 demand, resident;
} made_jobs[JOBS] = {
	{ "delta", 1, 40, 40 },		 { "beta", 0, 60, 0 },
	{ "alpha", 1, 50, 10 },		 { "gamma", MTS_BIN_EVERY, 5, 5 },
	{ "omega", MTS_BIN_NONE, 7, 7 },
};

/* Three bins, of which bin 1 runs; the third is empty. */
static void make(struct made *made, u64 seconds)
{
	struct mts_status *st = &made->sample.s.status;

	*made = (struct made){ 0 };
	for (u32 i = 0; i < JOBS; i++) {
		made->jobs[i] = (struct mts_job_info){
			.id = 10 + i,
			.bin = made_jobs[i].bin,
			.demand = made_jobs[i].demand * MIB,
			.resident = made_jobs[i].resident * MIB,
			.swapped = (made_jobs[i].demand - made_jobs[i].resident) * MIB,
		};
		snprintf(made->jobs[i].name, MTS_NAME_SIZE, "%s", made_jobs[i].name);
		made->faults[i] = SAMPLE_UNKNOWN;
		if (made_jobs[i].bin < BINS) {
			made->bins[made_jobs[i].bin].jobs++;
			made->bins[made_jobs[i].bin].demand += made->jobs[i].demand;
		}
	}
	made->jobs[1].state = MTS_JOB_FROZEN;
	made->jobs[1].frozen_since_ns = 95 * SECOND;
	for (u32 i = 0; i < BINS; i++)
		made->bins[i].slice_ns = 2 * SECOND;
	made->bins[1].flags = MTS_BIN_RUNS;
	*st = (struct mts_status){
		.state = MTS_STATE_RUNNING,
		.jobs = JOBS,
		.bins = BINS,
		.current_bin = 1,
		.now_ns = (100 + seconds) * SECOND,
		.capacity = 100 * MIB,
		.slice_ends_ns = (100 + seconds) * SECOND + SECOND / 2,
		.round_ns = 6 * SECOND,
		.round = 4,
	};
	made->sample.s.jobs = made->jobs;
	made->sample.s.njobs = JOBS;
	made->sample.s.bins = made->bins;
	made->sample.s.nbins = BINS;
	made->sample.faults = made->faults;
	made->sample.whole = true;
	made->sample.vitals_known = true;
}

static struct made before, now;
static struct top_history history;
static struct top_model model;

static void model_by(const struct made *first, enum group_by by, enum top_order order)
{
	top_model_free(&model);
	CHECK(!top_model_make(&model, first ? &first->sample : NULL, &now.sample, &history, by,
			      order));
}

static void model_of(const struct made *first, enum top_order order)
{
	model_by(first, BY_JOB, order);
}

/* A job that was selected while jobs were listed one by one. */
static u32 row_of_job(u32 id)
{
	return top_model_row(&model, &(struct top_selected){ .id = id, .by = BY_JOB });
}

/* The names' first letters, in the order of the rows. */
static bool ordered(enum top_order order, const char *letters)
{
	char found[JOBS + 1] = "";

	model_of(&before, order);
	for (u32 i = 0; i < model.njobs; i++)
		found[i] = model.jobs[i].info->name[0];
	if (strcmp(found, letters))
		printf("%s\n", found);
	return !strcmp(found, letters);
}

static void without_a_sample_before_no_rate_is_known(void)
{
	make(&now, 0);
	now.faults[0] = 7;
	history = (struct top_history){ 0 };
	model_of(NULL, TOP_BY_ID);
	CHECK(model.rates.evicted == TOP_UNKNOWN && model.rates.brought_back == TOP_UNKNOWN);
	CHECK(model.rates.out == TOP_UNKNOWN && model.rates.in == TOP_UNKNOWN);
	CHECK(model.jobs[0].faults == TOP_UNKNOWN);
	CHECK(!model.switch_last_ns && !model.switch_mean_ns && !model.share_known);
}

static void rates_are_differences_over_time(void)
{
	u64 page = sysconf(_SC_PAGESIZE);

	make(&before, 0);
	make(&now, 4);
	before.sample.stats.evict_got = 10 * MIB;
	now.sample.stats.evict_got = 50 * MIB;
	before.sample.stats.brought_back = 100;
	now.sample.stats.brought_back = 500;
	now.sample.vitals.pswpout = 40;
	now.sample.vitals.pswpin = 50;
	now.sample.vitals.zswpin = 30;
	now.sample.vitals.pgmajfault = 2;
	model_of(&before, TOP_BY_ID);
	CHECK(model.rates.evicted == 10 * MIB);
	CHECK(model.rates.brought_back == 100 * page);
	CHECK(model.rates.out == 10 * page && model.rates.in == 20 * page);
	CHECK(model.rates.faults == 500);

	/* Loaded anew: nothing is below zero. At the same time: nothing is divided. */
	now.sample.stats.evict_got = 0;
	model_of(&before, TOP_BY_ID);
	CHECK(!model.rates.evicted);
	now.sample.s.status.now_ns = before.sample.s.status.now_ns;
	model_of(&before, TOP_BY_ID);
	CHECK(model.rates.evicted == TOP_UNKNOWN);

	make(&now, 4);
	now.sample.vitals_known = false;
	model_of(&before, TOP_BY_ID);
	CHECK(model.rates.out == TOP_UNKNOWN && !model.rates.evicted);
}

static void faults_are_of_the_same_job(void)
{
	make(&before, 0);
	make(&now, 2);
	before.faults[0] = 100;
	now.faults[0] = 130;
	before.faults[2] = 5; /* and not known now */
	now.faults[3] = 5; /* and not known then */
	before.faults[4] = 9;
	before.jobs[4].id = 99; /* another job */
	now.faults[4] = 90;
	model_of(&before, TOP_BY_ID);
	CHECK(model.jobs[0].faults == 15000);
	for (u32 i = 1; i < JOBS; i++)
		CHECK(model.jobs[i].faults == TOP_UNKNOWN);

	/* One went in between: those after it are found all the same. */
	make(&before, 0);
	before.jobs[0].id = 3;
	before.faults[4] = 9;
	model_of(&before, TOP_BY_ID);
	CHECK(model.jobs[0].faults == TOP_UNKNOWN);
	CHECK(model.jobs[4].faults == (90 - 9) * 1000 / 2);
}

static void jobs_come_in_each_order(void)
{
	make(&before, 0);
	make(&now, 1);
	for (u32 i = 0; i < JOBS; i++)
		before.faults[i] = 0;
	now.faults[2] = 3;
	now.faults[4] = 4;
	CHECK(ordered(TOP_BY_BIN, "bdago"));
	CHECK(ordered(TOP_BY_ID, "dbago"));
	CHECK(ordered(TOP_BY_NAME, "abdgo"));
	CHECK(ordered(TOP_BY_STATE, "bdago"));
	CHECK(ordered(TOP_BY_DEMAND, "badog"));
	CHECK(ordered(TOP_BY_RESIDENT, "daogb"));
	CHECK(ordered(TOP_BY_SWAPPED, "badgo"));
	CHECK(ordered(TOP_BY_FROZEN, "bdago"));
	CHECK(ordered(TOP_BY_FAULTS, "oadbg"));
	/* Within a user by id: the first, the third and the fifth are of the higher number. */
	for (u32 i = 0; i < JOBS; i++)
		now.jobs[i].user = i % 2 ? 1000 : 1001;
	CHECK(ordered(TOP_BY_USER, "bgdao"));
	for (u32 i = 0; i < TOP_ORDERS; i++)
		CHECK(strcmp(word_of(top_order_words, i), "unknown"));
	CHECK(model.jobs[row_of_job(11)].info->id == 11);
	CHECK(row_of_job(1234) == JOBS);
}

static void bins_are_summed_up(void)
{
	make(&now, 1);
	model_of(NULL, TOP_BY_ID);
	CHECK(model.nbins == BINS);
	CHECK(model.bins[0].jobs == 1 && model.bins[0].swapped == 60 * MIB);
	CHECK(model.bins[1].jobs == 2 && model.bins[1].resident == 50 * MIB);
	CHECK(!model.bins[2].jobs && !model.bins[2].demand);
	CHECK(model.every.jobs == 1 && model.none.jobs == 1 && model.all.jobs == JOBS);
	CHECK(model.jobs[1].frozen_ns == 6 * SECOND);
	/* What the module packed by is its word. */
	now.bins[0].demand = 61 * MIB;
	model_of(NULL, TOP_BY_ID);
	CHECK(model.bins[0].demand == 61 * MIB);
}

/* One more sample, with switches that took so much in all, in a round. */
static void note(u64 seconds, u64 switches, u64 switching_ms, u64 round, u32 state)
{
	make(&now, seconds);
	now.sample.stats.switches = switches;
	now.sample.stats.evict_ns = switching_ms * 1000000;
	now.sample.stats.slice_ns = 10 * SECOND;
	now.sample.s.status.round = round;
	now.sample.s.status.state = state;
	top_history_note(&history, &now.sample);
	model_of(NULL, TOP_BY_ID);
}

static void a_switch_counts_when_it_is_over(void)
{
	history = (struct top_history){ 0 };
	note(0, 10, 5000, 4, MTS_STATE_RUNNING);
	CHECK(!model.switch_last_ns && model.switch_mean_ns == SECOND / 2);
	note(1, 11, 5100, 4, MTS_STATE_SWITCHING);
	CHECK(!model.switch_last_ns);
	note(2, 11, 5700, 4, MTS_STATE_RUNNING);
	CHECK(model.switch_last_ns == 700000000);
	note(3, 11, 5700, 4, MTS_STATE_RUNNING);
	CHECK(model.switch_last_ns == 700000000);
	/* Several in one interval: their mean. */
	note(4, 14, 6000, 4, MTS_STATE_RUNNING);
	CHECK(model.switch_last_ns == 100000000);
	/* A module loaded anew. */
	note(5, 1, 100, 1, MTS_STATE_RUNNING);
	CHECK(!model.switch_last_ns);
}

static void the_share_is_that_of_a_whole_round(void)
{
	history = (struct top_history){ 0 };
	note(0, 10, 1000, 4, MTS_STATE_RUNNING);
	note(3, 11, 2000, 5, MTS_STATE_RUNNING);
	CHECK(!model.share_known); /* round 4 was not seen to begin */
	note(9, 12, 2000, 5, MTS_STATE_RUNNING);
	note(13, 13, 2500, 6, MTS_STATE_RUNNING);
	CHECK(model.share_known && model.share == 50); /* 0.5 s of 10 s */
	CHECK(model.share_mean == 200); /* 2.5 s of 12.5 s */
}

/* ---- lines ------------------------------------------------------------------- */

static char frame[65536];
static u32 nlines, widest;

static void collect(void *to, const struct top_line *line)
{
	(void)to;
	nlines++;
	if (strlen(line->text) > widest)
		widest = strlen(line->text);
	snprintf(frame + strlen(frame), sizeof(frame) - strlen(frame), "%s\n", line->text);
}

static void lines(struct top_view *view)
{
	frame[0] = '\0';
	nlines = 0;
	widest = 0;
	top_lines(&model, view, collect, NULL);
	CHECK(widest <= view->width);
}

static void what_stays_is_in_no_bin(void)
{
	struct top_view view = { .width = 67 };

	make(&now, 1);
	model_of(NULL, TOP_BY_ID);
	CHECK(!model.stays.jobs);
	/* delta, of bin 1; gamma is in every bin all the same. */
	now.jobs[0].flags |= MTS_JOB_STAYS;
	now.jobs[3].flags |= MTS_JOB_STAYS;
	now.bins[1].demand -= now.jobs[0].demand;
	model_of(NULL, TOP_BY_ID);
	CHECK(model.stays.jobs == 1 && model.stays.resident == 40 * MIB);
	CHECK(model.bins[1].jobs == 2 && model.bins[1].resident == 10 * MIB);
	CHECK(model.every.jobs == 1 && model.all.resident == 62 * MIB);
	lines(&view);
	CHECK(strstr(frame, "  * 1 [##--------          ] 50.0 MiB     2"));
	CHECK(strstr(frame, "stays [########            ] 40.0 MiB     1           in turn\n"));
}

static void every_size_of_terminal_is_kept(void)
{
	make(&now, 1);
	model_of(NULL, TOP_BY_ID);
	for (u32 width = TOP_WIDTH_MIN; width <= TOP_WIDTH_MAX; width++) {
		struct top_view view = { .width = width };

		lines(&view);
		CHECK(view.shown == JOBS);
	}
	for (u32 height = 17; height < 60; height++) {
		struct top_view view = { .width = 80, .height = height, .row = JOBS - 1 };

		lines(&view);
		CHECK(nlines <= height);
		CHECK(strstr(frame, "omega"));
		CHECK(strstr(frame, "  * 1 ["));
	}
}

/* Where not all fit on the screen: those that run, then the others in the order of their turns. */
static void groups_that_run_come_first(void)
{
	static u64 due[BINS] = { 9 * SECOND, 8 * SECOND, U64_MAX };
	struct top_view view = { .width = 67, .height = 17 }; /* room for two lines */

	make(&now, 1);
	for (u32 i = 0; i < BINS; i++) {
		now.bins[i].flags = MTS_BIN_OVERLAPS | (i == 2 ? MTS_BIN_RUNS : 0);
		now.bins[i].jobs = 1;
	}
	now.sample.s.status.current_bin = 2;
	now.sample.s.due = due;
	model_of(NULL, TOP_BY_ID);
	lines(&view);
	CHECK(strstr(frame, "GROUP") && strstr(frame, "  * 2 [") && !strstr(frame, "    0 ["));
	CHECK(strstr(frame, "... 2 more groups"));
	view.height = 20;
	lines(&view);
	CHECK(strstr(frame, "  * 2 [") && strstr(frame, "    1 [") && strstr(frame, "    0 ["));
}

/* Where that leaves as many columns for the name as 80 columns without it do. */
static void users_are_shown_if_there_are_several(void)
{
	struct top_view view = { .width = 89 };

	make(&now, 1);
	now.sample.s.status.abi = 4;
	for (u32 i = 0; i < JOBS; i++)
		now.jobs[i].user = 3999999999u;
	model_of(NULL, TOP_BY_ID);
	lines(&view);
	CHECK(!strstr(frame, "USER"));
	now.jobs[1].user = 0;
	model_of(NULL, TOP_BY_ID);
	lines(&view);
	CHECK(strstr(frame, "  ID USER     JOB           STATE"));
	CHECK(strstr(frame, " root     ") && strstr(frame, " 399..999 "));
	view.width = 88;
	lines(&view);
	CHECK(!strstr(frame, "USER"));
	/* An older module does not know whose they are. */
	view.width = 89;
	now.sample.s.status.abi = 3;
	model_of(NULL, TOP_BY_ID);
	lines(&view);
	CHECK(!strstr(frame, "USER"));
}

/*
 * delta is a login of user 60001, from which beta and then alpha came; gamma is a container of
 * root's; omega is of user 60000, in a unit of the same name as delta's, and in no container.
 */
static struct label labels[JOBS];

static void make_labels(u64 seconds)
{
	static const u32 users[JOBS] = { 60001, 60001, 60001, 0, 60000 };

	make(&now, seconds);
	now.sample.s.status.abi = 4;
	now.sample.s.labels = labels;
	memset(labels, 0, sizeof(labels));
	for (u32 i = 0; i < JOBS; i++)
		now.jobs[i].user = users[i];
	labels[0].unit = "session-3.scope";
	labels[4].unit = "session-3.scope";
	labels[1].parent = &now.jobs[0];
	labels[2].parent = &now.jobs[1];
	labels[3].unit = "libpod-1.scope";
	labels[3].container = "web";
}

/* The names of the groups, each with its jobs: "web 1, - 4". */
static bool grouped(enum group_by by, enum top_order order, const char *names)
{
	char found[256] = "";

	model_by(&before, by, order);
	for (u32 i = 0; i < model.ngroups; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s %u",
			 i ? ", " : "", group_name(&now.sample.s, by, model.groups[i].job),
			 model.groups[i].jobs);
	if (strcmp(found, names))
		printf("%s\n", found);
	return !strcmp(found, names);
}

static void jobs_are_summed_up_by_user_unit_and_container(void)
{
	const struct top_group *group;

	make(&before, 0);
	before.faults[0] = 0;
	before.faults[1] = 0;
	make_labels(2);
	now.faults[0] = 10;
	now.faults[1] = 20;
	CHECK(grouped(BY_JOB, TOP_BY_BIN, ""));
	CHECK(top_model_rows(&model) == JOBS);
	CHECK(grouped(BY_USER, TOP_BY_BIN, "root 1, 60000 1, 60001 3"));
	/* Jobs that came from a job are in its unit, wherever their own cgroups are. */
	CHECK(grouped(BY_UNIT, TOP_BY_BIN,
		      "libpod-1.scope 1, session-3.scope 1, session-3.scope 3"));
	CHECK(grouped(BY_CONTAINER, TOP_BY_NAME, "web 1, - 1, - 3"));
	CHECK(grouped(BY_UNIT, TOP_BY_DEMAND,
		      "session-3.scope 3, session-3.scope 1, libpod-1.scope 1"));
	CHECK(grouped(BY_CONTAINER, TOP_BY_FAULTS, "- 3, web 1, - 1"));
	CHECK(grouped(BY_CONTAINER, TOP_BY_FROZEN, "- 3, web 1, - 1"));
	CHECK(grouped(BY_UNIT, TOP_BY_USER,
		      "libpod-1.scope 1, session-3.scope 1, session-3.scope 3"));
	CHECK(grouped(BY_CONTAINER, TOP_BY_USER, "web 1, - 1, - 3"));
	group = &model.groups[2];
	CHECK(group->demand == 150 * MIB && group->resident == 50 * MIB);
	CHECK(group->swapped == 100 * MIB && group->frozen == 1 && group->faults == 15000);
	CHECK(group->frozen_ns == 7 * SECOND && model.groups[0].faults == TOP_UNKNOWN);
	/* A job's row is that of its group. */
	CHECK(top_model_rows(&model) == 3 && row_of_job(12) == 2);
	CHECK(row_of_job(13) == 0 && row_of_job(1234) == 3);
	CHECK(top_model_job(&model, 0)->id == 13 && !top_model_job(&model, 3));
	/* An older module does not know users. */
	now.sample.s.status.abi = 3;
	CHECK(grouped(BY_USER, TOP_BY_BIN, "- 5"));
	CHECK(grouped(BY_CONTAINER, TOP_BY_BIN, "web 1, - 4"));
}

/* A sum of some of a group's jobs is not a figure of the group. */
static void faults_of_a_group_need_all_of_its_jobs(void)
{
	make(&before, 0);
	before.faults[0] = 0;
	make_labels(2);
	now.faults[0] = 10;
	before.sample.whole = false;
	model_by(&before, BY_USER, TOP_BY_BIN);
	CHECK(model.ngroups == 3 && model.groups[2].faults == TOP_UNKNOWN);
	CHECK(model.jobs[row_of_job(10)].info && model.groups[2].jobs == 3);
	before.sample.whole = true;
	now.sample.whole = false;
	model_by(&before, BY_USER, TOP_BY_BIN);
	CHECK(model.groups[2].faults == TOP_UNKNOWN);
	now.sample.whole = true;
	model_by(&before, BY_USER, TOP_BY_BIN);
	CHECK(model.groups[2].faults == 5000);
	/* Of a single job it is a figure all the same. */
	before.sample.whole = false;
	model_by(&before, BY_JOB, TOP_BY_ID);
	CHECK(model.jobs[0].faults == 5000);
}

/* The selected group is known by its name and user, not by a job that may end. */
static void a_selected_group_outlives_its_jobs(void)
{
	struct top_selected selected;

	make_labels(1);
	model_by(NULL, BY_UNIT, TOP_BY_DEMAND);
	selected = top_model_selected(&model, 0);
	/* delta, the first one of the group, has ended: the others are its children no more. */
	labels[1].parent = NULL;
	labels[1].unit = "session-3.scope";
	now.jobs[0].id = 1234;
	labels[0].unit = "another.scope";
	model_by(NULL, BY_UNIT, TOP_BY_NAME);
	CHECK(top_model_row(&model, &selected) == 3);
	CHECK(grouped(BY_UNIT, TOP_BY_NAME,
		      "another.scope 1, libpod-1.scope 1, session-3.scope 1, session-3.scope 2"));
	/* All of its jobs have ended. */
	now.jobs[1].user = 60002;
	now.jobs[2].user = 60002;
	model_by(NULL, BY_UNIT, TOP_BY_NAME);
	CHECK(top_model_row(&model, &selected) == 4 && top_model_rows(&model) == 4);
	/* No row, no selection. */
	selected = top_model_selected(&model, 4);
	CHECK(top_model_row(&model, &selected) == 4);
}

static void groups_are_rows(void)
{
	struct top_view view = { .width = 80, .height = 17, .by = BY_UNIT };

	make_labels(1);
	model_by(&now, BY_UNIT, TOP_BY_BIN);
	lines(&view);
	CHECK(strstr(frame,
		     "UNIT            USER      JOBS FROZEN   DEMAND RESIDENT  SWAPPED LONGEST "
		     "FAULT/s\n"));
	CHECK(strstr(frame, "libpod-1.scope  root         1      0  5.0 MiB  5.0 MiB      0 B"));
	CHECK(strstr(frame,
		     "session-3.scope 60001        3      1  150 MiB 50.0 MiB  100 MiB   6.0 s "
		     "      -\n"));
	model_by(NULL, BY_USER, TOP_BY_BIN);
	lines(&view);
	CHECK(strstr(frame, "USER                      JOBS FROZEN   DEMAND"));
	CHECK(strstr(frame, "60001                        3      1  150 MiB"));
	for (view.width = TOP_WIDTH_MIN; view.width <= TOP_WIDTH_MAX; view.width++)
		for (u32 by = BY_USER; by < BY_END; by++) {
			model_by(NULL, by, TOP_BY_BIN);
			lines(&view);
			CHECK(view.shown == 3);
		}
	now.sample.s.njobs = 0;
	model_by(NULL, BY_CONTAINER, TOP_BY_BIN);
	view.width = 80;
	lines(&view);
	CHECK(!view.row && !view.shown && strstr(frame, "no jobs"));
}

static void units_are_shown_where_there_is_room(void)
{
	struct top_view view = { .width = 107 };

	make_labels(1);
	model_of(NULL, TOP_BY_ID);
	lines(&view);
	CHECK(strstr(frame, "  ID USER     UNIT              JOB           STATE"));
	CHECK(strstr(frame, "  12 60001    session-3.scope   alpha "));
	CHECK(strstr(frame, "  13 root     libpod-1.scope    web "));
	view.width = 106;
	lines(&view);
	CHECK(strstr(frame, "USER") && !strstr(frame, "UNIT"));
	/* Where no unit is known there is no such column. */
	memset(labels, 0, sizeof(labels));
	view.width = 107;
	lines(&view);
	CHECK(!strstr(frame, "UNIT"));
}

static void the_selected_job_is_shown(void)
{
	struct top_view view = { .width = 80, .height = 17 };

	make(&now, 1);
	model_of(NULL, TOP_BY_ID);
	for (view.row = 0; view.row < JOBS; view.row++) {
		lines(&view);
		CHECK(strstr(frame, model.jobs[view.row].info->name));
		CHECK(view.first <= view.row && view.row < view.first + view.shown);
	}
	/* Jobs have gone. */
	view.row = 100;
	lines(&view);
	CHECK(view.row == JOBS - 1);
	now.sample.s.njobs = 0;
	model_of(NULL, TOP_BY_ID);
	lines(&view);
	CHECK(!view.row && !view.shown && strstr(frame, "no jobs"));
}

static void bars_show_memory_and_swap(void)
{
	struct top_view view = { .width = 67 }; /* 20 columns of bar */

	make(&now, 1);
	now.bins[2].demand = 130 * MIB;
	model_of(NULL, TOP_BY_ID);
	lines(&view);
	CHECK(strstr(frame, "    0 [------------        ] 60.0 MiB"));
	CHECK(strstr(frame, "  * 1 [##########--------  ] 90.0 MiB     2    2.0 s  500 ms left"));
	CHECK(strstr(frame, "    2 [------------------->]  130 MiB"));
	now.sample.s.status.capacity = 0;
	model_of(NULL, TOP_BY_ID);
	lines(&view);
	CHECK(strstr(frame, "  * 1 [                    ] 90.0 MiB"));
}

int main(void)
{
	without_a_sample_before_no_rate_is_known();
	rates_are_differences_over_time();
	faults_are_of_the_same_job();
	jobs_come_in_each_order();
	bins_are_summed_up();
	a_switch_counts_when_it_is_over();
	the_share_is_that_of_a_whole_round();
	every_size_of_terminal_is_kept();
	groups_that_run_come_first();
	users_are_shown_if_there_are_several();
	jobs_are_summed_up_by_user_unit_and_container();
	faults_of_a_group_need_all_of_its_jobs();
	a_selected_group_outlives_its_jobs();
	groups_are_rows();
	units_are_shown_where_there_is_room();
	the_selected_job_is_shown();
	bars_show_memory_and_swap();
	what_stays_is_in_no_bin();
	top_model_free(&model);
	if (failures)
		printf("%d checks failed\n", failures);
	return failures != 0;
}
