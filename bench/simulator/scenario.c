// SPDX-License-Identifier: GPL-2.0
/* The command line: a host, a disk, jobs drawn from distributions. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "distribution.h"
#include "parse.h"
#include "policy/window.h"
#include "random.h"
#include "simulator.h"

static const char usage_head[] =
	"usage: simulate --memory SIZE --jobs N --sizes DISTRIBUTION --work DISTRIBUTION\n"
	"                [options] [KEY=VALUE ...]\n"
	"\n"
	"Simulates how mts.ko would run jobs in turns on a host: the module's own rotor, on a virtual\n"
	"clock, with a model of memory, disk and processors. Hosts of up to 1 PiB, 4096 jobs.\n"
	"\n"
	"      --memory SIZE        what jobs find free\n"
	"      --usable SIZE        of it, what they can hold before the host swaps (all)\n"
	"      --processors N       (1)\n"
	"      --job-threads N      of each job, which shares the processors by them (1)\n"
	"      --threads N          that move memory in a switch (as many, 8 at most)\n"
	"      --disk MODEL         ssd, nvme, paper as in the laboratory, or TIME,DEPTH,RATE:\n"
	"                           a request's time, how many at a time, MiB/s or 0 (ssd)\n"
	"      --request SIZE       of a swap request, on average (32K; 124K at most)\n"
	"  -n, --jobs N             (as many as lines, if sizes are a file's)\n"
	"      --sizes DISTRIBUTION bytes of a job, such as 8M or uniform:1G..4G\n"
	"      --work DISTRIBUTION  processor time of a job, such as lognormal:60s,1\n"
	"      --gaps DISTRIBUTION  from one job's arrival to the next (0s: all at the start)\n"
	"      --seed N             of the draws (1)\n"
	"      --costs KEY=TIME,... processor time: touch= a new page, evict=, back= a page in\n"
	"                           bulk, fault= a page by itself, freeze= a job, stride= work\n"
	"                           from one page that it uses to the next, where jobs thrash\n"
	"                           (9us, 14us, 13us, 30us, 350us, 1us)\n"
	"      --ns N               of an instruction: all costs are N times as high (1)\n"
	"      --queue              jobs are held until they fit, as by run --queue --size\n"
	"      --limit TIME         it is cut off then (720h)\n"
	"      --count-from TIME    counted_ns, counted_work_ns (--json) and pauses are of what\n"
	"                           happens after it: the start is not (0s)\n"
	"      --rounds             a line for each round, to stderr\n"
	"      --json               one object instead of a table\n"
	"  -h, --help\n"
	"\n"
	"DISTRIBUTION:\n";

#define MAX_JOB_THREADS 1024u

static const char usage_tail[] =
	"\n" SETTINGS_HELP "\n"
	"The ideal is the same jobs, all at once, on a host with memory for all.\n"
	"\n"
	"Not simulated: what stock Linux would do; which pages a job uses (where what runs does not\n"
	"fit, all evenly: the time of that is shown, and is a guess); caches and TLBs; where pages lie\n"
	"in swap; file pages; jobs that sleep, wait for each other, or change their size after they\n"
	"have touched it; what measuring them costs; a job that does not freeze at once.\n"
	"\n"
	"exit status: 0, 1 an error, 2 usage\n";

struct words {
	const char *memory, *usable, *disk, *request, *sizes, *work, *gaps, *costs, *limit;
	const char *count_from;
	uint64_t jobs, seed, processors, threads, job_threads, ns;
};

/* ---- words ----------------------------------------------------------------------- */

static u64 take_size(const char *option, const char *text, u64 low, u64 high)
{
	const char *wrong;
	u64 bytes;

	if (!text)
		args_refuse("%s is missing", option);
	wrong = parse_size(text, &bytes);
	if (wrong)
		args_refuse("%s %s: %s", option, text, wrong);
	if (bytes < low || bytes > high)
		args_refuse("%s %s: not in %llu..%llu bytes", option, text, low, high);
	return bytes;
}

static void take_distribution(const char *option, const char *text, distribution_parse_value parse,
			      struct distribution *d)
{
	const char *wrong;

	if (!text)
		args_refuse("%s is missing: a value, or a distribution", option);
	wrong = distribution_parse(text, parse, d);
	if (wrong)
		args_refuse("%s %s: %s", option, text, wrong);
}

static u64 take_time(const char *what, const char *text)
{
	return settings_time(what, text, 0, (u64)NSEC_PER_SEC);
}

/* TIME,DEPTH,RATE */
static void take_disk(const char *text, struct disk *disk)
{
	char copy[128], *depth, *rate = NULL;

	snprintf(copy, sizeof(copy), "%s", text);
	depth = strchr(copy, ',');
	if (depth) {
		*depth++ = '\0';
		rate = strchr(depth, ',');
	}
	if (!rate)
		args_refuse("--disk %s: neither ssd, nvme or paper, nor TIME,DEPTH,RATE, as in "
			    "100us,32,500",
			    text);
	*rate++ = '\0';
	disk->latency_ns = take_time("--disk ", copy);
	disk->depth = args_number("--disk: depth", depth, 0);
	disk->mib_per_s = args_number("--disk: rate", rate, 0);
	if (!disk->depth || disk->depth > 1 << 16)
		args_refuse("--disk %s: a depth of 1 to 65536", text);
	if (disk->mib_per_s > 1 << 24)
		args_refuse("--disk %s: more than %u MiB/s", text, 1 << 24);
}

static void take_cost(char *word, struct costs *costs)
{
	char *value = strchr(word, '=');
	char what[64];
	u64 *cost;

	if (!value)
		args_refuse("--costs %s: not KEY=TIME", word);
	*value++ = '\0';
	if (!strcmp(word, "touch"))
		cost = &costs->touch;
	else if (!strcmp(word, "evict"))
		cost = &costs->evict;
	else if (!strcmp(word, "back"))
		cost = &costs->back;
	else if (!strcmp(word, "fault"))
		cost = &costs->fault;
	else if (!strcmp(word, "freeze"))
		cost = &costs->freeze;
	else if (!strcmp(word, "stride"))
		cost = &costs->stride;
	else
		args_refuse("--costs %s=: not one of touch, evict, back, fault, freeze, stride",
			    word);
	snprintf(what, sizeof(what), "--costs %s=", word);
	*cost = take_time(what, value);
}

static void take_costs(const char *text, u64 ns, struct costs *costs)
{
	char copy[256], *rest = copy, *word;

	/* Instructions, from guests with 1 ns for each: docs/simulation.md. */
	*costs = (struct costs){ .touch = 9000,
				 .evict = 14000,
				 .back = 13000,
				 .fault = 30000,
				 .freeze = 350000,
				 .stride = 1000 };
	if (text && snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		args_refuse("--costs: too long");
	while (text && (word = strsep(&rest, ",")))
		take_cost(word, costs);
	costs->touch *= ns;
	costs->evict *= ns;
	costs->back *= ns;
	costs->fault *= ns;
	costs->freeze *= ns;
	costs->stride *= ns;
}

/* ---- jobs ------------------------------------------------------------------------------ */

static void draw_jobs(struct scenario *scenario, const struct words *words)
{
	struct distribution sizes, works, gaps;
	uint64_t size_seed = random_start(words->seed, 0), work_seed = random_start(words->seed, 1);
	uint64_t gap_seed = random_start(words->seed, 2);
	u64 now = 0;

	take_distribution("--sizes", words->sizes, parse_size, &sizes);
	take_distribution("--work", words->work, parse_time, &works);
	take_distribution("--gaps", words->gaps, parse_time, &gaps);
	scenario->njobs = words->jobs ? words->jobs : sizes.count;
	if (!scenario->njobs)
		args_refuse("--jobs is missing: how many there are");
	if (scenario->njobs > MTS_MAX_JOBS || words->jobs > MTS_MAX_JOBS)
		args_refuse("--jobs: more than %u, which is what the module takes", MTS_MAX_JOBS);
	scenario->demands = calloc(scenario->njobs, sizeof(*scenario->demands));
	if (!scenario->demands)
		args_refuse("no memory");
	for (u32 i = 0; i < scenario->njobs; i++) {
		struct demand *job = &scenario->demands[i];
		u64 pages = distribution_draw(&sizes, &size_seed, i) / PAGE_SIZE;

		pages = mts_min(mts_max(pages, 1), MTS_BIN_MAX_BYTES / PAGE_SIZE);
		now += i ? distribution_draw(&gaps, &gap_seed, i) : 0;
		job->size = pages * PAGE_SIZE;
		job->work_ns = distribution_draw(&works, &work_seed, i);
		job->arrives_ns = now;
		if (now > NEVER / 8 || job->work_ns > NEVER / 8)
			args_refuse("--work, --gaps: more than 70 years");
	}
	free(sizes.values);
	free(works.values);
	free(gaps.values);
}

/* ---- the whole ---------------------------------------------------------------------------- */

static const char *usage(void)
{
	static char text[8192];

	snprintf(text, sizeof(text), "%s%s%s", usage_head, distribution_help, usage_tail);
	return text;
}

void scenario_parse(struct scenario *scenario, int argc, char **argv)
{
	struct words words = { .request = "32K",
			       .gaps = "0s",
			       .limit = "720h",
			       .count_from = "0s",
			       .seed = 1,
			       .processors = 1,
			       .job_threads = 1,
			       .ns = 1 };
	const struct args_option options[] = {
		{ "memory", 0, ARGS_TEXT, &words.memory },
		{ "usable", 0, ARGS_TEXT, &words.usable },
		{ "processors", 0, ARGS_NUMBER | ARGS_POSITIVE, &words.processors },
		{ "threads", 0, ARGS_NUMBER | ARGS_POSITIVE, &words.threads },
		{ "job-threads", 0, ARGS_NUMBER | ARGS_POSITIVE, &words.job_threads },
		{ "disk", 0, ARGS_TEXT, &words.disk },
		{ "request", 0, ARGS_TEXT, &words.request },
		{ "jobs", 'n', ARGS_NUMBER | ARGS_POSITIVE, &words.jobs },
		{ "sizes", 0, ARGS_TEXT, &words.sizes },
		{ "work", 0, ARGS_TEXT, &words.work },
		{ "gaps", 0, ARGS_TEXT, &words.gaps },
		{ "seed", 0, ARGS_NUMBER, &words.seed },
		{ "costs", 0, ARGS_TEXT, &words.costs },
		{ "ns", 0, ARGS_NUMBER | ARGS_POSITIVE, &words.ns },
		{ "limit", 0, ARGS_TEXT, &words.limit },
		{ "count-from", 0, ARGS_TEXT, &words.count_from },
		{ "queue", 0, ARGS_FLAG, &scenario->queue },
		{ "rounds", 0, ARGS_FLAG, &scenario->rounds },
		{ "json", 0, ARGS_FLAG, &scenario->json },
		{ NULL, 0, 0, NULL },
	};

	*scenario = (struct scenario){ .config = settings_default };
	args_options("simulate", usage(), options, argc, argv);
	for (; optind < argc; optind++)
		settings_take(&scenario->config, argv[optind]);
	settings_finish(&scenario->config);
	scenario->memory =
		take_size("--memory", words.memory, MTS_BIN_MIN_BYTES, MTS_BIN_MAX_BYTES);
	scenario->usable = scenario->memory;
	if (words.usable)
		scenario->usable =
			take_size("--usable", words.usable, MTS_BIN_MIN_BYTES, scenario->memory);
	if (words.processors > 1 << 16)
		args_refuse("--processors: more than %u", 1 << 16);
	if (words.ns > 1024)
		args_refuse("--ns: more than 1024");
	scenario->processors = words.processors;
	if (words.threads > MTS_MOVERS_MAX)
		args_refuse("--threads: more than %u", MTS_MOVERS_MAX);
	if (words.job_threads > MAX_JOB_THREADS)
		args_refuse("--job-threads: more than %u", MAX_JOB_THREADS);
	scenario->job_threads = words.job_threads;
	scenario->threads = mts_min(words.processors, words.threads ?: MTS_MOVERS_MAX);
	if (!words.disk)
		args_refuse("--disk is missing: TIME,DEPTH,RATE (bench/simulate knows models)");
	take_disk(words.disk, &scenario->disk);
	scenario->disk.request = take_size("--request", words.request, PAGE_SIZE, 31 * PAGE_SIZE);
	scenario->limit_ns = settings_time("--limit ", words.limit, 1, NEVER / 8);
	scenario->count_from_ns =
		settings_time("--count-from ", words.count_from, 0, scenario->limit_ns);
	take_costs(words.costs, words.ns, &scenario->costs);
	draw_jobs(scenario, &words);
}
