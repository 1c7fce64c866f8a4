// SPDX-License-Identifier: GPL-2.0
#include "engine.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accounts.h"
#include "format.h"
#include "program.h"

#define SECOND 1000000000ull
/* A daemon that thrashes may be slow; one that hangs never answers. */
#define ANSWER_LIMIT_NS (20 * SECOND)
/* Docker's, where it says 0. */
#define CHECK_DEFAULT_NS (30 * SECOND)
#define NOT_FOUND 127 /* the status of env(1), if there is no such program */

/* All of them take "container inspect NAME", and answer as Docker does. */
static const char *const engines[] = { "podman", "docker", "nerdctl" };

#define N_ENGINES (sizeof(engines) / sizeof(engines[0]))

enum answer {
	IS_ABSENT, /* the engine is not installed */
	KNOWS_NOT,
	KNOWS,
	IS_STRANGE, /* what it says cannot be understood */
};

struct reply {
	enum answer answer;
	char why[PROGRAM_COMPLAINT]; /* it does not know the container */
	struct engine_container container;
	bool runs;
	char state[32];
};

/* ---- what an engine says ------------------------------------------------------------------ */

static u64 time_of(const json_t *check, const char *key)
{
	json_int_t ns = json_integer_value(json_object_get(check, key));

	return ns > 0 ? (u64)ns : 0;
}

static void take_check(struct engine_container *container, const json_t *check)
{
	const char *test = json_string_value(json_array_get(json_object_get(check, "Test"), 0));
	u64 interval = time_of(check, "Interval"), timeout = time_of(check, "Timeout");

	if (!test || !*test || !strcmp(test, "NONE"))
		return;
	/* podman run --health-interval=disable: only a user calls it. */
	if (!interval && !strcmp(container->engine, "podman"))
		return;
	container->check_interval_ns = interval ?: CHECK_DEFAULT_NS;
	container->check_timeout_ns = timeout ?: CHECK_DEFAULT_NS;
}

/* Return: false: this is not what engines say. */
static bool take_container(struct reply *reply, const json_t *root)
{
	const json_t *its = json_array_get(root, 0), *state = json_object_get(its, "State");
	const char *id = json_string_value(json_object_get(its, "Id"));
	const char *name = json_string_value(json_object_get(its, "Name"));
	const char *status = json_string_value(json_object_get(state, "Status"));
	struct engine_container *container = &reply->container;
	json_int_t pid = json_integer_value(json_object_get(state, "Pid"));

	if (!id || strlen(id) != CONTAINER_ID || !name || !status || pid < 0 || pid > INT32_MAX)
		return false;
	name += *name == '/';
	if (!container_name_is_valid(name))
		return false;
	strcpy(container->id, id);
	snprintf(container->name, sizeof(container->name), "%s", name);
	format_text(reply->state, sizeof(reply->state), status);
	container->pid = pid;
	reply->runs = pid && (!strcmp(status, "running") || !strcmp(status, "paused"));
	take_check(container, json_object_get(json_object_get(its, "Config"), "Healthcheck"));
	return true;
}

/* The words that run a program as a user; none for the calling one. */
struct as_user {
	char user[64], group[64], run[64];
	char *words[8];
	size_t n;
};

/* Return: false: there is no such user. */
static bool prepare(struct as_user *as, u32 uid)
{
	struct account account;
	size_t n = 0;

	as->n = 0;
	if (!uid || uid == geteuid())
		return true;
	if (!account_of(uid, &account))
		return false;
	snprintf(as->user, sizeof(as->user), "--reuid=%u", uid);
	snprintf(as->group, sizeof(as->group), "--regid=%u", account.gid);
	snprintf(as->run, sizeof(as->run), "XDG_RUNTIME_DIR=/run/user/%u", uid);
	as->words[n++] = "setpriv";
	as->words[n++] = as->user;
	as->words[n++] = as->group;
	as->words[n++] = "--init-groups";
	as->words[n++] = "--reset-env";
	as->words[n++] = "env";
	as->words[n++] = as->run;
	as->n = n;
	return true;
}

static void ask(const struct as_user *as, const char *engine, const char *name, struct reply *reply)
{
	char *argv[16] = { NULL };
	struct program_answer answer;
	char time[FORMAT_SIZE];
	json_t *root;
	int ret;

	memcpy(argv, as->words, as->n * sizeof(*argv));
	argv[as->n] = (char *)engine;
	argv[as->n + 1] = "container";
	argv[as->n + 2] = "inspect";
	argv[as->n + 3] = (char *)name;
	*reply = (struct reply){ .container.engine = engine, .answer = KNOWS_NOT };
	ret = program_ask(argv, ANSWER_LIMIT_NS, &answer);
	if (ret == -ENOENT) {
		reply->answer = IS_ABSENT;
	} else if (ret == -ETIMEDOUT) {
		snprintf(reply->why, sizeof(reply->why), "no answer within %s: ended",
			 format_time(time, ANSWER_LIMIT_NS));
	} else if (ret == -EBUSY) {
		snprintf(reply->why, sizeof(reply->why),
			 "no answer within %s: killed, but it does not end: it is left",
			 format_time(time, ANSWER_LIMIT_NS));
	} else if (ret) {
		snprintf(reply->why, sizeof(reply->why), "%s", strerror(-ret));
	} else if (as->n && WIFEXITED(answer.status) && WEXITSTATUS(answer.status) == NOT_FOUND) {
		reply->answer = IS_ABSENT;
	} else if (!WIFEXITED(answer.status) || WEXITSTATUS(answer.status)) {
		format_text(reply->why, sizeof(reply->why),
			    *answer.complaint ? answer.complaint : "it failed");
	} else {
		root = json_loadb(answer.output, answer.size, 0, NULL);
		reply->answer = take_container(reply, root) ? KNOWS : IS_STRANGE;
		json_decref(root);
	}
	free(answer.output);
}

/* ---- which engine ------------------------------------------------------------------------- */

static int none_knows(const char *name, const struct reply *replies)
{
	u32 n = 0;

	for (size_t i = 0; i < N_ENGINES; i++)
		n += replies[i].answer != IS_ABSENT;
	if (!n) {
		complain("add: --container %s: none of podman, docker and nerdctl is installed, or "
			 "in PATH",
			 name);
		return EXIT_FAILED;
	}
	complain("add: no container %s:", name);
	for (size_t i = 0; i < N_ENGINES; i++)
		if (replies[i].answer != IS_ABSENT)
			fprintf(stderr, "  %s: %s\n", engines[i],
				replies[i].answer == IS_STRANGE ?
					"its answer to 'container inspect' is not understood" :
					replies[i].why);
	fprintf(stderr, "  A rootless container is known to the engine of its user alone.\n");
	return EXIT_FAILED;
}

int engine_find(const struct command *command, const char *name, u32 user,
		struct engine_container *found)
{
	struct reply replies[N_ENGINES];
	struct as_user as;
	const struct reply *knows = NULL;

	if (!container_name_is_valid(name))
		return usage_error(command,
				   "--container '%s': a name has letters, digits and '_', '.' and "
				   "'-' in it, and begins with a letter or a digit",
				   name);
	if (!prepare(&as, user)) {
		complain("add: container %s: there is no user %u, whose cgroup it has", name, user);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < N_ENGINES; i++) {
		ask(&as, engines[i], name, &replies[i]);
		if (replies[i].answer != KNOWS)
			continue;
		/* docker may be podman by another name. */
		if (knows && strcmp(knows->container.id, replies[i].container.id))
			return usage_error(command,
					   "--container %s: %s and %s each have one: name it by "
					   "its id, %.*s or %.*s",
					   name, knows->container.engine, engines[i],
					   CONTAINER_ID_SHORT, knows->container.id,
					   CONTAINER_ID_SHORT, replies[i].container.id);
		if (!knows)
			knows = &replies[i];
	}
	if (!knows)
		return none_knows(name, replies);
	if (!knows->runs) {
		complain("add: container %s of %s does not run: it is '%s'", knows->container.name,
			 knows->container.engine, knows->state);
		return EXIT_FAILED;
	}
	*found = knows->container;
	return EXIT_OK;
}
