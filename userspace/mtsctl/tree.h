/* SPDX-License-Identifier: GPL-2.0 */
/* The cgroups of the host and their processes, as they are now. */
#ifndef MTSCTL_TREE_H
#define MTSCTL_TREE_H

#include <stdbool.h>
#include <sys/types.h>

#include "cgroup.h"

/* Cgroups that are deeper are not looked at, as in cgroup_processes(). */
#define TREE_DEPTH_MAX 64

#define TREE_NO_ID 0xffffffffu

struct tree_process {
	pid_t pid;
	char comm[COMM_SIZE];
	u32 uid, gid; /* effective; TREE_NO_ID: the process has ended */
	bool is_ours; /* this process, or one of those above it */
};

/*
 * The cgroups are in the order of a walk from the root, each before those below it, and so are
 * their processes. So what is below cgroup i are those from i + 1 to end.
 */
struct tree_cgroup {
	char *path; /* below the cgroup root, with a slash in front; "/" for the root */
	u64 id; /* the inode number */
	u32 parent; /* its index; the root's is its own */
	u32 end; /* behind the last cgroup below it */
	bool has_children;
	u32 first; /* index of its first process; */
	u32 own_end; /* behind the last one of its own, */
	u32 all_end; /* and behind the last one below it */
};

struct tree {
	struct tree_cgroup *cgroups;
	u32 ncgroups, room;
	struct tree_process *processes;
	u32 nprocesses, process_room;
};

/* Return: 0 or -errno. A cgroup that goes meanwhile is left out. In any case tree_free() it. */
int tree_read(struct tree *tree);
void tree_free(struct tree *tree);

/*
 * Is it in one of @n groups, besides its own? A process may be in 65536, and a user have thousands
 * of such processes: they are read anew, and none is kept.
 */
bool tree_process_has_group(const struct tree_process *process, const u32 *ids, u32 n);

/* The cgroup of that path, "/a/b". Return: false: there is none. */
bool tree_find(const struct tree *tree, const char *path, u32 *i);

#endif /* MTSCTL_TREE_H */
