/* The table of instances: which statement was executed at a position of the run. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/search.h"
#include "wet/model/instances.h"

#define SAME 0xffffffffu                /* in place of an atom: the same as the instance before */
#define PART 16                         /* bits of a kept instance in who.low; the others are its part */

void
who_free(struct who *t)
{
	free(t->ent);
	free(t->idx);
	free(t->low);
	free(t->kept);
	free(t->part);
	*t = (struct who){ 0 };
}

static int
instances_add(struct who *t, uint32_t atom, uint32_t v, uint32_t len)
{
	uint64_t end = t->end - t->from;

	if (buf_grow(&t->ent, &t->cap, t->n + 1, sizeof *t->ent) != 0 ||
	    buf_grow(&t->idx, &t->capidx, t->nidx + len / 32 + 2, sizeof *t->idx) != 0)
		return -1;
	for (; t->nidx * 32 < end + len; t->nidx++)
		t->idx[t->nidx] = (uint64_t)t->n << 8 | (t->nidx * 32 - end);
	t->ent[t->n++] = (uint64_t)atom << 32 | v;
	t->end += len;
	return 0;
}

int
who_atom(struct who *t, uint32_t atom, uint32_t instance, uint32_t len)
{
	return instances_add(t, atom, instance, len);
}

int
who_same(struct who *t)
{
	return instances_add(t, SAME, 0, 1);
}

/* Looks up an instance before t->from, which was kept or is forgotten (0). */
static uint64_t
instances_kept(const struct who *t, uint64_t n)
{
	size_t i, from, many;

	if (n >> PART >= t->npart)
		return 0;
	from = t->part[n >> PART];
	many = t->part[(n >> PART) + 1] - from;
	LOWER_BOUND(i, many, t->low[from + i] < (uint16_t)n);
	return i < many && t->low[from + i] == (uint16_t)n ? t->kept[from + i] : 0;
}

uint64_t
instances_who(const struct who *t, const struct stmts *s, uint64_t n)
{
	if (n == 0 || n > t->end)
		return 0;
	for (; n > t->from; n--) {
		uint64_t k = n - 1 - t->from, i = t->idx[k / 32] >> 8, e;
		uint32_t off = (uint32_t)(t->idx[k / 32] & 255) + (uint32_t)(k % 32);

		for (;; i++) {
			uint32_t len;

			e = t->ent[i];
			len = e >> 32 == SAME ? 1 : s->atom[e >> 32].len;
			if (off < len)
				break;
			off -= len;
		}
		if (e >> 32 != SAME)
			return (uint64_t)s->stmt[s->atomstmt[s->atom[e >> 32].first + off]].id << 32 |
			    (uint32_t)e;
	}
	return instances_kept(t, n);
}

int
who_full(const struct who *t, uint64_t recent)
{
	return t->n >= recent && t->n >= t->nkept;
}

/*
 * The instances to be kept.  They are counted first: part[i + 1] is the number in part i.  Then
 * part[i] is where the next low bits of part i are stored in low.
 */
struct keep { size_t *part; uint16_t *low; };

static void
instances_number(void *arg, uint64_t n)
{
	((struct keep *)arg)->part[(n >> PART) + 1]++;
}

static void
instances_keep(void *arg, uint64_t n)
{
	struct keep *k = arg;

	k->low[k->part[n >> PART]++] = (uint16_t)n;
}

/*
 * Sorts each part of low and removes duplicates.  Before, part[i] is the end of part i; after, it
 * is its beginning.  Returns the number of instances.
 */
static size_t
in_order(struct keep *k, size_t npart)
{
	uint64_t bit[1 << PART >> 6] = { 0 };
	size_t n = 0, from = 0;

	for (size_t i = 0; i < npart; i++) {
		size_t end = k->part[i];

		k->part[i] = n;
		if (from == end)
			continue;
		for (; from < end; from++)
			bit[k->low[from] >> 6] |= UINT64_C(1) << (k->low[from] & 63);
		for (size_t w = 0; w < sizeof bit / sizeof *bit; w++)
			for (; bit[w]; bit[w] &= bit[w] - 1)
				k->low[n++] = (uint16_t)(w << 6 | (unsigned)__builtin_ctzll(bit[w]));
	}
	k->part[npart] = n;
	return n;
}

int
who_forget(struct who *t, const struct stmts *s, who_live_fn *live, void *arg)
{
	size_t npart = (size_t)(t->end >> PART) + 1, n;
	struct keep k = { .part = calloc(npart + 1, sizeof *k.part) };
	uint64_t *v;

	if (!k.part)
		return -1;
	instances_number(&k, t->end);
	live(arg, instances_number, &k);
	for (size_t i = 0; i < npart; i++)
		k.part[i + 1] += k.part[i];
	k.low = malloc(k.part[npart] * sizeof *k.low);
	if (k.low) {
		instances_keep(&k, t->end);
		live(arg, instances_keep, &k);
	}
	n = k.low ? in_order(&k, npart) : 0;
	v = malloc((n + 1) * sizeof *v);
	if (!k.low || !v) {
		free(k.part);
		free(k.low);
		free(v);
		return -1;
	}
	for (size_t p = 0; p < npart; p++)
		for (size_t i = k.part[p]; i < k.part[p + 1]; i++)
			v[i] = instances_who(t, s, (uint64_t)p << PART | k.low[i]);
	free(t->part);
	free(t->low);
	free(t->kept);
	t->part = k.part;
	t->low = k.low;
	t->kept = v;
	t->npart = npart;
	t->nkept = n;
	t->n = t->nidx = 0;
	t->from = t->end;
	return 0;
}
