// SPDX-License-Identifier: GPL-2.0
/* Bins that overlap. */
#include "policy/window.h"

static bool comes_before(const struct mts_plan_bin *a, const struct mts_plan_bin *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->service_ns < b->service_ns;
}

/* The waiting group that comes first and has at most @room bytes. */
static u32 first_waiting(const struct mts_plan_bin *bins, u32 nbins, u64 room)
{
	u32 i, first = MTS_BIN_NONE;

	for (i = 0; i < nbins; i++)
		if (!bins[i].runs && !bins[i].next && bins[i].jobs && bins[i].demand <= room &&
		    (first == MTS_BIN_NONE || comes_before(&bins[i], &bins[first])))
			first = i;
	return first;
}

/* Of the groups that run and would stay, the one that has run for longest. */
static u32 most_served(const struct mts_plan_bin *bins, u32 nbins)
{
	u32 i, most = MTS_BIN_NONE;

	for (i = 0; i < nbins; i++)
		if (bins[i].next && bins[i].jobs &&
		    (most == MTS_BIN_NONE || bins[i].service_ns > bins[most].service_ns))
			most = i;
	return most;
}

static u32 count_next(const struct mts_plan_bin *bins, u32 nbins)
{
	u32 i, n = 0;

	for (i = 0; i < nbins; i++)
		n += bins[i].next && bins[i].jobs;
	return n;
}

u32 mts_window_next(struct mts_plan_bin *bins, u32 nbins, u64 capacity)
{
	u32 i, first, more, out, stay;
	u64 used = 0, need;

	for (i = 0; i < nbins; i++) {
		bins[i].next = bins[i].runs;
		if (bins[i].runs && bins[i].jobs)
			used = mts_add_sat(used, bins[i].demand);
	}
	first = first_waiting(bins, nbins, U64_MAX);
	need = first == MTS_BIN_NONE ? 0 : bins[first].demand;
	stay = count_next(bins, nbins);
	if (first == MTS_BIN_NONE && (used <= capacity || stay < 2))
		return MTS_BIN_NONE;
	while (mts_add_sat(used, need) > capacity && stay > (first == MTS_BIN_NONE)) {
		out = most_served(bins, nbins);
		bins[out].next = false;
		used = mts_sub_floor(used, bins[out].demand);
		stay--;
	}
	if (first == MTS_BIN_NONE)
		return most_served(bins, nbins);
	bins[first].next = true;
	used = mts_add_sat(used, need);
	while ((more = first_waiting(bins, nbins, mts_sub_floor(capacity, used))) != MTS_BIN_NONE) {
		bins[more].next = true;
		used = mts_add_sat(used, bins[more].demand);
	}
	return first;
}

static u32 count_up_to(const struct mts_plan_bin *bins, u32 nbins, u64 service_ns)
{
	u32 i, n = 0;

	for (i = 0; i < nbins; i++)
		n += bins[i].jobs && bins[i].service_ns <= service_ns;
	return n;
}

static u64 median_service(const struct mts_plan_bin *bins, u32 nbins)
{
	u32 all = count_up_to(bins, nbins, U64_MAX);
	u64 low = 0, high = U64_MAX, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (count_up_to(bins, nbins, middle) >= all - all / 2)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

u64 mts_window_service(const struct mts_plan_bin *bins, u32 nbins)
{
	u64 sum = 0;
	u32 i, n = 0;

	if (!mts_bins_are_alike(bins, nbins))
		return median_service(bins, nbins);
	for (i = 0; i < nbins; i++) {
		if (!bins[i].jobs)
			continue;
		sum = mts_add_sat(sum, bins[i].service_ns);
		n++;
	}
	/* Each of thousands of jobs of one user is entitled to little, and so served for long. */
	if (sum == U64_MAX)
		return median_service(bins, nbins);
	return div64_u64(sum, mts_max(n, 1));
}

u64 mts_window_slice(const struct mts_plan_bin *bins, u32 nbins, u32 lead)
{
	u64 slice = 0, longest = 0, usual = mts_window_service(bins, nbins), one, its, lacks;
	u64 own = bins[lead].service_ns, entitled = mts_bin_entitled(&bins[lead]);
	u32 i;

	for (i = 0; i < nbins; i++) {
		if (!bins[i].jobs)
			continue;
		one = bins[i].slice_ns;
		its = mts_bin_entitled(&bins[i]);
		if (its > entitled)
			one = mul_u64_u64_div_u64(one, entitled, its);
		longest = mts_max(longest, one);
		if (i == lead || (bins[i].next && !bins[i].runs))
			slice = mts_add_sat(slice, bins[i].slice_ns);
	}
	if (own < usual) {
		lacks = mts_entitled_ran(usual - own, entitled);
		return mts_max(slice, mts_min(mts_add_sat(slice, lacks), longest));
	}
	return slice - mts_min(mts_entitled_ran(own - usual, entitled), slice / 2);
}

u64 mts_window_step(u32 step, u64 capacity)
{
	if (step == MTS_STEP_BIN)
		return 0;
	if (step == MTS_STEP_AUTO)
		return mts_max(capacity / MTS_WINDOW_STEPS, 1);
	return (u64)step << 20;
}

bool mts_window_chooses(u32 step)
{
	return step == MTS_STEP_AUTO;
}

u32 mts_window_movers(u32 processors)
{
	return mts_min(mts_max(processors / 4, 1u), MTS_MOVERS_MAX);
}
