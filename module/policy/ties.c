// SPDX-License-Identifier: GPL-2.0
/* Jobs that wait for each other: which they are, and how they are packed together. */
#include "policy/bins.h"

/* ---- what is known of a job ------------------------------------------------------- */

static bool is_old(const struct mts_tie *tie, u64 now)
{
	return !tie->seen || now - tie->seen >= MTS_TIE_NS;
}

bool mts_ties_note(struct mts_ties *ties, u32 id, u64 now, bool is_new)
{
	struct mts_tie *oldest = &ties->tie[0];
	u32 i;

	for (i = 0; i < MTS_TIES; i++) {
		struct mts_tie *tie = &ties->tie[i];

		if (tie->id == id && !is_old(tie, now)) {
			bool first = tie->seen != now;

			tie->seen = now;
			return first;
		}
		if (tie->seen < oldest->seen)
			oldest = tie;
	}
	/* Who waits for many at once is not tied to the last of them alone. */
	if (!is_new || oldest->seen == now)
		return false;
	*oldest = (struct mts_tie){ .id = id, .since = now, .seen = now };
	return true;
}

bool mts_ties_known(const struct mts_ties *ties, u32 id, u64 now, u64 before)
{
	u32 i;

	for (i = 0; i < MTS_TIES; i++)
		if (ties->tie[i].id == id && !is_old(&ties->tie[i], now))
			return ties->tie[i].since < before;
	return false;
}

u32 mts_ties_id(const struct mts_ties *ties, u32 i, u64 now)
{
	return is_old(&ties->tie[i], now) ? 0 : ties->tie[i].id;
}

/* ---- groups in a plan --------------------------------------------------------------- */

/* The first job of the group that this one is in; itself, if it is in none. */
static u32 first_of(struct mts_plan_job *jobs, u32 i)
{
	while (jobs[i].group != MTS_BIN_NONE && jobs[i].group != i) {
		/* Halves the way for the next who asks. */
		jobs[i].group = jobs[jobs[i].group].group;
		i = jobs[i].group;
	}
	return i;
}

/* Each is the first of its group, and @first comes before @second. */
static void merge(struct mts_plan_job *jobs, u32 first, u32 second)
{
	jobs[first].group = first;
	jobs[second].group = first;
}

/* Of each job's group only one before it is known so far: now the first. */
static void name_groups(struct mts_plan_job *jobs, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (jobs[i].group != MTS_BIN_NONE)
			jobs[i].group = first_of(jobs, i);
}

static bool can_be_had(const struct mts_plan_tie *tie, const struct mts_plan_job *jobs)
{
	return !((jobs[tie->a].flags | jobs[tie->b].flags) & MTS_PLAN_RESIDENT);
}

static void join(const struct mts_plan_tie *tie, struct mts_plan_job *jobs, u64 capacity,
		 struct mts_item *sums)
{
	u32 a = first_of(jobs, tie->a), b = first_of(jobs, tie->b);
	u32 first = a < b ? a : b, second = a < b ? b : a;
	u64 sum = mts_add_sat(sums[a].size, sums[b].size);

	if (a == b || sum > capacity)
		return;
	/* The smaller one moves. */
	if (sums[second].size > sums[first].size)
		sums[first].prev = sums[second].prev;
	sums[first].size = sum;
	merge(jobs, first, second);
}

void mts_plan_join(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n, u64 capacity,
		   struct mts_item *sums)
{
	u32 i;

	for (i = 0; i < n; i++) {
		jobs[i].group = MTS_BIN_NONE;
		sums[i] = (struct mts_item){ .size = jobs[i].demand, .prev = jobs[i].prev_bin };
	}
	for (i = 0; i < conf->nties; i++)
		if (can_be_had(&conf->ties[i], jobs))
			join(&conf->ties[i], jobs, capacity, sums);
	name_groups(jobs, n);
}

/* ---- ties of many jobs, whose bins are set -------------------------------------------- */

/* Where there is no room: so often somebody is sought to make it, among so many. */
#define TRIES 1024u
#define LOOKS 16u

struct bins {
	struct mts_plan_job *jobs;
	struct mts_plan_bin *bins;
	u64 capacity;
	u32 *next; /* of each job: of those that packing has put into its bin, which are a ring */
	u32 *last; /* of each bin: the one that was looked at last */
	u32 tries; /* that are left */
};

static void make_rings(struct bins *b, u32 n, u32 nbins)
{
	u32 i;

	for (i = 0; i < nbins; i++)
		b->last[i] = MTS_BIN_NONE;
	for (i = 0; i < n; i++) {
		u32 *last;

		if (b->jobs[i].bin == MTS_BIN_EVERY)
			continue;
		last = &b->last[b->jobs[i].bin];
		b->next[i] = *last == MTS_BIN_NONE ? i : b->next[*last];
		if (*last != MTS_BIN_NONE)
			b->next[*last] = i;
		*last = i;
	}
}

/* One of bin @at, tied to nobody, of @least to @most bytes; MTS_BIN_NONE: none was found. */
static u32 find_alone(struct bins *b, u32 at, u32 but, u64 least, u64 most)
{
	u32 looks = mts_min(b->bins[at].jobs, LOOKS), i = b->last[at];

	for (; looks; looks--) {
		const struct mts_plan_job *job = &b->jobs[i = b->next[i]];

		if (job->demand >= least && job->demand <= most && job->bin == at &&
		    job->group == MTS_BIN_NONE && i != but)
			break;
	}
	b->last[at] = i;
	return looks ? i : MTS_BIN_NONE;
}

/* Another one, of about its size, goes where it has been. */
static bool change_places(struct bins *b, u32 who, u32 with)
{
	struct mts_plan_job *job = &b->jobs[who];
	u32 from = job->bin, to = b->jobs[with].bin, other;
	u64 room, rest;

	if (!b->tries)
		return false;
	b->tries--;
	if (job->group != MTS_BIN_NONE || b->bins[to].jobs < 2 ||
	    b->bins[to].demand > b->capacity || b->bins[from].demand > b->capacity)
		return false;
	room = b->capacity - b->bins[to].demand;
	rest = b->capacity - b->bins[from].demand;
	other = find_alone(b, to, with, mts_sub_floor(job->demand, room),
			   mts_add_sat(job->demand, rest));
	if (other == MTS_BIN_NONE)
		return false;
	mts_bin_move(&b->jobs[other], b->bins, from);
	mts_bin_move(job, b->bins, to);
	return true;
}

/* Who has company stays. */
static bool come(struct bins *b, u32 who, u32 to)
{
	struct mts_plan_job *job = &b->jobs[who];
	const struct mts_plan_bin *from = &b->bins[job->bin];
	u32 bin = b->jobs[to].bin;

	if (job->group != MTS_BIN_NONE || from->jobs < 2 || mts_bin_is_saturated(from) ||
	    !mts_bin_has_room(&b->bins[bin], b->capacity, job->demand))
		return false;
	mts_bin_move(job, b->bins, bin);
	return true;
}

static bool bring_together(struct bins *b, u32 one, u32 other)
{
	u32 smaller = b->jobs[other].demand > b->jobs[one].demand ? one : other;
	u32 larger = smaller == one ? other : one;

	if (b->jobs[one].bin == b->jobs[other].bin || come(b, smaller, larger) ||
	    come(b, larger, smaller))
		return true;
	return b->tries && (change_places(b, smaller, larger) || change_places(b, larger, smaller));
}

void mts_plan_unite(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		    struct mts_plan_bin *bins, const struct mts_plan *plan, void *scratch)
{
	struct bins b = { .jobs = jobs, .bins = bins, .capacity = plan->capacity, .tries = TRIES };
	u32 i;

	b.next = scratch;
	b.last = b.next + n;
	make_rings(&b, n, plan->nbins);
	for (i = 0; i < conf->nties; i++) {
		u32 one = conf->ties[i].a, other = conf->ties[i].b;

		if (one == other || !can_be_had(&conf->ties[i], jobs) ||
		    !bring_together(&b, one, other))
			continue;
		one = first_of(jobs, one);
		other = first_of(jobs, other);
		if (one != other)
			merge(jobs, mts_min(one, other), mts_max(one, other));
	}
	name_groups(jobs, n);
}
