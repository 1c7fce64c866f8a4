// SPDX-License-Identifier: GPL-2.0
/* Swap is in memory first, made smaller. */
#include "guest.h"

#include <sys/mman.h>
#include <sys/random.h>

#define ZSWAP "/sys/module/zswap/parameters/"

static void zswap_off(void)
{
	expect(write_file(ZSWAP "enabled", "0"), 0);
}

static void zswap_on(void)
{
	/* What holds all: with zbud a page takes half of one. New kernels have no other. */
	if (!access(ZSWAP "zpool", F_OK))
		expect(write_file(ZSWAP "zpool", "zsmalloc"), 0);
	expect(write_file(ZSWAP "max_pool_percent", "50"), 0);
	expect(write_file(ZSWAP "enabled", "1"), 0);
}

/* What zswap holds comes back without a disk, and is not counted as swapped in. */
static void mode_auto_rotates_where_zswap_is_on(void)
{
	u64 reads = swap_stat(SWAP_READS), loads = vmstat("zswpin");

	zswap_on();
	expect_turns_of_their_own();
	zswap_off();
	reads = swap_stat(SWAP_READS) - reads;
	loads = vmstat("zswpin") - loads;
	check(loads > 100 * reads + 10000, "%lu loads by zswap, %lu reads of the disk", loads,
	      reads);
}

#define PACKED_MIB 24

/*
 * zswap makes a page of its memory, of which 5/8 are noise, little smaller: what goes makes less
 * than half as much room. Huge pages it does not take.
 */
static pid_t start_packed(const char *name)
{
	struct mts_job_create create;
	int filled[2];
	size_t at;
	char *mem;
	pid_t pid;

	check(!pipe(filled), "pipe: %m");
	pid = spawn();
	if (!pid) {
		if (try_create(name, MTS_JOB_ENTER, &create))
			_exit(2);
		mem = mmap(NULL, PACKED_MIB * MIB, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(mem, PACKED_MIB * MIB, MADV_NOHUGEPAGE);
		for (at = 0; at < PACKED_MIB * MIB; at += PAGE)
			if (getrandom(mem + at, PAGE * 5 / 8, 0) != PAGE * 5 / 8)
				_exit(3);
		if (write(filled[1], "", 1) != 1)
			_exit(4);
		for (;; at += PAGE)
			mem[at % (PACKED_MIB * MIB)]++;
	}
	close(filled[1]);
	check(read(filled[0], &(char){ 0 }, 1) == 1, "%s: %d", name, join(pid, 1000));
	close(filled[0]);
	return pid;
}

/*
 * What zswap has of a job is in memory.current, made smaller, and in memory.swap.current in full
 * size: that is no demand. Nor does eviction end where it makes little room.
 */
static void what_zswap_keeps_does_not_count(void)
{
	long long anon = 0, zswap = 0;
	struct mts_job_info job;
	u32 i, seen = 0;

	zswap_on();
	start_packed("a");
	start_packed("b");
	rotate(32, 1000, MTS_EVICT_FULL);
	expect_rotation(2);
	wait_rounds(2);
	for (i = 0; i < 400 && seen < 20; i++, sleep_ms(50)) {
		struct mts_job_info again;

		job = job_named(i % 2 ? "a" : "b");
		anon = cg_key(cg_job(job.name), "memory.stat", "anon");
		zswap = cg_key(cg_job(job.name), "memory.stat", "zswap");
		again = job_named(job.name);
		if (!stood_still(&job, &again) || get_status().state != MTS_STATE_RUNNING)
			continue;
		seen++;
		check(anon < 2 * (long long)MIB, "%lld KiB of %s were not evicted, %lld in zswap",
		      anon >> 10, job.name, zswap >> 10);
		check(zswap > PACKED_MIB * (long long)MIB / 2, "only %lld KiB of %s are in zswap",
		      zswap >> 10, job.name);
		check(job.demand < (PACKED_MIB + 2) * MIB, "%s", describe());
	}
	check(seen == 20, "hardly a sample: %s", describe());
	zswap_off();
}

GUEST_TESTS(TEST_WITHIN(mode_auto_rotates_where_zswap_is_on, 420),
	    TEST(what_zswap_keeps_does_not_count));
