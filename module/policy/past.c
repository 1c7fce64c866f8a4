// SPDX-License-Identifier: GPL-2.0
#include "policy/past.h"

static const struct mts_past_command *find(const struct mts_past *past, u64 command)
{
	u32 i;

	for (i = 0; i < MTS_PAST_COMMANDS; i++)
		if (past->commands[i].command == command)
			return &past->commands[i];
	return NULL;
}

/* The entry of this command, or the one that was not noted for longest: free ones never were. */
static struct mts_past_command *place_of(struct mts_past *past, u64 command)
{
	struct mts_past_command *place = &past->commands[0];
	u32 i;

	for (i = 0; i < MTS_PAST_COMMANDS; i++) {
		if (past->commands[i].command == command)
			return &past->commands[i];
		if (past->commands[i].noted < place->noted)
			place = &past->commands[i];
	}
	return place;
}

void mts_past_note(struct mts_past *past, u64 command, const struct mts_past_run *run)
{
	struct mts_past_command *place = place_of(past, command);

	if (place->command != command)
		*place = (struct mts_past_command){ .command = command };
	place->before = place->last;
	place->last = *run;
	place->runs = mts_min(place->runs + 1, 2);
	place->noted = ++past->notes;
}

bool mts_past_expect(const struct mts_past *past, u64 command, struct mts_past_run *run)
{
	const struct mts_past_command *known = command ? find(past, command) : NULL;

	if (!known)
		return false;
	*run = known->last;
	if (known->runs == 2) {
		run->need = mts_max(run->need, known->before.need);
		/* Halves first: the sum could wrap. */
		run->ran_ns = run->ran_ns / 2 + known->before.ran_ns / 2;
	}
	return true;
}
