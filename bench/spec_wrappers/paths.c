// SPDX-License-Identifier: GPL-2.0
/*
 * Shortest paths in a random graph from a seed, by Dijkstra's algorithm, from
 * several sources: the stand-in for SPEC's graph codes (181.mcf, 429.mcf,
 * 505.mcf_r), which are known for their poor locality. Every arc leads anywhere
 * in memory.
 *
 * Written here because no Debian package is a small program that searches a
 * graph (or a game's tree) with memory of a chosen size: GNU Chess and Stockfish
 * bring opening books and networks larger than what they search in.
 */
#include <err.h>
#include <stdlib.h>

#include "random.h"
#include "run.h"
#include "work.h"

#define DEGREE 8u
#define FAR UINT32_MAX
#define MAX_VERTICES 50000000u
/* Vertices between two looks at the shared counter. */
#define BATCH 256u

static const char usage[] = "usage: paths [--seed N] [--runs N] VERTICES\n"
			    "\n"
			    "Finds the distances to all vertices of a graph from N sources (1).\n";

struct arc {
	uint32_t head;
	uint32_t length;
};

struct graph {
	uint32_t vertices;
	struct arc *arcs; /* DEGREE of each vertex, in sequence */
	uint32_t *distance;
	uint32_t *heap; /* of vertices, the nearest at 0 */
	uint32_t *place; /* of a vertex in the heap; FAR: not in it */
	uint32_t waiting; /* length of the heap */
};

static void make(struct graph *graph, uint64_t *random)
{
	for (uint32_t v = 0; v < graph->vertices; v++) {
		struct arc *arc = graph->arcs + (size_t)v * DEGREE;

		/* a ring, so that every vertex can be reached */
		arc[0] = (struct arc){ (v + 1) % graph->vertices, 1000 };
		for (unsigned int i = 1; i < DEGREE; i++)
			arc[i] = (struct arc){ (uint32_t)random_below(random, graph->vertices),
					       1 + (uint32_t)random_below(random, 1000) };
	}
}

static void put(struct graph *graph, uint32_t at, uint32_t vertex)
{
	graph->heap[at] = vertex;
	graph->place[vertex] = at;
}

static void sift_up(struct graph *graph, uint32_t at, uint32_t vertex)
{
	while (at && graph->distance[vertex] < graph->distance[graph->heap[(at - 1) / 2]]) {
		put(graph, at, graph->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(graph, at, vertex);
}

static uint32_t take_nearest(struct graph *graph)
{
	uint32_t nearest = graph->heap[0];
	uint32_t last = graph->heap[--graph->waiting];
	uint32_t at = 0;

	graph->place[nearest] = FAR;
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= graph->waiting)
			break;
		if (child + 1 < graph->waiting &&
		    graph->distance[graph->heap[child + 1]] < graph->distance[graph->heap[child]])
			child++;
		if (graph->distance[graph->heap[child]] >= graph->distance[last])
			break;
		put(graph, at, graph->heap[child]);
		at = child;
	}
	if (graph->waiting)
		put(graph, at, last);
	return nearest;
}

static void search(struct graph *graph, uint32_t source, struct work_slot *slot)
{
	uint32_t settled = 0;

	for (uint32_t v = 0; v < graph->vertices; v++) {
		graph->distance[v] = FAR;
		graph->place[v] = FAR;
	}
	graph->distance[source] = 0;
	graph->waiting = 1;
	put(graph, 0, source);
	while (graph->waiting) {
		uint32_t vertex = take_nearest(graph);
		const struct arc *arc = graph->arcs + (size_t)vertex * DEGREE;

		for (unsigned int i = 0; i < DEGREE; i++) {
			uint32_t head = arc[i].head;
			uint32_t distance = graph->distance[vertex] + arc[i].length;

			if (distance >= graph->distance[head])
				continue;
			if (graph->distance[head] == FAR)
				graph->place[head] = graph->waiting++;
			graph->distance[head] = distance;
			sift_up(graph, graph->place[head], head);
		}
		if (!(++settled % BATCH))
			work_add(slot, BATCH);
	}
	work_add(slot, settled % BATCH);
}

/* A distance that an arc would shorten, or that no arc explains, is wrong. */
static void verify(const struct graph *graph, uint32_t source)
{
	uint8_t *reached = run_calloc(graph->vertices, 1);

	reached[source] = 1;
	for (uint32_t v = 0; v < graph->vertices; v++) {
		const struct arc *arc = graph->arcs + (size_t)v * DEGREE;

		for (unsigned int i = 0; i < DEGREE; i++) {
			uint32_t through = graph->distance[v] + arc[i].length;

			if (through < graph->distance[arc[i].head])
				errx(EXIT_FAILURE, "wrong result: vertex %u is nearer",
				     arc[i].head);
			reached[arc[i].head] |= through == graph->distance[arc[i].head];
		}
	}
	for (uint32_t v = 0; v < graph->vertices; v++)
		if (!reached[v])
			errx(EXIT_FAILURE, "wrong result: no way to vertex %u is that short", v);
	free(reached);
}

int main(int argc, char **argv)
{
	struct run run = run_parse("paths", usage, MAX_VERTICES, argc, argv);
	struct graph graph = { .vertices = (uint32_t)run.size };
	struct work_slot *slot = work_join("paths", run.runs * run.size);

	graph.arcs = run_calloc(run.size * DEGREE, sizeof(*graph.arcs));
	graph.distance = run_calloc(run.size, sizeof(*graph.distance));
	graph.heap = run_calloc(run.size, sizeof(*graph.heap));
	graph.place = run_calloc(run.size, sizeof(*graph.place));
	make(&graph, &run.random);
	for (uint64_t i = 0; i < run.runs; i++) {
		uint32_t source = (uint32_t)random_below(&run.random, run.size);

		search(&graph, source, slot);
		verify(&graph, source);
	}
	return EXIT_SUCCESS;
}
