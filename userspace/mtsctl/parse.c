// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "parse.h"

/* Independent of the locale. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Without this check, 0x10 would be a 0 with an unknown unit, or 10 jobs of 0 bytes. */
static bool is_hexadecimal(const char *text)
{
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

static const char *parse_digits(const char **text, u64 *value)
{
	const char *p = *text;
	u64 v = 0;

	if (*p == '\0')
		return "a value is missing";
	if (*p == '-')
		return "negative values make no sense here";
	if (!is_digit(*p))
		return "not a number";
	if (is_hexadecimal(p))
		return "hexadecimal numbers are not understood: write decimal ones";
	for (; is_digit(*p); p++) {
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
			return "too large";
	}
	*text = p;
	*value = v;
	return NULL;
}

/* whole + part / scale */
struct decimal {
	u64 whole;
	u64 part;
	u64 scale;
};

static const char *parse_decimal(const char **text, struct decimal *d)
{
	const char *wrong = parse_digits(text, &d->whole);
	int digits = 0;

	if (wrong)
		return wrong;
	d->part = 0;
	d->scale = 1;
	if (**text != '.')
		return NULL;
	for ((*text)++; is_digit(**text); (*text)++) {
		if (++digits > 18)
			return "too many digits after the point";
		d->part = d->part * 10 + (**text - '0');
		d->scale *= 10;
	}
	return digits ? NULL : "digits are missing after the point";
}

/* Rounds down to a whole number; a fraction of the unit 1 is refused. */
static const char *decimal_times(const struct decimal *d, u64 unit, u64 *value)
{
	unsigned __int128 v = (unsigned __int128)d->whole * unit;

	if (unit == 1 && d->part)
		return "not a whole number";
	v += (unsigned __int128)d->part * unit / d->scale;
	if (v > U64_MAX)
		return "too large";
	*value = v;
	return NULL;
}

static const char *size_unit(const char *text, u64 *unit)
{
	static const char letters[] = "kmgtp";
	const char *found;

	*unit = 1;
	if (!*text || !strcasecmp(text, "b"))
		return NULL;
	found = strchr(letters, *text | 0x20);
	if (is_letter(*text) && found) {
		*unit = 1ull << (10 * (found - letters + 1));
		if (!text[1] || !strcasecmp(text + 1, "i") || !strcasecmp(text + 1, "ib"))
			return NULL;
		if (!strcasecmp(text + 1, "b"))
			return "decimal units are not understood: write K, M, G, T or P "
			       "(powers of 1024)";
	}
	return "unknown unit: write K, M, G, T or P (powers of 1024), as in 96M or 1.5G";
}

const char *parse_size(const char *text, u64 *bytes)
{
	struct decimal d;
	const char *wrong;
	u64 unit;

	wrong = parse_decimal(&text, &d);
	if (!wrong)
		wrong = size_unit(text, &unit);
	return wrong ? wrong : decimal_times(&d, unit, bytes);
}

const char *parse_size_or_share(const char *text, u64 total, u64 *bytes)
{
	size_t len = strlen(text);
	struct decimal d;
	const char *wrong;

	if (!len || text[len - 1] != '%')
		return parse_size(text, bytes);
	wrong = parse_decimal(&text, &d);
	if (wrong)
		return wrong;
	if (strcmp(text, "%"))
		return "not a percentage: write 40%";
	if (!d.whole && !d.part)
		return "0% is no memory";
	if (d.whole > 100 || (d.whole == 100 && d.part))
		return "more than 100%";
	*bytes = (unsigned __int128)total * d.whole / 100 +
		 (unsigned __int128)total * d.part / d.scale / 100;
	return NULL;
}

const char *parse_permille(const char *text, u32 *permille)
{
	struct decimal d;
	const char *wrong;

	wrong = parse_decimal(&text, &d);
	if (wrong)
		return wrong;
	if (strcmp(text, "%"))
		return "not a percentage: write 5% or 2.5%";
	if (d.whole > 100 || (d.whole == 100 && d.part))
		return "more than 100%";
	if (d.part * 10 % d.scale)
		return "finer than steps of 0.1%";
	*permille = d.whole * 10 + d.part * 10 / d.scale;
	return NULL;
}

const char *parse_size_count(const char *text, u64 *bytes, u32 *count)
{
	const char *x = strchr(text, 'x');
	const char *wrong;
	char size[64];
	u64 number = 1;
	u64 b = 0;

	if (is_hexadecimal(text))
		return "hexadecimal numbers are not understood, and a job of 0 bytes makes no "
		       "sense: write 6G or 6Gx10";
	if (x == text)
		return "the size is missing in front of the x: write 6Gx10";
	if (x && !x[1])
		return "the count is missing behind the x: write 6Gx10";
	if (!x) {
		wrong = parse_size(text, &b);
	} else {
		if ((size_t)(x - text) >= sizeof(size))
			return "too long";
		memcpy(size, text, x - text);
		size[x - text] = '\0';
		wrong = parse_size(size, &b);
		if (wrong)
			return wrong;
		x++;
		wrong = parse_digits(&x, &number);
		if (!wrong && *x)
			wrong = "not a count after the x: write 6Gx10";
		if (!wrong && !number)
			wrong = "a count of 0";
		if (!wrong && number > MTS_MAX_JOBS)
			wrong = "more jobs than the module takes";
	}
	if (!wrong && !b)
		wrong = "a job of 0 bytes: write a size above 0, as in 6G or 6Gx10";
	if (wrong)
		return wrong;
	*bytes = b;
	*count = number;
	return NULL;
}

static const char *decimal_time(const struct decimal *d, const char *unit, u64 *ns)
{
	static const struct {
		const char *name;
		u64 ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "m", 60000000000 },
		{ "min", 60000000000 },
		{ "h", 3600000000000 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].name))
			return decimal_times(d, units[i].ns, ns);
	return "unknown unit: write ns, us, ms, s, m (minutes) or h, as in 2s or 500ms";
}

const char *parse_time(const char *text, u64 *ns)
{
	struct decimal d;
	const char *wrong;

	wrong = parse_decimal(&text, &d);
	if (wrong)
		return wrong;
	if (!*text)
		return "the unit is missing: write 2s or 500ms";
	return decimal_time(&d, text, ns);
}

const char *parse_interval(const char *text, u64 *ns)
{
	struct decimal d;
	const char *wrong;

	wrong = parse_decimal(&text, &d);
	return wrong ? wrong : decimal_time(&d, *text ? text : "s", ns);
}

/* A whole number from 1 to max, with nothing after it. */
static const char *parse_whole(const char *text, u64 max, u64 *value, const char *not_one,
			       const char *out_of_range)
{
	const char *wrong = parse_digits(&text, value);

	if (wrong)
		return wrong;
	if (*text)
		return not_one;
	return *value && *value <= max ? NULL : out_of_range;
}

const char *parse_pid(const char *text, pid_t *pid)
{
	const char *wrong;
	u64 value;

	wrong = parse_whole(text, INT_MAX, &value, "not a process id", "no process has this id");
	if (!wrong)
		*pid = value;
	return wrong;
}

const char *parse_count(const char *text, u32 max, u32 *count)
{
	const char *wrong;
	u64 value;

	wrong = parse_whole(text, max, &value, "not a number", "out of range");
	if (!wrong)
		*count = value;
	return wrong;
}

bool parse_id(const char *text, u32 *id)
{
	u64 value;

	if (parse_digits(&text, &value) || *text || value > U32_MAX)
		return false;
	*id = value;
	return true;
}

bool parse_user_of_cgroup(const char *path, u32 *uid)
{
	static const char top[] = "/user.slice/user-", end[] = ".slice";
	u64 value;

	if (strncmp(path, top, strlen(top)))
		return false;
	path += strlen(top);
	if (parse_digits(&path, &value) || value >= U32_MAX || strncmp(path, end, strlen(end)) ||
	    (path[strlen(end)] && path[strlen(end)] != '/'))
		return false;
	*uid = value;
	return true;
}

static bool name_char(char c)
{
	return is_letter(c) || is_digit(c) || (c && strchr("._@:+-", c));
}

bool all_digits(const char *text)
{
	return text[strspn(text, "0123456789")] == '\0';
}

const char *parse_job_name(const char *text)
{
	if (!*text)
		return "an empty name";
	if (*text == '.')
		return "a name cannot start with a dot";
	for (const char *p = text; *p; p++)
		if (!name_char(*p))
			return "a name is made of letters, digits and . _ @ : + -";
	if (strlen(text) >= MTS_NAME_SIZE)
		return "longer than 63 characters";
	if (all_digits(text))
		return "a name of digits alone would be taken for an id";
	return NULL;
}

void job_name_of(const char *path, char name[MTS_NAME_SIZE])
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	size_t n = 0;

	/* Also for the empty name, which execvp() will refuse. */
	if (all_digits(base) || *base == '.')
		name[n++] = '_';
	for (; *base && n < MTS_NAME_SIZE - 1; base++)
		name[n++] = name_char(*base) ? *base : '_';
	name[n] = '\0';
}

void job_name_numbered(const char *name, u32 number, char out[MTS_NAME_SIZE])
{
	char suffix[16];
	int len = snprintf(suffix, sizeof(suffix), "-%u", number);

	snprintf(out, MTS_NAME_SIZE, "%.*s%s", MTS_NAME_SIZE - 1 - len, name, suffix);
}
