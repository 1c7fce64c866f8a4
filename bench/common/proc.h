/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of /proc, for programs that watch while there is no memory: no allocation, static
 * buffers (to be locked), one system call or two for each look.
 */
#ifndef LAB_PROC_H
#define LAB_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Locks the program's memory, or says that it cannot. */
void proc_lock(void);

/* Reads a file of up to 64 KiB as text; NULL if that fails. Valid until the next call. */
const char *proc_read(const char *path);

/* The number after a line's first word in the text of proc_read() (/proc/vmstat, status, ...);
 * 0 if there is no such line.
 */
uint64_t proc_value(const char *text, const char *name);

struct proc_cpu {
	uint64_t user; /* ticks of USER_HZ, of all processors; nice included */
	uint64_t system;
	uint64_t idle; /* with waiting for a disk */
};

bool proc_cpu(struct proc_cpu *cpu);

struct proc_task {
	char comm[16];
	int ppid;
	uint64_t minflt, majflt;
	uint64_t utime, stime; /* ticks */
	int64_t priority; /* as /proc shows it: 20 plus nice, or below 0 */
	int64_t nice;
	uint64_t vsize; /* bytes */
	uint64_t rss; /* pages */
	uint64_t ran_ns; /* time on a processor; 0 if the kernel does not count it */
	uint64_t swap; /* pages */
};

/* False if there is no such process (any more). A kernel thread has no memory. */
bool proc_task(pid_t pid, struct proc_task *task);

#endif /* LAB_PROC_H */
