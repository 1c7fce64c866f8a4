// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "proc.h"
#include "vitals.h"

static int loadavg = -1, meminfo = -1, vmstat = -1;

static int open_once(int *fd, const char *name)
{
	if (*fd < 0)
		*fd = proc_open(name);
	return *fd < 0 ? *fd : 0;
}

int vitals_open(void)
{
	int ret;

	ret = open_once(&loadavg, "loadavg");
	if (!ret)
		ret = open_once(&meminfo, "meminfo");
	if (!ret)
		ret = open_once(&vmstat, "vmstat");
	return ret;
}

static u64 kib(const char *text, const char *name)
{
	u64 value = 0;

	proc_value(text, name, &value);
	return value * 1024;
}

int vitals_read(struct vitals *vitals)
{
	struct vitals v = { 0 };
	const char *text;

	text = proc_read(loadavg);
	if (!text)
		return -EIO;
	snprintf(v.load, sizeof(v.load), "%.*s", (int)strspn(text, "0123456789."), text);
	text = proc_read(meminfo);
	if (!text)
		return -EIO;
	v.mem_available = kib(text, "MemAvailable");
	v.swap_free = kib(text, "SwapFree");
	v.swap_total = kib(text, "SwapTotal");
	text = proc_read(vmstat);
	if (!text)
		return -EIO;
	proc_value(text, "pswpin", &v.pswpin);
	proc_value(text, "pswpout", &v.pswpout);
	proc_value(text, "zswpin", &v.zswpin);
	proc_value(text, "zswpout", &v.zswpout);
	proc_value(text, "pgmajfault", &v.pgmajfault);
	*vitals = v;
	return 0;
}
