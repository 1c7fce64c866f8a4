// SPDX-License-Identifier: GPL-2.0
/*
 * Radix exchange sort: pages whose highest bit is clear go before pages with that bit set. Each of
 * the two parts is sorted by the next bit, and so on. Pages that were evicted in order hardly move.
 *
 * The kernel's sort() is unsuitable: it is a heap sort, which calls a function for each comparison,
 * accesses the list at random, and cannot be aborted.
 */
#include "policy/swap_order.h"

/* Parts of at most this many pages are sorted by insertion, which is faster there. */
#define FEW 16u
/* Pages looked at between two calls of @go_on, about 50 us: a longer interval delays an abort. */
#define BREATH 4096u
#define MAX_BITS 64u

/*
 * Pages that differ in their lowest @bits bits only. A part starts where the one above it on the
 * stack ends.
 */
struct part {
	u32 end;
	u32 bits;
};

struct sorter {
	struct mts_swapped *pages;
	u64 differing; /* bits in which the places of any two pages differ */
	bool (*go_on)(void);
	u32 looks;
	bool over;
};

static void exchange(struct mts_swapped *a, struct mts_swapped *b)
{
	struct mts_swapped was = *a;

	*a = *b;
	*b = was;
}

static void look(struct sorter *s)
{
	if (!(++s->looks % BREATH) && !s->go_on())
		s->over = true;
}

/* Move pages with @bit behind pages without it. Return: index of the first page with @bit. */
static u32 split(struct sorter *s, u32 first, u32 end, u64 bit)
{
	struct mts_swapped *pages = s->pages;

	while (first < end && !s->over) {
		look(s);
		if (!(pages[first].place & bit))
			first++;
		else if (pages[end - 1].place & bit)
			end--;
		else
			exchange(&pages[first++], &pages[--end]);
	}
	return first;
}

static void insert_each(struct sorter *s, u32 first, u32 end)
{
	struct mts_swapped *pages = s->pages;
	u32 i, j;

	for (i = first; i < end && !s->over; i++) {
		look(s);
		for (j = i; j > first && pages[j].place < pages[j - 1].place; j--)
			exchange(&pages[j], &pages[j - 1]);
	}
}

static u64 differing(const struct mts_swapped *pages, u32 n)
{
	u64 bits = 0;
	u32 i;

	for (i = 1; i < n; i++)
		bits |= pages[i].place ^ pages[0].place;
	return bits;
}

/* Skip leading bits in which no pages differ. Return: number of bits left to sort by. */
static u32 skip_common(const struct sorter *s, u32 bits)
{
	while (bits && !(s->differing >> (bits - 1) & 1))
		bits--;
	return bits;
}

bool mts_swap_order(struct mts_swapped *pages, u32 n, bool (*go_on)(void))
{
	struct sorter s = { .pages = pages, .differing = differing(pages, n), .go_on = go_on };
	/* Each part on the stack is sorted by at least one bit less than the part below it. */
	struct part parts[MAX_BITS + 1] = { { .end = n, .bits = MAX_BITS } };
	u32 depth = 1, first = 0;

	while (depth && !s.over) {
		struct part *part = &parts[depth - 1];

		part->bits = skip_common(&s, part->bits);
		if (part->end - first <= FEW || !part->bits) {
			insert_each(&s, first, part->end);
			first = part->end;
			depth--;
			continue;
		}
		part->bits--;
		parts[depth++] = (struct part){
			.end = split(&s, first, part->end, 1ull << part->bits),
			.bits = part->bits,
		};
	}
	return !s.over;
}
