/* SPDX-License-Identifier: GPL-2.0 */
/* The page tables of private memory, and which memory is private. */
#ifndef _MTS_PAGE_TABLES_H
#define _MTS_PAGE_TABLES_H

#include <linux/mm_types.h>

#include "memory/move.h"

/**
 * typedef mts_page_table_visit - told of one page table, or of the part that an area has of it
 * @pte: the entry of @addr
 * @addr, @end: what the entries are of, at most PMD_SIZE; of one area
 * @data: the caller's
 *
 * Under rcu_read_lock(), which keeps the table; the entries change meanwhile.
 * Return: go on?
 */
typedef bool (*mts_page_table_visit)(pte_t *pte, unsigned long addr, unsigned long end, void *data);

/**
 * mts_page_tables_walk() - visit the page tables of an area, in order of address
 * @vma: its address space is locked for reading
 * @move: it is for
 *
 * Huge pages have none. Sleeps between tables if the processor is wanted. Return: false if
 * a visit did, or the move is to be aborted.
 */
bool mts_page_tables_walk(struct vm_area_struct *vma, const struct mts_move *move,
			  mts_page_table_visit visit, void *data);

/* The entry of an address in an area, whose address space is locked for reading. None: no table. */
pte_t mts_page_tables_at(struct vm_area_struct *vma, unsigned long addr);

/* Can it have pages of private memory? Those that have been written to have an anon_vma. */
bool mts_is_private(const struct vm_area_struct *vma);

/* Is it of a file of shared memory? A private mapping of one can have both. */
bool mts_is_shared(const struct vm_area_struct *vma);

#endif /* _MTS_PAGE_TABLES_H */
