// SPDX-License-Identifier: GPL-2.0
#include "rotor/costs.h"

#include "context.h"
#include "policy/evict.h"
#include "policy/switches.h"

/* A switch that moves less tells nothing of the disk. */
#define TELLING_BYTES (1024ull << 10)

void mts_costs_note(const struct mts_switch_cost *cost)
{
	struct mts_costs *costs = &mts_rotor.costs;
	u64 adds = cost->took_ns;

	/*
	 * In an overlapped switch a job stands still for its own switch only. With one bin there is
	 * no other switch to be saved.
	 */
	if (cost->overlapped)
		adds -= div_u64(cost->took_ns, mts_rotor.round.nbins);
	mts_switches_note(&costs->switches, cost->took_ns, adds);
	costs->switches_wait = cost->busy_ns < cost->took_ns / 2;
	if (cost->bytes >= TELLING_BYTES)
		costs->slow_swap = costs->switches_wait &&
				   cost->bytes < MTS_SLOW_BYTES_PER_US * (cost->took_ns / 1000);
	costs->passed = cost->overlapped;
}

void mts_costs_plan(u32 evict, const struct mts_plan *plan, bool rotates)
{
	mts_switches_plan(&mts_rotor.costs.switches, evict, plan, mts_rotor_disk_is_slow(),
			  rotates);
}

void mts_costs_forget(void)
{
	mts_switches_forget(&mts_rotor.costs.switches);
}

void mts_costs_note_probe(bool slow)
{
	mts_rotor.costs.probe_is_slow = slow;
}

void mts_costs_note_fast(void)
{
	mts_rotor.costs.slow_swap = false;
}
