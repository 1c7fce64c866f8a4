// SPDX-License-Identifier: GPL-2.0
/* How long switches took, and how much they evict. */
#include "policy/evict.h"
#include "policy/switches.h"

void mts_switches_plan(struct mts_switches *s, u32 evict, const struct mts_plan *plan,
		       bool disk_is_slow, bool rotates)
{
	bool decided = rotates && s->asked == MTS_EVICT_AUTO;
	u32 before = s->evict;

	s->asked = evict;
	s->evict =
		mts_policy_evict_how(evict, decided ? before : MTS_EVICT_FULL, plan, disk_is_slow);
	if (!rotates || s->evict != before)
		s->are_new = true;
}

void mts_switches_note(struct mts_switches *s, u64 took, u64 bytes, bool overlaps)
{
	/* Other conditions: earlier measurements do not apply. */
	if (s->are_new || overlaps != s->overlaps)
		mts_switches_forget(s);
	s->are_new = false;
	s->overlaps = overlaps;
	s->bytes = s->mean_ns ? s->bytes - s->bytes / 4 + bytes / 4 : bytes;
	s->mean_ns = s->mean_ns ? (3 * s->mean_ns + took) / 4 : took;
	s->slowest_ns = mts_max(took, s->slowest_ns - s->slowest_ns / 8);
}

void mts_switches_forget(struct mts_switches *s)
{
	s->mean_ns = 0;
	s->slowest_ns = 0;
}
