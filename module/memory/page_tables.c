// SPDX-License-Identifier: GPL-2.0
#include "memory/page_tables.h"

#include <linux/hugetlb.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/shmem_fs.h>

#include "events/promise.h"

/* The page table of @addr, or NULL. @next: result: where the next page table begins. */
static pmd_t *find_page_table(struct mm_struct *mm, unsigned long addr, unsigned long end,
			      unsigned long *next)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d;
	pud_t *pud;

	*next = pgd_addr_end(addr, end);
	if (pgd_none(*pgd) || pgd_bad(*pgd))
		return NULL;
	p4d = p4d_offset(pgd, addr);
	*next = p4d_addr_end(addr, end);
	if (p4d_none(*p4d) || p4d_bad(*p4d))
		return NULL;
	pud = pud_offset(p4d, addr);
	*next = pud_addr_end(addr, end);
	if (!pud_present(*pud) || pud_leaf(*pud) || pud_bad(*pud))
		return NULL;
	*next = pmd_addr_end(addr, end);
	return pmd_offset(pud, addr);
}

/* RCU keeps the page table while khugepaged retracts it. */
static bool visit_table(pmd_t *pmd, unsigned long addr, unsigned long end,
			mts_page_table_visit visit, void *data)
{
	bool go_on = true;
	pmd_t value;

	rcu_read_lock();
	value = READ_ONCE(*pmd);
	if (pmd_present(value) && !pmd_leaf(value) && !pmd_bad(value))
		go_on = visit(pte_offset_kernel(&value, addr), addr, end, data);
	rcu_read_unlock();
	return go_on;
}

static bool take_entry(pte_t *pte, unsigned long addr, unsigned long end, void *data)
{
	pte_t *value = data;

	*value = READ_ONCE(*pte);
	return false;
}

pte_t mts_page_tables_at(struct vm_area_struct *vma, unsigned long addr)
{
	unsigned long end = addr + PAGE_SIZE, next;
	pmd_t *pmd = find_page_table(vma->vm_mm, addr, end, &next);
	pte_t value = __pte(0);

	if (pmd)
		visit_table(pmd, addr, end, take_entry, &value);
	return value;
}

bool mts_page_tables_walk(struct vm_area_struct *vma, const struct mts_move *move,
			  mts_page_table_visit visit, void *data)
{
	unsigned long addr, next;

	for (addr = vma->vm_start; addr < vma->vm_end; addr = next) {
		pmd_t *pmd = find_page_table(vma->vm_mm, addr, vma->vm_end, &next);

		if (pmd && !visit_table(pmd, addr, next, visit, data))
			return false;
		if (move->should_abort())
			return false;
		mts_promise_step("page tables are scanned");
		cond_resched();
	}
	return true;
}

/* Neither device memory nor hugetlbfs. */
static bool is_ordinary(const struct vm_area_struct *vma)
{
	return !(vma->vm_flags & (VM_PFNMAP | VM_IO)) &&
	       !is_vm_hugetlb_page((struct vm_area_struct *)vma);
}

bool mts_is_private(const struct vm_area_struct *vma)
{
	return vma->anon_vma && is_ordinary(vma);
}

bool mts_is_shared(const struct vm_area_struct *vma)
{
	return vma->vm_file && shmem_mapping(vma->vm_file->f_mapping) && is_ordinary(vma);
}
