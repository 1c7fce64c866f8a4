// SPDX-License-Identifier: GPL-2.0
/* mtsctl doctor: the kernel, the module and its device. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "host.h"
#include "host_file.h"
#include "ipc.h"
#include "version.h"

/* The first line of a file; empty: it cannot be read. */
static void read_line(char *line, size_t size, const char *path)
{
	const char *text = host_file_read("%s", path);

	snprintf(line, size, "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
}

void doctor_read_release(char release[RELEASE_SIZE])
{
	read_line(release, RELEASE_SIZE, "/proc/sys/kernel/osrelease");
}

/* 6.1 and newer: module/compat/compat.h. */
static bool is_too_old(const char *release)
{
	unsigned int major, minor;

	return sscanf(release, "%u.%u", &major, &minor) == 2 &&
	       (major < 6 || (major == 6 && minor < 1));
}

void doctor_check_kernel(struct doctor *doctor)
{
	char release[RELEASE_SIZE], version[128];

	if (doctor->wants_mtsd)
		return;
	doctor_read_release(release);
	read_line(version, sizeof(version), "/proc/sys/kernel/version");
	if (is_too_old(release)) {
		doctor_find(doctor, doctor_module_level(doctor), "kernel",
			    "%s: the module needs Linux 6.1 or newer", release);
		doctor_advise(doctor, "boot a newer kernel, or use mtsd: systemctl start mtsd");
	} else if (!doctor->is_loaded && strstr(version, "PREEMPT_RT")) {
		doctor_find(doctor, doctor_module_level(doctor), "kernel",
			    "%s is a PREEMPT_RT kernel, where mts is not tested enough", release);
		doctor_advise(doctor, "boot another kernel, or at your own risk: "
				      "modprobe mts rt=1");
	} else {
		doctor_find(doctor, FINDING_OK, "kernel", "%s", release);
	}
}

/* ---- where the module is -------------------------------------------------------- */

static const char *const suffixes[] = { "", ".xz", ".zst", ".gz" };

#define N_SUFFIXES (sizeof(suffixes) / sizeof(suffixes[0]))

/* Is it the path of mts.ko, packed or not? */
static bool is_module(const char *path, size_t length)
{
	const char *name = memrchr(path, '/', length);
	size_t rest;

	name = name ? name + 1 : path;
	rest = path + length - name;
	for (size_t i = 0; i < N_SUFFIXES; i++)
		if (rest == strlen("mts.ko") + strlen(suffixes[i]) &&
		    !strncmp(name, "mts.ko", strlen("mts.ko")) &&
		    !strncmp(name + strlen("mts.ko"), suffixes[i], strlen(suffixes[i])))
			return true;
	return false;
}

bool doctor_find_module(const char *release, char module[PATH_MAX])
{
	char path[PATH_MAX], *line = NULL;
	bool found = false;
	size_t room = 0;
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/lib/modules/%s/modules.dep", host_root(), release) >=
	    PATH_MAX)
		return false;
	file = fopen(path, "re");
	while (file && !found && getline(&line, &room, file) > 0) {
		size_t length = strcspn(line, ":");

		found = line[length] && length < PATH_MAX && is_module(line, length);
		if (found)
			snprintf(module, PATH_MAX, "%.*s", (int)length, line);
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

/* Where `make install` and DKMS of Debian, of Fedora and of Arch put it. */
static bool is_unknown_to_depmod(const char *release)
{
	static const char *const folders[] = { "updates", "updates/dkms", "extra" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		for (size_t k = 0; k < N_SUFFIXES; k++)
			if (host_file_exists("/lib/modules/%s/%s/mts.ko%s", release, folders[i],
					     suffixes[k]))
				return true;
	return false;
}

bool doctor_has_dkms_sources(void)
{
	return host_file_exists("/usr/src/mts-" MTS_VERSION "/dkms.conf");
}

static void find_missing(struct doctor *doctor, const char *release)
{
	enum finding_level level = doctor_module_level(doctor);

	if (is_unknown_to_depmod(release)) {
		doctor_find(doctor, level, "module",
			    "installed for %s, but modprobe does not "
			    "know it",
			    release);
		doctor_advise(doctor, "depmod -a %s; modprobe mts", release);
	} else if (!host_file_exists("/lib/modules/%s/build/Makefile", release)) {
		doctor_find(doctor, level, "module", "not built for %s, whose headers are missing",
			    release);
		doctor_advise(doctor,
			      "install them (Debian: linux-headers-%s, Fedora: "
			      "kernel-devel-%s), then %s; or use mtsd",
			      release, release,
			      doctor_has_dkms_sources() ? "dkms autoinstall" :
							  "make && make install");
	} else if (doctor_has_dkms_sources()) {
		doctor_find(doctor, level, "module", "not built for %s", release);
		doctor_advise(doctor,
			      "dkms install mts/" MTS_VERSION " -k %s; if that fails: "
			      "/var/lib/dkms/mts/" MTS_VERSION "/build/make.log",
			      release);
	} else {
		doctor_find(doctor, level, "module", "not installed for %s", release);
		doctor_advise(doctor, "install the package mts-dkms, or in the sources: "
				      "make && make install; or use mtsd");
	}
}

/* Until the next boot. */
static bool is_disabled(void)
{
	const char *text = host_file_read("/proc/sys/kernel/modules_disabled");

	return text && *text == '1';
}

void doctor_check_module(struct doctor *doctor)
{
	char release[RELEASE_SIZE], version[64], module[PATH_MAX];

	if (doctor->wants_mtsd)
		return;
	if (doctor->is_loaded) {
		read_line(version, sizeof(version), "/sys/module/mts/version");
		doctor_find(doctor, FINDING_OK, "module", "loaded, version %s", version);
		return;
	}
	if (!host_file_exists("/proc/modules")) {
		doctor_find(doctor, doctor_module_level(doctor), "module",
			    "this kernel loads no modules (CONFIG_MODULES)");
		doctor_advise(doctor, "boot another kernel, or use mtsd");
		return;
	}
	if (is_disabled()) {
		doctor_find(doctor, doctor_module_level(doctor), "module",
			    "not loaded, and kernel.modules_disabled=1: no module can be loaded "
			    "until the next boot");
		doctor_advise(doctor, "load mts before that is set, or use mtsd");
		return;
	}
	doctor_read_release(release);
	if (!doctor_find_module(release, module)) {
		find_missing(doctor, release);
		return;
	}
	doctor_find(doctor, doctor_module_level(doctor), "module", "installed (%.120s), not loaded",
		    module);
	doctor_advise(doctor, "modprobe mts; if that fails: dmesg | grep mts");
}

/* ---- its device ----------------------------------------------------------------- */

static void find_abi(struct doctor *doctor)
{
	u32 abi = doctor->status.abi;
	const char *name = doctor->by_mtsd ? "mtsd" : "the module";

	if (abi == MTS_ABI_VERSION) {
		doctor_find(doctor, FINDING_OK, "device", "%s answers %s, ABI %u", name,
			    doctor->by_mtsd ? "mtsctl" : MTS_DEVICE, abi);
		return;
	}
	doctor_find(doctor, FINDING_NOTE, "device",
		    "%s has ABI %u, and mtsctl has %u: what only the newer one knows does not work",
		    name, abi, MTS_ABI_VERSION);
	if (abi > MTS_ABI_VERSION)
		doctor_advise(doctor, "install the mtsctl of the same version");
	else if (doctor->by_mtsd)
		doctor_advise(doctor, "systemctl restart mtsd: all turns end");
	else
		doctor_advise(doctor, "rmmod mts && modprobe mts: all turns end");
}

static void find_no_mtsd(struct doctor *doctor)
{
	doctor_find(doctor, FINDING_PROBLEM, "device", "%.160s: no mtsd answers: %s", ipc_name(),
		    strerror(-doctor->open_error));
	doctor_advise(doctor, "systemctl start mtsd; of a user: systemctl --user start mtsd");
}

void doctor_check_device(struct doctor *doctor)
{
	switch (doctor->open_error) {
	case 0:
		find_abi(doctor);
		return;
	case -EACCES:
	case -EPERM:
		if (host_is_root()) {
			doctor_find(doctor, FINDING_PROBLEM, "device",
				    "%.160s: permission denied, also to root", ipc_name());
			doctor_advise(doctor, "look for a container's device list, or for SELinux "
					      "or AppArmor (dmesg)");
		} else {
			doctor_find(doctor, FINDING_NOTE, "device",
				    "%.160s: only root may ask: turns and the speed of swap are "
				    "not checked",
				    ipc_name());
			doctor_advise(doctor, "run it as root; or your own mtsd: mtsctl --user");
		}
		return;
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		if (doctor->wants_mtsd) {
			find_no_mtsd(doctor);
		} else if (doctor->is_loaded) {
			doctor_find(doctor, FINDING_PROBLEM, "device",
				    "the module is loaded, and %s is missing", MTS_DEVICE);
			doctor_advise(doctor, "udevadm trigger; is devtmpfs on /dev? A container "
					      "needs it given: --device " MTS_DEVICE);
		}
		return;
	default:
		if (doctor->wants_mtsd) {
			find_no_mtsd(doctor);
			return;
		}
		doctor_find(doctor, FINDING_PROBLEM, "device", "%s: %s", MTS_DEVICE,
			    strerror(-doctor->open_error));
		doctor_advise(doctor, "dmesg | grep mts; then rmmod mts && modprobe mts");
	}
}
