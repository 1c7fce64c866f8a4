// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's swap disk, made small, slow or bad. It is a null_blk (bench/lab/disks.py) whose
 * data stays in memory that was taken at boot, so that writing to it needs none.
 */
#include "guest.h"

#include <sys/swap.h>

#define SETTINGS "/sys/kernel/config/nullb/nullb0/"
#define QUEUE "/sys/block/nullb0/queue/"
#define DEVICE "/dev/nullb0"
#define READAHEAD "/sys/kernel/mm/swap/vma_ra_enabled"
#define ZRAM "/sys/block/zram0/"
#define SECTORS_PER_PAGE 8ull
/* In one piece null_blk takes no more than this. */
#define SPOIL_MAX 4096ull

static struct {
	const char *name;
	char value[32]; /* as found */
} settings[] = { { "size", "" }, { "completion_nsec", "" }, { "hw_queue_depth", "" } };
static bool changed, spoiled, zram;

static int setting(const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), SETTINGS "%s", name);
	return write_file(path, value);
}

static void keep_settings(void)
{
	char path[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		snprintf(path, sizeof(path), SETTINGS "%s", settings[i].name);
		expect(read_file(path, settings[i].value, sizeof(settings[i].value)), 0);
	}
	changed = true;
}

static void disk_off(void)
{
	check(!system("swapoff " DEVICE), "swapoff");
	expect(setting("power", "0"), 0);
}

static void disk_on(bool taken)
{
	expect(setting("power", "1"), 0);
	check(!taken || !system("dd if=/dev/zero of=" DEVICE " bs=1M 2>/dev/null; sync"), "dd");
	check(!system("mkswap " DEVICE " >/dev/null && swapon " DEVICE), "swapon");
}

void swap_use(const struct swap_disk *disk)
{
	char text[32];

	if (!changed)
		keep_settings();
	disk_off();
	snprintf(text, sizeof(text), "%u", disk->mib);
	expect(setting("size", text), 0);
	if (disk->request_us) {
		snprintf(text, sizeof(text), "%llu", disk->request_us * 1000ull);
		expect(setting("completion_nsec", text), 0);
		expect(setting("hw_queue_depth", "1"), 0);
	}
	disk_on(disk->taken);
	/* As it holds writers up whom it finds slow, requests would be single pages. */
	write_file(QUEUE "wbt_lat_usec", "0");
}

static void bad_pages(char sign, u64 first, u64 pages)
{
	char text[64];
	u64 n;

	for (; pages; first += n, pages -= n) {
		n = pages < SPOIL_MAX ? pages : SPOIL_MAX;
		snprintf(text, sizeof(text), "%c%llu-%llu", sign,
			 (unsigned long long)(first * SECTORS_PER_PAGE),
			 (unsigned long long)((first + n) * SECTORS_PER_PAGE - 1));
		expect(setting("badblocks", text), 0);
	}
}

void swap_spoil(u64 first, u64 pages)
{
	spoiled = true;
	bad_pages('+', first, pages);
}

void swap_mend(void)
{
	bad_pages('-', 0, strtoull(settings[0].value, NULL, 10) * MIB / PAGE);
	spoiled = false;
}

void swap_request_kib(unsigned int kib)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", kib);
	expect(write_file(QUEUE "max_sectors_kb", text), 0);
}

void swap_zram(const char *limit)
{
	swap_off(DEVICE);
	expect(write_file(ZRAM "disksize", "256M"), 0);
	expect(write_file(ZRAM "mem_limit", limit), 0);
	check(!system("mkswap /dev/zram0 >/dev/null"), "mkswap");
	swap_on("/dev/zram0", -1);
	zram = true;
}

void swap_restore(void)
{
	size_t i;

	if (zram) {
		swap_off("/dev/zram0");
		expect(write_file(ZRAM "reset", "1"), 0);
		swap_on(DEVICE, -1);
		zram = false;
	}
	if (!changed)
		return;
	if (spoiled)
		swap_mend();
	disk_off();
	for (i = 0; i < ARRAY_SIZE(settings); i++)
		expect(setting(settings[i].name, settings[i].value), 0);
	disk_on(false);
	changed = false;
}

u64 disk_stat(const char *disk, enum swap_stat field)
{
	char path[64], text[256], *at = text;
	u64 value = 0;
	int i;

	snprintf(path, sizeof(path), "/sys/block/%s/stat", disk);
	expect(read_file(path, text, sizeof(text)), 0);
	for (i = field; i >= 0; i--)
		value = strtoull(at, &at, 10);
	return value;
}

u64 swap_stat(enum swap_stat field)
{
	return disk_stat("nullb0", field);
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

/* ---- bringing back ---------------------------------------------------------------- */

bool readahead_is(const char *text)
{
	char now[16];

	expect(read_file(READAHEAD, now, sizeof(now)), 0);
	return !strncmp(now, text, strlen(text));
}

void set_readahead(const char *text)
{
	expect(write_file(READAHEAD, text), 0);
}

bool is_bringing_back(void)
{
	return readahead_is("false");
}

void in_the_middle_of_it(void)
{
	u64 end = now_ms() + 30000;

	while (!is_bringing_back()) {
		check(now_ms() < end, "nothing is ever brought back: %s", describe());
		sleep_ms(1);
	}
}
