// SPDX-License-Identifier: GPL-2.0
/* cgroup_paths.c: how often another user than root walks the tree; host.c: what root alone may. */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "cgroup_paths.h"
#include "check.h"
#include "host.h"
#include "uapi/mts.h"

#define CGROUPS 4u

static char root[64];
static u64 ids[CGROUPS];
static u32 walks; /* directories that were opened by name */
static u32 opens; /* cgroups that were opened by id */
static int open_error;

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);

DIR *__wrap_opendir(const char *path)
{
	walks++;
	return __real_opendir(path);
}

int __wrap_open_by_handle_at(int mount, struct file_handle *handle, int flags);

int __wrap_open_by_handle_at(int mount, struct file_handle *handle, int flags)
{
	(void)mount;
	(void)handle;
	(void)flags;
	opens++;
	errno = open_error;
	return -1;
}

/* Of host.c all but host_cgroup_open() is another one here. */
bool __wrap_host_is_root(void);
const char *__wrap_host_cgroups(void);

bool __wrap_host_is_root(void)
{
	return false;
}

const char *__wrap_host_cgroups(void)
{
	return root;
}

/* Of cgroup.c. */
int cgroup_path_of_id(u64 id, char path[PATH_MAX])
{
	int fd = host_cgroup_open(id);

	(void)path;
	return fd;
}

static void make_tree(void)
{
	char path[PATH_MAX];
	struct stat st;

	strcpy(root, "/tmp/mts-paths-XXXXXX");
	CHECK(mkdtemp(root));
	for (u32 i = 0; i < CGROUPS; i++) {
		snprintf(path, sizeof(path), "%s/%u", root, i);
		CHECK(!mkdir(path, 0700) && !stat(path, &st));
		ids[i] = st.st_ino;
	}
}

static void remove_tree(void)
{
	char path[PATH_MAX];

	for (u32 i = 0; i < CGROUPS; i++) {
		snprintf(path, sizeof(path), "%s/%u", root, i);
		rmdir(path);
	}
	rmdir(root);
}

/* Ask for one. Return: whether it was found, without a walk if @known. */
static bool finds(u32 cgroup, bool known)
{
	struct cgroup_path asked = { .id = ids[cgroup] };
	char wanted[16];
	bool ok;

	walks = 0;
	snprintf(wanted, sizeof(wanted), "/%u", cgroup);
	cgroup_paths_find(&asked, 1);
	ok = asked.path && !strcmp(asked.path, wanted) && !walks == known;
	cgroup_paths_free(&asked, 1);
	return ok;
}

static void an_id_that_is_refused_is_not_tried_again(void)
{
	open_error = ESTALE;
	CHECK(host_cgroup_open(1) == -ESTALE && host_cgroup_open(2) == -ESTALE && opens == 2);
	open_error = EPERM;
	CHECK(host_cgroup_open(1) == -EPERM && opens == 3);
	CHECK(host_cgroup_open(2) == -EPERM && host_cgroup_open(3) == -EPERM);
	CHECK(opens == 3, "%u", opens);
}

/* As container_of_job() asks: the next one does not make the one before forgotten. */
static void one_at_a_time_is_remembered(void)
{
	CHECK(finds(0, false) && finds(1, false));
	for (u32 i = 0; i < 2; i++)
		CHECK(finds(0, true) && finds(1, true));
}

static void all_at_once_are_one_walk(void)
{
	struct cgroup_path asked[CGROUPS + 1];

	for (u32 i = 0; i < CGROUPS; i++)
		asked[i] = (struct cgroup_path){ .id = ids[i], .of = i };
	asked[CGROUPS] = (struct cgroup_path){ .id = U64_MAX, .of = CGROUPS }; /* it has ended */
	walks = 0;
	cgroup_paths_find(asked, CGROUPS + 1);
	CHECK(walks == CGROUPS + 1, "%u", walks);
	for (u32 i = 0; i < CGROUPS; i++)
		CHECK(asked[i].path && asked[i].path[1] == (char)('0' + asked[i].of));
	CHECK(!asked[CGROUPS].path);
	cgroup_paths_free(asked, CGROUPS + 1);
	for (u32 i = 0; i < CGROUPS; i++)
		CHECK(finds(i, true));
}

/* What is remembered does not grow for ever. */
static void those_of_long_ago_are_forgotten(void)
{
	u32 n = 2 * MTS_MAX_JOBS;
	struct cgroup_path *asked = calloc(n, sizeof(*asked));

	for (u32 i = 0; asked && i < n; i++)
		asked[i].id = U64_MAX - i;
	cgroup_paths_find(asked, n);
	cgroup_paths_free(asked, n);
	free(asked);
	CHECK(finds(0, false) && finds(0, true));
}

int main(void)
{
	make_tree();
	an_id_that_is_refused_is_not_tried_again();
	one_at_a_time_is_remembered();
	all_at_once_are_one_walk();
	those_of_long_ago_are_forgotten();
	remove_tree();
	if (failures)
		printf("%d checks failed\n", failures);
	return failures != 0;
}
