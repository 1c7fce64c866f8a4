// SPDX-License-Identifier: GPL-2.0
#include "policy/slices.h"

#include "policy/bins.h"
#include "policy/disk.h"
#include "policy/forecast.h"
#include "policy/window.h"

static u64 mul_sat(u64 a, u32 b)
{
	return b && a > div64_u64(U64_MAX, b) ? U64_MAX : a * b;
}

/*
 * Groups that run before there is room for them may have 1/EARLY_PART of the memory. Simulated
 * (docs/simulation.md, "Pauses as long as pays"): a quarter gives up turns that get four times as
 * much done there, and 55 in place of 36 processors' worth on 256 GiB with 64; all of it changes
 * nothing but where pauses are three times the limit.
 */
#define EARLY_PART 2u

/* The mean is summed up with so many bits more, as each of 4096 parts is rounded down. */
#define MEAN_SHIFT 20

/* What a bin gets where one gets @value that is entitled to the mean; 0: all are. */
static u64 entitled_part(u64 value, const struct mts_plan_bin *bin, u64 mean)
{
	u64 entitled;

	if (!mean)
		return value;
	entitled = mts_bin_entitled(bin);
	if (div64_u64(value, mean) >= div64_u64(U64_MAX, entitled))
		return U64_MAX;
	return mul_u64_u64_div_u64(value, entitled, mean);
}

/*
 * By memory, so that slices add up to as much as if all were entitled to the same: switches then
 * take as much of the time. 0: all are.
 */
static u64 mean_entitled(const struct mts_plan_bin *bins, const struct mts_plan *plan)
{
	u64 sum, mean = 0;
	u32 i;

	if (mts_bins_are_alike(bins, plan->nbins))
		return 0;
	sum = mts_bins_sum_capped(bins, plan);
	if (!sum)
		return 0;
	for (i = 0; i < plan->nbins; i++)
		mean += mul_u64_u64_div_u64(mts_min(bins[i].demand, plan->capacity),
					    mts_bin_entitled(&bins[i]) << MEAN_SHIFT, sum);
	return mts_max(mean >> MEAN_SHIFT, 1);
}

/*
 * @alone: a larger bin has no room for another beside it; such a group of overlapping bins takes
 * all of the memory, whatever its size.
 */
static u64 slice_of(const struct mts_plan_conf *conf, const struct mts_plan_bin *bin, u64 capacity,
		    u64 mean, u64 full, u64 alone)
{
	u64 share = 0;

	/* Also keeps the quotient below within 64 bits, and the divisor off zero. */
	if (bin->demand >= capacity || bin->demand > alone) {
		if (!mean)
			return full;
		share = full;
	} else if (bin->demand && full) {
		share = mul_u64_u64_div_u64(full, bin->demand, capacity);
	}
	return mts_max(entitled_part(share, bin, mean), mts_min(conf->min_slice_ns, full));
}

/**
 * struct in_memory - what overlapping bins have in memory
 * @sum: of all bins, each capped at the capacity
 * @used: of those that run, on average
 */
struct in_memory {
	u64 sum;
	u64 used;
};

static u64 mean_group(const struct mts_plan_bin *bins, const struct mts_plan *plan)
{
	return div64_u64(mts_bins_sum_capped(bins, plan), mts_max(plan->nbins, 1));
}

/*
 * In a round each group comes in once, and leaves once. At any time as much as fits runs, less half
 * of a @group on average, and in a switch less what is on its way.
 */
static struct in_memory in_memory(const struct mts_plan_bin *bins, const struct mts_plan *plan,
				  u64 group)
{
	u64 sum = mts_bins_sum_capped(bins, plan), moves;

	moves = mul_u64_u64_div_u64(mean_group(bins, plan), plan->round_ns - plan->run_ns,
				    mts_max(plan->round_ns, 1));
	return (struct in_memory){
		.sum = sum,
		.used = mts_min(mts_sub_floor(plan->capacity - group / 2, moves), sum),
	};
}

/* What pauses are promised by: the largest group may find the least room. */
static struct in_memory least_in_memory(const struct mts_plan_bin *bins,
					const struct mts_plan *plan)
{
	u64 largest = 0;
	u32 i;

	for (i = 0; i < plan->nbins; i++)
		largest = mts_max(largest, mts_min(bins[i].demand, plan->capacity));
	return in_memory(bins, plan, largest);
}

/* The part of the time that a job's memory is there: groups that wait fill what others leave. */
static u32 part_in_memory(const struct mts_plan_bin *bins, const struct mts_plan *plan)
{
	struct in_memory usual = in_memory(bins, plan, mean_group(bins, plan));

	return mul_u64_u64_div_u64(1000, usual.used, mts_max(usual.sum, 1));
}

/*
 * What runs is served for as long as all others, so each waits for the part of the round that its
 * memory is not there. One that is entitled to less waits for longer.
 */
static u64 overlapping_pause(const struct in_memory *memory, const struct mts_plan_bin *bin,
			     const struct mts_plan *plan)
{
	u64 waits = mts_sub_floor(memory->sum, entitled_part(memory->used, bin, plan->entitled));

	return memory->sum ? mul_u64_u64_div_u64(plan->round_ns, waits, memory->sum) : 0;
}

/* The bin that waits for longest. */
static const struct mts_plan_bin *least_entitled(const struct mts_plan_bin *bins,
						 const struct mts_plan *plan)
{
	const struct mts_plan_bin *least = bins;
	u32 i;

	for (i = 1; plan->entitled && i < plan->nbins; i++)
		if (mts_bin_entitled(&bins[i]) < mts_bin_entitled(least))
			least = &bins[i];
	return least;
}

/* Set all slices, given the slice of a full bin. Return: the longest pause. */
static u64 set_slices(const struct mts_plan_conf *conf, struct mts_plan_bin *bins,
		      struct mts_plan *plan, u64 full)
{
	u64 capacity = plan->capacity, mean = plan->entitled;
	u64 shortest = U64_MAX, run = 0, smallest = U64_MAX, next = U64_MAX, alone = U64_MAX;
	bool overlaps = plan->overlaps;
	struct in_memory memory;
	u32 i;

	for (i = 0; overlaps && i < plan->nbins; i++) {
		next = mts_min(next, mts_max(bins[i].demand, smallest));
		smallest = mts_min(smallest, bins[i].demand);
	}
	for (i = 0; i < plan->nbins; i++) {
		/* Beside the smallest other one. */
		if (overlaps)
			alone = mts_sub_floor(capacity,
					      bins[i].demand == smallest ? next : smallest);
		bins[i].slice_ns = slice_of(conf, &bins[i], capacity, mean, full, alone);
		shortest = mts_min(shortest, bins[i].slice_ns);
		run = mts_add_sat(run, bins[i].slice_ns);
	}
	plan->run_ns = run;
	plan->round_ns = mts_add_sat(run, mul_sat(conf->switch_ns, plan->nbins));
	if (!overlaps)
		return plan->round_ns - shortest;
	memory = least_in_memory(bins, plan);
	return overlapping_pause(&memory, least_entitled(bins, plan), plan);
}

static void set_pauses(struct mts_plan_bin *bins, struct mts_plan *plan)
{
	struct in_memory memory = { 0 };
	u32 i;

	if (plan->overlaps)
		memory = least_in_memory(bins, plan);
	for (i = 0; i < plan->nbins; i++) {
		bins[i].pause_ns = plan->overlaps ? overlapping_pause(&memory, &bins[i], plan) :
						    plan->round_ns - bins[i].slice_ns;
		plan->longest_pause_ns = mts_max(plan->longest_pause_ns, bins[i].pause_ns);
	}
}

/* No disk is slower, ns a MiB (2^33: 8.6 s). For MTS_BIN_MAX_BYTES the result has 63 bits. */
#define SLOWEST_MIB_NS (1ull << 33)

static u64 time_of(u64 mib_ns, u64 bytes)
{
	return mul_u64_u64_div_u64(mts_min(mib_ns, SLOWEST_MIB_NS),
				   mts_min(bytes, MTS_BIN_MAX_BYTES), 1u << 20);
}

/*
 * Per mille of the processors that a switch takes for as long as it lasts: what moves memory works
 * for some of that time, and waits for the disk for the rest. If that is not known it works for all
 * of it.
 */
static u32 moving_part(const struct mts_plan_conf *conf, const struct mts_plan_bin *bins,
		       const struct mts_plan *plan)
{
	u32 processors = mts_max(conf->processors, 1);
	u32 most = 1000 * mts_window_movers(processors) / processors;
	u64 work = time_of(conf->mib_work_ns, mts_bins_mean_capped(bins, plan));

	if (!conf->mib_ns || !conf->switch_ns)
		return most;
	work = mts_min(work / MTS_MOVERS_MAX, conf->switch_ns);
	work = mul_u64_u64_div_u64(work, 1000 * MTS_MOVERS_MAX, conf->switch_ns);
	return mts_min(most, div64_u64(work, processors));
}

/*
 * The slice of a full bin with which switches take @overhead of a round, at least conf->slice_ns.
 * Bins at min_slice_ns make the round longer than assumed here, so that switches take less.
 */
static u64 full_slice(const struct mts_plan_conf *conf, const struct mts_plan_bin *bins,
		      const struct mts_plan *plan, u32 overhead)
{
	u64 longest, switches, slices, most, sum = mts_bins_sum_capped(bins, plan);

	/* The jobs that stay run on: a switch costs that part of its time. */
	if (plan->overlaps)
		overhead = mts_min(overhead * 1000 / mts_max(moving_part(conf, bins, plan), 1),
				   MTS_OVERHEAD_MAX);
	if (!overhead || overhead >= 1000 || !conf->switch_ns || plan->nbins < 2 || !sum)
		return conf->slice_ns;
	/* Longer switches give the longest slice in any case. The cap avoids an overflow. */
	longest = mts_max(conf->max_pause_ns, conf->longest_pause_ns);
	longest = mts_max(MTS_SLICE_MAX_NS, mts_min(longest, MTS_PAUSE_MAX_NS));
	switches = mts_min(conf->switch_ns, longest) * plan->nbins;
	most = longest * plan->nbins;
	slices = most;
	if (switches < mul_u64_u64_div_u64(most, overhead, 1000 - overhead))
		slices = mul_u64_u64_div_u64(switches, 1000 - overhead, overhead);
	/* All bins together run for sum / capacity full slices, and for one at least. */
	slices = mul_u64_u64_div_u64(slices, plan->capacity, mts_max(sum, plan->capacity));
	return mts_max(conf->slice_ns, mts_min(slices, longest));
}

/*
 * Find the longest full slice in [low, high) that keeps the limit. @below: margin of low's pause;
 * @above: excess of high's pause.
 *
 * The pause never shrinks as the full slice grows, and is almost linear in it. So each step tries
 * the point at which the line between both ends crosses the limit. The value of an end that stays
 * twice in a row is halved (the Illinois algorithm). Every fourth step bisects, which bounds the
 * number of steps for any function.
 */
static u64 search_slice(const struct mts_plan_conf *conf, struct mts_plan_bin *bins,
			struct mts_plan *plan, u64 low, u64 high, u64 below, u64 above)
{
	u32 tries, lows = 0, highs = 0;

	for (tries = 1; high - low > 1; tries++) {
		u64 step = (high - low) / 2;
		u64 pause, mid;

		if (tries % 4)
			step = mul_u64_u64_div_u64(high - low, below, mts_add_sat(below, above));
		mid = mts_min(low + mts_max(step, 1), high - 1);
		pause = set_slices(conf, bins, plan, mid);
		if (pause <= plan->max_pause_ns) {
			low = mid;
			below = plan->max_pause_ns - pause;
			highs = 0;
			if (++lows > 1)
				above = mts_max(above / 2, 1);
		} else {
			high = mid;
			above = pause - plan->max_pause_ns;
			lows = 0;
			if (++highs > 1)
				below /= 2;
		}
	}
	return low;
}

/*
 * Set slices for a full slice of @full, and shorten them if a pause exceeds @limit. A shorter full
 * slice shrinks all slices in proportion; slices at the minimum stay there.
 */
static void limit_slices(const struct mts_plan_conf *conf, struct mts_plan_bin *bins,
			 struct mts_plan *plan, u64 full, u64 limit)
{
	u64 low = mts_min(conf->min_slice_ns, conf->slice_ns);
	u64 longest = set_slices(conf, bins, plan, full), shortest;

	plan->max_pause_ns = limit;
	plan->cut = longest > limit;
	if (!plan->cut)
		return;
	shortest = set_slices(conf, bins, plan, low);
	/* With very many bins even minimal slices may exceed the limit: then they stay minimal. */
	if (shortest <= limit)
		set_slices(conf, bins, plan,
			   search_slice(conf, bins, plan, low, full, limit - shortest,
					longest - limit));
}

/* In switches the jobs that stay run on, on the processors that moving leaves. */
static void count_what_moving_takes(const struct mts_plan_conf *conf,
				    const struct mts_plan_bin *bins, struct mts_plan *plan)
{
	u64 switches = plan->round_ns - plan->run_ns;

	plan->run_ns =
		plan->round_ns - mul_u64_u64_div_u64(switches, moving_part(conf, bins, plan), 1000);
}

/* A switch that moved less than a sample (disk.h) tells nothing of others, bytes. */
#define LEAST_BYTES (4096ull * MTS_DISK_LEAST_PAGES)
/* Nor does it of switches that move so many times as much: the product stays below 2^64. */
#define MOST_TIMES_SHIFT 16

/*
 * What a switch takes: as measured, and longer in proportion if it moves more. If that was not of
 * such bins, by what memory took that was moved last. More threads may be faster, and fewer slower:
 * whether the disk would let them is not known before it is tried.
 */
static u64 switch_of(const struct mts_plan_conf *conf, const struct mts_plan_bin *bins,
		     const struct mts_plan *plan)
{
	u64 mean = mts_bins_mean_capped(bins, plan), then;

	if (conf->mib_ns && (!conf->switch_ns || conf->switch_overlaps != plan->overlaps))
		return time_of(conf->mib_ns, mean);
	/* Exempt jobs may have all of the capacity: then what a bin holds is not known. */
	if (!conf->switch_bytes || !mean)
		return conf->switch_ns;
	then = mts_max(mts_max(conf->switch_bytes, LEAST_BYTES), mean >> MOST_TIMES_SHIFT);
	/* Never less than measured: a pause that was announced must be kept. */
	return mul_u64_u64_div_u64(mts_min(conf->switch_ns, MTS_PAUSE_MAX_NS), mts_max(mean, then),
				   then);
}

/*
 * Several groups may come at once: in a round there are as many fewer switches. What the pauses are
 * then is no promise, but if they keep the limit it is too early to give up. @conf: as measured.
 */
static u64 likely_pause(const struct mts_plan_conf *conf, const struct mts_plan_bin *bins,
			const struct mts_plan *plan)
{
	u64 mean = mts_bins_mean_capped(bins, plan), round = plan->run_ns, one;

	if (!plan->overlaps || !conf->switch_ns || !conf->switch_overlaps ||
	    mean >= conf->switch_bytes)
		return plan->longest_pause_ns;
	one = mul_u64_u64_div_u64(mts_min(conf->switch_ns, MTS_PAUSE_MAX_NS), mean,
				  conf->switch_bytes);
	round = mts_min(mts_add_sat(round, mul_sat(one, plan->nbins)), plan->round_ns);
	return mul_u64_u64_div_u64(plan->longest_pause_ns, round, mts_max(plan->round_ns, 1));
}

static bool is_too_long(const struct mts_plan *plan, u64 pause_ns)
{
	return pause_ns > plan->max_pause_ns + MTS_PAUSE_MARGIN_NS;
}

/*
 * Groups are due one after the other. One that is due before its turn is thawed at the limit: it
 * has its memory for that much longer, beside those that run. It faults in what it needs.
 */
static bool has_room_early(const struct mts_plan_conf *conf, const struct mts_plan *plan)
{
	u64 early = mts_sub_floor(plan->likely_pause_ns, plan->max_pause_ns);
	u64 round = mul_u64_u64_div_u64(plan->round_ns, plan->likely_pause_ns,
					mts_max(plan->longest_pause_ns, 1));

	return plan->overlaps && !conf->faults_are_dear &&
	       mul_u64_u64_div_u64(plan->demand, mts_min(early, round), mts_max(round, 1)) <=
		       plan->capacity / EARLY_PART;
}

/* What follows from the slices. */
static void count(const struct mts_plan_conf *measured, const struct mts_plan_conf *conf,
		  struct mts_plan_bin *bins, struct mts_plan *plan)
{
	plan->longest_pause_ns = 0;
	set_pauses(bins, plan);
	plan->likely_pause_ns = likely_pause(measured, bins, plan);
	plan->breaks_limit = mts_plan_pauses_too_long(plan) && !has_room_early(conf, plan);
	plan->in_memory = 0;
	if (plan->overlaps) {
		plan->in_memory = part_in_memory(bins, plan);
		count_what_moving_takes(conf, bins, plan);
	}
	if (conf->switch_ns)
		plan->lost = mul_u64_u64_div_u64(1000, plan->round_ns - plan->run_ns,
						 mts_max(plan->round_ns, 1));
}

void mts_plan_slices(const struct mts_plan_conf *measured, struct mts_plan_bin *bins,
		     struct mts_plan *plan)
{
	struct mts_plan_conf these = *measured;
	const struct mts_plan_conf *conf = &these;
	u64 full;

	these.switch_ns = switch_of(measured, bins, plan);
	plan->entitled = mean_entitled(bins, plan);
	full = full_slice(conf, bins, plan, conf->overhead);
	plan->longest_pause_ns = 0;
	plan->likely_pause_ns = 0;
	plan->breaks_limit = false;
	plan->lost = conf->overhead;
	plan->cut = false;
	if (plan->nbins < 2) {
		set_slices(conf, bins, plan, full);
		plan->round_ns = 0;
		plan->run_ns = 0;
		plan->max_pause_ns = conf->max_pause_ns;
		return;
	}
	limit_slices(conf, bins, plan, full, conf->max_pause_ns);
	if (plan->cut && conf->stretched_pause_ns > conf->max_pause_ns &&
	    plan->run_ns < plan->round_ns / 2) {
		full = full_slice(conf, bins, plan, conf->overhead ? MTS_OVERHEAD_MAX : 0);
		limit_slices(conf, bins, plan, full, conf->stretched_pause_ns);
		/* By the first limit they are. */
		plan->cut = true;
	}
	if (plan->cut && conf->longest_pause_ns > plan->max_pause_ns) {
		full = full_slice(conf, bins, plan, conf->overhead);
		limit_slices(conf, bins, plan, full, conf->longest_pause_ns);
	}
	count(measured, conf, bins, plan);
}

void mts_plan_limit_pause(struct mts_plan_conf *conf, u64 max_pause_ns)
{
	bool is_auto = !max_pause_ns;

	conf->max_pause_ns =
		mts_sub_floor(is_auto ? MTS_PAUSE_AUTO_NS : max_pause_ns, MTS_PAUSE_MARGIN_NS);
	conf->stretched_pause_ns =
		is_auto ? MTS_PAUSE_STRETCHED_NS - MTS_PAUSE_MARGIN_NS : conf->max_pause_ns;
	conf->longest_pause_ns = 0;
}

u64 mts_plan_longer_pause(u64 limit_ns)
{
	return mts_min(2 * mts_max(limit_ns, MTS_PAUSE_STRETCHED_NS), MTS_PAUSE_UNATTENDED_NS);
}

void mts_plan_allow_pause(struct mts_plan_conf *conf, u64 limit_ns)
{
	conf->longest_pause_ns = mts_sub_floor(limit_ns, MTS_PAUSE_MARGIN_NS);
}

bool mts_plan_wants_long_pauses(const struct mts_plan *plan)
{
	return plan->nbins >= 2 && plan->cut &&
	       (mts_plan_pauses_too_long(plan) || mts_forecast_is_better(1000, 1000 - plan->lost));
}

u64 mts_plan_work(const struct mts_plan *plan)
{
	return plan->overlaps ? plan->work_as_groups : plan->work_as_bins;
}

bool mts_plan_long_pauses_pay(const struct mts_plan *plan, const struct mts_plan *before)
{
	if (mts_plan_pauses_too_long(plan))
		return false;
	return mts_plan_pauses_too_long(before) ||
	       mts_forecast_is_better(mts_plan_work(plan), mts_plan_work(before));
}

bool mts_plan_pauses_too_long(const struct mts_plan *plan)
{
	return is_too_long(plan, plan->likely_pause_ns);
}

bool mts_plan_slices_too_long(const struct mts_plan_bin *bins, const struct mts_plan *plan)
{
	u64 slices = 0, shortest = U64_MAX;
	u32 i;

	if (!plan->breaks_limit)
		return false;
	for (i = 0; i < plan->nbins; i++) {
		slices = mts_add_sat(slices, bins[i].slice_ns);
		shortest = mts_min(shortest, bins[i].slice_ns);
	}
	if (!plan->overlaps)
		return is_too_long(plan, mts_sub_floor(slices, shortest));
	/* It is as long a part of the round. */
	return is_too_long(plan, mul_u64_u64_div_u64(plan->longest_pause_ns,
						     mts_min(slices, plan->round_ns),
						     mts_max(plan->round_ns, 1)));
}

u64 mts_plan_cut(const struct mts_plan_bin *bins, u32 running, const u32 *order, u32 n,
		 const u64 *left, u64 switch_ns)
{
	u64 planned = bins[running].slice_ns, longest = planned;
	u64 slices = planned, switches = 0;
	u32 i, bin;

	for (i = 0; i < n; i++) {
		u64 time;

		bin = order[i];
		if (left[bin] == U64_MAX)
			continue;
		time = mts_sub_floor(left[bin], switches);
		if (time < slices)
			longest = mts_min(longest, mul_u64_u64_div_u64(planned, time, slices));
		slices = mts_add_sat(slices, bins[bin].slice_ns);
		switches = mts_add_sat(switches, switch_ns);
	}
	return longest;
}
