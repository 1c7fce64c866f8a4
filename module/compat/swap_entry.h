/* SPDX-License-Identifier: GPL-2.0 */
/* What a page table entry says of a page that is not there. */
#ifndef _MTS_SWAP_ENTRY_H
#define _MTS_SWAP_ENTRY_H

#include <linux/mm.h>
#include <linux/swap.h>
#include <linux/swapops.h> /* after swap.h */
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#include <linux/leafops.h>
#endif

/* Is the page in swap, and in no other state? Where? */
static inline bool mts_compat_swap_entry(pte_t pte, swp_entry_t *entry)
{
	if (pte_none(pte) || pte_present(pte))
		return false;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
	*entry = softleaf_from_pte(pte);
	return softleaf_is_swap(*entry);
#else
	*entry = pte_to_swp_entry(pte);
	return !non_swap_entry(*entry);
#endif
}

/* The same of what the page cache of shared memory holds in a page's place. */
static inline bool mts_compat_shmem_entry(void *value, swp_entry_t *entry)
{
	if (!xa_is_value(value))
		return false;
	*entry = radix_to_swp_entry(value);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
	return softleaf_is_swap(*entry);
#else
	return !non_swap_entry(*entry);
#endif
}

#endif /* _MTS_SWAP_ENTRY_H */
