// SPDX-License-Identifier: GPL-2.0
/* Who may ask what of a system-wide mtsd. */
#include "mtsd/rights.h"
#include "mtsd/wire.h"
#include "unit.h"

#define ADA 1000u
#define BOB 1001u
#define SECOND 1000000000ull

static const unsigned int reading[] = {
	MTS_IOC_CONFIG_GET, MTS_IOC_STATUS, MTS_IOC_DISK,	    MTS_IOC_JOBS,   MTS_IOC_BINS,
	MTS_IOC_GONE,	    MTS_IOC_STATS,  MTS_IOC_STATS_OF(8192), MTS_IOC_POLICY, MTS_IOC_USERS,
};

static const unsigned int own[] = {
	MTS_IOC_JOB_ADD, MTS_IOC_JOB_SUBMIT, MTS_IOC_JOB_REMOVE,
	MTS_IOC_JOB_SET, MTS_IOC_JOB_PAUSE,  MTS_IOC_JOB_WEIGHT,
};

static const unsigned int roots[] = {
	MTS_IOC_CONFIG_SET,
	MTS_IOC_JOB_CREATE,
	MTS_IOC_JOB_TAKE,
	MTS_IOC_USER_WEIGHT,
	MTS_IOC_THAW,
	0,
	0xffffffff,
	/* Numbers that the next version may have. */
	_IOW(MTS_IOC_MAGIC, 0x19, __u64),
	_IOR(MTS_IOC_MAGIC, 0x28, __u64),
};

static int asks(unsigned int cmd, bool is_member, u32 flags)
{
	const struct rights_ask ask = {
		.uid = ADA, .is_member = is_member, .cmd = cmd, .flags = flags
	};

	return rights_of_caller(&ask);
}

static void every_user_reads(void **unused)
{
	size_t i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(reading); i++) {
		assert_int_equal(asks(reading[i], false, 0), 0);
		assert_int_equal(asks(reading[i], true, 0), 0);
		assert_false(rights_need_object(reading[i]));
	}
}

static void members_change_what_is_their_own(void **unused)
{
	size_t i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(own); i++) {
		assert_int_equal(asks(own[i], false, 0), -EPERM);
		assert_int_equal(asks(own[i], true, MTS_JOB_PIN | MTS_JOB_ENTER), 0);
		assert_true(rights_need_object(own[i]));
		assert_int_equal(asks(own[i], false, MTS_JOB_QUEUE | MTS_JOB_EACH), -EPERM);
	}
}

/* A job that is made without a place for the cgroups of its children gets none later. */
static void children_are_asked_for_when_the_job_is_made(void **unused)
{
	static const u32 flags[] = { MTS_JOB_EACH, MTS_JOB_EACH_LEAF | MTS_JOB_PIN };
	size_t i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		assert_int_equal(asks(MTS_IOC_JOB_ADD, true, flags[i]), 0);
		assert_int_equal(asks(MTS_IOC_JOB_SUBMIT, true, flags[i]), 0);
		assert_int_equal(asks(MTS_IOC_JOB_SET, true, flags[i]), -EOPNOTSUPP);
	}
	assert_int_equal(asks(MTS_IOC_JOB_SUBMIT, true, MTS_JOB_QUEUE), 0);
}

/* Whose a job is says the kernel: a user names no other one. */
static void nobody_names_another_user(void **unused)
{
	const u32 others[] = { BOB, RIGHTS_ROOT, RIGHTS_NOBODY, MTS_USER_NONE };
	const unsigned int makes[] = { MTS_IOC_JOB_ADD, MTS_IOC_JOB_SUBMIT };
	size_t i, k;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(makes); i++) {
		struct rights_ask ask = {
			.uid = ADA, .is_member = true, .cmd = makes[i], .flags = MTS_JOB_USER
		};

		for (k = 0; k < ARRAY_SIZE(others); k++) {
			ask.user = others[k];
			assert_int_equal(rights_of_caller(&ask), -EPERM);
		}
		ask.user = ADA;
		assert_int_equal(rights_of_caller(&ask), 0);
		ask.is_member = false;
		assert_int_equal(rights_of_caller(&ask), -EPERM);
	}
}

static bool is_listed(unsigned int cmd)
{
	bool found = cmd == MTS_IOC_STATS_OF(_IOC_SIZE(cmd));
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reading); i++)
		found |= cmd == reading[i];
	for (i = 0; i < ARRAY_SIZE(own); i++)
		found |= cmd == own[i];
	return found;
}

/* Each other command, also one that is not known, is root's. */
static void the_rest_is_roots(void **unused)
{
	size_t i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(roots); i++) {
		assert_int_equal(asks(roots[i], true, 0), -EPERM);
		assert_int_equal(asks(roots[i], false, 0), -EPERM);
	}
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(100000); unit_case++) {
		unsigned int cmd = _IOC(random_between(0, 3), MTS_IOC_MAGIC, random_between(0, 255),
					random_between(0, 1 << 14) & ((1 << 14) - 1));

		check((asks(cmd, true, 0) != -EPERM) == is_listed(cmd));
	}
}

static void objects(void **unused)
{
	(void)unused;
	/* A cgroup that is no job yet. */
	assert_int_equal(rights_of_object(ADA, ADA, RIGHTS_NOBODY), 0);
	assert_int_equal(rights_of_object(ADA, BOB, RIGHTS_NOBODY), -EACCES);
	assert_int_equal(rights_of_object(ADA, RIGHTS_ROOT, RIGHTS_NOBODY), -EACCES);
	assert_int_equal(rights_of_object(ADA, RIGHTS_NOBODY, RIGHTS_NOBODY), -EACCES);
	/* A job. */
	assert_int_equal(rights_of_object(ADA, ADA, ADA), 0);
	assert_int_equal(rights_of_object(ADA, ADA, BOB), -EACCES);
	assert_int_equal(rights_of_object(ADA, ADA, RIGHTS_ROOT), -EACCES);
	assert_int_equal(rights_of_object(ADA, BOB, ADA), -EACCES);
	assert_int_equal(rights_of_object(ADA, RIGHTS_ROOT, ADA), -EACCES);
	/* The kernel's "no user" is nobody's. */
	assert_int_equal(rights_of_object(RIGHTS_NOBODY, RIGHTS_NOBODY, RIGHTS_NOBODY), -EACCES);
}

#define HAS(...) (&(const struct rights_has){ __VA_ARGS__ })
#define JOBS(n, p) HAS(.jobs = (n), .pins = (p))

static void limits_of_a_user(void **unused)
{
	const struct rights_limits limits = {
		.jobs = 3, .pins = 1, .queue = 2, .size = 100, .max_pause_ns = 10 * SECOND
	};
	const struct rights_ask add = { .uid = ADA, .is_member = true, .cmd = MTS_IOC_JOB_ADD };
	struct rights_ask pin = add, set = add, pause = add, weight = add, queue = add;

	(void)unused;
	pin.flags = MTS_JOB_PIN;
	set.cmd = MTS_IOC_JOB_SET;
	pause.cmd = MTS_IOC_JOB_PAUSE;
	assert_int_equal(rights_within(&limits, &add, JOBS(2, 1), 0), 0);
	assert_int_equal(rights_within(&limits, &add, JOBS(3, 0), 0), -MTS_WIRE_TOO_MANY_JOBS);
	assert_int_equal(rights_within(&limits, &pin, JOBS(2, 0), 0), 0);
	assert_int_equal(rights_within(&limits, &pin, JOBS(2, 1), 0), -MTS_WIRE_TOO_MANY_PINS);
	/* What makes no job counts none, and what pins none counts no pin. */
	assert_int_equal(rights_within(&limits, &set, JOBS(99, 99), 0), 0);
	set.flags = MTS_JOB_PIN;
	assert_int_equal(rights_within(&limits, &set, JOBS(99, 0), 0), 0);
	assert_int_equal(rights_within(&limits, &set, JOBS(99, 1), 0), -MTS_WIRE_TOO_MANY_PINS);
	assert_int_equal(rights_within(&limits, &pause, JOBS(99, 99), 0), 0);
	assert_int_equal(rights_within(&limits, &pause, JOBS(0, 0), 10 * SECOND), 0);
	assert_int_equal(rights_within(&limits, &pause, JOBS(0, 0), 10 * SECOND - 1),
			 -MTS_WIRE_TOO_SHORT_PAUSE);
	assert_int_equal(rights_within(&limits, &add, JOBS(0, 0), 1), -MTS_WIRE_TOO_SHORT_PAUSE);
	weight.cmd = MTS_IOC_JOB_WEIGHT;
	for (weight.weight = 0; weight.weight <= MTS_WEIGHT_DEFAULT; weight.weight++)
		assert_int_equal(rights_within(&limits, &weight, JOBS(99, 99), 0), 0);
	assert_int_equal(rights_within(&limits, &weight, JOBS(0, 0), 0), -MTS_WIRE_TOO_MUCH_WEIGHT);

	queue.cmd = MTS_IOC_JOB_SUBMIT;
	assert_int_equal(rights_within(&limits, &queue, HAS(.queued = 2), 0), 0);
	queue.flags = MTS_JOB_QUEUE;
	assert_int_equal(rights_within(&limits, &queue, HAS(.queued = 1, .size = 200), 0), 0);
	assert_int_equal(rights_within(&limits, &queue, HAS(.queued = 2), 0),
			 -MTS_WIRE_TOO_MANY_QUEUED);
	/* Also without the queue: the size counts there all the same. */
	queue.flags = 0;
	queue.size = 40;
	assert_int_equal(rights_within(&limits, &queue, HAS(.size = 60), 0), 0);
	assert_int_equal(rights_within(&limits, &queue, HAS(.size = 61), 0), -MTS_WIRE_TOO_LARGE);
	queue.size = U64_MAX;
	assert_int_equal(rights_within(&limits, &queue, HAS(.size = U64_MAX), 0),
			 -MTS_WIRE_TOO_LARGE);
}

/* However they come, jobs that are there and those that are set aside stay within the limit. */
static void children_stay_within_the_limit(void **unused)
{
	const struct rights_ask add = { .uid = ADA, .is_member = true, .cmd = MTS_IOC_JOB_ADD };

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(10000); unit_case++) {
		const struct rights_limits limits = { .jobs = random_between(0, 4096) };
		struct rights_has has = { 0 };

		while (!rights_within(&limits, &add, &has, 0)) {
			has.jobs++;
			if (random_between(0, 1))
				has.jobs += rights_children(&limits, &has);
			check(has.jobs <= limits.jobs);
		}
		check(has.jobs == limits.jobs && !rights_children(&limits, &has));
	}
}

/* Of different users, and of root, whatever number a user names. */
static void commands_of_users_are_their_own(void **unused)
{
	(void)unused;
	assert_true(!rights_command(0, ADA));
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(10000); unit_case++) {
		u64 a = random_between(1, U64_MAX), b = random_between(1, U64_MAX);
		u32 one = random_between(1, U32_MAX), other = random_between(1, U32_MAX);

		check(rights_command(a, one));
		check(one == other || rights_command(a, one) != rights_command(b, other));
		check(rights_command(a, one) == rights_command(a, one));
	}
}

/* mtsctl tells them from the errors of the commands. */
static void errors_of_limits_are_their_own(void **unused)
{
	static const int others[] = { EPERM,  ENOENT, ESRCH,  EINTR,  EIO,    ENXIO,	  EBADF,
				      EAGAIN, ENOMEM, EACCES, EFAULT, EBUSY,  EEXIST,	  EXDEV,
				      ENODEV, EINVAL, ENOTTY, ENOSPC, ERANGE, EOPNOTSUPP, E2BIG };
	size_t i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		assert_int_not_equal(others[i], MTS_WIRE_TOO_MANY_JOBS);
		assert_int_not_equal(others[i], MTS_WIRE_TOO_MANY_PINS);
		assert_int_not_equal(others[i], MTS_WIRE_TOO_SHORT_PAUSE);
		assert_int_not_equal(others[i], MTS_WIRE_TOO_MUCH_WEIGHT);
		assert_int_not_equal(others[i], MTS_WIRE_TOO_MANY_QUEUED);
		assert_int_not_equal(others[i], MTS_WIRE_TOO_LARGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_user_reads),
		cmocka_unit_test(members_change_what_is_their_own),
		cmocka_unit_test(nobody_names_another_user),
		cmocka_unit_test(the_rest_is_roots),
		cmocka_unit_test(objects),
		cmocka_unit_test(children_are_asked_for_when_the_job_is_made),
		cmocka_unit_test(limits_of_a_user),
		cmocka_unit_test(children_stay_within_the_limit),
		cmocka_unit_test(commands_of_users_are_their_own),
		cmocka_unit_test(errors_of_limits_are_their_own),
	};

	return cmocka_run_group_tests_name("rights", tests, NULL, NULL);
}
