// SPDX-License-Identifier: GPL-2.0
#include "counters.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

const char *const counters_cpu_names[CPUS] = {
	[CPU_USER] = "user",	   [CPU_NICE] = "nice",	    [CPU_SYSTEM] = "system",
	[CPU_IDLE] = "idle",	   [CPU_IOWAIT] = "iowait", [CPU_IRQ] = "irq",
	[CPU_SOFTIRQ] = "softirq",
};

const char *const counters_psi_names[PSIS] = {
	[PSI_MEMORY_SOME] = "memory_some", [PSI_MEMORY_FULL] = "memory_full",
	[PSI_IO_SOME] = "io_some",	   [PSI_IO_FULL] = "io_full",
	[PSI_CPU_SOME] = "cpu_some",
};

const char *const counters_disk_names[DISKS] = {
	[DISK_READS] = "reads",
	[DISK_READ_SECTORS] = "read_sectors",
	[DISK_READ_MS] = "read_ms",
	[DISK_WRITES] = "writes",
	[DISK_WRITE_SECTORS] = "write_sectors",
	[DISK_WRITE_MS] = "write_ms",
	[DISK_IN_FLIGHT_MS] = "in_flight_ms",
};

enum {
	VMSTAT,
	STAT,
	MEMINFO,
	PSI_MEMORY,
	PSI_IO,
	PSI_CPU,
	DISK,
	FILES
};

static int files[FILES]; /* -1: there is none */
static const char *disk_name = "";
static double tick;

/* The whole file from its start; "" if there is none. */
static void read_text(int file, char *buffer, size_t size)
{
	size_t length = 0;
	ssize_t got;

	while (files[file] >= 0 && length < size - 1) {
		got = pread(files[file], buffer + length, size - 1 - length, (off_t)length);
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	buffer[length] = '\0';
}

static int open_file(const char *path, bool needed)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && needed)
		fail("%s: %s", path, strerror(errno));
	return fd;
}

/* Pressure accounting that is switched off answers EOPNOTSUPP to a read. */
static int open_psi(const char *path)
{
	int fd = open_file(path, false);
	char byte;

	if (fd >= 0 && pread(fd, &byte, 1, 0) != 1) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The second line of /proc/swaps begins with the path of the first swap device. */
static void find_disk(void)
{
	FILE *swaps = fopen("/proc/swaps", "re");
	char path[256], line[512], stat[320];
	const char *name;

	files[DISK] = -1;
	if (!swaps)
		return;
	if (fgets(line, sizeof(line), swaps) && fgets(line, sizeof(line), swaps) &&
	    sscanf(line, "%255s", path) == 1 && strstr(line, " partition")) {
		name = strrchr(path, '/');
		name = name ? name + 1 : path;
		snprintf(stat, sizeof(stat), "/sys/class/block/%s/stat", name);
		files[DISK] = open_file(stat, false);
		if (files[DISK] >= 0)
			disk_name = strdup(name);
	}
	fclose(swaps);
}

void counters_open(void)
{
	files[VMSTAT] = open_file("/proc/vmstat", true);
	files[STAT] = open_file("/proc/stat", true);
	files[MEMINFO] = open_file("/proc/meminfo", true);
	files[PSI_MEMORY] = open_psi("/proc/pressure/memory");
	files[PSI_IO] = open_psi("/proc/pressure/io");
	files[PSI_CPU] = open_psi("/proc/pressure/cpu");
	tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
	find_disk();
}

const char *counters_disk(void)
{
	return disk_name;
}

bool counters_have_psi(void)
{
	return files[PSI_MEMORY] >= 0;
}

double counters_cpu_seconds(uint64_t ticks)
{
	return (double)ticks * tick;
}

uint64_t counters_vm(const struct counters *counters, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = counters->vmstat; *line;) {
		const char *end = strchr(line, '\n');

		if (!strncmp(line, name, length) && line[length] == ' ')
			return strtoull(line + length, NULL, 10);
		if (!end)
			break;
		line = end + 1;
	}
	return 0;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234"; the line may be missing: 0. */
static uint64_t psi_total(const char *content, const char *kind)
{
	const char *line = strstr(content, kind);
	const char *total = line ? strstr(line, "total=") : NULL;

	return total ? strtoull(total + strlen("total="), NULL, 10) : 0;
}

static void read_psi(int file, uint64_t *some, uint64_t *full)
{
	char content[256];

	read_text(file, content, sizeof(content));
	*some = psi_total(content, "some ");
	if (full)
		*full = psi_total(content, "full ");
}

static void read_disk(uint64_t *disk)
{
	char content[512];
	uint64_t f[11] = { 0 };

	read_text(DISK, content, sizeof(content));
	/* Documentation/block/stat.rst; the second and sixth are merges, the ninth is in flight */
	if (sscanf(content,
		   "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
		   &f[0], &f[1], &f[2], &f[3], &f[4], &f[5], &f[6], &f[7], &f[8], &f[9],
		   &f[10]) != 11)
		memset(f, 0, sizeof(f));
	disk[DISK_READS] = f[0];
	disk[DISK_READ_SECTORS] = f[2];
	disk[DISK_READ_MS] = f[3];
	disk[DISK_WRITES] = f[4];
	disk[DISK_WRITE_SECTORS] = f[6];
	disk[DISK_WRITE_MS] = f[7];
	disk[DISK_IN_FLIGHT_MS] = f[9];
}

static void read_cpu(uint64_t *cpu)
{
	char content[512];

	read_text(STAT, content, sizeof(content));
	if (sscanf(content,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64,
		   &cpu[CPU_USER], &cpu[CPU_NICE], &cpu[CPU_SYSTEM], &cpu[CPU_IDLE],
		   &cpu[CPU_IOWAIT], &cpu[CPU_IRQ], &cpu[CPU_SOFTIRQ]) != CPUS)
		fail("/proc/stat: its first line is not known");
}

static double read_free_mib(void)
{
	char content[512]; /* MemAvailable is the third line */
	const char *line;

	read_text(MEMINFO, content, sizeof(content));
	line = strstr(content, "MemAvailable:");
	return line ? strtod(line + strlen("MemAvailable:"), NULL) / 1024.0 : 0;
}

void counters_read(struct counters *counters)
{
	read_text(VMSTAT, counters->vmstat, sizeof(counters->vmstat));
	read_cpu(counters->cpu);
	read_psi(PSI_MEMORY, &counters->psi[PSI_MEMORY_SOME], &counters->psi[PSI_MEMORY_FULL]);
	read_psi(PSI_IO, &counters->psi[PSI_IO_SOME], &counters->psi[PSI_IO_FULL]);
	read_psi(PSI_CPU, &counters->psi[PSI_CPU_SOME], NULL);
	read_disk(counters->disk);
	counters->free_mib = read_free_mib();
}
