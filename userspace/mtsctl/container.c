// SPDX-License-Identifier: GPL-2.0
#include "container.h"

#include <dirent.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "cgroup_paths.h"
#include "host.h"

#define HEX "0123456789abcdef"
#define SCOPE ".scope"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define MONITOR "conmon"
#define PARENTS 16 /* between a process of a container and the monitor: podman exec, a runtime */
#define ARGUMENTS 64 /* of the monitor; the name is among the first */

/* ---- the id ------------------------------------------------------------------------------- */

/*
 * Names of cgroups: PREFIX-ID.scope where systemd makes them, PREFIX-ID or ID in others. Podman's
 * monitor has libpod-conmon-ID.scope: it is no part of the container.
 */
static const struct {
	const char *prefix;
	enum container_kind kind;
} kinds[] = {
	{ "libpod-", CONTAINER_PODMAN },
	{ "libpod-payload-", CONTAINER_PODMAN }, /* podman run --cgroups=split */
	{ "docker-", CONTAINER_DOCKER },
	{ "nerdctl-", CONTAINER_CONTAINERD },
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static bool is_id(const char *text, size_t length)
{
	return length == CONTAINER_ID && strspn(text, HEX) >= CONTAINER_ID;
}

/* A cgroup by the name of @length, and by that of the cgroup above it. */
static bool take_name(const char *name, size_t length, const char *above,
		      struct container *container)
{
	size_t scope = strlen(SCOPE);

	if (is_id(name, length)) {
		container->kind =
			!strncmp(above, "docker/", 7) ? CONTAINER_DOCKER : CONTAINER_CONTAINERD;
		memcpy(container->id, name, CONTAINER_ID);
		return true;
	}
	if (length > scope && !memcmp(name + length - scope, SCOPE, scope))
		length -= scope;
	for (size_t i = 0; i < N_KINDS; i++) {
		size_t prefix = strlen(kinds[i].prefix);

		if (length <= prefix || memcmp(name, kinds[i].prefix, prefix) ||
		    !is_id(name + prefix, length - prefix))
			continue;
		container->kind = kinds[i].kind;
		memcpy(container->id, name + prefix, CONTAINER_ID);
		return true;
	}
	return false;
}

/* The outermost one: what runs in it may make cgroups of any name. */
bool container_of_path(const char *path, struct container *container)
{
	const char *name = path, *above = "";

	*container = (struct container){ 0 };
	for (;;) {
		size_t length;

		name += strspn(name, "/");
		length = strcspn(name, "/");
		if (!length)
			return false;
		if (take_name(name, length, above, container)) {
			container->length = name + length - path;
			return true;
		}
		above = name;
		name += length;
	}
}

/* ---- Podman ------------------------------------------------------------------------------- */

static FILE *open_proc(pid_t pid, const char *file)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%d/%s", host_proc(), pid, file) >= (int)sizeof(path))
		return NULL;
	return fopen(path, "re");
}

/* 0: not known. */
static pid_t parent_of(pid_t pid)
{
	FILE *file = open_proc(pid, "status");
	char line[256];
	int parent = 0;

	while (file && !parent && fgets(line, sizeof(line), file))
		if (sscanf(line, "PPid: %d", &parent) != 1)
			parent = 0;
	if (file)
		fclose(file);
	return parent;
}

static bool take_text(const char *text, char name[CONTAINER_NAME_SIZE])
{
	if (!text || !container_name_is_valid(text))
		return false;
	snprintf(name, CONTAINER_NAME_SIZE, "%s", text);
	return true;
}

/* conmon -c ID ... -n NAME ... */
static bool monitor_says(pid_t pid, const char *id, char name[CONTAINER_NAME_SIZE])
{
	FILE *file = open_proc(pid, "cmdline");
	bool is_its = false, has_name = false;
	char *argument = NULL, before = '\0';
	size_t room = 0;

	for (int i = 0; file && i < ARGUMENTS && getdelim(&argument, &room, '\0', file) > 0; i++) {
		if (before == 'c' && strcmp(argument, id))
			break;
		is_its |= before == 'c';
		if (before == 'n')
			has_name = take_text(argument, name);
		if (has_name && is_its)
			break;
		before = !strcmp(argument, "-c") || !strcmp(argument, "-n") ? argument[1] : '\0';
	}
	free(argument);
	if (file)
		fclose(file);
	return has_name && is_its;
}

/* What runs in the container may call itself as the monitor. */
static bool is_inside(pid_t pid, const char *path, size_t length)
{
	char its[PATH_MAX];

	path += strspn(path, "/");
	return cgroup_of_process(pid, its) ||
	       (!strncmp(its + 1, path, length) && strchr("/", its[1 + length]));
}

/* The monitor is the parent of the container's first process, wherever its own cgroup is. */
static bool podman_name(const char *dir, const char *path, const struct container *container,
			char name[CONTAINER_NAME_SIZE])
{
	size_t length = container->length - strspn(path, "/");
	struct process process;
	char comm[COMM_SIZE];
	u32 total;
	pid_t pid;

	if (cgroup_processes(dir, 0, &process, 1, &total) || !total)
		return false;
	pid = process.pid;
	for (int i = 0; i < PARENTS && pid > 1; i++) {
		process_comm(pid, comm);
		if (!strcmp(comm, MONITOR) && !is_inside(pid, path, length))
			return monitor_says(pid, container->id, name);
		pid = parent_of(pid);
	}
	return false;
}

/* ---- Docker and containerd ---------------------------------------------------------------- */

/* A text of an object in a file; @object NULL: of the root. */
static bool file_says(const char *path, const char *object, const char *key,
		      char text[CONTAINER_NAME_SIZE])
{
	json_t *root = json_load_file(path, 0, NULL);
	const json_t *from = object ? json_object_get(root, object) : root;
	const char *value = json_string_value(json_object_get(from, key));
	bool has = value && strlen(value) < CONTAINER_NAME_SIZE;

	if (has)
		strcpy(text, value);
	json_decref(root);
	return has;
}

static bool docker_name(const char *id, char name[CONTAINER_NAME_SIZE])
{
	char path[PATH_MAX], text[CONTAINER_NAME_SIZE], root[CONTAINER_NAME_SIZE];

	snprintf(path, sizeof(path), "%s/etc/docker/daemon.json", host_root());
	if (!file_says(path, NULL, "data-root", root))
		strcpy(root, "/var/lib/docker");
	if (snprintf(path, sizeof(path), "%s%s/containers/%s/config.v2.json", host_root(), root,
		     id) >= (int)sizeof(path))
		return false;
	return file_says(path, NULL, "Name", text) && take_text(text + (*text == '/'), name);
}

/* In one of the namespaces. */
static bool containerd_name(const char *id, char name[CONTAINER_NAME_SIZE])
{
	char tasks[PATH_MAX], path[PATH_MAX], text[CONTAINER_NAME_SIZE];
	const struct dirent *entry;
	bool has = false;
	DIR *stream;

	snprintf(tasks, sizeof(tasks), "%s/run/containerd/io.containerd.runtime.v2.task",
		 host_root());
	stream = opendir(tasks);
	while (stream && !has && (entry = readdir(stream)))
		has = snprintf(path, sizeof(path), "%s/%s/%s/config.json", tasks, entry->d_name,
			       id) < (int)sizeof(path) &&
		      file_says(path, "annotations", "nerdctl/name", text) && take_text(text, name);
	if (stream)
		closedir(stream);
	return has;
}

/* ---- all of them -------------------------------------------------------------------------- */

static bool name_of(const char *path, const struct container *container,
		    char name[CONTAINER_NAME_SIZE])
{
	char dir[PATH_MAX];

	if (container->kind == CONTAINER_DOCKER)
		return docker_name(container->id, name);
	if (container->kind == CONTAINER_CONTAINERD)
		return containerd_name(container->id, name);
	return snprintf(dir, sizeof(dir), "%s%s%.*s", host_cgroups(), *path == '/' ? "" : "/",
			(int)container->length, path) < (int)sizeof(dir) &&
	       podman_name(dir, path, container, name);
}

bool container_name(const char *path, char name[CONTAINER_NAME_SIZE])
{
	struct container container;

	return container_of_path(path, &container) && name_of(path, &container, name);
}

bool container_name_is_valid(const char *name)
{
	return *name && strchr(LETTERS, *name) && strlen(name) < CONTAINER_NAME_SIZE &&
	       !name[strspn(name, LETTERS "_.-")];
}

/* ---- of jobs ------------------------------------------------------------------------------ */

/* The module keeps the first bytes of a name. */
bool container_may_be(const char *name)
{
	if (!strcmp(name, "container") || strspn(name, HEX) == MTS_NAME_SIZE - 1)
		return true;
	for (size_t i = 0; i < N_KINDS; i++)
		if (!strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)))
			return true;
	return false;
}

void container_expect(const struct mts_job_info *jobs, u32 n)
{
	struct cgroup_path *paths = calloc((size_t)n + 1, sizeof(*paths));
	u32 may_be = 0;

	if (!paths || host_is_root()) {
		free(paths);
		return;
	}
	for (u32 i = 0; i < n; i++)
		if (container_may_be(jobs[i].name))
			paths[may_be++].id = jobs[i].cgroup_id;
	cgroup_paths_find(paths, may_be);
	cgroup_paths_free(paths, may_be);
	free(paths);
}

bool container_of_job(const struct mts_job_info *job, struct container *container,
		      char name[CONTAINER_NAME_SIZE])
{
	struct cgroup_path cgroup = { .id = job->cgroup_id };
	struct container its;
	bool is;

	if (!container_may_be(job->name))
		return false;
	cgroup_paths_find(&cgroup, 1);
	is = cgroup.path && container_of_path(cgroup.path, &its);
	if (is && container)
		*container = its;
	is = is && (!name || name_of(cgroup.path, &its, name));
	cgroup_paths_free(&cgroup, 1);
	return is;
}
