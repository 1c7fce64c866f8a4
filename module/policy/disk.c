// SPDX-License-Identifier: GPL-2.0
/* What a page costs, and what follows for the way memory is moved. */
#include "policy/disk.h"

/* Pages that the kernel reads at once at a fault: 1 << vm.page-cluster. */
#define AROUND 8u
/* Pages that take the disk so many times as long, or as short, are those of another disk. */
#define ANOTHER 4u
/* mts_disk_is_scattered(): a quarter of the time is for the pages. */
#define SCATTERED 4u
/* mts_disk_is_far_behind(): as many times the processor's time. */
#define FAR_BEHIND 4u

void mts_disk_add(struct mts_disk_sample *sample, const struct mts_disk_sample *part)
{
	sample->elapsed_ns += part->elapsed_ns;
	sample->worked_ns += part->worked_ns;
	sample->waited_ns += part->waited_ns;
	sample->pages += part->pages;
}

void mts_disk_collect(struct mts_disk_sample *sample, const struct mts_disk_sample *move, u64 now)
{
	if (!sample->since_ns || now >= sample->since_ns + MTS_DISK_EXPIRES_NS)
		*sample = (struct mts_disk_sample){ .since_ns = mts_max(now, 1) };
	mts_disk_add(sample, move);
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

u64 mts_disk_alone_ns(const struct mts_page_cost *cost)
{
	return mts_min(cost->elapsed_ns, mts_add_sat(cost->worked_ns, cost->waited_ns));
}

bool mts_disk_is_known(const struct mts_page_cost *cost, u64 now)
{
	return cost->at_ns && now < cost->at_ns + MTS_DISK_EXPIRES_NS;
}

bool mts_disk_limits(u64 worked_ns, u64 waited_ns)
{
	return waited_ns > worked_ns;
}

bool mts_disk_needs_rows_for(const struct mts_disk_sample *sample, u64 request_ns)
{
	if (!mts_disk_limits(sample->worked_ns, sample->waited_ns))
		return false;
	return !request_ns ||
	       request_ns > div64_u64(sample->waited_ns, mts_max(sample->pages, 1)) * AROUND;
}

void mts_disk_note_in(struct mts_disk *disk)
{
	if (disk->request_at_ns && !disk->request_waited_ns)
		disk->request_waited_ns = disk->in.waited_ns;
}

static bool is_as_then(const struct mts_disk *disk)
{
	u64 then = disk->request_waited_ns, now = disk->in.waited_ns;

	return !then || (now / ANOTHER <= then && then / ANOTHER <= now);
}

u64 mts_disk_request_ns(const struct mts_disk *disk, u64 now)
{
	return disk->request_at_ns && now < disk->request_at_ns + MTS_DISK_EXPIRES_NS &&
			       is_as_then(disk) ?
		       disk->request_ns :
		       0;
}

static void add_page(struct mts_disk_sample *sum, const struct mts_page_cost *cost, u64 now)
{
	if (mts_disk_is_known(cost, now))
		mts_disk_add(sum, &(struct mts_disk_sample){ .worked_ns = cost->worked_ns,
							     .waited_ns = cost->waited_ns,
							     .pages = 1 });
}

/* A page out and one in, as far as is known. */
static struct mts_disk_sample both_ways(const struct mts_disk *disk, u64 now)
{
	struct mts_disk_sample sum = { 0 };

	add_page(&sum, &disk->out, now);
	add_page(&sum, &disk->in, now);
	return sum;
}

bool mts_disk_is_waited_for(const struct mts_disk *disk, u64 now)
{
	struct mts_disk_sample both = both_ways(disk, now);

	return mts_disk_limits(both.worked_ns, both.waited_ns);
}

bool mts_disk_needs_rows(const struct mts_disk *disk, u64 now)
{
	struct mts_disk_sample both = both_ways(disk, now);

	return mts_disk_needs_rows_for(&both, mts_disk_request_ns(disk, now));
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

	return row_ns && mts_disk_limits(sample->worked_ns, sample->waited_ns) &&
	       div64_u64(sample->waited_ns, pages) > SCATTERED * row_ns;
}

bool mts_disk_is_far_behind(u64 pages, u64 ns)
{
	return ns / FAR_BEHIND > pages * MTS_DISK_PAGE_WORK_NS;
}
