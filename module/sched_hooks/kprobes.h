/* SPDX-License-Identifier: GPL-2.0 */
/* Do kprobes work in this kernel? */
#ifndef _MTS_KPROBES_H
#define _MTS_KPROBES_H

#include <linux/types.h>

/*
 * Some kernels register a kprobe and never call it: a locked-down one, or one with ftrace switched
 * off. So install one on a function of this module, call the function, and see. Logs a failure.
 */
bool mts_kprobes_work(void);

#endif /* _MTS_KPROBES_H */
