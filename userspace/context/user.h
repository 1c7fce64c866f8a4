/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel interfaces of module/context.h, for user space. Names and meanings are the kernel's.
 *
 * Threads, time, locks and waiting are a machine's: the functions mts_user_*(), and what
 * "context_machine.h" has. There are two machines. The include path has the folder of one of them:
 * - virtual/ has a virtual clock and runs one thread at a time. It may switch threads at each
 *   access to shared data (mts_user_point()): for tests and simulations.
 * - real/ has threads, locks and the clock of the host: for mtsd.
 *
 * Interfaces are incomplete on purpose: the compiler complains when the rotor begins to use more of
 * them.
 */
#ifndef MTS_CONTEXT_USER_H
#define MTS_CONTEXT_USER_H

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "policy/pure.h"

typedef __s32 s32;

/* ---- the machine ------------------------------------------------------------------------ */

struct task_struct;
struct wait_queue_head;
struct irq_work;

/*
 * struct mutex and spinlock_t, each with its @owner; struct cgroup and its functions;
 * mts_user_point(): another thread may run here; MTS_USER_PARAM().
 */
#include "context_machine.h"

/* ns; never decreases. */
u64 mts_user_now(void);
/* Sleep until @until, ns, or until woken; U64_MAX: no limit. See mts_user_wait_on(). */
void mts_user_sleep(u64 until);
/* From now on a wake-up of @wq ends the next sleep; NULL: no wake-up does. */
void mts_user_wait_on(struct wait_queue_head *wq);
void mts_user_wake(struct wait_queue_head *wq);
struct task_struct *mts_user_current(void);
/* Under RCU, or with a spin lock held: sleeping is a bug. */
void mts_user_atomic_begin(void);
void mts_user_atomic_end(void);
/* @level: as in syslog(3): 3 an error, 4 a warning, 5 a notice, 6 information. */
__attribute__((format(printf, 2, 3))) void mts_user_print(int level, const char *format, ...);
__attribute__((format(printf, 3, 4), noreturn)) void mts_user_bug(const char *file, int line,
								  const char *format, ...);
void mts_user_warn(const char *file, int line, const char *condition);

#define MTS_USER_ASSERT(condition) \
	((condition) ? (void)0 : mts_user_bug(__FILE__, __LINE__, "%s", #condition))
#define WARN_ON_ONCE(condition) \
	((condition) ? mts_user_warn(__FILE__, __LINE__, #condition) : (void)0)

/* ---- the compiler ----------------------------------------------------------------------- */

#define READ_ONCE(x)                               \
	({                                         \
		mts_user_point();                  \
		*(const volatile typeof(x) *)&(x); \
	})
#define WRITE_ONCE(x, value)                           \
	do {                                           \
		mts_user_point();                      \
		*(volatile typeof(x) *)&(x) = (value); \
	} while (0)
/* Pairs as the caller of each of these says. */
#define smp_load_acquire(p)                           \
	({                                            \
		mts_user_point();                     \
		__atomic_load_n(p, __ATOMIC_ACQUIRE); \
	})
/* The same. */
#define smp_store_release(p, value)                           \
	do {                                                  \
		mts_user_point();                             \
		__atomic_store_n(p, value, __ATOMIC_RELEASE); \
	} while (0)
/* The same. */
#define smp_mb()                                         \
	do {                                             \
		mts_user_point();                        \
		__atomic_thread_fence(__ATOMIC_SEQ_CST); \
	} while (0)
/* Atomics are full barriers here. */
#define smp_mb__before_atomic() mts_user_point() /* as its caller says */
#define smp_mb__after_atomic() mts_user_point() /* as its caller says */

#define static_assert _Static_assert
#define likely(x) (x)
#define unlikely(x) (x)
#define __init
#define __exit
#define noinline
#define __printf(a, b) __attribute__((format(printf, a, b)))
#define __user
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

#define min(a, b)                   \
	({                          \
		typeof(a) a_ = (a); \
		typeof(b) b_ = (b); \
		a_ < b_ ? a_ : b_;  \
	})
#define max(a, b)                   \
	({                          \
		typeof(a) a_ = (a); \
		typeof(b) b_ = (b); \
		a_ > b_ ? a_ : b_;  \
	})
#define min3(a, b, c) min(min(a, b), c)
#define max3(a, b, c) max(max(a, b), c)
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define clamp(x, low, high) min(max(x, low), high)
#define clamp_t(type, x, low, high) clamp((type)(x), (type)(low), (type)(high))
#define swap(a, b)                     \
	do {                           \
		typeof(a) swap_ = (a); \
		(a) = (b);             \
		(b) = swap_;           \
	} while (0)

#ifndef S64_MAX
#define S64_MAX INT64_MAX
#endif
#define U32_MAX UINT32_MAX

static inline u64 div_u64(u64 a, u64 b)
{
	return a / b;
}

#define strscpy(to, from, size) snprintf(to, size, "%s", from)

static inline void strscpy_pad(char *to, const char *from, size_t size)
{
	memset(to, 0, size);
	strscpy(to, from, size);
}

static inline int match_string(const char *const *names, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return i;
	return -EINVAL;
}

static inline int vscnprintf(char *to, size_t size, const char *format, va_list args)
{
	int n = vsnprintf(to, size, format, args);

	return n < (int)size ? n : (int)size - 1;
}

/* ---- bits ------------------------------------------------------------------------------- */

#define BITS_PER_LONG (8 * (int)sizeof(long))
#define BIT(n) (1ul << (n))
#define BIT_ULL(n) (1ull << (n))
#define DECLARE_BITMAP(name, bits) unsigned long name[((bits) + 63) / 64]

static inline void set_bit(unsigned int bit, unsigned long *word)
{
	mts_user_point();
	__atomic_fetch_or(word, BIT(bit), __ATOMIC_SEQ_CST);
}

static inline void clear_bit(unsigned int bit, unsigned long *word)
{
	mts_user_point();
	__atomic_fetch_and(word, ~BIT(bit), __ATOMIC_SEQ_CST);
}

static inline bool test_bit(unsigned int bit, const unsigned long *word)
{
	mts_user_point();
	return __atomic_load_n(word, __ATOMIC_RELAXED) & BIT(bit);
}

static inline bool test_and_clear_bit(unsigned int bit, unsigned long *word)
{
	mts_user_point();
	return __atomic_fetch_and(word, ~BIT(bit), __ATOMIC_SEQ_CST) & BIT(bit);
}

/* The first set bit from @bit on; BITS_PER_LONG: none. */
static inline unsigned int mts_user_next_bit(unsigned long word, unsigned int bit)
{
	while (bit < (unsigned int)BITS_PER_LONG && !(word & BIT(bit)))
		bit++;
	return bit;
}

#define for_each_set_bit(bit, word, size)                                         \
	for ((bit) = mts_user_next_bit(*(word), 0); (bit) < (unsigned int)(size); \
	     (bit) = mts_user_next_bit(*(word), (bit) + 1))

/* ---- atomics ---------------------------------------------------------------------------- */

typedef struct {
	int v;
} atomic_t;

typedef struct {
	s64 v;
} atomic64_t;

#define ATOMIC64_INIT(n) ((atomic64_t){ .v = (n) })

/* Each operation is a point before it, and then atomic and a full barrier. */
#define MTS_USER_ATOMIC(name, type, word)                                                  \
	static inline word name##_read(const type *a)                                      \
	{                                                                                  \
		mts_user_point();                                                          \
		return __atomic_load_n(&a->v, __ATOMIC_RELAXED);                           \
	}                                                                                  \
	static inline void name##_set(type *a, word n)                                     \
	{                                                                                  \
		mts_user_point();                                                          \
		__atomic_store_n(&a->v, n, __ATOMIC_RELAXED);                              \
	}                                                                                  \
	static inline word name##_add_return(word n, type *a)                              \
	{                                                                                  \
		mts_user_point();                                                          \
		return __atomic_add_fetch(&a->v, n, __ATOMIC_SEQ_CST);                     \
	}                                                                                  \
	static inline void name##_add(word n, type *a)                                     \
	{                                                                                  \
		name##_add_return(n, a);                                                   \
	}                                                                                  \
	static inline word name##_inc_return(type *a)                                      \
	{                                                                                  \
		return name##_add_return(1, a);                                            \
	}                                                                                  \
	static inline void name##_inc(type *a)                                             \
	{                                                                                  \
		name##_add_return(1, a);                                                   \
	}                                                                                  \
	static inline void name##_dec(type *a)                                             \
	{                                                                                  \
		name##_add_return(-1, a);                                                  \
	}                                                                                  \
	static inline word name##_fetch_inc(type *a)                                       \
	{                                                                                  \
		return name##_add_return(1, a) - 1;                                        \
	}                                                                                  \
	static inline word name##_xchg(type *a, word n)                                    \
	{                                                                                  \
		mts_user_point();                                                          \
		return __atomic_exchange_n(&a->v, n, __ATOMIC_SEQ_CST);                    \
	}                                                                                  \
	static inline word name##_cmpxchg(type *a, word old, word n)                       \
	{                                                                                  \
		mts_user_point();                                                          \
		__atomic_compare_exchange_n(&a->v, &old, n, false, __ATOMIC_SEQ_CST,       \
					    __ATOMIC_SEQ_CST);                             \
		return old;                                                                \
	}                                                                                  \
	static inline bool name##_try_cmpxchg(type *a, word *old, word n)                  \
	{                                                                                  \
		mts_user_point();                                                          \
		return __atomic_compare_exchange_n(&a->v, old, n, false, __ATOMIC_SEQ_CST, \
						   __ATOMIC_SEQ_CST);                      \
	}

MTS_USER_ATOMIC(atomic, atomic_t, int)
MTS_USER_ATOMIC(atomic64, atomic64_t, s64)

#define xchg(p, value)                                           \
	({                                                       \
		mts_user_point();                                \
		__atomic_exchange_n(p, value, __ATOMIC_SEQ_CST); \
	})

/* ---- lists ------------------------------------------------------------------------------ */

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD(name) struct list_head name = { &(name), &(name) }

static inline void mts_user_list_insert(struct list_head *new, struct list_head *prev)
{
	new->next = prev->next;
	new->prev = prev;
	prev->next->prev = new;
	/* Readers under RCU see the entry complete. */
	__atomic_store_n(&prev->next, new, __ATOMIC_RELEASE);
}

#define list_add_rcu(new, head) mts_user_list_insert(new, head)
#define list_add_tail(new, head) mts_user_list_insert(new, (head)->prev)

/* The entry's .next stays valid for concurrent readers. */
static inline void list_del_rcu(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	__atomic_store_n(&entry->prev->next, entry->next, __ATOMIC_RELEASE);
}

static inline bool list_empty(const struct list_head *head)
{
	mts_user_point();
	return head->next == head;
}

#define MTS_USER_ENTRY(p, at, member) container_of(p, typeof(*(at)), member)
#define list_for_each_entry_safe(at, next_, head, member)            \
	for ((at) = MTS_USER_ENTRY((head)->next, at, member),        \
	    (next_) = MTS_USER_ENTRY((at)->member.next, at, member); \
	     &(at)->member != (head);                                \
	     (at) = (next_), (next_) = MTS_USER_ENTRY((at)->member.next, at, member))
#define list_for_each_entry(at, head, member)                                          \
	for ((at) = MTS_USER_ENTRY((head)->next, at, member); &(at)->member != (head); \
	     (at) = MTS_USER_ENTRY((at)->member.next, at, member))
#define list_for_each_entry_rcu(at, head, member)             \
	for ((at) = MTS_USER_ENTRY((head)->next, at, member); \
	     mts_user_point(), &(at)->member != (head);       \
	     (at) = MTS_USER_ENTRY((at)->member.next, at, member))
#define list_for_each_entry_reverse(at, head, member)                                  \
	for ((at) = MTS_USER_ENTRY((head)->prev, at, member); &(at)->member != (head); \
	     (at) = MTS_USER_ENTRY((at)->member.prev, at, member))

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#define DEFINE_HASHTABLE(name, bits) struct hlist_head name[1 << (bits)]
#define MTS_USER_BUCKET(table, key) (&(table)[((key) >> 4) % ARRAY_SIZE(table)])

static inline void mts_user_hash_add(struct hlist_head *head, struct hlist_node *node)
{
	node->next = head->first;
	node->pprev = &head->first;
	if (head->first)
		head->first->pprev = &node->next;
	__atomic_store_n(&head->first, node, __ATOMIC_RELEASE);
}

#define hash_add_rcu(table, node, key) mts_user_hash_add(MTS_USER_BUCKET(table, key), node)
#define hash_add hash_add_rcu

static inline void hash_del_rcu(struct hlist_node *node)
{
	__atomic_store_n(node->pprev, node->next, __ATOMIC_RELEASE);
	if (node->next)
		node->next->pprev = node->pprev;
}

#define hash_del hash_del_rcu
#define MTS_USER_HENTRY(p, at, member) ((p) ? MTS_USER_ENTRY(p, at, member) : NULL)
#define hash_for_each_possible_rcu(table, at, member, key)                               \
	for ((at) = MTS_USER_HENTRY(MTS_USER_BUCKET(table, key)->first, at, member); at; \
	     (at) = MTS_USER_HENTRY((at)->member.next, at, member))
#define hash_for_each_possible hash_for_each_possible_rcu

/* ---- locks ------------------------------------------------------------------------------ */

#define DEFINE_MUTEX(name) struct mutex name
#define DEFINE_SPINLOCK(name) spinlock_t name
#define mutex_init(lock) ((void)(*(lock) = (struct mutex){ 0 }))

void mutex_lock(struct mutex *lock);

/* A request is answered even if its caller has been killed. */
static inline int mutex_lock_killable(struct mutex *lock)
{
	mutex_lock(lock);
	return 0;
}

bool mutex_trylock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);

struct rw_semaphore {
	struct mutex lock; /* readers exclude each other, too */
};

#define init_rwsem(sem) mutex_init(&(sem)->lock)
#define down_read(sem) mutex_lock(&(sem)->lock)
#define up_read(sem) mutex_unlock(&(sem)->lock)
#define down_write(sem) mutex_lock(&(sem)->lock)
#define up_write(sem) mutex_unlock(&(sem)->lock)
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

#define lockdep_assert_held(lock) MTS_USER_ASSERT((lock)->owner == mts_user_current())

static inline void rcu_read_lock(void)
{
	mts_user_atomic_begin();
}

static inline void rcu_read_unlock(void)
{
	mts_user_atomic_end();
}

struct rcu_head {
	void *next;
};

void mts_user_free_rcu(void *p);
#define kfree_rcu(p, member) mts_user_free_rcu(p)

struct kref {
	atomic_t refs;
};

static inline void kref_init(struct kref *ref)
{
	atomic_set(&ref->refs, 1);
}

static inline void kref_get(struct kref *ref)
{
	MTS_USER_ASSERT(atomic_inc_return(&ref->refs) > 1);
}

static inline bool kref_get_unless_zero(struct kref *ref)
{
	int now = atomic_read(&ref->refs);

	while (now)
		if (__atomic_compare_exchange_n(&ref->refs.v, &now, now + 1, false,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return true;
	return false;
}

static inline void kref_put(struct kref *ref, void (*release)(struct kref *ref))
{
	int left = atomic_add_return(-1, &ref->refs);

	MTS_USER_ASSERT(left >= 0);
	if (!left)
		release(ref);
}

/* ---- time and waiting ------------------------------------------------------------------- */

#define NSEC_PER_SEC 1000000000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_USEC 1000L
#define HZ 250

#define ktime_get_ns() mts_user_now()
#define ktime_get_mono_fast_ns() mts_user_now()
#define jiffies ((unsigned long)(mts_user_now() / (NSEC_PER_SEC / HZ)))
#define nsecs_to_jiffies(ns) ((unsigned long)((ns) / (NSEC_PER_SEC / HZ)))
#define msecs_to_jiffies(ms) ((unsigned long)(((ms)*HZ + 999) / 1000))
#define time_after(a, b) ((long)((b) - (a)) < 0)

void msleep(unsigned int ms);
void usleep_range(unsigned long least, unsigned long most);
void schedule_timeout_idle(unsigned long ticks);
#define cond_resched() mts_user_point()

typedef struct wait_queue_head {
	u32 woken;
} wait_queue_head_t;

#define __WAIT_QUEUE_HEAD_INITIALIZER(name) \
	{                                   \
		0                           \
	}
#define DECLARE_WAIT_QUEUE_HEAD(name) wait_queue_head_t name
#define wake_up(wq) mts_user_wake(wq)

/* As in the kernel, a thread enters the wait queue before it tests the condition. */
#define wait_event_idle(wq, condition)           \
	do {                                     \
		for (;;) {                       \
			mts_user_wait_on(&(wq)); \
			if (condition)           \
				break;           \
			mts_user_sleep(U64_MAX); \
		}                                \
		mts_user_wait_on(NULL);          \
	} while (0)

#define wait_event_idle_timeout(wq, condition, ticks)                             \
	do {                                                                      \
		u64 until_ = mts_user_now() + (u64)(ticks) * (NSEC_PER_SEC / HZ); \
		for (;;) {                                                        \
			mts_user_wait_on(&(wq));                                  \
			if (condition)                                            \
				break;                                            \
			if (mts_user_now() >= until_)                             \
				break;                                            \
			mts_user_sleep(until_);                                   \
		}                                                                 \
		mts_user_wait_on(NULL);                                           \
	} while (0)
#define wait_event_interruptible_timeout wait_event_idle_timeout

struct irq_work {
	void (*func)(struct irq_work *work);
	bool queued;
};

#define DEFINE_IRQ_WORK(name, fn) struct irq_work name = { .func = fn }
void irq_work_queue(struct irq_work *work);
void irq_work_sync(struct irq_work *work);

/* ---- threads ---------------------------------------------------------------------------- */

#define TASK_COMM_LEN 16
#define MIN_NICE (-20)

#define current mts_user_current()
struct task_struct *kthread_create(int (*fn)(void *data), void *data, const char *name);
int kthread_stop(struct task_struct *task);
bool kthread_should_stop(void);
void wake_up_process(struct task_struct *task);
void get_task_struct(struct task_struct *task);
void put_task_struct(struct task_struct *task);
void set_user_nice(struct task_struct *task, long nice);
int task_nice(const struct task_struct *task);
void sched_set_fifo(struct task_struct *task);

static inline unsigned int memalloc_noreclaim_save(void)
{
	return 0;
}

#define memalloc_noreclaim_restore(flags) ((void)(flags))

#define IS_ERR(p) ((unsigned long)(p) >= -4095ul)
#define PTR_ERR(p) ((long)(p))
#define ERR_PTR(err) ((void *)(long)(err))

/* ---- memory, and the host --------------------------------------------------------------- */

#define GFP_KERNEL 0
#define GFP_NOWAIT 0
#define __GFP_NOWARN 0
#define kvcalloc(n, size, flags) calloc(n, size)
#define kvzalloc(size, flags) calloc(1, size)
#define kzalloc(size, flags) calloc(1, size)
#define kvfree(p) free((void *)(p))
#define kfree(p) kvfree(p)
/* More than the kernel's. */
#define struct_size(p, member, n) (sizeof(*(p)) + offsetof(typeof(*(p)), member[n]))
/* User space is told sums over the processors. */
#define nr_cpu_ids 1u

#define PAGE_SHIFT 12
#define PAGE_SIZE 4096ul
#define PTRS_PER_PTE 512

/* Of the host: the program brings it. */
unsigned long totalram_pages(void);
long get_nr_swap_pages(void);
unsigned int num_online_cpus(void);

struct timer_list {
	void *unused;
};

struct mm_struct;

/* ---- notifiers -------------------------------------------------------------------------- */

struct notifier_block {
	int (*notifier_call)(struct notifier_block *nb, unsigned long event, void *data);
};

#define NOTIFY_OK 1
#define notifier_from_errno(err) (0x8000 | (1 - (err)))

enum {
	PM_HIBERNATION_PREPARE = 1,
	PM_POST_HIBERNATION,
	PM_SUSPEND_PREPARE,
	PM_POST_SUSPEND,
	PM_RESTORE_PREPARE,
	PM_POST_RESTORE,
};

int register_oom_notifier(struct notifier_block *nb);
int register_pm_notifier(struct notifier_block *nb);
#define unregister_oom_notifier(nb) register_oom_notifier(NULL)
#define unregister_pm_notifier(nb) register_pm_notifier(NULL)

/* ---- parameters, and the log ------------------------------------------------------------ */

#define module_param(name, type, mode) MTS_USER_PARAM(name, type)
#define MODULE_PARM_DESC(name, text) MTS_USER_PARAM_TEXT(name, text)

#define pr_err(...) mts_user_print(3, __VA_ARGS__)
#define pr_warn(...) mts_user_print(4, __VA_ARGS__)
#define pr_notice(...) mts_user_print(5, __VA_ARGS__)
#define pr_info(...) mts_user_print(6, __VA_ARGS__)
/* At most so many messages from one place in so much time, as in the kernel. */
#define MTS_USER_BURST 10
#define MTS_USER_BURST_NS (5 * (u64)NSEC_PER_SEC)
struct mts_user_rate {
	u64 began;
	u32 n;
};

bool mts_user_rate(struct mts_user_rate *rate);
#define MTS_USER_RATED(level, ...)                          \
	do {                                                \
		static struct mts_user_rate rate_;          \
		if (mts_user_rate(&rate_))                  \
			mts_user_print(level, __VA_ARGS__); \
	} while (0)
#define pr_err_ratelimited(...) MTS_USER_RATED(3, __VA_ARGS__)
#define pr_warn_ratelimited(...) MTS_USER_RATED(4, __VA_ARGS__)
#define pr_notice_ratelimited(...) MTS_USER_RATED(5, __VA_ARGS__)
#define pr_info_ratelimited(...) MTS_USER_RATED(6, __VA_ARGS__)

#endif /* MTS_CONTEXT_USER_H */
