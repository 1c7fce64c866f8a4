/* SPDX-License-Identifier: GPL-2.0 */
/* The virtual machine's part of context/user.h; machine.h has what the harness asks of it. */
#ifndef MTS_CONTEXT_VIRTUAL_H
#define MTS_CONTEXT_VIRTUAL_H

/* A point at which another thread may run. Each access to shared data is one. */
extern unsigned int mts_user_points; /* left until a switch */
void mts_user_switch(void);

static inline void mts_user_point(void)
{
	if (!--mts_user_points)
		mts_user_switch();
}

__attribute__((format(printf, 1, 2))) void mts_user_log(const char *format, ...);

struct mutex {
	struct task_struct *owner;
};

typedef struct {
	struct task_struct *owner;
} spinlock_t;

struct file;

struct path {
	void *dentry;
};

struct cgroup {
	struct cgroup *parent;
	bool online;
};

#define cgroup_parent(cgrp) ((cgrp)->parent)
#define cgroup_put(cgrp) ((void)(cgrp))
#define fput(file) ((void)(file))
#define path_put(path) ((void)(path))

/* A run starts with the values in the sources. */
#define MTS_USER_PARAM(name, type) struct mts_user_unused
#define MTS_USER_PARAM_TEXT(name, text) struct mts_user_unused

#endif /* MTS_CONTEXT_VIRTUAL_H */
