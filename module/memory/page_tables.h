/* SPDX-License-Identifier: GPL-2.0 */
/* Page tables of private memory, and which areas are private. */
#ifndef _MTS_PAGE_TABLES_H
#define _MTS_PAGE_TABLES_H

#include <linux/mm_types.h>

#include "memory/move.h"

/**
 * typedef mts_page_table_visit - visit one page table, or the part of it that belongs to an area
 * @pte: the entry of @addr
 * @addr: first address; all entries belong to one area
 * @end: end of the addresses, at most PMD_SIZE after @addr
 * @data: the caller's
 *
 * Called under rcu_read_lock(), which keeps the table. The entries may change meanwhile.
 *
 * Return: false ends the walk.
 */
typedef bool (*mts_page_table_visit)(pte_t *pte, unsigned long addr, unsigned long end, void *data);

/**
 * mts_page_tables_walk() - visit the page tables of an area in order of address
 * @vma: the area; its address space is locked for reading
 * @move: the move that may abort the walk
 * @visit: called for each page table
 * @data: for @visit
 *
 * Huge pages have no page table and are skipped. May sleep between tables.
 *
 * Return: false if @visit returned false, or if the move should abort.
 */
bool mts_page_tables_walk(struct vm_area_struct *vma, const struct mts_move *move,
			  mts_page_table_visit visit, void *data);

/* The entry of an address, or 0 if it has no page table. The area's address space is locked. */
pte_t mts_page_tables_at(struct vm_area_struct *vma, unsigned long addr);

/* Can the area have private pages? An area that was written to has an anon_vma. */
bool mts_is_private(const struct vm_area_struct *vma);

/* Does the area map shared memory (shmem)? A private mapping of it can have both kinds of pages. */
bool mts_is_shared(const struct vm_area_struct *vma);

#endif /* _MTS_PAGE_TABLES_H */
