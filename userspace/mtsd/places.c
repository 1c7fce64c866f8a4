// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "mtsd/places.h"

#include <sys/socket.h>

#include "context.h"
#include "mtsd/caller.h"
#include "mtsd/request.h"
#include "mtsd/wire.h"

/* Places of all users but root, which always finds one. */
#define USERS_CALLERS_MAX 48
/* How long to wait for a thread that ends, if another one needs its place, or at the end. */
#define REAP_LIMIT_MS 1000
#define REAP_PAUSE_US 1000

void mts_places_reap(struct mts_caller *callers)
{
	u32 i;

	for (i = 0; i < MTS_PLACES; i++) {
		struct mts_caller *caller = &callers[i];

		if (!caller->thread || !mts_caller_is_done(caller))
			continue;
		mts_caller_reap(caller);
	}
}

static bool is_of_user(uid_t its, uid_t uid)
{
	return its == uid;
}

static bool is_of_users(uid_t its, uid_t uid)
{
	return !mts_is_ours(its);
}

static bool is_any(uid_t its, uid_t uid)
{
	return true;
}

/* How many callers there may be of those that a new one of user @uid counts with. */
struct limit {
	bool (*counts)(uid_t its, uid_t uid);
	u32 max;
};

static const struct limit limits[] = {
	{ is_of_user, MTS_WIRE_USER_CALLERS },
	{ is_of_users, USERS_CALLERS_MAX },
	{ is_any, MTS_PLACES },
};

static bool is_counted(const struct mts_caller *caller, const struct limit *limit, uid_t uid)
{
	return caller->thread && limit->counts(mts_caller_user(caller), uid);
}

static u32 count(const struct mts_caller *callers, const struct limit *limit, uid_t uid)
{
	u32 i, n = 0;

	for (i = 0; i < MTS_PLACES; i++)
		n += is_counted(&callers[i], limit, uid);
	return n;
}

/* The limit that one more caller of this user would exceed; NULL: none. */
static const struct limit *reached(const struct mts_caller *callers, uid_t uid)
{
	u32 i;

	/* Root, and the user that mtsd runs as, have no limit but the last. */
	for (i = mts_is_ours(uid) ? ARRAY_SIZE(limits) - 1 : 0; i < ARRAY_SIZE(limits); i++)
		if (count(callers, &limits[i], uid) >= limits[i].max)
			return &limits[i];
	return NULL;
}

static bool is_one_leaving(const struct mts_caller *callers, const struct limit *limit, uid_t uid)
{
	u32 i;

	for (i = 0; i < MTS_PLACES; i++)
		if (is_counted(&callers[i], limit, uid) && !callers[i].waited &&
		    mts_caller_is_leaving(&callers[i]))
			return true;
	return false;
}

static void wait_no_more(struct mts_caller *callers)
{
	u32 i;

	for (i = 0; i < MTS_PLACES; i++)
		callers[i].waited |= mts_caller_is_leaving(&callers[i]);
}

/* Of two that ask nothing: that of the user with more; then the one that has asked before. */
static bool goes_before(const struct mts_caller *callers, const struct mts_caller *a,
			const struct mts_caller *b)
{
	u32 a_has = count(callers, &limits[0], mts_caller_user(a));
	u32 b_has = count(callers, &limits[0], mts_caller_user(b));

	if (a_has != b_has)
		return a_has > b_has;
	return __atomic_load_n(&a->since, __ATOMIC_SEQ_CST) <
	       __atomic_load_n(&b->since, __ATOMIC_SEQ_CST);
}

/* Tell one to leave that asks nothing. Return: false: there is none. */
static bool make_room(struct mts_caller *callers, const struct limit *limit, uid_t uid)
{
	struct mts_caller *first = NULL;
	u32 i;

	for (i = 0; i < MTS_PLACES; i++) {
		struct mts_caller *caller = &callers[i];

		if (is_counted(caller, limit, uid) && !mts_caller_answers(caller) &&
		    !mts_caller_is_leaving(caller) &&
		    (!first || goes_before(callers, caller, first)))
			first = caller;
	}
	if (!first)
		return false;
	mts_caller_leave(first);
	return true;
}

struct mts_caller *mts_places_find(struct mts_caller *callers, uid_t uid)
{
	const struct limit *limit;
	u32 i, ms;

	for (ms = 0; (limit = reached(callers, uid)); ms++) {
		if (ms == REAP_LIMIT_MS)
			wait_no_more(callers);
		if (ms == REAP_LIMIT_MS ||
		    (!is_one_leaving(callers, limit, uid) && !make_room(callers, limit, uid)))
			return NULL;
		usleep_range(REAP_PAUSE_US, 2 * REAP_PAUSE_US);
		mts_places_reap(callers);
	}
	for (i = 0; callers[i].thread; i++)
		;
	return &callers[i];
}

static bool is_any_busy(const struct mts_caller *callers, bool answers)
{
	u32 i;

	for (i = 0; i < MTS_PLACES; i++)
		if (callers[i].thread && !mts_caller_is_done(&callers[i]) &&
		    (!answers || mts_caller_answers(&callers[i])))
			return true;
	return false;
}

void mts_places_end(struct mts_caller *callers)
{
	u32 i, ms;

	for (i = 0; i < MTS_PLACES; i++)
		if (callers[i].thread)
			shutdown(callers[i].fd, SHUT_RDWR);
	for (ms = 0; is_any_busy(callers, ms >= REAP_LIMIT_MS); ms++)
		usleep_range(REAP_PAUSE_US, 2 * REAP_PAUSE_US);
	mts_places_reap(callers);
}
