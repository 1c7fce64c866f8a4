/* SPDX-License-Identifier: GPL-2.0 */
/* The processor's mark that a page has been accessed. */
#ifndef _MTS_YOUNG_H
#define _MTS_YOUNG_H

#include <linux/pgtable.h>

/*
 * Clear the mark of a page table entry that is @seen, of a page in memory. The kernel has
 * ptep_test_and_clear_young() for it, which is not for modules on x86. Nothing is done if the
 * entry has changed: it may be a swap entry by now, in which the bit means something else.
 * No TLB is flushed, as there: a processor that still knows the page may use it unseen.
 */
#ifdef CONFIG_X86_64
#define MTS_HAVE_YOUNG 1
static inline void mts_compat_clear_young(pte_t *pte, pte_t seen)
{
	cmpxchg(&pte->pte, seen.pte, pte_mkold(seen).pte);
}
#else
#define MTS_HAVE_YOUNG 0
static inline void mts_compat_clear_young(pte_t *pte, pte_t seen)
{
}
#endif

#endif /* _MTS_YOUNG_H */
