// SPDX-License-Identifier: GPL-2.0
/*
 * Matrices of doubles. The values are small whole numbers at the beginning, the sums are made in
 * one fixed order, and neither pattern divides by what could be 0: the result is the same to the
 * bit in every run of one binary.
 */
#include "patterns.h"

#include <string.h>
#include <sys/mman.h>

static uint64_t bits(double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

/* The largest n of which `count` matrices of n times n have room. */
static uint64_t order(uint64_t bytes, uint64_t count)
{
	uint64_t n = 1;

	while (count * (n + 1) * (n + 1) * sizeof(double) <= bytes)
		n++;
	return n;
}

/* From -8 to 7, and 100 more for each row on the diagonal if it is to dominate. */
static void fill(struct run *run, double *matrix, uint64_t n, double diagonal)
{
	for (uint64_t row = 0; row < n; row++) {
		for (uint64_t column = 0; column < n; column++)
			matrix[row * n + column] = (double)random_below(&run->random, 16) - 8.0;
		matrix[row * n + row] += diagonal;
	}
}

/* Counts elements that were worked on, by pages of them. */
static void did_elements(struct run *run, uint64_t *elements, uint64_t more)
{
	*elements += more;
	run_did(run, *elements / PAGE_WORDS);
	*elements %= PAGE_WORDS;
}

/*
 * LU factorisation, row by row from the top (k-i-j): each step subtracts multiples of the pivot's
 * row from all rows below, which is a sweep over the rest of the matrix. The next matrix gets
 * fresh memory, so that the resident set climbs again.
 */
static void run_lu(struct run *run)
{
	uint64_t n = order(run->size, 1);
	uint64_t elements = 0;

	while (!run_over(run)) {
		double *matrix = run_memory(n * n * sizeof(*matrix));

		fill(run, matrix, n, 16.0 * (double)n);
		for (uint64_t k = 0; k + 1 < n && !run_over(run); k++) {
			const double *pivot = matrix + k * n;

			for (uint64_t i = k + 1; i < n && !run_over(run); i++) {
				double *row = matrix + i * n;
				double factor = row[k] / pivot[k];

				row[k] = factor;
				for (uint64_t j = k + 1; j < n; j++)
					row[j] -= factor * pivot[j];
				did_elements(run, &elements, n - k);
			}
			run_check(run, bits(pivot[n - 1]) ^ bits(pivot[k]));
		}
		for (uint64_t row = 0; row < n; row++)
			run_check(run, bits(matrix[row * n]));
		munmap(matrix, n * n * sizeof(*matrix));
	}
}

/*
 * Matrix multiplication, i-k-j: a row of the product is a sweep over all of the second factor.
 * The product becomes the sum of as many multiplications as there is work for.
 */
static void run_mm(struct run *run)
{
	uint64_t n = order(run->size, 3);
	double *a = run_memory(3 * n * n * sizeof(*a));
	double *b = a + n * n, *c = b + n * n;
	uint64_t elements = 0;

	fill(run, a, n, 0);
	fill(run, b, n, 0);
	memset(c, 0, n * n * sizeof(*c));
	while (!run_over(run)) {
		for (uint64_t i = 0; i < n && !run_over(run); i++) {
			double *row = c + i * n;

			for (uint64_t k = 0; k < n && !run_over(run); k++) {
				double factor = a[i * n + k];

				for (uint64_t j = 0; j < n; j++)
					row[j] += factor * b[k * n + j];
				did_elements(run, &elements, n);
			}
			run_check(run, bits(row[i]));
		}
	}
}

const struct pattern pattern_lu = {
	.name = "lu",
	.what = "LU factorisation of matrices, one after the other: sweeps that get shorter",
	.run = run_lu,
};

const struct pattern pattern_mm = {
	.name = "mm",
	.what = "matrix multiplication: one factor is swept for every row of the product",
	.run = run_mm,
};
