// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "check.h"
#include "context/virtual/machine.h"
#include "world.h"

static const char usage[] =
	"usage: rotor [--seed N] [--runs N] [--switches N] [--each N] [--weights] [--log] [--coverage]\n"
	"       rotor --case NAME [--seed N] [--log]\n"
	"       rotor --cases\n"
	"\n"
	"Runs the rotor, the freezer and the fail-safe on a virtual clock, and checks the\n"
	"invariants of the design after each step.\n"
	"\n"
	"--seed N      seed of the first run (1); each further run takes the next number\n"
	"--runs N      at most N runs (no limit)\n"
	"--switches N  stop after N switches in all (1000)\n"
	"--each N      switches per run (500)\n"
	"--weights     jobs have weights and users, too, which are drawn apart from all else\n"
	"--log         print the log of the last run\n"
	"--coverage    print which states, events and mishaps the runs covered\n"
	"--case NAME   run a case of cases.c\n"
	"--cases       print the names of all cases\n"
	"\n"
	"exit status: 0; 1: an invariant is broken, see the log and the command that repeats the\n"
	"run; 2: usage\n";

static struct options {
	u64 seed;
	u64 runs;
	u64 switches;
	u64 each;
	bool weights;
	bool log;
	bool coverage;
	const char *one;
	bool list;
} options = { .seed = 1, .runs = U64_MAX, .switches = 1000, .each = 500 };

/*
 * Coverage, summed up by child processes. Each run has a process of its own, so that the module
 * starts with fresh statics.
 */
static struct coverage *shared;

void mts_user_bug(const char *file, int line, const char *format, ...)
{
	const char *base = strrchr(file, '/');
	va_list args;

	machine_print_log(stdout);
	printf("BROKEN: %s:%d: ", base ? base + 1 : file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	_exit(1);
}

static u64 number(const char *text, const char *name)
{
	char *end;
	u64 value = strtoull(text ?: "", &end, 10);

	if (!text || end == text || *end || *text == '-') {
		fprintf(stderr, "rotor: %s: not a number: %s\n%s", name, text ?: "", usage);
		exit(2);
	}
	return value;
}

static void parse(char **argv)
{
	while (*++argv) {
		if (!strcmp(*argv, "--seed")) {
			options.seed = number(*++argv, "--seed");
		} else if (!strcmp(*argv, "--runs")) {
			options.runs = number(*++argv, "--runs");
		} else if (!strcmp(*argv, "--switches")) {
			options.switches = number(*++argv, "--switches");
		} else if (!strcmp(*argv, "--each")) {
			options.each = number(*++argv, "--each");
		} else if (!strcmp(*argv, "--weights")) {
			options.weights = true;
		} else if (!strcmp(*argv, "--log")) {
			options.log = true;
		} else if (!strcmp(*argv, "--coverage")) {
			options.coverage = true;
		} else if (!strcmp(*argv, "--cases")) {
			options.list = true;
		} else if (!strcmp(*argv, "--case") && argv[1]) {
			options.one = *++argv;
		} else {
			fprintf(stderr, "rotor: %s?\n%s", *argv, usage);
			exit(2);
		}
	}
}

static void run_in_child(u64 seed)
{
	coverage = *shared;
	if (options.one)
		cases_run(options.one, seed);
	else
		world_run(seed, options.each, options.weights);
	*shared = coverage;
	if (options.log) {
		machine_print_log(stdout);
		printf("hash %016llx\n", (unsigned long long)machine_hash());
		fflush(stdout);
	}
	exit(0); /* lets the leak sanitizer check */
}

/*
 * Return: did the run pass?
 */
static bool run(u64 seed)
{
	pid_t pid = fork();
	int status;

	if (pid < 0) {
		perror("rotor: fork");
		exit(2);
	}
	if (!pid)
		run_in_child(seed);
	waitpid(pid, &status, 0);
	if (!status)
		return true;
	if (options.one)
		return false;
	printf("repeat: rotor --seed %llu --runs 1 --each %llu%s\n", (unsigned long long)seed,
	       (unsigned long long)options.each, options.weights ? " --weights" : "");
	return false;
}

int main(int argc, char **argv)
{
	u64 i;

	(void)argc;
	parse(argv);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED) {
		perror("rotor: mmap");
		return 2;
	}
	if (options.list) {
		cases_print(stdout);
		return 0;
	}
	if (options.one)
		return run(options.seed) ? 0 : 1;
	for (i = 0; i < options.runs && shared->switches < options.switches; i++)
		if (!run(options.seed + i))
			return 1;
	coverage = *shared;
	printf("%llu switches in %llu runs, %llu s of virtual time, %llu turns of threads\n",
	       (unsigned long long)coverage.switches, (unsigned long long)coverage.runs,
	       (unsigned long long)(coverage.ns / NSEC_PER_SEC),
	       (unsigned long long)coverage.turns);
	if (options.coverage)
		check_print(stdout);
	return 0;
}
