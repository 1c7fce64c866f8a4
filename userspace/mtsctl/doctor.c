// SPDX-License-Identifier: GPL-2.0
/* mtsctl doctor: runs the checks and shows what they have found. */
#include "doctor.h"
#include "host_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format.h"
#include "ipc.h"
#include "mtsctl.h"

static const char *const level_words[] = {
	[FINDING_OK] = "ok",
	[FINDING_NOTE] = "note",
	[FINDING_PROBLEM] = "problem",
};

/* What a check needs to know comes before it. */
static void (*const checks[])(struct doctor *) = {
	doctor_check_kernel,  doctor_check_module,  doctor_check_signature, doctor_check_device,
	doctor_check_cgroups, doctor_check_swap,    doctor_check_pressure,  doctor_check_turns,
	doctor_check_pauses,  doctor_check_killers,
};

/* Files hold what users and other programs wrote: nothing of it reaches the terminal as it is. */
static void print_clean(char text[FINDING_SIZE], const char *format, va_list args)
{
	char raw[FINDING_SIZE];

	vsnprintf(raw, sizeof(raw), format, args);
	format_text(text, FINDING_SIZE, raw);
}

void doctor_find(struct doctor *doctor, enum finding_level level, const char *check,
		 const char *format, ...)
{
	struct finding *finding = &doctor->findings[doctor->nfindings];
	va_list args;

	if (doctor->nfindings == FINDINGS_MAX)
		return;
	doctor->nfindings++;
	finding->level = level;
	finding->check = check;
	va_start(args, format);
	print_clean(finding->found, format, args);
	va_end(args);
}

void doctor_advise(struct doctor *doctor, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_clean(doctor->findings[doctor->nfindings - 1].remedy, format, args);
	va_end(args);
}

enum finding_level doctor_module_level(const struct doctor *doctor)
{
	return doctor->by_mtsd ? FINDING_NOTE : FINDING_PROBLEM;
}

static u32 count(const struct doctor *doctor, enum finding_level level)
{
	u32 n = 0;

	for (u32 i = 0; i < doctor->nfindings; i++)
		n += doctor->findings[i].level == level;
	return n;
}

static void show(const struct doctor *doctor)
{
	for (u32 i = 0; i < doctor->nfindings; i++) {
		const struct finding *finding = &doctor->findings[i];

		printf("%-8s %-9s %s%s%s\n", level_words[finding->level], finding->check,
		       finding->found, *finding->remedy ? " -> " : "", finding->remedy);
	}
}

static int show_json(const struct doctor *doctor)
{
	json_t *root = json_root(), *findings = json_array();

	for (u32 i = 0; i < doctor->nfindings; i++) {
		const struct finding *finding = &doctor->findings[i];
		json_t *object = json_object();

		json_put(&object, "level", json_string(level_words[finding->level]));
		json_put(&object, "check", json_string(finding->check));
		json_put(&object, "found", json_string(finding->found));
		json_put(&object, "remedy",
			 *finding->remedy ? json_string(finding->remedy) : json_null());
		json_append(&findings, object);
	}
	json_put(&root, "problems", json_u64(count(doctor, FINDING_PROBLEM)));
	json_put(&root, "notes", json_u64(count(doctor, FINDING_NOTE)));
	json_put(&root, "findings", findings);
	return json_print(root);
}

/* What answers, and what it says of itself. */
static void ask(struct doctor *doctor)
{
	int err;

	doctor->wants_mtsd = strcmp(ipc_name(), MTS_DEVICE);
	doctor->is_loaded = host_file_exists("/sys/module/mts");
	err = ipc_open();
	if (!err)
		err = ipc_status(&doctor->status);
	if (!err)
		err = ipc_config_get(&doctor->config);
	if (!err)
		err = ipc_disk(&doctor->disk);
	doctor->open_error = err;
	doctor->by_mtsd =
		doctor->wants_mtsd || (!err && doctor->status.sees & MTS_SEES_BY_USERSPACE);
}

int doctor_main(const struct command *command, int argc, char **argv)
{
	struct doctor doctor = { 0 };
	bool json = false;
	int ret;

	ret = simple_options(command, argc, argv, &json);
	if (ret != OPTION_END)
		return ret;
	if (optind != argc)
		return usage_error(command, "unexpected '%s'", argv[optind]);
	ask(&doctor);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](&doctor);
	if (json)
		ret = show_json(&doctor);
	else
		show(&doctor);
	if (json && ret)
		return ret;
	return count(&doctor, FINDING_PROBLEM) ? EXIT_FAILED : EXIT_OK;
}
