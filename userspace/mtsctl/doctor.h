/* SPDX-License-Identifier: GPL-2.0 */
/* mtsctl doctor: what keeps the module from loading, or jobs from taking turns. */
#ifndef MTSCTL_DOCTOR_H
#define MTSCTL_DOCTOR_H

#include <limits.h>
#include <stdbool.h>

#include "policy/pure.h"
#include "uapi/mts.h"

#define FINDING_SIZE 256
#define FINDINGS_MAX 24
#define RELEASE_SIZE 65 /* as in struct utsname */

enum finding_level {
	FINDING_OK,
	FINDING_NOTE, /* worth knowing; mts works */
	FINDING_PROBLEM,
};

/**
 * struct finding - the result of one check
 * @check: what was checked, a word
 * @found: printable ASCII
 * @remedy: what to do; empty: nothing
 */
struct finding {
	enum finding_level level;
	const char *check;
	char found[FINDING_SIZE];
	char remedy[FINDING_SIZE];
};

/**
 * struct doctor - what the checks know and have found
 * @by_mtsd: mtsd answers, or the user asks for mtsd: the module is not needed
 * @wants_mtsd: the user asks for mtsd
 * @is_loaded: the module
 * @open_error: negative errno of opening the device or socket; 0: it answers, and the next three
 *	are known
 */
struct doctor {
	struct finding findings[FINDINGS_MAX];
	u32 nfindings;
	bool by_mtsd;
	bool wants_mtsd;
	bool is_loaded;
	int open_error;
	struct mts_status status;
	struct mts_config config;
	struct mts_disk_info disk;
};

/* Adds a finding. */
void doctor_find(struct doctor *doctor, enum finding_level level, const char *check,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* What to do about the last finding. */
void doctor_advise(struct doctor *doctor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What the module needs, and mtsd does not: then it is only a note. */
enum finding_level doctor_module_level(const struct doctor *doctor);

/* The kernel that runs; empty: not known. */
void doctor_read_release(char release[RELEASE_SIZE]);

/* The module that modprobe would load, below the folder of the release. */
bool doctor_find_module(const char *release, char module[PATH_MAX]);

/* DKMS can build it. */
bool doctor_has_dkms_sources(void);

/* The checks. */
void doctor_check_kernel(struct doctor *doctor);
void doctor_check_module(struct doctor *doctor);
void doctor_check_signature(struct doctor *doctor);
void doctor_check_device(struct doctor *doctor);
void doctor_check_turns(struct doctor *doctor);
void doctor_check_cgroups(struct doctor *doctor);
void doctor_check_pressure(struct doctor *doctor);
void doctor_check_swap(struct doctor *doctor);
void doctor_check_pauses(struct doctor *doctor);
void doctor_check_killers(struct doctor *doctor);

#endif /* MTSCTL_DOCTOR_H */
