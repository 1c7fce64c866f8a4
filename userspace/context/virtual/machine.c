// SPDX-License-Identifier: GPL-2.0
/* Its longjmp() refuses to leave for another stack. */
#undef _FORTIFY_SOURCE

#include "context/virtual/machine.h"

#include <limits.h>
#include <setjmp.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#define MAX_THREADS 16
#define STACK_SIZE (256 << 10)
/* By lot: a turn takes so long; it lasts for so many points on average. */
#define TURN_NS 2000
#define LOOK_NS 50
#define POINTS 64
/* In order a look takes the least that there is, as no two may see the same time. */
#define ORDERLY_LOOK_NS 1
#define LOG_LINES 400
#define LOG_WIDTH 200

struct task_struct {
	long nice;
	ucontext_t entry;
	jmp_buf left_at;
	char *stack;
	const char *name;
	int (*fn)(void *data);
	void *data;
	int result;
	int refs;
	bool used;
	bool started;
	bool entered;
	bool exited;
	bool should_stop;
	bool sleeps;
	u64 until;
	u64 turn; /* when it had its last one */
	struct wait_queue_head *wq; /* a wake-up of it ends the sleep, or prevents it */
	bool woken;
	u32 atomic;
	void *fake_stack;
};

void (*machine_after_turn)(void);
void (*machine_all_sleep)(void);
unsigned int mts_user_points = 1;

static struct machine {
	bool orderly;
	u64 calm_until;
	u64 busy;
	u64 random;
	u64 now;
	u64 turns;
	u64 hash;
	jmp_buf scheduler;
	const void *scheduler_stack;
	size_t scheduler_size;
	struct task_struct threads[MAX_THREADS];
	u32 nthreads; /* all that were ever used have lower indices */
	struct task_struct *running;
	struct irq_work *irq_works[16];
	u32 nirq;
	void *graves[256]; /* wait for the end of all RCU readers */
	u32 ngraves;
	char log[LOG_LINES][LOG_WIDTH];
	u64 nlogged;
} m;

/* ---- what is drawn ---------------------------------------------------------------------- */

static u64 draw(void)
{
	u64 x = m.random;

	/* xorshift64* (Vigna 2016) */
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	m.random = x;
	return x * 0x2545f4914f6cdd1dull;
}

static void note(u64 value)
{
	m.hash = (m.hash ^ value) * 0x100000001b3ull;
}

u64 machine_draw(u64 n)
{
	u64 value = (unsigned __int128)draw() * n >> 64;

	note(value);
	return value;
}

bool machine_chance(u64 n)
{
	return !machine_draw(n);
}

u64 machine_around(u64 ns)
{
	u64 part = ns / 8 + 1;

	/* One in sixteen takes up to eight times as long. */
	return part + machine_draw(machine_chance(16) ? 8 * ns + 1 : 2 * ns + 1);
}

/* ---- the log ---------------------------------------------------------------------------- */

static void log_line(const char *format, va_list args)
{
	char *line = m.log[m.nlogged++ % LOG_LINES];
	const char *c;
	int n = snprintf(line, LOG_WIDTH, "[%12.6f] %-8s ", (double)m.now / 1e9,
			 m.running ? m.running->name : "");

	vsnprintf(line + n, LOG_WIDTH - n, format, args);
	for (c = line; *c; c++)
		note(*c);
}

void mts_user_log(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(format, args);
	va_end(args);
}

void mts_user_print(int level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(format, args);
	va_end(args);
}

bool mts_user_rate(struct mts_user_rate *rate)
{
	return true;
}

void mts_user_warn(const char *file, int line, const char *condition)
{
	mts_user_bug(file, line, "warning: %s", condition);
}

void machine_print_log(FILE *to)
{
	u64 i = m.nlogged > LOG_LINES ? m.nlogged - LOG_LINES : 0;

	for (; i < m.nlogged; i++) {
		const char *line = m.log[i % LOG_LINES];

		fprintf(to, "%s%s", line, line[strlen(line) - 1] == '\n' ? "" : "\n");
	}
}

/* ---- threads ---------------------------------------------------------------------------- */

struct task_struct *mts_user_current(void)
{
	return m.running;
}

/* To the scheduler, which comes back when it is this thread's turn again. */
static void leave(void)
{
	struct task_struct *me = m.running;

#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_start_switch_fiber(me->exited ? NULL : &me->fake_stack, m.scheduler_stack,
				       m.scheduler_size);
#endif
	if (!_setjmp(me->left_at))
		_longjmp(m.scheduler, 1);
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_finish_switch_fiber(m.running->fake_stack, &m.scheduler_stack,
					&m.scheduler_size);
#endif
}

static void new_points(void)
{
	mts_user_points = m.orderly ? UINT_MAX : 1 + machine_draw(2 * POINTS);
}

void mts_user_switch(void)
{
	new_points();
	/* The scheduler has no thread to switch from. */
	if (m.running && !m.orderly)
		leave();
}

static void thread_main(void)
{
	struct task_struct *me = m.running;

#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_finish_switch_fiber(NULL, &m.scheduler_stack, &m.scheduler_size);
#endif
	me->result = me->fn(me->data);
	me->exited = true;
	for (;;)
		leave();
}

struct task_struct *kthread_create(int (*fn)(void *data), void *data, const char *name)
{
	u32 i;

	for (i = 0; i < MAX_THREADS && m.threads[i].used; i++)
		;
	MTS_USER_ASSERT(i < MAX_THREADS);
	m.nthreads = max(m.nthreads, i + 1);
	m.threads[i] = (struct task_struct){
		.stack = m.threads[i].stack ?: malloc(STACK_SIZE),
		.name = name,
		.fn = fn,
		.data = data,
		.refs = 1,
		.used = true,
	};
	getcontext(&m.threads[i].entry);
	m.threads[i].entry.uc_stack.ss_sp = m.threads[i].stack;
	m.threads[i].entry.uc_stack.ss_size = STACK_SIZE;
	m.threads[i].entry.uc_link = NULL;
	makecontext(&m.threads[i].entry, thread_main, 0);
	return &m.threads[i];
}

void wake_up_process(struct task_struct *task)
{
	task->started = true;
	task->sleeps = false;
}

void get_task_struct(struct task_struct *task)
{
	task->refs++;
}

void put_task_struct(struct task_struct *task)
{
	MTS_USER_ASSERT(task->refs > 0);
	if (!--task->refs)
		task->used = false;
}

bool kthread_should_stop(void)
{
	mts_user_point();
	return m.running->should_stop;
}

int kthread_stop(struct task_struct *task)
{
	int result;

	task->should_stop = true;
	wake_up_process(task);
	while (!task->exited)
		machine_sleep(TURN_NS);
	result = task->result;
	put_task_struct(task);
	return result;
}

/* For a host that asks: here all threads have the same priority. */
void set_user_nice(struct task_struct *task, long nice)
{
	task->nice = nice;
}

int task_nice(const struct task_struct *task)
{
	return task->nice;
}

void sched_set_fifo(struct task_struct *task)
{
}

static bool may_run(const struct task_struct *task)
{
	return task->used && task->started && !task->exited &&
	       (!task->sleeps || m.now >= task->until);
}

static u32 count_may_run(void)
{
	u32 i, n = 0;

	for (i = 0; i < m.nthreads; i++)
		n += may_run(&m.threads[i]);
	return n;
}

/* The one that has waited longest for its turn. */
static struct task_struct *choose_first(void)
{
	struct task_struct *first = NULL;
	u32 i;

	for (i = 0; i < m.nthreads; i++)
		if (may_run(&m.threads[i]) && (!first || m.threads[i].turn < first->turn))
			first = &m.threads[i];
	return first;
}

static struct task_struct *choose_by_lot(u32 n)
{
	u32 i, nth = machine_draw(n);

	for (i = 0; i < m.nthreads; i++)
		if (may_run(&m.threads[i]) && !nth--)
			return &m.threads[i];
	return NULL;
}

/*
 * Until it leaves. swapcontext() takes a system call, which is a third of all time in the tests, so
 * it is for the first entry alone.
 */
static void enter(struct task_struct *task)
{
	static ucontext_t unused;

	if (_setjmp(m.scheduler))
		return;
	if (task->entered)
		_longjmp(task->left_at, 1);
	task->entered = true;
	swapcontext(&unused, &task->entry);
}

static void run(struct task_struct *task)
{
	task->sleeps = false;
	m.running = task;
	task->turn = ++m.turns;
	if (!m.orderly)
		m.now += TURN_NS;
#if defined(__SANITIZE_ADDRESS__)
	{
		void *fake = NULL;

		__sanitizer_start_switch_fiber(&fake, task->stack, STACK_SIZE);
		enter(task);
		__sanitizer_finish_switch_fiber(fake, NULL, NULL);
	}
#else
	enter(task);
#endif
	m.running = NULL;
}

/* Interrupts come between the turns; by lot, work that is queued may have to wait for some. */
static void run_irq_works(bool all)
{
	while (m.nirq && (all || m.orderly || machine_chance(2))) {
		struct irq_work *work = m.irq_works[m.orderly ? 0 : machine_draw(m.nirq)];
		u32 i;

		for (i = 0; m.irq_works[i] != work; i++)
			;
		m.irq_works[i] = m.irq_works[--m.nirq];
		work->queued = false;
		work->func(work);
	}
}

static void bury(void)
{
	u32 i;

	if (!m.ngraves)
		return;
	for (i = 0; i < m.nthreads; i++)
		if (m.threads[i].used && m.threads[i].atomic)
			return;
	while (m.ngraves)
		free(m.graves[--m.ngraves]);
}

/* No thread can run: advance the clock to when the first one can. */
static void pass_time(void)
{
	u64 first = U64_MAX;
	u32 i;

	for (i = 0; i < m.nthreads; i++)
		if (m.threads[i].used && m.threads[i].started && !m.threads[i].exited)
			first = min(first, m.threads[i].until);
	if (machine_all_sleep)
		machine_all_sleep();
	if (first == U64_MAX)
		mts_user_bug(__FILE__, __LINE__, "all threads sleep for ever");
	m.now = max3(m.now, first, m.calm_until);
}

static void begin(void)
{
	m.calm_until = 0;
	m.busy = 0;
	m.now = 1000 * (u64)NSEC_PER_SEC;
	m.turns = 0;
	m.hash = 0xcbf29ce484222325ull;
	m.nlogged = 0;
	new_points();
}

void machine_begin(u64 seed)
{
	m.orderly = false;
	m.random = seed * 0x9e3779b97f4a7c15ull + 0x1234567;
	m.random += !m.random;
	begin();
}

void machine_begin_orderly(void)
{
	m.orderly = true;
	begin();
}

void machine_run(int (*fn)(void *data), void *data)
{
	struct task_struct *first = kthread_create(fn, data, "world");
	u32 i;

	wake_up_process(first);
	while (!first->exited) {
		u32 n;

		run_irq_works(false);
		n = count_may_run();
		if (n) {
			run(m.orderly ? choose_first() : choose_by_lot(n));
			bury();
			if (machine_after_turn)
				machine_after_turn();
			continue;
		}
		run_irq_works(true);
		if (!count_may_run())
			pass_time();
	}
	put_task_struct(first);
	run_irq_works(true);
	bury();
	for (i = 0; i < m.nthreads; i++)
		MTS_USER_ASSERT(!m.threads[i].used);
}

void machine_calm(u64 until)
{
	m.calm_until = until;
}

u64 machine_turns(void)
{
	return m.turns;
}

u64 machine_hash(void)
{
	return m.hash;
}

/* ---- time and waiting ------------------------------------------------------------------- */

u64 machine_now(void)
{
	return m.now;
}

u64 mts_user_now(void)
{
	u64 ns;

	mts_user_point();
	ns = m.orderly ? ORDERLY_LOOK_NS : LOOK_NS;
	m.now += ns;
	m.busy += ns;
	return m.now;
}

u64 machine_busy(void)
{
	return m.busy;
}

void mts_user_wait_on(struct wait_queue_head *wq)
{
	m.running->wq = wq;
	m.running->woken = false;
	mts_user_point();
}

bool machine_sleeps_for_ever(const char *name)
{
	u32 i;

	for (i = 0; i < m.nthreads; i++)
		if (m.threads[i].used && !strcmp(m.threads[i].name, name))
			return m.threads[i].sleeps && m.threads[i].until == U64_MAX;
	return false;
}

static void sleep_until(u64 until)
{
	MTS_USER_ASSERT(!m.running->atomic);
	m.running->sleeps = true;
	m.running->until = until;
	leave();
}

void mts_user_sleep(u64 until)
{
	/* A thread that is to stop is woken once, and checks that before it sleeps again. */
	if (!m.running->woken && !(until == U64_MAX && m.running->should_stop))
		sleep_until(until);
}

void mts_user_wake(struct wait_queue_head *wq)
{
	u32 i;

	for (i = 0; i < m.nthreads; i++) {
		if (!m.threads[i].used || m.threads[i].wq != wq)
			continue;
		m.threads[i].woken = true;
		m.threads[i].sleeps = false;
	}
}

void machine_sleep(u64 ns)
{
	sleep_until(m.now + ns);
}

void msleep(unsigned int ms)
{
	machine_sleep(ms * (u64)NSEC_PER_MSEC);
}

void usleep_range(unsigned long least, unsigned long most)
{
	machine_sleep((m.orderly ? least : least + machine_draw(most - least + 1)) * NSEC_PER_USEC);
}

void schedule_timeout_idle(unsigned long ticks)
{
	machine_sleep(ticks * (u64)NSEC_PER_SEC / HZ);
}

void irq_work_queue(struct irq_work *work)
{
	mts_user_point();
	if (work->queued)
		return;
	MTS_USER_ASSERT(m.nirq < ARRAY_SIZE(m.irq_works));
	work->queued = true;
	m.irq_works[m.nirq++] = work;
}

void irq_work_sync(struct irq_work *work)
{
	while (work->queued)
		machine_sleep(TURN_NS);
}

/* ---- locks ------------------------------------------------------------------------------ */

static void acquire(struct task_struct **owner)
{
	mts_user_point();
	MTS_USER_ASSERT(*owner != m.running);
	while (*owner)
		machine_sleep(TURN_NS);
	*owner = m.running;
}

static void release(struct task_struct **owner)
{
	MTS_USER_ASSERT(*owner == m.running);
	*owner = NULL;
	mts_user_point();
}

void mutex_lock(struct mutex *lock)
{
	MTS_USER_ASSERT(!m.running->atomic);
	acquire(&lock->owner);
}

bool mutex_trylock(struct mutex *lock)
{
	mts_user_point();
	if (lock->owner)
		return false;
	lock->owner = m.running;
	return true;
}

void mutex_unlock(struct mutex *lock)
{
	release(&lock->owner);
}

/* The holder may lose its turn, as on another processor; a thread that wants the lock spins. */
void spin_lock(spinlock_t *lock)
{
	mts_user_point();
	MTS_USER_ASSERT(lock->owner != m.running);
	while (lock->owner)
		leave();
	lock->owner = m.running;
	mts_user_atomic_begin();
}

void spin_unlock(spinlock_t *lock)
{
	mts_user_atomic_end();
	release(&lock->owner);
}

void mts_user_atomic_begin(void)
{
	if (m.running)
		m.running->atomic++;
}

void mts_user_atomic_end(void)
{
	if (!m.running)
		return;
	MTS_USER_ASSERT(m.running->atomic);
	m.running->atomic--;
	mts_user_point();
}

void mts_user_free_rcu(void *p)
{
	if (m.ngraves == ARRAY_SIZE(m.graves))
		bury();
	MTS_USER_ASSERT(m.ngraves < ARRAY_SIZE(m.graves));
	m.graves[m.ngraves++] = p;
}
