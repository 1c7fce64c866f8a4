// SPDX-License-Identifier: GPL-2.0
/* The trace events mts:*, as tracefs and trace-cmd show them. */
#include "guest.h"

#include <inttypes.h>

#define TRACE_CMD "/usr/bin/trace-cmd"
#define MAX_EVENTS 20000

/* A line of a trace: "task-pid [cpu] flags seconds: event: key=value ...". */
struct event {
	double s;
	char task[24];
	char name[24];
	const char *fields;
};

static struct event events[MAX_EVENTS];
static unsigned int nevents;
static char text[16 * MIB];

/* ---- what a line says -------------------------------------------------------------- */

/* Where the value of a field begins; fails the test if there is no such field. */
static const char *value(const struct event *e, const char *field)
{
	size_t len = strlen(field);
	const char *at = e->fields;

	while ((at = strstr(at, field))) {
		if ((at == e->fields || at[-1] == ' ') && at[len] == '=')
			return at + len + 1;
		at += len;
	}
	fail("%s has no %s: %s", e->name, field, e->fields);
}

static long long number(const struct event *e, const char *field)
{
	const char *at = value(e, field);
	char *end;
	long long n = strtoll(at, &end, 10);

	check(end != at && (!*end || *end == ' '), "%s: %s is no number: %s", e->name, field,
	      e->fields);
	return n;
}

/* The rest of the line, for the last field. */
static bool ends_with(const struct event *e, const char *field, const char *should)
{
	return !strcmp(value(e, field), should);
}

static bool says(const struct event *e, const char *field, const char *should)
{
	const char *at = value(e, field);
	size_t len = strlen(should);

	return !strncmp(at, should, len) && (!at[len] || at[len] == ' ');
}

static bool is(const struct event *e, const char *name)
{
	return !strcmp(e->name, name);
}

/* Lines that are no events are passed over. */
static void parse_line(char *line)
{
	struct event *e = &events[nevents];
	char *name, *at = strstr(line, ": mts_");
	double seconds;

	if (!at)
		return;
	*at = '\0';
	name = at + 2;
	at = strrchr(line, ' ');
	check(at && sscanf(at, "%lf", &seconds) == 1, "no time: %s", line);
	check(sscanf(line, " %23s", e->task) == 1, "no task: %s", line);
	at = strstr(name, ":");
	check(at, "no fields: %s", name);
	*at++ = '\0';
	snprintf(e->name, sizeof(e->name), "%s", name);
	e->fields = at + strspn(at, " ");
	e->s = seconds;
	check(++nevents < MAX_EVENTS, "too many events");
}

static void parse(void)
{
	char *rest = text, *line;

	nevents = 0;
	while ((line = strsep(&rest, "\n")))
		parse_line(line);
}

static unsigned int count(const char *name)
{
	unsigned int i, n = 0;

	for (i = 0; i < nevents; i++)
		n += is(&events[i], name);
	return n;
}

static u64 sum(const char *name, const char *field)
{
	unsigned int i;
	u64 n = 0;

	for (i = 0; i < nevents; i++)
		if (is(&events[i], name))
			n += number(&events[i], field);
	return n;
}

/* The first one from here on; NULL: there is none. */
static const struct event *find(const struct event *from, const char *name)
{
	for (; from < events + nevents; from++)
		if (is(from, name))
			return from;
	return NULL;
}

/* ---- recording --------------------------------------------------------------------- */

static void record(void)
{
	trace_begin();
}

static void end_record(void)
{
	trace_end(text, sizeof(text));
	parse();
	note("%u events", nevents);
	check(nevents, "no event");
}

static void stop_rotating(void)
{
	set_mode(MTS_MODE_OFF);
	expect_within(5000, get_status().state == MTS_STATE_OFF, "%s", describe());
}

/* From off to off: three jobs in three bins, for so many rounds. */
static void record_rotation(u64 rounds)
{
	start_hogs(HOG_RANDOM, 3, three_equal);
	record();
	rotate(32, 300, MTS_EVICT_FULL);
	expect_rotation(3);
	wait_rounds(rounds);
	stop_rotating();
	end_record();
}

/* ---- order ------------------------------------------------------------------------- */

/* The place of an event within a switch; 0: it can be anywhere. */
static int stage(const struct event *e)
{
	static const char *const order[] = { "mts_switch_begin", "mts_freeze", "mts_evict",
					     "mts_bring_back",	 "mts_thaw",   "mts_switch_end" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		if (is(e, order[i]))
			return i + 1;
	return 0;
}

/* From its beginning to its end. Return: the end. */
static const struct event *check_switch(const struct event *begin)
{
	const struct event *e, *end = find(begin, "mts_switch_end");
	long long to = number(begin, "to"), took, apart;
	int last = 0;

	check(end, "no end of the switch to %lld", to);
	for (e = begin; e <= end; e++) {
		check(e == begin || !is(e, "mts_switch_begin"), "a switch within a switch");
		/* The rotation ends while it is under way. */
		if (is(e, "mts_thaw") && says(e, "why", "all"))
			continue;
		check(!is(e, "mts_slice_begin"), "a slice within a switch");
		if (!stage(e))
			continue;
		check(stage(e) >= last, "%s comes too late: %s", e->name, e->fields);
		last = stage(e);
		if (is(e, "mts_thaw") || is(e, "mts_bring_back"))
			check(number(e, "bin") == to, "switch to %lld: %s %s", to, e->name,
			      e->fields);
		/* When turns begin everybody is stopped. */
		if (is(e, "mts_evict") || (is(e, "mts_freeze") && number(begin, "from") != -1))
			check(number(e, "bin") != to, "switch to %lld: %s %s", to, e->name,
			      e->fields);
	}
	check(number(end, "from") == number(begin, "from") && number(end, "to") == to,
	      "another switch ends: %s", end->fields);
	took = number(end, "took_ns");
	apart = (long long)((end->s - begin->s) * 1e9);
	check(llabs(took - apart) < 20 * (long long)NS_PER_MS, "took %lld ns, and is %lld apart",
	      took, apart);
	check(number(end, "freeze_ns") + number(end, "evict_ns") + number(end, "bring_back_ns") <=
		      took,
	      "the parts are more than the whole: %s", end->fields);
	return end;
}

/* What follows a switch that was not given up. Return: the slice's end. */
static const struct event *check_slice(const struct event *end)
{
	const struct event *begin = find(end, "mts_slice_begin"), *over;

	check(begin, "no slice after the switch");
	check(number(begin, "bin") == number(end, "to"), "slice of another bin: %s", begin->fields);
	check(number(begin, "round") == number(end, "round"), "slice of another round: %s",
	      begin->fields);
	over = find(begin, "mts_slice_end");
	check(over && number(over, "bin") == number(begin, "bin"), "no end of the slice: %s",
	      begin->fields);
	check(number(over, "slice_ns") == number(begin, "slice_ns"), "%s: %s", begin->fields,
	      over->fields);
	if (says(over, "why", "over"))
		check(number(over, "ran_ns") >= number(over, "slice_ns"), "cut short: %s",
		      over->fields);
	return over;
}

static void check_switches(void)
{
	const struct event *e = events, *end = NULL;
	unsigned int evictions = count("mts_evict"), n = 0;

	for (; (e = find(e, "mts_switch_begin")); n++) {
		check(number(e, "from") == (end ? number(end, "to") : -1), "from elsewhere: %s",
		      e->fields);
		end = check_switch(e);
		e = number(end, "err") ? end + 1 : check_slice(end) + 1;
	}
	note("%u switches, %u evictions", n, evictions);
	check(n >= 5 && evictions >= n / 2, "%u switches, %u evictions", n, evictions);
}

static void switches_in_order(void)
{
	record_rotation(2);
	check_switches();
}

/* Each job's events alternate: asked to freeze, frozen, thawed. The end comes at any time. */
static void check_job(const struct hog *hog)
{
	long long cgroup_id = job_named(hog->name).cgroup_id;
	unsigned int i, freezes = 0, frozen = 0;
	bool asked = false, over = false;

	for (i = 0; i < nevents; i++) {
		const struct event *e = &events[i];

		if (!is(e, "mts_freeze") && !is(e, "mts_frozen") && !is(e, "mts_thaw"))
			continue;
		if (number(e, "job") != hog->id)
			continue;
		check(ends_with(e, "name", hog->name), "name: %s", e->fields);
		check(number(e, "cgroup_id") == cgroup_id, "cgroup id: %s", e->fields);
		if (is(e, "mts_frozen")) {
			check(asked || over, "frozen, but nobody has asked: %s", e->fields);
			frozen++;
			continue;
		}
		check(asked == is(e, "mts_thaw"), "%s twice: %s", e->name, e->fields);
		asked = !asked;
		over = !asked && says(e, "why", "all");
		freezes += asked;
	}
	check(!asked, "%s was never thawed", hog->name);
	check(freezes >= 2 && frozen >= freezes / 2, "%u times frozen, really %u times", freezes,
	      frozen);
}

static void jobs_freeze_and_thaw(void)
{
	unsigned int i;

	record_rotation(2);
	for (i = 0; i < 3; i++)
		check_job(&hogs[i]);
}

/* ---- agreement --------------------------------------------------------------------- */

#define expect_same(seen, counted)                                                              \
	do {                                                                                    \
		u64 _seen = (seen), _counted = (counted);                                       \
		check(_seen == _counted, #seen " is %" PRIu64 ", " #counted " %" PRIu64, _seen, \
		      _counted);                                                                \
	} while (0)

/* What is traced is what is counted, to the byte and to the nanosecond. */
static void events_agree_with_statistics(void)
{
	struct mts_stats was, now;
	u64 frozen = 0, told;
	unsigned int i;

	start_hogs(HOG_RANDOM, 3, three_equal);
	stop_rotating();
	was = get_stats();
	record();
	rotate(32, 300, MTS_EVICT_FULL);
	expect_rotation(3);
	wait_rounds(2);
	stop_rotating();
	now = get_stats();
	end_record();

	expect_same(count("mts_round"), now.rounds - was.rounds);
	expect_same(count("mts_switch_begin"), now.switches - was.switches);
	expect_same(count("mts_switch_end"), now.switches - was.switches);
	expect_same(count("mts_freeze"), now.freezes - was.freezes);
	expect_same(count("mts_thaw"), now.thaws - was.thaws);
	expect_same(sum("mts_slice_end", "ran_ns"), now.slice_ns - was.slice_ns);
	expect_same(sum("mts_evict", "asked_bytes"), now.evict_asked - was.evict_asked);
	expect_same(sum("mts_evict", "got_bytes"), now.evict_got - was.evict_got);
	expect_same(sum("mts_bring_back", "pages"), now.brought_back - was.brought_back);
	expect_same(sum("mts_bring_back", "took_ns"), now.bring_back_ns - was.bring_back_ns);
	for (i = 0; i < 3; i++)
		frozen += job_named(hogs[i].name).frozen_total_ns;
	told = sum("mts_thaw", "frozen_ns");
	/* The thaw itself is in between. */
	check(told <= frozen && frozen - told < count("mts_thaw") * 50 * NS_PER_MS,
	      "frozen for %" PRIu64 " ns, told %" PRIu64, frozen, told);
}

static void rounds_say_the_plan(void)
{
	const struct event *e;

	start_hogs(HOG_RANDOM, 3, three_equal);
	record();
	rotate(32, 300, MTS_EVICT_FULL);
	expect_rotation(3);
	wait_rounds(1);
	stop_rotating();
	end_record();
	for (e = events; (e = find(e, "mts_round")); e++) {
		long long capacity = number(e, "capacity_bytes");

		check(number(e, "bins") == 3 && number(e, "jobs") == 3, "%s", e->fields);
		check(capacity == 32 * (long long)MIB, "%s", e->fields);
		check(number(e, "demand_bytes") >= 72 * (long long)MIB &&
			      number(e, "demand_bytes") < 96 * (long long)MIB,
		      "%s", e->fields);
		check(number(e, "round_ns") > number(e, "longest_pause_ns") &&
			      number(e, "longest_pause_ns") > 0,
		      "%s", e->fields);
	}
}

/* ---- why --------------------------------------------------------------------------- */

static const struct event *job_event(const struct event *from, const char *what, const char *name)
{
	while ((from = find(from, "mts_job"))) {
		if (says(from, "what", what) && ends_with(from, "name", name))
			return from;
		from++;
	}
	return NULL;
}

static void jobs_come_and_go(void)
{
	const struct event *e;

	record();
	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 300, MTS_EVICT_OFF);
	expect_rotation(3);
	wait_rounds(1);
	remove_job(hogs[0].id);
	kill_and_join(hogs[1].pid);
	expect_soon(count_jobs() == 1, "%s", describe());
	stop_rotating();
	end_record();

	e = job_event(events, "enrolled", "a");
	check(e && number(e, "bin") == -1 && number(e, "parent") == 0 && !number(e, "pin"),
	      "not enrolled, or strangely");
	e = job_event(e, "placed", "a");
	check(e && number(e, "bin") >= 0 && number(e, "bin") < 3, "never placed in a bin");
	check(job_event(e, "forgotten", "a"), "a was never forgotten");
	check(job_event(events, "forgotten", "b"), "b was never forgotten");
	check(!job_event(events, "forgotten", "c"), "c is still there");
}

static void admission_says_why(void)
{
	const struct event *e;

	record_rotation(1);
	e = find(events, "mts_admission");
	check(e && says(e, "before", "none") && says(e, "reason", "overcommit"), "%s",
	      e ? e->fields : "nothing");
	check(number(e, "bins") == 3 && number(e, "capacity_bytes") == 32 * (long long)MIB, "%s",
	      e->fields);
	check(e < find(events, "mts_round"), "it was decided after the first round");
	e = find(e + 1, "mts_admission");
	check(e && says(e, "before", "overcommit") && says(e, "reason", "none"), "%s",
	      e ? e->fields : "nothing");
}

/*
 * A cgroup that has run for seconds becomes a job while the rotor watches what the jobs get: they
 * do not get more than there is.
 */
static void an_added_cgroup_brings_no_past(void)
{
	long long most = sysconf(_SC_NPROCESSORS_ONLN) * 1100;
	const struct event *e;
	unsigned int looks = 0;
	struct hog past;
	pid_t filler;

	cg_make("t-past");
	hog_start(&past, &(struct hog_spec){ .cgroup = "t-past", .mib = 4, .kind = HOG_SPIN });
	start_hogs(HOG_RANDOM, 3, three_equal);
	sleep_ms(3000);
	rotate(32, 300, MTS_EVICT_FULL);
	set_mode(MTS_MODE_SHADOW);
	expect_within(3000, get_status().reason == MTS_REASON_SHADOW, "%s", describe());
	record();
	leave_mib(32);
	filler = spawn();
	if (!filler) {
		touch(48);
		pause();
	}
	expect_within(5000, get_stats().reclaim_wakeups, "the host does not reclaim");
	sleep_ms(500);
	add_job("t-past", 0);
	sleep_ms(3000);
	kill_and_join(filler);
	end_record();
	for (e = events; (e = find(e, "mts_admission")); e++) {
		looks++;
		check(number(e, "share_permille") <= most, "%s", e->fields);
	}
	check(looks >= 3, "the rotor has looked %u times", looks);
}

/* Why the first thaw after the stop was done. */
static void check_stop(const char *reason, const char *task)
{
	const struct event *e = find(events, "mts_stop"), *end;

	check(e && says(e, "reason", reason), "%s", e ? e->fields : "no stop");
	check(number(e, "frozen") > 0 && strlen(value(e, "detail")) > 5, "%s", e->fields);
	check(!strncmp(e->task, task, strlen(task)), "it was %s", e->task);
	e = find(e, "mts_thaw");
	check(e && says(e, "why", "all"), "%s", e ? e->fields : "no thaw");
	/* Every switch has an end all the same. */
	for (e = events; (e = find(e, "mts_switch_begin")); e = end) {
		end = find(e, "mts_switch_end");
		check(end, "no end: %s", e->fields);
	}
	for (e = events; (e = find(e, "mts_slice_begin")); e++)
		check(find(e, "mts_slice_end"), "no end: %s", e->fields);
}

static void a_stop_says_why(void)
{
	unsigned int i;

	for (i = 0; i < 5; i++) {
		start_hogs(HOG_RANDOM, 3, three_equal);
		record();
		rotate(32, 200, MTS_EVICT_FULL);
		expect_soon(get_status().frozen, "%s", describe());
		/* Somewhere else in a switch each time. */
		sleep_ms(130 * i);
		expect_soon(get_status().frozen, "%s", describe());
		expect(mts_ioctl(MTS_IOC_THAW, NULL), 0);
		expect_within(15000, get_status().state == MTS_STATE_STOPPED, "%s", describe());
		/* Until the rotor has seen it too. */
		expect_within(15000, !get_status().bins, "%s", describe());
		end_record();
		check_stop("user", "test_trace");
		reset();
	}
}

/* The watchdog traces too. */
static void a_stall_says_why(void)
{
	start_hogs(HOG_RANDOM, 3, three_equal);
	record();
	rotate(32, 20000, MTS_EVICT_OFF);
	expect_soon(get_status().frozen == 2, "%s", describe());
	expect(write_file("/sys/module/mts/parameters/debug_stall_ms", "6000"), 0);
	expect_within(8000, get_status().state == MTS_STATE_STOPPED, "%s", describe());
	expect_within(8000, !get_status().bins, "%s", describe());
	end_record();
	check_stop("stall", "mts_watchdog");
}

static void a_foreign_thaw_is_told(void)
{
	const struct event *e;
	struct hog *hog;

	start_hogs(HOG_RANDOM, 3, three_equal);
	record();
	rotate(32, 300, MTS_EVICT_OFF);
	hog = frozen_hog();
	expect(cg_write(hog->cgroup, "cgroup.freeze", "0"), 0);
	wait_rounds(2);
	stop_rotating();
	end_record();
	for (e = events; (e = find(e, "mts_thaw")); e++)
		if (says(e, "why", "foreign"))
			break;
	check(e && number(e, "job") == hog->id, "nothing of it: %s", e ? e->fields : "");
}

/* A job that sleeps until the other end of a pipe writes, or for ever. */
static u32 start_sleeper(const char *name, int reads)
{
	struct mts_job_create create = { .id = 0 };
	char *memory, c;
	size_t at;

	if (spawn()) {
		expect_within(10000,
			      cg_number(cg_job(name), "memory.current") > 6ll * (long long)MIB,
			      "%s: %s", name, describe());
		return job_named(name).id;
	}
	expect(try_create(name, MTS_JOB_ENTER, &create), 0);
	mts_close();
	memory = malloc(6 * MIB);
	for (at = 0; memory && at < 6 * MIB; at += PAGE)
		((volatile char *)memory)[at] = 1;
	if (reads >= 0)
		_exit(read(reads, &c, 1) == 1);
	pause();
	_exit(0);
}

static void who_waits_for_whom_is_told(void)
{
	static const unsigned int two[] = { 24, 24 };
	struct mts_stats was = get_stats(), now;
	const struct event *e;
	u32 reader, writer;
	int ends[2];

	start_hogs(HOG_RANDOM, 2, two);
	check(!pipe(ends), "pipe: %m");
	reader = start_sleeper("reader", ends[0]);
	close(ends[0]);
	writer = start_sleeper("writer", -1);
	record();
	rotate(32, 200, MTS_EVICT_OFF);
	wait_rounds(6);
	stop_rotating();
	now = get_stats();
	end_record();
	e = find(events, "mts_wait");
	check(e, "there is none");
	for (; e; e = find(e + 1, "mts_wait")) {
		check(number(e, "job") == writer && ends_with(e, "name", "writer"), "%s",
		      e->fields);
		check(number(e, "waiter") == reader && says(e, "what", "pipe"), "%s", e->fields);
		check(number(e, "bin") >= 0 && number(e, "bin") != number(e, "waiter_bin"), "%s",
		      e->fields);
		check(number(e, "frozen_ns") > 0, "%s", e->fields);
	}
	check(count("mts_wait") == now.waits - was.waits, "%u events, %llu waits",
	      count("mts_wait"), (unsigned long long)(now.waits - was.waits));
}

/* Who records need not end before the module is unloaded. */
static void unload_while_recording(void)
{
	start_hogs(HOG_RANDOM, 3, three_equal);
	record();
	rotate(32, 200, MTS_EVICT_FULL);
	expect_soon(get_status().frozen, "%s", describe());
	mts_close();
	expect(module_unload(), 0);
	expect(module_load(""), 0);
	mts_open();
	trace_go_on();
	add_job(hogs[0].cgroup, 0);
	end_record();
	check(job_event(events, "enrolled", "a"), "no event of the new module");
}

/* ---- trace-cmd --------------------------------------------------------------------- */

#define RECORDING "/tmp/recording" /* it does, as long as this is there */

static void record_rounds(u64 rounds)
{
	pid_t pid = spawn();

	if (!pid) {
		mts_close();
		_exit(system(TRACE_CMD " record -C mono -o /tmp/trace.dat -e mts -e sched_switch"
				       " sh -c '>" RECORDING "; while [ -e " RECORDING " ];"
				       " do sleep 0.1; done' >/tmp/record.txt 2>&1") ?
			      1 :
			      0);
	}
	expect_soon(!access(RECORDING, F_OK) || !is_alive(pid), "trace-cmd does not begin");
	wait_rounds(rounds);
	unlink(RECORDING);
	expect(join(pid, SOON_MS), 0);
}

static void trace_cmd_records(void)
{
	if (access(TRACE_CMD, X_OK))
		guest_skip("no trace-cmd in this guest");
	start_hogs(HOG_RANDOM, 3, three_equal);
	rotate(32, 300, MTS_EVICT_FULL);
	expect_rotation(3);
	record_rounds(2);
	stop_rotating();
	check(!system(TRACE_CMD " report -i /tmp/trace.dat >/tmp/report.txt 2>&1"),
	      "trace-cmd report failed");
	read_whole("/tmp/report.txt", text, sizeof(text));
	/* What it cannot print it says so, or prints numbers. */
	check(!strstr(text, "FAILED TO PARSE") && !strstr(text, "=0x") && !strstr(text, "=ARG"),
	      "it does not understand the events");
	parse();
	note("%u events", nevents);
	check(count("mts_switch_begin") >= 3 && count("mts_slice_end") >= 3 &&
		      count("mts_freeze") >= 3 && count("mts_round") >= 1,
	      "%u events only", nevents);
	check(!system(TRACE_CMD "  report -i /tmp/trace.dat | grep -q 'sched_switch:.*mts_rotor'"),
	      "no sched_switch of the rotor");
	unlink("/tmp/trace.dat");
}

GUEST_TESTS(TEST(switches_in_order), TEST(jobs_freeze_and_thaw), TEST(events_agree_with_statistics),
	    TEST(rounds_say_the_plan), TEST(jobs_come_and_go), TEST(admission_says_why),
	    TEST(an_added_cgroup_brings_no_past), TEST_WITHIN(a_stop_says_why, 120),
	    TEST(a_stall_says_why), TEST(a_foreign_thaw_is_told), TEST(who_waits_for_whom_is_told),
	    TEST(unload_while_recording), TEST_WITHIN(trace_cmd_records, 240));
