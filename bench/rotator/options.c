// SPDX-License-Identifier: GPL-2.0
/* The command line. Defaults are the module's. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "rotator.h"

static const char usage[] =
	"usage: rotator [options] [KEY=VALUE ...]\n"
	"\n"
	"Runs the jobs below a cgroup directory in turns, as mts.ko does, from user space.\n"
	"\n"
	"      --base DIR           cgroup directory whose children are the jobs\n"
	"                           (/sys/fs/cgroup/jobs)\n"
	"      --each NAME          every child of job NAME's first process is a job of its\n"
	"                           own, that process is resident; may be repeated\n"
	"      --resident NAME      job NAME is in every bin; may be repeated\n"
	"      --bring-back on|off  read the incoming bin back in bulk (on)\n"
	"      --page-out on|off    evict in the order of addresses first (off)\n"
	"      --notice events|poll of forks: by the proc connector, or by looking (events)\n"
	"      --poll TIME          how often it looks for jobs and children (20ms)\n"
	"      --stats FILE         JSON, replaced at every switch (none)\n"
	"      --root DIR           fake /proc and /sys below DIR: for tests\n"
	"      --plan               print what would be planned now as JSON, and end\n"
	"  -h, --help\n"
	"\n" SETTINGS_HELP "\n"
	"Ends at SIGTERM or SIGINT; everything is thawed then.\n"
	"exit status: 0, 1 an error, 2 usage\n";

struct options options;

bool names_hold(const struct names *names, const char *name)
{
	for (unsigned int i = 0; i < names->count; i++)
		if (!strcmp(names->name[i], name))
			return true;
	return false;
}

static void add_name(struct names *names, const char *option, const char *name)
{
	if (!*name || strchr(name, '/') || strlen(name) >= NAME_SIZE)
		args_refuse("%s %s: not the name of a job", option, name);
	if (names->count == MAX_NAMES)
		args_refuse("%s: more than %u of them", option, MAX_NAMES);
	names->name[names->count++] = name;
}

enum {
	OPTION_BASE = 256,
	OPTION_EACH,
	OPTION_RESIDENT,
	OPTION_BRING_BACK,
	OPTION_PAGE_OUT,
	OPTION_NOTICE,
	OPTION_POLL,
	OPTION_STATS,
	OPTION_ROOT,
	OPTION_PLAN,
};

static const struct option long_options[] = {
	{ "base", required_argument, NULL, OPTION_BASE },
	{ "each", required_argument, NULL, OPTION_EACH },
	{ "resident", required_argument, NULL, OPTION_RESIDENT },
	{ "bring-back", required_argument, NULL, OPTION_BRING_BACK },
	{ "page-out", required_argument, NULL, OPTION_PAGE_OUT },
	{ "notice", required_argument, NULL, OPTION_NOTICE },
	{ "poll", required_argument, NULL, OPTION_POLL },
	{ "stats", required_argument, NULL, OPTION_STATS },
	{ "root", required_argument, NULL, OPTION_ROOT },
	{ "plan", no_argument, NULL, OPTION_PLAN },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void take(int option, const char *value)
{
	switch (option) {
	case OPTION_BASE:
		options.base = value;
		break;
	case OPTION_EACH:
		add_name(&options.each, "--each", value);
		break;
	case OPTION_RESIDENT:
		add_name(&options.resident, "--resident", value);
		break;
	case OPTION_BRING_BACK:
		options.bring_back = args_word("--bring-back ", value, "on|off") == 0;
		break;
	case OPTION_PAGE_OUT:
		options.page_out = args_word("--page-out ", value, "on|off") == 0;
		break;
	case OPTION_NOTICE:
		options.fork_events = args_word("--notice ", value, "events|poll") == 0;
		break;
	case OPTION_POLL:
		options.poll_ns = settings_time("--poll ", value, NS_PER_MS, NS_PER_S);
		break;
	case OPTION_STATS:
		options.stats = value;
		break;
	case OPTION_ROOT:
		options.root = value;
		break;
	case OPTION_PLAN:
		options.plan = true;
		break;
	case 'h':
		fputs(usage, stdout);
		exit(EXIT_SUCCESS);
	default:
		fputs("Try 'rotator --help'.\n", stderr);
		exit(ARGS_USAGE);
	}
}

void options_parse(int argc, char **argv)
{
	int option;

	args_program("rotator");
	options = (struct options){
		.root = "",
		.base = "/sys/fs/cgroup/jobs",
		.stats = "",
		.config = settings_default,
		.poll_ns = 20 * NS_PER_MS,
		.bring_back = true,
		.fork_events = true,
	};
	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1)
		take(option, optarg);
	for (; optind < argc; optind++)
		settings_take(&options.config, argv[optind]);
	if (strncmp(options.base, "/sys/fs/cgroup/", 15))
		args_refuse("--base %s: not below /sys/fs/cgroup", options.base);
	settings_finish(&options.config);
}
