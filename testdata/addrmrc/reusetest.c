/* Reuse distances (sim/reuse.h) against a list that is searched, on references of several patterns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/ref/ref.h"
#include "sim/reuse.h"

#define LINES 6000u
#define SHIFT 4u                /* lines of 16 bytes */
#define MOST  (6 * LINES)      /* a reference may reach into 5 more */

static uint64_t list[MOST + 1], seen[MOST + 1], cold, accesses;
static size_t nlist;
static uint64_t state = 1;

static unsigned
random_below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

/* Moves the line to the front of the list, and counts its place before. */
static void
list_take(uint64_t line)
{
	size_t k = 0, old = nlist;

	while (k < old && list[k] != line)
		k++;
	nlist += k == old;
	memmove(list + 1, list, k * sizeof *list);
	list[0] = line;
	accesses++;
	if (k == old)
		cold++;
	else
		seen[k]++;
}

/* The next reference: to its last line it may reach over the end of the first one. */
static uint64_t
next(unsigned pattern, unsigned lines, unsigned i)
{
	static const unsigned sizes[] = { 1, 4, 8, 8, 16, 32, 64 };
	unsigned size = sizes[random_below(7)], kind = random_below(4);
	uint64_t line = pattern == 0 ? random_below(lines) : pattern == 1 ? i % lines :
	    random_below(1 + random_below(lines));
	uint64_t addr = (line << SHIFT) + random_below(1u << SHIFT);

	if (pattern == 2)               /* far apart, and in the upper half of the addresses */
		addr = line * UINT64_C(0x3000001000) % (UINT64_C(1) << 46) | UINT64_C(0xffff800000000000);
	if (kind == REF_INST)           /* these do not count */
		return ref_make(REF_INST, addr, size);
	for (uint64_t at = addr >> SHIFT; at <= (addr + size - 1) >> SHIFT; at++)
		list_take(at);
	return ref_make(kind, addr, size);
}

static int
same_counts(const struct reuse_counts *c)
{
	for (size_t k = 0; k <= MOST; k++)
		if ((k < c->n ? c->hist[k] : 0) != seen[k])
			return 0;
	return c->accesses == accesses && c->lines == cold;
}

static int
compare(unsigned pattern, unsigned lines, unsigned n)
{
	struct reuse *r = reuse_new(SHIFT, 1u << REF_LOAD | 1u << REF_STORE | 1u << REF_MODIFY);
	uint64_t batch[700];
	struct reuse_counts c;
	int good = r != NULL;

	memset(seen, 0, sizeof seen);
	nlist = 0;
	cold = accesses = 0;
	for (unsigned i = 0; i < n && good;) {
		size_t k = 0, most = 1 + random_below(700);

		while (k < most && i < n)
			batch[k++] = next(pattern, lines, i++);
		good = reuse_take(r, batch, k) == 0;
	}
	if (good) {
		reuse_counts(r, &c);
		good = same_counts(&c);
	}
	reuse_free(r);
	return good;
}

int
main(void)
{
	static const char *const pattern[] = { "random", "in a circle", "near ones more often, high addresses" };
	int n = 0, bad = 0;

	for (unsigned p = 0; p < 3; p++)
		for (unsigned lines = 1; lines <= LINES - 10; lines = lines * 3 + 7) {
			int good = compare(p, lines, lines < 300 ? 120000 : 30000);

			printf("%sok %d - %u lines, %s\n", good ? "" : "not ", ++n, lines, pattern[p]);
			bad |= !good;
		}
	return bad;
}
