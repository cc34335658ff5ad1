/* Who an instance of the run is. */
#include <stdlib.h>

#include "base/buf.h"
#include "engine/wet/who.h"

#define SAME 0xffffffffu                /* as an atom: as the one before */

void
who_free(struct who *t)
{
	free(t->ent);
	free(t->idx);
	*t = (struct who){ 0 };
}

static int
add(struct who *t, uint32_t atom, uint32_t v, uint32_t len)
{
	if (buf_grow(&t->ent, &t->cap, t->n + 1, sizeof *t->ent) != 0 || buf_grow(&t->idx, &t->capidx, t->nidx + len / 32 + 2, sizeof *t->idx) != 0)
		return -1;
	for (; t->nidx * 32 < t->end + len; t->nidx++)
		t->idx[t->nidx] = (uint64_t)t->n << 8 | (t->nidx * 32 - t->end);
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

uint64_t
who(const struct who *t, const struct stmts *s, uint64_t n)
{
	if (n == 0 || n > t->end)
		return 0;
	for (n--;; n--) {
		uint64_t i = t->idx[n / 32] >> 8, e;
		uint32_t off = (uint32_t)(t->idx[n / 32] & 255) + (uint32_t)(n % 32);

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
		if (n == 0)
			return 0;
	}
}
