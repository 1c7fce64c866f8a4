// SPDX-License-Identifier: GPL-2.0
#include "jobs/protect.h"

#include "jobs/above.h"
#include "jobs/ops.h"

/* The least that cpu.weight takes. */
#define LEAST_WEIGHT 1ull

const char *const mts_setting_files[MTS_SETTINGS] = {
	[MTS_SETTING_LOW] = "memory.low",
	[MTS_SETTING_WEIGHT] = "cpu.weight",
};

static DEFINE_MUTEX(protect_lock); /* mts.h has the lock order */

/*
 * Another process has changed it since: that is the job's own value from now on. It need not be
 * meant: systemd's set-property writes all settings of a unit anew.
 */
static void note_change(struct mts_job *job, enum mts_setting setting)
{
	struct mts_kept *kept = &job->kept[setting];
	u64 now;

	if (mts_ops->get(job, 0, setting, &now) || now == kept->given)
		return;
	kept->own = now;
	kept->given = now;
}

/*
 * Remember the value before mts first changes it, and what others write later. False: it cannot be
 * read: do not change it.
 */
static bool remember_own(struct mts_job *job, enum mts_setting setting)
{
	struct mts_kept *kept = &job->kept[setting];

	if (kept->set) {
		note_change(job, setting);
		return true;
	}
	kept->set = !mts_ops->get(job, 0, setting, &kept->own);
	kept->given = kept->own;
	return kept->set;
}

static void give(struct mts_job *job, enum mts_setting setting, u64 value)
{
	struct mts_kept *kept = &job->kept[setting];

	if (kept->given == value || mts_ops->set(job, 0, setting, value))
		return;
	/* Read it back: the kernel rounds it, and the next comparison needs that value. */
	if (mts_ops->get(job, 0, setting, &kept->given))
		kept->given = value;
}

static int restore(struct mts_job *job, enum mts_setting setting)
{
	struct mts_kept *kept = &job->kept[setting];
	u64 now;
	int err = mts_ops->get(job, 0, setting, &now);

	/* Another process has changed it since: that value stays. */
	if (err || now != kept->given || now == kept->own)
		return err;
	return mts_ops->set(job, 0, setting, kept->own);
}

/*
 * If there was no memory to open the file, keep the record and try again later: otherwise the value
 * by mts would count as the job's own.
 */
static void put_back(struct mts_job *job, enum mts_setting setting)
{
	struct mts_kept *kept = &job->kept[setting];
	int err;

	if (!kept->set)
		return;
	err = restore(job, setting);
	if (err == -ENOMEM && !job->unprotected)
		return;
	if (err && err != -ENODEV)
		pr_warn_ratelimited("job %s: %s stays %llu: error %d\n", job->name,
				    mts_setting_files[setting], kept->given, err);
	kept->set = false;
}

/* A file is written only for a change of more than an eighth: writes take time. */
static bool is_near(u64 a, u64 b)
{
	return mts_max(a, b) - mts_min(a, b) <= b / 8;
}

static void set_low(struct mts_job *job, u64 low)
{
	struct mts_kept *kept = &job->kept[MTS_SETTING_LOW];

	lockdep_assert_held(&protect_lock);
	if (!low)
		put_back(job, MTS_SETTING_LOW);
	/* Never less than the job's own value. */
	else if (remember_own(job, MTS_SETTING_LOW) &&
		 !is_near(kept->given, mts_max(low, kept->own)))
		give(job, MTS_SETTING_LOW, mts_max(low, kept->own));
	mts_above_set(job, kept->set ? kept->given : 0);
}

static void set_weight(struct mts_job *job, u32 bins)
{
	struct mts_kept *kept = &job->kept[MTS_SETTING_WEIGHT];

	lockdep_assert_held(&protect_lock);
	if (bins < 2)
		put_back(job, MTS_SETTING_WEIGHT);
	/* 0: cpu.idle is set, and there is no weight to divide. */
	else if (remember_own(job, MTS_SETTING_WEIGHT) && kept->own)
		give(job, MTS_SETTING_WEIGHT, mts_max(div_u64(kept->own, bins), LEAST_WEIGHT));
}

void mts_protect(struct mts_job *job, u64 low, u32 bins)
{
	/* The usual case: there is nothing to do. */
	if (!low && bins < 2 && !READ_ONCE(job->kept[MTS_SETTING_LOW].set) &&
	    !READ_ONCE(job->kept[MTS_SETTING_WEIGHT].set) && !mts_above_is_late())
		return;
	mutex_lock(&protect_lock);
	if (!job->unprotected) {
		set_low(job, low);
		set_weight(job, bins);
	}
	mutex_unlock(&protect_lock);
}

void mts_protect_end(struct mts_job *job)
{
	mutex_lock(&protect_lock);
	job->unprotected = true;
	set_low(job, 0);
	set_weight(job, 1);
	mutex_unlock(&protect_lock);
}

void mts_protect_exit(void)
{
	mts_above_exit();
}
