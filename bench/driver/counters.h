/* SPDX-License-Identifier: GPL-2.0 */
/* labdrive: the kernel's counters of the whole host. */
#ifndef LABDRIVE_COUNTERS_H
#define LABDRIVE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

enum cpu {
	CPU_USER,
	CPU_NICE,
	CPU_SYSTEM,
	CPU_IDLE,
	CPU_IOWAIT,
	CPU_IRQ,
	CPU_SOFTIRQ,
	CPUS,
};

enum psi {
	PSI_MEMORY_SOME,
	PSI_MEMORY_FULL,
	PSI_IO_SOME,
	PSI_IO_FULL,
	PSI_CPU_SOME,
	PSIS,
};

enum disk {
	DISK_READS,
	DISK_READ_SECTORS, /* of 512 bytes */
	DISK_READ_MS,
	DISK_WRITES,
	DISK_WRITE_SECTORS,
	DISK_WRITE_MS,
	DISK_IN_FLIGHT_MS, /* with at least one request in flight */
	DISKS,
};

struct counters {
	char vmstat[16384]; /* the text of /proc/vmstat */
	uint64_t cpu[CPUS]; /* ticks */
	uint64_t psi[PSIS]; /* us */
	uint64_t disk[DISKS];
	double free_mib; /* MemAvailable */
};

extern const char *const counters_cpu_names[CPUS];
extern const char *const counters_psi_names[PSIS];
extern const char *const counters_disk_names[DISKS];

/**
 * counters_open() - once; all files stay open, so that reading them takes no memory later
 *
 * The disk is the first swap device of /proc/swaps. Fails the run if /proc/vmstat, /proc/stat
 * or /proc/meminfo cannot be opened.
 */
void counters_open(void);

void counters_read(struct counters *counters);

/* "" if there is no swap, or only in a file. */
const char *counters_disk(void);

/* The kernel has pressure accounting, and it is on. */
bool counters_have_psi(void);

/* A counter of /proc/vmstat by its name; 0 if the kernel has none of it. */
uint64_t counters_vm(const struct counters *counters, const char *name);

/* Seconds of the processor, of all processors together. */
double counters_cpu_seconds(uint64_t ticks);

#endif
