// SPDX-License-Identifier: GPL-2.0
/* The command line. Defaults are the module's. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "parse.h"
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
	"      --notice events|poll of forks: by the proc connector, or by looking (events)\n"
	"      --poll TIME          how often it looks for jobs and children (20ms)\n"
	"      --stats FILE         JSON, replaced at every switch (none)\n"
	"      --root DIR           fake /proc and /sys below DIR: for tests\n"
	"      --plan               print what would be planned now as JSON, and end\n"
	"  -h, --help\n"
	"\n"
	"KEY=VALUE, with the module's defaults, as in `mtsctl set`: mode=auto|always,\n"
	"slice=5s, min_slice=200ms, max_pause=30s, overhead=5%|off, bin=auto|SIZE,\n"
	"pack=ffd|bfd|rw, evict=off|need|full.\n"
	"\n"
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

static uint64_t take_time(const char *name, const char *text, uint64_t low, uint64_t high)
{
	const char *wrong;
	u64 ns;

	wrong = parse_time(text, &ns);
	if (wrong)
		args_refuse("%s%s: %s", name, text, wrong);
	if (ns < low || ns > high)
		args_refuse("%s%s: not in %g..%g s", name, text, (double)low / 1e9,
			    (double)high / 1e9);
	return ns;
}

static uint64_t take_size(const char *name, const char *text)
{
	const char *wrong;
	u64 bytes;

	if (!strcmp(text, "auto"))
		return 0;
	wrong = parse_size(text, &bytes);
	if (wrong)
		args_refuse("%s%s: %s", name, text, wrong);
	if (bytes < MTS_BIN_MIN_BYTES || bytes > MTS_BIN_MAX_BYTES)
		args_refuse("%s%s: less than 1 MiB, or more than 1 PiB", name, text);
	return bytes;
}

static u32 take_overhead(const char *text)
{
	const char *wrong;
	u32 permille;

	if (!strcmp(text, "off"))
		return 0;
	wrong = parse_permille(text, &permille);
	if (wrong)
		args_refuse("overhead=%s: %s", text, wrong);
	if (permille > MTS_OVERHEAD_MAX)
		args_refuse("overhead=%s: more than %u%%", text, MTS_OVERHEAD_MAX / 10);
	return permille;
}

/* Words in the order of their enums in uapi/mts.h. */
static void take_setting(const char *text)
{
	const char *value = strchr(text, '=');

	value = value ? value + 1 : text;
	if (!strncmp(text, "mode=", 5))
		options.mode = args_word("mode=", value, "off|auto|always");
	else if (!strncmp(text, "pack=", 5))
		options.pack = args_word("pack=", value, "ffd|bfd|rw");
	else if (!strncmp(text, "evict=", 6))
		options.evict = args_word("evict=", value, "off|need|full");
	else if (!strncmp(text, "slice=", 6))
		options.slice_ns = take_time("slice=", value, MTS_SLICE_MIN_NS, MTS_SLICE_MAX_NS);
	else if (!strncmp(text, "min_slice=", 10))
		options.min_slice_ns =
			take_time("min_slice=", value, MTS_SLICE_MIN_NS, MTS_SLICE_MAX_NS);
	else if (!strncmp(text, "max_pause=", 10))
		options.max_pause_ns =
			take_time("max_pause=", value, MTS_PAUSE_MIN_NS, MTS_PAUSE_MAX_NS);
	else if (!strncmp(text, "overhead=", 9))
		options.overhead = take_overhead(value);
	else if (!strncmp(text, "bin=", 4))
		options.capacity = take_size("bin=", value);
	else
		args_refuse("%s: not KEY=VALUE, KEY being mode, pack, evict, slice, min_slice, "
			    "max_pause, overhead or bin",
			    text);
}

enum {
	OPTION_BASE = 256,
	OPTION_EACH,
	OPTION_RESIDENT,
	OPTION_BRING_BACK,
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
	case OPTION_NOTICE:
		options.fork_events = args_word("--notice ", value, "events|poll") == 0;
		break;
	case OPTION_POLL:
		options.poll_ns = take_time("--poll ", value, NS_PER_MS, NS_PER_S);
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
		.mode = MTS_DEFAULT_MODE,
		.slice_ns = MTS_DEFAULT_SLICE_NS,
		.min_slice_ns = MTS_DEFAULT_MIN_SLICE_NS,
		.max_pause_ns = MTS_DEFAULT_MAX_PAUSE_NS,
		.overhead = MTS_DEFAULT_OVERHEAD,
		.poll_ns = 20 * NS_PER_MS,
		.pack = MTS_DEFAULT_PACK,
		.evict = MTS_DEFAULT_EVICT,
		.bring_back = true,
		.fork_events = true,
	};
	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1)
		take(option, optarg);
	for (; optind < argc; optind++)
		take_setting(argv[optind]);
	if (strncmp(options.base, "/sys/fs/cgroup/", 15))
		args_refuse("--base %s: not below /sys/fs/cgroup", options.base);
	/* as the module: a slice alone takes a longer min_slice down with it */
	options.min_slice_ns = mts_min(options.min_slice_ns, options.slice_ns);
}
