// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "host.h"
#include "plan.h"
#include "policy/demand.h"
#include "policy/disk.h"
#include "policy/evict.h"
#include "policy/plan.h"
#include "policy/slices.h"
#include "policy/traffic.h"
#include "policy/window.h"
#include "values.h"

#define SECOND 1000000000ull
#define MS 1000000ull
#define MIB (1ull << 20)
#define MAX_PROCESSORS 65536
/* Twelve days: longer than any switch that is worth a plan. */
#define LONGEST_SWITCH_S (1ull << 20)
/* Some weeks: MTS_MAX_JOBS such jobs, one after the other, take fewer ns than fit in a u64. */
#define LONGEST_WORK_NS (1000 * 3600 * SECOND)

/* Without the module: its own defaults (module/control/config.c). */
static const struct mts_plan_conf defaults = {
	MTS_DEFAULT_KNOBS,
};

enum {
	OPT_SIZE = OPTION_WORD + 1,
	OPT_PIN_SIZE,
	OPT_CGROUP,
	OPT_CAPACITY,
	OPT_SLICE,
	OPT_MIN_SLICE,
	OPT_MAX_PAUSE,
	OPT_OVERHEAD,
	OPT_PACK,
	OPT_EVICT,
	OPT_SWITCH,
	OPT_SWAP_SPEED,
	OPT_PROCESSORS,
	OPT_STEP,
	OPT_WORK,
	OPT_QUEUE,
	OPT_JSON,
};

static const struct option options[] = {
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "pin-size", required_argument, NULL, OPT_PIN_SIZE },
	{ "cgroup", required_argument, NULL, OPT_CGROUP },
	{ "capacity", required_argument, NULL, OPT_CAPACITY },
	{ "slice", required_argument, NULL, OPT_SLICE },
	{ "min-slice", required_argument, NULL, OPT_MIN_SLICE },
	{ "max-pause", required_argument, NULL, OPT_MAX_PAUSE },
	{ "overhead", required_argument, NULL, OPT_OVERHEAD },
	{ "pack", required_argument, NULL, OPT_PACK },
	{ "evict", required_argument, NULL, OPT_EVICT },
	{ "switch", required_argument, NULL, OPT_SWITCH },
	{ "swap-speed", required_argument, NULL, OPT_SWAP_SPEED },
	{ "processors", required_argument, NULL, OPT_PROCESSORS },
	{ "step", required_argument, NULL, OPT_STEP },
	{ "work", required_argument, NULL, OPT_WORK },
	{ "queue", no_argument, NULL, OPT_QUEUE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ 0 },
};

struct request {
	u32 seen; /* bits of SEEN() */
	u32 given; /* MTS_CONFIG_* */
	int list; /* OPT_SIZE, OPT_PIN_SIZE or OPT_CGROUP: the list to which a bare word belongs */
};

#define SEEN(opt) (1u << (opt))

static int add_word(const struct command *command, struct request *request, struct plan *plan,
		    const char *word)
{
	request->seen |= SEEN(request->list);
	if ((request->seen & SEEN(OPT_SIZE)) && (request->seen & SEEN(OPT_CGROUP)))
		return usage_error(command, "either --size or --cgroup, not both");
	switch (request->list) {
	case OPT_CGROUP:
		return plan_add_cgroup(plan, word);
	case OPT_PIN_SIZE:
		return plan_add_sizes(command, plan, "--pin-size", word, MTS_PLAN_RESIDENT);
	default:
		return plan_add_sizes(command, plan, "--size", word, 0);
	}
}

static int set_option(const struct command *command, struct request *request, struct plan *plan,
		      int opt)
{
	struct mts_plan_conf *conf = &plan->conf;

	if (request->seen & SEEN(opt))
		return usage_error(command, "--%s is given twice", options[opt - OPT_SIZE].name);
	request->seen |= SEEN(opt);
	switch (opt) {
	case OPT_CAPACITY:
		request->given |= MTS_CONFIG_BIN;
		return value_memory(command, "--capacity ", optarg, &conf->capacity);
	case OPT_SLICE:
		request->given |= MTS_CONFIG_SLICE;
		return value_time(command, "--slice ", optarg, MTS_SLICE_MIN_NS, MTS_SLICE_MAX_NS,
				  &conf->slice_ns);
	case OPT_MIN_SLICE:
		request->given |= MTS_CONFIG_MIN_SLICE;
		return value_time(command, "--min-slice ", optarg, MTS_SLICE_MIN_NS,
				  MTS_SLICE_MAX_NS, &conf->min_slice_ns);
	case OPT_MAX_PAUSE:
		request->given |= MTS_CONFIG_MAX_PAUSE;
		return value_pause(command, "--max-pause ", optarg, &conf->max_pause_ns);
	case OPT_OVERHEAD:
		request->given |= MTS_CONFIG_OVERHEAD;
		return value_share(command, "--overhead ", optarg, MTS_OVERHEAD_MAX,
				   &conf->overhead);
	case OPT_PACK:
		request->given |= MTS_CONFIG_PACK;
		return value_word(command, "--pack ", optarg, pack_words, &conf->pack);
	case OPT_EVICT:
		request->given |= MTS_CONFIG_EVICT;
		return value_word(command, "--evict ", optarg, evict_words, &conf->evict);
	case OPT_SWITCH:
		return value_time(command, "--switch ", optarg, 0, 3600 * SECOND, &conf->switch_ns);
	case OPT_SWAP_SPEED:
		return value_speed(command, "--swap-speed ", optarg, &plan->swap_speed);
	case OPT_PROCESSORS:
		return value_count(command, "--processors ", optarg, MAX_PROCESSORS,
				   &conf->processors);
	case OPT_STEP:
		request->given |= MTS_CONFIG_STEP;
		return value_step(command, "--step ", optarg, &plan->step);
	case OPT_WORK:
		return value_time(command, "--work ", optarg, MS, LONGEST_WORK_NS, &plan->work_ns);
	case OPT_QUEUE:
		plan->queue = true;
		return EXIT_OK;
	default:
		return EXIT_OK;
	}
}

/* Options come first, then the module's configuration, then what the host has. */
static int settle(const struct command *command, const struct request *request, struct plan *plan)
{
	struct mts_plan_conf *conf = &plan->conf;
	u64 total = 0, available = 0;
	int ret;

	if (!(request->seen & (SEEN(OPT_SIZE) | SEEN(OPT_CGROUP)))) {
		ret = plan_from_module(plan, request->given,
				       request->seen & (SEEN(OPT_SWITCH) | SEEN(OPT_SWAP_SPEED)));
		if (ret)
			return ret;
	}
	if ((request->seen & SEEN(OPT_SWITCH)) && plan->swap_speed)
		return usage_error(command, "either --switch or --swap-speed, not both");
	if (!(request->given & MTS_CONFIG_MIN_SLICE))
		conf->min_slice_ns = mts_min(conf->min_slice_ns, conf->slice_ns);
	plan->to_come = (request->seen & SEEN(OPT_SIZE)) && !(request->seen & SEEN(OPT_PIN_SIZE));
	if (!plan->to_come && (plan->queue || plan->work_ns))
		return usage_error(command,
				   "--%s is for jobs that have not begun, and of which none is "
				   "pinned: give all of them with --size",
				   plan->queue ? "queue" : "work");
	if (conf->min_slice_ns > conf->slice_ns)
		return usage_error(command, "--min-slice is longer than the slice");
	if (!conf->processors)
		conf->processors = host_processors();
	if (conf->capacity)
		return EXIT_OK;
	ret = host_memory(&total, &available);
	if (ret) {
		complain("plan: /proc/meminfo: %s: give --capacity", strerror(-ret));
		return EXIT_FAILED;
	}
	conf->capacity = mts_policy_capacity(available, plan->managed, total);
	return EXIT_OK;
}

/* @step: as in struct mts_plan_conf */
static int compute_once(struct plan *plan, void *scratch, u32 evict, u64 step)
{
	struct mts_plan_conf conf = plan->conf;
	int ret;

	plan->limits.room = plan->room;
	for (u32 i = 0; i < plan->njobs; i++)
		if (plan->jobs[i].flags & MTS_PLAN_LIMITED)
			plan->jobs[i].flags = 0;
	conf.evict = evict;
	conf.step = step;
	mts_plan_limit_pause(&conf, plan->conf.max_pause_ns);
	mts_plan_allow_pause(&conf, plan->long_pause_ns);
	ret = mts_plan_round(&conf, plan->jobs, plan->njobs, plan->bins, &plan->result, scratch);
	plan->unlimited = plan->result;
	if (!ret)
		ret = mts_plan_limits(&conf, plan->jobs, plan->njobs, plan->bins, &plan->result,
				      &plan->limits, scratch);
	if (!ret)
		mts_plan_traffic(&conf, plan->bins, &plan->result, scratch);
	return ret;
}

/* Bytes that a switch of this round moves on average, out and in. */
static u64 moved_by_a_switch(const struct mts_plan *round)
{
	return mts_add_sat(round->swap_out_bytes, round->swap_in_bytes) / round->nbins;
}

/* Threads that move memory: the jobs that overlapping bins leave running have other processors. */
static u32 movers(const struct plan *plan, bool overlaps)
{
	return overlaps ? mts_window_movers(plan->conf.processors) :
			  mts_min(plan->conf.processors, MTS_MOVERS_MAX);
}

/* To move so many bytes one way takes the disk its time, or the processors theirs. */
static u64 time_to_move(const struct plan *plan, u64 bytes, bool overlaps)
{
	u64 speed = plan->swap_speed;
	u64 disk = mul_u64_u64_div_u64(mts_min(bytes, speed * LONGEST_SWITCH_S), SECOND, speed);
	u64 work = mts_min(bytes / 4096, LONGEST_SWITCH_S * SECOND / MTS_DISK_PAGE_WORK_NS) *
		   MTS_DISK_PAGE_WORK_NS;

	return mts_max(disk, work / movers(plan, overlaps));
}

/*
 * The time of a switch that moves the round's traffic. Whole milliseconds, because the estimate is
 * not more exact.
 */
static u64 switch_of(const struct plan *plan)
{
	u64 ns = time_to_move(plan, moved_by_a_switch(&plan->result), plan->result.overlaps);

	return (ns + MS - 1) / MS * MS;
}

/* What a switch takes is not known before there is a plan; what a MiB takes is. */
static void go_by_swap_speed(struct plan *plan, bool overlaps)
{
	plan->conf.switch_ns = 0;
	plan->conf.mib_ns = time_to_move(plan, 2 * MIB, overlaps);
	plan->conf.mib_work_ns = 2 * MIB / 4096 * MTS_DISK_PAGE_WORK_NS;
}

static int compute_with(struct plan *plan, void *scratch, u32 evict, u64 step)
{
	int ret;

	if (!plan->swap_speed)
		return compute_once(plan, scratch, evict, step);
	go_by_swap_speed(plan, step);
	ret = compute_once(plan, scratch, evict, step);
	/* Plan twice: the traffic gives the time of a switch. It does not depend on that time. */
	if (!ret && plan->result.nbins > 1) {
		plan->conf.switch_ns = switch_of(plan);
		plan->conf.switch_overlaps = plan->result.overlaps;
		ret = compute_once(plan, scratch, evict, plan->result.overlaps ? step : 0);
	}
	return ret;
}

bool plan_fits(const struct plan *plan)
{
	return plan->result.nbins < 2 && plan->result.demand <= plan->result.capacity &&
	       plan->result.resident_demand <= plan->conf.capacity;
}

u64 plan_ideal(const struct plan *plan)
{
	return 1000ull * mts_min(plan->njobs, plan->conf.processors);
}

u64 plan_done_ns(const struct plan *plan, u64 permille)
{
	unsigned __int128 work = (unsigned __int128)1000 * plan->work_ns * plan->njobs;

	if (!permille || work / permille > U64_MAX)
		return U64_MAX;
	return work / permille;
}

bool plan_knows_evict(const struct plan *plan)
{
	return plan->result.nbins > 1 &&
	       (plan->conf.evict != MTS_EVICT_AUTO || plan->conf.switch_ns);
}

static bool disk_is_slow(const struct plan *plan)
{
	u64 bytes = plan->result.nbins ? moved_by_a_switch(&plan->result) : 0;

	return mts_disk_is_far_behind(bytes / 4096, plan->conf.switch_ns);
}

/*
 * One kind of bins, with its own choice of evict and its own switches.
 *
 * @known: the choice of evict; MTS_EVICT_AUTO: not known
 * @step: as in struct mts_plan_conf
 */
static int compute_kind(struct plan *plan, void *scratch, u32 known, u64 step)
{
	u32 first = known;
	int ret;

	/* The module begins turns with evict=full, and may change to evict=need after a round. */
	if (first == MTS_EVICT_AUTO)
		first = mts_policy_evict_how(plan->conf.evict, MTS_EVICT_FULL, NULL, false);
	ret = compute_with(plan, scratch, first, step);
	if (ret)
		return ret;
	plan->evict =
		mts_policy_evict_how(plan->conf.evict, first, &plan->result, disk_is_slow(plan));
	/* Of overlapping bins as much as comes in, and no more, goes out. */
	if (plan->result.overlaps && plan->evict == MTS_EVICT_FULL)
		plan->evict = MTS_EVICT_NEED;
	return plan->evict == first ? 0 : compute_with(plan, scratch, plan->evict, step);
}

/* What each kind of bins would give, and of the plan the kind that the rotor would choose. */
static int compute_kinds(struct plan *plan, void *scratch, u32 known)
{
	u32 of_step = plan->step == MTS_STEP_BIN ? MTS_STEP_AUTO : plan->step;
	u64 step = mts_window_step(of_step, plan->conf.capacity);
	struct mts_plan of_groups;
	bool overlaps;
	int ret;

	ret = compute_kind(plan, scratch, known, step);
	if (ret)
		return ret;
	plan->work_as_groups = plan->result.work_as_groups;
	of_groups = plan->unlimited;
	ret = compute_kind(plan, scratch, known, 0);
	if (ret)
		return ret;
	plan->work_as_bins = plan->result.work_as_bins;
	/* As mts_plan_round() chooses, but with the switches of each kind. */
	overlaps = plan->step != MTS_STEP_BIN;
	if (mts_window_chooses(plan->step))
		overlaps = mts_plan_prefers_groups(&of_groups, &plan->unlimited);
	return overlaps ? compute_kind(plan, scratch, known, step) : 0;
}

/* As pack_longer() of rotor/plan.c: whether jobs are attended is not known here. */
static int compute_longer(struct plan *plan, void *scratch, u32 known)
{
	struct mts_plan best = plan->result;
	int ret;

	while (plan->long_pause_ns < MTS_PAUSE_UNATTENDED_NS &&
	       mts_plan_wants_long_pauses(&plan->result)) {
		plan->long_pause_ns = mts_plan_longer_pause(plan->long_pause_ns);
		ret = compute_kinds(plan, scratch, known);
		if (ret)
			return ret;
		if (mts_plan_long_pauses_pay(&plan->result, &best)) {
			best = plan->result;
			plan->paying_pause_ns = plan->long_pause_ns;
			plan->paying_work = mts_plan_work(&best);
		} else if (!mts_plan_pauses_too_long(&plan->result)) {
			break;
		}
	}
	if (!plan->long_pause_ns)
		return 0;
	plan->long_pause_ns = 0;
	return compute_kinds(plan, scratch, known);
}

static int compute(struct plan *plan)
{
	void *scratch = calloc(1, mts_plan_scratch(plan->njobs) + 1);
	u32 known = plan->evict;
	int ret = -ENOMEM;

	plan->bins = calloc((size_t)plan->njobs + 1, sizeof(*plan->bins));
	if (scratch && plan->bins)
		ret = compute_kinds(plan, scratch, known);
	if (!ret && !plan->conf.max_pause_ns)
		ret = compute_longer(plan, scratch, known);
	if (!ret && plan->to_come)
		ret = plan_queue(plan);
	free(scratch);
	if (ret)
		complain("plan: %s", strerror(-ret));
	return ret ? EXIT_FAILED : EXIT_OK;
}

static int read_options(const struct command *command, int argc, char **argv,
			struct request *request, struct plan *plan)
{
	int opt, ret = EXIT_OK;

	while (!ret && (opt = next_option(command, argc, argv, "-", options)) != OPTION_END) {
		switch (opt) {
		case OPT_SIZE:
		case OPT_PIN_SIZE:
		case OPT_CGROUP:
			request->list = opt;
			/* fall through */
		case OPTION_WORD:
			ret = add_word(command, request, plan, optarg);
			break;
		case OPTION_HELP:
			return OPTION_HELP;
		case OPTION_ERROR:
			return EXIT_USAGE;
		default:
			ret = set_option(command, request, plan, opt);
			break;
		}
	}
	for (; !ret && optind < argc; optind++)
		ret = add_word(command, request, plan, argv[optind]);
	return ret;
}

int plan_main(const struct command *command, int argc, char **argv)
{
	struct request request = { .list = OPT_SIZE };
	struct plan plan = { .conf = defaults, .evict = MTS_EVICT_AUTO, .step = MTS_DEFAULT_STEP };
	int ret;

	ret = read_options(command, argc, argv, &request, &plan);
	if (!ret)
		ret = settle(command, &request, &plan);
	if (!ret)
		ret = compute(&plan);
	if (!ret && (request.seen & SEEN(OPT_JSON)))
		ret = plan_show_json(&plan);
	else if (!ret)
		plan_show(&plan);

	for (u32 i = 0; i < plan.njobs; i++)
		free(plan.names[i]);
	free(plan.names);
	free(plan.by_size);
	free(plan.jobs);
	free(plan.bins);
	free(plan.starts_ns);
	return ret == OPTION_HELP ? EXIT_OK : ret;
}
