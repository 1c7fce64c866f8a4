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

static u64 switches_ns(const struct figures *f)
{
	return f->freeze_ns + f->evict_ns + f->bring_back_ns;
}

static double share(u64 part, u64 whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static u64 sum_of(const struct simulation *s, bool work)
{
	u64 sum = 0;

	for (u32 i = 0; i < s->njobs; i++)
		sum += work ? s->jobs[i].work_ns : s->jobs[i].size;
	return sum;
}

/* Of the work, what is done. */
static double done(const struct simulation *s)
{
	u64 left = 0;

	for (u32 i = 0; i < s->njobs; i++)
		left += s->jobs[i].working_ns;
	return 1 - share(left, sum_of(s, true));
}

static bool is_finished(const struct simulation *s)
{
	return !s->here && s->arrived == s->njobs;
}

/* ---- for people -------------------------------------------------------------------- */

static void print_bins(const struct simulation *s)
{
	const struct mts_plan *plan = &s->shown_plan;

	if (!plan->nbins)
		return;
	printf("\nbins of %.1f MiB, in one of the first rounds (%.3f s, longest pause %.3f s)\n"
	       "  BIN       MiB   JOBS    SLICE, s    PAUSE, s\n",
	       (double)plan->capacity / MIB, seconds(plan->round_ns),
	       seconds(plan->longest_pause_ns));
	for (u32 i = 0; i < plan->nbins && i < SHOWN; i++)
		printf("%5u %9.1f %6u %11.3f %11.3f%s\n", i, (double)s->shown_bins[i].demand / MIB,
		       s->shown_bins[i].jobs, seconds(s->shown_bins[i].slice_ns),
		       seconds(s->shown_bins[i].pause_ns),
		       s->shown_bins[i].flags & MTS_PLAN_OVERFULL ? "  does not fit" : "");
	if (plan->nbins > SHOWN)
		printf("  ... and %u more\n", plan->nbins - SHOWN);
}

static void print_doubts(const struct simulation *s)
{
	const struct figures *f = &s->figures;

	if (f->overfull_ns)
		printf("note         for %.3f s what ran did not fit: what it loses so is not "
		       "simulated,\n             and the time above is too short\n",
		       seconds(f->overfull_ns));
	if (f->overdue)
		printf("note         %llu times a job was frozen for longer than max_pause: the "
		       "watchdog would\n             have thawed it, and both would have thrashed\n",
		       f->overdue);
}

static void print_table(const struct simulation *s, const struct simulation *ideal)
{
	const struct scenario *scenario = s->scenario;
	const struct figures *f = &s->figures;

	printf("host         %.1f MiB, %u processors, disk %.3f ms x %llu, %llu MiB/s\n",
	       (double)scenario->memory / MIB, scenario->processors,
	       (double)scenario->disk.latency_ns / 1e6, scenario->disk.depth,
	       scenario->disk.mib_per_s);
	printf("jobs         %u, %.1f MiB, %.2f times the memory, %.3f s of work\n", s->njobs,
	       (double)sum_of(s, false) / MIB, (double)sum_of(s, false) / (double)scenario->memory,
	       seconds(sum_of(s, true)));
	if (is_finished(s))
		printf("time         %.3f s for all, %.3f times the ideal of %.3f s\n",
		       seconds(s->now), share(s->now, ideal->now), seconds(ideal->now));
	else
		printf("time         cut off after %.3f s with %.2f %% of the work done; the ideal "
		       "is %.3f s\n",
		       seconds(s->now), 100 * done(s), seconds(ideal->now));
	printf("             %.3f s in slices, %.3f s in switches (%.1f %%), %.3f s all at once,\n"
	       "             %.3f s until turns were taken\n",
	       seconds(f->slice_ns), seconds(switches_ns(f)), 100 * share(switches_ns(f), s->now),
	       seconds(f->together_ns), seconds(f->notice_ns));
	printf("switches     %llu in %llu rounds, %llu of them cut short; freeze %.3f s, "
	       "evict %.3f s,\n             bring back %.3f s\n",
	       f->switches, f->rounds, f->regroups, seconds(f->freeze_ns), seconds(f->evict_ns),
	       seconds(f->bring_back_ns));
	printf("swapped      %.1f MiB out, %.1f MiB in\n", (double)f->swapped_out / MIB,
	       (double)f->swapped_in / MIB);
	printf("pause        %.3f s at most\n", seconds(f->longest_pause_ns));
	printf("fairness     %.3f (Jain's index of what was done when the first job ended)\n",
	       f->jain);
	print_doubts(s);
	print_bins(s);
}

/* ---- JSON ------------------------------------------------------------------------------ */

static void put(const char *name, u64 value)
{
	printf(", \"%s\": %llu", name, value);
}

static void print_json(const struct simulation *s, const struct simulation *ideal)
{
	const struct figures *f = &s->figures;

	printf("{\"schema\": 1");
	put("jobs", s->njobs);
	put("memory", s->scenario->memory);
	put("processors", s->scenario->processors);
	put("demand", sum_of(s, false));
	put("work_ns", sum_of(s, true));
	put("time_ns", s->now);
	put("ideal_ns", ideal->now);
	printf(", \"finished\": %s, \"work_done\": %.6f", is_finished(s) ? "true" : "false",
	       done(s));
	printf(", \"over_ideal\": %.6f, \"switch_share\": %.6f, \"jain\": %.6f",
	       share(s->now, ideal->now), share(switches_ns(f), s->now), f->jain);
	put("rounds", f->rounds);
	put("switches", f->switches);
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
	put("capacity", s->shown_plan.capacity);
	put("round_ns", s->shown_plan.round_ns);
	printf(", \"bins\": [");
	for (u32 i = 0; i < s->shown_plan.nbins; i++)
		printf("%s{\"demand\": %llu, \"jobs\": %u, \"slice_ns\": %llu, \"pause_ns\": %llu}",
		       i ? ", " : "", s->shown_bins[i].demand, s->shown_bins[i].jobs,
		       s->shown_bins[i].slice_ns, s->shown_bins[i].pause_ns);
	printf("]}\n");
}

void report(const struct simulation *s, const struct simulation *ideal)
{
	if (s->scenario->json)
		print_json(s, ideal);
	else
		print_table(s, ideal);
}
