/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * mts: the protocol of /dev/mts.
 *
 * This header is the specification. It is all that the module and libmts share.
 *
 * Rules for every command:
 *  - sizes are bytes, times are nanoseconds, points in time are CLOCK_MONOTONIC;
 *  - unknown flags, unknown mask bits and non-zero padding (`pad`, `reserved`)
 *    are refused with EINVAL and change nothing;
 *  - a command that changes something needs CAP_SYS_ADMIN in the initial user
 *    namespace (EPERM); a command that only reads needs the open device, whose
 *    mode is 0600;
 *  - a command is all or nothing: after an error nothing has changed;
 *  - EFAULT: the argument is not readable or writable; ENOTTY: not one of the
 *    commands below (an older module); EINTR: a signal came while the command
 *    waited for a lock, try again.
 *
 * A command never changes its meaning. A new command gets a new number. A new
 * field is appended to a structure that the module only fills: struct mts_stats
 * and struct mts_job_info. The caller of these says how many bytes it knows, and
 * the module fills as many; fields that the module does not know are 0. So an old
 * mtsctl works with a new module, and a new mtsctl with an old module:
 *  - an old module answers a longer MTS_IOC_STATS with ENOTTY, and lists with
 *    an elem_size with EINVAL: ask again with the size of ABI 1;
 *  - an old module answers a pause limit with EINVAL or ENOTTY: it does not
 *    support pause limits.
 */
#ifndef _UAPI_MTS_H
#define _UAPI_MTS_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define MTS_DEVICE "/dev/mts"

/*
 * Raised when commands or fields are added; mts_status.abi shows it.
 *  2: pause limits of jobs; calls; jobs that are gone; sizes of mts_stats and mts_job_info
 *  3: MTS_JOB_EACH_LEAF
 *  4: MTS_IOC_DISK; MTS_IOC_JOB_TAKE; mts_config.step; mts_bin_info.flags; the queue:
 *     MTS_IOC_JOB_SUBMIT, mts_config.queue; pause limits above 60 s; mts_config.policy;
 *     MTS_JOB_SLEEPING; mts_stats.begins and .stops; weights: MTS_IOC_JOB_WEIGHT;
 *     MTS_JOB_HERE; MTS_POLICY_AUTO, MTS_IOC_POLICY; users: mts_config.share, MTS_JOB_USER,
 *     MTS_IOC_USER_WEIGHT, MTS_IOC_USERS
 */
#define MTS_ABI_VERSION 4

#define MTS_MAX_JOBS 4096
#define MTS_MAX_USERS 256 /* with a weight of their own */
#define MTS_NAME_SIZE 64 /* with the closing NUL */
#define MTS_DETAIL_SIZE 128 /* with the closing NUL */

/* "No bin" and "every bin" where a bin's index is expected. */
#define MTS_BIN_NONE 0xffffffffu
#define MTS_BIN_EVERY 0xfffffffeu

/* ---- configuration ---------------------------------------------------- */

enum mts_mode {
	/* Never rotate. */
	MTS_MODE_OFF = 0,
	/*
	 * Rotate while the jobs' demand exceeds the capacity and this slows them
	 * down: the host reclaims memory, pages come back from swap, and the jobs
	 * get less than 0.85 of the processors' time that they want. If they get
	 * even less while they take turns, stop rotating for a while. With a bin
	 * size set by hand, memory counts as short.
	 */
	MTS_MODE_AUTO = 1,
	/* Rotate whenever the demand needs more than one bin. */
	MTS_MODE_ALWAYS = 2,
	/*
	 * Decide as AUTO does, report the decision in the kernel's log and in the
	 * status, and freeze nothing. It shows what AUTO would do on this host.
	 */
	MTS_MODE_SHADOW = 3,
};

/*
 * How memory is shared while it is short, and mts_config.mode lets mts act. AUTO in the texts of
 * enum mts_mode means turns; the other policies act while the host reclaims memory, with ALWAYS
 * whenever the demand exceeds the capacity, and not at all with SHADOW.
 */
enum mts_policy {
	/* Bins of jobs take turns (Reuven & Wiseman). */
	MTS_POLICY_TURNS = 0,
	/* Not at all: the kernel's way. Queue, pins and protection of interactive jobs remain. */
	MTS_POLICY_NONE = 1,
	/*
	 * A job that waits for swap for longer than its equal share of all jobs' waits, and swaps
	 * now, is delayed: frozen for 50 ms at a time, at most half of the time, while another job
	 * waits (Goichon et al. 2013).
	 */
	MTS_POLICY_FAIR = 2,
	/*
	 * One of the jobs that fault keeps its memory, and the others make room, until none of
	 * them faults any more or its time is over (Jiang & Zhang 2001).
	 */
	MTS_POLICY_TOKEN = 3,
	/*
	 * Since ABI 4. One of the above at a time, by what the jobs got and what each is forecast
	 * to give; struct mts_policy_info has it. TURNS with MTS_MODE_ALWAYS or
	 * mts_config.bin_bytes: the user has asked for them, whatever they cost.
	 */
	MTS_POLICY_AUTO = 4,
};

#define MTS_POLICIES 4u /* that can be in force */

/* How jobs are packed into bins; module/binpack/binpack.h has the rules. */
enum mts_pack {
	MTS_PACK_FFD = 0, /* first-fit decreasing */
	MTS_PACK_BFD = 1, /* best-fit decreasing */
	MTS_PACK_RW = 2, /* Reuven & Wiseman, section 4.1 */
};

/* What is evicted from the outgoing bin before the incoming one runs. */
enum mts_evict {
	MTS_EVICT_OFF = 0, /* nothing: the kernel reclaims when it must */
	MTS_EVICT_NEED = 1, /* what the incoming bin lacks, with slack */
	MTS_EVICT_FULL = 2, /* all of it: Reuven & Wiseman, section 4.2 */
	/*
	 * FULL; or NEED, where switches take much of the time and swap is not on a slow
	 * disk
	 */
	MTS_EVICT_AUTO = 3,
};

/* How a job's demand, the memory that it needs, is estimated. */
enum mts_demand {
	MTS_DEMAND_ALLOCATED = 0, /* all of its memory, present or in swap */
	/*
	 * As ALLOCATED, less the private memory that its last two slices did not use, if
	 * that is an eighth or more. The unused memory stays in swap.
	 */
	MTS_DEMAND_USED = 1,
};

/* Which jobs are held in the queue, beside those with MTS_JOB_QUEUE. */
enum mts_queue {
	MTS_QUEUE_OFF = 0, /* none */
	MTS_QUEUE_AUTO = 1, /* those with MTS_JOB_BATCH, too */
};

/*
 * Between whom time is shared out while memory is short, and waits for swap with MTS_POLICY_FAIR.
 * MTS_POLICY_TOKEN goes by neither.
 */
enum mts_share_by {
	/* Between jobs, by their weights (struct mts_job_weight): a user with twenty has twenty. */
	MTS_SHARE_JOB = 0,
	/*
	 * First between users by their weights (struct mts_user_weight), then between the jobs of
	 * each by theirs. A user counts if a job of that user takes turns; with MTS_POLICY_FAIR, if
	 * one waits for swap.
	 */
	MTS_SHARE_USER = 1,
};

/* Bits of mts_config.mask: which fields a SET changes. */
#define MTS_CONFIG_MODE (1u << 0)
#define MTS_CONFIG_PACK (1u << 1)
#define MTS_CONFIG_EVICT (1u << 2)
#define MTS_CONFIG_SLICE (1u << 3)
#define MTS_CONFIG_BIN (1u << 4)
#define MTS_CONFIG_MIN_SLICE (1u << 5)
#define MTS_CONFIG_MAX_PAUSE (1u << 6)
#define MTS_CONFIG_OVERHEAD (1u << 7)
#define MTS_CONFIG_DEMAND (1u << 8)
#define MTS_CONFIG_INTERACTIVE (1u << 9)
#define MTS_CONFIG_STEP (1u << 10) /* since ABI 4 */
#define MTS_CONFIG_QUEUE (1u << 11) /* since ABI 4 */
#define MTS_CONFIG_POLICY (1u << 12) /* since ABI 4 */
#define MTS_CONFIG_SHARE (1u << 13) /* since ABI 4 */
#define MTS_CONFIG_ALL 0x3fffu

#define MTS_STEP_AUTO 0u
#define MTS_STEP_MIB_MAX (1u << 30)
#define MTS_STEP_BIN 0xffffffffu

#define MTS_SLICE_MIN_NS 10000000ull /* 10 ms */
#define MTS_SLICE_MAX_NS 60000000000ull /* 60 s */
#define MTS_BIN_MIN_BYTES (1ull << 20) /* 1 MiB */
#define MTS_BIN_MAX_BYTES (1ull << 50) /* 1 PiB */
/* 1 s: a switch takes a good part of a second, and each turn must leave time to run */
#define MTS_PAUSE_MIN_NS 1000000000ull
#define MTS_PAUSE_AUTO_NS 30000000000ull /* 30 s: the automatic limit, where it suffices */
#define MTS_PAUSE_STRETCHED_NS 60000000000ull /* 60 s: the automatic limit elsewhere */
/* 10 min: of jobs for which no user and no program waits, as far as can be seen. Since ABI 4 */
#define MTS_PAUSE_UNATTENDED_NS 600000000000ull
/* 24 h: for hosts where no user waits for the jobs. Before ABI 4: 60 s */
#define MTS_PAUSE_MAX_NS 86400000000000ull
/* The longest time in the queue. 24 h: what is submitted today has begun by this time tomorrow. */
#define MTS_WAIT_MIN_NS 1000000000ull /* 1 s */
#define MTS_WAIT_DEFAULT_NS (24 * 3600 * 1000000000ull)
#define MTS_WAIT_MAX_NS (30 * 24 * 3600 * 1000000000ull) /* 30 days */
/* The range and the default of cpu.weight (Documentation/admin-guide/cgroup-v2.rst). */
#define MTS_WEIGHT_MIN 1u
#define MTS_WEIGHT_MAX 10000u
#define MTS_WEIGHT_DEFAULT 100u
#define MTS_OVERHEAD_MAX 500u /* per mille */
#define MTS_INTERACTIVE_MAX 900u /* per mille */

/* The configuration at load, unless module parameters set another one. */
#define MTS_DEFAULT_MODE MTS_MODE_AUTO
#define MTS_DEFAULT_PACK MTS_PACK_FFD
#define MTS_DEFAULT_EVICT MTS_EVICT_AUTO
#define MTS_DEFAULT_SLICE_NS 5000000000ull
#define MTS_DEFAULT_MIN_SLICE_NS 200000000ull
#define MTS_DEFAULT_MAX_PAUSE_NS 0ull
#define MTS_DEFAULT_OVERHEAD 50u
#define MTS_DEFAULT_DEMAND MTS_DEMAND_USED
#define MTS_DEFAULT_INTERACTIVE 250u
#define MTS_DEFAULT_STEP MTS_STEP_AUTO
#define MTS_DEFAULT_QUEUE MTS_QUEUE_OFF
#define MTS_DEFAULT_POLICY MTS_POLICY_TURNS
#define MTS_DEFAULT_SHARE MTS_SHARE_JOB

/* The defaults that a plan uses, as initializers of a struct with fields of these names. */
#define MTS_DEFAULT_KNOBS                                                                       \
	.pack = MTS_DEFAULT_PACK, .evict = MTS_DEFAULT_EVICT, .slice_ns = MTS_DEFAULT_SLICE_NS, \
	.min_slice_ns = MTS_DEFAULT_MIN_SLICE_NS, .max_pause_ns = MTS_DEFAULT_MAX_PAUSE_NS,     \
	.overhead = MTS_DEFAULT_OVERHEAD

/*
 * MTS_IOC_CONFIG_GET fills every field and sets mask to MTS_CONFIG_ALL.
 * MTS_IOC_CONFIG_SET changes the fields named in mask, at once: a running
 * slice ends no later than the new configuration says. Setting the mode also
 * ends a stop (see enum mts_state). With mode off or shadow, mts holds no job
 * frozen when the command returns. A job that cannot be thawed within a second
 * is thawed later, and the log says so. Setting slice_ns alone, to less than
 * min_slice_ns, lowers min_slice_ns to it. ERANGE: a value outside its range, or
 * both set and min_slice_ns above slice_ns. EINVAL: an unknown mode, policy, pack,
 * evict, share, demand or queue.
 */
struct mts_config {
	__u32 mask;
	__u32 mode; /* enum mts_mode */
	__u16 pack; /* enum mts_pack */
	/* Since ABI 4, enum mts_policy; before that the upper half of @pack, always 0. */
	__u16 policy;
	__u16 evict; /* enum mts_evict */
	/* Since ABI 4, enum mts_share_by; before that the upper half of @evict, always 0. */
	__u16 share;
	/* Time slice of a full bin, at least; MTS_SLICE_MIN_NS..MTS_SLICE_MAX_NS */
	__u64 slice_ns;
	/*
	 * Memory for one bin and the jobs that are in every bin. 0: automatic;
	 * MTS_BIN_MIN_BYTES..MTS_BIN_MAX_BYTES
	 */
	__u64 bin_bytes;
	__u64 min_slice_ns; /* Shortest slice; MTS_SLICE_MIN_NS..slice_ns */
	/*
	 * Longest time that a job is frozen; MTS_PAUSE_MIN_NS..MTS_PAUSE_MAX_NS.
	 * 0: automatic. That is MTS_PAUSE_AUTO_NS; or more, up to MTS_PAUSE_STRETCHED_NS, where
	 * switches would take more than half of the time. Jobs that are not attended are frozen for
	 * longer, up to MTS_PAUSE_UNATTENDED_NS, where each doubling of the pauses gives a tenth
	 * more work. A job is attended if a process of it has a controlling terminal, has a socket
	 * or a character device open (but for those of MEM_MAJOR), or has a pipe as a standard
	 * stream.
	 */
	__u64 max_pause_ns;
	/*
	 * Share of the time that switches may take, per mille. Slices grow until
	 * switches take no more than this, as far as max_pause_ns allows. 0: slices do
	 * not grow; 1..MTS_OVERHEAD_MAX.
	 */
	__u32 overhead;
	/*
	 * Share of the capacity, per mille, that the interactive jobs may hold
	 * together. They are in every bin. Beyond the share, jobs whose last input is
	 * longest ago go back to the bins until they have input again. 0: interactive
	 * jobs are treated as all others; 1..MTS_INTERACTIVE_MAX.
	 */
	__u32 interactive;
	__u16 demand; /* enum mts_demand */
	/* Since ABI 4, enum mts_queue; before that the upper half of @demand, always 0. */
	__u16 queue;
	/*
	 * Since ABI 4. How much memory changes hands at a switch, MiB; 1..MTS_STEP_MIB_MAX. Jobs
	 * that stay run on. MTS_STEP_BIN: all of it, disjoint bins, of which one runs at a time
	 * (Reuven & Wiseman, section 4). MTS_STEP_AUTO: a 32nd of the
	 * capacity where a forecast says that at least a tenth more gets done so, else all of it.
	 */
	__u32 step;
};

/* ---- jobs ------------------------------------------------------------- */

/* Create only: move the calling process into the new job, so that it can exec a program. */
#define MTS_JOB_ENTER (1u << 0)
/* Each child process of the job's processes gets a job of its own, before it runs. */
#define MTS_JOB_EACH (1u << 1)
/* In every bin: mts never freezes or evicts it. */
#define MTS_JOB_PIN (1u << 2)
/*
 * Only in mts_job_info: the job's memory stays, even while the job is frozen. It is subtracted from
 * the capacity of all bins. A person has used the job in the last ten minutes, and the share
 * mts_config.interactive has room for it.
 */
#define MTS_JOB_STAYS (1u << 3)
/*
 * Since ABI 3. Each process of the job that is born later than the job gets a job of its own as
 * soon as it has MTS_LEAF_BYTES of memory of its own. That job has EACH_LEAF, too. Smaller
 * processes, such as a make that waits for its compilers, stay.
 */
#define MTS_JOB_EACH_LEAF (1u << 4)
/*
 * Since ABI 4, submit only: while what the job is expected to need does not fit beside the jobs
 * that have begun, it is held in the queue: frozen before its first instruction.
 */
#define MTS_JOB_QUEUE (1u << 5)
/* Since ABI 4, submit only: no user waits at a terminal: as QUEUE, if mts_config.queue is AUTO. */
#define MTS_JOB_BATCH (1u << 6)
/*
 * Since ABI 4, submit only, and not with ENTER: no cgroup is made; the existing one of cgroup_fd
 * becomes the job, as with MTS_IOC_JOB_ADD. With QUEUE its processes are held as they are. With
 * EACH and EACH_LEAF, the cgroups of children are made beside it, in the directory above, and
 * belong to the owner of that directory: each_max of them at a time at most, and none
 * once the job itself is gone. If one cannot be made, the child stays where it was born.
 */
#define MTS_JOB_HERE (1u << 8)
/*
 * Since ABI 4, where a job is made: the field `user` says whose it is, as a user id of the initial
 * user namespace. Without the flag that field is 0, and the job is
 *  - of CREATE and SUBMIT, the caller's: the real user id; of a caller of mtsd the effective one;
 *  - of ADD, that of the owner of the cgroup's directory. So of what systemd delegates to a user it
 *    is that user's. Of a login's scope, which root owns, the caller has to say so;
 *  - of TAKE, that of the process, its real user id;
 *  - of a child of an EACH or EACH_LEAF job, that of its parent.
 * It stays so. Of users who are not root a mtsd of root's takes only themselves (EPERM).
 */
#define MTS_JOB_USER (1u << 7)
#define MTS_USER_NONE 0xffffffffu /* no user: ERANGE */

/*
 * 1 MiB. To swap it out and in takes 1 ms at 2 GB/s, ten times as long as to make a cgroup and to
 * remove it. Of a process that grows, this much stays charged to the job in which it was born.
 */
#define MTS_LEAF_BYTES (1ull << 20)

/*
 * MTS_IOC_JOB_CREATE makes a cgroup below the module's cgroup_base and enrols
 * it. A job whose last process has exited is removed, with its cgroup. A job
 * that never had a process stays until MTS_IOC_JOB_REMOVE. With EACH or EACH_LEAF,
 * the job of a child is named after its parent's, "name.N", and does not have EACH.
 *
 * EINVAL: a name with anything but letters, digits and "._@:+-", or with a
 *         leading dot; no closing NUL
 * EEXIST: a job of that name exists, or a cgroup with something in it (an empty
 *         one, left by an earlier load, is replaced)
 * ENOSPC: MTS_MAX_JOBS jobs
 * ENODEV: another process has removed the cgroup base
 * EBUSY:  ENTER by PID 1, which must never be frozen
 * ERANGE: max_pause_ns or weight is outside its range; user is MTS_USER_NONE
 * EOPNOTSUPP: EACH, where the kernel cannot catch a child (see each_how); EACH_LEAF, where it
 *         does not say that a process grows
 * others: errors of cgroupfs from mkdir and cgroup.procs (ENOMEM, EAGAIN, …;
 *         ENOENT: ENTER from a cgroup namespace that does not hold the base)
 */
struct mts_job_create {
	char name[MTS_NAME_SIZE]; /* in; empty: the module chooses; out: the name */
	/* in: MTS_JOB_ENTER, MTS_JOB_EACH, MTS_JOB_EACH_LEAF, MTS_JOB_PIN, MTS_JOB_USER */
	__u32 flags;
	__u32 id; /* out */
	__u64 cgroup_id; /* out: the inode number of the cgroup's directory */
	__u64 max_pause_ns; /* in: as in struct mts_job_pause */
	__u32 weight; /* in: as in struct mts_job_weight; since ABI 4, before that 0 */
	__u32 user; /* in: with MTS_JOB_USER, else 0; since ABI 4, before that 0 */
};

/*
 * MTS_IOC_JOB_SUBMIT, since ABI 4, makes a job as MTS_IOC_JOB_CREATE does, and takes what is known
 * of it beforehand.
 *
 * The queue. A job with QUEUE is held while it does not fit: it enters its cgroup frozen, and
 * executes nothing. It is started when its size fits beside the sizes of the jobs that have begun,
 * the oldest first, and jobs that were in the queue do not keep all processors busy. A smaller one
 * may pass an older one if it can delay no older one, whichever jobs end first. The job counts with
 * its size, or with its demand if that is larger, until it ends. It is also started
 *  - when max_wait_ns are over: then it takes turns as any other job;
 *  - when nothing may be frozen: mode off or shadow, a stop, a suspend, unload;
 *  - when it is pinned or removed, gets a real-time thread, or PID 1 or a signal calls it.
 * A signal that ends a process by default ends a held one at once. Its terminal's input, a full
 * pipe and a file lock do not start it.
 *
 * The size is what the caller says; else what the same command needed, the larger of its last two
 * runs since the module was loaded; else the mean demand of the jobs that have begun. A job of
 * which nothing is known starts only while no other such job grows.
 *
 * Errors as MTS_IOC_JOB_CREATE, with HERE as MTS_IOC_JOB_ADD, and
 * EINVAL: QUEUE with PIN, or without ENTER and HERE; ENTER with HERE
 * ERANGE: size or max_wait_ns is outside its range
 */
struct mts_job_submit {
	/* as in struct mts_job_create; with HERE only out: the name of the cgroup */
	char name[MTS_NAME_SIZE];
	/* as in struct mts_job_create, and MTS_JOB_QUEUE, MTS_JOB_BATCH, MTS_JOB_HERE */
	__u32 flags;
	__u32 id; /* out */
	__u64 cgroup_id; /* out */
	__u64 max_pause_ns; /* in: as in struct mts_job_pause */
	/* in: bytes that it will need; 0: not known; MTS_BIN_MIN_BYTES..MTS_BIN_MAX_BYTES */
	__u64 size;
	/* in: the longest time in the queue, ns; 0: MTS_WAIT_DEFAULT_NS; _MIN_NS.._MAX_NS */
	__u64 max_wait_ns;
	/* in: a number that stands for the command, to remember what it needs; 0: none */
	__u64 command;
	__u32 weight; /* in: as in struct mts_job_weight */
	__u32 user; /* in: with MTS_JOB_USER, else 0 */
	__s32 cgroup_fd; /* in: with MTS_JOB_HERE, as in struct mts_job_add; else 0 */
	/* in: with HERE: children's jobs at a time; 0: MTS_MAX_JOBS */
	__u32 each_max;
};

/* From where mts_job_info.size is. */
enum mts_size_from {
	MTS_SIZE_UNKNOWN = 0,
	MTS_SIZE_GIVEN = 1, /* by the user that submitted the job */
	MTS_SIZE_COMMAND = 2, /* the same command needed it */
	MTS_SIZE_OTHERS = 3, /* the mean of the jobs that have begun */
};

/*
 * MTS_IOC_JOB_ADD enrols an existing cgroup, with all cgroups below it. mts
 * never removes this cgroup, and restores its settings in the end. The job has
 * the directory's name, truncated if necessary; two jobs can have the same name.
 *
 * EBADF:  cgroup_fd is not open
 * EINVAL: cgroup_fd is no cgroup v2 directory, or is the root cgroup
 * ENODEV: the cgroup has been removed
 * EBUSY:  it holds PID 1, a kernel thread, the caller or one of its ancestors
 * EEXIST: it is a job already, or lies above or below one
 * EOPNOTSUPP: the memory controller is not enabled in it; or EACH, EACH_LEAF as above
 * ENOSPC: MTS_MAX_JOBS jobs
 * ERANGE: max_pause_ns or weight is outside its range; user is MTS_USER_NONE
 */
struct mts_job_add {
	__s32 cgroup_fd; /* in: O_RDONLY or O_PATH on the directory */
	__u32 flags; /* in: MTS_JOB_EACH, MTS_JOB_EACH_LEAF, MTS_JOB_PIN, MTS_JOB_USER */
	__u32 id; /* out */
	__u32 pad;
	__u64 cgroup_id; /* out */
	__u64 max_pause_ns; /* in: as in struct mts_job_pause */
	__u32 weight; /* in: as in struct mts_job_weight; since ABI 4, before that 0 */
	__u32 user; /* in: with MTS_JOB_USER, else 0; since ABI 4, before that 0 */
};

/*
 * MTS_IOC_JOB_TAKE makes a job of one running process. Only mtsd knows it: the module answers
 * ENOTTY, because it evicts by cgroup, and memory stays charged to the cgroup that it was
 * allocated in.
 *
 * The process moves into a new cgroup, COMM-PID, below the one that it is in (of a process in
 * the root cgroup: below cgroup_base). No controller is enabled there, so charges and limits stay
 * as they are. Children that it has already stay outside; later ones belong to the job. When
 * mts forgets the job, its processes go back to the cgroup above, and the new one is removed.
 *
 * ESRCH:  no such process in the PID namespace of mtsd
 * EBUSY:  PID 1, a kernel thread, mtsd, its guardian, the caller, or an ancestor of mtsd or of
 *         the caller
 * EACCES: mtsd may not make a cgroup there, or move the process
 * EXDEV:  its cgroup is outside of the cgroup namespace of mtsd
 * EEXIST: a cgroup of that name exists with something in it; or its cgroup is a job, or lies
 *         below one
 * EOPNOTSUPP: its cgroup is threaded; or EACH, EACH_LEAF as above
 * ENOSPC, ERANGE as above
 */
struct mts_job_take {
	__s32 pid; /* in */
	__u32 flags; /* in: MTS_JOB_EACH, MTS_JOB_EACH_LEAF, MTS_JOB_PIN, MTS_JOB_USER */
	__u32 id; /* out */
	__u32 pad;
	__u64 cgroup_id; /* out */
	__u64 max_pause_ns; /* in: as in struct mts_job_pause */
	char name[MTS_NAME_SIZE]; /* out */
	__u32 weight; /* in: as in struct mts_job_weight */
	__u32 user; /* in: with MTS_JOB_USER, else 0 */
};

/*
 * MTS_IOC_JOB_REMOVE thaws the job and forgets it. Its processes continue in
 * their cgroup; those of a job of MTS_IOC_JOB_TAKE in the one above.
 * ENOENT: no job has that id.
 */
struct mts_job_remove {
	__u32 id;
	__u32 pad;
};

/* MTS_IOC_JOB_SET sets the flags named in mask. ENOENT, EOPNOTSUPP as above. */
struct mts_job_set {
	__u32 id;
	__u32 mask; /* MTS_JOB_EACH, MTS_JOB_EACH_LEAF, MTS_JOB_PIN */
	__u32 flags;
	__u32 pad;
};

/*
 * MTS_IOC_JOB_PAUSE sets the longest time that this job is frozen at a time.
 * The limit holds at once: a job that has already been frozen for longer is
 * thawed. mts_config.max_pause_ns holds as well; the shorter of the two counts.
 *
 * A job whose limit is shorter than the pauses of the plan is never frozen: it
 * is in every bin. Such jobs and the interactive jobs together stay within the
 * share mts_config.interactive of the capacity; jobs with the shortest limits
 * come first. For a job that has no room there, all slices become shorter, and
 * mts_status.limited_by names the job. If even the shortest slices do not keep
 * its limit, the job is in every bin, although the share has no room for it.
 *
 * With EACH and EACH_LEAF, the job of a child gets the limit of its parent's job.
 *
 * ENOENT: no job has that id
 * ERANGE: max_pause_ns is outside its range
 */
struct mts_job_pause {
	__u32 id;
	__u32 pad;
	/* ns; 0: no limit of its own; MTS_PAUSE_MIN_NS..MTS_PAUSE_MAX_NS */
	__u64 max_pause_ns;
};

/*
 * MTS_IOC_JOB_WEIGHT, since ABI 4, sets what the job is entitled to: while memory is short, jobs
 * get time in proportion to their weights, as far as memory and the pause limits allow. A job of
 * weight 200 runs for twice as long as one of weight 100, and at most all of the time. However
 * small its weight, a job gets its turn within its pause limit.
 *
 * Jobs of one bin run together: with disjoint bins the mean of their weights counts. Bins that
 * overlap consist of jobs whose weights differ by less than an eighth. MTS_POLICY_FAIR goes by the
 * weights, too; MTS_POLICY_TOKEN does not. With MTS_SHARE_USER a weight counts among the jobs of
 * one user. Processor time is the kernel's: cpu.weight divides it among the jobs that run.
 *
 * The weight holds at once: a new round begins. With EACH and EACH_LEAF, the job of a child gets
 * the weight of its parent's job.
 *
 * ENOENT: no job has that id
 * ERANGE: weight is outside its range
 */
struct mts_job_weight {
	__u32 id;
	__u32 weight; /* MTS_WEIGHT_MIN..MTS_WEIGHT_MAX; 0: MTS_WEIGHT_DEFAULT */
};

/*
 * MTS_IOC_USER_WEIGHT, since ABI 4, sets what a user is entitled to with MTS_SHARE_USER: a user of
 * weight 200 gets twice as much as one of weight 100, whatever jobs they have. The user's jobs
 * divide it by their own weights. It holds at once, as that of a job, and for a user without jobs,
 * too. All users have MTS_WEIGHT_DEFAULT at first; MTS_IOC_USERS lists those that have another one,
 * in the order of their numbers.
 *
 * ENOSPC: MTS_MAX_USERS users have other ones
 * ERANGE: weight is outside its range; user is MTS_USER_NONE
 */
struct mts_user_weight {
	__u32 user; /* a user id of the initial user namespace */
	__u32 weight; /* MTS_WEIGHT_MIN..MTS_WEIGHT_MAX; in: 0: MTS_WEIGHT_DEFAULT */
};

/*
 * A call: a task outside a frozen job waits for a task in the job. The job is thawed and
 * runs out of turn, as far as its budget allows.
 */
enum mts_call {
	MTS_CALL_NONE = 0,
	/* A process outside has created a task in the job, or moved a task into it. */
	MTS_CALL_TASK = 1,
	/* A process outside has sent a signal by which it asks a process of the job to end. */
	MTS_CALL_SIGNAL = 2,
	/* A process outside waits until the job reads from a pipe or a stream socket. */
	MTS_CALL_WRITE = 3,
	/*
	 * A task waits for a file lock that the job holds. The task is in no job, in a job that is
	 * in every bin or in none yet, or in a job of the running bin.
	 */
	MTS_CALL_LOCK = 4,
};

/* ---- state and statistics ---------------------------------------------- */

enum mts_state {
	MTS_STATE_OFF = 0, /* mode=off: nothing is frozen */
	MTS_STATE_IDLE = 1, /* nothing to rotate: nothing is frozen */
	MTS_STATE_RUNNING = 2, /* one bin runs, or some that overlap; the others are frozen */
	/*
	 * From one bin to the next. With mts_status.bins 0: rotation has ended, and
	 * each job that is still frozen is thawed when its memory is back.
	 */
	MTS_STATE_SWITCHING = 3,
	/*
	 * After an error, or at a user's request: all jobs were thawed, and no job
	 * is frozen until the mode is set again. mts_status has the reason.
	 */
	MTS_STATE_STOPPED = 4,
	MTS_STATE_PAUSED = 5, /* the host suspends: thawed until it resumes */
	/*
	 * Since ABI 4. The policy FAIR or TOKEN acts: there are no bins, and no job is
	 * frozen for longer than a moment.
	 */
	MTS_STATE_SHARING = 6,
};

/* Why the rotor is in its state. mts_status.detail has it as a sentence. */
enum mts_reason {
	MTS_REASON_NONE = 0,
	/* The next two also while switching, as rotation ends. */
	MTS_REASON_NO_JOBS = 1, /* idle: fewer than two jobs that can be frozen */
	MTS_REASON_FITS = 2, /* idle: the demand fits */
	MTS_REASON_NO_PRESSURE = 3, /* idle: the host does not reclaim memory */
	MTS_REASON_NO_SWAP = 4, /* idle: there is no swap to evict to */
	MTS_REASON_OVERCOMMIT = 5, /* rotating */
	MTS_REASON_USER = 6, /* stopped by MTS_IOC_THAW */
	MTS_REASON_STALL = 7, /* stopped: the rotor missed its deadline */
	MTS_REASON_OOM = 8, /* stopped: the kernel was out of memory */
	MTS_REASON_ERROR = 9, /* stopped by mtsd: its guardian has ended, until it has another */
	MTS_REASON_SUSPEND = 10, /* paused */
	MTS_REASON_UNLOAD = 11,
	/* idle: the host swaps, but rotation, or with AUTO any policy, would gain nothing */
	MTS_REASON_COPES = 12,
	MTS_REASON_NO_GAIN = 13, /* idle: the jobs got less processor time with the policy */
	MTS_REASON_SHADOW = 14, /* idle: with MTS_MODE_AUTO mts would act */
	/* idle: switches take too long for max_pause_ns, or for rotation to gain anything */
	MTS_REASON_SLOW_SWAP = 15,
	/* idle: as SLOW_SWAP, but because no other job fits beside those in every bin */
	MTS_REASON_EXEMPT = 16,
	/* Since ABI 4. */
	MTS_REASON_POLICY = 17, /* idle: memory is short, and mts_config.policy is NONE */
	MTS_REASON_FAIR = 18, /* sharing: by the policy FAIR */
	MTS_REASON_TOKEN = 19, /* sharing: by the policy TOKEN */
};

/* How MTS_JOB_EACH catches a child. */
enum mts_each_how {
	MTS_EACH_NONE = 0, /* EACH does not work in this kernel */
	/* The child enters its job before its first instruction of user code. */
	MTS_EACH_BEFORE_USER = 1,
	/*
	 * mtsd hears of the child and moves it: what the child has touched by then stays charged to
	 * its parent's job.
	 */
	MTS_EACH_AFTER_FORK = 2,
};

/*
 * Which events the module sees in this kernel. An event that it does not see cannot make a job
 * interactive; nothing else changes.
 */
#define MTS_SEES_TTY (1u << 0) /* input to a terminal */
#define MTS_SEES_TTY_OUTPUT (1u << 1) /* output to a terminal */
/* Requests over unix sockets, from a program that had input to another program. */
#define MTS_SEES_UNIX (1u << 3)
#define MTS_SEES_PIPES (1u << 5) /* the same, through pipes */
/* Keyboards and mice as /dev/input/event*, while the kernel's evdev is loaded. */
#define MTS_SEES_EVDEV (1u << 4)
/* A thread becomes real-time. Without the bit this is seen at the next switch. */
#define MTS_SEES_REALTIME (1u << 2)
/*
 * Since ABI 4. How long each task waits for pages from swap. Without the bit MTS_POLICY_FAIR goes
 * by the kernel's pressure accounts, which leave out part of it.
 */
#define MTS_SEES_SWAPINS (1u << 6)
/* Not the module answers, but mtsd, which sees none of the above. */
#define MTS_SEES_BY_USERSPACE (1u << 31)

struct mts_status {
	__u32 abi; /* MTS_ABI_VERSION of the module */
	__u32 state; /* enum mts_state */
	__u32 reason; /* enum mts_reason */
	__u32 each_how; /* enum mts_each_how */
	__u32 jobs;
	__u32 bins; /* 0 while not rotating */
	/*
	 * The bin that runs, or is brought back; of bins that overlap, the one that came in last.
	 * MTS_BIN_NONE: none
	 */
	__u32 current_bin;
	__u32 frozen; /* jobs that mts holds frozen now, without those in the queue */
	__u64 generation; /* changes with every change of jobs or bins */
	__u64 now_ns;
	/*
	 * The next three are measured at the beginning of a round, and while idle for
	 * this command. While off or stopped they are as last measured.
	 */
	__u64 capacity; /* bytes for the jobs of one bin alone; 0: not yet known */
	__u64 demand; /* of the jobs in bins */
	__u64 resident_demand; /* of the jobs that are in every bin */
	__u64 round; /* rounds begun since load */
	__u64 slice_ends_ns; /* 0 while not running a slice */
	__u64 round_ns; /* planned length of this round: slices and switches; 0: no round */
	__u64 longest_pause_ns; /* planned: the longest time that a job will be frozen */
	__u32 sees; /* MTS_SEES_* */
	__u32 interactive; /* jobs that are in every bin because of their input */
	__u32 crowded_out; /* jobs that had input, but are in bins: no room in the share */
	__u32 evict; /* enum mts_evict in effect, never AUTO; valid while max_pause_ns is not 0 */
	/*
	 * The pause limit in effect; 0: no rotation. With an automatic limit this is up to
	 * MTS_PAUSE_STRETCHED_NS until the duration of a switch is known.
	 */
	__u64 max_pause_ns;
	__u32 limited_by; /* id of the job whose own pause limit shortens the slices; 0: none */
	__u32 limited; /* jobs that are in every bin because of their own pause limit */
	char detail[MTS_DETAIL_SIZE];
};

enum mts_job_state {
	MTS_JOB_RUNNING = 0, /* thawed */
	MTS_JOB_FROZEN = 1, /* frozen by mts: all of its tasks */
	MTS_JOB_FREEZING = 2, /* mts has asked for a freeze; some tasks still run */
	MTS_JOB_RESIDENT = 3, /* in every bin: pinned by the user */
	MTS_JOB_REALTIME = 4, /* in every bin: has a FIFO, RR or DEADLINE thread */
	MTS_JOB_LEFT_OUT = 5, /* did not freeze, or another process thawed it: runs for now */
	/* Frozen by another process, or with a cgroup above it: mts leaves it alone. */
	MTS_JOB_FOREIGN = 6,
	MTS_JOB_UNTOUCHABLE = 7, /* in every bin: contains PID 1 or a kernel thread */
	MTS_JOB_INTERACTIVE = 8, /* in every bin: has had input from a person recently */
	MTS_JOB_CALLED = 9, /* runs out of turn: a process outside waits for it */
	MTS_JOB_LIMITED = 10, /* in every bin: rotation would exceed its own pause limit */
	/*
	 * In every bin: memory.swap.max of its cgroup, or of one above it, leaves it next to no
	 * swap, so that a freeze would free nothing.
	 */
	MTS_JOB_NO_SWAP = 11,
	MTS_JOB_QUEUED = 12, /* held in the queue before its first instruction */
	/* MTS_POLICY_FAIR: it swaps more than its share, and is frozen part of the time. */
	MTS_JOB_DELAYED = 13,
	MTS_JOB_HOLDER = 14, /* MTS_POLICY_TOKEN: it keeps its memory, the others make room */
	/* Since ABI 4. In every bin: it sleeps and has little, at most a 32nd of the capacity. */
	MTS_JOB_SLEEPING = 15,
};

#define MTS_INPUT_AGE_MAX 0xffffffffu
#define MTS_CALL_AGE_MAX 0xffffffffu

struct mts_job_info {
	__u32 id;
	__u32 parent; /* id of the EACH or EACH_LEAF job that it came from; 0: none */
	/* MTS_JOB_EACH, MTS_JOB_EACH_LEAF, MTS_JOB_PIN, MTS_JOB_STAYS; QUEUE: it was held, or is */
	__u32 flags;
	__u32 state; /* enum mts_job_state */
	__u32 bin; /* index, MTS_BIN_EVERY, or MTS_BIN_NONE: not placed yet */
	__u32 freeze_failures;
	__u64 cgroup_id;
	/* The next three as last measured: for the plan, when placed, or while its bin runs. */
	__u64 demand; /* bytes */
	__u64 resident; /* bytes in memory */
	__u64 swapped; /* bytes in swap */
	__u64 frozen_since_ns; /* when mts asked for the freeze; 0: not frozen by mts */
	__u64 frozen_total_ns; /* finished freezes only */
	__u64 frozen_longest_ns; /* finished freezes only */
	__u64 run_ns; /* time thawed in finished slices of its bin */
	__u64 slices; /* finished slices of its bin, those cut short included */
	__u64 evicted; /* bytes that evictions by mts took from it */
	/* Bytes that its last slices did not use: not part of demand, and not brought back. */
	__u64 unused;
	__u32 threads; /* threads that wanted to run at the same time, when last counted */
	/* Since the job's last input from a person, at most MTS_INPUT_AGE_MAX - 1. */
	__u32 input_age_ms; /* MTS_INPUT_AGE_MAX: never */
	char name[MTS_NAME_SIZE];
	/* Since ABI 2. */
	__u64 max_pause_ns; /* its own pause limit, struct mts_job_pause; 0: none */
	__u64 calls; /* calls that reached it while it was frozen */
	__u64 calls_refused; /* of these: the budget was used up, so the job stayed frozen */
	__u32 last_call; /* enum mts_call */
	__u32 last_call_pid; /* the process that waited, in the initial namespace; 0: unknown */
	__u32 last_call_age_ms; /* at most MTS_CALL_AGE_MAX - 1; MTS_CALL_AGE_MAX: never called */
	__u32 last_call_refused; /* 1: the last call was refused */
	/*
	 * The tightest memory.high or memory.max of its cgroup and of those above it, if one of
	 * them is reached, or is less than what is needed below it; 0: none is. What such a job
	 * waits for begins no turns.
	 */
	__u64 memory_limit;
	/* Part of demand that memory.swap.max keeps in memory: it is taken off all bins. */
	__u64 immovable;
	/* Since ABI 4. What it is expected to need, bytes; 0: not known (struct mts_job_submit). */
	__u64 size;
	__u32 size_from; /* enum mts_size_from */
	__u32 queue_place; /* 1: the next; 0: it is not in the queue, or has just come */
	__u64 queued_since_ns; /* 0: it is not in the queue */
	/* As far as can be foretold by how long the same commands ran; 0: it cannot. */
	__u64 starts_ns;
	__u64 starts_by_ns; /* at the latest; 0: it is not in the queue */
	__u64 queued_ns; /* time that it was in the queue; 0: it was not, or is */
	/*
	 * Policies FAIR and TOKEN. Time that its tasks have waited for pages from swap, all
	 * together, while the policy acted; times that it was delayed; times that it was the holder
	 */
	__u64 swap_wait_ns;
	__u64 delays;
	__u64 holdings;
	/* Since ABI 4, struct mts_job_weight. 0: an older module, in which all are equal */
	__u32 weight;
	__u32 user; /* since ABI 4, which has a weight: whose it is (MTS_JOB_USER) */
};

/* Since ABI 4. In older ones the bin mts_status.current_bin runs, and no other one. */
#define MTS_BIN_RUNS (1u << 0) /* it runs, or is brought back */
/*
 * The bins overlap: each is a group of jobs that come and go together, and several groups run at a
 * time. At a switch one comes in, or some, and as many leave as must. All bins have it, or none.
 */
#define MTS_BIN_OVERLAPS (1u << 1)

struct mts_bin_info {
	__u32 jobs;
	__u32 flags; /* MTS_BIN_RUNS, MTS_BIN_OVERLAPS */
	__u64 demand;
	__u64 slice_ns; /* of bins that overlap: until the next switch, once it has come in */
};

/*
 * MTS_IOC_JOBS and MTS_IOC_BINS: the module writes up to `count` elements to
 * `buf`, jobs in order of id, bins in order of index. It sets `count` to the
 * number of elements written and `total` to the number that exist. If `total` is
 * larger, ask again with more room. `generation` is that of struct mts_status:
 * answers with the same generation are consistent with each other.
 *
 * `elem_size` is the size of the caller's element. Elements are that far apart;
 * bytes beyond those that the module knows are 0.
 * EINVAL: elem_size is no multiple of 8, smaller than in ABI 1 or larger than
 * MTS_ELEM_SIZE_MAX.
 */
struct mts_list {
	__u64 buf; /* user pointer to struct mts_job_info or mts_bin_info */
	__u32 count;
	__u32 total;
	__u64 generation;
	__u32 elem_size; /* bytes; 0: as in ABI 1 */
	__u32 pad;
};

/*
 * MTS_IOC_GONE, as MTS_IOC_JOBS: the latest jobs that ended although their work may go on outside
 * of any job, the latest first. A job that mts made, and whose last process exited, is not among
 * them.
 */
enum mts_gone {
	MTS_GONE_MOVED = 1, /* the last process has moved to another cgroup */
	/*
	 * The last process in an added cgroup has exited, or the cgroup was removed. What starts
	 * there again, such as a container that restarts, is in no job.
	 */
	MTS_GONE_EMPTY = 2,
};

#define MTS_GONE_MAX 64u /* jobs that are remembered */

struct mts_gone_info {
	__u32 id;
	__u32 why; /* enum mts_gone */
	__u64 cgroup_id;
	__u64 moved_to; /* id of the cgroup to which the last process has moved; 0: it has not */
	__u64 gone_ns; /* when mts saw it */
	char name[MTS_NAME_SIZE];
};

#define MTS_ELEM_SIZE_MAX 4096u

/* Sizes in ABI 1. */
#define MTS_JOB_INFO_SIZE_1 184u
#define MTS_BIN_INFO_SIZE_1 24u
#define MTS_STATS_SIZE_1 296u

/*
 * Counters since load; they never decrease. The number of the command
 * MTS_IOC_STATS contains the size of the caller's structure: a multiple of 8 and
 * at least MTS_STATS_SIZE_1. See MTS_IOC_STATS_OF().
 */
struct mts_stats {
	__u64 rounds;
	__u64 switches;
	__u64 early_switches; /* slices cut short: nothing in the bin could run */
	__u64 regroups; /* rounds cut short: the running bin outgrew the capacity, or swapped */
	__u64 freezes; /* jobs frozen */
	__u64 freeze_timeouts; /* jobs thawed because they did not freeze in 1 s */
	__u64 thaws;
	/*
	 * Times that mts thawed all jobs and stopped or paused because the rotor was stuck, the
	 * kernel was out of memory, or the host suspended. Counts also if no job was frozen;
	 * not if mts was already stopped.
	 */
	__u64 failsafe_thaws;
	__u64 overdue_thaws; /* jobs thawed by the watchdog, near their pause limit */
	__u64 foreign_thaws; /* jobs frozen by mts that another process thawed */
	__u64 evict_asked; /* bytes */
	__u64 evict_got; /* bytes that left memory */
	__u64 freeze_ns; /* time in freezing, waiting included */
	__u64 evict_ns;
	__u64 slice_ns; /* time in slices */
	__u64 jobs_created; /* by JOB_CREATE */
	__u64 jobs_added; /* by JOB_ADD */
	__u64 jobs_each; /* by EACH and EACH_LEAF */
	__u64 jobs_gone; /* their last process exited, or their cgroup was removed */
	/* Children that stayed in their parent's job: too many at a time, or an error. */
	__u64 each_missed;
	__u64 reclaim_wakeups; /* times that reclaim in the host woke the rotor */
	__u64 bring_back_ns; /* time in bringing bins back */
	__u64 brought_back; /* pages */
	__u64 left_in_swap; /* pages left in swap as unused, at the beginning of slices */
	__u64 missed; /* of left_in_swap: pages that the slice used */
	__u64 inputs; /* input events of jobs, direct or through other programs */
	/* Jobs thawed at once: for input, a real-time thread, PID 1 or a kernel thread. */
	__u64 interactive_thaws;
	__u64 interactive_wait_ns; /* sum of the times from the event to such a thaw */
	__u64 hook_misses; /* events that kprobes missed (nmissed) */
	__u64 waits; /* times that a job of the running bin began to wait for a frozen job */
	__u64 wait_joins; /* pairs of such jobs that a plan moved from two bins into one */
	__u64 wait_thaws; /* of call_thaws: thawed for a file lock (MTS_CALL_LOCK) */
	__u64 hook_hits; /* calls of kprobe handlers */
	__u64 passes; /* of switches: of overlapping bins */
	__u64 reserved; /* 0 */
	__u64 early_begins; /* times that rotation began before memory was full */
	__u64 workers_ns; /* processor time of the threads that help the rotor to move memory */
	/* Since ABI 2. Calls (enum mts_call) that reached frozen jobs. */
	__u64 call_tasks;
	__u64 call_signals;
	__u64 call_writes;
	__u64 call_locks;
	__u64 call_thaws; /* jobs thawed for a call */
	__u64 call_refused; /* calls refused because the budget was used up */
	/* Freezes by other processes while mts held the job frozen; mts does not undo them. */
	__u64 foreign_freezes;
	__u64 jobs_moved; /* of jobs_gone: the last process moved to another cgroup */
	__u64 jobs_lapsed; /* of jobs_gone: MTS_GONE_EMPTY */
	/* Since ABI 4. The queue. */
	__u64 queue_starts; /* jobs started that were held */
	__u64 queue_passes; /* of these: passed an older one */
	__u64 queue_expired; /* of queue_starts: max_wait_ns were over */
	__u64 queue_ns; /* time that jobs were held, of finished holds */
	/* Since ABI 4. Policies FAIR and TOKEN. */
	__u64 delays; /* times that a job was frozen because it swapped more than its share */
	__u64 delay_ns; /* time of these freezes */
	__u64 holdings; /* times that a job became the one that keeps its memory */
	__u64 holding_ns; /* time for which there was one */
	/* Since ABI 4. A reader that looks now and then learns from these what came and went. */
	__u64 begins; /* times that turns began, or that a policy without turns began to act */
	/* Times that mts was stopped, by a user or a fail-safe; without suspends and the unload. */
	__u64 stops;
};

/* ---- the swap disk ------------------------------------------------------ */

/*
 * Since ABI 4. What it costs to move a page out to swap, or back in, while many are moved in bulk.
 * The module measures each eviction and bring-back of 64 pages and more; the latest one counts.
 */
struct mts_page_way {
	__u64 elapsed_ns; /* time until the next page is moved; 0: not known */
	__u64 worked_ns; /* processor time, of all threads */
	__u64 waited_ns; /* time for which the moving thread waited for the disk */
	__u64 age_ns; /* since it was measured; at ten minutes it is not known any more */
};

/* The disk takes longer than a processor: more threads would not help. */
#define MTS_DISK_WAITED_FOR (1u << 0)
/*
 * That, and a request takes it longer than eight pages, or is not known: the disk is slow unless
 * pages lie in rows.
 */
#define MTS_DISK_NEEDS_ROWS (1u << 1)

struct mts_disk_info {
	struct mts_page_way out;
	struct mts_page_way in;
	/* Time on the disk of a read request by itself, of many at once; 0: not known. */
	__u64 request_ns;
	__u32 flags; /* MTS_DISK_*: what follows from both together */
	__u32 pad;
};

/* ---- the choice of a policy ---------------------------------------------- */

enum mts_gives_how {
	MTS_GIVES_UNKNOWN = 0, /* it cannot be foretold, and was not tried */
	MTS_GIVES_FORECAST = 1,
	MTS_GIVES_MEASURED = 2, /* while it was in force */
};

/* What the jobs get done under a policy: user time of those whose limits do not hold them up. */
struct mts_policy_gives {
	__u32 permille; /* of one processor */
	__u32 how; /* enum mts_gives_how */
	__u64 age_ns; /* since it was measured, or forecast */
	/* It was tried, and given up as it did not give enough: not before; 0: it is not barred */
	__u64 barred_ns;
};

/*
 * Since ABI 4. Which policy is in force and, with MTS_POLICY_AUTO, why. With another one `of` is
 * all 0.
 */
struct mts_policy_info {
	__u32 policy; /* enum mts_policy, never AUTO */
	__u32 on_trial; /* 1: it was forecast to be better, and is about to be measured */
	__u64 since_ns; /* when it came into force; 0: since the policy was configured, or load */
	struct mts_policy_gives of[MTS_POLICIES]; /* by enum mts_policy */
};

/* ---- commands --------------------------------------------------------- */

#define MTS_IOC_MAGIC 0xB5

#define MTS_IOC_CONFIG_GET _IOR(MTS_IOC_MAGIC, 0x01, struct mts_config)
#define MTS_IOC_CONFIG_SET _IOW(MTS_IOC_MAGIC, 0x02, struct mts_config)
#define MTS_IOC_JOB_CREATE _IOWR(MTS_IOC_MAGIC, 0x10, struct mts_job_create)
#define MTS_IOC_JOB_ADD _IOWR(MTS_IOC_MAGIC, 0x11, struct mts_job_add)
#define MTS_IOC_JOB_REMOVE _IOW(MTS_IOC_MAGIC, 0x12, struct mts_job_remove)
#define MTS_IOC_JOB_SET _IOW(MTS_IOC_MAGIC, 0x13, struct mts_job_set)
#define MTS_IOC_JOB_PAUSE _IOW(MTS_IOC_MAGIC, 0x14, struct mts_job_pause)
#define MTS_IOC_JOB_TAKE _IOWR(MTS_IOC_MAGIC, 0x15, struct mts_job_take)
#define MTS_IOC_JOB_SUBMIT _IOWR(MTS_IOC_MAGIC, 0x16, struct mts_job_submit)
#define MTS_IOC_JOB_WEIGHT _IOW(MTS_IOC_MAGIC, 0x17, struct mts_job_weight)
#define MTS_IOC_USER_WEIGHT _IOW(MTS_IOC_MAGIC, 0x18, struct mts_user_weight)
#define MTS_IOC_STATUS _IOR(MTS_IOC_MAGIC, 0x20, struct mts_status)
#define MTS_IOC_JOBS _IOWR(MTS_IOC_MAGIC, 0x21, struct mts_list)
#define MTS_IOC_BINS _IOWR(MTS_IOC_MAGIC, 0x22, struct mts_list)
#define MTS_IOC_GONE _IOWR(MTS_IOC_MAGIC, 0x24, struct mts_list)
/* MTS_IOC_STATS for a struct mts_stats of @size bytes. */
#define MTS_IOC_STATS_OF(size) _IOC(_IOC_READ, MTS_IOC_MAGIC, 0x23, size)
#define MTS_IOC_STATS MTS_IOC_STATS_OF(sizeof(struct mts_stats))
/* ENOTTY: a module of ABI 3 or less */
#define MTS_IOC_DISK _IOR(MTS_IOC_MAGIC, 0x25, struct mts_disk_info)
/* ENOTTY: a module of ABI 3 or less */
#define MTS_IOC_POLICY _IOR(MTS_IOC_MAGIC, 0x26, struct mts_policy_info)
#define MTS_IOC_USERS _IOWR(MTS_IOC_MAGIC, 0x27, struct mts_list) /* ENOTTY: likewise */
/* Thaw all jobs now and stop (enum mts_state, STOPPED). */
#define MTS_IOC_THAW _IO(MTS_IOC_MAGIC, 0x30)

#ifdef __KERNEL__
#define MTS_ASSERT_SIZE(type, size) static_assert(sizeof(struct type) == (size))
#elif defined(__cplusplus)
#define MTS_ASSERT_SIZE(type, size) \
	static_assert(sizeof(struct type) == (size), #type " has changed its size")
#else
#define MTS_ASSERT_SIZE(type, size) \
	_Static_assert(sizeof(struct type) == (size), #type " has changed its size")
#endif

MTS_ASSERT_SIZE(mts_config, 64);
MTS_ASSERT_SIZE(mts_job_create, 96);
MTS_ASSERT_SIZE(mts_job_submit, 128);
MTS_ASSERT_SIZE(mts_job_add, 40);
MTS_ASSERT_SIZE(mts_job_remove, 8);
MTS_ASSERT_SIZE(mts_job_set, 16);
MTS_ASSERT_SIZE(mts_job_pause, 16);
MTS_ASSERT_SIZE(mts_job_weight, 8);
MTS_ASSERT_SIZE(mts_user_weight, 8);
MTS_ASSERT_SIZE(mts_job_take, 104);
MTS_ASSERT_SIZE(mts_status, 264);
MTS_ASSERT_SIZE(mts_job_info, 320);
MTS_ASSERT_SIZE(mts_bin_info, 24);
MTS_ASSERT_SIZE(mts_list, 32);
MTS_ASSERT_SIZE(mts_gone_info, 96);
MTS_ASSERT_SIZE(mts_stats, 448);
MTS_ASSERT_SIZE(mts_disk_info, 80);
MTS_ASSERT_SIZE(mts_policy_info, 112);

#endif /* _UAPI_MTS_H */
