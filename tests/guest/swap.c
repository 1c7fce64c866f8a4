// SPDX-License-Identifier: GPL-2.0
/* What the swap disks and the jobs' faults tell. */
#include "guest.h"

#include <sys/swap.h>

u64 disk_stat(const char *disk, unsigned int field)
{
	char path[64], text[256], *at = text;
	u64 value = 0;

	snprintf(path, sizeof(path), "/sys/block/%s/stat", disk);
	expect(read_file(path, text, sizeof(text)), 0);
	for (field++; field; field--)
		value = strtoull(at, &at, 10);
	return value;
}

/* Field 12 of proc(5)'s stat. */
static u64 major_faults(pid_t pid)
{
	char path[64], text[512], *at;
	unsigned int i;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	expect(read_file(path, text, sizeof(text)), 0);
	at = strrchr(text, ')');
	for (i = 0; at && i < 10; i++)
		at = strchr(at + 1, ' ');
	check(at, "%s: %s", path, text);
	return strtoull(at, NULL, 10);
}

u64 hogs_major_faults(void)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < nhogs; i++)
		sum += major_faults(hogs[i].pid);
	return sum;
}

void swap_on(const char *disk, int priority)
{
	int flags = priority < 0 ? 0 : SWAP_FLAG_PREFER | priority;

	check(!swapon(disk, flags), "swapon %s: %m", disk);
}

void swap_off(const char *disk)
{
	check(!swapoff(disk), "swapoff %s: %m", disk);
}
