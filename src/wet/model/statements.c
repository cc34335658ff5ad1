/* Statements of a run, and the atoms that they form. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "wet/model/port.h"
#include "wet/model/statements.h"

#define ATOM_MAX 200u

/* Not a good hash on purpose: neighbours in the code are neighbours here, and looked up in sequence. */
static uint32_t *
statements_bucket(const struct stmts *t, uint64_t pc)
{
	return &t->hash[(size_t)(pc ^ pc >> 24) & (t->nhash - 1)];
}

static int
statements_rehash(struct stmts *t)
{
	size_t n = t->nhash ? t->nhash * 2 : 4096;
	uint32_t *h = malloc(n * sizeof *h);

	if (!h)
		return -1;
	free(t->hash);
	t->hash = h;
	t->nhash = n;
	memset(h, 0xff, n * sizeof *h);
	for (uint32_t i = 0; i < t->n; i++) {
		h = statements_bucket(t, t->stmt[i].pc);
		t->stmt[i].hnext = *h;
		*h = i;
	}
	return 0;
}

uint32_t
stmts_find(const struct stmts *t, const struct fact *f)
{
	uint32_t i = t->nhash ? *statements_bucket(t, f->pc) : STMT_NONE;

	for (; i != STMT_NONE; i = t->stmt[i].hnext)
		if (t->stmt[i].len == f->len && t->stmt[i].pc == f->pc &&
		    memcmp(t->stmt[i].b, f->b, f->len) == 0)
			break;
	return i;
}

/* Finds or makes the statement of an instruction.  STMT_NONE: no memory */
static uint32_t
stmt_of(struct stmts *t, const struct fact *f)
{
	uint32_t i = stmts_find(t, f), *h;
	struct wport p;
	struct stmt *s;

	if (i != STMT_NONE) {
		t->stmt[i].fact = f;
		return i;
	}
	if (t->n >= STMT_NONE / 2 || (t->n * 2 >= t->nhash && statements_rehash(t) != 0) ||
	    buf_grow(&t->stmt, &t->cap, t->n + 1, sizeof *t->stmt) != 0)
		return STMT_NONE;
	s = &t->stmt[t->n];
	wport_of(f, &p);
	*s = (struct stmt){
		.pc = f->pc, .fact = f, .prev = STMT_NONE, .next = STMT_NONE, .atom = STMT_NONE,
		.nuse = p.nuse, .nmem = p.nmem, .val = p.val, .nval = p.nval, .any = p.any, .len = f->len
	};
	memcpy(s->b, f->b, f->len);
	if (!t->in || t->in(t->arg, f->pc))
		s->id = ++t->nid;
	h = statements_bucket(t, f->pc);
	s->hnext = *h;
	*h = (uint32_t)t->n;
	return (uint32_t)t->n++;
}

/*
 * Notes that p is the neighbour of s in a block: before it if side is 1, after it if 2; STMT_NONE: s
 * is at the block's end there.  A statement with different neighbours in two blocks has none.
 */
static void
link_to(struct stmts *t, uint32_t s, uint32_t p, unsigned side)
{
	struct stmt *v = &t->stmt[s];
	uint32_t *to = side == 1 ? &v->prev : &v->next;

	if (!(v->joined & side))
		*to = p;
	else if (*to != p)
		*to = STMT_NONE;
	v->joined |= (uint8_t)side;
}

const struct stmt_block *
stmts_block(struct stmts *t, const struct visit_run *r)
{
	uint32_t h = hash_number((uint64_t)(uintptr_t)r->at + r->ninsn), slot = h, i, *v;

	while ((i = hash_find(&t->by_at, h, &slot)) != HASH_NONE)
		if (t->block[i].at == r->at && t->block[i].n == r->ninsn)
			return &t->block[i];
	if (buf_grow(&t->block, &t->capblock, t->nblock + 1, sizeof *t->block) != 0 ||
	    (v = malloc(r->ninsn * sizeof *v)) == NULL)
		return NULL;
	for (i = 0; i < r->ninsn; i++)
		if ((v[i] = stmt_of(t, r->at[i].fact)) == STMT_NONE) {
			free(v);
			return NULL;
		}
	for (i = 0; i < r->ninsn; i++) {
		link_to(t, v[i], i ? v[i - 1] : STMT_NONE, 1);
		link_to(t, v[i], i + 1u < r->ninsn ? v[i + 1] : STMT_NONE, 2);
	}
	if (hash_add(&t->by_at, h, (uint32_t)t->nblock) != 0) {
		free(v);
		return NULL;
	}
	t->block[t->nblock] = (struct stmt_block){ r->at, r->ninsn, v, (uint32_t)t->nblock };
	return &t->block[t->nblock++];
}

void
stmts_forget(struct stmts *t)
{
	for (size_t i = 0; i < t->nblock; i++)
		free(t->block[i].stmt);
	free(t->block);
	t->block = NULL;
	t->nblock = t->capblock = 0;
	hash_free(&t->by_at);
	for (size_t i = 0; i < t->n; i++)
		t->stmt[i].fact = NULL;
}

void
stmts_free(struct stmts *t)
{
	stmts_forget(t);
	free(t->stmt);
	free(t->hash);
	free(t->atom);
	free(t->atomstmt);
	*t = (struct stmts){ 0 };
}

/* Does an atom begin with s? */
static int
statements_leads(const struct stmts *t, uint32_t s)
{
	uint32_t p = t->stmt[s].prev;

	return p == STMT_NONE || t->stmt[p].next != s || !t->stmt[p].id;
}

int
stmts_atoms(struct stmts *t)
{
	uint32_t at = 0;

	if ((t->atomstmt = malloc((t->n + 1) * sizeof *t->atomstmt)) == NULL)
		return -1;
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t s = i;

		while (s != STMT_NONE && t->stmt[s].id && t->stmt[s].atom == STMT_NONE &&
		    (s != i || statements_leads(t, s))) {
			struct stmt_atom *a;

			if (buf_grow(&t->atom, &t->capatom, t->natom + 1, sizeof *t->atom) != 0)
				return -1;
			a = &t->atom[t->natom];
			*a = (struct stmt_atom){ at, 0, 0 };
			do {
				t->stmt[s].atom = (uint32_t)t->natom;
				t->stmt[s].off = a->len++;
				t->atomstmt[at++] = s;
				s = t->stmt[s].next;
			} while (s != STMT_NONE && t->stmt[s].id && !statements_leads(t, s) &&
			    a->len < ATOM_MAX);
			t->natom++;
			if (s != STMT_NONE && statements_leads(t, s))
				s = STMT_NONE;
		}
	}
	return 0;
}
