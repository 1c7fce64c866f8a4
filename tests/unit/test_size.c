// SPDX-License-Identifier: GPL-2.0
/* Sizes in parameters: what is one, and what is larger than 64 bits. */
#include "policy/size.h"
#include "unit.h"

static void sizes(void **unused)
{
	static const struct {
		const char *text;
		u64 bytes;
	} good[] = {
		{ "0", 0 },
		{ "1", 1 },
		{ "010", 10 },
		{ "512M", 512ull << 20 },
		{ "512m", 512ull << 20 },
		{ "3k", 3ull << 10 },
		{ "2G", 2ull << 30 },
		{ "7T", 7ull << 40 },
		{ "1P", 1ull << 50 },
		{ "1e", 1ull << 60 },
		{ "18446744073709551615", U64_MAX },
		{ "15E", 15ull << 60 },
		{ "16777215T", 16777215ull << 40 },
	};
	u64 bytes;
	size_t i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(mts_size_parse(good[i].text, &bytes), 0);
		assert_true(bytes == good[i].bytes);
	}
}

/* Fault: memparse() wraps, so that step=16777217T was a step of 1T. */
static void a_size_beyond_64_bits_is_refused(void **unused)
{
	static const char *const large[] = {
		"18446744073709551616",
		"18446744073709551617",
		"99999999999999999999999999",
		"184467440737095516150",
		"18014398509481984K",
		"17592186044416M",
		"17592186044417M",
		"17179869185G",
		"16777216T",
		"16777217T",
		"16385P",
		"16E",
		"17E",
		"18446744073709551615K",
	};
	u64 bytes = 7;
	size_t i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(large); i++)
		assert_int_equal(mts_size_parse(large[i], &bytes), -ERANGE);
	assert_int_equal(bytes, 7);
}

static void what_is_no_size_is_refused(void **unused)
{
	static const char *const bad[] = {
		"",
		"M",
		"-1M",
		"+1M",
		" 1M",
		"1M ",
		"1 M",
		"16Mx",
		"1MiB",
		"0x10",
		"1.5G",
		"1X",
		"some",
		"\xff",
		"1\xff",
		"5%",
		"18446744073709551616Q",
	};
	u64 bytes = 7;
	size_t i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(mts_size_parse(bad[i], &bytes), -EINVAL);
	assert_int_equal(bytes, 7);
}

/* Each size is one, and the next one of its digits and unit above 64 bits is none. */
static void the_limit_is_exact(void **unused)
{
	static const char units[] = "kmgtpe";
	char text[32];
	u64 bytes, most;
	u32 shift;

	(void)unused;
	random_start(__func__);
	for (unit_case = 0; unit_case < unit_cases(1000); unit_case++) {
		shift = 10 * random_between(1, 6);
		most = U64_MAX >> shift;
		bytes = random_between(0, most);
		snprintf(text, sizeof(text), "%llu%c", (unsigned long long)bytes,
			 units[shift / 10 - 1]);
		check(!mts_size_parse(text, &most) && most == bytes << shift);
		snprintf(text, sizeof(text), "%llu%c",
			 (U64_MAX >> shift) + 1 + (unsigned long long)bytes, units[shift / 10 - 1]);
		check(mts_size_parse(text, &most) == -ERANGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(a_size_beyond_64_bits_is_refused),
		cmocka_unit_test(what_is_no_size_is_refused),
		cmocka_unit_test(the_limit_is_exact),
	};

	return cmocka_run_group_tests_name("size", tests, NULL, NULL);
}
