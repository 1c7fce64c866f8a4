// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "accounts.h"
#include "cgroup.h"
#include "format.h"
#include "gone.h"
#include "ipc.h"
#include "labels.h"
#include "mtsctl.h"
#include "parse.h"
#include "policy.h"
#include "snapshot.h"
#include "status.h"
#include "words.h"

#define DEPTH 64

struct subject {
	pid_t pid;
	char comm[COMM_SIZE];
	char cgroup[PATH_MAX];
	bool kernel_thread;
	bool frozen; /* its cgroup, by mts or by another process */
};

/* The job whose cgroup the process is in or below. */
static const struct mts_job_info *job_of(const struct snapshot *s, const char *cgroup)
{
	u64 ids[DEPTH];
	int n;

	if (cgroup_ids(cgroup, ids, DEPTH, &n))
		return NULL;
	for (int depth = 0; depth < n; depth++)
		for (u32 i = 0; i < s->njobs; i++)
			if (s->jobs[i].cgroup_id == ids[depth])
				return &s->jobs[i];
	return NULL;
}

static void explain_frozen(const struct snapshot *s, const struct mts_job_info *job)
{
	u64 since = mts_sub_floor(s->status.now_ns, job->frozen_since_ns);
	char a[FORMAT_SIZE];

	if (!job->frozen_since_ns)
		print_field("frozen", "being frozen now");
	else
		print_field("frozen", "for %s%s", format_time(a, since),
			    job->state == MTS_JOB_FREEZING ? " (not all of it yet)" : "");
	if (snapshot_rotates(s) && job->bin < s->nbins && !snapshot_runs(s, job->bin))
		print_field("until", "%s %u runs, in about %s", snapshot_bin_word(s), job->bin,
			    format_time(a, snapshot_starts_in(s, job->bin)));
	else if (snapshot_rotates(s))
		print_field("until", "the switch is done");
	else
		print_field("until", "its memory is back, as turns are over");
	print_field("why", "%s",
		    *s->status.detail ? s->status.detail :
					"the jobs need more memory together than the host has");
}

static void explain_size(const struct mts_job_info *job)
{
	char a[FORMAT_SIZE];

	if (job->size)
		print_field("needs", "%s, %s", format_size(a, job->size),
			    job->size_from == MTS_SIZE_GIVEN   ? "as --size says" :
			    job->size_from == MTS_SIZE_COMMAND ? "as the same command did" :
								 "as the other jobs do on average");
	else
		print_field("needs", "it is not known how much: --size says it");
}

static void explain_queue(const struct snapshot *s, const struct mts_job_info *job)
{
	char a[FORMAT_SIZE], b[FORMAT_SIZE];
	u64 now = s->status.now_ns;

	print_field("queue", "for %s: it has not begun, as what it needs does not fit yet",
		    format_time(a, mts_sub_floor(now, job->queued_since_ns)));
	explain_size(job);
	if (job->queue_place)
		print_field("place", "%u in the queue", job->queue_place);
	if (job->starts_ns)
		print_field("starts", "in about %s, at the latest in %s",
			    format_time(a, mts_sub_floor(job->starts_ns, now)),
			    format_time(b, mts_sub_floor(job->starts_by_ns, now)));
	else
		print_field("starts", "at the latest in %s",
			    format_time(a, mts_sub_floor(job->starts_by_ns, now)));
}

static void explain_thawed(const struct snapshot *s, const struct mts_job_info *job)
{
	char a[FORMAT_SIZE];

	switch (job->state) {
	case MTS_JOB_RESIDENT:
		print_field("frozen", "never: the job is pinned, it is in every bin");
		return;
	case MTS_JOB_REALTIME:
		print_field("frozen", "never while it has real-time threads: it is in every bin");
		return;
	case MTS_JOB_INTERACTIVE:
		print_field("frozen", "not while a person uses it: it is in every bin");
		print_field("input", "%s ago", format_time(a, job->input_age_ms * 1000000ull));
		return;
	case MTS_JOB_CALLED:
		print_field("frozen",
			    "not while a process outside waits for it: it runs out of turn");
		return;
	case MTS_JOB_LIMITED:
		print_field("frozen",
			    "never while turns would freeze it for longer than its limit: it is "
			    "in every bin");
		return;
	case MTS_JOB_NO_SWAP:
		print_field("frozen",
			    "never: memory.swap.max of its cgroup, or of one above, leaves it no "
			    "swap, so a freeze would free no memory: it is in every bin");
		return;
	case MTS_JOB_SLEEPING:
		print_field("frozen",
			    "not while it sleeps and has so little memory: it is in every bin");
		return;
	case MTS_JOB_UNTOUCHABLE:
		print_field("frozen", "never: PID 1 or a kernel thread lives in the job");
		return;
	case MTS_JOB_LEFT_OUT:
		print_field("frozen",
			    "no: it did not freeze within 1 s when asked (%u time%s), or another "
			    "process thawed it or has its cgroup.freeze open for writing; mts "
			    "tries again later",
			    job->freeze_failures, job->freeze_failures == 1 ? "" : "s");
		return;
	case MTS_JOB_QUEUED:
		explain_queue(s, job);
		return;
	case MTS_JOB_DELAYED:
		print_field(
			"frozen",
			"for 50 ms at a time, half of the time: it waits for swap for longer "
			"than its share, and others wait, too (policy=fair); %llu time%s so far",
			(unsigned long long)job->delays, job->delays == 1 ? "" : "s");
		return;
	case MTS_JOB_HOLDER:
		print_field("frozen",
			    "no: it keeps its memory, the others make room (policy=token)");
		return;
	case MTS_JOB_FOREIGN:
		print_field("frozen", "by another process: mts leaves it alone");
		return;
	}
	if (snapshot_runs(s, job->bin))
		print_field("frozen", "no: its %s runs, for another %s%s", snapshot_bin_word(s),
			    format_time(a, snapshot_slice_left(s)),
			    snapshot_overlaps(s) ? " or more" : "");
	else if (snapshot_rotates(s) && job->bin == MTS_BIN_NONE)
		print_field("frozen", "no: it has no bin yet, the next round gives it one");
	else if (snapshot_rotates(s))
		print_field("frozen", "not at the moment");
	else if (s->status.frozen)
		print_field("frozen", "no: turns are over, and it has its memory");
	else
		print_field("frozen", "no: mts freezes no job now (state %s)",
			    word_of(state_words, s->status.state));
	if (*s->status.detail)
		print_field("why", "%s", s->status.detail);
}

static const char *call_text(u32 kind)
{
	switch (kind) {
	case MTS_CALL_TASK:
		return "a process outside started a task in the job, or moved one into it";
	case MTS_CALL_SIGNAL:
		return "a process outside sent a signal that ends a process of the job";
	case MTS_CALL_WRITE:
		return "a process outside waited in a write until the job reads";
	case MTS_CALL_LOCK:
		return "a process outside waited for a file lock that the job holds";
	default:
		return "a process outside waited for the job";
	}
}

/* The calling process may have ended since, and its pid may belong to another process. */
static void explain_calls(const struct mts_job_info *job)
{
	char comm[COMM_SIZE], by[COMM_SIZE + 32] = "", a[FORMAT_SIZE];

	if (job->last_call_age_ms == MTS_CALL_AGE_MAX)
		return;
	if (job->last_call_pid) {
		process_comm(job->last_call_pid, comm);
		snprintf(by, sizeof(by),
			 strcmp(comm, "?") ? ", by process %u (%s)" : ", by process %u",
			 job->last_call_pid, comm);
	}
	print_field("called", "%s ago%s: %s; %s",
		    format_time(a, job->last_call_age_ms * 1000000ull), by,
		    call_text(job->last_call),
		    job->last_call_refused ? "refused, as its budget was used up" : "thawed");
	if (job->calls > 1 || job->calls_refused)
		print_field("calls", "%llu while it was frozen, %llu of them refused", job->calls,
			    job->calls_refused);
}

/* The job in which a process that is in none would be, had it not ended. Return: false: none. */
static bool find_gone(const struct subject *subject, struct mts_gone_info *gone)
{
	u64 ids[DEPTH];
	int n;

	return !cgroup_ids(subject->cgroup, ids, DEPTH, &n) &&
	       gone_find(subject->cgroup, ids, n, gone);
}

static void explain_gone(const struct subject *subject, const struct snapshot *s)
{
	char name[MTS_NAME_SIZE], a[FORMAT_SIZE];
	struct mts_gone_info gone;

	if (!find_gone(subject, &gone))
		return;
	print_field("was", "job %s (%u) until %s ago, when its last process %s: %s",
		    format_name(name, sizeof(name), gone.name), gone.id,
		    format_time(a, mts_sub_floor(s->status.now_ns, gone.gone_ns)),
		    gone.why == MTS_GONE_MOVED ? "moved to this cgroup" : "exited",
		    gone.why == MTS_GONE_MOVED ? "'mtsctl add' makes this cgroup a job" :
						 "what starts in its cgroup again is in no job, "
						 "until 'mtsctl add'");
}

static void explain(const struct subject *subject, const struct snapshot *s,
		    const struct mts_job_info *job)
{
	char name[MTS_NAME_SIZE], cgroup[200], a[FORMAT_SIZE];

	print_field("process", "%d %s", subject->pid, subject->comm);
	print_field("cgroup", "%s", format_name(cgroup, sizeof(cgroup), subject->cgroup));
	if (!job) {
		print_field("job", "none: mts does nothing to it%s",
			    subject->kernel_thread ? " (it is a kernel thread)" : "");
		explain_gone(subject, s);
		if (subject->frozen)
			print_field("frozen", "by another process (cgroup.freeze)");
		else
			print_field("frozen", "no");
		return;
	}
	print_field("job", "%s (%u)", format_name(name, sizeof(name), job->name), job->id);
	if (snapshot_unit(s, job))
		print_field("unit", "%s",
			    format_name(cgroup, sizeof(cgroup), snapshot_unit(s, job)));
	if (snapshot_label(s, job) != job->name)
		print_field("container", "%s", snapshot_label(s, job));
	if (snapshot_knows_users(s))
		print_field("user", "%s", format_name(name, sizeof(name), account_name(job->user)));
	if (job->bin < s->nbins)
		print_field(snapshot_bin_word(s), "%u of 0 to %u", job->bin, s->nbins - 1);
	if (job_is_frozen(job))
		explain_frozen(s, job);
	else
		explain_thawed(s, job);
	if (policy_is_chosen(&s->policy))
		print_field("policy", "%s, by policy=auto%s: 'mtsctl status' has what each gives",
			    word_of(policy_words, s->policy.policy),
			    s->policy.on_trial ? ", on trial" : "");
	if (job->flags & MTS_JOB_STAYS)
		print_field("memory", "stays: a person used the job %s ago",
			    format_time(a, job->input_age_ms * 1000000ull));
	if (job->unused)
		print_field("unused", "%s: not used in its last slices, so it stays in swap",
			    format_size(a, job->unused));
	if (job->max_pause_ns)
		print_field("limit", "%s: mts never freezes it for longer",
			    format_time(a, job->max_pause_ns));
	if (job->weight && job->weight != MTS_WEIGHT_DEFAULT)
		print_field("weight", "%u: its turns are in proportion to it; %u is usual",
			    job->weight, MTS_WEIGHT_DEFAULT);
	if (job->memory_limit)
		print_field("confined",
			    "its cgroup, or one above, has reached memory.high or memory.max, or "
			    "needs more (%s): what it waits for by that begins no turns",
			    format_size(a, job->memory_limit));
	if (job->immovable && job->state != MTS_JOB_NO_SWAP)
		print_field("stays", "%s: memory.swap.max keeps it in memory while it is frozen",
			    format_size(a, job->immovable));
	explain_calls(job);
	if (job->frozen_longest_ns)
		print_field("longest", "%s: its longest freeze so far",
			    format_time(a, job->frozen_longest_ns));
}

static void put_frozen(json_t **root, const struct subject *subject, const struct snapshot *s,
		       const struct mts_job_info *job)
{
	bool ours = job && (job_is_frozen(job) || job->state == MTS_JOB_QUEUED);
	json_t *since = NULL, *until = NULL;

	if (ours && job->frozen_since_ns)
		since = json_u64(mts_sub_floor(s->status.now_ns, job->frozen_since_ns));
	if (ours && snapshot_rotates(s) && job->bin < s->nbins)
		until = json_u64(snapshot_starts_in(s, job->bin));
	json_put(root, "frozen", json_string(ours ? "mts" : subject->frozen ? "other" : "no"));
	json_put(root, "frozen_for_ns", since ? since : json_null());
	json_put(root, "runs_in_ns", until ? until : json_null());
}

static json_t *job_json(const struct snapshot *s, const struct mts_job_info *job)
{
	json_t *root = json_object();

	json_put(&root, "id", json_u64(job->id));
	json_put(&root, "name", json_text(job->name));
	json_put(&root, "unit", status_unit_json(s, job));
	json_put(&root, "container", status_container_json(s, job));
	json_put(&root, "user", snapshot_knows_users(s) ? json_u64(job->user) : json_null());
	json_put(&root, "state", json_string(word_of(job_state_words, job->state)));
	json_put(&root, "bin", status_bin_json(s, job->bin));
	json_put(&root, "max_pause_ns", json_u64_or_null(job->max_pause_ns));
	json_put(&root, "weight", json_u64_or_null(job->weight));
	json_put(&root, "memory_limit", json_u64_or_null(job->memory_limit));
	json_put(&root, "immovable", json_u64(job->immovable));
	json_put(&root, "queue", status_queue_json(s, job));
	json_put(&root, "calls", json_u64(job->calls));
	json_put(&root, "calls_refused", json_u64(job->calls_refused));
	json_put(&root, "last_call", status_call_json(job));
	return root;
}

static json_t *gone_json(const struct subject *subject, const struct snapshot *s)
{
	struct mts_gone_info gone;
	json_t *root;

	if (!find_gone(subject, &gone))
		return json_null();
	root = json_object();
	json_put(&root, "id", json_u64(gone.id));
	json_put(&root, "name", json_text(gone.name));
	json_put(&root, "why", json_string(gone.why == MTS_GONE_MOVED ? "moved" : "empty"));
	json_put(&root, "ended_for_ns", json_u64(mts_sub_floor(s->status.now_ns, gone.gone_ns)));
	return root;
}

static int explain_json(const struct subject *subject, const struct snapshot *s,
			const struct mts_job_info *job)
{
	json_t *root = json_root();

	json_put(&root, "pid", json_integer(subject->pid));
	json_put(&root, "comm", json_text(subject->comm));
	json_put(&root, "cgroup", json_text(subject->cgroup));
	json_put(&root, "kernel_thread", json_boolean(subject->kernel_thread));
	json_put(&root, "state", json_string(word_of(state_words, s->status.state)));
	json_put(&root, "detail", json_text(s->status.detail));
	json_put(&root, "policy", json_string(word_of(policy_words, s->policy.policy)));
	json_put(&root, "job", job ? job_json(s, job) : json_null());
	json_put(&root, "was", job ? json_null() : gone_json(subject, s));
	put_frozen(&root, subject, s, job);
	return json_print(root);
}

static int why_process(struct subject *subject, bool json)
{
	const struct mts_job_info *job;
	struct snapshot s;
	int ret;

	ret = cgroup_of_process(subject->pid, subject->cgroup);
	if (ret == -ESRCH) {
		complain("why: no process %d", subject->pid);
		return EXIT_FAILED;
	}
	if (ret) {
		complain("why: the cgroup of process %d: %s", subject->pid,
			 ret == -ENOENT ? "it is in no cgroup v2" : strerror(-ret));
		return EXIT_FAILED;
	}
	process_comm(subject->pid, subject->comm);
	subject->kernel_thread = process_is_kernel_thread(subject->pid);
	subject->frozen = cgroup_frozen(subject->cgroup);

	ret = device_open();
	if (ret)
		return ret;
	ret = snapshot_take(&s);
	if (ret) {
		ret = device_failed("why", -ret);
	} else {
		labels_find(&s);
		job = job_of(&s, subject->cgroup);
		if (json)
			ret = explain_json(subject, &s, job);
		else
			explain(subject, &s, job);
	}
	snapshot_free(&s);
	return ret;
}

int why_main(const struct command *command, int argc, char **argv)
{
	struct subject subject = { 0 };
	const char *wrong;
	bool json = false;
	int ret;

	ret = simple_options(command, argc, argv, &json);
	if (ret != OPTION_END)
		return ret;
	if (argc - optind != 1)
		return usage_error(command, "name one process id");
	wrong = parse_pid(argv[optind], &subject.pid);
	if (wrong)
		return usage_error(command, "'%s': %s", argv[optind], wrong);
	return why_process(&subject, json);
}
