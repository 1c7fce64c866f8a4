/* SPDX-License-Identifier: GPL-2.0 */
/* The processor's accessed bit in page table entries. */
#ifndef _MTS_YOUNG_H
#define _MTS_YOUNG_H

#include <linux/pgtable.h>

/*
 * Clear the accessed bit of an entry of a present page, if it still has the value @seen. A changed
 * entry is left alone: it may be a swap entry, in which the bit has another meaning.
 *
 * The kernel's ptep_test_and_clear_young() is not exported on x86. As there, no TLB is flushed: a
 * processor with a cached entry may use the page without setting the bit.
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
