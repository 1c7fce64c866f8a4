// SPDX-License-Identifier: GPL-2.0
/* Programs as people use them, frozen when they are used: a shell and an editor; an X client. */
#include <sys/ioctl.h>
#include <termios.h>

#include "guest.h"
#include "keyboard.h"

/* So long after the last key a job is in every bin, and sockets are looked at. */
#define AGAIN_MS 30000
#define KEYS 3

static bool is_frozen(const char *name)
{
	struct mts_job_info job;

	return find_job(name, &job) && waits_for_its_turn(&job);
}

/* Others that leave no room; slices in which nobody else gets a turn by chance. */
static void rotate_beside(const char *name)
{
	start_hogs(HOG_RANDOM, 3, three_equal);
	expect_within(5000, job_named(name).id, "%s", describe());
	cg_hide_sleep(cg_job(name));
	rotate(32, 20000, MTS_EVICT_OFF);
}

/* ---- a shell and an editor ------------------------------------------------------------ */

static int master;
static char screen[1 << 16]; /* what has been written since the last key */
static size_t on_screen;

static void start_shell(void)
{
	const struct winsize size = { .ws_row = 24, .ws_col = 80 };
	struct mts_job_create create;
	char slave[64];
	pid_t pid;
	int i, fd;

	master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	check(master >= 0 && !grantpt(master) && !unlockpt(master), "/dev/ptmx: %m");
	check(!ptsname_r(master, slave, sizeof(slave)), "ptsname: %m");
	/* Else the editor asks the terminal, and takes what is typed for the answer. */
	check(!ioctl(master, TIOCSWINSZ, &size), "TIOCSWINSZ: %m");
	pid = spawn();
	if (pid)
		return;
	setsid();
	fd = open(slave, O_RDWR); /* which is its own from now on */
	if (fd < 0 || try_create("shell", MTS_JOB_ENTER, &create))
		_exit(1);
	mts_close();
	for (i = 0; i < 3; i++)
		dup2(fd, i);
	setenv("TERM", "vt100", 1);
	execl("/bin/sh", "sh", "-i", NULL);
	_exit(2);
}

static bool shows(const char *text)
{
	ssize_t got;

	while ((got = read(master, screen + on_screen, sizeof(screen) - 1 - on_screen)) > 0)
		on_screen += got;
	screen[on_screen] = '\0';
	return strstr(screen, text);
}

static void type(const char *keys)
{
	shows("");
	on_screen = 0;
	check(write(master, keys, strlen(keys)) == (ssize_t)strlen(keys), "typing: %m");
}

static void type_slowly(const char *keys)
{
	char key[2] = "";

	for (; *keys; keys++) {
		key[0] = *keys;
		type(key);
		expect_within(5000, shows(key), "%s does not appear: %s", key, describe());
		sleep_ms(50);
	}
}

static bool says(const char *path, const char *wanted)
{
	char text[64];

	return !read_file(path, text, sizeof(text)) && !strcmp(text, wanted);
}

static void a_shell_and_an_editor(void)
{
	char text[64], command[64];
	double ms[KEYS];
	u64 began;
	int i;

	start_shell();
	expect_within(5000, shows("#"), "no prompt: %s", screen);
	rotate_beside("shell");
	for (i = 0; i < KEYS; i++) {
		expect_within(AGAIN_MS + 30000, is_frozen("shell"), "%s", describe());
		snprintf(command, sizeof(command), "echo $((%d * 1001))\r", i + 7);
		began = now_ns();
		type(command);
		expect_within(1000, !cg_freeze_asked(cg_job("shell")), "%s", describe());
		ms[i] = (double)(now_ns() - began) / NS_PER_MS;
		snprintf(text, sizeof(text), "%d", (i + 7) * 1001);
		expect_within(2000, shows(text), "no %s: %s", text, screen);
	}
	expect_quick(ms, KEYS);

	type("vi /tmp/letter\r");
	expect_within(5000, shows("/tmp/letter"), "no editor: %s", screen);
	type("i");
	type_slowly("Greetings");
	type("\033");
	sleep_ms(500); /* it is a key, not the beginning of a longer one */
	type(":wq\r");
	/* vi makes the file before it writes it. */
	expect_within(5000, says("/tmp/letter", "Greetings\n"), "it says: %s",
		      read_file("/tmp/letter", text, sizeof(text)) ? "nothing" : text);
	unlink("/tmp/letter");
	close(master);
}

/* ---- an X client ---------------------------------------------------------------------- */

#define XORG "/usr/lib/xorg/Xorg"
#define XTERM "/usr/bin/xterm"
#define TYPED "/tmp/typed"

static const char keyboard_name[] = "mts test keyboard";

static void write_config(const char *keyboard)
{
	FILE *file = fopen("/tmp/xorg.conf", "w");

	check(file, "/tmp/xorg.conf: %m");
	fprintf(file,
		"Section \"ServerFlags\"\n"
		"Option \"AutoAddDevices\" \"false\"\nOption \"AutoAddGPU\" \"false\"\n"
		"EndSection\n"
		"Section \"InputDevice\"\n"
		"Identifier \"keyboard\"\nDriver \"evdev\"\nOption \"Device\" \"%s\"\n"
		"EndSection\n"
		"Section \"Device\"\nIdentifier \"card\"\nDriver \"dummy\"\nEndSection\n"
		"Section \"Monitor\"\n"
		"Identifier \"monitor\"\nHorizSync 5-1000\nVertRefresh 5-200\n"
		"EndSection\n"
		"Section \"Screen\"\n"
		"Identifier \"screen\"\nDevice \"card\"\nMonitor \"monitor\"\nDefaultDepth 24\n"
		"SubSection \"Display\"\nDepth 24\nModes \"640x480\"\nEndSubSection\n"
		"EndSection\n"
		"Section \"ServerLayout\"\n"
		"Identifier \"layout\"\nScreen \"screen\"\n"
		"InputDevice \"keyboard\" \"CoreKeyboard\"\n"
		"EndSection\n",
		keyboard);
	check(!fclose(file), "/tmp/xorg.conf: %m");
}

static void run_quietly(char *const argv[])
{
	int fd = open("/dev/null", O_RDWR);
	int i;

	for (i = 0; i < 3; i++)
		dup2(fd, i);
	setenv("DISPLAY", ":0", 1);
	execv(argv[0], argv);
	_exit(2);
}

static void start_server(void)
{
	static char *const argv[] = { XORG,	   ":0",	"-config",  "/tmp/xorg.conf",
				      "-noreset",  "-nolisten", "tcp",	    "-novtswitch",
				      "-sharevts", "vt7",	"-logfile", "/tmp/xorg.log",
				      NULL };
	pid_t pid = spawn();

	if (!pid) {
		mts_close();
		run_quietly(argv);
	}
	expect_within(20000, !access("/tmp/.X11-unix/X0", F_OK) || !is_alive(pid), "no server");
	check(is_alive(pid), "the server has ended: /tmp/xorg.log");
}

/* As large as the screen: without a window manager keys go where the pointer is. */
static void start_xterm(void)
{
	static char *const argv[] = { XTERM,
				      "-geometry",
				      "110x60+0+0",
				      "-e",
				      "/bin/sh",
				      "-c",
				      "stty raw -echo; exec cat >" TYPED,
				      NULL };
	struct mts_job_create create;
	pid_t pid = spawn();

	if (!pid) {
		if (try_create("xterm", MTS_JOB_ENTER, &create))
			_exit(1);
		mts_close();
		run_quietly(argv);
	}
	expect_within(20000, !access(TYPED, F_OK) || !is_alive(pid), "xterm does not come up");
	check(is_alive(pid), "xterm has ended");
}

static long typed(void)
{
	struct stat stat_;

	return stat(TYPED, &stat_) ? -1 : stat_.st_size;
}

static void an_x_client(void)
{
	char path[64];
	double ms[KEYS];
	int i, keyboard;
	long before;
	u64 began;

	if (access(XORG, X_OK) || access(XTERM, X_OK))
		guest_skip("the guest has no Xorg and xterm");
	keyboard = keyboard_make(keyboard_name);
	expect_within(2000, keyboard_path(keyboard_name, path, sizeof(path)), "no keyboard");
	write_config(path);
	unlink(TYPED);
	start_server();
	start_xterm();
	/* Its window may not be there yet. */
	for (i = 0; i < 20 && typed() < 1; i++, sleep_ms(500))
		keyboard_press(keyboard);
	check(typed() >= 1, "no key arrives");
	rotate_beside("xterm");
	for (i = 0; i < KEYS; i++) {
		sleep_ms(16000); /* sockets are not looked at any more */
		expect_within(AGAIN_MS + 30000, is_frozen("xterm"), "%s", describe());
		before = typed();
		began = now_ns();
		keyboard_press(keyboard);
		expect_within(1000, !cg_freeze_asked(cg_job("xterm")), "key %d: %s", i + 1,
			      describe());
		ms[i] = (double)(now_ns() - began) / NS_PER_MS;
		expect_within(5000, typed() > before, "key %d: %s", i + 1, describe());
	}
	expect_quick(ms, KEYS);
	unlink(TYPED);
	close(keyboard);
}

GUEST_TESTS(TEST_WITHIN(a_shell_and_an_editor, 240), TEST_WITHIN(an_x_client, 300));
