// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "mtsd/users_load.h"

#include <unistd.h>

#include "context.h"
#include "mtsctl/accounts.h"
#include "mtsctl/conf_file.h"
#include "mtsctl/conf_files.h"
#include "mtsctl/users_conf.h"

struct reading {
	struct users_conf conf;
	bool is_users; /* the section that is read */
	unsigned int errors;
};

/* Of the files of mtsctl that are compiled into mtsd. */
void complain_at(const struct place *place, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (place->line)
		pr_err("%s:%u: %s\n", place->file, place->line, text);
	else
		pr_err("%s: %s\n", place->file, text);
}

static bool on_section(void *user, const struct place *place, const char *name)
{
	struct reading *reading = user;

	reading->is_users = !strcmp(name, "users");
	return true;
}

/* Other sections are mtsctl's, which says what is wrong there. */
static bool on_key(void *user, const struct place *place, const char *key, const char *value)
{
	struct reading *reading = user;
	const char *wrong;

	if (!reading->is_users)
		return true;
	if (!users_conf_origin(&reading->conf, key))
		wrong = "unknown: keys of [users] are " USERS_KEYS;
	else
		wrong = users_conf_take(&reading->conf, key, value);
	if (wrong)
		complain_at(place, "%s=%s: %s", key, value, wrong);
	return !wrong;
}

static int on_file(void *user, const char *path)
{
	struct reading *reading = user;
	const struct conf_events events = { on_section, on_key, reading };

	reading->is_users = false;
	return conf_file_read(path, &events, &reading->errors);
}

static u64 host_bytes(void)
{
	return (u64)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

bool users_load(const char *folder, struct users_rules *rules)
{
	struct reading reading = { .conf = USERS_CONF_DEFAULT };
	const struct users_conf *conf = &reading.conf;

	if (conf_files_each(folder, on_file, &reading) || reading.errors) {
		pr_err("the section [users] of %s is not read: mtsctl config check says more\n",
		       folder);
		return false;
	}
	*rules = (struct users_rules){
		.limits = { .jobs = conf->jobs,
			    .pins = conf->pins,
			    .queue = conf->queue,
			    .size = host_bytes() / 2,
			    .max_pause_ns = conf->max_pause_ns },
	};
	if (*conf->group)
		rules->has_group = account_group(conf->group, &rules->group);
	if (*conf->group && !rules->has_group)
		pr_notice("there is no group %s: only root may change anything. Once it is there: "
			  "systemctl reload mtsd, or mts-users\n",
			  conf->group);
	return true;
}
