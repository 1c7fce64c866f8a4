// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "top_model.h"

#define SECOND 1000000000ull

const struct word top_order_words[] = {
	{ "bin", TOP_BY_BIN, NULL },
	{ "id", TOP_BY_ID, NULL },
	{ "name", TOP_BY_NAME, NULL },
	{ "state", TOP_BY_STATE, NULL },
	{ "user", TOP_BY_USER, NULL },
	{ "demand", TOP_BY_DEMAND, NULL },
	{ "resident", TOP_BY_RESIDENT, NULL },
	{ "swapped", TOP_BY_SWAPPED, NULL },
	{ "frozen", TOP_BY_FROZEN, NULL },
	{ "faults", TOP_BY_FAULTS, NULL },
	{ 0 },
};

/* ---- switches --------------------------------------------------------------- */

static u64 switching_ns(const struct mts_stats *stats)
{
	return stats->freeze_ns + stats->evict_ns + stats->bring_back_ns;
}

static u32 permille(u64 part, u64 whole)
{
	return whole ? mts_min(mul_u64_u64_div_u64(part, 1000, whole), 1000) : 0;
}

/*
 * The counters of a switch grow during it, so read them only between switches. When turns end,
 * bringing the rest back is not a switch.
 */
static void note_switch(struct top_history *h, const struct sample *now)
{
	u64 switches = now->stats.switches - h->settled.switches;

	if (now->s.status.state == MTS_STATE_SWITCHING && snapshot_rotates(&now->s))
		return;
	if (switches)
		h->last_switch_ns =
			(switching_ns(&now->stats) - switching_ns(&h->settled)) / switches;
	h->settled = now->stats;
}

static void note_round(struct top_history *h, const struct sample *now)
{
	const struct mts_status *st = &now->s.status;

	if (st->round == h->round)
		return;
	if (h->whole) {
		h->share_known = true;
		h->share = permille(switching_ns(&now->stats) - h->round_switching_ns,
				    st->now_ns - h->round_began_ns);
	}
	h->whole = true;
	h->round = st->round;
	h->round_began_ns = st->now_ns;
	h->round_switching_ns = switching_ns(&now->stats);
}

void top_history_note(struct top_history *h, const struct sample *now)
{
	/* If counters have gone back, the module has been loaded anew. */
	if (!h->began || now->stats.switches < h->settled.switches ||
	    now->s.status.round < h->round ||
	    switching_ns(&now->stats) < switching_ns(&h->settled)) {
		*h = (struct top_history){
			.began = true,
			.settled = now->stats,
			.round = now->s.status.round,
		};
		return;
	}
	note_switch(h, now);
	note_round(h, now);
}

/* ---- rates ------------------------------------------------------------------ */

static u64 rate(u64 before, u64 now, u64 ns)
{
	return mul_u64_u64_div_u64(mts_sub_floor(now, before), SECOND, ns);
}

static u64 swapped_out(const struct vitals *v)
{
	return v->pswpout + v->zswpout;
}

static u64 swapped_in(const struct vitals *v)
{
	return v->pswpin + v->zswpin;
}

static void rates_make(struct top_model *m, const struct sample *before, u64 ns)
{
	const struct sample *now = m->now;
	u64 page = sysconf(_SC_PAGESIZE);

	memset(&m->rates, 0xff, sizeof(m->rates)); /* TOP_UNKNOWN */
	if (!ns)
		return;
	m->rates.evicted = rate(before->stats.evict_got, now->stats.evict_got, ns);
	m->rates.brought_back =
		rate(before->stats.brought_back, now->stats.brought_back, ns) * page;
	if (!before->vitals_known || !now->vitals_known)
		return;
	m->rates.out = rate(swapped_out(&before->vitals), swapped_out(&now->vitals), ns) * page;
	m->rates.in = rate(swapped_in(&before->vitals), swapped_in(&now->vitals), ns) * page;
	m->rates.faults = rate(before->vitals.pgmajfault * 1000, now->vitals.pgmajfault * 1000, ns);
}

/* Both lists are in order of id. *at is the place in the older one. */
static u64 job_faults(const struct sample *before, u32 *at, const struct sample *now, u32 job,
		      u64 ns)
{
	const struct mts_job_info *info = &now->s.jobs[job];
	u64 then;

	if (!ns || now->faults[job] == SAMPLE_UNKNOWN)
		return TOP_UNKNOWN;
	while (*at < before->s.njobs && before->s.jobs[*at].id < info->id)
		(*at)++;
	if (*at == before->s.njobs || before->s.jobs[*at].id != info->id)
		return TOP_UNKNOWN;
	then = before->faults[*at];
	return then == SAMPLE_UNKNOWN ? TOP_UNKNOWN :
					rate(then * 1000, now->faults[job] * 1000, ns);
}

/* ---- bins and jobs ------------------------------------------------------------ */

static void sum_add(struct top_sum *sum, const struct mts_job_info *job)
{
	sum->jobs++;
	sum->demand = mts_add_sat(sum->demand, job->demand);
	sum->resident = mts_add_sat(sum->resident, job->resident);
	sum->swapped = mts_add_sat(sum->swapped, job->swapped);
}

static struct top_sum *sum_of(struct top_model *m, const struct mts_job_info *job)
{
	if (job->bin == MTS_BIN_EVERY)
		return &m->every;
	if (job->bin >= m->nbins)
		return &m->none;
	/* Kept memory is in no bin's demand: it reduces the capacity of all bins. */
	return job->flags & MTS_JOB_STAYS ? &m->stays : &m->bins[job->bin];
}

static void bins_make(struct top_model *m)
{
	const struct snapshot *s = &m->now->s;

	for (u32 i = 0; i < s->njobs; i++) {
		sum_add(&m->all, &s->jobs[i]);
		sum_add(sum_of(m, &s->jobs[i]), &s->jobs[i]);
	}
	/* The demand with which the module packed; the jobs' demand may be newer. */
	for (u32 i = 0; i < s->nbins; i++) {
		m->bins[i].demand = s->bins[i].demand;
		m->bins[i].jobs = s->bins[i].jobs;
	}
}

static u64 key(const struct top_job *job, enum top_order order)
{
	switch (order) {
	case TOP_BY_DEMAND:
		return job->info->demand;
	case TOP_BY_RESIDENT:
		return job->info->resident;
	case TOP_BY_SWAPPED:
		return job->info->swapped;
	case TOP_BY_FROZEN:
		return job->frozen_ns;
	case TOP_BY_FAULTS:
		return job->faults == TOP_UNKNOWN ? 0 : job->faults;
	default:
		return 0;
	}
}

struct order {
	const struct snapshot *s;
	enum top_order by;
};

static int compare(const void *a, const void *b, void *argument)
{
	const struct top_job *x = a, *y = b;
	const struct snapshot *s = ((const struct order *)argument)->s;
	enum top_order order = ((const struct order *)argument)->by;
	u64 kx = key(x, order), ky = key(y, order);
	int by = 0;

	if (order == TOP_BY_BIN)
		by = x->info->bin < y->info->bin ? -1 : x->info->bin > y->info->bin;
	else if (order == TOP_BY_NAME)
		by = strcmp(snapshot_label(s, x->info), snapshot_label(s, y->info));
	else if (order == TOP_BY_USER)
		by = x->info->user < y->info->user ? -1 : x->info->user > y->info->user;
	else if (order == TOP_BY_STATE)
		by = strcmp(word_of(job_state_words, x->info->state),
			    word_of(job_state_words, y->info->state));
	else if (kx != ky)
		by = kx > ky ? -1 : 1;
	return by ? by : x->info->id < y->info->id ? -1 : x->info->id > y->info->id;
}

/* Sorts as wanted: MTS_BIN_NONE is above MTS_BIN_EVERY, and both are above every index. */
static void jobs_make(struct top_model *m, const struct sample *before, u64 ns,
		      enum top_order order)
{
	const struct snapshot *s = &m->now->s;
	u32 at = 0;

	for (u32 i = 0; i < s->njobs; i++) {
		struct top_job *job = &m->jobs[i];

		job->info = &s->jobs[i];
		if (job->info->frozen_since_ns)
			job->frozen_ns =
				mts_sub_floor(s->status.now_ns, job->info->frozen_since_ns);
		job->faults = job_faults(before, &at, m->now, i, ns);
	}
	qsort_r(m->jobs, m->njobs, sizeof(*m->jobs), compare, &(struct order){ s, order });
}

/* ---- groups -------------------------------------------------------------------- */

struct grouping {
	const struct snapshot *s;
	enum group_by by;
	enum top_order order;
};

static int by_group(const void *a, const void *b, void *argument)
{
	const struct top_job *const *x = a, *const *y = b;
	const struct grouping *g = argument;
	int by = group_compare(g->s, g->by, (*x)->info, (*y)->info);

	return by ? by : (*x)->info->id < (*y)->info->id ? -1 : 1;
}

static u64 group_key(const struct top_group *group, enum top_order order)
{
	switch (order) {
	case TOP_BY_DEMAND:
		return group->demand;
	case TOP_BY_RESIDENT:
		return group->resident;
	case TOP_BY_SWAPPED:
		return group->swapped;
	case TOP_BY_FROZEN:
		return group->frozen_ns;
	case TOP_BY_FAULTS:
		return group->faults == TOP_UNKNOWN ? 0 : group->faults;
	default:
		return 0;
	}
}

/* Orders that are of jobs alone leave groups in the order of their names. */
static int compare_groups(const void *a, const void *b, void *argument)
{
	const struct top_group *x = a, *y = b;
	const struct grouping *g = argument;
	u64 kx = group_key(x, g->order), ky = group_key(y, g->order);

	if (kx != ky)
		return kx > ky ? -1 : 1;
	if (g->order == TOP_BY_USER && x->job->user != y->job->user)
		return x->job->user < y->job->user ? -1 : 1;
	return group_compare(g->s, g->by, x->job, y->job);
}

static void group_add(struct top_group *group, const struct top_job *job)
{
	group->jobs++;
	group->frozen += job_is_frozen(job->info);
	group->demand = mts_add_sat(group->demand, job->info->demand);
	group->resident = mts_add_sat(group->resident, job->info->resident);
	group->swapped = mts_add_sat(group->swapped, job->info->swapped);
	group->frozen_ns = mts_max(group->frozen_ns, job->frozen_ns);
	if (job->faults != TOP_UNKNOWN)
		group->faults =
			group->faults == TOP_UNKNOWN ? job->faults : group->faults + job->faults;
}

static int groups_make(struct top_model *m, const struct sample *before, enum group_by by,
		       enum top_order order)
{
	struct grouping g = { &m->now->s, by, order };
	bool whole = before && before->whole && m->now->whole;
	const struct top_job **sorted;

	m->by = by;
	if (by == BY_JOB)
		return 0;
	sorted = calloc((size_t)m->njobs + 1, sizeof(*sorted));
	m->groups = calloc((size_t)m->njobs + 1, sizeof(*m->groups));
	if (!sorted || !m->groups) {
		free(sorted);
		return -ENOMEM;
	}
	for (u32 i = 0; i < m->njobs; i++)
		sorted[i] = &m->jobs[i];
	qsort_r(sorted, m->njobs, sizeof(*sorted), by_group, &g);
	for (u32 i = 0; i < m->njobs; i++) {
		if (!i || group_compare(g.s, by, sorted[i - 1]->info, sorted[i]->info))
			m->groups[m->ngroups++] = (struct top_group){
				.job = sorted[i]->info,
				.faults = TOP_UNKNOWN,
			};
		group_add(&m->groups[m->ngroups - 1], sorted[i]);
	}
	for (u32 i = 0; !whole && i < m->ngroups; i++)
		m->groups[i].faults = TOP_UNKNOWN;
	qsort_r(m->groups, m->ngroups, sizeof(*m->groups), compare_groups, &g);
	free(sorted);
	return 0;
}

/* ---- the whole ----------------------------------------------------------------- */

int top_model_make(struct top_model *m, const struct sample *before, const struct sample *now,
		   const struct top_history *history, enum group_by by, enum top_order order)
{
	u64 ns = before ? mts_sub_floor(now->s.status.now_ns, before->s.status.now_ns) : 0;
	u64 switching = switching_ns(&now->stats);

	*m = (struct top_model){
		.now = now,
		.njobs = now->s.njobs,
		.nbins = now->s.nbins,
		.switch_last_ns = history->last_switch_ns,
		.switch_mean_ns = now->stats.switches ? switching / now->stats.switches : 0,
		.share_known = history->share_known,
		.share = history->share,
		.share_mean = permille(switching, mts_add_sat(switching, now->stats.slice_ns)),
	};
	m->jobs = calloc((size_t)m->njobs + 1, sizeof(*m->jobs));
	m->bins = calloc((size_t)m->nbins + 1, sizeof(*m->bins));
	if (!m->jobs || !m->bins)
		return -ENOMEM;
	rates_make(m, before, ns);
	bins_make(m);
	jobs_make(m, before, ns, order);
	return groups_make(m, before, by, order);
}

void top_model_free(struct top_model *m)
{
	free(m->jobs);
	free(m->groups);
	free(m->bins);
	m->groups = NULL;
	m->ngroups = 0;
	m->jobs = NULL;
	m->bins = NULL;
	m->njobs = 0;
	m->nbins = 0;
}

u32 top_model_rows(const struct top_model *m)
{
	return m->by == BY_JOB ? m->njobs : m->ngroups;
}

const struct mts_job_info *top_model_job(const struct top_model *m, u32 row)
{
	if (row >= top_model_rows(m))
		return NULL;
	return m->by == BY_JOB ? m->jobs[row].info : m->groups[row].job;
}

struct top_selected top_model_selected(const struct top_model *m, u32 row)
{
	const struct mts_job_info *job = top_model_job(m, row);
	struct top_selected selected = { .by = m->by };

	if (!job)
		return selected;
	selected.id = job->id;
	selected.user = job->user;
	if (m->by != BY_JOB)
		snprintf(selected.name, sizeof(selected.name), "%s",
			 group_name(&m->now->s, m->by, job));
	return selected;
}

static bool is_selected(const struct snapshot *s, const struct top_selected *selected,
			const struct mts_job_info *job)
{
	if (snapshot_knows_users(s) && job->user != selected->user)
		return false;
	return !strncmp(group_name(s, selected->by, job), selected->name,
			sizeof(selected->name) - 1);
}

u32 top_model_row(const struct top_model *m, const struct top_selected *selected)
{
	const struct snapshot *s = &m->now->s;
	bool same = m->by == selected->by && m->by != BY_JOB;
	const struct mts_job_info *job = snapshot_job(s, selected->id);
	u32 row = 0, rows = top_model_rows(m);

	if (!selected->id || (!same && !job))
		return rows;
	while (row < rows && (same ? !is_selected(s, selected, top_model_job(m, row)) :
				     group_compare(s, m->by, top_model_job(m, row), job)))
		row++;
	return row;
}
