/* SPDX-License-Identifier: GPL-2.0 */
/* labdrive: the outcome, in one line of JSON. README.md specifies it. */
#ifndef LABDRIVE_REPORT_H
#define LABDRIVE_REPORT_H

#include "run.h"

/* Prints "drive: result ..." */
void report(const struct run *run);

#endif
