/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The real machine's part of context/user.h: threads, locks and the clock of the host.
 *
 * RCU: a reader only counts itself. Memory that kfree_rcu() gets is freed at a moment without
 * readers: what was unpublished before that moment, no later reader finds.
 */
#ifndef MTS_CONTEXT_REAL_H
#define MTS_CONTEXT_REAL_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* Each access to shared data is atomic by itself. */
static inline void mts_user_point(void)
{
}

/* All zeros: unlocked, as PTHREAD_MUTEX_INITIALIZER is with glibc and musl. */
struct mutex {
	pthread_mutex_t lock;
	struct task_struct *owner;
};

/* No thread of user space can forbid to be interrupted: the same as a mutex. */
typedef struct mutex spinlock_t;

/* A task: a thread of the program. While it answers a request, also the process that asks. */
struct mts_user_caller {
	pid_t pid;
	struct cgroup *from; /* where it is; NULL: it waits for the answer, wherever it is */
	uid_t uid;
	char comm[16];
};

/* Of the request that this thread answers; this process, if there is none. */
struct mts_user_caller *mts_user_caller(void);
#define task_tgid_nr(task) (mts_user_caller()->pid)
#define get_task_comm(text, task) strscpy(text, mts_user_caller()->comm, sizeof(text))
#define is_global_init(task) (task_tgid_nr(task) == 1)
#define current_uid() (mts_user_caller()->uid)
#define from_kuid(namespace, kuid) (kuid)

/* kthread_stop() of a thread that sleeps in poll(2), in which it also waits for this eventfd(2). */
void mts_user_stop_polling(struct task_struct *task, int eventfd);

/* A directory of cgroup v2 and an open file: the program brings them. */
struct cgroup;
struct file;

struct path {
	struct cgroup *dentry; /* with a reference */
};

struct cgroup *cgroup_parent(const struct cgroup *cgrp);
void cgroup_put(struct cgroup *cgrp);
bool cgroup_is_descendant(const struct cgroup *cgrp, const struct cgroup *above);
u64 cgroup_ino(const struct cgroup *cgrp);
void fput(struct file *file);
void path_put(struct path *path);
void path_get(struct path *path);

/* ---- parameters: KEY=VALUE words of the command line, as for insmod ------------------- */

enum mts_user_param_type {
	MTS_USER_charp,
	MTS_USER_uint,
	MTS_USER_ullong,
	MTS_USER_bool
};

struct mts_user_param {
	const char *name;
	enum mts_user_param_type type;
	void *value;
	struct mts_user_param *next;
};

void mts_user_param_register(struct mts_user_param *param);
void mts_user_param_text(const char *name, const char *text);
/* Take a word. Return: NULL, or what is wrong with it. */
const char *mts_user_param_take(const char *word);
/* Print each parameter with its description. */
void mts_user_param_help(void);

#define MTS_USER_PARAM(variable, kind)                                                      \
	static struct mts_user_param mts_user_param_##variable = { .name = #variable,       \
								   .type = MTS_USER_##kind, \
								   .value = &(variable) };  \
	__attribute__((constructor)) static void mts_user_param_register_##variable(void)   \
	{                                                                                   \
		mts_user_param_register(&mts_user_param_##variable);                        \
	}                                                                                   \
	struct mts_user_unused
#define MTS_USER_PARAM_TEXT(variable, description)                                    \
	__attribute__((constructor)) static void mts_user_param_text_##variable(void) \
	{                                                                             \
		mts_user_param_text(#variable, description);                          \
	}                                                                             \
	struct mts_user_unused

#endif /* MTS_CONTEXT_REAL_H */
