// SPDX-License-Identifier: GPL-2.0
#include "jobs/waits.h"

#include <linux/bitmap.h>
#include <linux/cgroup.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/hash.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/sort.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include <net/sock.h>

#include "jobs/watched.h"
#include "compat/locks.h"
#include "jobs/files.h"
#include "job.h"
#include "events/stats.h"
#include "events/trace.h"
#include "policy/ties.h"

/* Things that are waited for, in one look. */
#define MAX_THINGS 512
/* Most files are waited for by nobody: one bit says so. */
#define NAME_BITS 12
/* Mappings of a process that are looked at; with files and threads, of all together. */
#define MAX_AREAS 1024
#define MAX_STEPS (64 * 1024)
/* Locks of a file. */
#define MAX_LOCKS 64

/* By what somebody who has it is known. */
enum mark {
	MARK_INODE, /* of a pipe, open */
	MARK_FILE, /* open */
	MARK_SOCKET, /* open */
	MARK_PROCESS, /* its id is this one */
	MARK_MEMORY, /* an inode that is mapped */
};

struct thing {
	unsigned long name;
	enum mark mark;
	enum mts_wait_for what;
	fmode_t mode; /* that who has it has it open for; 0: no matter */
	struct mts_job *waiter; /* NULL: in no bin */
	struct task_struct *task; /* that waits */
};

/* The rotor and the lookout each look; what follows is of the look under way. */
static DEFINE_MUTEX(look_lock);
static struct thing things[MAX_THINGS];
static u32 nthings;
static u32 marks; /* that there are */
static DECLARE_BITMAP(names, 1 << NAME_BITS); /* that there may be */
static u32 steps;
static u64 looked;
static u64 known_before;
static const struct files_struct *polled; /* last */
static struct task_struct *waiting; /* the task that is looked at; under RCU */

static void add_thing(const struct thing *thing)
{
	if (nthings == MAX_THINGS)
		return;
	things[nthings] = *thing;
	things[nthings++].task = waiting;
	marks |= BIT(thing->mark);
	__set_bit(hash_long(thing->name, NAME_BITS), names);
}

/* ---- what a task waits for ------------------------------------------------------------ */

/* At an end of a pipe it is who has the other one that is waited for. */
static void wait_for_pipe(struct file *file, struct mts_job *waiter)
{
	struct thing thing = {
		.name = (unsigned long)file_inode(file),
		.mark = MARK_INODE,
		.what = MTS_WAIT_PIPE,
		.waiter = waiter,
	};

	if (!(file->f_mode & FMODE_WRITE))
		thing.mode = FMODE_WRITE;
	else if (!(file->f_mode & FMODE_READ))
		thing.mode = FMODE_READ;
	add_thing(&thing);
}

static void wait_for_socket(struct file *file, struct mts_job *waiter)
{
	struct thing thing = { .mark = MARK_SOCKET, .what = MTS_WAIT_SOCKET, .waiter = waiter };
	struct sock *sk, *peer = mts_files_unix_peer(file, &sk);

	if (!peer)
		return;
	thing.name = (unsigned long)READ_ONCE(peer->sk_socket);
	if (!thing.name) {
		/* Who listened has not accepted it yet. */
		thing.mark = MARK_PROCESS;
		thing.name = pid_nr(READ_ONCE(sk->sk_peer_pid));
	}
	sock_put(peer);
	if (thing.name)
		add_thing(&thing);
}

static void wait_for_file(struct file *file, void *job)
{
	struct mts_job *waiter = job;
	/* An eventfd, say: who else has it has the same open file. */
	const struct thing event = {
		.name = (unsigned long)file,
		.mark = MARK_FILE,
		.what = MTS_WAIT_EVENT,
		.waiter = waiter,
	};

	if (mts_files_pipe(file))
		wait_for_pipe(file, waiter);
	else if (sock_from_file(file))
		wait_for_socket(file, waiter);
	else if (file_inode(file)->i_sb->s_magic == ANON_INODE_FS_MAGIC)
		add_thing(&event);
}

static void wait_for_locks(const struct list_head *locks, struct mts_job *waiter)
{
	struct mts_file_lock *lock;
	u32 n = 0;

	mts_compat_for_each_lock(lock, locks) {
		struct thing thing = { .what = MTS_WAIT_LOCK, .waiter = waiter };

		if (++n > MAX_LOCKS)
			return;
		if (!mts_compat_lock_is_wanted(lock))
			continue;
		thing.mark = MARK_PROCESS;
		thing.name = mts_compat_lock_pid(lock);
		if (!thing.name) {
			thing.mark = MARK_FILE;
			thing.name = (unsigned long)mts_compat_lock_file(lock);
		}
		add_thing(&thing);
	}
}

/* Who has locked this file, in the way of somebody. */
static void wait_for_lock(struct file *file, void *waiter)
{
	struct file_lock_context *context = locks_inode_context(file_inode(file));

	if (!context)
		return;
	spin_lock(&context->flc_lock);
	wait_for_locks(&context->flc_posix, waiter);
	wait_for_locks(&context->flc_flock, waiter);
	spin_unlock(&context->flc_lock);
}

static void with_files(struct task_struct *task, mts_file_fn fn, struct mts_job *job)
{
	if (steps <= MAX_STEPS)
		steps += mts_files_each(task, fn, job);
}

/* Which of its files, only the event loop knows. All threads of a process have the same. */
static void wait_for_any(struct task_struct *task, struct mts_job *waiter)
{
	if (task->files == polled)
		return;
	polled = task->files;
	with_files(task, wait_for_file, waiter);
}

/* Return: is it in memory that others may share? */
static bool wait_for_memory(struct mm_struct *mm, unsigned long address, struct mts_job *waiter)
{
	struct thing thing = { .mark = MARK_MEMORY, .what = MTS_WAIT_FUTEX, .waiter = waiter };
	struct vm_area_struct *vma;

	if (!mmap_read_trylock(mm))
		return false;
	vma = vma_lookup(mm, address);
	if (vma && vma->vm_flags & VM_SHARED && vma->vm_file)
		thing.name = (unsigned long)file_inode(vma->vm_file);
	mmap_read_unlock(mm);
	if (thing.name)
		add_thing(&thing);
	return thing.name;
}

/*
 * After a thaw, what had a time limit is begun again as restart_syscall(2), with the
 * registers as they were: poll(2) and futex(2) have their first argument where
 * nanosleep(2) has two small numbers.
 */
static void wait_restarted(struct task_struct *task, unsigned long first, struct mts_job *waiter)
{
	if ((unsigned long)READ_ONCE(task->restart_block.poll.ufds) != first)
		return;
	if (!wait_for_memory(task->mm, first, waiter))
		wait_for_any(task, waiter);
}

static bool is_for_lock(int call, const unsigned long *args)
{
	if (call == __NR_fcntl)
		return args[1] == F_SETLKW || args[1] == F_OFD_SETLKW;
	return call == __NR_flock;
}

/* Calls that sleep in a pipe or a socket only while what was written before is unread. */
static bool is_write(int call)
{
	switch (call) {
	case __NR_write:
	case __NR_writev:
	case __NR_sendto:
	case __NR_sendmsg:
	case __NR_sendmmsg:
	case __NR_splice:
	case __NR_tee:
	case __NR_vmsplice:
		return true;
	}
	return false;
}

/* Under task_lock(); the task sleeps in a system call, or did when it was looked at. */
static void wait_in_call(struct task_struct *task, int call, const unsigned long *args,
			 struct mts_job *waiter)
{
	if (is_for_lock(call, args)) {
		mts_files_one(task, args[0], wait_for_lock, waiter);
		return;
	}
	if (is_write(call)) {
		mts_files_one(task, args[0], wait_for_file, waiter);
		return;
	}
	/* A task outside the bins that does not write may just have nothing to do. */
	if (!waiter)
		return;
	switch (call) {
	case __NR_futex:
		if (!(args[1] & FUTEX_PRIVATE_FLAG))
			wait_for_memory(task->mm, args[0], waiter);
		break;
	case __NR_restart_syscall:
		wait_restarted(task, args[0], waiter);
		break;
	case __NR_read:
	case __NR_readv:
	case __NR_recvfrom:
	case __NR_recvmsg:
	case __NR_recvmmsg:
		mts_files_one(task, args[0], wait_for_file, waiter);
		break;
#ifdef __NR_poll
	case __NR_poll:
	case __NR_select:
	case __NR_epoll_wait:
#endif
	case __NR_ppoll:
	case __NR_pselect6:
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
	case __NR_io_uring_enter:
		wait_for_any(task, waiter);
		break;
	}
}

static bool sleeps(const struct task_struct *task)
{
	return READ_ONCE(task->__state) & TASK_INTERRUPTIBLE;
}

/* @waiter: its job; NULL: it runs always. */
static void look_at_waiter(struct task_struct *task, struct mts_job *waiter)
{
	struct pt_regs *regs;
	unsigned long args[6];

	if (!sleeps(task) || task->flags & (PF_KTHREAD | PF_EXITING))
		return;
	/* Until it is let go the task cannot exit: it has its files, memory and stack. */
	task_lock(task);
	waiting = task;
	if (task->mm && task->files && syscall_get_arch(task) == syscall_get_arch(current)) {
		regs = task_pt_regs(task);
		syscall_get_arguments(task, regs, args);
		wait_in_call(task, syscall_get_nr(task, regs), args, waiter);
	}
	task_unlock(task);
}

static bool is_in_bin(const struct mts_job *job)
{
	return job->bin < MTS_MAX_JOBS;
}

/* @bin: MTS_BIN_NONE: only those that are in no bin. */
static void look_at_waiters(u32 bin)
{
	struct task_struct *process, *task;
	struct mts_job *job;

	for_each_process(process) {
		job = mts_job_of_cgroup(task_dfl_cgroup(process));
		if (job && (READ_ONCE(job->frozen) || (is_in_bin(job) && job->bin != bin)))
			continue;
		if (process->flags & PF_KTHREAD)
			continue;
		for_each_thread(process, task) {
			if (++steps > MAX_STEPS)
				return;
			look_at_waiter(task, job && is_in_bin(job) ? job : NULL);
		}
	}
}

/* ---- who has it ------------------------------------------------------------------------- */

static int compare_things(const void *a, const void *b)
{
	const struct thing *x = a, *y = b;

	return x->name < y->name ? -1 : x->name > y->name;
}

/* Frozen, or thawed for such a call: then it goes on. */
static bool is_held_up(const struct mts_job *holder)
{
	return READ_ONCE(holder->frozen) || mts_job_has_call(holder);
}

static void found_by_outsider(const struct thing *thing, struct mts_job *holder)
{
	const struct mts_caller caller = mts_caller_of(thing->task);
	bool is_new = READ_ONCE(holder->frozen) && !mts_job_has_call(holder);

	if (!is_held_up(holder))
		return;
	if (is_new)
		trace_mts_wait(holder, NULL, thing->what);
	mts_calls_seen(holder, thing->what == MTS_WAIT_LOCK ? MTS_CALL_LOCK : MTS_CALL_WRITE,
		       &caller);
}

static void found(const struct thing *thing, struct mts_job *holder)
{
	struct mts_job *waiter = thing->waiter;
	bool frozen = READ_ONCE(holder->frozen);

	if (waiter == holder || !is_in_bin(holder))
		return;
	if (!waiter) {
		found_by_outsider(thing, holder);
		return;
	}
	/* In one bin they are no news, but still tied. */
	if (mts_ties_note(&waiter->ties, holder->id, looked, frozen) && frozen) {
		mts_stats_inc(waits);
		trace_mts_wait(holder, waiter, thing->what);
	}
	/* The plan knew of it, and has not put them in one bin. */
	if (is_held_up(holder) && thing->what == MTS_WAIT_LOCK &&
	    mts_ties_known(&waiter->ties, holder->id, looked, known_before)) {
		const struct mts_caller caller = mts_caller_of(thing->task);

		mts_calls_seen(holder, MTS_CALL_LOCK, &caller);
	}
}

static u32 first_of_name(unsigned long name)
{
	u32 low = 0, high = nthings;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (things[middle].name < name)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void has(struct mts_job *holder, enum mark mark, unsigned long name, fmode_t mode)
{
	u32 i;

	if (!(marks & BIT(mark)) || !test_bit(hash_long(name, NAME_BITS), names))
		return;
	for (i = first_of_name(name); i < nthings && things[i].name == name; i++) {
		if (++steps > MAX_STEPS)
			return;
		if (things[i].mark == mark && (things[i].mode & mode) == things[i].mode)
			found(&things[i], holder);
	}
}

static void has_file(struct file *file, void *job)
{
	struct socket *socket = sock_from_file(file);
	struct mts_job *holder = job;

	has(holder, MARK_FILE, (unsigned long)file, 0);
	if (mts_files_pipe(file))
		has(holder, MARK_INODE, (unsigned long)file_inode(file), file->f_mode);
	else if (socket)
		has(holder, MARK_SOCKET, (unsigned long)socket, 0);
}

static void has_memory(struct mm_struct *mm, struct mts_job *holder)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;
	u32 n = 0;

	if (!mmap_read_trylock(mm))
		return;
	for_each_vma(vmi, vma) {
		if (++n > MAX_AREAS || ++steps > MAX_STEPS)
			break;
		if (vma->vm_flags & VM_SHARED && vma->vm_file)
			has(holder, MARK_MEMORY, (unsigned long)file_inode(vma->vm_file), 0);
	}
	mmap_read_unlock(mm);
}

/* The first thread that has not exited speaks for all. Return: this one did. */
static bool look_at_holder(struct task_struct *task, struct mts_job *holder)
{
	bool alive;

	task_lock(task);
	alive = task->mm && task->files;
	if (alive && marks & (BIT(MARK_FILE) | BIT(MARK_INODE) | BIT(MARK_SOCKET)))
		with_files(task, has_file, holder);
	if (alive && marks & BIT(MARK_MEMORY))
		has_memory(task->mm, holder);
	task_unlock(task);
	return alive;
}

static void look_at_holders(u32 bin)
{
	struct task_struct *process, *task;
	struct mts_job *job;

	for_each_process(process) {
		if (steps > MAX_STEPS)
			return;
		job = mts_job_of_cgroup(task_dfl_cgroup(process));
		/* A job that runs for such a call is held up as long as it is waited for. */
		if (!job || !(is_held_up(job) || job->bin == bin))
			continue;
		has(job, MARK_PROCESS, process->tgid, 0);
		for_each_thread(process, task)
			if (look_at_holder(task, job))
				break;
	}
}

static void look(u32 bin, u64 planned)
{
	mutex_lock(&look_lock);
	nthings = 0;
	marks = 0;
	bitmap_zero(names, 1 << NAME_BITS);
	steps = 0;
	looked = ktime_get_ns();
	known_before = planned;
	polled = NULL;
	rcu_read_lock();
	look_at_waiters(bin);
	if (nthings) {
		sort(things, nthings, sizeof(things[0]), compare_things, NULL);
		steps = 0;
		look_at_holders(bin);
	}
	rcu_read_unlock();
	mutex_unlock(&look_lock);
}

void mts_waits_look(u32 bin, u64 planned)
{
	look(bin, planned);
}

void mts_waits_look_outside(void)
{
	look(MTS_BIN_NONE, 0);
}
