// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "ipc.h"
#include "libmts/error.h"
#include "mtsctl.h"
#include "version.h"

#define JSON_DETAILS "  --json           print JSON\n"
#define JOB_DETAILS                                                                       \
	"  JOB              its name, its id, the path of its cgroup, or the name of\n"   \
	"                   its container; id=N, name=NAME and container=NAME|ID where\n" \
	"                   a word could mean several\n"

#define EACH_DETAILS                                                                        \
	"  --each[=HOW]     processes become jobs of their own. leaf (default): each one\n" \
	"                   that grows, small ones stay; child: each new child, at once\n"

#define WEIGHT_DETAILS                                                           \
	"  --weight N       time in proportion to this while memory is short,\n" \
	"                   1 to 10000 (100)\n"

static const struct command commands[] = {
	{ "run", run_main, "Run a command as a job",
	  "[--as-root] [--each[=HOW]] [--here] [--max-pause TIME]\n"
	  "       [--name NAME] [--pin | --queue] [--max-wait TIME] [--size SIZE|N%]\n"
	  "       [--weight N] [--] CMD [ARG]...",
	  "  --as-root        sudo mtsctl run: CMD runs as root, not as the user of sudo\n"
	  "  --here           without root: in the cgroup that mtsctl is in, alone\n" EACH_DETAILS
	  "  --max-pause TIME  never freeze it for longer, 1s to 24h\n"
	  "  --name NAME      name of the job (default: the name of the command)\n"
	  "  --pin            never freeze it: it belongs to every bin\n"
	  "  --queue          hold it until its memory is free, before it begins\n"
	  "  --max-wait TIME  in the queue, 1s to 720h (24h); then it takes turns\n"
	  "  --size SIZE      what it will need (default: what the same command\n"
	  "                   needed, or the mean of the other jobs)\n" WEIGHT_DETAILS,
	  NULL },
	{ "add", add_main, "Make a job of an existing cgroup, or of a process",
	  "[--each[=HOW]] [--json] [--max-pause TIME|off] [--pin]\n"
	  "       [--weight N] [--yes] CGROUP | --pid PID | --container NAME|ID",
	  "  --container NAME  the cgroup of a container of podman, docker or nerdctl\n"
	  "  --pid PID        the cgroup of PID; if that has other processes, mtsd adds PID\n"
	  "                   alone, and the module refuses\n"
	  "  --yes            the whole cgroup of PID, with the other processes\n" JSON_DETAILS
		  EACH_DETAILS
	  "  --max-pause TIME  never freeze it for longer, 1s to 24h; off: no limit\n"
	  "                   (default: half of the unit's WatchdogSec, or of the time-out\n"
	  "                   of the container's health check, if it has any)\n"
	  "  --pin            never freeze it: it belongs to every bin\n" WEIGHT_DETAILS,
	  NULL },
	{ "remove", remove_main, "Thaw jobs and forget them; they run on", "JOB...", JOB_DETAILS,
	  NULL },
	{ "pin", pin_main, "Never freeze jobs: they belong to every bin from now on", "JOB...",
	  JOB_DETAILS, NULL },
	{ "unpin", pin_main, "Take jobs back into the rotation", "JOB...", JOB_DETAILS, NULL },
	{ "pause", pause_main, "Never freeze jobs for longer than this from now on",
	  "JOB... TIME|off",
	  JOB_DETAILS "  TIME             1s to 24h; off: no limit of their own\n", NULL },
	{ "weight", weight_main, "Give jobs, or a user, time in proportion to this from now on",
	  "JOB... N\n"
	  "       mtsctl weight --user USER N",
	  JOB_DETAILS
	  "  --user USER      instead of jobs a user, by name or number: it counts between\n"
	  "                   users, with share=user\n"
	  "  N                1 to 10000; 100 is what every job and user has at first\n",
	  NULL },
	{ "status", status_main, "Show which jobs run or are frozen, why, and what happens next",
	  "[--all] [--by WHAT] [--json]",
	  "  --all            list the jobs even if there are more than 40\n"
	  "  --by WHAT        instead sum jobs up by user, unit or container\n" JSON_DETAILS,
	  NULL },
	{ "top", top_main, "Show bins and jobs live, and act on them",
	  "[-b] [-n COUNT] [-d SECONDS] [-o ORDER] [-g WHAT]",
	  "  -b, --batch      print frames as text; no keys\n"
	  "  -n, --count COUNT  end after so many frames\n"
	  "  -d, --delay SECONDS  between frames (1)\n"
	  "  -o, --order ORDER  of the jobs: bin, id, name, state, user, demand, resident,\n"
	  "                   swapped, frozen or faults\n"
	  "  -g, --by WHAT    sum jobs up by user, unit or container\n",
	  NULL },
	{ "why", why_main, "Say whether and why a process is frozen, and for how long",
	  "[--json] PID", JSON_DETAILS, NULL },
	{ "plan", plan_main, "Predict the bins, the slices and the pauses",
	  "[--size SIZE[xCOUNT]... | --cgroup CGROUP...]\n"
	  "       [--pin-size SIZE[xCOUNT]...] [--capacity SIZE|N%] [--slice TIME]\n"
	  "       [--min-slice TIME] [--max-pause TIME] [--overhead N%|off]\n"
	  "       [--pack PACK] [--evict EVICT] [--switch TIME | --swap-speed SIZE]\n"
	  "       [--processors N] [--step STEP] [--work TIME] [--queue] [--json]",
	  "  --size SIZE...   plan for jobs of these sizes: 6G, 6Gx10\n"
	  "  --cgroup PATH... plan for these cgroups as they are now\n"
	  "                   (neither: for the jobs that the module has now)\n"
	  "  --pin-size SIZE... pinned jobs of these sizes\n"
	  "  --capacity SIZE  memory for all jobs together; N%: of the host's memory\n"
	  "  --slice TIME     slice of a full bin, at least\n"
	  "  --min-slice TIME shortest slice\n"
	  "  --max-pause TIME longest time that a job may be frozen, or auto\n"
	  "  --overhead N%    slices grow until switches take no more of a round\n"
	  "  --pack PACK      ffd, bfd or rw\n"
	  "  --evict EVICT    off, need, full or auto\n"
	  "  --switch TIME    duration of a switch between two bins\n"
	  "  --swap-speed SIZE  compute it from the bytes that swap moves in a second: 500M\n"
	  "  --step STEP      memory that changes hands at a switch: bin, auto or a size\n"
	  "  --processors N   processors that each bin should keep busy (default: all of\n"
	  "                   this host)\n"
	  "  --work TIME      processor time that each job needs: says when all are done\n"
	  "  --queue          as if each were started with mtsctl run --queue\n" JSON_DETAILS,
	  NULL },
	{ "set", set_main, "Change the configuration: all values or none", "[--save] KEY=VALUE...",
	  "  --save           keep them for the next boot, in conf.d/50-saved.conf\n"
	  "  mode=off|auto|always|shadow\n"
	  "  policy=turns|none|fair|token|auto  how memory is shared while it is short\n"
	  "  share=job|user   between whom: jobs, or users first, then the jobs of each\n"
	  "  pack=ffd|bfd|rw  (first-fit-decreasing, best-fit-decreasing, reuven-wiseman)\n"
	  "  evict=off|need|full|auto\n"
	  "  demand=used|allocated\n"
	  "  slice=TIME       slice of a full bin, at least: 10ms to 60s\n"
	  "  min_slice=TIME   shortest slice, 10ms to slice\n"
	  "  max_pause=TIME|auto  longest time that a job is frozen, 1s to 24h\n"
	  "  overhead=N%|off  slices grow until switches take no more of the time,\n"
	  "                   within max_pause: up to 50%; off: they do not grow\n"
	  "  interactive=N%|off  share of the capacity for interactive jobs, up to 90%;\n"
	  "                   off: they take turns like all jobs\n"
	  "  bin=SIZE|N%|auto memory of a bin, 1M to 1P\n"
	  "  step=auto|bin|SIZE  memory that changes hands at a switch, 1M to 1P in whole\n"
	  "                   MiB, while other jobs run on; bin: all of it\n"
	  "  queue=off|auto   auto: jobs without a terminal are held as by run --queue\n",
	  NULL },
	{ "get", get_main, "Show the configuration in the form that set takes", "[--json]",
	  JSON_DETAILS, NULL },
	{ "config", config_main, "Check the configuration files, or load their settings",
	  "check|load [FILE]",
	  "  check            say what is wrong in the files, line by line\n"
	  "  load             check them, and set what their sections [mts] say: all or\n"
	  "                   nothing\n"
	  "  FILE             in place of /etc/mts/mts.conf and /etc/mts/conf.d/*.conf\n",
	  NULL },
	{ "rules", rules_main, "Make jobs of the cgroups that the rules of mts.conf(5) name",
	  "check [FILE]\n"
	  "       mtsctl rules explain [--file FILE] PID|CGROUP\n"
	  "       mtsctl rules apply [--dry-run] [--file FILE]\n"
	  "       mtsctl rules watch [--file FILE]",
	  "  check            check the files, and say what each rule would take now\n"
	  "  explain          which rule takes a cgroup, and why the others do not\n"
	  "  apply            add what exists and matches, once, as mtsctl add does\n"
	  "  watch            the same, and add what comes, until interrupted\n"
	  "  --dry-run        say what apply would do, and do nothing\n"
	  "  --file FILE      in place of /etc/mts/mts.conf and /etc/mts/conf.d/*.conf\n",
	  NULL },
	{ "hooks", hooks_main, "Run programs when turns begin or end, mts stops, or a job waits",
	  "list [--json]\n"
	  "       mtsctl hooks test [--file FILE] EVENT\n"
	  "       mtsctl hooks watch [--file FILE] [--interval TIME]",
	  "  list             the programs in /etc/mts/hooks.d, and why some do not run\n"
	  "  test             run them for an example of begin, end, stop, wait, swap-full\n"
	  "  watch            run them, and write news to the journal, until interrupted\n"
	  "  --file FILE      in place of /etc/mts/mts.conf and /etc/mts/conf.d/*.conf\n"
	  "  --interval TIME  between looks: seconds, or a time with its unit (1s)\n"
	  "  --json           print JSON\n",
	  NULL },
	{ "log", log_main, "Show what happened: turns, stops, and which jobs waited longest",
	  "[--since TIME] [--json]",
	  "  --since TIME     so long ago, as 12h (24h); or a time of day or a date:\n"
	  "                   22:00, yesterday, 2026-11-29 or '2026-11-29 22:00'\n" JSON_DETAILS,
	  NULL },
	{ "stats", stats_main, "Show the counters since the module was loaded",
	  "[--json | [--prometheus | --http] [--per-job[=COUNT]]]",
	  JSON_DETAILS
	  "  --prometheus     print them, the state and the bins as metrics, in the text\n"
	  "                   format of Prometheus\n"
	  "  --http           the same, as the answer to the HTTP request on standard input\n"
	  "  --per-job[=COUNT]  metrics of each job, too; of the COUNT oldest, up to 4096\n"
	  "                   (default 100)\n",
	  NULL },
	{ "monitor", monitor_main, "Write the host's load, memory and swap traffic once a second",
	  "[--interval TIME] [--count COUNT] [--json]",
	  "  --interval TIME  between lines: seconds, or a time with its unit\n"
	  "  --count COUNT    end after so many lines\n"
	  "  --json           print JSON, an object a line, in place of CSV\n",
	  NULL },
	{ "watch", watch_main, "Print the module's events, one line each, until interrupted",
	  "[--json]", "  --json           print JSON, an object a line\n", NULL },
	{ "doctor", doctor_main,
	  "Say what keeps the module from loading, or jobs from taking turns", "[--json]",
	  JSON_DETAILS, NULL },
	{ "thaw", thaw_main, "Thaw everything now and stop the rotation", "", NULL, NULL },
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* Users name cgroups, and what they write is not to reach a terminal as it is. */
void complain(const char *format, ...)
{
	char text[PATH_MAX + 1024], clean[PATH_MAX + 1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fflush(stdout);
	fprintf(stderr, "mtsctl: %s\n", format_text(clean, sizeof(clean), text));
}

static void complain_at_args(const struct place *place, const char *format, va_list args)
{
	char text[PATH_MAX + 1024];
	int used;

	used = snprintf(text, sizeof(text), place->line ? "%s:%u: " : "%s: ", place->file,
			place->line);
	if (used < (int)sizeof(text))
		vsnprintf(text + used, sizeof(text) - used, format, args);
	complain("%s", text);
}

void complain_at(const struct place *place, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_at_args(place, format, args);
	va_end(args);
}

int usage_error(const struct command *command, const char *format, ...)
{
	va_list args;

	if (command->place) {
		va_start(args, format);
		complain_at_args(command->place, format, args);
		va_end(args);
		return EXIT_USAGE;
	}
	fflush(stdout);
	fprintf(stderr, "mtsctl: %s: ", command->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nTry 'mtsctl %s --help'.\n", command->name);
	return EXIT_USAGE;
}

static void show_help(const struct command *command)
{
	printf("Usage: mtsctl %s%s%s\n\n%s.\n", command->name, *command->usage ? " " : "",
	       command->usage, command->description);
	if (command->details)
		printf("\n%s", command->details);
}

static void show_usage(FILE *file)
{
	fputs("Usage: mtsctl COMMAND [ARG]...\n"
	      "       mtsctl --engine module|userspace|user|SOCKET COMMAND [ARG]...\n"
	      "       mtsctl --user COMMAND [ARG]...    # the mtsd of this user\n\nCommands:\n",
	      file);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(file, "  %-8s %s\n", commands[i].name, commands[i].description);
	fputs("  help     Show this, or the help of a command\n\n"
	      "mtsctl COMMAND --help says more; so does man mtsctl.\n",
	      file);
}

/*
 * Values of long options start here, with --help. They must differ from all characters, because
 * getopt_long() returns both kinds in optopt.
 */
#define LONG_OPTION 256

int next_option(const struct command *command, int argc, char **argv, const char *shorts,
		const struct option *options)
{
	int order = strspn(shorts, "+-");
	struct option all[24];
	char spec[16];
	int n = 0, opt;

	for (; options[n].name; n++) {
		all[n] = options[n];
		all[n].val += LONG_OPTION;
	}
	all[n++] = (struct option){ "help", no_argument, NULL, LONG_OPTION };
	all[n] = (struct option){ 0 };
	snprintf(spec, sizeof(spec), "%.*s:h%s", order, shorts, shorts + order);

	opterr = 0;
	opt = getopt_long(argc, argv, spec, all, NULL);
	switch (opt) {
	case OPTION_END:
	case OPTION_WORD:
		return opt;
	case 'h':
	case LONG_OPTION:
		show_help(command);
		return OPTION_HELP;
	case ':':
		usage_error(command, "%s needs a value", argv[optind - 1]);
		return OPTION_ERROR;
	case '?':
		if (optopt >= LONG_OPTION)
			usage_error(command, "%s: the option takes no value", argv[optind - 1]);
		else if (optopt)
			usage_error(command, "unknown option -%c", optopt);
		else
			usage_error(command, "unknown option %s", argv[optind - 1]);
		return OPTION_ERROR;
	default:
		return opt > LONG_OPTION ? opt - LONG_OPTION : opt;
	}
}

int simple_options(const struct command *command, int argc, char **argv, bool *json)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	const struct option *known = json ? options : options + 1;
	int opt;

	while ((opt = next_option(command, argc, argv, "", known)) == 'j')
		*json = true;
	switch (opt) {
	case OPTION_END:
		return OPTION_END;
	case OPTION_HELP:
		return EXIT_OK;
	default:
		return EXIT_USAGE;
	}
}

int device_absent(int err)
{
	switch (err) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
	case ECONNREFUSED:
		if (!strncmp(ipc_name(), "$", 1))
			complain("%s: XDG_RUNTIME_DIR is not set: log in as the user, or set it to "
				 "/run/user/UID",
				 ipc_name());
		else if (strcmp(ipc_name(), MTS_DEVICE))
			complain("%s: no mtsd answers: is it started? (systemctl start mtsd; of a "
				 "user: systemctl --user start mtsd)",
				 ipc_name());
		else
			complain("%s: no such device: is the module loaded? "
				 "(insmod module/mts.ko, or modprobe mts)",
				 MTS_DEVICE);
		return EXIT_NO_MODULE;
	case EACCES:
	case EPERM:
		complain("%s: permission denied: run as root, or ask your own mtsd with --user, or "
			 "have root start mts-users.service",
			 ipc_name());
		return EXIT_PERMISSION;
	default:
		complain("%s: cannot open: %s", ipc_name(), strerror(err));
		return EXIT_FAILED;
	}
}

int device_open(void)
{
	int ret = ipc_open();

	return ret ? device_absent(-ret) : EXIT_OK;
}

bool device_knows(u32 abi)
{
	struct mts_status status;

	return !ipc_status(&status) && status.abi >= abi;
}

bool device_has_limits(void)
{
	return device_knows(2);
}

bool device_is_too_old(u32 job_flags, u64 max_pause_ns, u32 weight)
{
	return (job_flags & MTS_JOB_EACH_LEAF && !device_knows(3)) ||
	       (max_pause_ns && !device_has_limits()) || (weight && !device_knows(4));
}

const char *device_error(int err)
{
	if (err == ENOTTY)
		return "the loaded module does not know this command: it is older than mtsctl";
	return mts_error_text(err, ipc_is_for_users()) ?: strerror(err);
}

int device_failed(const char *what, int err)
{
	complain("%s: %s", what, device_error(err));
	return err == EPERM || err == EACCES ? EXIT_PERMISSION : EXIT_FAILED;
}

/* Return: the command; NULL: there is none of that name, and an error is printed. */
static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	complain("unknown command '%s'\nTry 'mtsctl help'.", name);
	return NULL;
}

static int help(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		show_usage(stdout);
		return EXIT_OK;
	}
	command = command_find(argv[1]);
	if (!command)
		return EXIT_USAGE;
	show_help(command);
	return EXIT_OK;
}

/* --engine ENGINE or --engine=ENGINE. Return: how many words that were; 0: an error is printed. */
static int choose_engine(int argc, char **argv)
{
	const char *value = argv[1] + strlen("--engine");
	int taken = *value == '=' ? 1 : 2;

	value = *value == '=' ? value + 1 : !*value && argc > 2 ? argv[2] : "";
	if (strcmp(value, "module") && strcmp(value, "userspace") && strcmp(value, "user") &&
	    *value != '/') {
		complain("--engine: module, userspace, user or the path of a socket\n"
			 "Try 'mtsctl help'.");
		return 0;
	}
	ipc_choose(value);
	return taken;
}

static int dispatch(int argc, char **argv)
{
	const struct command *command;

	while (argc > 1 && (!strncmp(argv[1], "--engine", 8) || !strcmp(argv[1], "--user"))) {
		int taken = 1;

		if (!strcmp(argv[1], "--user"))
			ipc_choose("user");
		else
			taken = choose_engine(argc, argv);

		if (!taken)
			return EXIT_USAGE;
		argc -= taken;
		argv += taken;
	}
	if (argc < 2) {
		show_usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("mtsctl " MTS_VERSION);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(argc - 1, argv + 1);
	command = command_find(argv[1]);
	if (!command)
		return EXIT_USAGE;
	return command->function(command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	int status = dispatch(argc, argv);

	ipc_close();
	errno = 0;
	if (fflush(stdout) || ferror(stdout)) {
		complain("standard output: %s", errno ? strerror(errno) : "write error");
		return status ? status : EXIT_FAILED;
	}
	return status;
}
