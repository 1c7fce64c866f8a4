/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes news to the journal, with their fields; to standard error where there is no journal, or no
 * libsystemd. libsystemd is loaded when it is needed, so mtsctl runs without it.
 */
#ifndef MTSCTL_JOURNAL_H
#define MTSCTL_JOURNAL_H

#include "news.h"

void journal_write(const struct news *news);

#endif /* MTSCTL_JOURNAL_H */
