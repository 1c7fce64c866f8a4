// SPDX-License-Identifier: GPL-2.0
#include "policy/size.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The power of two that the letter stands for; 0: none. */
static u32 shift_of(char letter)
{
	static const char units[] = "kmgtpe";
	u32 i;

	for (i = 0; units[i]; i++)
		if ((letter | 0x20) == units[i])
			return 10 * (i + 1);
	return 0;
}

int mts_size_parse(const char *text, u64 *bytes)
{
	bool too_large = false;
	u32 shift = 0, digit;
	u64 value = 0;

	if (!is_digit(*text))
		return -EINVAL;
	for (; is_digit(*text); text++) {
		digit = *text - '0';
		too_large |= value > (U64_MAX - digit) / 10;
		value = 10 * value + digit;
	}
	if (*text) {
		shift = shift_of(*text++);
		if (!shift || *text)
			return -EINVAL;
	}
	if (too_large || value > U64_MAX >> shift)
		return -ERANGE;
	*bytes = value << shift;
	return 0;
}
