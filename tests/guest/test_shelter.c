// SPDX-License-Identifier: GPL-2.0
/* Jobs that nearly fit lose what is lacking one after the other, without turns. */
#include "guest.h"

#include <sys/mman.h>

static unsigned int count_protected(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < nhogs; i++)
		if (cg_number(hogs[i].cgroup, "memory.low") >= (long long)MIB)
			n++;
	return n;
}

#define SHELTER "/sys/module/mts/parameters/shelter"

/* Locks two MiB more, and keeps them, for each byte that is written. Return: where to. */
static int start_locker(void)
{
	int more[2];
	char byte;

	check(!pipe(more), "pipe: %m");
	if (!spawn()) {
		close(more[1]);
		if (mlockall(MCL_FUTURE))
			_exit(3);
		while (read(more[0], &byte, 1) == 1)
			touch(2);
		_exit(0);
	}
	close(more[0]);
	return more[1];
}

/* They have so much, and who nearly fits is to be sheltered. */
static void shelter(unsigned int left, enum hog_kind kind, unsigned int n, const unsigned int *mib)
{
	expect(write_file(SHELTER, "Y"), 0);
	leave_mib(left);
	start_hogs(kind, n, mib);
	set_mode(MTS_MODE_AUTO);
}

/*
 * Two MiB less for who has @mib. Turns may begin first, if they get too little at once; or nobody
 * waits until they lack more than an eighth, if more is left than what is available says.
 */
static void take_some(int locker, u64 mib)
{
	u64 before = vmstat("pswpin"), capacity = get_status().capacity;
	unsigned int ms = capacity > (mib + 16) * MIB ? 100 : 2000;

	if (is_rotating() || capacity + capacity / 8 < mib * MIB)
		guest_skip("there was not just too little memory");
	check(write(locker, "", 1) == 1, "the locker: %m");
	if (!wait_until(count_protected() == nhogs - 1, ms) && !is_rotating())
		check(vmstat("pswpin") - before < 5 * ms, "%lu pages in %u ms, none protected: %s",
		      vmstat("pswpin") - before, ms, describe());
}

/*
 * Four that have all they need until there is a little less: one of them is to give it, so that
 * three get on, and no turns are taken. What is available is an estimate, so there is plenty at
 * first, which is taken until that happens.
 */
static void who_nearly_fits_is_protected_but_one(void)
{
	static const unsigned int each[] = { 60, 60, 60, 60 };
	u64 progress[ARRAY_SIZE(each)];
	unsigned int i;
	int locker;

	shelter(300, HOG_RANDOM, ARRAY_SIZE(each), each);
	sleep_ms(1000);
	check(!count_protected(), "while all fits: %s", describe());
	locker = start_locker();
	while (count_protected() < nhogs - 1)
		take_some(locker, 4 * 60);
	note("%s", describe());
	expect_within(1000, cg_number(BASE, "memory.low") >= 3 * 45 * (long long)MIB,
		      "%lld of the base", cg_number(BASE, "memory.low"));
	for (i = 0; i < nhogs; i++)
		progress[i] = hog_progress(&hogs[i]);
	for (i = 0; i < nhogs; i++)
		expect_soon(hog_progress(&hogs[i]) > progress[i], "%s stands still", hogs[i].name);
	expect(write_file(SHELTER, "N"), 0);
	expect_within(3000, !count_protected() && !cg_number(BASE, "memory.low"), "%s", describe());
	close(locker);
}

static void who_fits_well_is_not_protected(void)
{
	static const unsigned int each[] = { 24, 24 };

	shelter(96, HOG_DOZE, ARRAY_SIZE(each), each);
	sleep_ms(3000);
	check(!count_protected(), "%s", describe());
	expect(write_file(SHELTER, "N"), 0);
}

GUEST_TESTS(TEST_SLOW(who_nearly_fits_is_protected_but_one, 240),
	    TEST(who_fits_well_is_not_protected));
