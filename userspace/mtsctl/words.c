// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "uapi/mts.h"
#include "words.h"

const struct word mode_words[] = {
	{ "off", MTS_MODE_OFF, NULL },
	{ "auto", MTS_MODE_AUTO, NULL },
	{ "always", MTS_MODE_ALWAYS, NULL },
	{ "shadow", MTS_MODE_SHADOW, NULL },
	{ 0 },
};

const struct word policy_words[] = {
	{ "turns", MTS_POLICY_TURNS, NULL }, { "none", MTS_POLICY_NONE, NULL },
	{ "fair", MTS_POLICY_FAIR, NULL },   { "token", MTS_POLICY_TOKEN, NULL },
	{ "auto", MTS_POLICY_AUTO, NULL },   { 0 },
};

const struct word gives_words[] = {
	{ "unknown", MTS_GIVES_UNKNOWN, NULL },
	{ "forecast", MTS_GIVES_FORECAST, NULL },
	{ "measured", MTS_GIVES_MEASURED, NULL },
	{ 0 },
};

const struct word share_words[] = {
	{ "job", MTS_SHARE_JOB, NULL },
	{ "user", MTS_SHARE_USER, NULL },
	{ 0 },
};

const struct word pack_words[] = {
	{ "ffd", MTS_PACK_FFD, "first-fit-decreasing" },
	{ "bfd", MTS_PACK_BFD, "best-fit-decreasing" },
	{ "rw", MTS_PACK_RW, "reuven-wiseman" },
	{ 0 },
};

const struct word evict_words[] = {
	{ "off", MTS_EVICT_OFF, NULL },
	{ "need", MTS_EVICT_NEED, NULL },
	{ "full", MTS_EVICT_FULL, NULL },
	{ "auto", MTS_EVICT_AUTO, NULL },
	{ 0 },
};

const struct word demand_words[] = {
	{ "allocated", MTS_DEMAND_ALLOCATED, NULL },
	{ "used", MTS_DEMAND_USED, NULL },
	{ 0 },
};

const struct word queue_words[] = {
	{ "off", MTS_QUEUE_OFF, NULL },
	{ "auto", MTS_QUEUE_AUTO, NULL },
	{ 0 },
};

const struct word size_from_words[] = {
	{ "unknown", MTS_SIZE_UNKNOWN, NULL },
	{ "given", MTS_SIZE_GIVEN, NULL },
	{ "command", MTS_SIZE_COMMAND, NULL },
	{ "others", MTS_SIZE_OTHERS, NULL },
	{ 0 },
};

const struct word state_words[] = {
	{ "off", MTS_STATE_OFF, NULL },		{ "idle", MTS_STATE_IDLE, NULL },
	{ "running", MTS_STATE_RUNNING, NULL }, { "switching", MTS_STATE_SWITCHING, NULL },
	{ "stopped", MTS_STATE_STOPPED, NULL }, { "paused", MTS_STATE_PAUSED, NULL },
	{ "sharing", MTS_STATE_SHARING, NULL }, { 0 },
};

const struct word reason_words[] = {
	{ "none", MTS_REASON_NONE, NULL },
	{ "no-jobs", MTS_REASON_NO_JOBS, NULL },
	{ "fits", MTS_REASON_FITS, NULL },
	{ "no-pressure", MTS_REASON_NO_PRESSURE, NULL },
	{ "no-swap", MTS_REASON_NO_SWAP, NULL },
	{ "overcommit", MTS_REASON_OVERCOMMIT, NULL },
	{ "user", MTS_REASON_USER, NULL },
	{ "stall", MTS_REASON_STALL, NULL },
	{ "oom", MTS_REASON_OOM, NULL },
	{ "error", MTS_REASON_ERROR, NULL },
	{ "suspend", MTS_REASON_SUSPEND, NULL },
	{ "unload", MTS_REASON_UNLOAD, NULL },
	{ "copes", MTS_REASON_COPES, NULL },
	{ "no-gain", MTS_REASON_NO_GAIN, NULL },
	{ "shadow", MTS_REASON_SHADOW, NULL },
	{ "slow-swap", MTS_REASON_SLOW_SWAP, NULL },
	{ "exempt", MTS_REASON_EXEMPT, NULL },
	{ "policy", MTS_REASON_POLICY, NULL },
	{ "fair", MTS_REASON_FAIR, NULL },
	{ "token", MTS_REASON_TOKEN, NULL },
	{ 0 },
};

const struct word job_state_words[] = {
	{ "running", MTS_JOB_RUNNING, NULL },
	{ "frozen", MTS_JOB_FROZEN, NULL },
	{ "freezing", MTS_JOB_FREEZING, NULL },
	{ "resident", MTS_JOB_RESIDENT, NULL },
	{ "realtime", MTS_JOB_REALTIME, NULL },
	{ "left-out", MTS_JOB_LEFT_OUT, NULL },
	{ "foreign", MTS_JOB_FOREIGN, NULL },
	{ "untouchable", MTS_JOB_UNTOUCHABLE, NULL },
	{ "interactive", MTS_JOB_INTERACTIVE, NULL },
	{ "called", MTS_JOB_CALLED, NULL },
	{ "limited", MTS_JOB_LIMITED, NULL },
	{ "no-swap", MTS_JOB_NO_SWAP, NULL },
	{ "queued", MTS_JOB_QUEUED, NULL },
	{ "delayed", MTS_JOB_DELAYED, NULL },
	{ "holder", MTS_JOB_HOLDER, NULL },
	{ "sleeping", MTS_JOB_SLEEPING, NULL },
	{ 0 },
};

const struct word call_words[] = {
	{ "task", MTS_CALL_TASK, NULL },
	{ "signal", MTS_CALL_SIGNAL, NULL },
	{ "write", MTS_CALL_WRITE, NULL },
	{ "lock", MTS_CALL_LOCK, NULL },
	{ 0 },
};

const struct word sees_words[] = {
	{ "tty", MTS_SEES_TTY, NULL },		 { "tty-output", MTS_SEES_TTY_OUTPUT, NULL },
	{ "unix", MTS_SEES_UNIX, NULL },	 { "evdev", MTS_SEES_EVDEV, NULL },
	{ "realtime", MTS_SEES_REALTIME, NULL }, { "pipes", MTS_SEES_PIPES, NULL },
	{ "swapins", MTS_SEES_SWAPINS, NULL },	 { 0 },
};

const struct word each_words[] = {
	{ "none", MTS_EACH_NONE, NULL },
	{ "before-user", MTS_EACH_BEFORE_USER, NULL },
	{ "after-fork", MTS_EACH_AFTER_FORK, NULL },
	{ 0 },
};

const char *word_of(const struct word *words, u32 value)
{
	for (; words->word; words++)
		if (words->value == value)
			return words->word;
	return "unknown";
}

bool word_value(const struct word *words, const char *text, u32 *value)
{
	for (; words->word; words++) {
		if (!strcmp(words->word, text) || (words->alias && !strcmp(words->alias, text))) {
			*value = words->value;
			return true;
		}
	}
	return false;
}

const char *word_list(const struct word *words, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (const struct word *w = words; w->word && used < size; w++) {
		const char *glue = w == words ? "" : w[1].word ? ", " : " or ";

		used += snprintf(buf + used, size - used, "%s%s", glue, w->word);
	}
	return buf;
}
