/* Trimming: which pages of memory came from a store, so that the smaller capture refers to them, too. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "replay/trim/trim_internal.h"

/* The page's index in t->page, or HASH_NONE. */
static uint32_t
stored_index(const struct trim_stored *t, uint64_t no)
{
	uint32_t h = hash_number(no), at = h, i;

	while ((i = hash_find(&t->table, h, &at)) != HASH_NONE && t->page[i].no != no)
		;
	return i;
}

static int
stored_page(struct trim_stored *t, uint64_t no, uint32_t from)
{
	uint32_t i = stored_index(t, no);

	if (i == HASH_NONE) {
		if (t->n >= HASH_NONE || buf_grow(&t->page, &t->cap, t->n + 1, sizeof *t->page) < 0 ||
		    hash_add(&t->table, hash_number(no), (uint32_t)t->n) < 0)
			return -1;
		i = (uint32_t)t->n++;
	}
	t->page[i] = (struct trim_stored_page){ .no = no, .from = from };
	return 0;
}

int
trim_stored_fits(const struct ws_rec_mem *m)
{
	return !(m->addr % MEM_PAGE) && !(m->n % MEM_PAGE);
}

int
trim_stored_add(struct trim_stored *t, const struct ws_rec_mem *m, const struct ws_stored *s)
{
	if (buf_grow(&t->from, &t->capfrom, t->nfrom + 1, sizeof *t->from) < 0)
		return -1;
	t->from[t->nfrom] = (struct trim_stored_from){ .addr = m->addr, .p = m->p, .stored = *s };
	for (size_t i = 0; i < m->n / MEM_PAGE; i++)
		if (stored_page(t, m->addr / MEM_PAGE + i, (uint32_t)t->nfrom) != 0)
			return -1;
	t->nfrom++;
	return 0;
}

int
trim_stored_same(const struct trim_stored *t, struct replay *r, uint64_t no, struct ws_stored *s)
{
	uint32_t i = stored_index(t, no);
	const struct trim_stored_from *from;
	uint8_t b[MEM_PAGE];
	uint64_t off;

	if (i == HASH_NONE)
		return 0;
	from = &t->from[t->page[i].from];
	off = no * MEM_PAGE - from->addr;
	*s = from->stored;
	s->at += (uint32_t)(off / MEM_PAGE);
	return replay_read(r, no * MEM_PAGE, b, MEM_PAGE) == MEM_PAGE && memcmp(b, from->p + off, MEM_PAGE) == 0;
}

void
trim_stored_free(struct trim_stored *t)
{
	free(t->page);
	free(t->from);
	hash_free(&t->table);
}
