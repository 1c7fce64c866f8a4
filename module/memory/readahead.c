// SPDX-License-Identifier: GPL-2.0
#include "memory/readahead.h"

#include <linux/err.h>
#include <linux/fs.h>

#include "mts.h"

/* The kernel's default of vm.page-cluster (swap_setup(), mm/swap.c), where it cannot be read. */
#define DEFAULT_CLUSTER 3u

/* A setting of the kernel's; NULL: there is no such file. */
struct setting {
	const char *path;
	struct file *file;
};

static struct setting by_address = { "/sys/kernel/mm/swap/vma_ra_enabled" };
static struct setting cluster = { "/proc/sys/vm/page-cluster" };
static bool was_on;

static void open_setting(struct setting *setting, int flags, const char *without)
{
	struct file *file = filp_open(setting->path, flags, 0);

	if (!IS_ERR(file))
		setting->file = file;
	else
		pr_info("%s: error %ld: %s\n", setting->path, PTR_ERR(file), without);
}

static void close_setting(struct setting *setting)
{
	if (setting->file)
		filp_close(setting->file, NULL);
}

void mts_readahead_init(void)
{
	open_setting(&by_address, O_RDWR, "bring-back is slower");
	open_setting(&cluster, O_RDONLY, "bring-back assumes the kernel's default");
}

void mts_readahead_exit(void)
{
	close_setting(&by_address);
	close_setting(&cluster);
}

/* Return: the length of the text; 0: it cannot be read. */
static size_t read_setting(const struct setting *setting, char *text, size_t size)
{
	loff_t pos = 0;
	ssize_t len = setting->file ? kernel_read(setting->file, text, size - 1, &pos) : 0;

	len = max_t(ssize_t, len, 0);
	text[len] = '\0';
	return len;
}

static bool is_on(void)
{
	char text[8];

	return read_setting(&by_address, text, sizeof(text)) && text[0] == 't';
}

static u32 cluster_pages(void)
{
	char text[16];
	u32 order;

	if (!read_setting(&cluster, text, sizeof(text)) || kstrtou32(strim(text), 10, &order))
		order = DEFAULT_CLUSTER;
	return 1u << min(order, 31u);
}

static void set(const char *text)
{
	loff_t pos = 0;
	ssize_t len = kernel_write(by_address.file, text, strlen(text), &pos);

	if (len < 0)
		pr_warn_ratelimited("cannot write %s to %s: error %zd\n", text, by_address.path,
				    len);
}

u32 mts_readahead_begin(void)
{
	was_on = is_on();
	if (was_on)
		set("false");
	return cluster_pages();
}

void mts_readahead_end(void)
{
	if (was_on)
		set("true");
	was_on = false;
}
