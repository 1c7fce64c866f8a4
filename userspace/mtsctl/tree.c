// SPDX-License-Identifier: GPL-2.0
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"

/* ---- processes ------------------------------------------------------------------------------ */

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%d/%s", host_proc(), pid, name) >= (int)sizeof(path))
		return NULL;
	return fopen(path, "re");
}

/* Return: the parent's number; 0: none, or not known. */
static pid_t read_status(struct tree_process *process)
{
	FILE *file = open_proc(process->pid, "status");
	char line[256];
	int parent = 0;

	process->uid = TREE_NO_ID;
	process->gid = TREE_NO_ID;
	/* The line of its groups comes after these, and may be long. */
	while (file && fgets(line, sizeof(line), file) && strncmp(line, "Groups:", 7)) {
		/* The second of four is the effective one. */
		if (sscanf(line, "Uid: %*u %u", &process->uid) == 1 ||
		    sscanf(line, "Gid: %*u %u", &process->gid) == 1 ||
		    sscanf(line, "PPid: %d", &parent) == 1)
			continue;
	}
	if (file)
		fclose(file);
	return parent;
}

/* Up to where the numbers begin. */
static bool skip_to_groups(FILE *status)
{
	int c, n = 0;

	while (fscanf(status, "Groups:%n", &n) != EOF && !n)
		do
			c = getc(status);
		while (c != EOF && c != '\n');
	return n;
}

bool tree_process_has_group(const struct tree_process *process, const u32 *ids, u32 n)
{
	FILE *status = open_proc(process->pid, "status");
	bool has = false;
	u32 group;

	if (status && skip_to_groups(status))
		while (!has && fscanf(status, "%u", &group) == 1)
			for (u32 i = 0; i < n; i++)
				has |= ids[i] == group;
	if (status)
		fclose(status);
	return has;
}

/* This process and those above it: the module never makes a job of them. */
static bool is_ours(pid_t pid)
{
	static pid_t ours[64];
	static u32 n;

	if (!n) {
		struct tree_process process = { .pid = getpid() };

		while (process.pid > 0 && n < 64) {
			ours[n++] = process.pid;
			process.pid = read_status(&process);
		}
	}
	for (u32 i = 0; i < n; i++)
		if (ours[i] == pid)
			return true;
	return false;
}

static int add_process(struct tree *tree, pid_t pid)
{
	struct tree_process *process;

	if (tree->nprocesses == tree->process_room) {
		u32 room = tree->process_room ? 2 * tree->process_room : 256;
		void *more = realloc(tree->processes, room * sizeof(*tree->processes));

		if (!more)
			return -ENOMEM;
		tree->processes = more;
		tree->process_room = room;
	}
	process = &tree->processes[tree->nprocesses++];
	*process = (struct tree_process){ .pid = pid, .is_ours = is_ours(pid) };
	process_comm(pid, process->comm);
	read_status(process);
	return 0;
}

static int read_processes(struct tree *tree, const char *dir)
{
	char path[PATH_MAX];
	int pid, ret = 0;
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/cgroup.procs", dir) >= (int)sizeof(path))
		return 0;
	file = fopen(path, "re");
	/* 0: a process of another PID namespace. */
	while (file && !ret && fscanf(file, "%d", &pid) == 1)
		ret = pid > 0 ? add_process(tree, pid) : 0;
	if (file)
		fclose(file);
	return ret;
}

/* ---- cgroups ------------------------------------------------------------------------------- */

static int read_below(struct tree *tree, char dir[PATH_MAX], u32 parent, int depth);

/* Return: 0, also if it has gone, or -errno. */
static int read_cgroup(struct tree *tree, char dir[PATH_MAX], u32 parent, int depth)
{
	struct tree_cgroup *cgroup;
	const char *path = dir + strlen(host_cgroups());
	u32 i = tree->ncgroups;
	struct stat st;
	int ret;

	if (lstat(dir, &st) || !S_ISDIR(st.st_mode))
		return 0;
	if (tree->ncgroups == tree->room) {
		u32 room = tree->room ? 2 * tree->room : 256;
		void *more = realloc(tree->cgroups, room * sizeof(*tree->cgroups));

		if (!more)
			return -ENOMEM;
		tree->cgroups = more;
		tree->room = room;
	}
	cgroup = &tree->cgroups[tree->ncgroups];
	*cgroup = (struct tree_cgroup){
		.path = strdup(*path ? path : "/"),
		.id = st.st_ino,
		.parent = i ? parent : 0,
		.first = tree->nprocesses,
	};
	if (!cgroup->path)
		return -ENOMEM;
	tree->ncgroups++;
	if (i)
		tree->cgroups[parent].has_children = true;
	ret = read_processes(tree, dir);
	tree->cgroups[i].own_end = tree->nprocesses;
	if (!ret && depth < TREE_DEPTH_MAX)
		ret = read_below(tree, dir, i, depth + 1);
	tree->cgroups[i].end = tree->ncgroups;
	tree->cgroups[i].all_end = tree->nprocesses;
	return ret;
}

/* A user may name a cgroup ".x". */
static int is_directory(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
	       (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

/* @dir is made longer for each, and as it was again. */
static int read_below(struct tree *tree, char dir[PATH_MAX], u32 parent, int depth)
{
	size_t length = strlen(dir);
	struct dirent **entries;
	int ret = 0, n;

	n = scandir(dir, &entries, is_directory, alphasort);
	if (n < 0)
		return errno == ENOMEM ? -ENOMEM : 0;
	for (int i = 0; i < n; i++) {
		if (!ret && length + strlen(entries[i]->d_name) + 2 <= PATH_MAX) {
			sprintf(dir + length, "/%s", entries[i]->d_name);
			ret = read_cgroup(tree, dir, parent, depth);
			dir[length] = '\0';
		}
		free(entries[i]);
	}
	free(entries);
	return ret;
}

int tree_read(struct tree *tree)
{
	char dir[PATH_MAX];

	*tree = (struct tree){ 0 };
	if (snprintf(dir, sizeof(dir), "%s", host_cgroups()) >= (int)sizeof(dir))
		return -ENAMETOOLONG;
	if (access(dir, R_OK | X_OK))
		return -errno;
	return read_cgroup(tree, dir, 0, 0);
}

void tree_free(struct tree *tree)
{
	for (u32 i = 0; i < tree->ncgroups; i++)
		free(tree->cgroups[i].path);
	free(tree->cgroups);
	free(tree->processes);
}

bool tree_find(const struct tree *tree, const char *path, u32 *i)
{
	for (*i = 0; *i < tree->ncgroups; (*i)++)
		if (!strcmp(tree->cgroups[*i].path, path))
			return true;
	return false;
}
