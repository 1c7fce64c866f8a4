/* SPDX-License-Identifier: GPL-2.0 */
/* The contents of top, computed from two samples. Pure code. */
#ifndef MTSCTL_TOP_MODEL_H
#define MTSCTL_TOP_MODEL_H

#include "groups.h"
#include "sample.h"
#include "words.h"

#define TOP_UNKNOWN U64_MAX

enum top_order {
	TOP_BY_BIN = 0, /* the order of status: bins, every bin, no bin */
	TOP_BY_ID,
	TOP_BY_NAME,
	TOP_BY_STATE,
	TOP_BY_USER,
	TOP_BY_DEMAND, /* this and the following: the largest first */
	TOP_BY_RESIDENT,
	TOP_BY_SWAPPED,
	TOP_BY_FROZEN,
	TOP_BY_FAULTS,
	TOP_ORDERS,
};

extern const struct word top_order_words[];

struct top_job {
	const struct mts_job_info *info;
	u64 frozen_ns; /* until now; 0: not frozen by mts */
	u64 faults; /* per 1000 s, or TOP_UNKNOWN */
};

/* The jobs of a user, of a unit or of a container. */
struct top_group {
	const struct mts_job_info *job; /* one of them: group_name() */
	u32 jobs, frozen;
	u64 demand, resident, swapped;
	u64 frozen_ns; /* of the job that has been frozen for longest */
	u64 faults; /* per 1000 s; TOP_UNKNOWN: of none are they known, or a sample is not whole */
};

/* What stays selected from model to model: a job, or a group by its name and user. */
struct top_selected {
	enum group_by by;
	u32 id; /* a job of the row; 0: there is no such row */
	u32 user;
	char name[256]; /* of the group */
};

/* Sums of a bin, of the jobs in every bin, of the jobs in none, or of kept memory. */
struct top_sum {
	u32 jobs;
	u64 demand;
	u64 resident;
	u64 swapped;
};

/* All bytes a second, or TOP_UNKNOWN. */
struct top_rates {
	u64 evicted;
	u64 brought_back;
	u64 out; /* the host's */
	u64 in;
	u64 faults; /* the host's, per 1000 s */
};

/* Figures that need more than two samples. Starts as zeros. */
struct top_history {
	bool began;
	struct mts_stats settled; /* at the last sample outside a switch */
	u64 last_switch_ns; /* 0: no switch was seen */
	u64 round;
	bool whole; /* top saw `round` begin */
	u64 round_began_ns;
	u64 round_switching_ns; /* time in switches from load to the beginning of `round` */
	bool share_known;
	u32 share; /* of switches in the last whole round, per mille */
};

struct top_model {
	const struct sample *now;
	struct top_job *jobs; /* in order */
	u32 njobs;
	enum group_by by;
	struct top_group *groups; /* in order; none by job */
	u32 ngroups;
	struct top_sum *bins;
	u32 nbins;
	struct top_sum every, none, stays, all;
	struct top_rates rates;
	u64 switch_last_ns; /* 0: no switch was seen */
	u64 switch_mean_ns; /* since load; 0: there was none */
	bool share_known;
	u32 share; /* of switches in the last round, per mille */
	u32 share_mean; /* of switches in all slices and switches, per mille */
};

/* Call it with every sample, in their order. */
void top_history_note(struct top_history *history, const struct sample *now);

/*
 * If `before` is NULL, rates are not known. `now` must outlive the model.
 * Return: 0 or -ENOMEM; in both cases top_model_free() may follow.
 */
int top_model_make(struct top_model *model, const struct sample *before, const struct sample *now,
		   const struct top_history *history, enum group_by by, enum top_order order);
void top_model_free(struct top_model *model);

/* The rows below the bins: jobs or groups. */
u32 top_model_rows(const struct top_model *model);

/* A job of the row: the one, or one of the group; NULL: there is no such row. */
const struct mts_job_info *top_model_job(const struct top_model *model, u32 row);

struct top_selected top_model_selected(const struct top_model *model, u32 row);

/*
 * Its row in a later model, or the number of rows if it is gone. Where rows are of another kind
 * than then, the row of its job.
 */
u32 top_model_row(const struct top_model *model, const struct top_selected *selected);

#endif /* MTSCTL_TOP_MODEL_H */
