// SPDX-License-Identifier: GPL-2.0
/* Children, memory hogs, and the way back to a clean machine. */
#include "guest.h"

#include <dirent.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* In memory that parent and child share, and that no job is charged for. */
struct hog_shared {
	_Atomic u32 id;
	_Atomic int error;
	_Atomic bool ready;
	_Atomic bool enough; /* it takes no more */
	_Atomic u64 progress;
	_Atomic u64 memory;
	_Atomic u32 part;
	_Atomic u64 sum; /* of what was read: so that it is read */
};

#define HOG_PAGES 512
static struct hog_shared *shared_pages;
static unsigned int hogs_made;

pid_t spawn(void)
{
	pid_t pid = fork();

	check(pid >= 0, "fork: %m");
	return pid;
}

/* Bytes on the lists of free pages that each processor has to itself. */
static u64 memory_listed(void)
{
	static char text[64 * 1024];
	const char *at = text;
	u64 pages = 0;

	expect(read_file("/proc/zoneinfo", text, sizeof(text)), 0);
	while ((at = strstr(at, " count:"))) {
		at += strlen(" count:");
		pages += strtoull(at, NULL, 10);
	}
	return pages * PAGE;
}

u64 memory_available(void)
{
	char text[4096], *line;

	expect(read_file("/proc/meminfo", text, sizeof(text)), 0);
	line = strstr(text, "MemAvailable:");
	check(line, "no MemAvailable");
	return (strtoull(line + strlen("MemAvailable:"), NULL, 10) << 10) + memory_listed();
}

bool is_alive(pid_t pid)
{
	char state = process_state(pid);

	return state && state != 'Z' && state != 'X';
}

char process_state(pid_t pid)
{
	char path[64], buffer[512], *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_file(path, buffer, sizeof(buffer)))
		return '\0';
	end = strrchr(buffer, ')');
	return end && end[1] ? end[2] : '\0';
}

int join(pid_t pid, unsigned int ms)
{
	pid_t got = 0;
	int status = 0;

	wait_until((got = waitpid(pid, &status, WNOHANG)) != 0, ms);
	check(got, "process %d has not ended in %u ms, its state is %c; %s", pid, ms,
	      process_state(pid), describe());
	check(got == pid, "waitpid %d: %m", pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void kill_and_join(pid_t pid)
{
	kill(pid, SIGKILL);
	join(pid, 5000);
}

/* ---- hogs ------------------------------------------------------------------------- */

static struct hog_shared *shared_page(void)
{
	size_t size = HOG_PAGES * sizeof(struct hog_shared);
	struct hog_shared *page;

	if (!shared_pages) {
		shared_pages =
			mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		check(shared_pages != MAP_FAILED, "mmap: %m");
		memset(shared_pages, 0, size);
	}
	page = &shared_pages[hogs_made++ % HOG_PAGES];
	memset(page, 0, sizeof(*page));
	return page;
}

static int hog_enter(const struct hog_spec *spec, struct hog_shared *shared)
{
	struct mts_job_create create = { .flags = spec->flags | MTS_JOB_ENTER | MTS_JOB_USER,
					 .max_pause_ns = spec->max_pause_ns,
					 .user = spec->user };
	int error;

	if (spec->cgroup)
		return cg_write(spec->cgroup, "cgroup.procs", "0");
	snprintf(create.name, sizeof(create.name), "%s", spec->name ? spec->name : "");
	error = mts_ioctl(MTS_IOC_JOB_CREATE, &create);
	shared->id = create.id;
	return error;
}

static size_t random_page(u32 *seed, size_t pages)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (size_t)(((u64)*seed * pages) >> 32);
}

/*
 * What a hog computes between two pages that it touches: 1000 instructions, 16 us of the guest, a
 * twentieth of what a fault costs there. QEMU does these at once, and takes microseconds for a page
 * that misses its TLB: hogs that only touched pages would cost the host most of a test's time.
 */
static void compute(void)
{
	__asm__ volatile(".rept 1000; nop; .endr");
}

static void hog_work(const struct hog_spec *spec, struct hog_shared *shared,
		     _Atomic unsigned char *memory)
{
	size_t pages = spec->mib * MIB / PAGE, at = 0;
	u32 seed = (u32)getpid();

	for (;; compute()) {
		switch (spec->kind) {
		case HOG_SLEEP:
			pause();
			continue;
		case HOG_SPIN:
			break;
		case HOG_SEQUENTIAL:
			at = (at + 1) % pages;
			memory[at * PAGE]++;
			break;
		case HOG_PART:
			at = random_page(&seed, pages / 4);
			memory[(at + shared->part % 4 * (pages / 4)) * PAGE]++;
			break;
		case HOG_DOZE:
			usleep(10000);
			memory[random_page(&seed, pages) * PAGE]++;
			break;
		case HOG_RANDOM:
		case HOG_READER:
			at = random_page(&seed, pages);
			if (spec->kind == HOG_RANDOM)
				memory[at * PAGE]++;
			else
				shared->sum += memory[at * PAGE];
			break;
		}
		shared->progress++;
	}
}

/* Memory of its own, not yet touched; NULL and errno if there is none. */
static void *hog_map(const struct hog_spec *spec)
{
	size_t size = spec->mib * MIB, huge = 2 * MIB;
	bool is_shared = spec->memory == HOG_SHARED || spec->memory == HOG_SHARED_HUGE;
	bool is_huge = spec->memory == HOG_HUGE || spec->memory == HOG_SHARED_HUGE;
	int flags = is_shared ? MAP_SHARED : MAP_PRIVATE;
	char *memory;

	memory = mmap(NULL, size + huge, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	memory += -(uintptr_t)memory % huge;
	madvise(memory, size, is_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return memory;
}

static void hog_share(const struct hog_spec *spec)
{
	pid_t pid = spec->memory == HOG_SHARED ? fork() : -1;

	while (!pid)
		pause();
}

static void detach(void)
{
	int fd, null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	for (fd = 0; fd < 256; fd++)
		if (isatty(fd) && dup2(null, fd) != fd)
			_exit(1);
}

static void hog_main(const struct hog_spec *spec, struct hog_shared *shared)
{
	size_t size = spec->mib * MIB, at;
	struct hog_spec has = *spec;
	_Atomic unsigned char *memory;

	shared->error = hog_enter(spec, shared);
	mts_close();
	if (shared->error)
		_exit(1);
	memory = hog_map(spec);
	if (!memory) {
		shared->error = -errno;
		_exit(1);
	}
	shared->memory = (uintptr_t)memory;
	hog_share(spec);
	/* No exchange: QEMU would read first, and where zeroes were read no huge page comes. */
	for (at = 0; at < size && !(shared->enough && at > 2 * MIB); at += PAGE)
		atomic_store_explicit(&memory[at], 1, memory_order_relaxed);
	/* What it gives back is room for what the others have taken before they know. */
	if (at < size) {
		size_t back = at / 2 / PAGE * PAGE;

		at -= back;
		madvise((void *)(memory + at), back, MADV_DONTNEED);
	}
	has.mib = at / MIB;
	shared->ready = true;
	hog_work(&has, shared, memory);
}

/* ms, until a job has said its id; where jobs take turns it may be frozen before: for a pause. */
#define SAYS_ID 10000
#define SAYS_ID_IN_TURNS 70000

void hog_start_nowait(struct hog *hog, const struct hog_spec *spec)
{
	struct hog_shared *shared = shared_page();
	int ends[2];

	hog->shared = shared;
	hog->pid = spawn();
	if (!hog->pid) {
		if (spec->alone || spec->piped)
			detach();
		if (spec->piped)
			check(!pipe(ends) && dup2(ends[1], STDOUT_FILENO) >= 0, "pipe: %m");
		hog_main(spec, shared);
		_exit(0);
	}
	expect_within(spec->in_turns ? SAYS_ID_IN_TURNS : SAYS_ID,
		      shared->id || shared->error || spec->cgroup, "no job %s for process %d: %s",
		      spec->name, hog->pid, describe());
	check(!shared->error, "hog %s: %s", spec->name, strerror(-shared->error));
	hog->id = shared->id;
	snprintf(hog->name, sizeof(hog->name), "%s", spec->name ? spec->name : "");
	snprintf(hog->cgroup, sizeof(hog->cgroup), "%s",
		 spec->cgroup ? spec->cgroup : cg_job(hog->name));
}

void hog_start(struct hog *hog, const struct hog_spec *spec)
{
	hog_start_nowait(hog, spec);
	expect_within(20000, hog_ready(hog) || hog->shared->error,
		      "hog %s has not touched its memory", hog->name);
	check(!hog->shared->error, "hog %s: %s", hog->name, strerror(-hog->shared->error));
}

bool hog_ready(const struct hog *hog)
{
	return hog->shared->ready;
}

u64 hog_progress(const struct hog *hog)
{
	return hog->shared->progress;
}

void hog_enough(struct hog *hog)
{
	hog->shared->enough = true;
}

void hog_use_part(struct hog *hog, u32 part)
{
	hog->shared->part = part;
}

u64 hog_memory(const struct hog *hog)
{
	return hog->shared->memory;
}

void hog_slots(const struct hog *hog, u64 first, u64 n, u64 *slots)
{
	size_t bytes = n * sizeof(*slots);
	char path[64];
	u64 i;
	int fd;

	memset(slots, 0, bytes);
	snprintf(path, sizeof(path), "/proc/%d/pagemap", hog->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* Of a process that has ended there is nothing to read. */
	if (pread(fd, slots, bytes, (off_t)((hog_memory(hog) / PAGE + first) * sizeof(*slots))) !=
	    (ssize_t)bytes)
		memset(slots, 0, bytes);
	close(fd);
	/* proc(5): bit 62, swapped; bits 5 to 54, the place. */
	for (i = 0; i < n; i++)
		slots[i] = slots[i] >> 62 & 1 ? slots[i] >> 5 & ((1ull << 50) - 1) : 0;
}

u64 hog_slot(const struct hog *hog, u64 index)
{
	u64 slot;

	hog_slots(hog, index, 1, &slot);
	return slot;
}

void hog_expect_progress(const struct hog *hog, unsigned int ms)
{
	u64 before = hog_progress(hog);

	if (!wait_until(hog_progress(hog) != before, ms))
		fail("%s has made no progress in %u ms, its state is %c, cgroup.freeze is %lld; %s",
		     hog->name, ms, process_state(hog->pid),
		     cg_number(hog->cgroup, "cgroup.freeze"), describe());
}

void hog_kill(struct hog *hog)
{
	kill_and_join(hog->pid);
}

/* Field 12 of proc(5)'s stat. */
static u64 major_faults(pid_t pid)
{
	char path[64], text[512], *at;
	unsigned int i;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	expect(read_file(path, text, sizeof(text)), 0);
	at = strrchr(text, ')');
	for (i = 0; at && i < 10; i++)
		at = strchr(at + 1, ' ');
	check(at, "%s: %s", path, text);
	return strtoull(at, NULL, 10);
}

u64 hogs_major_faults(void)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < nhogs; i++)
		sum += major_faults(hogs[i].pid);
	return sum;
}

/* ---- reset ------------------------------------------------------------------------ */

static const struct mts_config defaults = {
	.mask = MTS_CONFIG_ALL,
	.mode = MTS_MODE_AUTO,
	.pack = MTS_PACK_FFD,
	.evict = MTS_DEFAULT_EVICT,
	.slice_ns = 5000 * NS_PER_MS,
	.min_slice_ns = 200 * NS_PER_MS,
	.max_pause_ns = MTS_DEFAULT_MAX_PAUSE_NS,
	.overhead = MTS_DEFAULT_OVERHEAD,
	.demand = MTS_DEFAULT_DEMAND,
	.interactive = MTS_DEFAULT_INTERACTIVE,
	.step = MTS_DEFAULT_STEP,
};

typedef void act_t(const char *cgroup);

/* For each cgroup below, the deepest first. */
static void act_below(const char *cgroup, const char *prefix, act_t *act)
{
	char path[512], child[768];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), CGROUPS "%s", cgroup);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		if (strncmp(entry->d_name, prefix, strlen(prefix)))
			continue;
		snprintf(child, sizeof(child), "%s%s%s", cgroup, *cgroup ? "/" : "", entry->d_name);
		act_below(child, "", act);
		act(child);
	}
	closedir(dir);
}

static void kill_cgroup(const char *cgroup)
{
	cg_write(cgroup, "cgroup.freeze", "0");
	cg_write(cgroup, "cgroup.kill", "1");
}

static void remove_cgroup(const char *cgroup)
{
	wait_until(!cg_remove(cgroup) || errno == ENOENT, 2000);
}

static bool no_children(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static bool kill_children(void)
{
	char path[64], text[4096], *pid, *rest = NULL;

	if (no_children())
		return true;
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	if (read_file(path, text, sizeof(text)))
		return false;
	for (pid = strtok_r(text, " ", &rest); pid; pid = strtok_r(NULL, " ", &rest))
		if (atoi(pid) > 1)
			kill(atoi(pid), SIGKILL);
	return no_children();
}

static void remove_jobs(void)
{
	static struct mts_job_info jobs[MTS_MAX_JOBS];
	struct mts_list list = { .buf = (uintptr_t)jobs,
				 .count = ARRAY_SIZE(jobs),
				 .elem_size = sizeof(jobs[0]) };
	u32 i;

	if (mts_ioctl(MTS_IOC_JOBS, &list))
		return;
	for (i = 0; i < list.count; i++)
		try_remove(jobs[i].id);
}

static const char *what_is_left(void)
{
	static char text[128];
	struct mts_status status = get_status();
	struct mts_config config = get_config();

	if (status.jobs || status.frozen) {
		snprintf(text, sizeof(text), "%u jobs, %u frozen", status.jobs, status.frozen);
		return text;
	}
	if (memcmp(&config, &defaults, sizeof(config)))
		return "the configuration has not gone back";
	if (!no_children())
		return "children that do not die";
	return NULL;
}

/* Those that can be written while it is loaded. */
static void restore_parameters(void)
{
	write_file("/sys/module/mts/parameters/threads", "0");
	write_file("/sys/module/mts/parameters/debug_list_pages", "0");
}

const char *reset(void)
{
	int error = module_loaded() ? 0 : module_load("");

	check(!error, "cannot load the module: %s", strerror(-error));
	mts_open();
	mts_ioctl(MTS_IOC_THAW, NULL);
	restore_parameters();
	cg_write("", "cgroup.procs", "0");
	act_below(BASE, "", kill_cgroup);
	act_below("", "t-", kill_cgroup);
	wait_until(kill_children(), 10000);
	remove_jobs();
	act_below(BASE, "", remove_cgroup);
	act_below("", "t-", remove_cgroup);
	cg_write(BASE, "memory.high", "max");
	swap_restore();
	set_config(&defaults);
	return what_is_left();
}

void touch(unsigned int mib)
{
	volatile char *memory =
		mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t at;

	if (memory == MAP_FAILED)
		_exit(3);
	/* A huge page may reach into a mapping beside it: then it is more than was asked for. */
	madvise((void *)memory, mib * MIB, MADV_NOHUGEPAGE);
	for (at = 0; at < mib * MIB; at += PAGE)
		memory[at] = 1;
}

void leave_mib(unsigned int left)
{
	unsigned int mib = (unsigned int)(memory_available() / MIB) - left;
	int ready[2];
	char byte;

	/* The disk's pages cannot be moved, for which the kernel would keep 50 MiB free. */
	expect(write_file("/proc/sys/vm/watermark_boost_factor", "0"), 0);
	check(!pipe(ready), "pipe: %m");
	if (!spawn()) {
		mts_close();
		if (mlockall(MCL_FUTURE))
			_exit(3);
		touch(mib);
		if (write(ready[1], "", 1) != 1)
			_exit(3);
		for (;;)
			pause();
	}
	close(ready[1]);
	check(read(ready[0], &byte, 1) == 1, "%u MiB cannot be locked", mib);
	close(ready[0]);
}

static bool file_has(const char *path, const char *word)
{
	char text[256];

	return !read_file(path, text, sizeof(text)) && strstr(text, word);
}

pid_t start_suspend(void)
{
	pid_t pid;
	int error;

	if (!file_has("/sys/power/state", "freeze"))
		guest_skip("this kernel cannot suspend");
	error = write_file("/sys/power/pm_test", "freezer");
	if (error)
		guest_skip("no /sys/power/pm_test: %s", strerror(-error));
	pid = spawn();
	if (!pid) {
		mts_close();
		_exit(-write_file("/sys/power/state", "freeze"));
	}
	return pid;
}

int end_suspend(pid_t pid)
{
	int status = join(pid, 30000);

	write_file("/sys/power/pm_test", "none");
	return status;
}
