/* SPDX-License-Identifier: GPL-2.0 */
/* The linker's names (--wrap) of cg_enter_current(): the real one, and the one that is called. */
#ifndef _KERNEL_SELFTESTS_LEAF_H
#define _KERNEL_SELFTESTS_LEAF_H

int __real_cg_enter_current(const char *cgroup);
int __wrap_cg_enter_current(const char *cgroup);

#endif
