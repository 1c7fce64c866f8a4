// SPDX-License-Identifier: GPL-2.0
/*
 * mtsctl stats --http: one request on standard input, one answer on standard output. systemd
 * accepts the connection (mts-metrics.socket), so nothing here listens, and each request has a
 * process of its own.
 *
 * A client that is slow, or sends nothing, keeps one of MaxConnections= of the socket, and not for
 * long. The engine is asked only after the request has come, and is left before the answer is sent.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc.h"
#include "mtsctl.h"
#include "stats.h"

/* More than the headers of Prometheus and of browsers. */
#define REQUEST_MAX 8192
/*
 * SIGALRM ends the process. A scraper sends its request at once; a client that does not is to free
 * its connection soon. Then the engine may be slow, on a host that thrashes.
 */
#define READ_LIMIT_S 2
#define ANSWER_LIMIT_S 10

#define TEXT "text/plain; charset=utf-8"

/* The end of the headers. What comes after them is not read. */
static bool is_whole(const char *request)
{
	return strstr(request, "\r\n\r\n") || strstr(request, "\n\n");
}

/* Return: true if all headers have come. */
static bool read_request(char request[REQUEST_MAX])
{
	size_t used = 0;

	request[0] = '\0';
	while (used < REQUEST_MAX - 1 && !is_whole(request)) {
		ssize_t got = read(STDIN_FILENO, request + used, REQUEST_MAX - 1 - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		used += got;
		request[used] = '\0';
	}
	return is_whole(request);
}

/* The method and the path. What stands behind a "?" and all headers are for others. */
static const char *status_of(const char *request, bool whole)
{
	static const char method[] = "GET ", path[] = "/metrics";

	if (!whole)
		return "400 Bad Request";
	if (strncmp(request, method, strlen(method)))
		return "405 Method Not Allowed";
	request += strlen(method);
	if (strncmp(request, path, strlen(path)) || !request[strlen(path)] ||
	    !strchr(" ?\r\n", request[strlen(path)]))
		return "404 Not Found";
	return NULL;
}

static void show_metrics(u32 jobs_max)
{
	struct stats_all all = { 0 };
	int ret;

	ret = ipc_open();
	if (!ret)
		ret = stats_take(&all);
	ipc_close();
	if (ret)
		stats_show_absent();
	else
		stats_show_prometheus(&all, jobs_max);
	stats_free(&all);
}

/* What show_metrics() prints; NULL: there is no memory for it. */
static char *collect(u32 jobs_max, size_t *size)
{
	FILE *output = stdout;
	char *body = NULL;

	stdout = open_memstream(&body, size);
	if (stdout) {
		bool failed;

		show_metrics(jobs_max);
		failed = ferror(stdout);
		if (fclose(stdout) || failed) {
			free(body);
			body = NULL;
		}
	}
	stdout = output;
	return body;
}

static void answer(const char *status, const char *type, const char *body, size_t size)
{
	printf("HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
	       "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
	       status, type, size);
	fwrite(body, 1, size, stdout);
}

int stats_answer_http(u32 jobs_max)
{
	char request[REQUEST_MAX], *body;
	const char *refusal;
	size_t size;
	bool whole;

	alarm(READ_LIMIT_S);
	whole = read_request(request);
	alarm(ANSWER_LIMIT_S);
	/* Somebody looked whether the port is open. */
	if (!*request)
		return EXIT_OK;
	refusal = status_of(request, whole);
	if (!refusal) {
		body = collect(jobs_max, &size);
		if (body) {
			answer("200 OK", "text/plain; version=0.0.4; charset=utf-8", body, size);
			free(body);
			return EXIT_OK;
		}
		refusal = "500 Internal Server Error";
	}
	answer(refusal, TEXT, "see /metrics\n", strlen("see /metrics\n"));
	return EXIT_OK;
}
