/* SPDX-License-Identifier: GPL-2.0 */
/* Jobs that run out of turn: they are charged, and their calls end. */
#ifndef _MTS_ROTOR_LEND_H
#define _MTS_ROTOR_LEND_H

#include "context.h"

/*
 * Once a tick: charge the jobs that run out of turn (budget.h). Return: the call of one is over,
 * and it is to be frozen again: settle.
 */
bool mts_lend_look(void);

#endif /* _MTS_ROTOR_LEND_H */
