// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "accounts.h"
#include "cgroup.h"
#include "format.h"
#include "parse.h"
#include "values.h"

#define SPEED_MIN_BYTES (1ull << 20)
#define SPEED_MAX_BYTES (1ull << 40)

int value_word(const struct command *command, const char *what, const char *value,
	       const struct word *words, u32 *field)
{
	char list[128];

	if (word_value(words, value, field))
		return EXIT_OK;
	return usage_error(command, "%s%s: not one of %s", what, value,
			   word_list(words, list, sizeof(list)));
}

int value_time(const struct command *command, const char *what, const char *value, u64 min, u64 max,
	       u64 *field)
{
	char from[FORMAT_SIZE], to[FORMAT_SIZE];
	const char *wrong;
	u64 ns;

	wrong = parse_time(value, &ns);
	if (wrong)
		return usage_error(command, "%s%s: %s", what, value, wrong);
	if (ns < min || ns > max)
		return usage_error(command, "%s%s: not between %s and %s", what, value,
				   format_time_exact(from, min), format_time_exact(to, max));
	*field = ns;
	return EXIT_OK;
}

int value_pause(const struct command *command, const char *what, const char *value, u64 *field)
{
	if (strcmp(value, "auto"))
		return value_time(command, what, value, MTS_PAUSE_MIN_NS, MTS_PAUSE_MAX_NS, field);
	*field = 0;
	return EXIT_OK;
}

int value_limit(const struct command *command, const char *what, const char *value, u64 *field)
{
	if (strcmp(value, "off"))
		return value_time(command, what, value, MTS_PAUSE_MIN_NS, MTS_PAUSE_MAX_NS, field);
	*field = 0;
	return EXIT_OK;
}

int value_interval(const struct command *command, const char *what, const char *value, u64 *field)
{
	const char *wrong;
	u64 ns;

	wrong = parse_interval(value, &ns);
	if (wrong)
		return usage_error(command, "%s%s: %s", what, value, wrong);
	if (ns < VALUE_INTERVAL_MIN_NS || ns > VALUE_INTERVAL_MAX_NS)
		return usage_error(command, "%s%s: not between 10ms and 24h", what, value);
	*field = ns;
	return EXIT_OK;
}

int value_memory(const struct command *command, const char *what, const char *value, u64 *field)
{
	u64 total = 0, available, bytes;
	const char *wrong;
	int ret;

	if (strchr(value, '%')) {
		ret = host_memory(&total, &available);
		if (ret) {
			complain("%s%s: /proc/meminfo: %s: give a size", what, value,
				 strerror(-ret));
			return EXIT_FAILED;
		}
	}
	wrong = parse_size_or_share(value, total, &bytes);
	if (wrong)
		return usage_error(command, "%s%s: %s", what, value, wrong);
	if (bytes < MTS_BIN_MIN_BYTES || bytes > MTS_BIN_MAX_BYTES)
		return usage_error(command, "%s%s: not between 1M and 1P", what, value);
	*field = bytes;
	return EXIT_OK;
}

int value_step(const struct command *command, const char *what, const char *value, u32 *field)
{
	static const struct word words[] = {
		{ "bin", MTS_STEP_BIN, NULL },
		{ "auto", MTS_STEP_AUTO, NULL },
		{ 0 },
	};
	const char *wrong;
	u64 bytes;

	if (word_value(words, value, field))
		return EXIT_OK;
	wrong = parse_size(value, &bytes);
	if (wrong)
		return usage_error(command, "%s%s: not bin, auto or a size: %s", what, value,
				   wrong);
	if (bytes < 1 << 20 || bytes >> 20 > MTS_STEP_MIB_MAX)
		return usage_error(command, "%s%s: not between 1M and 1P", what, value);
	if (bytes % (1 << 20))
		return usage_error(command, "%s%s: not in whole MiB", what, value);
	*field = bytes >> 20;
	return EXIT_OK;
}

int value_each(const struct command *command, const char *value, u32 *flags)
{
	static const struct word words[] = {
		{ "leaf", MTS_JOB_EACH_LEAF, NULL },
		{ "child", MTS_JOB_EACH, NULL },
		{ 0 },
	};
	u32 flag = MTS_JOB_EACH_LEAF;

	if (value && value_word(command, "--each=", value, words, &flag))
		return EXIT_USAGE;
	*flags = (*flags & ~(MTS_JOB_EACH | MTS_JOB_EACH_LEAF)) | flag;
	return EXIT_OK;
}

int value_speed(const struct command *command, const char *what, const char *value, u64 *field)
{
	const char *wrong;
	u64 bytes;

	wrong = parse_size(value, &bytes);
	if (wrong)
		return usage_error(command, "%s%s: %s", what, value, wrong);
	if (bytes < SPEED_MIN_BYTES || bytes > SPEED_MAX_BYTES)
		return usage_error(command, "%s%s: not between 1M and 1T a second", what, value);
	*field = bytes;
	return EXIT_OK;
}

int value_share(const struct command *command, const char *what, const char *value, u32 max,
		u32 *field)
{
	char to[FORMAT_SIZE];
	const char *wrong;
	u32 permille;

	if (!strcmp(value, "off")) {
		*field = 0;
		return EXIT_OK;
	}
	wrong = parse_permille(value, &permille);
	if (wrong)
		return usage_error(command, "%s%s: %s", what, value, wrong);
	if (permille > max)
		return usage_error(command, "%s%s: not between 0%% and %s", what, value,
				   format_share(to, max));
	*field = permille;
	return EXIT_OK;
}

int value_count(const struct command *command, const char *what, const char *value, u32 max,
		u32 *field)
{
	const char *wrong = parse_count(value, max, field);

	if (wrong)
		return usage_error(command, "%s%s: %s: a whole number from 1 to %u", what, value,
				   wrong, max);
	return EXIT_OK;
}

int value_user(const struct command *command, const char *what, const char *value, u32 *field)
{
	if (account_user(value, field) && *field != MTS_USER_NONE)
		return EXIT_OK;
	return usage_error(command,
			   "%s%s: this host has no user '%s': write its name or its number", what,
			   value, value);
}

int value_weight(const struct command *command, const char *what, const char *value, u32 *field)
{
	return value_count(command, what, value, MTS_WEIGHT_MAX, field);
}
