/* The parallelism of loops: the last read and the last write of each byte. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "sim/parallel_internal.h"

static inline struct access *
access_at(struct parallel *p, uint32_t i)
{
	return &p->chunk[i / ACCESS_CHUNK][i % ACCESS_CHUNK];
}

/* A new access by the instruction that is executed; 0: no memory. */
static uint32_t
access_new(struct parallel *p)
{
	uint32_t i = p->freeaccess;

	if (i) {
		p->freeaccess = access_at(p, i)->refs;
		return i;
	}
	if (p->naccess == UINT32_MAX)
		return 0;
	i = p->naccess + 1;
	if (i / ACCESS_CHUNK >= p->nchunk) {
		if (buf_grow(&p->chunk, &p->capchunk, p->nchunk + 1, sizeof *p->chunk) != 0)
			return 0;
		p->chunk[p->nchunk] = malloc(ACCESS_CHUNK * sizeof **p->chunk);
		if (!p->chunk[p->nchunk])
			return 0;
		p->nchunk++;
	}
	return p->naccess = i;
}

/* The access of the bytes was made by the instruction that is executed. */
static void
access_set(struct parallel *p, struct access *a)
{
	struct nest_level *l = &p->level[p->nlevel - 1];

	a->in = l->now;
	a->in->refs++;
	for (int k = 0; k < NCLOCKS; k++)
		a->at[k] = p->ninsn - 1 - l->zero[k];
	a->pc = p->pc;
}

static void
access_unref(struct parallel *p, uint32_t i)
{
	struct access *a = access_at(p, i);

	if (--a->refs)
		return;
	nest_unref(a->in);
	a->refs = p->freeaccess;
	p->freeaccess = i;
}

/* Are the n numbers at v the same? */
static inline int
alike(const uint32_t *v, unsigned n)
{
	return memcmp(v, v + 1, (n - 1) * sizeof *v) == 0;
}

/* This access is the last one of n bytes, whose last ones are at v. */
static void
access_replace(struct parallel *p, uint32_t *v, unsigned n)
{
	uint32_t i = v[0];
	struct access *a;

	if (i && alike(v, n) && access_at(p, i)->refs == n) {
		struct nest_iteration *old = access_at(p, i)->in;

		access_set(p, access_at(p, i));
		nest_unref(old);
		return;
	}
	i = access_new(p);
	if (!i) {
		p->failed = 1;
		return;
	}
	a = access_at(p, i);
	access_set(p, a);
	a->refs = n;
	for (unsigned k = 0; k < n; k++) {
		if (v[k])
			access_unref(p, v[k]);
		v[k] = i;
	}
}

/* The instruction depends on the last accesses of n bytes, which are at v. */
static inline void
access_depend(struct parallel *p, const uint32_t *v, unsigned n, enum parallel_kind kind)
{
	const struct nest_iteration *now = p->level[p->nlevel - 1].now;
	uint32_t last = 0;

	for (unsigned k = 0; k < n; k++)
		if (v[k] != last) {
			last = v[k];
			if (last && access_at(p, last)->in != now)
				nest_depend(p, access_at(p, last), kind);
		}
}

/* NULL: no memory */
static struct access_page *
page_find(struct parallel *p, uint64_t number)
{
	uint32_t h = hash_number(number), at = h, i;
	struct access_page *g;

	while ((i = hash_find(&p->pages, h, &at)) != HASH_NONE && p->page[i]->number != number)
		;
	if (i != HASH_NONE)
		return p->last = p->page[i];
	if (buf_grow(&p->page, &p->cappage, p->npage + 1, sizeof *p->page) != 0)
		return NULL;
	g = calloc(1, sizeof *g);
	if (!g || hash_add(&p->pages, h, (uint32_t)p->npage) != 0) {
		free(g);
		return NULL;
	}
	g->number = number;
	p->page[p->npage++] = g;
	return p->last = g;
}

/* Those of the size bytes at addr that are in its page: their number; *g and *at: where they are. */
static inline unsigned
memory_part(struct parallel *p, uint64_t addr, unsigned size, struct access_page **g, unsigned *at)
{
	*at = (unsigned)(addr % ACCESS_PAGE);
	*g = p->last && p->last->number == addr / ACCESS_PAGE ? p->last : page_find(p, addr / ACCESS_PAGE);
	if (!*g) {
		p->failed = 1;
		return 0;
	}
	return size < ACCESS_PAGE - *at ? size : ACCESS_PAGE - *at;
}

void
memory_read(struct parallel *p, uint64_t addr, unsigned size)
{
	struct access_page *g;
	unsigned at, n;

	for (; size && (n = memory_part(p, addr, size, &g, &at)) != 0; addr += n, size -= n) {
		access_depend(p, g->write + at, n, PARALLEL_FLOW);
		access_replace(p, g->read + at, n);
	}
}

void
memory_write(struct parallel *p, uint64_t addr, unsigned size)
{
	struct access_page *g;
	unsigned at, n;

	for (; size && (n = memory_part(p, addr, size, &g, &at)) != 0; addr += n, size -= n) {
		access_depend(p, g->read + at, n, PARALLEL_ANTI);
		access_depend(p, g->write + at, n, PARALLEL_OUTPUT);
		access_replace(p, g->write + at, n);
		for (unsigned k = 0; k < n; k++)
			if (g->read[at + k]) {
				access_unref(p, g->read[at + k]);
				g->read[at + k] = 0;
			}
	}
}

void
memory_free(struct parallel *p)
{
	for (size_t i = 0; i < p->npage; i++) {
		for (unsigned k = 0; k < ACCESS_PAGE; k++) {
			if (p->page[i]->write[k])
				access_unref(p, p->page[i]->write[k]);
			if (p->page[i]->read[k])
				access_unref(p, p->page[i]->read[k]);
		}
		free(p->page[i]);
	}
	free(p->page);
	hash_free(&p->pages);
	while (p->nchunk)
		free(p->chunk[--p->nchunk]);
	free(p->chunk);
}
