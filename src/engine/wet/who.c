/* Who an instance of the run is. */
#include <stdlib.h>

#include "base/buf.h"
#include "engine/wet/who.h"

#define SAME   0xffffffffu              /* as an atom: as the one before */

void
who_free(struct who *t)
{
	free(t->ent);
	free(t->idx);
	free(t->old);
	*t = (struct who){ 0 };
}

static int
add(struct who *t, uint32_t atom, uint32_t v, uint32_t len)
{
	uint64_t end = t->end - t->from;

	if (buf_grow(&t->ent, &t->cap, t->n + 1, sizeof *t->ent) != 0 || buf_grow(&t->idx, &t->capidx, t->nidx + len / 32 + 2, sizeof *t->idx) != 0)
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
	return add(t, atom, instance, len);
}

int
who_same(struct who *t)
{
	return add(t, SAME, 0, 1);
}

static struct who_old *
slot(struct who_old *old, size_t nslot, uint64_t n)
{
	size_t i = (size_t)(n * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	while (old[i & (nslot - 1)].n && old[i & (nslot - 1)].n != n)
		i++;
	return &old[i & (nslot - 1)];
}

uint64_t
who(const struct who *t, const struct stmts *s, uint64_t n)
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
			return (uint64_t)s->stmt[s->atomstmt[s->atom[e >> 32].first + off]].id << 32 | (uint32_t)e;
	}
	return n && t->nslot ? slot(t->old, t->nslot, n)->who : 0;
}

int
who_full(const struct who *t, uint64_t recent)
{
	return t->n >= recent && t->n >= 2 * t->nold;
}

/* What is kept, in the making */
struct keep {
	const struct who *t;
	const struct stmts *s;
	struct who_old *old;
	size_t nold, nslot;
	int nomem;
};

static void
keep(void *arg, uint64_t n)
{
	struct keep *k = arg;
	struct who_old *o;

	if (n == 0 || k->nomem)
		return;
	if (k->nold * 3 >= k->nslot * 2) {
		size_t nslot = k->nslot ? k->nslot * 2 : 4096;
		struct who_old *old = calloc(nslot, sizeof *old);

		if (!old) {
			k->nomem = 1;
			return;
		}
		for (size_t i = 0; i < k->nslot; i++)
			if (k->old[i].n)
				*slot(old, nslot, k->old[i].n) = k->old[i];
		free(k->old);
		k->old = old;
		k->nslot = nslot;
	}
	o = slot(k->old, k->nslot, n);
	if (o->n)
		return;
	*o = (struct who_old){ n, who(k->t, k->s, n) };
	k->nold++;
}

int
who_forget(struct who *t, const struct stmts *s, who_live_fn *live, void *arg)
{
	struct keep k = { .t = t, .s = s };

	keep(&k, t->end);
	live(arg, keep, &k);
	if (k.nomem) {
		free(k.old);
		return -1;
	}
	free(t->old);
	t->old = k.old;
	t->nold = k.nold;
	t->nslot = k.nslot;
	t->n = t->nidx = 0;
	t->from = t->end;
	return 0;
}
