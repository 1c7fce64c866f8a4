// SPDX-License-Identifier: GPL-2.0
/* Jobs that wait for each other: they get on, and are packed together where they fit. */
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "guest.h"

/* By what client and server talk. */
enum way {
	PIPE,
	POLLED, /* pipes, in an event loop with a time limit */
	SOCKETPAIR,
	SOCKET, /* to which the client has connected */
	EVENT,
	FUTEX,
	LOCK, /* of the process; the first of the locks */
	OPEN_FILE_LOCK,
	FLOCK, /* of the open file, too; taken by flock(2) */
};

#define WAYS (FLOCK + 1)

static const char *const way_names[WAYS] = {
	[PIPE] = "pipe",
	[POLLED] = "polled pipe",
	[SOCKETPAIR] = "socketpair",
	[SOCKET] = "socket",
	[EVENT] = "eventfd",
	[FUTEX] = "futex",
	[LOCK] = "lock of the process",
	[OPEN_FILE_LOCK] = "lock of the open file",
	[FLOCK] = "flock",
};

#define LOCK_FILE "/tmp/t-waits.lock"
/* What each of the two has in memory, besides the hogs of 32 MiB bins. */
#define PEER_MIB 6

/* In memory that all share. */
struct seen {
	_Atomic int error;
	_Atomic int ready;
	_Atomic u64 messages; /* that came back to the client; or times that it had the lock */
	_Atomic u64 passed; /* to the server */
	_Atomic u32 turn; /* a futex: 1: the server's, 0: the client's */
};

struct peer {
	pid_t pid;
	const char *name;
	u32 id;
};

static struct seen *seen;
static struct peer client, server;
static enum way way;
static int there[2], back[2]; /* the ends for reading, and for writing */

static void share_memory(void)
{
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(seen != MAP_FAILED, "mmap: %m");
}

/* ---- talking ---------------------------------------------------------------------------- */

static void futex_wait(u32 value)
{
	while (seen->turn == value)
		syscall(SYS_futex, &seen->turn, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void futex_give(u32 value)
{
	seen->turn = value;
	syscall(SYS_futex, &seen->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void get(int fd)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	u64 message;

	while (way == POLLED && poll(&readable, 1, 60000) != 1)
		;
	if (read(fd, &message, sizeof(message)) != sizeof(message))
		_exit(4);
}

static void put(int fd)
{
	const u64 message = 1;

	if (write(fd, &message, sizeof(message)) != sizeof(message))
		_exit(5);
}

static void set_lock(int fd, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };
	int error;

	do {
		if (way == FLOCK)
			error = flock(fd, type == F_UNLCK ? LOCK_UN : LOCK_EX);
		else
			error = fcntl(fd, way == LOCK ? F_SETLKW : F_OFD_SETLKW, &lock);
	} while (error && errno == EINTR);
	if (error)
		_exit(6);
}

/* For so long of its own time. */
static void work_ms(unsigned int ms)
{
	clock_t end = clock() + (clock_t)ms * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		;
}

/* It has the lock nearly always, and lets go of it in between. */
static void hold_the_lock(void)
{
	int fd = open(LOCK_FILE, O_RDWR | O_CREAT, 0600);

	seen->ready |= 2;
	for (;;) {
		set_lock(fd, F_WRLCK);
		work_ms(50);
		set_lock(fd, F_UNLCK);
		seen->passed++;
		usleep(100);
	}
}

static void want_the_lock(void)
{
	int fd = open(LOCK_FILE, O_RDWR | O_CREAT, 0600);

	seen->ready |= 1;
	for (;;) {
		set_lock(fd, F_WRLCK);
		seen->messages++;
		set_lock(fd, F_UNLCK);
		usleep(1000);
	}
}

static struct sockaddr_un address(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "\0t-waits" };

	return address;
}

static int connect_to_server(void)
{
	struct sockaddr_un to = address();
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	while (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		usleep(1000);
	return fd;
}

static int accept_client(void)
{
	struct sockaddr_un at = address();
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 1))
		_exit(7);
	return accept(fd, NULL, NULL);
}

static void serve(void)
{
	int in = there[0], out = back[1];

	if (way == SOCKET) {
		in = accept_client();
		out = in;
	}
	seen->ready |= 2;
	for (;;) {
		if (way == FUTEX)
			futex_wait(0);
		else
			get(in);
		seen->passed++;
		if (way == FUTEX)
			futex_give(0);
		else
			put(out);
	}
}

static void ask(void)
{
	int in = back[0], out = there[1];

	if (way == SOCKET) {
		in = connect_to_server();
		out = in;
	}
	seen->ready |= 1;
	for (;;) {
		if (way == FUTEX) {
			futex_give(1);
			futex_wait(1);
		} else {
			put(out);
			get(in);
		}
		seen->messages++;
	}
}

/* ---- two jobs ----------------------------------------------------------------------------- */

static bool has_two_ends(void)
{
	return way == PIPE || way == POLLED || way == SOCKETPAIR;
}

static void close_ends_of(const struct peer *peer)
{
	if (!has_two_ends())
		return;
	close(peer == &client ? there[1] : there[0]);
	close(peer == &client ? back[0] : back[1]);
}

static void peer_main(const struct peer *peer)
{
	struct mts_job_create create = { .id = 0 };

	seen->error = try_create(peer->name, MTS_JOB_ENTER, &create);
	mts_close();
	if (seen->error)
		_exit(1);
	close_ends_of(peer == &client ? &server : &client);
	touch(PEER_MIB);
	if (way >= LOCK)
		(peer == &client ? want_the_lock : hold_the_lock)();
	(peer == &client ? ask : serve)();
}

static void make_channel(void)
{
	int pair[2];

	switch (way) {
	case PIPE:
	case POLLED:
		check(!pipe(there) && !pipe(back), "pipe: %m");
		break;
	case SOCKETPAIR:
		check(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair: %m");
		there[0] = pair[0];
		back[1] = pair[0];
		there[1] = pair[1];
		back[0] = pair[1];
		break;
	case EVENT:
		there[0] = eventfd(0, EFD_SEMAPHORE);
		there[1] = there[0];
		back[0] = eventfd(0, EFD_SEMAPHORE);
		back[1] = back[0];
		check(there[0] >= 0 && back[0] >= 0, "eventfd: %m");
		break;
	default:
		break;
	}
}

static void drop_channel(void)
{
	close_ends_of(&client);
	if (way != SOCKETPAIR)
		close_ends_of(&server);
	else
		close(there[0]);
	if (way == EVENT) {
		close(there[0]);
		close(back[0]);
	}
}

static void start_peer(struct peer *peer, const char *name)
{
	peer->name = name;
	peer->pid = spawn();
	if (!peer->pid) {
		peer_main(peer);
		_exit(0);
	}
}

/* Hogs of these sizes, and a client and a server that talk. */
static void start_talk(enum way by, unsigned int first_mib, unsigned int second_mib)
{
	const unsigned int mib[] = { first_mib, second_mib };

	way = by;
	unlink(LOCK_FILE);
	/* They do not have the memory that the futex lies in. */
	start_hogs(HOG_RANDOM, ARRAY_SIZE(mib), mib);
	share_memory();
	make_channel();
	start_peer(&client, "client");
	start_peer(&server, "server");
	drop_channel();
	expect_soon(seen->ready == 3 || seen->error, "%s: they are not ready: %s", way_names[way],
		    describe());
	check(!seen->error, "%s", strerror(-seen->error));
	expect_soon(seen->messages > 3, "%s: they do not talk", way_names[way]);
	cg_hide_sleep(cg_job("client"));
	cg_hide_sleep(cg_job("server"));
	client.id = job_named("client").id;
	server.id = job_named("server").id;
}

static void end_talk(void)
{
	kill_and_join(client.pid);
	kill_and_join(server.pid);
	hog_kill(&hogs[0]);
	hog_kill(&hogs[1]);
	set_mode(MTS_MODE_OFF);
	expect_within(5000, !count_jobs(), "%s", describe());
	unlink(LOCK_FILE);
	munmap(seen, sizeof(*seen));
}

static void take_turns(unsigned int slice_ms)
{
	rotate(32, slice_ms, MTS_EVICT_OFF);
	expect_rotation(2);
}

static bool are_together(void)
{
	struct mts_job_info c = job_named("client"), s = job_named("server");

	return c.bin == s.bin && c.bin < MTS_MAX_JOBS;
}

/* In a thousand seconds, by what passes in so many milliseconds. */
static u64 messages_per_1000s(unsigned int ms)
{
	u64 messages = seen->messages, began = now_ms();

	sleep_ms(ms);
	return (seen->messages - messages) * 1000000 / (now_ms() - began);
}

/* ---- where they fit, they are packed together --------------------------------------------- */

/*
 * First fit puts the client beside the hog of 24 MiB, where the server has no room any
 * more. There is room for both beside the other one.
 */
static void end_up_in_one_bin(enum way by, u64 least_per_s)
{
	struct mts_stats before = get_stats(), after;
	u64 rate;

	start_talk(by, 24, 16);
	take_turns(300);
	expect_within(10000, are_together(), "%s: %s", way_names[by], describe());
	after = get_stats();
	check(after.wait_joins > before.wait_joins && after.waits > before.waits,
	      "%s: they were together from the beginning: %s", way_names[by], describe());
	check(get_status().bins == 2, "%s", describe());
	rate = messages_per_1000s(3000);
	note("%s: together %llu.%03llu a second", way_names[by], (unsigned long long)rate / 1000,
	     (unsigned long long)rate % 1000);
	check(rate >= least_per_s * 1000, "%s: %llu in 1000 s: %s", way_names[by],
	      (unsigned long long)rate, describe());
	/* And there they stay. */
	wait_rounds(5);
	check(are_together(), "%s: %s", way_names[by], describe());
	end_talk();
}

static void packed_together_by_pipe(void)
{
	end_up_in_one_bin(PIPE, 100);
}

static void packed_together_by_event_loop(void)
{
	end_up_in_one_bin(POLLED, 100);
}

static void packed_together_by_socketpair(void)
{
	end_up_in_one_bin(SOCKETPAIR, 100);
}

static void packed_together_by_socket(void)
{
	end_up_in_one_bin(SOCKET, 100);
}

static void packed_together_by_eventfd(void)
{
	end_up_in_one_bin(EVENT, 100);
}

static void packed_together_by_futex(void)
{
	end_up_in_one_bin(FUTEX, 100);
}

static void packed_together_by_lock(void)
{
	end_up_in_one_bin(LOCK, 2);
}

static void packed_together_by_open_file_lock(void)
{
	end_up_in_one_bin(OPEN_FILE_LOCK, 2);
}

static void packed_together_by_flock(void)
{
	end_up_in_one_bin(FLOCK, 2);
}

/* ---- where they do not fit, they get on all the same -------------------------------------- */

static void get_on_apart(enum way by)
{
	u64 rounds, messages;

	start_talk(by, 24, 24);
	take_turns(300);
	wait_rounds(2);
	rounds = get_stats().rounds;
	messages = seen->messages;
	wait_rounds(10);
	messages = seen->messages - messages;
	rounds = get_stats().rounds - rounds;
	note("%s: apart %llu in %llu rounds, %llu thawed for it", way_names[by],
	     (unsigned long long)messages, (unsigned long long)rounds,
	     (unsigned long long)get_stats().wait_thaws);
	check(!are_together(), "%s", describe());
	/* A message for each turn of the client's, but for those that something cut short. */
	check(messages >= rounds / 2, "%s: %llu in %llu rounds: %s", way_names[by],
	      (unsigned long long)messages, (unsigned long long)rounds, describe());
	end_talk();
}

static void apart_they_get_on_at_the_pace_of_slices(void)
{
	enum way by;

	for (by = 0; by < LOCK; by++)
		get_on_apart(by);
}

/* It lets go of the lock in its own turn only, when nobody who stands still can take it. */
static void apart_the_holder_of_a_lock_is_thawed(void)
{
	enum way by;

	for (by = LOCK; by < WAYS; by++) {
		u64 thaws = get_stats().wait_thaws;

		get_on_apart(by);
		check(get_stats().wait_thaws > thaws, "%s: it was not needed", way_names[by]);
	}
}

/* ---- who runs always ---------------------------------------------------------------------- */

/* By another process. */
static bool is_locked(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(LOCK_FILE, O_RDWR | O_CLOEXEC);

	check(fd >= 0 && !fcntl(fd, F_GETLK, &lock), LOCK_FILE ": %m");
	close(fd);
	return lock.l_type != F_UNLCK;
}

static void who_is_no_job_gets_a_lock_from_a_frozen_one(void)
{
	u64 thaws = get_stats().wait_thaws, began;
	struct mts_job_info job;
	int fd;

	start_talk(LOCK, 24, 24);
	kill_and_join(client.pid);
	take_turns(10000);
	/* What was configured last cuts the first slice short. */
	sleep_ms(1000);
	/* It may be frozen while it lets go of the lock: then it is its next turn that counts. */
	expect_within(65000, (job = job_named("server"), waits_for_its_turn(&job)) && is_locked(),
		      "%s", describe());
	began = now_ms();
	fd = open(LOCK_FILE, O_RDWR | O_CLOEXEC);
	check(fd >= 0, LOCK_FILE ": %m");
	set_lock(fd, F_WRLCK);
	note("it has the lock after %llu ms", (unsigned long long)(now_ms() - began));
	check(now_ms() - began < 4000, "%s", describe());
	check(get_stats().wait_thaws == thaws + 1, "%s", describe());
	close(fd);
	/* Nobody is in its way any more, and it takes turns as before. */
	expect_within(40000, job_named("server").state == MTS_JOB_FROZEN, "%s", describe());
}

/* ---- who does not wait for anybody -------------------------------------------------------- */

static void start_alone(const char *name)
{
	struct mts_job_create create = { .id = 0 };
	int ends[2];

	if (spawn())
		return;
	if (try_create(name, MTS_JOB_ENTER, &create) || pipe(ends))
		_exit(1);
	mts_close();
	touch(PEER_MIB);
	seen->ready++;
	/* What it reads is up to itself; its other end of the shared pipe is the same as theirs. */
	if (read(strcmp(name, "client") ? ends[0] : there[0], ends, 1))
		_exit(2);
}

static void who_waits_for_nobody_is_tied_to_nobody(void)
{
	struct mts_stats before;

	start_hogs(HOG_RANDOM, 2, (const unsigned int[]){ 24, 16 });
	share_memory();
	check(!pipe2(there, O_CLOEXEC), "pipe: %m");
	start_alone("client");
	close(there[1]);
	start_alone("server");
	close(there[0]);
	expect_soon(seen->ready == 2, "%s", describe());
	cg_hide_sleep(cg_job("client"));
	cg_hide_sleep(cg_job("server"));
	before = get_stats();
	take_turns(200);
	wait_rounds(8);
	check(get_stats().waits == before.waits, "%llu waits",
	      (unsigned long long)(get_stats().waits - before.waits));
	check(!are_together(), "%s", describe());
}

/*
 * A file's name can be open without the file (O_PATH). What names a socket is an inode of the
 * file system then, with no socket around it: whoever looks for one there reads beside it,
 * which a kernel with KASAN says.
 */
static void paths_that_name_sockets_are_none(void)
{
	static const char directory[] = "/tmp/t-paths";
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int paths[64], fd;
	unsigned int i;

	check(!mkdir(directory, 0700) && !mount("t-paths", directory, "ramfs", 0, NULL), "%s: %m",
	      directory);
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		snprintf(at.sun_path, sizeof(at.sun_path), "%s/%u", directory, i);
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		check(fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof(at)), "bind: %m");
		close(fd);
		paths[i] = open(at.sun_path, O_PATH);
		check(paths[i] >= 0, "%s: %m", at.sun_path);
	}
	/* Both have them too, and an event loop is looked at with all that it has open. */
	end_up_in_one_bin(POLLED, 100);
	for (i = 0; i < ARRAY_SIZE(paths); i++)
		close(paths[i]);
	check(!umount(directory) && !rmdir(directory), "%s: %m", directory);
}

/* ---- what can happen meanwhile ------------------------------------------------------------ */

static void the_other_one_is_killed(void)
{
	start_talk(LOCK, 24, 24);
	take_turns(300);
	expect_soon(job_named("server").state == MTS_JOB_FROZEN, "%s", describe());
	kill_and_join(server.pid);
	/* It had the lock. */
	expect_within(3000, messages_per_1000s(200) > 20000, "%s", describe());
	expect_within(5000, !find_id(server.id, &(struct mts_job_info){ 0 }), "%s", describe());
	wait_rounds(3);
}

static void the_module_is_unloaded_meanwhile(void)
{
	unsigned int i;
	u64 messages;

	start_talk(POLLED, 24, 16);
	for (i = 0; i < 3; i++) {
		take_turns(200);
		sleep_ms(500 + 300 * i);
		mts_close();
		expect(module_unload(), 0);
		check(!cg_freeze_asked(cg_job("client")) && !cg_freeze_asked(cg_job("server")),
		      "they stand still");
		/* Beside two hogs, which get their turns from the kernel now. */
		messages = seen->messages;
		expect_within(5000, seen->messages > messages + 20, "they do not go on");
		expect(module_load(""), 0);
		mts_open();
		add_job(BASE "/client", 0);
		add_job(BASE "/server", 0);
		add_job(BASE "/a", 0);
		add_job(BASE "/b", 0);
	}
}

GUEST_TESTS(TEST(packed_together_by_pipe), TEST(packed_together_by_event_loop),
	    TEST(packed_together_by_socketpair), TEST(packed_together_by_socket),
	    TEST(packed_together_by_eventfd), TEST(packed_together_by_futex),
	    TEST(packed_together_by_lock), TEST(packed_together_by_open_file_lock),
	    TEST(packed_together_by_flock), TEST_SLOW(apart_they_get_on_at_the_pace_of_slices, 180),
	    TEST(apart_the_holder_of_a_lock_is_thawed),
	    TEST_WITHIN(who_is_no_job_gets_a_lock_from_a_frozen_one, 180),
	    TEST(who_waits_for_nobody_is_tied_to_nobody), TEST(paths_that_name_sockets_are_none),
	    TEST(the_other_one_is_killed), TEST(the_module_is_unloaded_meanwhile));
