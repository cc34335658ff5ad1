/* Hash tables: linear probing, twice as many slots when half of them are in use. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/hash.h"

#define LEAST 64u       /* slots; a power of 2 */

/* FNV-1a, whose low bits are mixed with the high ones */
uint32_t
hash_bytes(const char *s, size_t n)
{
	uint32_t h = 2166136261u;

	while (n--)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h ^ h >> 15;
}

static void
hash_place(struct hash *t, struct hash_slot s)
{
	uint32_t at = s.hash;

	while (t->slot[at & (t->nslot - 1)].number)
		at++;
	t->slot[at & (t->nslot - 1)] = s;
	t->n++;
}

int
hash_add(struct hash *t, uint32_t h, uint32_t number)
{
	if (t->n * 2 >= t->nslot) {
		struct hash more = { .nslot = t->nslot ? t->nslot * 2 : LEAST };

		if ((more.slot = calloc(more.nslot, sizeof *more.slot)) == NULL)
			return -1;
		for (size_t i = 0; i < t->nslot; i++)
			if (t->slot[i].number)
				hash_place(&more, t->slot[i]);
		free(t->slot);
		*t = more;
	}
	hash_place(t, (struct hash_slot){ h, number + 1 });
	return 0;
}

void
hash_xadd(struct hash *t, uint32_t h, uint32_t number)
{
	if (hash_add(t, h, number) != 0)
		die("out of memory");
}

void
hash_free(struct hash *t)
{
	free(t->slot);
	*t = (struct hash){ 0 };
}

static uint64_t *
hash_set_place(const struct hash_set *s, uint64_t v)
{
	uint32_t at = hash_number(v);

	while (s->slot[at & (s->nslot - 1)] && s->slot[at & (s->nslot - 1)] != v)
		at++;
	return &s->slot[at & (s->nslot - 1)];
}

int
hash_set_add(struct hash_set *s, uint64_t v)
{
	uint64_t *to;

	if (s->n * 2 >= s->nslot) {
		struct hash_set more = { .n = s->n, .nslot = s->nslot ? s->nslot * 2 : LEAST };

		if ((more.slot = calloc(more.nslot, sizeof *more.slot)) == NULL)
			return -1;
		for (size_t i = 0; i < s->nslot; i++)
			if (s->slot[i])
				*hash_set_place(&more, s->slot[i]) = s->slot[i];
		free(s->slot);
		*s = more;
	}
	to = hash_set_place(s, v);
	if (*to)
		return 0;
	*to = v;
	s->n++;
	return 1;
}

int
hash_set_has(const struct hash_set *s, uint64_t v)
{
	return s->nslot && v && *hash_set_place(s, v) == v;
}

void
hash_set_clear(struct hash_set *s)
{
	if (s->nslot)
		memset(s->slot, 0, s->nslot * sizeof *s->slot);
	s->n = 0;
}

void
hash_set_free(struct hash_set *s)
{
	free(s->slot);
	*s = (struct hash_set){ 0 };
}
