// SPDX-License-Identifier: GPL-2.0
/*
 * mkdir and rmdir from the kernel. The interface changed three times: the mapping of ids (6.3), the
 * locking of the parent, and the return value of vfs_mkdir() (6.15 and later).
 */
#include "compat/compat.h"

#include <linux/dcache.h>
#include <linux/err.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)

int mts_compat_mkdir(const struct path *parent, const char *name, umode_t mode)
{
	struct dentry *dentry;

	dentry = start_creating_noperm(parent->dentry, &QSTR(name));
	if (IS_ERR(dentry))
		return PTR_ERR(dentry);
	dentry = vfs_mkdir(mnt_idmap(parent->mnt), d_inode(parent->dentry), dentry, mode, NULL);
	end_creating(dentry);
	return PTR_ERR_OR_ZERO(dentry);
}

int mts_compat_rmdir(const struct path *parent, const char *name, const struct inode *expected)
{
	struct dentry *dentry;
	int err = -ENOENT;

	dentry = start_removing_noperm(parent->dentry, &QSTR(name));
	if (IS_ERR(dentry))
		return PTR_ERR(dentry);
	if (!expected || d_inode(dentry) == expected)
		err = vfs_rmdir(mnt_idmap(parent->mnt), d_inode(parent->dentry), dentry, NULL);
	end_removing(dentry);
	return err;
}

#else

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define mnt_idmap(mnt) mnt_user_ns(mnt)
#endif

/* The caller holds the parent's inode lock. rmdir must not get a negative dentry. */
static struct dentry *lookup(const struct path *parent, const char *name)
{
	if (IS_DEADDIR(d_inode(parent->dentry)))
		return ERR_PTR(-ENOENT);
	return lookup_one_len(name, parent->dentry, strlen(name));
}

int mts_compat_mkdir(const struct path *parent, const char *name, umode_t mode)
{
	struct dentry *dentry;
	int err;

	inode_lock_nested(d_inode(parent->dentry), I_MUTEX_PARENT);
	dentry = lookup(parent, name);
	if (IS_ERR(dentry)) {
		err = PTR_ERR(dentry);
	} else if (d_is_positive(dentry)) {
		err = -EEXIST;
		dput(dentry);
	} else {
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
		err = vfs_mkdir(mnt_idmap(parent->mnt), d_inode(parent->dentry), dentry, mode);
		dput(dentry);
#else
		/* On failure vfs_mkdir() drops the dentry. */
		dentry = vfs_mkdir(mnt_idmap(parent->mnt), d_inode(parent->dentry), dentry, mode);
		err = PTR_ERR_OR_ZERO(dentry);
		if (!err)
			dput(dentry);
#endif
	}
	inode_unlock(d_inode(parent->dentry));
	return err;
}

int mts_compat_rmdir(const struct path *parent, const char *name, const struct inode *expected)
{
	struct dentry *dentry;
	int err = -ENOENT;

	inode_lock_nested(d_inode(parent->dentry), I_MUTEX_PARENT);
	dentry = lookup(parent, name);
	if (IS_ERR(dentry)) {
		err = PTR_ERR(dentry);
	} else {
		if (d_is_positive(dentry) && (!expected || d_inode(dentry) == expected))
			err = vfs_rmdir(mnt_idmap(parent->mnt), d_inode(parent->dentry), dentry);
		dput(dentry);
	}
	inode_unlock(d_inode(parent->dentry));
	return err;
}

#endif
