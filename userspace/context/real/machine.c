// SPDX-License-Identifier: GPL-2.0
/* What context/user.h asks of a machine, with pthreads and CLOCK_MONOTONIC. */
#define _GNU_SOURCE
#include "context.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

/* Lowest priority of SCHED_FIFO: above all normal threads, below those of the host. */
#define FIFO_PRIORITY 1
/* The deepest call chain needs some 30 KiB. A small stack costs little when memory is locked. */
#define STACK_SIZE (256 << 10)

struct task_struct {
	pthread_t thread;
	const char *name;
	int (*fn)(void *data);
	void *data;
	int result;
	int refs;
	bool started;
	bool should_stop;
	pid_t tid;
	int nice;
	struct mts_user_caller caller;
	/* A sleep on @wq ends when @woken is set; under @lock. */
	pthread_mutex_t lock;
	pthread_cond_t cond;
	struct wait_queue_head *wq;
	bool woken;
	struct task_struct *next;
};

static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct task_struct *threads; /* under threads_lock */
static __thread struct task_struct *self;

/* ---- the log ---------------------------------------------------------------------------- */

/* The journal reads the level from the beginning of the line: sd-daemon(3). */
void mts_user_print(int level, const char *format, ...)
{
	char line[512];
	va_list args;
	int n = 0;

	if (getenv("JOURNAL_STREAM"))
		n = snprintf(line, sizeof(line), "<%d>", level);
	else
		n = snprintf(line, sizeof(line), "mtsd: ");
	va_start(args, format);
	vsnprintf(line + n, sizeof(line) - n, format, args);
	va_end(args);
	n = strlen(line);
	if (line[n - 1] != '\n' && n < (int)sizeof(line) - 1)
		line[n++] = '\n';
	/* One write, so that lines of several threads do not mix. A full pipe must not stop us. */
	if (write(STDERR_FILENO, line, n) < 0)
		return;
}

bool mts_user_rate(struct mts_user_rate *rate)
{
	u64 now = mts_user_now();

	if (now - __atomic_load_n(&rate->began, __ATOMIC_RELAXED) > MTS_USER_BURST_NS) {
		__atomic_store_n(&rate->began, now, __ATOMIC_RELAXED);
		__atomic_store_n(&rate->n, 0, __ATOMIC_RELAXED);
	}
	return __atomic_fetch_add(&rate->n, 1, __ATOMIC_RELAXED) < MTS_USER_BURST;
}

void mts_user_warn(const char *file, int line, const char *condition)
{
	static bool warned;

	if (!__atomic_exchange_n(&warned, true, __ATOMIC_SEQ_CST))
		pr_warn("%s:%d: %s\n", file, line, condition);
}

/* The guardian thaws everything when this process has ended. */
void mts_user_bug(const char *file, int line, const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	pr_err("error in mtsd: %s:%d: %s\n", file, line, what);
	abort();
}

/* ---- threads ---------------------------------------------------------------------------- */

static struct task_struct *task_new(const char *name)
{
	struct task_struct *task = calloc(1, sizeof(*task));
	pthread_condattr_t monotonic;

	if (!task)
		return NULL;
	task->name = name;
	task->refs = 1;
	task->caller.pid = getpid();
	task->caller.uid = geteuid();
	strscpy(task->caller.comm, "mtsd", sizeof(task->caller.comm));
	pthread_mutex_init(&task->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&task->cond, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_lock(&threads_lock);
	task->next = threads;
	threads = task;
	pthread_mutex_unlock(&threads_lock);
	return task;
}

static void task_free(struct task_struct *task)
{
	struct task_struct **at;

	pthread_mutex_lock(&threads_lock);
	for (at = &threads; *at != task; at = &(*at)->next)
		;
	*at = task->next;
	pthread_mutex_unlock(&threads_lock);
	pthread_cond_destroy(&task->cond);
	pthread_mutex_destroy(&task->lock);
	free(task);
}

/* The main thread has no kthread_create(). */
struct task_struct *mts_user_current(void)
{
	if (!self) {
		self = task_new("mtsd");
		MTS_USER_ASSERT(self);
		self->tid = gettid();
	}
	return self;
}

struct mts_user_caller *mts_user_caller(void)
{
	return &mts_user_current()->caller;
}

static void *thread_main(void *data)
{
	self = data;
	__atomic_store_n(&self->tid, gettid(), __ATOMIC_RELEASE);
	pthread_mutex_lock(&self->lock);
	while (!self->started)
		pthread_cond_wait(&self->cond, &self->lock);
	pthread_mutex_unlock(&self->lock);
	pthread_setname_np(pthread_self(), self->name);
	self->result = self->fn(self->data);
	return NULL;
}

struct task_struct *kthread_create(int (*fn)(void *data), void *data, const char *name)
{
	struct task_struct *task = task_new(name);
	pthread_attr_t attr;
	int err;

	if (!task)
		return ERR_PTR(-ENOMEM);
	task->fn = fn;
	task->data = data;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	err = pthread_create(&task->thread, &attr, thread_main, task);
	pthread_attr_destroy(&attr);
	if (err) {
		put_task_struct(task);
		return ERR_PTR(-err);
	}
	return task;
}

void wake_up_process(struct task_struct *task)
{
	pthread_mutex_lock(&task->lock);
	task->started = true;
	task->woken = true;
	pthread_cond_signal(&task->cond);
	pthread_mutex_unlock(&task->lock);
}

void get_task_struct(struct task_struct *task)
{
	__atomic_add_fetch(&task->refs, 1, __ATOMIC_SEQ_CST);
}

void put_task_struct(struct task_struct *task)
{
	if (!__atomic_sub_fetch(&task->refs, 1, __ATOMIC_SEQ_CST))
		task_free(task);
}

bool kthread_should_stop(void)
{
	return __atomic_load_n(&mts_user_current()->should_stop, __ATOMIC_ACQUIRE);
}

static void set_should_stop(struct task_struct *task)
{
	__atomic_store_n(&task->should_stop, true, __ATOMIC_SEQ_CST);
}

int kthread_stop(struct task_struct *task)
{
	int result;

	set_should_stop(task);
	wake_up_process(task);
	pthread_join(task->thread, NULL);
	result = task->result;
	put_task_struct(task);
	return result;
}

void mts_user_stop_polling(struct task_struct *task, int eventfd)
{
	const u64 one = 1;

	/* The flag first, then the event. */
	set_should_stop(task);
	if (write(eventfd, &one, sizeof(one)) < 0)
		pr_err("cannot stop a thread: %s\n", strerror(errno));
	kthread_stop(task);
}

/* Of a thread, as Linux has it. Not permitted: the thread keeps its priority. */
void set_user_nice(struct task_struct *task, long nice)
{
	if (!setpriority(PRIO_PROCESS, __atomic_load_n(&task->tid, __ATOMIC_ACQUIRE), nice))
		task->nice = nice;
}

int task_nice(const struct task_struct *task)
{
	return task->nice;
}

void sched_set_fifo(struct task_struct *task)
{
	const struct sched_param param = { .sched_priority = FIFO_PRIORITY };

	if (sched_setscheduler(__atomic_load_n(&task->tid, __ATOMIC_ACQUIRE),
			       SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		pr_notice("thread %s: no real-time priority: %s\n", task->name, strerror(errno));
}

/* ---- time and waiting ------------------------------------------------------------------- */

u64 mts_user_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static struct timespec timespec_of(u64 ns)
{
	return (struct timespec){ .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };
}

static void sleep_ns(u64 ns)
{
	const struct timespec until = timespec_of(mts_user_now() + ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

void msleep(unsigned int ms)
{
	sleep_ns(ms * (u64)NSEC_PER_MSEC);
}

void usleep_range(unsigned long least, unsigned long most)
{
	sleep_ns(least * (u64)NSEC_PER_USEC);
}

void schedule_timeout_idle(unsigned long ticks)
{
	sleep_ns(ticks * (u64)(NSEC_PER_SEC / HZ));
}

void mts_user_wait_on(struct wait_queue_head *wq)
{
	struct task_struct *me = current;

	pthread_mutex_lock(&me->lock);
	me->wq = wq;
	me->woken = false;
	pthread_mutex_unlock(&me->lock);
}

void mts_user_sleep(u64 until)
{
	const struct timespec end = timespec_of(until);
	struct task_struct *me = current;
	int err = 0;

	pthread_mutex_lock(&me->lock);
	/*
	 * If kthread_stop() woke this thread before mts_user_wait_on(), the test of the condition
	 * that came in between has seen it.
	 */
	while (!me->woken && !err) {
		if (until == U64_MAX)
			err = pthread_cond_wait(&me->cond, &me->lock);
		else
			err = pthread_cond_timedwait(&me->cond, &me->lock, &end);
	}
	pthread_mutex_unlock(&me->lock);
}

void mts_user_wake(struct wait_queue_head *wq)
{
	struct task_struct *task;

	pthread_mutex_lock(&threads_lock);
	for (task = threads; task; task = task->next) {
		pthread_mutex_lock(&task->lock);
		if (task->wq == wq) {
			task->woken = true;
			pthread_cond_signal(&task->cond);
		}
		pthread_mutex_unlock(&task->lock);
	}
	pthread_mutex_unlock(&threads_lock);
}

/* There are no interrupts: nothing prevents the work from running at once. */
void irq_work_queue(struct irq_work *work)
{
	work->func(work);
}

void irq_work_sync(struct irq_work *work)
{
}

/* ---- locks ------------------------------------------------------------------------------ */

void mutex_lock(struct mutex *lock)
{
	pthread_mutex_lock(&lock->lock);
	lock->owner = current;
}

bool mutex_trylock(struct mutex *lock)
{
	if (pthread_mutex_trylock(&lock->lock))
		return false;
	lock->owner = current;
	return true;
}

void mutex_unlock(struct mutex *lock)
{
	lock->owner = NULL;
	pthread_mutex_unlock(&lock->lock);
}

void spin_lock(spinlock_t *lock)
{
	mutex_lock(lock);
}

void spin_unlock(spinlock_t *lock)
{
	mutex_unlock(lock);
}

/* ---- RCU -------------------------------------------------------------------------------- */

static u32 readers;
static pthread_mutex_t graves_lock = PTHREAD_MUTEX_INITIALIZER;
static struct grave {
	struct grave *next;
	void *p;
} * graves; /* under graves_lock */

static void bury(void)
{
	struct grave *all = NULL;

	pthread_mutex_lock(&graves_lock);
	/* Each grave was made after its memory was unpublished. No reader now: none has it. */
	if (!__atomic_load_n(&readers, __ATOMIC_SEQ_CST)) {
		all = graves;
		__atomic_store_n(&graves, NULL, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&graves_lock);
	while (all) {
		struct grave *next = all->next;

		free(all->p);
		free(all);
		all = next;
	}
}

void mts_user_atomic_begin(void)
{
	__atomic_add_fetch(&readers, 1, __ATOMIC_SEQ_CST);
}

void mts_user_atomic_end(void)
{
	if (!__atomic_sub_fetch(&readers, 1, __ATOMIC_SEQ_CST) &&
	    __atomic_load_n(&graves, __ATOMIC_RELAXED))
		bury();
}

void mts_user_free_rcu(void *p)
{
	struct grave *grave = malloc(sizeof(*grave));

	/* Better a leak of one job than a use after the free. */
	if (!grave)
		return;
	grave->p = p;
	pthread_mutex_lock(&graves_lock);
	grave->next = graves;
	__atomic_store_n(&graves, grave, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&graves_lock);
	bury();
}
