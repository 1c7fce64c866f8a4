/* SPDX-License-Identifier: GPL-2.0 */
/* What switches have cost, and what it costs to move a page. */
#ifndef _MTS_ROTOR_COSTS_H
#define _MTS_ROTOR_COSTS_H

#include "memory/disk.h"
#include "rotor/state.h"

/* A move of memory that has begun. */
struct mts_costs_move {
	struct mts_disk_mark began;
	u64 urgent; /* mts_rotor.bring.urgent_ns then */
};

struct mts_costs_move mts_costs_begin(void);

/*
 * The move is over: it was an eviction, or a bring-back. One that was interrupted by an urgent
 * bring-back tells nothing.
 */
void mts_costs_out(const struct mts_costs_move *move, u64 pages);
void mts_costs_in(const struct mts_costs_move *move, u64 pages);

/* mts_move.request_ns after a bring-back; 0: still not known. */
void mts_costs_note_request(u64 request_ns);

/* All that was moved since the last call is a sample, if it is large enough. */
void mts_costs_note_disk(void);

/*
 * A switch is over. @took: ns, without what was brought back for people meanwhile; @bytes: demand
 * of the groups that came, if bins overlap.
 */
void mts_costs_note(u64 took, u64 bytes);

/* How switches of a round will be that has been planned: as mts_switches_plan(). */
void mts_costs_plan(u32 evict, const struct mts_plan *plan, bool rotates);

/* For a plan: what switches took, and what a MiB costs out and in. */
void mts_costs_fill(struct mts_plan_conf *conf);

/*
 * Are switches of such bins planned by what pages took in switches of the other kind, or in a
 * probe? If nothing is known of pages either they are planned to take no time.
 */
bool mts_costs_are_guessed(bool overlaps);

/* Turns are given up: when they are tried again, switches may take less. */
void mts_costs_forget(void);

#endif /* _MTS_ROTOR_COSTS_H */
