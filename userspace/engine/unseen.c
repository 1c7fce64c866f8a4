// SPDX-License-Identifier: GPL-2.0
/*
 * What the engine does not see: which processes wait for a frozen job, when the host suspends, and
 * when it is out of memory. `mtsctl status` and mtsd(8) say so. The pause limit bounds the waits.
 */
#include "context.h"
#include "jobs/waits.h"
#include "jobs/watched.h"
#include "memory/readahead.h"

void mts_waits_look(u64 planned)
{
}

void mts_waits_look_outside(void)
{
}

bool mts_watched_are_any(void)
{
	return false;
}

void mts_watched_look(void)
{
}

/* MADV_WILLNEED reads the pages that it is given, and none ahead. */
void mts_readahead_init(void)
{
}

void mts_readahead_exit(void)
{
}

/* While the host suspends, the clock of the pause limits stands still. */
int register_pm_notifier(struct notifier_block *nb)
{
	return 0;
}

int register_oom_notifier(struct notifier_block *nb)
{
	return 0;
}
