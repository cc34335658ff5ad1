/* Lowering: the code and its templates of references grow. */
#include <stdlib.h>
#include <string.h>

#include "ae/regen/lower_internal.h"

void
low_fail(struct low *l, const char *what)
{
	if (!l->c->err)
		l->c->err = what;
}

/* Makes room for n more elements. */
void *
low_room(struct low *l, void *p, uint32_t have, uint32_t n, uint32_t *cap, size_t size)
{
	size_t want = (size_t)have + n, c = *cap ? *cap : 256;
	void *q;

	if (want <= *cap)
		return p;
	while (c < want)
		c *= 2;
	q = c > INT32_MAX ? NULL : realloc(p, c * size);
	if (!q) {
		low_fail(l, "out of memory");
		return NULL;
	}
	*cap = (uint32_t)c;
	return q;
}

/* A new instruction; a dummy without memory. */
struct iop *
low_emit(struct low *l, unsigned op)
{
	static struct iop scratch;
	struct iop *p = low_room(l, l->c->op, l->c->nop, 1, &l->cap, sizeof *p);

	if (!p)
		return &scratch;
	l->c->op = p;
	p += l->c->nop++;
	memset(p, 0, sizeof *p);
	p->op = (uint8_t)op;
	return p;
}

/*
 * Instructions that refer to a word before p, or that need the number of words of the template that
 * follow, get their x when the template ends: until then x is the number of words before them.
 */
void
low_close(struct low *l)
{
	struct code *c = l->c;

	if (l->refs == LOW_NONE || c->err)
		return;
	for (uint32_t i = l->refs + 1; i < c->nop; i++) {
		struct iop *o = c->op + i;

		switch (o->op) {
		case CO_R1:
		case CO_R2:
		case CO_RG:
		case CO_RA:
		case CO_UNK8:
		case CO_UNK4:
		case CO_UNK1:
		case CO_UNKS:
		case CO_UNKG:
		case CO_UNK8B:
		case CO_UNK4B:
		case CO_UNKGB:
		case CO_COUNT:
		case CO_EVENT:
		case CO_MODEL:
		case CO_LOADRO:
			o->x = l->nref - o->x;
			break;
		default:
			break;
		}
	}
	l->refs = LOW_NONE;
	l->nref = 0;
}

/* Adds a word to the template. */
void
low_ref(struct low *l, uint64_t word)
{
	struct code *c = l->c;
	uint64_t *t;

	if (l->nref == CODE_ROOM)
		low_close(l);
	if (l->refs == LOW_NONE) {
		l->refs = c->nop;
		l->nref = 0;
		low_emit(l, CO_REFS)->x = c->ntab;
	}
	t = low_room(l, c->tab, c->ntab, 1, &l->tabcap, sizeof *t);
	if (!t)
		return;
	c->tab = t;
	t[c->ntab++] = word;
	l->nref++;
	c->op[l->refs].n = (uint16_t)l->nref;
}
