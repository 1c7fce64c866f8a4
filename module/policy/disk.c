// SPDX-License-Identifier: GPL-2.0
/* What a page costs, and what follows for the way memory is moved. */
#include "policy/disk.h"

/* mts_disk_is_far_behind(): a quarter of the time is work, three are waiting. */
#define FAR_BEHIND 3u
/* mts_disk_is_scattered(): a quarter of the time is for the pages. */
#define SCATTERED 4u

void mts_disk_add(struct mts_disk_sample *sample, const struct mts_disk_sample *part)
{
	sample->elapsed_ns += part->elapsed_ns;
	sample->worked_ns += part->worked_ns;
	sample->waited_ns += part->waited_ns;
	sample->pages += part->pages;
}

bool mts_disk_note(struct mts_page_cost *cost, const struct mts_disk_sample *sample, u64 now)
{
	if (sample->pages < MTS_DISK_LEAST_PAGES)
		return false;
	cost->elapsed_ns = mts_max(div64_u64(sample->elapsed_ns, sample->pages), 1);
	cost->worked_ns = div64_u64(sample->worked_ns, sample->pages);
	cost->waited_ns = div64_u64(sample->waited_ns, sample->pages);
	cost->at_ns = mts_max(now, 1);
	return true;
}

bool mts_disk_is_known(const struct mts_page_cost *cost, u64 now)
{
	return cost->at_ns && now < cost->at_ns + MTS_DISK_EXPIRES_NS;
}

bool mts_disk_limits(u64 worked_ns, u64 waited_ns)
{
	return waited_ns > worked_ns;
}

bool mts_disk_is_far_behind(u64 worked_ns, u64 waited_ns)
{
	return waited_ns > FAR_BEHIND * worked_ns;
}

/* A page out and in, as far as is known; all 0: nothing is. */
static struct mts_page_cost both_ways(const struct mts_disk *disk, u64 now)
{
	struct mts_page_cost sum = { 0 };

	if (mts_disk_is_known(&disk->out, now))
		sum = disk->out;
	if (mts_disk_is_known(&disk->in, now)) {
		sum.worked_ns += disk->in.worked_ns;
		sum.waited_ns += disk->in.waited_ns;
	}
	return sum;
}

bool mts_disk_is_waited_for(const struct mts_disk *disk, u64 now)
{
	struct mts_page_cost page = both_ways(disk, now);

	return mts_disk_limits(page.worked_ns, page.waited_ns);
}

bool mts_disk_needs_rows(const struct mts_disk *disk, u64 now)
{
	struct mts_page_cost page = both_ways(disk, now);

	return mts_disk_is_far_behind(page.worked_ns, page.waited_ns);
}

u64 mts_disk_row_ns(const struct mts_disk *disk, u64 now)
{
	u64 row = U64_MAX;

	if (mts_disk_is_known(&disk->out, now))
		row = disk->out.waited_ns;
	if (mts_disk_is_known(&disk->in, now))
		row = mts_min(row, disk->in.waited_ns);
	return row == U64_MAX ? 0 : row;
}

bool mts_disk_is_scattered(const struct mts_disk_sample *sample, u64 row_ns)
{
	u64 pages = mts_max(sample->pages, MTS_DISK_LEAST_PAGES);

	return row_ns && mts_disk_is_far_behind(sample->worked_ns, sample->waited_ns) &&
	       div64_u64(sample->waited_ns, pages) > SCATTERED * row_ns;
}
