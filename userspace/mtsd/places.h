/* SPDX-License-Identifier: GPL-2.0 */
/* The places for callers of a door: how many there may be, and which one leaves for another. */
#ifndef MTSD_PLACES_H
#define MTSD_PLACES_H

#include <sys/types.h>

struct mts_caller;

/* Callers at a time; each has a thread. `mtsctl top` and exporters keep their connection. */
#define MTS_PLACES 64

/* Free the places of callers that are done. */
void mts_places_reap(struct mts_caller *callers);

/* A place for one more. NULL: all are taken by callers that are being answered. */
struct mts_caller *mts_places_find(struct mts_caller *callers, uid_t uid);

/* End all, and wait for commands that are being carried out. */
void mts_places_end(struct mts_caller *callers);

#endif /* MTSD_PLACES_H */
