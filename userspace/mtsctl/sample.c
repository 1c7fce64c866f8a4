// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "host.h"
#include "ipc.h"
#include "labels.h"
#include "policy/demand.h"
#include "proc.h"
#include "sample.h"

int sample_take(struct sample *sample)
{
	int ret;

	*sample = (struct sample){ 0 };
	ret = snapshot_take(&sample->s);
	if (!ret)
		ret = ipc_stats(&sample->stats);
	if (!ret)
		ret = ipc_config_get(&sample->config);
	if (ret)
		return ret;
	labels_find(&sample->s);
	sample->vitals_known = !vitals_open() && !vitals_read(&sample->vitals);
	sample->faults = calloc((size_t)sample->s.njobs + 1, sizeof(*sample->faults));
	if (!sample->faults)
		return -ENOMEM;
	for (u32 i = 0; i < sample->s.njobs; i++)
		sample->faults[i] = SAMPLE_UNKNOWN;
	return 0;
}

void sample_free(struct sample *sample)
{
	snapshot_free(&sample->s);
	free(sample->faults);
	sample->faults = NULL;
}

/* Return: as proc_read(). */
static const char *read_below(int directory, const char *name)
{
	int file = openat(directory, name, O_RDONLY | O_CLOEXEC);
	const char *text;

	if (file < 0)
		return NULL;
	text = proc_read(file);
	close(file);
	return text;
}

static bool read_number(int directory, const char *name, u64 *value)
{
	const char *text = read_below(directory, name);

	if (text)
		*value = strtoull(text, NULL, 10);
	return text;
}

void sample_look(struct sample *sample, u32 job)
{
	struct mts_job_info *info = &sample->s.jobs[job];
	int directory = host_cgroup_open(info->cgroup_id);
	struct mts_usage usage = { 0 };
	const char *text;

	if (directory < 0)
		return;
	text = read_below(directory, "memory.stat");
	if (text) {
		proc_value(text, "pgmajfault", &sample->faults[job]);
		proc_value(text, "file", &usage.file);
		proc_value(text, "shmem", &usage.shmem);
		proc_value(text, "slab_reclaimable", &usage.slab_reclaimable);
		proc_value(text, "zswap", &usage.zswap);
		if (read_number(directory, "memory.current", &usage.current_bytes))
			info->resident = mts_policy_resident(&usage);
		read_number(directory, "memory.swap.current", &usage.swap);
		info->swapped = usage.swap;
	}
	close(directory);
}

void sample_look_all(struct sample *sample)
{
	for (u32 i = 0; i < sample->s.njobs; i++)
		sample_look(sample, i);
	sample->whole = true;
}
