/* SPDX-License-Identifier: GPL-2.0 */
/* Programs that say what they did when a signal ends them. */
#ifndef LAB_SIGNALS_H
#define LAB_SIGNALS_H

#include <signal.h>

/* SIGTERM or SIGINT has come. */
extern volatile sig_atomic_t signalled;

/* From now on these two set `signalled` and cut system calls short; in children as well. */
void signals_catch(void);

#endif /* LAB_SIGNALS_H */
