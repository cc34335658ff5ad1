/* ws2wet: statements, and which are always executed together. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "ws2wet.h"

_Noreturn void
job_nomem(void)
{
	die("no memory");
}

static uint32_t *
bucket(struct job *j, uint64_t pc)
{
	return &j->hash[(size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (j->nhash - 1)];
}

static void
rehash(struct job *j)
{
	j->nhash = j->nhash ? j->nhash * 2 : 4096;
	j->hash = xreallocarray(j->hash, j->nhash, sizeof *j->hash);
	memset(j->hash, 0xff, j->nhash * sizeof *j->hash);
	for (uint32_t i = 0; i < j->nstmt; i++) {
		uint32_t *h = bucket(j, j->stmt[i].pc);

		j->stmt[i].hnext = *h;
		*h = i;
	}
}

uint32_t
stmt_of(struct job *j, const struct fact *f)
{
	uint32_t i = j->nhash ? *bucket(j, f->pc) : NONE, *h;
	struct wport p;
	struct stmt *s;

	for (; i != NONE; i = j->stmt[i].hnext)
		if (j->stmt[i].pc == f->pc && j->stmt[i].len == f->len && memcmp(j->stmt[i].b, f->b, f->len) == 0)
			return i;
	if (j->nstmt >= NONE / 2)
		die("too many statements");
	if (j->nstmt * 2 >= j->nhash)
		rehash(j);
	j->stmt = xgrow(j->stmt, &j->capstmt, j->nstmt + 1, sizeof *j->stmt);
	s = &j->stmt[j->nstmt];
	wport_of(f, &p);
	*s = (struct stmt){ .pc = f->pc, .prev = NONE, .next = NONE, .len = f->len, .nuse = p.nuse, .nmem = p.nmem, .any = p.any, .val = p.val, .nval = p.nval };
	memcpy(s->b, f->b, f->len);
	h = bucket(j, f->pc);
	s->hnext = *h;
	*h = (uint32_t)j->nstmt;
	return (uint32_t)j->nstmt++;
}

static struct blk *
place(const struct blks *b, const struct visit_at *at, uint32_t n)
{
	size_t i = (size_t)(((uint64_t)(uintptr_t)at + n) * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	while (b->slot[i & (b->nslot - 1)].at && (b->slot[i & (b->nslot - 1)].at != at || b->slot[i & (b->nslot - 1)].n != n))
		i++;
	return &b->slot[i & (b->nslot - 1)];
}

/* The block of a run (or a part of one): with its statements */
struct blk *
blk_of(struct job *j, struct blks *b, const struct visit_run *r)
{
	struct blk *k = b->nslot ? place(b, r->at, r->ninsn) : NULL;

	if (k && k->at)
		return k;
	if (b->n * 2 >= b->nslot) {
		struct blks old = *b;

		b->nslot = b->nslot ? b->nslot * 2 : 4096;
		b->slot = xcalloc(b->nslot, sizeof *b->slot);
		for (size_t i = 0; i < old.nslot; i++)
			if (old.slot[i].at)
				*place(b, old.slot[i].at, old.slot[i].n) = old.slot[i];
		free(old.slot);
	}
	k = place(b, r->at, r->ninsn);
	b->n++;
	k->at = r->at;
	k->n = r->ninsn;
	k->stmt = xcalloc(r->ninsn, sizeof *k->stmt);
	for (uint32_t i = 0; i < r->ninsn; i++)
		k->stmt[i] = stmt_of(j, r->at[i].fact);
	return k;
}

void
blks_free(struct blks *b)
{
	for (size_t i = 0; i < b->nslot; i++) {
		free(b->slot[i].stmt);
		free(b->slot[i].want);
	}
	free(b->slot);
	*b = (struct blks){ 0 };
}

/* Before s there is p: always, so far; p NONE: the beginning of a block */
static void
before(struct job *j, uint32_t s, uint32_t p)
{
	struct stmt *v = &j->stmt[s];

	if (!(v->joined & 1))
		v->prev = p;
	else if (v->prev != p)
		v->prev = NONE;
	v->joined |= 1;
}

static void
behind(struct job *j, uint32_t s, uint32_t n)
{
	struct stmt *v = &j->stmt[s];

	if (!(v->joined & 2))
		v->next = n;
	else if (v->next != n)
		v->next = NONE;
	v->joined |= 2;
}

void
stmt_link(struct job *j, const struct blk *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		before(j, b->stmt[i], i ? b->stmt[i - 1] : NONE);
		behind(j, b->stmt[i], i + 1 < b->n ? b->stmt[i + 1] : NONE);
	}
}

static int
leads(const struct job *j, uint32_t s)
{
	uint32_t p = j->stmt[s].prev;

	return p == NONE || j->stmt[p].next != s || !j->stmt[p].id;
}

void
job_atoms(struct job *j)
{
	uint32_t at = 0;

	j->byid = xcalloc((size_t)j->nid + 1, sizeof *j->byid);
	j->atomstmt = xcalloc((size_t)j->nid + 1, sizeof *j->atomstmt);
	for (uint32_t s = 0; s < j->nstmt; s++)
		if (j->stmt[s].id)
			j->byid[j->stmt[s].id - 1] = s;
	for (uint32_t i = 0; i < j->nid; i++) {
		uint32_t s = j->byid[i];
		struct atom *a;

		if (!leads(j, s))
			continue;
		j->atom = xgrow(j->atom, &j->capatom, j->natom + 1, sizeof *j->atom);
		a = &j->atom[j->natom];
		*a = (struct atom){ at, 0, 0 };
		do {
			j->stmt[s].atom = (uint32_t)j->natom;
			j->stmt[s].off = a->len++;
			j->atomstmt[at++] = s;
			s = j->stmt[s].next;
		} while (s != NONE && j->stmt[s].id && !leads(j, s) && a->len < 200);
		j->natom++;
		if (s != NONE && j->stmt[s].id && !leads(j, s))
			j->stmt[s].prev = NONE;         /* too long: another begins */
	}
}
