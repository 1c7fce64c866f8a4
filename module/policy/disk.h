/* SPDX-License-Identifier: GPL-2.0 */
/* What it costs to move a page out to swap and back in: ns. Pure code (pure.h). */
#ifndef _MTS_POLICY_DISK_H
#define _MTS_POLICY_DISK_H

#include "policy/pure.h"

/*
 * Least size of a sample, pages (256 KiB). It takes two requests at least (124 KiB is the most that
 * many disks take), so the time of one request is not taken for the time of its pages.
 */
#define MTS_DISK_LEAST_PAGES 64u
/*
 * A figure expires after this time, ns: 10 minutes, the longest backoff. Turns that are tried again
 * still know the disk; how it was before other work came or went is forgotten.
 */
#define MTS_DISK_EXPIRES_NS 600000000000ull
/*
 * Processor time to move a page of 4 KiB out or in, ns: an AMD EPYC takes 2658 and 2337, by
 * bench/pagecost. For want of this host's own.
 */
#define MTS_DISK_PAGE_WORK_NS 2500u

/**
 * struct mts_disk_sample - memory that was moved one way
 * @elapsed_ns: from the begin of the move to its end
 * @worked_ns: processor time of all threads that moved it
 * @waited_ns: part of @elapsed_ns in which the first of these threads neither worked nor waited for
 *	a processor: it waited for the disk
 * @pages: that were moved
 * @since_ns: of several moves: when mts_disk_collect() added the first; 0: none
 */
struct mts_disk_sample {
	u64 elapsed_ns;
	u64 worked_ns;
	u64 waited_ns;
	u64 pages;
	u64 since_ns;
};

/**
 * struct mts_page_cost - of a page, one way, in bulk; as in struct mts_disk_sample
 * @elapsed_ns: at least 1
 * @worked_ns: 0: less than 1
 * @waited_ns: 0: less than 1
 * @at_ns: when it was measured; 0: never
 */
struct mts_page_cost {
	u64 elapsed_ns;
	u64 worked_ns;
	u64 waited_ns;
	u64 at_ns;
};

/**
 * struct mts_disk - the latest sufficient sample of each kind; all zero: nothing is known
 * @out: eviction
 * @in: bring-back
 * @request_ns: time on the disk of a read request by itself, of many at once
 * @request_at_ns: when that was measured; 0: never
 * @request_waited_ns: @in.waited_ns as of then; 0: not known
 */
struct mts_disk {
	struct mts_page_cost out;
	struct mts_page_cost in;
	u64 request_ns;
	u64 request_at_ns;
	u64 request_waited_ns;
};

/* Add a part to a sample. */
void mts_disk_add(struct mts_disk_sample *sample, const struct mts_disk_sample *part);

/*
 * Add a move to those that are no sufficient sample yet. They expire as a figure does: the pages of
 * an hour ago say nothing about the disk.
 */
void mts_disk_collect(struct mts_disk_sample *sample, const struct mts_disk_sample *move, u64 now);

/**
 * mts_disk_note() - a sample replaces the figure, unless it is too small
 *
 * Return: was it sufficient?
 */
bool mts_disk_note(struct mts_page_cost *cost, const struct mts_disk_sample *sample, u64 now);

/*
 * How long a page takes where the thread has a processor whenever it wants one, ns: it does not run
 * beside the jobs.
 */
u64 mts_disk_alone_ns(const struct mts_page_cost *cost);

/* Was it measured, and has it not expired? */
bool mts_disk_is_known(const struct mts_page_cost *cost, u64 now);

/**
 * mts_disk_limits() - is it the disk that limits a move?
 *
 * The thread waited for longer than it worked: the disk takes longer than a processor. Even if both
 * were always at work, more threads or processors would make the move no faster.
 */
bool mts_disk_limits(u64 worked_ns, u64 waited_ns);

/**
 * mts_disk_needs_rows_for() - would these pages take the disk much longer if they lay apart?
 * @sample: pages that were moved in bulk
 * @request_ns: as in struct mts_disk; 0: not known
 *
 * The disk limits the move, and a request takes it longer than 8 pages in a row, as many as the
 * kernel reads with one at a fault (vm.page-cluster, 3 by default). So with faults requests take
 * most of its time. That is a disk with heads; a disk that serves many requests at a time is not
 * one. As long as a request is not known, a disk that limits the move counts as one that needs
 * rows: storms are worse on it than care is on another.
 */
bool mts_disk_needs_rows_for(const struct mts_disk_sample *sample, u64 request_ns);

/* Bring-back was measured, after a request perhaps: they belong together. */
void mts_disk_note_in(struct mts_disk *disk);

/*
 * @request_ns of struct mts_disk, unless it has expired; 0: not known. It also expires if pages
 * take the disk four times as long as then, or a quarter of it: swap lies on another disk, or other
 * work has come or gone.
 */
u64 mts_disk_request_ns(const struct mts_disk *disk, u64 now);

/* As mts_disk_limits(), for a page out and in; false if nothing is known. */
bool mts_disk_is_waited_for(const struct mts_disk *disk, u64 now);

/* As mts_disk_needs_rows_for(), for a page out and in: it is slow unless pages lie in rows. */
bool mts_disk_needs_rows(const struct mts_disk *disk, u64 now);

/*
 * How long the disk takes for a page that lies in a row, ns: the less of both ways, as bring-back
 * reads in the order of swap even what went out scattered. 0: not known, or next to nothing.
 */
u64 mts_disk_row_ns(const struct mts_disk *disk, u64 now);

/**
 * mts_disk_is_scattered() - did these pages lie apart?
 * @row_ns: mts_disk_row_ns(); 0: it cannot be told, so they did not
 *
 * The disk limits the move, and takes four times as long as for pages in a row: three quarters of
 * its time went into requests.
 */
bool mts_disk_is_scattered(const struct mts_disk_sample *sample, u64 row_ns);

/*
 * Without samples: do @pages of 4 KiB that take @ns to be moved in bulk wait for the disk for more
 * than three quarters of that time? Whether a request costs much cannot be told from it. A disk so
 * slow (below 410 MB/s) is taken for one with heads.
 */
bool mts_disk_is_far_behind(u64 pages, u64 ns);

#endif /* _MTS_POLICY_DISK_H */
