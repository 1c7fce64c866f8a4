// SPDX-License-Identifier: GPL-2.0
/* What came out: a table for people, or one JSON object. */
#include "policy/bins.h"
#include "simulator.h"

/* Of bins, in the table; JSON has all. */
#define SHOWN 12u
#define MIB ((double)(1 << 20))

static double seconds(u64 ns)
{
	return (double)ns / 1e9;
}

static u64 switches_ns(void)
{
	return figures.freeze_ns + figures.evict_ns + figures.bring_back_ns;
}

static double share(u64 part, u64 whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static u64 sum_of(const struct scenario *scenario, bool work)
{
	u64 sum = 0;

	for (u32 i = 0; i < scenario->njobs; i++)
		sum += work ? scenario->demands[i].work_ns : scenario->demands[i].size;
	return sum;
}

/* Of the work, what is done. */
static double done(const struct scenario *scenario)
{
	return 1 - share(figures.work_left_ns, sum_of(scenario, true));
}

/* Of a bin in the round that is shown. */
static u64 pause_of(const struct shown_bin *bin)
{
	return mts_min(mts_sub_floor(figures.round_ns, bin->slice_ns), figures.shown_pause_ns);
}

/* ---- for people -------------------------------------------------------------------- */

static void print_bins(void)
{
	if (!figures.nbins)
		return;
	printf("\nbins of %.1f MiB, in one of the first rounds (%.3f s, longest pause %.3f s)\n"
	       "  BIN       MiB   JOBS    SLICE, s    PAUSE, s\n",
	       (double)figures.capacity / MIB, seconds(figures.round_ns),
	       seconds(figures.shown_pause_ns));
	for (u32 i = 0; i < figures.nbins && i < SHOWN; i++)
		printf("%5u %9.1f %6u %11.3f %11.3f%s\n", i, (double)figures.bins[i].demand / MIB,
		       figures.bins[i].jobs, seconds(figures.bins[i].slice_ns),
		       seconds(pause_of(&figures.bins[i])),
		       figures.bins[i].demand > figures.capacity ? "  does not fit" : "");
	if (figures.nbins > SHOWN)
		printf("  ... and %u more\n", figures.nbins - SHOWN);
}

static void print_doubts(void)
{
	if (figures.overfull_ns || figures.notice_ns)
		printf("note         for %.3f s what ran did not fit: what it got done then is a "
		       "guess\n",
		       seconds(figures.overfull_ns + figures.notice_ns));
	if (figures.overdue)
		printf("note         %llu times the watchdog thawed a job, as it would have been "
		       "frozen for\n             longer than max_pause\n",
		       figures.overdue);
}

static void print_table(const struct scenario *scenario, u64 ideal_ns)
{
	const struct figures *f = &figures;

	printf("host         %.1f MiB, %u processors, disk %.3f ms x %llu, %llu MiB/s\n",
	       (double)scenario->memory / MIB, scenario->processors,
	       (double)scenario->disk.latency_ns / 1e6, scenario->disk.depth,
	       scenario->disk.mib_per_s);
	printf("jobs         %u, %.1f MiB, %.2f times the memory, %.3f s of work\n",
	       scenario->njobs, (double)sum_of(scenario, false) / MIB,
	       (double)sum_of(scenario, false) / (double)scenario->memory,
	       seconds(sum_of(scenario, true)));
	if (f->finished)
		printf("time         %.3f s for all, %.3f times the ideal of %.3f s\n",
		       seconds(f->time_ns), share(f->time_ns, ideal_ns), seconds(ideal_ns));
	else
		printf("time         cut off after %.3f s with %.2f %% of the work done; the ideal "
		       "is %.3f s\n",
		       seconds(f->time_ns), 100 * done(scenario), seconds(ideal_ns));
	printf("             %.3f s in slices, %.3f s in switches (%.1f %%), %.3f s all at once,\n"
	       "             %.3f s all at once, thrashing\n",
	       seconds(f->slice_ns), seconds(switches_ns()), 100 * share(switches_ns(), f->time_ns),
	       seconds(f->together_ns), seconds(f->notice_ns));
	printf("switches     %llu in %llu rounds, %llu of them cut short; %llu overlap; "
	       "freeze %.3f s,\n             evict %.3f s, bring back %.3f s\n",
	       f->switches, f->rounds, f->regroups, f->passed, seconds(f->freeze_ns),
	       seconds(f->evict_ns), seconds(f->bring_back_ns));
	printf("swapped      %.1f MiB out, %.1f MiB in\n", (double)f->swapped_out / MIB,
	       (double)f->swapped_in / MIB);
	printf("pause        %.3f s at most\n", seconds(f->longest_pause_ns));
	printf("fairness     %.3f (Jain's index of what was done when the first job ended)\n",
	       f->jain);
	print_doubts();
	print_bins();
}

/* ---- JSON ------------------------------------------------------------------------------ */

static void put(const char *name, u64 value)
{
	printf(", \"%s\": %llu", name, value);
}

static void print_json(const struct scenario *scenario, u64 ideal_ns)
{
	const struct figures *f = &figures;

	printf("{\"schema\": 1");
	put("jobs", scenario->njobs);
	put("memory", scenario->memory);
	put("processors", scenario->processors);
	put("demand", sum_of(scenario, false));
	put("work_ns", sum_of(scenario, true));
	put("time_ns", f->time_ns);
	put("ideal_ns", ideal_ns);
	put("counted_ns", mts_sub_floor(f->time_ns, scenario->count_from_ns));
	put("counted_work_ns", f->counts ? f->work_before_ns - f->work_left_ns : 0);
	printf(", \"finished\": %s, \"work_done\": %.6f", f->finished ? "true" : "false",
	       done(scenario));
	printf(", \"over_ideal\": %.6f, \"switch_share\": %.6f, \"jain\": %.6f",
	       share(f->time_ns, ideal_ns), share(switches_ns(), f->time_ns), f->jain);
	put("rounds", f->rounds);
	put("switches", f->switches);
	put("passed", f->passed);
	put("regroups", f->regroups);
	put("slice_ns", f->slice_ns);
	put("freeze_ns", f->freeze_ns);
	put("evict_ns", f->evict_ns);
	put("bring_back_ns", f->bring_back_ns);
	put("together_ns", f->together_ns);
	put("notice_ns", f->notice_ns);
	put("overfull_ns", f->overfull_ns);
	put("consumed_ns", f->consumed_ns);
	put("swapped_out", f->swapped_out);
	put("swapped_in", f->swapped_in);
	put("swap_dropped", f->swap_dropped);
	put("longest_pause_ns", f->longest_pause_ns);
	put("overdue", f->overdue);
	put("capacity", f->capacity);
	put("round_ns", f->round_ns);
	printf(", \"bins\": [");
	for (u32 i = 0; i < f->nbins; i++)
		printf("%s{\"demand\": %llu, \"jobs\": %u, \"slice_ns\": %llu, \"pause_ns\": %llu}",
		       i ? ", " : "", f->bins[i].demand, f->bins[i].jobs, f->bins[i].slice_ns,
		       pause_of(&f->bins[i]));
	printf("]}\n");
}

void report(const struct scenario *scenario, u64 ideal_ns)
{
	if (scenario->json)
		print_json(scenario, ideal_ns);
	else
		print_table(scenario, ideal_ns);
}
