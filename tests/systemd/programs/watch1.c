// SPDX-License-Identifier: GPL-2.0
/*
 * watch1: is PID 1 held up?
 *
 * Asks PID 1 for a sign of life over its private bus, again as soon as it has answered and 50 ms
 * have gone, and looks each 10 ms in which state it is. At SIGTERM, or after 300 s, it prints
 *
 *     replies=N slowest_ms=MS blocked_ms=MS where=WCHAN
 *
 * slowest_ms is the longest that a question was without its answer, the last one included;
 * blocked_ms the longest that PID 1 was seen in state D at a stretch, and where= where it was then.
 * exit status: 0; 1: PID 1 cannot be asked
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_MS 300000
#define LOOK_MS 10
#define ASK_MS 50
#define HEADER 16 /* bytes of a message of D-Bus in front of its fields */

static volatile sig_atomic_t stopped;

static void on_term(int signal)
{
	(void)signal;
	stopped = 1;
}

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static size_t aligned(size_t length)
{
	return (length + 7) & ~(size_t)7;
}

static uint32_t word(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* A field of a header: a variant of a string, or of what is laid out as one. */
static size_t put_field(unsigned char *message, size_t at, char code, char type, const char *text)
{
	uint32_t length = strlen(text);

	at = aligned(at);
	message[at++] = code;
	message[at++] = 1;
	message[at++] = type;
	message[at++] = 0;
	memcpy(message + at, &length, 4);
	memcpy(message + at + 4, text, length + 1);
	return at + 4 + length + 1;
}

static bool ask(int fd)
{
	static uint32_t serial;
	unsigned char message[256] = { 'l', 1, 0, 1 }; /* little endian, a call, version 1 */
	size_t end = HEADER;
	uint32_t fields;

	serial++;
	memcpy(message + 8, &serial, 4);
	end = put_field(message, end, 1, 'o', "/");
	end = put_field(message, end, 2, 's', "org.freedesktop.DBus.Peer");
	end = put_field(message, end, 3, 's', "Ping");
	fields = end - HEADER;
	memcpy(message + 12, &fields, 4);
	end = aligned(end);
	return send(fd, message, end, MSG_NOSIGNAL) == (ssize_t)end;
}

/* The next answer, if it is there; false if the connection is gone. */
static bool answered(int fd, bool *answer)
{
	static unsigned char data[65536];
	static size_t have;
	ssize_t got;

	got = recv(fd, data + have, sizeof(data) - have, MSG_DONTWAIT);
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		return false;
	have += got > 0 ? got : 0;
	while (have >= HEADER) {
		size_t length = HEADER + aligned(word(data + 12)) + word(data + 4);

		if (length > sizeof(data))
			return false;
		if (have < length)
			break;
		if (data[1] == 2 || data[1] == 3) /* a return, or an error */
			*answer = true;
		have -= length;
		memmove(data, data + length, have);
	}
	return true;
}

static int connect_to_pid1(void)
{
	static const char hello[] = "\0AUTH EXTERNAL 30\r\nBEGIN\r\n"; /* 30: user 0 */
	struct sockaddr_un address = { AF_UNIX, "/run/systemd/private" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t got = 0;
	char line[256];

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    send(fd, hello, sizeof(hello) - 1, MSG_NOSIGNAL) != sizeof(hello) - 1)
		return -1;
	while (got < sizeof(line) - 1) {
		if (recv(fd, line + got, 1, 0) != 1)
			return -1;
		if (line[got++] == '\n')
			break;
	}
	line[got] = '\0';
	return strncmp(line, "OK ", 3) ? -1 : fd;
}

static void read_file(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");

	text[0] = '\0';
	if (!file)
		return;
	if (!fgets(text, size, file))
		text[0] = '\0';
	fclose(file);
}

static bool is_blocked(void)
{
	char stat[512], *state;

	read_file("/proc/1/stat", stat, sizeof(stat));
	state = strrchr(stat, ')');
	return state && state[1] && state[2] == 'D';
}

int main(void)
{
	long long begin = now_ms(), asked = 0, last_answer = 0, slowest = 0;
	long long blocked_since = 0, blocked = 0;
	char where[128] = "-", here[128] = "-";
	unsigned int replies = 0;
	bool waiting = false;
	int fd;

	signal(SIGTERM, on_term);
	fd = connect_to_pid1();
	if (fd < 0) {
		fprintf(stderr, "watch1: PID 1 cannot be asked: %s\n", strerror(errno));
		return 1;
	}
	while (!stopped && now_ms() - begin < LIMIT_MS) {
		struct pollfd events = { .fd = fd, .events = POLLIN };
		bool answer = false;
		long long now;

		poll(&events, waiting, LOOK_MS);
		if (!answered(fd, &answer))
			return 1;
		now = now_ms();
		if (waiting && now - asked > slowest)
			slowest = now - asked;
		if (answer) {
			waiting = false;
			last_answer = now;
			replies++;
		}
		if (!waiting && now - last_answer >= ASK_MS) {
			if (!ask(fd))
				return 1;
			asked = now;
			waiting = true;
		}
		if (!is_blocked()) {
			blocked_since = 0;
			continue;
		}
		if (!blocked_since) {
			blocked_since = now;
			read_file("/proc/1/wchan", here, sizeof(here));
		}
		if (now - blocked_since > blocked) {
			blocked = now - blocked_since;
			memcpy(where, here, sizeof(where));
		}
	}
	printf("replies=%u slowest_ms=%lld blocked_ms=%lld where=%s\n", replies, slowest, blocked,
	       where);
	return 0;
}
