// SPDX-License-Identifier: GPL-2.0
#include "jobs/blocked.h"

#include <linux/bitmap.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/pid.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/sort.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include <net/sock.h>

#include "compat/locks.h"

/*
 * Objects in one look; beyond them a wait is missed. Those of the oldest processes come first. A
 * task adds all that it polls, so that no number is enough for a host of servers. 512 take 20 KiB,
 * and 10,000 comparisons to sort.
 */
#define MAX_AWAITED 512
/*
 * No task waits for most files: a bitmap of hashes tells so without a search. With eight bits for
 * each object, one such file in eight is searched for.
 */
#define ID_BITS (ilog2(MAX_AWAITED) + 3)

/* Of the look under way: one thread looks at a time (look_lock in waits.c). */
static struct mts_awaited awaited[MAX_AWAITED];
static u32 nawaited;
static u32 kinds; /* a bit for each kind that is in awaited[] */
static DECLARE_BITMAP(ids, 1 << ID_BITS); /* hashes of the ids in awaited[] */
static const struct files_struct *polled; /* the last table of files that was searched */

u32 mts_look_steps;

/* The task that waits. @job: NULL: it is in no bin. */
struct waiter {
	struct task_struct *task;
	struct mts_job *job;
};

static void add(struct mts_awaited *new, const struct waiter *waiter)
{
	if (nawaited == MAX_AWAITED)
		return;
	new->task = waiter->task;
	new->waiter = waiter->job;
	awaited[nawaited++] = *new;
	kinds |= BIT(new->kind);
	__set_bit(hash_long(new->id, ID_BITS), ids);
}

/* ---- what a task waits for ------------------------------------------------------------ */

/* A task at one end of a pipe waits for the processes that have the other end open. */
static void wait_for_pipe(struct file *file, const struct waiter *waiter)
{
	struct mts_awaited new = {
		.id = (unsigned long)file_inode(file),
		.kind = MTS_AWAITED_INODE,
		.what = MTS_WAIT_PIPE,
	};

	if (!(file->f_mode & FMODE_WRITE))
		new.mode = FMODE_WRITE;
	else if (!(file->f_mode & FMODE_READ))
		new.mode = FMODE_READ;
	add(&new, waiter);
}

static void wait_for_socket(struct file *file, const struct waiter *waiter)
{
	struct mts_awaited new = {
		.kind = MTS_AWAITED_SOCKET,
		.what = MTS_WAIT_SOCKET,
	};
	struct sock *sk, *peer = mts_files_unix_peer(file, &sk);

	if (!peer)
		return;
	new.id = (unsigned long)READ_ONCE(peer->sk_socket);
	if (!new.id) {
		/* The listening process has not accepted the connection yet. */
		new.kind = MTS_AWAITED_PROCESS;
		new.id = pid_nr(READ_ONCE(sk->sk_peer_pid));
	}
	sock_put(peer);
	if (new.id)
		add(&new, waiter);
}

static void wait_for_file(struct file *file, void *arg)
{
	const struct waiter *waiter = arg;
	/* An eventfd, for example: processes that share it have the same struct file. */
	struct mts_awaited event = {
		.id = (unsigned long)file,
		.kind = MTS_AWAITED_FILE,
		.what = MTS_WAIT_EVENT,
	};

	if (mts_files_pipe(file))
		wait_for_pipe(file, waiter);
	else if (sock_from_file(file))
		wait_for_socket(file, waiter);
	else if (file_inode(file)->i_sb->s_magic == ANON_INODE_FS_MAGIC)
		add(&event, waiter);
}

static void wait_for_locks(const struct list_head *locks, const struct waiter *waiter)
{
	struct mts_file_lock *lock;

	/* Under flc_lock, as each lock call of such a file walks the same list (fs/locks.c). */
	mts_compat_for_each_lock(lock, locks) {
		struct mts_awaited new = { .what = MTS_WAIT_LOCK };

		if (++mts_look_steps > MTS_LOOK_MAX_STEPS)
			return;
		if (!mts_compat_lock_is_wanted(lock))
			continue;
		new.kind = MTS_AWAITED_PROCESS;
		new.id = mts_compat_lock_pid(lock);
		if (!new.id) {
			new.kind = MTS_AWAITED_FILE;
			new.id = (unsigned long)mts_compat_lock_file(lock);
		}
		add(&new, waiter);
	}
}

/* The processes that hold a lock of this file for which another task waits. */
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

void mts_look_files(struct task_struct *task, mts_file_fn fn, void *arg)
{
	if (mts_look_steps <= MTS_LOOK_MAX_STEPS)
		mts_look_steps += mts_files_each(task, fn, arg);
}

/*
 * Which of its files the task polls is not known: take all of them. Threads of a process share the
 * table of files, so it is searched once.
 */
static void wait_for_any(struct waiter *waiter)
{
	if (waiter->task->files == polled)
		return;
	polled = waiter->task->files;
	mts_look_files(waiter->task, wait_for_file, waiter);
}

/* Return: the address is in a shared mapping of a file. */
static bool wait_for_memory(struct mm_struct *mm, unsigned long address,
			    const struct waiter *waiter)
{
	struct mts_awaited new = {
		.kind = MTS_AWAITED_MEMORY,
		.what = MTS_WAIT_FUTEX,
	};
	struct vm_area_struct *vma;

	if (!mmap_read_trylock(mm))
		return false;
	vma = vma_lookup(mm, address);
	if (vma && vma->vm_flags & VM_SHARED && vma->vm_file)
		new.id = (unsigned long)file_inode(vma->vm_file);
	mmap_read_unlock(mm);
	if (new.id)
		add(&new, waiter);
	return new.id;
}

/*
 * After a thaw the kernel restarts calls with a timeout as restart_syscall(2); the registers keep
 * the arguments of the original call. Its number is lost. The restart block of poll(2) and of
 * futex(2) begins with the first argument of the call; that of nanosleep(2) does not.
 */
static void wait_restarted(struct waiter *waiter, unsigned long first)
{
	struct task_struct *task = waiter->task;

	if ((unsigned long)READ_ONCE(task->restart_block.poll.ufds) != first)
		return;
	if (!wait_for_memory(task->mm, first, waiter))
		wait_for_any(waiter);
}

static bool is_for_lock(int call, const unsigned long *args)
{
	if (call == __NR_fcntl)
		return args[1] == F_SETLKW || args[1] == F_OFD_SETLKW;
	return call == __NR_flock;
}

/* Calls that sleep in a pipe or a socket only while earlier data is unread. */
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

/* Under task_lock(). The task may have left the system call meanwhile. */
static void wait_in_call(struct waiter *waiter, int call, const unsigned long *args)
{
	struct task_struct *task = waiter->task;

	if (is_for_lock(call, args)) {
		mts_files_one(task, args[0], wait_for_lock, waiter);
		return;
	}
	if (is_write(call)) {
		mts_files_one(task, args[0], wait_for_file, waiter);
		return;
	}
	/* A task outside the bins that waits for input may just be idle: that is no call. */
	if (!waiter->job)
		return;
	switch (call) {
	case __NR_futex:
		if (!(args[1] & FUTEX_PRIVATE_FLAG))
			wait_for_memory(task->mm, args[0], waiter);
		break;
	case __NR_restart_syscall:
		wait_restarted(waiter, args[0]);
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
		wait_for_any(waiter);
		break;
	}
}

static bool sleeps(const struct task_struct *task)
{
	return READ_ONCE(task->__state) & TASK_INTERRUPTIBLE;
}

void mts_blocked_look(struct task_struct *task, struct mts_job *job)
{
	struct waiter waiter = { .task = task, .job = job };
	struct pt_regs *regs;
	unsigned long args[6];

	if (!sleeps(task) || task->flags & (PF_KTHREAD | PF_EXITING))
		return;
	/* While task_lock() is held the task cannot exit: its files, memory and stack stay. */
	task_lock(task);
	if (task->mm && task->files && syscall_get_arch(task) == syscall_get_arch(current)) {
		regs = task_pt_regs(task);
		syscall_get_arguments(task, regs, args);
		wait_in_call(&waiter, syscall_get_nr(task, regs), args);
	}
	task_unlock(task);
}

/* ---- the table of what is waited for ---------------------------------------------------- */

void mts_blocked_clear(void)
{
	nawaited = 0;
	kinds = 0;
	bitmap_zero(ids, 1 << ID_BITS);
	polled = NULL;
}

static int compare(const void *a, const void *b)
{
	const struct mts_awaited *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

bool mts_blocked_sort(void)
{
	if (!nawaited)
		return false;
	sort(awaited, nawaited, sizeof(awaited[0]), compare, NULL);
	return true;
}

static u32 first_of_id(unsigned long id)
{
	u32 low = 0, high = nawaited;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (awaited[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct mts_awaited *with_id(u32 i, unsigned long id)
{
	return i < nawaited && awaited[i].id == id ? &awaited[i] : NULL;
}

bool mts_blocked_has_kind(u32 mask)
{
	return kinds & mask;
}

const struct mts_awaited *mts_blocked_first(enum mts_awaited_kind kind, unsigned long id)
{
	if (!mts_blocked_has_kind(BIT(kind)) || !test_bit(hash_long(id, ID_BITS), ids))
		return NULL;
	return with_id(first_of_id(id), id);
}

const struct mts_awaited *mts_blocked_next(const struct mts_awaited *last)
{
	return with_id(last - awaited + 1, last->id);
}
