// SPDX-License-Identifier: GPL-2.0
#include "control/device.h"

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "context.h"
#include "control/commands.h"
#include "uapi/mts.h"

static int copy_elements(const struct mts_list *list, const struct mts_elements *elements)
{
	size_t known = min(elements->size, elements->distance);
	char __user *to = u64_to_user_ptr(list->buf);
	const char *from = elements->at;
	u32 i;

	for (i = 0; i < list->count; i++, to += elements->distance, from += elements->size)
		if (copy_to_user(to, from, known) ||
		    clear_user(to + known, elements->distance - known))
			return -EFAULT;
	return 0;
}

static long list_ioctl(unsigned int cmd, void __user *arg)
{
	struct mts_elements elements;
	struct mts_list list;
	int err;

	if (copy_from_user(&list, arg, sizeof(list)))
		return -EFAULT;
	err = mts_command_list(cmd, &list, &elements);
	if (err)
		return err;
	err = copy_elements(&list, &elements);
	kvfree(elements.at);
	if (!err && copy_to_user(arg, &list, sizeof(list)))
		err = -EFAULT;
	return err;
}

/* @buf: _IOC_SIZE(cmd) bytes, all zeros. */
static long command_ioctl(unsigned int cmd, void __user *arg, void *buf)
{
	size_t size = _IOC_SIZE(cmd);
	int err;

	if (_IOC_DIR(cmd) & _IOC_WRITE && copy_from_user(buf, arg, size))
		return -EFAULT;
	/*
	 * Test whether the argument is writable before the command changes something: a process
	 * that has entered its job cannot be moved back.
	 */
	if (_IOC_DIR(cmd) == (_IOC_READ | _IOC_WRITE) && copy_to_user(arg, buf, size))
		return -EFAULT;
	err = mts_command(cmd, buf);
	if (err)
		return err;
	return _IOC_DIR(cmd) & _IOC_READ && copy_to_user(arg, buf, size) ? -EFAULT : 0;
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long uarg)
{
	void __user *arg = (void __user *)uarg;
	u64 small[48] = { 0 };
	void *large = NULL;
	long err;

	if (mts_command_changes(cmd) && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (mts_command_is_list(cmd))
		return list_ioctl(cmd, arg);
	if (!mts_command_is_known(cmd))
		return -ENOTTY;
	/* Only MTS_IOC_STATS of a newer mtsctl is larger. A thaw must not wait for memory. */
	if (_IOC_SIZE(cmd) > sizeof(small)) {
		large = kzalloc(_IOC_SIZE(cmd), GFP_KERNEL);
		if (!large)
			return -ENOMEM;
	}
	err = command_ioctl(cmd, arg, large ?: small);
	kfree(large);
	return err;
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = nonseekable_open,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "mts",
	.fops = &device_fops,
	.mode = 0600,
};

int mts_device_init(void)
{
	int err = misc_register(&device);

	if (err)
		pr_err("cannot register %s: error %d\n", MTS_DEVICE, err);
	return err;
}

void mts_device_exit(void)
{
	misc_deregister(&device);
}
