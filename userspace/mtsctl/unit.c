// SPDX-License-Identifier: GPL-2.0
#include "unit.h"

#include <stdio.h>
#include <string.h>

static bool is_unit(const char *name, size_t length)
{
	static const char *const suffixes[] = { ".service", ".scope", ".slice",
						".socket",  ".mount", ".swap" };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t of = strlen(suffixes[i]);

		if (length > of && !memcmp(name + length - of, suffixes[i], of))
			return true;
	}
	return false;
}

bool unit_of_path(const char *path, char unit[NAME_MAX + 1])
{
	const char *end = path + strlen(path);

	while (end > path) {
		const char *name = end;

		while (name > path && name[-1] != '/')
			name--;
		if (is_unit(name, end - name)) {
			/* systemd escapes names like those of the kernel's files so. */
			name += *name == '_';
			snprintf(unit, NAME_MAX + 1, "%.*s", (int)(end - name), name);
			return true;
		}
		end = name > path ? name - 1 : path;
	}
	return false;
}
