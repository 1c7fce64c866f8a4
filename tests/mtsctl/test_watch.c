// SPDX-License-Identifier: GPL-2.0
/* Lines of trace_pipe: what is taken for an event, what is not, and random bytes from a seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mtsctl.h"
#include "watch.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What the rest of mtsctl needs from its main file. */
void complain(const char *format, ...)
{
	(void)format;
}

#define CONTEXT "       mts_rotor-70      [001] .....    12.345678: "

static const char *const bad[] = {
	"",
	" ",
	"mts_round: round=1",
	"CPU:1 [LOST 3 EVENTS]",
	"# tracer: nop",
	CONTEXT,
	CONTEXT "mts_round",
	CONTEXT "mts_round:",
	CONTEXT "mts_round: ",
	CONTEXT "mts_round: round",
	CONTEXT "mts_round: =1",
	CONTEXT "mts_round: round=1 ",
	CONTEXT "mts_round: round=1  bins=2",
	CONTEXT "mts_round: Round=1",
	CONTEXT "mts_round: ro und=1",
	CONTEXT "mts round: round=1",
	CONTEXT ": round=1",
	/* One column too few, and too many. */
	"      mts_rotor-70      [001] .....    12.345678: mts_round: round=1",
	"        mts_rotor-70      [001] .....    12.345678: mts_round: round=1",
	"       mts_rotor-        [001] .....    12.345678: mts_round: round=1",
	"       mts_rotor-70      001  .....    12.345678: mts_round: round=1",
	"       mts_rotor-70      [001  .....    12.345678: mts_round: round=1",
	"       mts_rotor-70      []  .....    12.345678: mts_round: round=1",
	"       mts_rotor-70      [001] .....    12.34567: mts_round: round=1",
	"       mts_rotor-70      [001] .....    12345678: mts_round: round=1",
	"       mts_rotor-70      [001] .....    x2.345678: mts_round: round=1",
	"       mts_rotor-70      [001] .....    12.345678 mts_round: round=1",
};

static void parse(struct watch_event *event, char *line, const char *text)
{
	strcpy(line, text);
	CHECK(watch_parse(line, event), "%s", text);
}

static void expect_field(const struct watch_event *event, unsigned int i, const char *key,
			 const char *value, bool is_number)
{
	CHECK(i < event->n, "%u fields", event->n);
	if (i >= event->n)
		return;
	CHECK(!strcmp(event->field[i].key, key), "%s, should be %s", event->field[i].key, key);
	CHECK(!strcmp(event->field[i].value, value), "%s, should be %s", event->field[i].value,
	      value);
	CHECK(event->field[i].is_number == is_number, "%s=%s", key, value);
}

/* The process may have any name: the module leaves no space in it. */
static void check_call(void)
{
	struct watch_event event = { 0 };
	char line[512];

	parse(&event, line,
	      CONTEXT "mts_call: job=7 bin=2 kind=task pid=1 granted=1 comm=a=b_(sd) "
		      "cgroup_id=33 name=my job=x");
	CHECK(!strcmp(event.name, "mts_call"), "%s", event.name);
	CHECK(event.n == 8, "%u fields", event.n);
	expect_field(&event, 0, "job", "7", true);
	expect_field(&event, 2, "kind", "task", false);
	expect_field(&event, 3, "pid", "1", true);
	expect_field(&event, 4, "granted", "1", true);
	expect_field(&event, 5, "comm", "a=b_(sd)", false);
	expect_field(&event, 7, "name", "my job=x", false);
}

static void check_good(void)
{
	struct watch_event event = { 0 };
	char line[512];

	parse(&event, line, CONTEXT "mts_slice_end: round=18446744073709551615 bin=-1 why=over");
	CHECK(!strcmp(event.seconds, "12.345678"), "%s", event.seconds);
	CHECK(!strcmp(event.name, "mts_slice_end"), "%s", event.name);
	CHECK(event.n == 3, "%u fields", event.n);
	expect_field(&event, 0, "round", "18446744073709551615", true);
	expect_field(&event, 1, "bin", "-1", true);
	expect_field(&event, 2, "why", "over", false);
	CHECK(!strcmp(event.fields, "round=18446744073709551615 bin=-1 why=over"), "%s",
	      event.fields);

	/* Times of years, flags and processors of any width. */
	parse(&event, line,
	      " kworker/u256:12-1234567 [1023] dNh21 99999999.000001: mts_stop: a= b=-");
	expect_field(&event, 0, "a", "", false);
	expect_field(&event, 1, "b", "-", false);
}

/* Names of tasks and of cgroups may be any text. */
static void check_names(void)
{
	struct watch_event event = { 0 };
	char line[512];

	parse(&event, line,
	      ": mts_stop: a=1 -70      [001] .....    12.345678: mts_job: job=7 name=12");
	CHECK(!strcmp(event.name, "mts_job"), "%s", event.name);
	expect_field(&event, 0, "job", "7", true);
	expect_field(&event, 1, "name", "12", false);

	parse(&event, line, CONTEXT "mts_job: job=7 name=a b=c: mts_stop: x=1");
	CHECK(event.n == 2, "%u fields", event.n);
	expect_field(&event, 1, "name", "a b=c: mts_stop: x=1", false);

	parse(&event, line, CONTEXT "mts_stop: reason=user detail=");
	expect_field(&event, 1, "detail", "", false);
}

static void check_bad(void)
{
	struct watch_event event;
	char line[512], many[1024] = CONTEXT "mts_many: ";
	int i;

	for (size_t k = 0; k < COUNT(bad); k++) {
		strcpy(line, bad[k]);
		CHECK(!watch_parse(line, &event), "%s", bad[k]);
	}
	for (i = 0; i < WATCH_FIELDS + 1; i++)
		sprintf(many + strlen(many), "%sf%d=1", i ? " " : "", i);
	CHECK(!watch_parse(many, &event), "%d fields", i);
}

static void check_lost(void)
{
	u64 lost = 0;

	CHECK(watch_parse_lost("CPU:3 [LOST 1234 EVENTS]", &lost) && lost == 1234, "%llu", lost);
	CHECK(!watch_parse_lost("CPU:3 [LOST 1234 EVENTS", &lost), "no end");
	CHECK(!watch_parse_lost("CPU:3 [LOST EVENTS]", &lost), "no number");
	CHECK(!watch_parse_lost("", &lost), "empty");
}

/* Lines with some bytes changed, in memory of their size: ASan sees any step beyond it. */
static void check_random(void)
{
	static const char model[] = CONTEXT "mts_evict: job=3 bin=1 asked_bytes=77 name=abc";
	static const char bytes[] = " :=.-[]0aZ_\xff\n";
	struct watch_event event;

	srand(1);
	for (int i = 0; i < 200000; i++) {
		size_t len = rand() % sizeof(model);
		char *line = malloc(len + 1);

		memcpy(line, model, len);
		line[len] = '\0';
		for (int k = rand() % 4; len && k; k--)
			line[rand() % len] = bytes[rand() % (sizeof(bytes) - 1)];
		if (watch_parse(line, &event))
			CHECK(event.n >= 1 && event.n <= WATCH_FIELDS, "%u fields", event.n);
		free(line);
	}
}

int main(void)
{
	check_good();
	check_call();
	check_names();
	check_bad();
	check_lost();
	check_random();
	if (failures)
		printf("%d checks failed\n", failures);
	return failures != 0;
}
