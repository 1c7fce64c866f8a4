// SPDX-License-Identifier: GPL-2.0
/* libsystemd for tests: sd_journal_sendv(3) writes to the file MTS_FAKE_JOURNAL, a field a line. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

int sd_journal_sendv(const struct iovec *lines, int n);

int sd_journal_sendv(const struct iovec *lines, int n)
{
	FILE *file = fopen(getenv("MTS_FAKE_JOURNAL"), "a");

	if (!file)
		return -1;
	for (int i = 0; i < n; i++)
		fprintf(file, "%.*s\n", (int)lines[i].iov_len, (const char *)lines[i].iov_base);
	fputc('\n', file);
	return fclose(file) ? -1 : 0;
}
