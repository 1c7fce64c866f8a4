// SPDX-License-Identifier: GPL-2.0
#include "journal.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "host.h"
#include "mtsctl.h"

#define SOCKET "/run/systemd/journal/socket"
#define LINES (NEWS_FIELDS + 5)

typedef int (*sendv)(const struct iovec *lines, int n);

/* A static program can load no library. */
#ifdef STATIC_BUILD
static sendv find_sendv(void)
{
	return NULL;
}
#else
static sendv find_sendv(void)
{
	void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);

	return library ? (sendv)dlsym(library, "sd_journal_sendv") : NULL;
}
#endif

/* Without a journal libsystemd says that all is well. */
static bool is_there(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s" SOCKET, host_root());
	return !access(path, W_OK);
}

static bool send_fields(sendv send, const struct news *news)
{
	char text[LINES][NEWS_TEXT + 32];
	struct iovec lines[LINES];
	u32 n = 0;

	snprintf(text[n++], sizeof(*text), "MESSAGE=%s", news->message);
	snprintf(text[n++], sizeof(*text), "MESSAGE_ID=%s", news_id(news->kind));
	snprintf(text[n++], sizeof(*text), "PRIORITY=%d", news_level(news->kind));
	snprintf(text[n++], sizeof(*text), "SYSLOG_IDENTIFIER=mtsctl");
	snprintf(text[n++], sizeof(*text), NEWS_PREFIX "EVENT=%s", news_word(news->kind));
	for (u32 i = 0; i < news->n; i++)
		news_assignment(&news->fields[i], false, text[n++], sizeof(*text));
	for (u32 i = 0; i < n; i++)
		lines[i] = (struct iovec){ text[i], strlen(text[i]) };
	return send(lines, n) >= 0;
}

void journal_write(const struct news *news)
{
	static bool looked;
	static sendv send;

	if (!looked)
		send = find_sendv();
	looked = true;
	if (!send || !is_there() || !send_fields(send, news))
		complain("%s: %s", news_word(news->kind), news->message);
}
