// SPDX-License-Identifier: GPL-2.0
/*
 * mtsctl log: asks journalctl(1), a program, and not sd-journal(3): so a static mtsctl can, too,
 * and the format of the journal's files is that of the journalctl beside it.
 */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mtsctl.h"
#include "news.h"
#include "parse.h"

#define SECOND 1000000000ull
#define DAY (24 * 3600u)
/* Its exit status where it could not be executed; journalctl has 0 and 1. */
#define NOT_EXECUTED 127

/* ---- since when ---------------------------------------------------------------------------- */

static bool take_form(const char *text, const char *form, struct tm *tm)
{
	const char *end = strptime(text, form, tm);

	return end && !*end;
}

const char *log_parse_since(const char *text, u64 now, u64 *since)
{
	time_t when = now;
	struct tm tm;
	u64 ago;

	if (!parse_time(text, &ago)) {
		*since = mts_sub_floor(now, ago / SECOND);
		return NULL;
	}
	localtime_r(&when, &tm);
	tm.tm_sec = 0;
	tm.tm_isdst = -1;
	if (take_form(text, "%H:%M", &tm) || take_form(text, "%H:%M:%S", &tm)) {
		/* Of yesterday, if it is not yet so late today. */
		if ((u64)mktime(&tm) > now)
			tm.tm_mday--;
	} else if (!strcmp(text, "today") || !strcmp(text, "yesterday")) {
		tm.tm_hour = 0;
		tm.tm_min = 0;
		tm.tm_mday -= *text == 'y';
	} else {
		tm = (struct tm){ .tm_isdst = -1 };
		if (!take_form(text, "%Y-%m-%d", &tm) && !take_form(text, "%Y-%m-%d %H:%M", &tm) &&
		    !take_form(text, "%Y-%m-%d %H:%M:%S", &tm))
			return "not a time: write 12h, 22:00, today, yesterday, 2026-11-29 or "
			       "'2026-11-29 22:00'";
	}
	tm.tm_isdst = -1;
	when = mktime(&tm);
	if (when < 0)
		return "before 1970";
	if ((u64)when > now)
		return "in the future";
	*since = when;
	return NULL;
}

/* ---- the journal ---------------------------------------------------------------------------- */

/* In the child. Others can write news of theirs into the journal: only root's and our own count. */
static void __attribute__((noreturn)) ask_journal(int output, u64 since)
{
	char since_text[40], uid[32], ids[NEWS_KINDS][64];
	char *argv[12 + NEWS_KINDS];
	u32 n = 0;

	snprintf(since_text, sizeof(since_text), "--since=@%llu", since);
	snprintf(uid, sizeof(uid), "_UID=%u", geteuid());
	argv[n++] = "journalctl";
	argv[n++] = "--output=json";
	argv[n++] = "--all";
	argv[n++] = "--quiet";
	argv[n++] = "--no-pager";
	argv[n++] = since_text;
	argv[n++] = "_UID=0";
	if (geteuid())
		argv[n++] = uid;
	for (u32 i = 0; i < NEWS_KINDS; i++) {
		snprintf(ids[i], sizeof(ids[i]), "MESSAGE_ID=%s", news_id(i));
		argv[n++] = ids[i];
	}
	argv[n] = NULL;
	if (dup2(output, STDOUT_FILENO) < 0)
		_exit(NOT_EXECUTED);
	execvp(argv[0], argv);
	if (errno != ENOENT)
		complain("log: journalctl: %s", strerror(errno));
	_exit(NOT_EXECUTED);
}

static void read_entries(FILE *file, struct log *log)
{
	char *line = NULL;
	size_t room = 0;
	json_t *entry;

	while (getline(&line, &room, file) > 0) {
		entry = json_loads(line, 0, NULL);
		/* A newer journalctl may say more than entries. */
		if (json_is_object(entry))
			log_add(log, entry);
		json_decref(entry);
	}
	free(line);
}

static int judge_end(int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_EXECUTED) {
		complain("log: no journalctl: the news are kept in systemd's journal. Without it "
			 "'mtsctl hooks watch' writes them to its standard error");
		return EXIT_FAILED;
	}
	if (status) {
		complain("log: journalctl failed; it has said why");
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

static int read_journal(struct log *log, u64 since)
{
	int pipes[2], status = 0;
	FILE *file;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC))
		return device_failed("log", errno);
	fflush(stdout);
	pid = fork();
	if (!pid)
		ask_journal(pipes[1], since);
	close(pipes[1]);
	file = pid < 0 ? NULL : fdopen(pipes[0], "re");
	if (!file) {
		close(pipes[0]);
		return device_failed("log", errno);
	}
	read_entries(file, log);
	fclose(file);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return judge_end(status);
}

/* ---- the command ---------------------------------------------------------------------------- */

int log_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {
		{ "since", required_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	u64 now = time(NULL), since = now - DAY;
	struct log log = { 0 };
	const char *wrong;
	bool json = false;
	int opt, ret;

	while ((opt = next_option(command, argc, argv, "", options)) != OPTION_END) {
		switch (opt) {
		case 's':
			wrong = log_parse_since(optarg, now, &since);
			if (wrong)
				return usage_error(command, "--since %s: %s", optarg, wrong);
			break;
		case 'j':
			json = true;
			break;
		default:
			return opt == OPTION_HELP ? EXIT_OK : EXIT_USAGE;
		}
	}
	if (optind != argc)
		return usage_error(command, "unexpected '%s'", argv[optind]);
	ret = read_journal(&log, since);
	if (!ret && log.is_short)
		ret = device_failed("log", ENOMEM);
	if (!ret)
		ret = json ? log_show_json(&log, since) : log_show(&log, since);
	log_free(&log);
	return ret;
}
