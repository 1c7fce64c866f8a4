/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cases: single faults of the rotor, each on a plain host (host.h), where nothing is drawn but the
 * order of threads. A case is named after its fault. test_cases.py says which are not mended yet.
 */
#ifndef CASES_H
#define CASES_H

#include <stdio.h>

/* Run the case of that name; a violation ends the program. An unknown name is one. */
void cases_run(const char *name);

/* One name a line. */
void cases_print(FILE *to);

#endif /* CASES_H */
