// SPDX-License-Identifier: GPL-2.0
#include "mts.h"

#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernfs.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/vmalloc.h>

#include "memory/cgroupfs.h"
#include "compat/compat.h"

/*
 * Upper bounds for a new cgroup, bytes: the cgroup with its files, and its per-CPU memory for each
 * processor.
 */
#define CGROUP_BYTES (128u << 10)
#define CGROUP_CPU_BYTES (8u << 10)

static struct path base_dir;
static struct cgroup *base_cgroup;
static const char *base_name; /* last path component; points into the parameter */
static struct path base_parent;
static const struct cred *own_cred;

static bool is_cgroup_dir(const struct path *dir)
{
	return dir->dentry->d_sb->s_magic == CGROUP2_SUPER_MAGIC && d_is_dir(dir->dentry);
}

struct cgroup *mts_cgroupfs_get(const struct path *dir)
{
	struct cgroup *cgrp;
	struct kernfs_node *kn;

	if (!is_cgroup_dir(dir))
		return ERR_PTR(-EINVAL);
	/*
	 * As css_tryget_online_from_dir(), which is not exported. Until a cgroup is released, the
	 * kernfs node of its directory points to it, under RCU.
	 */
	kn = d_inode(dir->dentry)->i_private;
	rcu_read_lock();
	cgrp = rcu_dereference(*(void __rcu __force **)&kn->priv);
	if (!cgrp || !css_tryget_online(&cgrp->self))
		cgrp = ERR_PTR(-ENODEV);
	rcu_read_unlock();
	return cgrp;
}

int mts_cgroupfs_dir_of_fd(int fd, struct path *dir)
{
	struct file *file = fget_raw(fd);

	if (!file)
		return -EBADF;
	*dir = file->f_path;
	path_get(dir);
	fput(file);
	return 0;
}

void mts_cgroupfs_name(const struct path *dir, char *name, size_t size)
{
	struct name_snapshot snapshot;

	take_dentry_name_snapshot(&snapshot, dir->dentry);
	strscpy(name, (const char *)snapshot.name.name, size);
	release_dentry_name_snapshot(&snapshot);
}

u32 mts_cgroupfs_owner(const struct path *dir)
{
	struct kstat stat;

	if (vfs_getattr(dir, &stat, STATX_UID, AT_STATX_SYNC_AS_STAT))
		return 0;
	return from_kuid(&init_user_ns, stat.uid);
}

bool mts_cgroupfs_has_memory(struct cgroup *cgrp)
{
	return rcu_access_pointer(cgrp->subsys[memory_cgrp_id]);
}

bool mts_cgroupfs_is_online(struct cgroup *cgrp)
{
	return READ_ONCE(cgrp->self.flags) & CSS_ONLINE;
}

bool mts_cgroupfs_is_populated(struct cgroup *cgrp)
{
	return cgroup_is_populated(cgrp);
}

struct cgroup *mts_cgroupfs_base(void)
{
	return base_cgroup;
}

/*
 * Allocations here may use the reserves. Where memory is short an allocation reclaims, which may
 * take a slow disk minutes. mts ends the shortage, so it must not wait for that. These files need
 * little memory and give it back at once (put()).
 */
static unsigned int dont_wait_for_memory(void)
{
	return memalloc_noreclaim_save();
}

/*
 * Making a cgroup allocates with cgroup_mutex held, which every thaw takes. So it must not reclaim
 * either. Wait for as much memory before.
 *
 * Of ordinary pages: the allocator of per-CPU memory reclaims with pcpu_alloc_mutex held. Another
 * process that makes a cgroup at that time waits for this lock, and it holds cgroup_mutex.
 */
static bool wait_for_memory(void)
{
	/*
	 * Page by page: an allocation of one large piece would reclaim, and count as memory
	 * pressure.
	 */
	void *pages = vmalloc(CGROUP_BYTES + (size_t)num_possible_cpus() * CGROUP_CPU_BYTES);

	vfree(pages);
	return pages;
}

static int remove_cgroup(const struct path *parent, const char *name, const struct inode *expected)
{
	unsigned int waits = dont_wait_for_memory();
	int err = mts_compat_rmdir(parent, name, expected);

	memalloc_noreclaim_restore(waits);
	return err;
}

static int make_cgroup(const struct path *parent, const char *name)
{
	unsigned int waits;
	int err;

	if (!wait_for_memory())
		return -ENOMEM;
	waits = dont_wait_for_memory();
	err = mts_compat_mkdir(parent, name, 0755);
	memalloc_noreclaim_restore(waits);
	return err;
}

/* fput() in a kernel thread defers the release, and thus the freeing of memory, to a worker. */
static void put(struct file *file)
{
	if (current->flags & PF_KTHREAD)
		__fput_sync(file);
	else
		fput(file);
}

struct file *mts_cgroupfs_open(const struct path *dir, const char *name, int flags)
{
	const struct cred *old = override_creds(own_cred);
	unsigned int waits = dont_wait_for_memory();
	struct file *file;

	file = file_open_root(dir, name, flags | O_CLOEXEC, 0);
	memalloc_noreclaim_restore(waits);
	revert_creds(old);
	return file;
}

ssize_t mts_cgroupfs_read(const struct path *dir, const char *name, char *buf, size_t size)
{
	struct file *file;
	unsigned int waits;
	loff_t pos = 0;
	ssize_t len;

	file = mts_cgroupfs_open(dir, name, O_RDONLY);
	if (IS_ERR(file))
		return PTR_ERR(file);
	waits = dont_wait_for_memory();
	len = kernel_read(file, buf, size - 1, &pos);
	memalloc_noreclaim_restore(waits);
	put(file);
	if (len >= 0)
		buf[len] = '\0';
	return len;
}

int mts_cgroupfs_write_file(struct file *file, const char *text)
{
	const struct cred *old = override_creds(own_cred);
	unsigned int waits = dont_wait_for_memory();
	struct kvec vec = { .iov_base = (void *)text, .iov_len = strlen(text) };
	struct iov_iter from;
	struct kiocb kiocb;
	ssize_t len;

	init_sync_kiocb(&kiocb, file);
	iov_iter_kvec(&from, ITER_SOURCE, &vec, 1, vec.iov_len);
	/*
	 * Not kernel_write(): its notification would call freeze_watch.c for our own writes, with
	 * job->freeze_lock held. The reserves are safe for memory.reclaim, too: reclaim never
	 * recurses.
	 */
	len = file->f_op->write_iter(&kiocb, &from);
	memalloc_noreclaim_restore(waits);
	revert_creds(old);
	return len < 0 ? len : 0;
}

int mts_cgroupfs_write(const struct path *dir, const char *name, const char *text)
{
	struct file *file;
	int err;

	file = mts_cgroupfs_open(dir, name, O_WRONLY);
	if (IS_ERR(file))
		return PTR_ERR(file);
	err = mts_cgroupfs_write_file(file, text);
	put(file);
	return err;
}

int mts_cgroupfs_read_u64(const struct path *dir, const char *name, u64 *value)
{
	char text[24];
	ssize_t len = mts_cgroupfs_read(dir, name, text, sizeof(text));

	if (len < 0)
		return len;
	if (!strcmp(strim(text), "max")) {
		*value = U64_MAX;
		return 0;
	}
	return kstrtou64(strim(text), 10, value);
}

int mts_cgroupfs_write_u64(const struct path *dir, const char *name, u64 value)
{
	char text[24];

	snprintf(text, sizeof(text), value == U64_MAX ? "max" : "%llu", value);
	return mts_cgroupfs_write(dir, name, text);
}

int mts_cgroupfs_enter(const struct path *dir)
{
	int err;

	/*
	 * A move waits for a grace period of RCU, unless another move has just done so
	 * (cgroup_threadgroup_rwsem). The process stands still meanwhile: 7 ms without this.
	 */
	rcu_expedite_gp();
	err = mts_cgroupfs_write(dir, "cgroup.procs", "0");
	rcu_unexpedite_gp();
	return err;
}

/*
 * Look up a directory after mkdir: cgroupfs leaves mkdir's dentry negative. The lookup must not
 * reclaim either: it holds a lock that others wait for with cgroup_mutex held.
 */
static int look_up(const struct path *parent, const char *name, struct path *dir)
{
	unsigned int waits = dont_wait_for_memory();
	int err = vfs_path_lookup(parent->dentry, parent->mnt, name, LOOKUP_DIRECTORY, dir);

	memalloc_noreclaim_restore(waits);
	return err;
}

/* The kernel's credentials, but what is made with them belongs to the owner of a directory. */
static const struct cred *cred_of_owner(const struct path *dir)
{
	unsigned int waits = dont_wait_for_memory();
	struct cred *cred = prepare_kernel_cred(&init_task);
	struct kstat stat;

	if (cred && vfs_getattr(dir, &stat, STATX_UID | STATX_GID, AT_STATX_SYNC_AS_STAT)) {
		put_cred(cred);
		cred = NULL;
	}
	if (cred) {
		cred->fsuid = stat.uid;
		cred->fsgid = stat.gid;
	}
	memalloc_noreclaim_restore(waits);
	return cred;
}

static int mkdir_as(const struct cred *cred, const struct path *parent, const char *name,
		    struct path *dir)
{
	const struct cred *old = override_creds(cred);
	int err = make_cgroup(parent, name);

	if (!err) {
		err = look_up(parent, name, dir);
		if (err)
			remove_cgroup(parent, name, NULL);
	}
	revert_creds(old);
	return err;
}

int mts_cgroupfs_mkdir(const struct path *place, const char *name, struct path *dir)
{
	const struct cred *cred;
	int err;

	if (!place)
		return mkdir_as(own_cred, &base_dir, name, dir);
	cred = cred_of_owner(place);
	if (!cred)
		return -ENOMEM;
	err = mkdir_as(cred, place, name, dir);
	put_cred(cred);
	return err;
}

void mts_cgroupfs_above(const struct path *dir, struct path *above)
{
	above->mnt = mntget(dir->mnt);
	above->dentry = dget_parent(dir->dentry);
}

int mts_cgroupfs_rmdir(const struct path *place, const char *name, const struct path *dir)
{
	const struct cred *old = override_creds(own_cred);
	int err = remove_cgroup(place ?: &base_dir, name, dir ? d_inode(dir->dentry) : NULL);

	revert_creds(old);
	return err;
}

/* Levels and characters of a path below a job; cgroups that lie deeper stay. */
#define PATH_BELOW_MAX 1024
/* Cgroups below a job that are removed at most: each needs a walk over all of them. */
#define TRIM_MAX 1024

/* The path of a cgroup below @cgrp that has none below it. Return: its length; 0: there is none. */
static int find_leaf(struct cgroup *cgrp, char *path, size_t size)
{
	struct cgroup_subsys_state *css = NULL, *leaf = NULL;
	int len = 0;

	rcu_read_lock();
	/* The last one that is online, in pre-order, has none below it that is. */
	while ((css = css_next_descendant_pre(css, &cgrp->self)))
		if (css != &cgrp->self && READ_ONCE(css->flags) & CSS_ONLINE)
			leaf = css;
	if (leaf)
		len = kernfs_path_from_node(leaf->cgroup->kn, cgrp->kn, path, size);
	rcu_read_unlock();
	return len;
}

static int remove_below(const struct path *dir, char *path)
{
	char *name = strrchr(path, '/');
	struct path parent = *dir;
	int err = 0;

	if (!name)
		return -EINVAL;
	*name++ = '\0';
	path_get(&parent);
	if (*path) {
		path_put(&parent);
		err = look_up(dir, path + 1, &parent);
	}
	if (err)
		return err;
	err = remove_cgroup(&parent, name, NULL);
	path_put(&parent);
	return err;
}

int mts_cgroupfs_trim(const struct path *dir, struct cgroup *cgrp)
{
	const struct cred *old = override_creds(own_cred);
	char *path = kmalloc(PATH_BELOW_MAX, GFP_KERNEL);
	int len, err = path ? 0 : -ENOMEM;
	u32 n = 0;

	while (!err && (len = find_leaf(cgrp, path, PATH_BELOW_MAX))) {
		if (len < 0 || len >= PATH_BELOW_MAX || n++ == TRIM_MAX)
			err = -EBUSY;
		else
			err = remove_below(dir, path);
	}
	kfree(path);
	revert_creds(old);
	return err;
}

static int find_base(const char *base)
{
	char *parent, *slash;
	int err;

	parent = kstrdup(base, GFP_KERNEL);
	if (!parent)
		return -ENOMEM;
	slash = strrchr(parent, '/');
	if (!slash || slash == parent || !slash[1]) {
		pr_err("cgroup_base=%s: not an absolute path to a directory of its own, such as /sys/fs/cgroup/mts\n",
		       base);
		err = -EINVAL;
		goto out;
	}
	*slash = '\0';
	base_name = base + (slash + 1 - parent);

	err = kern_path(parent, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &base_parent);
	if (err) {
		pr_err("cgroup_base: %s: error %d: is cgroup v2 mounted? (mount -t cgroup2 none /sys/fs/cgroup)\n",
		       parent, err);
		goto out;
	}
	if (!is_cgroup_dir(&base_parent)) {
		pr_err("cgroup_base: %s is not cgroup v2: mount it, or boot with systemd.unified_cgroup_hierarchy=1\n",
		       parent);
		err = -EINVAL;
		goto out_parent;
	}
	err = make_cgroup(&base_parent, base_name);
	if (!err || err == -EEXIST)
		err = look_up(&base_parent, base_name, &base_dir);
	if (!err)
		goto out;
	pr_err("cgroup_base: cannot make %s: error %d\n", base, err);
out_parent:
	path_put(&base_parent);
out:
	kfree(parent);
	return err;
}

static void release_base(void)
{
	/* -EBUSY if cgroups with live processes are left in it. */
	remove_cgroup(&base_parent, base_name, NULL);
	path_put(&base_dir);
	path_put(&base_parent);
}

int mts_cgroupfs_init(const char *base)
{
	int err;

	own_cred = prepare_kernel_cred(&init_task);
	if (!own_cred)
		return -ENOMEM;
	err = find_base(base);
	if (err)
		goto out_cred;

	/* Both need the controller, or jobs have no memory.* files. */
	err = mts_cgroupfs_write(&base_parent, "cgroup.subtree_control", "+memory");
	if (!err)
		err = mts_cgroupfs_write(&base_dir, "cgroup.subtree_control", "+memory");
	if (err) {
		pr_err("cannot enable the memory controller for %s: error %d: is it in cgroup v1, or off (cgroup_disable=memory)?\n",
		       base, err);
		goto out_base;
	}
	base_cgroup = mts_cgroupfs_get(&base_dir);
	if (!IS_ERR(base_cgroup))
		return 0;
	err = PTR_ERR(base_cgroup);
	pr_err("%s has been removed while it was being set up\n", base);

out_base:
	release_base();
out_cred:
	put_cred(own_cred);
	return err;
}

void mts_cgroupfs_exit(void)
{
	cgroup_put(base_cgroup);
	release_base();
	put_cred(own_cred);
}
