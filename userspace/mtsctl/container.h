/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The container that a cgroup belongs to. Its id is in the path of the cgroup. Its name is where
 * its engine keeps it while the container runs: the engine itself is not asked, as its answer takes
 * long, and nothing is kept here, so that a name is never out of date. engine.h asks engines.
 */
#ifndef MTSCTL_CONTAINER_H
#define MTSCTL_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/pure.h"
#include "uapi/mts.h"

#define CONTAINER_ID 64 /* hexadecimal digits */
#define CONTAINER_ID_SHORT 12 /* of them, as engines show it */
#define CONTAINER_NAME_SIZE 256

enum container_kind {
	CONTAINER_PODMAN,
	CONTAINER_DOCKER,
	CONTAINER_CONTAINERD, /* with nerdctl */
};

struct container {
	enum container_kind kind;
	char id[CONTAINER_ID + 1];
	size_t length; /* of the path of its cgroup; what follows is inside of the container */
};

/* @path: of a cgroup, below the cgroup root. Return: false: it is in no container. */
bool container_of_path(const char *path, struct container *container);

/*
 * The name of the container that the cgroup is, or lies in. Podman's are in the command line of the
 * container's monitor, which all users can read; the files of the others are root's.
 *
 * Return: false: it is in no container, or the name is not known.
 */
bool container_name(const char *path, char name[CONTAINER_NAME_SIZE]);

/* May the path of a job with this name have the id of a container? */
bool container_may_be(const char *name);

/*
 * Before container_of_job() is called for several jobs: other users than root walk the tree once
 * then, and not once for each of them.
 */
void container_expect(const struct mts_job_info *jobs, u32 n);

/* Those of a job's cgroup. Either may be NULL. */
bool container_of_job(const struct mts_job_info *job, struct container *container,
		      char name[CONTAINER_NAME_SIZE]);

/* Is it a name, or the beginning of an id, as engines allow it? */
bool container_name_is_valid(const char *name);

#endif /* MTSCTL_CONTAINER_H */
