// SPDX-License-Identifier: GPL-2.0
#include "memory/readahead.h"

#include <linux/err.h>
#include <linux/fs.h>

#include "mts.h"

static const char path[] = "/sys/kernel/mm/swap/vma_ra_enabled";

static struct file *file;
static bool was_on;

void mts_readahead_init(void)
{
	file = filp_open(path, O_RDWR, 0);
	if (IS_ERR(file)) {
		pr_info("%s: error %ld: bring-back is slower\n", path, PTR_ERR(file));
		file = NULL;
	}
}

void mts_readahead_exit(void)
{
	if (file)
		filp_close(file, NULL);
}

static bool is_on(void)
{
	char text[8];
	loff_t pos = 0;

	return kernel_read(file, text, sizeof(text), &pos) > 0 && text[0] == 't';
}

static void set(const char *text)
{
	loff_t pos = 0;
	ssize_t len = kernel_write(file, text, strlen(text), &pos);

	if (len < 0)
		pr_warn_ratelimited("cannot write %s to %s: error %zd\n", text, path, len);
}

void mts_readahead_begin(void)
{
	was_on = file && is_on();
	if (was_on)
		set("false");
}

void mts_readahead_end(void)
{
	if (was_on)
		set("true");
	was_on = false;
}
