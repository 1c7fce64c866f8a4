// SPDX-License-Identifier: GPL-2.0
#include "proc.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char buffer[65536];

void proc_lock(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		warn("cannot lock the memory: samples may be late");
}

const char *proc_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got;

	if (fd < 0)
		return NULL;
	while (used < sizeof(buffer) - 1 &&
	       (got = read(fd, buffer + used, sizeof(buffer) - 1 - used)) > 0)
		used += (size_t)got;
	close(fd);
	buffer[used] = '\0';
	return used ? buffer : NULL;
}

uint64_t proc_value(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length))
			continue;
		if (line[length] == ':' || line[length] == ' ')
			return strtoull(line + length + 1, NULL, 10);
	}
	return 0;
}

bool proc_cpu(struct proc_cpu *cpu)
{
	const char *text = proc_read("/proc/stat");
	uint64_t user, nice, system, idle, iowait, irq, softirq;

	if (!text || sscanf(text,
			    "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			    " %" SCNu64 " %" SCNu64,
			    &user, &nice, &system, &idle, &iowait, &irq, &softirq) != 7)
		return false;
	*cpu = (struct proc_cpu){
		.user = user + nice,
		.system = system + irq + softirq,
		.idle = idle + iowait,
	};
	return true;
}

bool proc_task(pid_t pid, struct proc_task *task)
{
	char path[64];
	const char *text, *open, *close;
	size_t length;

	*task = (struct proc_task){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	text = proc_read(path);
	open = text ? strchr(text, '(') : NULL;
	close = open ? strrchr(open, ')') : NULL; /* the name may have brackets of its own */
	if (!close)
		return false;
	length = (size_t)(close - open - 1);
	if (length > sizeof(task->comm) - 1)
		length = sizeof(task->comm) - 1;
	memcpy(task->comm, open + 1, length);
	if (sscanf(close + 1,
		   " %*c %d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64
		   " %" SCNu64 " %*d %*d %" SCNd64 " %" SCNd64 " %*d %*d %*u %" SCNu64 " %" SCNu64,
		   &task->ppid, &task->minflt, &task->majflt, &task->utime, &task->stime,
		   &task->priority, &task->nice, &task->vsize, &task->rss) != 9)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	text = proc_read(path);
	if (text)
		task->ran_ns = strtoull(text, NULL, 10);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	text = proc_read(path);
	if (text)
		task->swap = proc_value(text, "VmSwap") * 1024 / (uint64_t)sysconf(_SC_PAGESIZE);
	return true;
}
