// SPDX-License-Identifier: GPL-2.0
/* mtsctl doctor: what turns need of the host. */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "doctor.h"
#include "format.h"
#include "host.h"
#include "host_file.h"
#include "policy/bins.h"
#include "words.h"

#define SMALLER_STEPS "mtsctl set step=auto, "
#define SLOW_REMEDY \
	"faster swap, smaller jobs, or a longer mtsctl set max_pause=; mtsctl plan foretells it"
#define UNIFIED "systemd.unified_cgroup_hierarchy=1"

/* ---- cgroups -------------------------------------------------------------------- */

/* Where cgroup v2 and the memory controller of v1 are mounted; empty: nowhere. */
struct cgroup_mounts {
	char v2[PATH_MAX];
	char v1_memory[PATH_MAX];
	bool any_v1;
};

static void read_mounts(struct cgroup_mounts *found)
{
	char path[PATH_MAX];
	struct mntent *entry;
	FILE *mounts;

	*found = (struct cgroup_mounts){ 0 };
	snprintf(path, sizeof(path), "%s/self/mounts", host_proc());
	mounts = setmntent(path, "re");
	while (mounts && (entry = getmntent(mounts))) {
		if (!strcmp(entry->mnt_type, "cgroup2")) {
			if (!*found->v2 || !strcmp(entry->mnt_dir, USUAL_CGROUPS))
				snprintf(found->v2, PATH_MAX, "%s", entry->mnt_dir);
		} else if (!strcmp(entry->mnt_type, "cgroup")) {
			found->any_v1 = true;
			if (hasmntopt(entry, "memory"))
				snprintf(found->v1_memory, PATH_MAX, "%s", entry->mnt_dir);
		}
	}
	if (mounts)
		endmntent(mounts);
}

static bool has_word(const char *text, const char *word)
{
	static const char between[] = "\n ";
	size_t length = strlen(word);

	for (; text && *text; text += strcspn(text, between), text += strspn(text, between))
		if (strcspn(text, between) == length && !strncmp(text, word, length))
			return true;
	return false;
}

static bool has_memory_controller(void)
{
	return has_word(host_file_read(USUAL_CGROUPS "/cgroup.controllers"), "memory");
}

static void check_controller(struct doctor *doctor, const struct cgroup_mounts *mounts)
{
	enum finding_level level = doctor_module_level(doctor);

	if (has_memory_controller()) {
		doctor_find(doctor, FINDING_OK, "memory", "cgroup v2 has the memory controller");
	} else if (*mounts->v1_memory) {
		doctor_find(doctor, level, "memory",
			    "a hybrid host: the memory controller is in cgroup v1 (%.120s)",
			    mounts->v1_memory);
		doctor_advise(doctor, "boot with " UNIFIED ", or use mtsd, which can do without");
	} else {
		doctor_find(doctor, level, "memory",
			    "cgroup v2 has no memory controller: it is off in this kernel");
		doctor_advise(doctor, "boot without cgroup_disable=memory (on a Raspberry Pi: with "
				      "cgroup_enable=memory), or use mtsd");
	}
}

void doctor_check_cgroups(struct doctor *doctor)
{
	struct cgroup_mounts mounts;

	read_mounts(&mounts);
	if (!*mounts.v2) {
		doctor_find(doctor, FINDING_PROBLEM, "cgroups", "cgroup v2 is not mounted%s",
			    mounts.any_v1 ? ", only v1 is" : "");
		doctor_advise(doctor, mounts.any_v1 ? "boot with " UNIFIED :
						      "mount -t cgroup2 none " USUAL_CGROUPS);
		return;
	}
	/* On a hybrid host cgroup_base= does not help: the controller is missing. */
	if (!doctor->is_loaded && !doctor->wants_mtsd && !*mounts.v1_memory &&
	    strcmp(mounts.v2, USUAL_CGROUPS)) {
		doctor_find(doctor, doctor_module_level(doctor), "cgroups",
			    "cgroup v2 is at %.160s", mounts.v2);
		doctor_advise(doctor, "modprobe mts cgroup_base=%.160s/mts", mounts.v2);
	} else {
		doctor_find(doctor, FINDING_OK, "cgroups", "cgroup v2 at %.160s", mounts.v2);
	}
	check_controller(doctor, &mounts);
}

/* ---- pressure ------------------------------------------------------------------- */

void doctor_check_pressure(struct doctor *doctor)
{
	const char *cmdline;

	if (host_file_read("/proc/pressure/memory")) {
		doctor_find(doctor, FINDING_OK, "pressure", "the kernel keeps pressure accounts");
		return;
	}
	cmdline = host_file_read("/proc/cmdline");
	doctor_find(doctor, FINDING_NOTE, "pressure", "no pressure accounts (PSI)%s: %s",
		    has_word(cmdline, "psi=0") ? ", as the kernel was booted with psi=0" : "",
		    doctor->by_mtsd ? "shortage is noticed half a second late" :
				      "mode=auto does not know for how long jobs wait for memory, "
				      "and may begin turns that gain nothing");
	doctor_advise(doctor, has_word(cmdline, "psi=0") ?
				      "boot without psi=0" :
				      "boot with psi=1, if the kernel has CONFIG_PSI");
}

/* ---- swap ----------------------------------------------------------------------- */

struct swaps {
	u64 bytes;
	u64 zram_bytes;
};

static void read_swaps(struct swaps *swaps)
{
	const char *text = host_file_read("/proc/swaps");
	unsigned long long kib;
	char name[256];

	*swaps = (struct swaps){ 0 };
	/* Filename Type Size Used Priority; below a line with these words. */
	for (text = text ? strchr(text, '\n') : NULL; text; text = strchr(text, '\n')) {
		text++;
		if (sscanf(text, "%255s %*s %llu", name, &kib) != 2)
			continue;
		swaps->bytes += kib * 1024;
		if (!strncmp(name, "/dev/zram", strlen("/dev/zram")))
			swaps->zram_bytes += kib * 1024;
	}
}

void doctor_check_swap(struct doctor *doctor)
{
	char a[FORMAT_SIZE], b[FORMAT_SIZE];
	u64 total = 0, available;
	struct swaps swaps;

	read_swaps(&swaps);
	if (host_memory(&total, &available))
		total = 0;
	if (!swaps.bytes) {
		doctor_find(doctor, FINDING_PROBLEM, "swap",
			    "there is none: frozen jobs would stay in memory, so no turns begin");
		doctor_advise(doctor, "add a device or file (mkswap, swapon): twice what the jobs "
				      "need together");
	} else if (swaps.zram_bytes == swaps.bytes) {
		doctor_find(doctor, FINDING_NOTE, "swap",
			    "%s, all of it zram: evicted jobs stay in memory, compressed; jobs "
			    "that do not compress have no room",
			    format_size(a, swaps.bytes));
		doctor_advise(doctor, "add swap on a disk, with a lower priority: swapon -p 0");
	} else if (swaps.bytes < total) {
		doctor_find(doctor, FINDING_NOTE, "swap",
			    "%s, less than the %s of memory: jobs that wait may not all fit in it",
			    format_size(a, swaps.bytes), format_size(b, total));
		doctor_advise(doctor, "have twice what the jobs need together");
	} else {
		doctor_find(doctor, FINDING_OK, "swap", "%s%s", format_size(a, swaps.bytes),
			    swaps.zram_bytes ? ", in part zram" : "");
	}
}

/* ---- turns ---------------------------------------------------------------------- */

void doctor_check_turns(struct doctor *doctor)
{
	const struct mts_status *status = &doctor->status;
	const char *why = *status->detail ? status->detail : word_of(reason_words, status->reason);

	if (doctor->open_error)
		return;
	if (status->state == MTS_STATE_STOPPED) {
		doctor_find(doctor, FINDING_PROBLEM, "turns", "stopped: %s", why);
		doctor_advise(doctor, "mtsctl set mode=auto");
	} else if (doctor->config.mode == MTS_MODE_OFF || doctor->config.mode == MTS_MODE_SHADOW) {
		doctor_find(doctor, FINDING_NOTE, "turns", "mode=%s: no job is ever frozen",
			    word_of(mode_words, doctor->config.mode));
		doctor_advise(doctor, "mtsctl set mode=auto");
	} else if (doctor->config.policy != MTS_POLICY_TURNS &&
		   doctor->config.policy != MTS_POLICY_AUTO) {
		doctor_find(doctor, FINDING_NOTE, "turns", "policy=%s: jobs take none; %s: %s",
			    word_of(policy_words, doctor->config.policy),
			    word_of(state_words, status->state), why);
		doctor_advise(doctor, "mtsctl set policy=turns, where turns are wanted");
	} else {
		doctor_find(doctor, FINDING_OK, "turns", "%s: %s",
			    word_of(state_words, status->state), why);
	}
}

/*
 * The largest of two equal bins whose pauses keep the limit: while the other bin has its turn, a
 * job waits for two switches and a slice. A switch moves a bin out and one in.
 */
static u64 largest_bin(const struct doctor *doctor, u64 limit)
{
	u64 page_ns = mts_add_sat(doctor->disk.out.elapsed_ns, doctor->disk.in.elapsed_ns);

	limit = mts_sub_floor(limit, MTS_PAUSE_MARGIN_NS + doctor->config.min_slice_ns);
	return limit / 2 / page_ns * sysconf(_SC_PAGESIZE);
}

static u64 pause_limit(const struct doctor *doctor)
{
	return doctor->config.max_pause_ns ?: MTS_PAUSE_STRETCHED_NS;
}

static void find_slow_swap(struct doctor *doctor, const char *page)
{
	char a[FORMAT_SIZE];

	doctor_find(doctor, FINDING_PROBLEM, "pauses",
		    "%s: too slow for turns of these jobs with pauses of at most %s", page,
		    format_time(a, pause_limit(doctor)));
	doctor_advise(doctor, doctor->config.step == MTS_STEP_BIN ? SMALLER_STEPS SLOW_REMEDY :
								    SLOW_REMEDY);
}

void doctor_check_pauses(struct doctor *doctor)
{
	char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE], page[128];
	const struct mts_status *status = &doctor->status;
	const struct mts_disk_info *disk = &doctor->disk;
	u64 largest;
	bool known;

	if (doctor->open_error)
		return;
	known = disk->out.elapsed_ns && disk->in.elapsed_ns;
	snprintf(page, sizeof(page),
		 known ? "swap takes %s for a page out and %s for one in" : "swap",
		 format_page_time(a, disk->out.elapsed_ns),
		 format_page_time(b, disk->in.elapsed_ns));
	if (status->reason == MTS_REASON_SLOW_SWAP) {
		find_slow_swap(doctor, page);
		return;
	}
	if (!known)
		return;
	largest = largest_bin(doctor, pause_limit(doctor));
	/* Groups of bins that overlap are as small as the pauses need. */
	if (doctor->config.step != MTS_STEP_BIN || largest >= status->capacity) {
		doctor_find(doctor, FINDING_OK, "pauses", "%s", page);
		return;
	}
	doctor_find(doctor, status->demand > status->capacity ? FINDING_PROBLEM : FINDING_NOTE,
		    "pauses", "%s: a bin may hold %s, and bins above %s exceed pauses of %s", page,
		    format_size(a, status->capacity), format_size(b, largest),
		    format_time(c, pause_limit(doctor)));
	doctor_advise(doctor, SMALLER_STEPS SLOW_REMEDY);
}

/* ---- daemons that kill ---------------------------------------------------------- */

static const struct {
	const char *name;
	const char *does;
	const char *remedy;
} killers[] = {
	{ "systemd-oomd", "kills units with ManagedOOMSwap= or ManagedOOMMemoryPressure= only",
	  "set neither for jobs, or have swap for the demand of all jobs and a fifth more" },
	{ "earlyoom", "kills when memory and swap are below 10 % free, and turns keep memory full",
	  "have swap for the demand of all jobs and a fifth more, or stop it" },
	{ "nohang", "kills by free memory, free swap and pressure, and turns keep memory full",
	  "have swap for the demand of all jobs and a fifth more, or stop it" },
	{ "oomd", "kills by pressure and swap, as its own rules say",
	  "leave the jobs' cgroups out of its rules" },
};

#define N_KILLERS (sizeof(killers) / sizeof(killers[0]))

/* The name of its program; of one in Python that of the script. */
static void program_of(const char *pid, char name[COMM_SIZE])
{
	char path[PATH_MAX], args[512];
	const char *word;
	size_t used;
	FILE *file;

	process_comm(atoi(pid), name);
	if (strncmp(name, "python", strlen("python")))
		return;
	snprintf(path, sizeof(path), "%s/%.20s/cmdline", host_proc(), pid);
	file = fopen(path, "re");
	if (!file)
		return;
	used = fread(args, 1, sizeof(args) - 1, file);
	fclose(file);
	args[used] = '\0';
	word = args + strlen(args) + 1;
	if (word >= args + used)
		return;
	word = strrchr(word, '/') ? strrchr(word, '/') + 1 : word;
	format_name(name, COMM_SIZE, word);
}

static size_t killer_of(const char *pid)
{
	char name[COMM_SIZE];
	size_t i;

	program_of(pid, name);
	for (i = 0; i < N_KILLERS; i++)
		if (!strcmp(name, killers[i].name))
			break;
	return i;
}

/* Each once, whatever users call their programs. */
void doctor_check_killers(struct doctor *doctor)
{
	DIR *processes = opendir(host_proc());
	bool seen[N_KILLERS] = { false };
	struct dirent *entry;
	bool any = false;

	while (processes && (entry = readdir(processes))) {
		size_t i = isdigit((unsigned char)*entry->d_name) ? killer_of(entry->d_name) :
								    N_KILLERS;

		if (i == N_KILLERS || seen[i])
			continue;
		seen[i] = true;
		any = true;
		doctor_find(doctor, FINDING_NOTE, "killers", "%s (%.20s) %s", killers[i].name,
			    entry->d_name, killers[i].does);
		doctor_advise(doctor, "%s", killers[i].remedy);
	}
	if (processes)
		closedir(processes);
	if (!any)
		doctor_find(doctor, FINDING_OK, "killers",
			    "none of systemd-oomd, earlyoom, nohang, oomd runs");
}
