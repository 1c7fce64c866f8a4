/* SPDX-License-Identifier: GPL-2.0 */
/* For programs that report their work when a signal ends them. */
#ifndef LAB_SIGNALS_H
#define LAB_SIGNALS_H

#include <signal.h>

/* SIGTERM or SIGINT has come. */
extern volatile sig_atomic_t signalled;

/* From now on SIGINT and SIGTERM set `signalled` and interrupt system calls, also in children. */
void signals_catch(void);

#endif /* LAB_SIGNALS_H */
