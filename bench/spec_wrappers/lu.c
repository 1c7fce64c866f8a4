// SPDX-License-Identifier: GPL-2.0
/*
 * LU decomposition with partial pivoting of a dense matrix from a seed, and the
 * solution of one system, which is checked: the stand-in for SPEC's matrix codes
 * (173.applu, 171.swim). Its memory is one matrix, which every step sweeps over
 * from the pivot to the end, row by row.
 *
 * Written here because Debian's LU codes are libraries (LAPACK) below large
 * interpreters.
 */
#include <err.h>
#include <math.h>
#include <stdlib.h>

#include "random.h"
#include "run.h"
#include "work.h"

#define MAX_ORDER 16384u
#define TOLERANCE 1e-6

static const char usage[] = "usage: lu [--seed N] [--runs N] ORDER\n"
			    "\n"
			    "Decomposes a matrix of ORDER x ORDER doubles, N times (1).\n";

struct system {
	unsigned int order;
	double *matrix; /* rows in sequence */
	double *right; /* side; becomes the solution */
};

static double uniform(uint64_t *random)
{
	return (double)(random_next(random) >> 11) * 0x1p-53 - 0.5;
}

/* The solution is a vector of ones: the right side is the sums of the rows. */
static void make(struct system *system, uint64_t *random)
{
	unsigned int order = system->order;

	for (unsigned int i = 0; i < order; i++) {
		double *row = system->matrix + (size_t)i * order;

		system->right[i] = 0;
		for (unsigned int j = 0; j < order; j++) {
			row[j] = uniform(random);
			system->right[i] += row[j];
		}
	}
}

static void swap_rows(struct system *system, unsigned int a, unsigned int b)
{
	double *first = system->matrix + (size_t)a * system->order;
	double *second = system->matrix + (size_t)b * system->order;
	double value;

	for (unsigned int j = 0; a != b && j < system->order; j++) {
		value = first[j];
		first[j] = second[j];
		second[j] = value;
	}
	value = system->right[a];
	system->right[a] = system->right[b];
	system->right[b] = value;
}

static unsigned int find_pivot(const struct system *system, unsigned int step)
{
	unsigned int order = system->order, best = step;

	for (unsigned int i = step + 1; i < order; i++)
		if (fabs(system->matrix[(size_t)i * order + step]) >
		    fabs(system->matrix[(size_t)best * order + step]))
			best = i;
	if (system->matrix[(size_t)best * order + step] == 0)
		errx(EXIT_FAILURE, "the matrix is singular");
	return best;
}

/* Counted in multiplications, which is what the steps differ by. */
static void decompose(struct system *system, struct work_slot *slot)
{
	unsigned int order = system->order;

	for (unsigned int step = 0; step < order; step++) {
		const double *pivot = system->matrix + (size_t)step * order;

		swap_rows(system, step, find_pivot(system, step));
		for (unsigned int i = step + 1; i < order; i++) {
			double *row = system->matrix + (size_t)i * order;
			double factor = row[step] / pivot[step];

			row[step] = factor;
			for (unsigned int j = step + 1; j < order; j++)
				row[j] -= factor * pivot[j];
			system->right[i] -= factor * system->right[step];
		}
		work_add(slot, (uint64_t)(order - step) * (order - step));
	}
}

static void solve(struct system *system)
{
	unsigned int order = system->order;

	for (unsigned int i = order; i-- > 0;) {
		const double *row = system->matrix + (size_t)i * order;

		for (unsigned int j = i + 1; j < order; j++)
			system->right[i] -= row[j] * system->right[j];
		system->right[i] /= row[i];
	}
	for (unsigned int i = 0; i < order; i++)
		if (!(fabs(system->right[i] - 1) < TOLERANCE))
			errx(EXIT_FAILURE, "wrong result: x[%u] is %.17g, not 1", i,
			     system->right[i]);
}

static uint64_t multiplications(uint64_t order)
{
	return order * (order + 1) * (2 * order + 1) / 6;
}

int main(int argc, char **argv)
{
	struct run run = run_parse("lu", usage, MAX_ORDER, argc, argv);
	struct system system = { .order = (unsigned int)run.size };
	struct work_slot *slot = work_join("lu", run.runs * multiplications(run.size));

	system.matrix = run_calloc(run.size * run.size, sizeof(double));
	system.right = run_calloc(run.size, sizeof(double));
	for (uint64_t i = 0; i < run.runs; i++) {
		make(&system, &run.random);
		decompose(&system, slot);
		solve(&system);
	}
	return EXIT_SUCCESS;
}
