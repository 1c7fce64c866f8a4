// SPDX-License-Identifier: GPL-2.0
/* mtsctl hooks list, test and watch */
#include "hooks_main.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "format.h"
#include "hooks_run.h"
#include "values.h"

#define MS 1000000ull
#define SECOND (1000 * MS)
#define KINDS "begin, end, stop, wait or swap-full"

/* ---- list ---------------------------------------------------------------------------------- */

static const char *verdict_word(const struct hook *hook)
{
	return hook->verdict == HOOK_RUNS    ? "runs" :
	       hook->verdict == HOOK_IGNORED ? "ignored" :
					       "refused";
}

static int list_json(const struct hooks *hooks)
{
	json_t *root = json_root(), *list = json_array();

	for (u32 i = 0; i < hooks->n; i++) {
		const struct hook *hook = &hooks->hooks[i];
		json_t *one = json_object();

		json_put(&one, "name", json_text(hook->name));
		json_put(&one, "verdict", json_string(verdict_word(hook)));
		json_put(&one, "reason", *hook->reason ? json_text(hook->reason) : json_null());
		json_append(&list, one);
	}
	json_put(&root, "folder", json_text(hooks->folder));
	json_put(&root, "hooks", list);
	return json_print(root);
}

/* Status 1: a hook is refused. */
static int list(bool json)
{
	char name[64], reason[HOOK_REASON];
	struct hooks hooks;
	int ret;

	ret = hooks_read(&hooks);
	if (!ret && json)
		ret = list_json(&hooks);
	else if (!ret && !hooks.n)
		printf("no hooks: there is none in %s\n", hooks.folder);
	for (u32 i = 0; !ret && !json && i < hooks.n; i++) {
		const struct hook *hook = &hooks.hooks[i];

		printf("%-8s %s%s%s\n", verdict_word(hook),
		       format_name(name, sizeof(name), hook->name), *hook->reason ? ": " : "",
		       format_text(reason, sizeof(reason), hook->reason));
	}
	for (u32 i = 0; !ret && i < hooks.n; i++)
		if (hooks.hooks[i].verdict == HOOK_REFUSED)
			ret = EXIT_FAILED;
	hooks_free(&hooks);
	return ret;
}

/* ---- test ---------------------------------------------------------------------------------- */

static u64 now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

/* Runs all hooks for an example, as `watch` would. Status 1: a hook failed, or is refused. */
static int test(const struct conf *conf, enum news_kind kind)
{
	struct hooks_run run = { .timeout_ns = conf->hooks.timeout_ns, .is_loud = true };
	struct pollfd fd = { .events = POLLIN };
	struct signalfd_siginfo info;
	bool ended = false;
	struct news news;
	sigset_t set;
	u64 due, now;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd.fd < 0)
		return device_failed("hooks test", errno);
	news_example(&news, kind);
	news_number(&news, "time_ns", now_ns(CLOCK_REALTIME));
	hooks_run_begin(&run);
	hooks_run_add(&run, &news);
	hooks_run_step(&run);
	while (run.is_busy && !ended) {
		due = hooks_run_due(&run);
		now = now_ns(CLOCK_MONOTONIC);
		poll(&fd, 1, due <= now ? 0 : (int)((due - now) / MS) + 1);
		while (read(fd.fd, &info, sizeof(info)) == sizeof(info))
			ended |= info.ssi_signo != SIGCHLD;
		hooks_run_step(&run);
	}
	hooks_run_end(&run);
	close(fd.fd);
	if (!run.runs && !run.failures)
		printf("no hook has run: see mtsctl hooks list\n");
	return run.failures || ended ? EXIT_FAILED : EXIT_OK;
}

/* ---- the command --------------------------------------------------------------------------- */

struct hooks_options {
	const char *file;
	bool json;
	u64 interval; /* 0: not given */
};

static int take_options(const struct command *command, int argc, char **argv,
			struct hooks_options *options)
{
	static const struct option known[] = {
		{ "file", required_argument, NULL, 'f' },
		{ "json", no_argument, NULL, 'j' },
		{ "interval", required_argument, NULL, 'i' },
		{ 0 },
	};
	int opt, ret = EXIT_OK;

	while (!ret && (opt = next_option(command, argc, argv, "", known)) != OPTION_END) {
		if (opt == 'f')
			options->file = optarg;
		else if (opt == 'j')
			options->json = true;
		else if (opt == 'i')
			ret = value_interval(command, "--interval ", optarg, &options->interval);
		else
			return opt;
	}
	return ret ?: OPTION_END;
}

int hooks_main(const struct command *command, int argc, char **argv)
{
	struct hooks_options options = { 0 };
	bool is_list, is_test, is_watch;
	enum news_kind kind = NEWS_KINDS;
	const char *verb, *word;
	struct conf conf;
	int ret;

	ret = take_options(command, argc, argv, &options);
	if (ret != OPTION_END)
		return ret == OPTION_HELP ? EXIT_OK : EXIT_USAGE;
	verb = optind < argc ? argv[optind] : "";
	word = optind + 1 < argc ? argv[optind + 1] : NULL;
	is_list = !strcmp(verb, "list");
	is_test = !strcmp(verb, "test");
	is_watch = !strcmp(verb, "watch");
	if (!is_list && !is_test && !is_watch)
		return usage_error(command, "'%s': say list, test or watch", verb);
	if (argc - optind > (is_test ? 2 : 1))
		return usage_error(command, "unexpected '%s'", argv[argc - 1]);
	if (is_test && !word)
		return usage_error(command, "test: name an event: " KINDS);
	if (is_test && !news_find(word, &kind))
		return usage_error(command, "test: '%s' is no event: " KINDS, word);
	if (options.json && !is_list)
		return usage_error(command, "--json is for list");
	if (options.interval && !is_watch)
		return usage_error(command, "--interval is for watch");
	if (options.file && is_list)
		return usage_error(command, "--file is for test and watch");
	if (is_list)
		return list(options.json);
	ret = conf_read(&conf, command, options.file);
	if (!ret && is_test)
		ret = test(&conf, kind);
	else if (!ret)
		ret = hooks_watch(command, &conf, options.file, options.interval ?: SECOND);
	conf_free(&conf);
	return ret;
}
