// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>

#include "format.h"
#include "ipc.h"
#include "mtsctl.h"
#include "parse.h"
#include "top_actions.h"

static const char *error_of(int ret)
{
	if (ret == -ENOENT)
		return "the job is gone";
	if (ret == -ERANGE)
		return "out of range: see mtsctl set --help";
	return device_error(-ret);
}

void top_pin(const struct mts_job_info *job, char said[TOP_SAID])
{
	bool pinned = job->flags & MTS_JOB_PIN;
	char name[MTS_NAME_SIZE];
	int ret;

	ret = ipc_open();
	if (!ret)
		ret = ipc_job_set(job->id, MTS_JOB_PIN, pinned ? 0 : MTS_JOB_PIN);
	ipc_close();
	format_name(name, sizeof(name), job->name);
	if (ret)
		snprintf(said, TOP_SAID, "cannot %s %u: %s", pinned ? "unpin" : "pin", job->id,
			 error_of(ret));
	else
		snprintf(said, TOP_SAID, "%u %s is %s", job->id, name,
			 pinned ? "no longer pinned" : "pinned: never frozen");
}

void top_remove(u32 id, char said[TOP_SAID])
{
	int ret;

	ret = ipc_open();
	if (!ret)
		ret = ipc_job_remove(id);
	ipc_close();
	if (ret)
		snprintf(said, TOP_SAID, "cannot remove %u: %s", id, error_of(ret));
	else
		snprintf(said, TOP_SAID, "%u is no longer a job; it runs on", id);
}

void top_set_slice(const char *value, char said[TOP_SAID])
{
	struct mts_config config = { .mask = MTS_CONFIG_SLICE };
	const char *wrong;
	int ret;

	wrong = parse_interval(value, &config.slice_ns);
	if (!wrong && (config.slice_ns < MTS_SLICE_MIN_NS || config.slice_ns > MTS_SLICE_MAX_NS))
		wrong = "not between 10ms and 60s";
	if (wrong) {
		snprintf(said, TOP_SAID, "slice=%s: %s", value, wrong);
		return;
	}
	ret = ipc_open();
	if (!ret)
		ret = ipc_config_set(&config);
	ipc_close();
	if (ret)
		snprintf(said, TOP_SAID, "cannot set slice=%s: %s", value, error_of(ret));
	else
		snprintf(said, TOP_SAID, "slice=%s", value);
}

void top_thaw(char said[TOP_SAID])
{
	int ret;

	ret = ipc_open();
	if (!ret)
		ret = ipc_thaw();
	ipc_close();
	if (ret)
		snprintf(said, TOP_SAID, "cannot thaw: %s", error_of(ret));
	else
		snprintf(said, TOP_SAID,
			 "everything is thawed, until: mtsctl set mode=auto (or always)");
}
