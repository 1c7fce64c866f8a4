/* SPDX-License-Identifier: GPL-2.0 */
/* Decodes page table entries of pages that are not present. */
#ifndef _MTS_SWAP_ENTRY_H
#define _MTS_SWAP_ENTRY_H

#include <linux/mm.h>
#include <linux/swap.h>
#include <linux/swapops.h> /* after swap.h */
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#include <linux/leafops.h>
#endif

/* Excludes entries of other kinds: migration, poisoned pages, and so on. */
static inline bool mts_compat_is_swap(swp_entry_t entry)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
	return softleaf_is_swap(entry);
#else
	return !non_swap_entry(entry);
#endif
}

/* Is the page in swap, and in no other state? @entry: result: its position. */
static inline bool mts_compat_swap_entry(pte_t pte, swp_entry_t *entry)
{
	if (pte_none(pte) || pte_present(pte))
		return false;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
	*entry = softleaf_from_pte(pte);
#else
	*entry = pte_to_swp_entry(pte);
#endif
	return mts_compat_is_swap(*entry);
}

/* The same for an entry of shmem's page cache. */
static inline bool mts_compat_shmem_entry(void *value, swp_entry_t *entry)
{
	if (!xa_is_value(value))
		return false;
	*entry = radix_to_swp_entry(value);
	return mts_compat_is_swap(*entry);
}

/*
 * The order of such an entry, of which pages it covers: since 6.12 shmem swaps huge pages whole.
 * Under RCU.
 */
static inline int mts_compat_shmem_order(struct xa_state *xas)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	return xas_get_order(xas);
#else
	return 0;
#endif
}

#endif /* _MTS_SWAP_ENTRY_H */
