// SPDX-License-Identifier: GPL-2.0
/*
 * The parsers: a table of what they take, of what they refuse, what is written
 * reads back as the same, and random bytes from a seed.
 *
 * test_parse --print reads texts, one a line, and prints what each parser makes of them, with
 * blanks between the results, and "-" for what it refuses: test_units.py compares that with
 * parsers of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "format.h"
#include "mtsctl.h"
#include "parse.h"

#define KIB 1024ull
#define MIB (KIB * KIB)
#define GIB (KIB * MIB)

/* What the rest of mtsctl needs from its main file. */
void complain(const char *format, ...)
{
	(void)format;
}

struct good {
	const char *text;
	u64 value;
};

typedef const char *(*parser)(const char *text, u64 *value);

static const struct good sizes[] = {
	{ "0", 0 },
	{ "1", 1 },
	{ "1B", 1 },
	{ "007", 7 },
	{ "96M", 96 * MIB },
	{ "96m", 96 * MIB },
	{ "96Mi", 96 * MIB },
	{ "96MiB", 96 * MIB },
	{ "96mib", 96 * MIB },
	{ "1.5G", 3 * GIB / 2 },
	{ "0.5K", 512 },
	{ "1.0001K", 1024 },
	{ "2T", 2048 * GIB },
	{ "1P", 1ull << 50 },
	{ "18446744073709551615", U64_MAX },
	{ "16383P", 16383ull << 50 },
	{ "1.000000000000000000G", GIB },
	{ "0.000000000000000001P", 0 },
};

static const char *const bad_sizes[] = {
	"",
	" ",
	"M",
	"-1",
	"-1M",
	"+1",
	" 1",
	"1 ",
	"1 M",
	"1e9",
	"1E9",
	"0x10",
	"nan",
	"NaN",
	"inf",
	"1.",
	".5",
	"1.M",
	"1..5G",
	"1.5",
	"1.5B",
	"1,5G",
	"96MB",
	"96KB",
	"96X",
	"96MM",
	"96MiBs",
	"96Mb",
	"96iB",
	"18446744073709551616",
	"16384P",
	"17592186044416M",
	"16777217T",
	"16385P",
	"99999999999999999999999999",
	"1.0000000000000000001G",
	"1\n",
	"1M\t",
	"40%",
	"\xff",
	"1\xff",
	"\xd9\xa3",
};

static const struct good times[] = {
	{ "0s", 0 },
	{ "2s", 2000000000 },
	{ "500ms", 500000000 },
	{ "1.5s", 1500000000 },
	{ "1m", 60000000000 },
	{ "1min", 60000000000 },
	{ "0.5m", 30000000000 },
	{ "1h", 3600000000000 },
	{ "250us", 250000 },
	{ "100ns", 100 },
	{ "0.0000000001s", 0 },
	{ "18446744073709551615ns", U64_MAX },
};

static const char *const bad_times[] = {
	"",
	"2",
	"0",
	"s",
	"-2s",
	"+2s",
	" 2s",
	"2 s",
	"2s ",
	"2sec",
	"2S",
	"2M",
	"1e9",
	"1e9s",
	"nan",
	"nans",
	"infs",
	"1.5",
	"1.5ns",
	"1.s",
	".5s",
	"1s500ms",
	"2s2s",
	"18446744073709551616ns",
	"18446744074s",
	"307445735m",
	"99999999999999999999s",
	"2\xffs",
	"2%",
};

static void check_table(const char *what, parser parse, const struct good *good, size_t ngood,
			const char *const *bad, size_t nbad)
{
	for (size_t i = 0; i < ngood; i++) {
		u64 value = 12345;
		const char *wrong = parse(good[i].text, &value);

		CHECK(!wrong, "%s '%s': %s", what, good[i].text, wrong);
		CHECK(value == good[i].value, "%s '%s': %llu, not %llu", what, good[i].text, value,
		      good[i].value);
	}
	for (size_t i = 0; i < nbad; i++) {
		u64 value = 12345;
		const char *wrong = parse(bad[i], &value);

		CHECK(wrong && *wrong, "%s '%s' is taken for %llu", what, bad[i], value);
		CHECK(value == 12345, "%s '%s' changed the result", what, bad[i]);
	}
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *share_of_1000(const char *text, u64 *value)
{
	return parse_size_or_share(text, 1000, value);
}

static const char *share_of_all(const char *text, u64 *value)
{
	return parse_size_or_share(text, U64_MAX, value);
}

/* What parse_time() takes, and seconds without the unit. */
static void check_intervals(void)
{
	u64 ns = 1;

	CHECK(!parse_interval("2", &ns) && ns == 2000000000, "2");
	CHECK(!parse_interval("0.25", &ns) && ns == 250000000, "0.25");
	CHECK(!parse_interval("250ms", &ns) && ns == 250000000, "250ms");
	CHECK(!parse_interval("1m", &ns) && ns == 60000000000, "1m");
	ns = 1;
	CHECK(parse_interval("", &ns) && parse_interval("2x", &ns) && parse_interval("-1", &ns) &&
		      parse_interval(".5", &ns) && ns == 1,
	      "bad intervals");
}

static void check_shares(void)
{
	static const struct good shares[] = {
		{ "40%", 400 }, { "12.5%", 125 },    { "100%", 1000 },
		{ "0.1%", 1 },	{ "96M", 96 * MIB },
	};
	static const struct good all[] = { { "100%", U64_MAX }, { "50%", U64_MAX / 2 } };
	static const char *const bad[] = {
		"%",	  "0%",	  "0.0%", "-1%",  "101%",
		"100.1%", "40%%", "4 %",  "40G%", "1e1%",
		"nan%",	  " 40%", "40% ", "",	  "18446744073709551617%",
	};

	check_table("share", share_of_1000, shares, COUNT(shares), bad, COUNT(bad));
	check_table("share of all", share_of_all, all, COUNT(all), bad, COUNT(bad));
}

static const char *permille(const char *text, u64 *value)
{
	u32 parsed = (u32)*value;
	const char *wrong = parse_permille(text, &parsed);

	*value = parsed;
	return wrong;
}

static void check_permille(void)
{
	static const struct good good[] = {
		{ "5%", 50 },	   { "2.5%", 25 },
		{ "0.1%", 1 },	   { "0%", 0 },
		{ "0.0%", 0 },	   { "007%", 70 },
		{ "12.30%", 123 }, { "100%", 1000 },
		{ "99.9%", 999 },  { "1.000000000000000000%", 10 },
	};
	static const char *const bad[] = {
		"",
		"%",
		"5",
		"5%%",
		"5 %",
		" 5%",
		"5% ",
		"-5%",
		"+5%",
		".5%",
		"5.%",
		"1e1%",
		"nan%",
		"0.05%",
		"2.55%",
		"100.1%",
		"101%",
		"5.0.0%",
		"0x5%",
		"5\xff%",
		"0.999999999999999999%",
		"18446744073709551616%",
		"0.1000000000000000000%",
	};

	check_table("per mille", permille, good, COUNT(good), bad, COUNT(bad));
}

static void check_counts(void)
{
	static const char *const bad[] = {
		"",
		"x",
		"x10",
		"6Gx",
		"6Gx0",
		"6Gx-1",
		"6Gx1.5",
		"6Gx10x2",
		"6Gx4097",
		"6x10x",
		"6GX10",
		"6Gx99999999999999999999",
		"6G x10",
		"6Gx 10",
		"00000000000000000000000000000000000000000000000000000000000000001x2",
		/* Hexadecimal, or a job of 0 bytes. */
		"0x3",
		"0X3",
		"0x3M",
		"x3",
		"3x0",
		"3x00",
		"3x0x1",
		"0",
		"00",
		"0.0",
		"0K",
		"0x4096",
		"0.0001K",
		"0.0001Kx3",
		"1x+3",
		"+1x3",
		"-1x3",
		"1x3 ",
		"1x3M",
		"1x4294967297",
		"1x18446744073709551617",
		"18446744073709551617x1",
	};
	u64 bytes = 0;
	u32 count = 0;

	CHECK(!parse_size_count("6G", &bytes, &count) && bytes == 6 * GIB && count == 1, "6G");
	CHECK(!parse_size_count("1.5Gx10", &bytes, &count) && bytes == 3 * GIB / 2 && count == 10,
	      "1.5Gx10");
	CHECK(!parse_size_count("1x4096", &bytes, &count) && bytes == 1 && count == 4096, "1x4096");
	CHECK(!parse_size_count("010x010", &bytes, &count) && bytes == 10 && count == 10,
	      "010x010 is decimal");
	for (size_t i = 0; i < COUNT(bad); i++) {
		bytes = 5;
		count = 6;
		CHECK(parse_size_count(bad[i], &bytes, &count), "'%s' is taken", bad[i]);
		CHECK(bytes == 5 && count == 6, "'%s' changed the result", bad[i]);
	}
}

static void check_ids(void)
{
	static const char *const bad[] = {
		"",    "-1",  "+1", " 1",	  "1 ",
		"1.0", "0x1", "0",  "2147483648", "99999999999999999999",
		"a",
	};
	pid_t pid = 0;
	u32 id = 0;

	CHECK(!parse_pid("1", &pid) && pid == 1, "1");
	CHECK(!parse_pid("2147483647", &pid) && pid == 2147483647, "2147483647");
	for (size_t i = 0; i < COUNT(bad); i++)
		CHECK(parse_pid(bad[i], &pid), "pid '%s' is taken", bad[i]);
	CHECK(parse_id("4294967295", &id) && id == U32_MAX, "largest id");
	CHECK(!parse_id("4294967296", &id) && !parse_id("a", &id), "bad ids");
	CHECK(!parse_id("", &id) && !parse_id("-1", &id) && !parse_id("1a", &id), "bad ids");
}

static void check_names(void)
{
	static const char *const good[] = {
		"a",
		"make",
		"make.1",
		"_",
		"-x",
		"x@y:z+1-2_3.4",
		"123456789.123456789.123456789.123456789.123456789.123456789.123",
	};
	static const char *const bad[] = {
		"",    ".",
		"..",  ".a",
		"a b", "a/b",
		"a\n", "\xc3\xa4",
		"a*",  "1",
		"123", "a,b",
		"a=b", "123456789.123456789.123456789.123456789.123456789.123456789.1234",
	};
	static const struct {
		const char *path, *name;
	} derived[] = {
		{ "make", "make" },
		{ "/usr/bin/make", "make" },
		{ "./a b", "a_b" },
		{ "x/", "_" },
		{ "", "_" },
		{ ".hidden", "_.hidden" },
		{ "7", "_7" },
		{ "7z", "7z" },
		{ "/opt/\xc3\xa4", "__" },
		{ "123456789.123456789.123456789.123456789.123456789.123456789.12345",
		  "123456789.123456789.123456789.123456789.123456789.123456789.123" },
	};
	char name[MTS_NAME_SIZE], numbered[MTS_NAME_SIZE];

	for (size_t i = 0; i < COUNT(good); i++)
		CHECK(!parse_job_name(good[i]), "'%s' is refused", good[i]);
	for (size_t i = 0; i < COUNT(bad); i++)
		CHECK(parse_job_name(bad[i]), "'%s' is taken", bad[i]);
	for (size_t i = 0; i < COUNT(derived); i++) {
		job_name_of(derived[i].path, name);
		CHECK(!strcmp(name, derived[i].name), "'%s' gives '%s'", derived[i].path, name);
	}
	job_name_numbered("make", 2, numbered);
	CHECK(!strcmp(numbered, "make-2"), "%s", numbered);
	job_name_of(derived[COUNT(derived) - 1].path, name);
	job_name_numbered(name, 4096, numbered);
	CHECK(strlen(numbered) == 63 && !strcmp(numbered + 58, "-4096"), "%s", numbered);
}

static void check_formats(void)
{
	static const struct {
		u64 value;
		const char *size, *time;
	} table[] = {
		{ 0, "0 B", "0 s" },
		{ 1, "1 B", "1 us" },
		{ 1023, "1023 B", "2 us" },
		{ 1024, "1.0 KiB", "2 us" },
		{ 999500, "976 KiB", "1000 us" },
		{ 1000000, "977 KiB", "1 ms" },
		{ 96 * MIB, "96.0 MiB", "101 ms" },
		{ 1048524, "1.0 MiB", "1 ms" },
		{ 104805171, "99.9 MiB", "105 ms" },
		{ 104857600, "100 MiB", "105 ms" },
		{ 999499999, "953 MiB", "999 ms" },
		{ 999500000, "953 MiB", "1.0 s" },
		{ 1300000000, "1.2 GiB", "1.3 s" },
		{ 59949999999, "55.8 GiB", "59.9 s" },
		{ 59950000000, "55.8 GiB", "1m 00s" },
		{ 125000000000, "116 GiB", "2m 05s" },
		{ 3599499999999, "3.3 TiB", "59m 59s" },
		{ 3599500000000, "3.3 TiB", "1h 00m" },
		{ 86400000000000, "78.6 TiB", "1d 00h" },
		{ U64_MAX, "16.0 EiB", "213503d" },
	};
	char a[FORMAT_SIZE];

	for (size_t i = 0; i < COUNT(table); i++) {
		CHECK(!strcmp(format_size(a, table[i].value), table[i].size), "%llu: %s, not %s",
		      table[i].value, a, table[i].size);
		CHECK(!strcmp(format_time(a, table[i].value), table[i].time), "%llu: %s, not %s",
		      table[i].value, a, table[i].time);
	}
	CHECK(!strcmp(format_name_short(a, 10, "0123456789"), "0123456789"), "%s", a);
	CHECK(!strcmp(format_name_short(a, 10, "0123456789a"), "0123..789a"), "%s", a);
	CHECK(!strcmp(format_name_short(a, 10, "\n\xff x"), "???x"), "%s", a);
	CHECK(!strcmp(format_name_weight(a, 12, "0123456789", 400), "01..89 [400]"), "%s", a);
	/* Fault: where the name had less than two columns left, it was copied from nowhere. */
	for (size_t i = 2; i <= 12; i++) {
		CHECK(strlen(format_name_weight(a, i, "0123456789", 10000)) <= i, "%zu: %s", i, a);
		CHECK(strlen(a) >= 2, "%zu: %s", i, a);
	}
}

static void check_users_of_cgroups(void)
{
	static const struct {
		const char *path;
		bool says;
		u32 uid;
	} table[] = {
		{ "/user.slice/user-1000.slice", true, 1000 },
		{ "/user.slice/user-1000.slice/session-3.scope", true, 1000 },
		{ "/user.slice/user-0.slice/session-1.scope", true, 0 },
		{ "/user.slice/user-4294967294.slice/a", true, 4294967294u },
		/* Where users make cgroups, they choose the names. */
		{ "/user.slice/user-1000.slice/user@1000.service/user-0.slice/a", true, 1000 },
		{ "/system.slice/user.slice/user-1000.slice/a", false, 0 },
		{ "/user.slice/user@1000.service/user-1001.slice", false, 0 },
		{ "/user.slice/user-4294967295.slice/a", false, 0 },
		{ "/user.slice/user-99999999999999999999.slice/a", false, 0 },
		{ "/user.slice/user-.slice/a", false, 0 },
		{ "/user.slice/user--1.slice/a", false, 0 },
		{ "/user.slice/user-1000x.slice/a", false, 0 },
		{ "/user.slice/user-1000.slices/a", false, 0 },
		{ "/user.slice/user-1000", false, 0 },
		{ "/user.slice", false, 0 },
		{ "/", false, 0 },
		{ "", false, 0 },
	};

	for (size_t i = 0; i < COUNT(table); i++) {
		u32 uid = 0;
		bool says = parse_user_of_cgroup(table[i].path, &uid);

		CHECK(says == table[i].says && uid == table[i].uid, "%s: %d, %u", table[i].path,
		      says, uid);
	}
}

/* xorshift64*: the same everywhere */
static u64 state = 0x9e3779b97f4a7c15;

static u64 next_random(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 2685821657736338717ull;
}

static void check_round_trips(void)
{
	char a[FORMAT_SIZE];

	for (u32 i = 1; i <= 1000; i++) {
		u32 back = 0;

		CHECK(!parse_permille(format_share(a, i), &back) && back == i, "%u: %s", i, a);
	}
	for (int i = 0; i < 200000; i++) {
		u64 value = next_random() >> (next_random() % 64), back = 0;

		value <<= next_random() % 30;
		CHECK(!parse_size(format_size_exact(a, value), &back) && back == value, "%llu: %s",
		      value, a);
		CHECK(!parse_time(format_time_exact(a, value), &back) && back == value, "%llu: %s",
		      value, a);
		CHECK(strlen(format_size(a, value)) <= 8, "%llu: %s", value, a);
		CHECK(strlen(format_time(a, value)) <= 8, "%llu: %s", value, a);
	}
}

/* Half of the bytes are such as occur in good input. */
static void check_random(void)
{
	static const char likely[] = "0123456789.xKMGTPiBbnumsh%-+ e";

	for (int i = 0; i < 1000000; i++) {
		/* Of its exact length, so that ASan sees a byte beyond. */
		size_t len = next_random() % 24;
		char *text = malloc(len + 1);
		char name[MTS_NAME_SIZE], numbered[MTS_NAME_SIZE];
		u64 value = 1;
		u32 count = 1;
		pid_t pid = 1;

		if (!text)
			abort();
		for (size_t j = 0; j < len; j++)
			text[j] = next_random() % 2 ? (char)next_random() :
						      likely[next_random() % (sizeof(likely) - 1)];
		text[len] = '\0';
		if (parse_size(text, &value))
			CHECK(value == 1, "%s", text);
		value = 1;
		if (parse_size_or_share(text, 1000, &value))
			CHECK(value == 1, "%s", text);
		value = 1;
		if (parse_time(text, &value))
			CHECK(value == 1, "%s", text);
		value = 1;
		if (parse_interval(text, &value))
			CHECK(value == 1, "%s", text);
		value = 1;
		if (parse_permille(text, &count))
			CHECK(count == 1, "%s", text);
		parse_size_count(text, &value, &count);
		parse_pid(text, &pid);
		parse_id(text, &count);
		parse_job_name(text);
		job_name_of(text, name);
		CHECK(!parse_job_name(name), "'%s' gives '%s'", text, name);
		job_name_numbered(name, next_random(), numbered);
		free(text);
	}
}

static void print_value(const char *wrong, const u64 *value)
{
	if (wrong)
		printf("- ");
	else
		printf("%llu ", *value);
}

static void print_number(const char *wrong, const u32 *value)
{
	u64 wide = *value;

	print_value(wrong, &wide);
}

/* Pointers, as a compiler may read an argument before it calls the parser in front of it. */
static void print_results(const char *text)
{
	u32 count = 0, id = 0;
	u64 value = 0;
	pid_t pid = 0;

	print_value(parse_size(text, &value), &value);
	print_value(parse_size_or_share(text, 1000000007, &value), &value);
	print_number(parse_permille(text, &count), &count);
	print_value(parse_time(text, &value), &value);
	print_value(parse_interval(text, &value), &value);
	print_number(parse_count(text, 1000, &count), &count);
	print_number(parse_pid(text, &pid), (const u32 *)&pid);
	print_number(parse_id(text, &id) ? NULL : "not an id", &id);
	if (parse_size_count(text, &value, &count))
		printf("-\n");
	else
		printf("%llux%u\n", value, count);
}

static int print_lines(void)
{
	size_t room = 0;
	char *line = NULL;
	ssize_t length;

	while ((length = getline(&line, &room, stdin)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		print_results(line);
	}
	free(line);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--print"))
		return print_lines();
	check_table("size", parse_size, sizes, COUNT(sizes), bad_sizes, COUNT(bad_sizes));
	check_table("time", parse_time, times, COUNT(times), bad_times, COUNT(bad_times));
	check_intervals();
	check_shares();
	check_permille();
	check_counts();
	check_ids();
	check_names();
	check_users_of_cgroups();
	check_formats();
	check_round_trips();
	check_random();
	if (failures)
		printf("%d checks failed\n", failures);
	return failures != 0;
}
