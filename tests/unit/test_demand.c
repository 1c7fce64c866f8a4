// SPDX-License-Identifier: GPL-2.0
/* Demand, capacity, and what a switch evicts. */
#include "policy/bins.h"
#include "policy/demand.h"
#include "policy/evict.h"
#include "unit.h"

static void demand_of_a_job(void **unused)
{
	const struct mts_usage u = {
		.current_bytes = 1000,
		.swap = 300,
		.file = 250,
		.shmem = 50,
		.slab_reclaimable = 30,
		.swapcached = 70,
	};

	(void)unused;
	assert_int_equal(mts_policy_droppable(&u), 230);
	assert_int_equal(mts_policy_resident(&u), 770);
	assert_int_equal(mts_policy_demand(&u), 1000);
}

/* What zswap holds is counted once, in full size: 300 of swap, of which it has made 120. */
static void made_smaller_is_not_in_memory(void **unused)
{
	const struct mts_usage u = { .current_bytes = 620, .swap = 300, .zswap = 120 };
	const struct mts_usage late = { .current_bytes = 100, .swap = 300, .zswap = 120 };

	(void)unused;
	assert_int_equal(mts_policy_droppable(&u), 0);
	assert_int_equal(mts_policy_resident(&u), 500);
	assert_int_equal(mts_policy_demand(&u), 800);
	assert_int_equal(mts_policy_resident(&late), 0);
	assert_int_equal(mts_policy_demand(&late), 300);
}

static void nothing_used(void **unused)
{
	const struct mts_usage u = { 0 };

	(void)unused;
	assert_int_equal(mts_policy_droppable(&u), 0);
	assert_int_equal(mts_policy_resident(&u), 0);
	assert_int_equal(mts_policy_demand(&u), 0);
}

/* Numbers that were not read at the same moment. */
static void numbers_that_disagree(void **unused)
{
	const struct mts_usage shmem = { .current_bytes = 100, .file = 10, .shmem = 20 };
	const struct mts_usage file = { .current_bytes = 100, .swap = 40, .file = 120 };
	const struct mts_usage cached = { .current_bytes = 100, .swap = 40, .swapcached = 60 };

	(void)unused;
	assert_int_equal(mts_policy_droppable(&shmem), 0);
	assert_int_equal(mts_policy_resident(&shmem), 100);
	assert_int_equal(mts_policy_resident(&file), 0);
	assert_int_equal(mts_policy_demand(&file), 40);
	assert_int_equal(mts_policy_demand(&cached), 100);
}

static void demand_saturates(void **unused)
{
	const struct mts_usage huge = { .current_bytes = U64_MAX, .swap = U64_MAX };
	const struct mts_usage droppable = {
		.current_bytes = U64_MAX,
		.file = U64_MAX,
		.slab_reclaimable = U64_MAX,
	};

	(void)unused;
	assert_true(mts_policy_demand(&huge) == U64_MAX);
	assert_true(mts_policy_droppable(&droppable) == U64_MAX);
	assert_true(mts_policy_demand(&droppable) == 0);
}

static void demand_is_never_below_what_is_resident(void **unused)
{
	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(10000); unit_case++) {
		struct mts_usage u;
		u64 *field = (u64 *)&u;
		u32 i;

		for (i = 0; i < sizeof(u) / sizeof(u64); i++)
			field[i] = random_u64() >> random_below(64);
		check(mts_policy_demand(&u) >= mts_policy_resident(&u));
		check(mts_policy_resident(&u) <= u.current_bytes);
		check(mts_policy_demand(&u) <= mts_add_sat(u.current_bytes, u.swap));
	}
}

static void capacity_keeps_a_reserve(void **unused)
{
	(void)unused;
	/* 1/16 */
	assert_int_equal(mts_policy_capacity(600 * MIB, 40 * MIB, GIB), 600 * MIB);
	assert_int_equal(mts_policy_capacity(33 * MIB, 0, GIB), 33 * MIB - 33 * MIB / 16);
	/* at least 1 MiB */
	assert_int_equal(mts_policy_capacity(16 * MIB, 0, GIB), 15 * MIB);
	assert_int_equal(mts_policy_capacity(4 * MIB, 4 * MIB, GIB), 7 * MIB);
	/* at most 1 GiB */
	assert_int_equal(mts_policy_capacity(32 * GIB, 0, 64 * GIB), 31 * GIB);
	assert_int_equal(mts_policy_capacity(16 * GIB, 0, 16 * GIB), 15 * GIB);
	assert_int_equal(mts_policy_capacity(4 * GIB, 0, 16 * GIB), 4 * GIB - 256 * MIB);
}

static void capacity_at_its_ends(void **unused)
{
	(void)unused;
	assert_int_equal(mts_policy_capacity(0, 0, GIB), 0);
	assert_int_equal(mts_policy_capacity(MIB, 0, GIB), 0);
	assert_int_equal(mts_policy_capacity(MIB + 1, 0, GIB), 1);
	assert_int_equal(mts_policy_capacity(GIB, GIB, GIB), GIB - 64 * MIB);
	assert_int_equal(mts_policy_capacity(U64_MAX, U64_MAX, GIB), GIB - 64 * MIB);
	assert_true(mts_policy_capacity(U64_MAX, 1, U64_MAX) == U64_MAX - GIB);
	assert_int_equal(mts_policy_capacity(GIB, GIB, 0), 0);
}

static void evict_everything(void **unused)
{
	(void)unused;
	assert_int_equal(mts_policy_evict(MTS_EVICT_FULL, 77, 10, 10, 1000), 77);
	assert_int_equal(mts_policy_evict(MTS_EVICT_FULL, 0, 1000, 0, 0), 0);
	assert_true(mts_policy_evict(MTS_EVICT_FULL, U64_MAX, 0, 0, 0) == U64_MAX);
}

/* By need where switches take more than a quarter of a round; once begun, until turns end. */
static void evict_as_switches_cost(void **unused)
{
	const struct mts_plan cheap = { .nbins = 2, .round_ns = 1000, .run_ns = 750 };
	const struct mts_plan dear = { .nbins = 2, .round_ns = 1000, .run_ns = 749 };
	const struct mts_plan none = { .nbins = 1 };
	const u32 full = MTS_EVICT_FULL, need = MTS_EVICT_NEED;
	u32 evict;

	(void)unused;
	assert_int_equal(mts_policy_evict_how(MTS_EVICT_AUTO, full, &cheap, false), full);
	assert_int_equal(mts_policy_evict_how(MTS_EVICT_AUTO, full, &dear, false), need);
	assert_int_equal(mts_policy_evict_how(MTS_EVICT_AUTO, full, &dear, true), full);
	assert_int_equal(mts_policy_evict_how(MTS_EVICT_AUTO, full, &none, false), full);
	assert_int_equal(mts_policy_evict_how(MTS_EVICT_AUTO, need, &cheap, false), need);
	/* The time of a switch is not known. */
	assert_int_equal(mts_policy_evict_how(MTS_EVICT_AUTO, need, NULL, false), full);
	for (evict = MTS_EVICT_OFF; evict <= MTS_EVICT_FULL; evict++) {
		assert_int_equal(mts_policy_evict_how(evict, need, &dear, false), evict);
		assert_int_equal(mts_policy_evict_how(evict, need, NULL, false), evict);
	}
	/* Without a plan, everything is evicted. */
	assert_int_equal(mts_policy_evict(MTS_EVICT_AUTO, 77, 10, 10, 1000), 77);
}

static void evict_what_is_needed(void **unused)
{
	(void)unused;
	/* it lacks 160, and 10 of slack */
	assert_int_equal(mts_policy_evict(MTS_EVICT_NEED, 500, 200, 40, 0), 170);
	assert_int_equal(mts_policy_evict(MTS_EVICT_NEED, 500, 200, 40, 100), 70);
	assert_int_equal(mts_policy_evict(MTS_EVICT_NEED, 500, 200, 40, 160), 10);
	assert_int_equal(mts_policy_evict(MTS_EVICT_NEED, 500, 200, 40, 170), 0);
	assert_int_equal(mts_policy_evict(MTS_EVICT_NEED, 500, 200, 40, U64_MAX), 0);
	/* it lacks nothing */
	assert_int_equal(mts_policy_evict(MTS_EVICT_NEED, 500, 200, 200, 0), 0);
	assert_int_equal(mts_policy_evict(MTS_EVICT_NEED, 500, 200, 300, 0), 0);
	/* more than the outgoing bin has */
	assert_int_equal(mts_policy_evict(MTS_EVICT_NEED, 5, 160, 0, 0), 170);
	assert_true(mts_policy_evict(MTS_EVICT_NEED, 5, U64_MAX, 0, 0) == U64_MAX);
	assert_true(mts_policy_evict(MTS_EVICT_NEED, 5, U64_MAX, 0, 1) == U64_MAX - 1);
}

static void evict_nothing(void **unused)
{
	(void)unused;
	assert_int_equal(mts_policy_evict(MTS_EVICT_OFF, 500, 200, 0, 0), 0);
	assert_int_equal(mts_policy_evict(4, 500, 200, 0, 0), 0);
	assert_int_equal(mts_policy_evict(U32_MAX, 500, 200, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(demand_of_a_job),
		cmocka_unit_test(made_smaller_is_not_in_memory),
		cmocka_unit_test(nothing_used),
		cmocka_unit_test(numbers_that_disagree),
		cmocka_unit_test(demand_saturates),
		cmocka_unit_test(demand_is_never_below_what_is_resident),
		cmocka_unit_test(capacity_keeps_a_reserve),
		cmocka_unit_test(capacity_at_its_ends),
		cmocka_unit_test(evict_everything),
		cmocka_unit_test(evict_as_switches_cost),
		cmocka_unit_test(evict_what_is_needed),
		cmocka_unit_test(evict_nothing),
	};

	return cmocka_run_group_tests_name("demand", tests, NULL, NULL);
}
