// SPDX-License-Identifier: GPL-2.0
/*
 * hog MIB [-d DISK] [-i | -t FILE]: a job. It holds MIB MiB of memory, and stays.
 *
 * It sleeps, but for some pages that it touches each 100 ms. It tells its service manager that it
 * is ready, and each second that it is alive, if it is asked to ($NOTIFY_SOCKET).
 *
 * -d DISK  it does not sleep, it waits for reads from DISK, so that its slices are as long as they
 *          were set. That takes no processor where its service may read a few times a second only
 * -i       it does not care for SIGTERM
 * -t FILE  on SIGTERM it appends a line to FILE, "NAME TERM MS", MS since boot, and ends with 0.
 *          NAME is $HOG, or hog. Without -i and -t it ends it
 */
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096UL
#define PAGES_AT_ONCE 64
#define PERIOD_US 100000

static const char *term_file;
static const char *name;

static long long boot_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* The loop never allocates or prints, so that snprintf() is not called inside itself. */
static void on_term(int signal)
{
	int fd = open(term_file, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY, 0644);
	char line[128];
	int length;

	(void)signal;
	length = snprintf(line, sizeof(line), "%s TERM %lld\n", name, boot_ms());
	if (fd < 0 || write(fd, line, length) != length)
		_exit(1);
	_exit(0);
}

static void notify(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	static int fd = -1;

	if (!path || strlen(path) >= sizeof(address.sun_path))
		return;
	if (fd < 0)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	strcpy(address.sun_path, path);
	if (*path == '@')
		address.sun_path[0] = '\0';
	sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&address,
	       offsetof(struct sockaddr_un, sun_path) + strlen(path));
}

/* The next page of the disk, past the page cache. */
static void read_disk(int disk)
{
	static _Alignas(PAGE) char page[PAGE];
	static off_t at;

	if (pread(disk, page, PAGE, at) == (ssize_t)PAGE)
		at += PAGE;
	else
		at = 0;
}

int main(int argc, char **argv)
{
	unsigned long pages, next = 0, i;
	long long told = 0;
	int disk = -1;
	char *memory;
	int option;

	while ((option = getopt(argc, argv, "d:it:")) != -1) {
		switch (option) {
		case 'd':
			disk = open(optarg, O_RDONLY | O_DIRECT | O_CLOEXEC);
			if (disk < 0)
				return 1;
			break;
		case 'i':
			signal(SIGTERM, SIG_IGN);
			break;
		case 't':
			term_file = optarg;
			break;
		default:
			return 2;
		}
	}
	if (optind != argc - 1)
		return 2;
	pages = strtoul(argv[optind], NULL, 10) << 8;
	name = getenv("HOG") ? getenv("HOG") : "hog";
	if (term_file)
		signal(SIGTERM, on_term);
	memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (!pages || memory == MAP_FAILED)
		return 1;
	for (i = 0; i < pages; i++)
		memory[i * PAGE] = 1;
	notify("READY=1");
	for (;;) {
		for (i = 0; i < PAGES_AT_ONCE; i++, next = (next + 1) % pages)
			memory[next * PAGE]++;
		if (boot_ms() - told >= 1000) {
			told = boot_ms();
			notify("WATCHDOG=1");
		}
		if (disk >= 0)
			read_disk(disk);
		else
			usleep(PERIOD_US);
	}
}
