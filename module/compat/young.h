/* SPDX-License-Identifier: GPL-2.0 */
/* The processor's accessed bit in page table entries. */
#ifndef _MTS_YOUNG_H
#define _MTS_YOUNG_H

#include <linux/mm.h>
#include <linux/page_idle.h>
#include <linux/pgtable.h>

/*
 * Leave the reference that was cleared to reclaim, which else takes pages that the job has not used
 * again yet: as mm/page_idle.c does, where the kernel has the flag (6.12 and 7.2 of Debian have,
 * 6.1 has not). On 6.12 with the multi-generational LRU, and bins a few per cent larger than
 * memory, jobs had 10 to 24 % fewer major faults with it, and did 0.6 to 7 % more work.
 *
 * The page may have left the entry by now. The flag is a hint, and does no harm to another page of
 * the LRU; the reference keeps it from being freed meanwhile.
 */
static inline void mts_compat_set_young(pte_t seen)
{
#if defined(CONFIG_PAGE_IDLE_FLAG) && defined(CONFIG_64BIT)
	struct folio *folio;

	if (!pte_young(seen) || pte_special(seen) || !pfn_valid(pte_pfn(seen)))
		return;
	folio = page_folio(pte_page(seen));
	if (!folio_try_get(folio))
		return;
	if (folio_test_lru(folio))
		folio_set_young(folio);
	folio_put(folio);
#endif
}

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
	if (cmpxchg(&pte->pte, seen.pte, pte_mkold(seen).pte) == seen.pte)
		mts_compat_set_young(seen);
}
#else
#define MTS_HAVE_YOUNG 0
static inline void mts_compat_clear_young(pte_t *pte, pte_t seen)
{
}
#endif

#endif /* _MTS_YOUNG_H */
