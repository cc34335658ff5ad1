/* Hash table of the model: open addressing with linear probing, deletion without tombstones. */
#include <stdlib.h>

#include "laplace/laplace_internal.h"

static size_t
lap_table_place(const struct lap_table *t, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t h = (a * 0x9e3779b97f4a7c15u ^ b) * 0xbf58476d1ce4e5b9u ^ c;

	h *= 0x94d049bb133111ebu;
	return (size_t)(h ^ h >> 32) & (t->size - 1);
}

static int
lap_table_is(const struct lap_slot *s, uint64_t a, uint64_t b, uint64_t c)
{
	return s->key[0] == a && s->key[1] == b && s->key[2] == c;
}

void *
lap_table_get(const struct lap_table *t, uint64_t a, uint64_t b, uint64_t c)
{
	if (!t->size)
		return NULL;
	for (size_t i = lap_table_place(t, a, b, c); t->slot[i].p; i = (i + 1) & (t->size - 1))
		if (lap_table_is(&t->slot[i], a, b, c))
			return t->slot[i].p;
	return NULL;
}

void
lap_table_put(struct lap_table *t, uint64_t a, uint64_t b, uint64_t c, void *p)
{
	size_t i = lap_table_place(t, a, b, c);

	while (t->slot[i].p)
		i = (i + 1) & (t->size - 1);
	t->slot[i] = (struct lap_slot){ { a, b, c }, p };
	t->n++;
}

int
lap_table_room(struct lap_table *t)
{
	struct lap_table u = { .size = t->size ? 2 * t->size : 16 };

	if (2 * (t->n + 1) <= t->size)
		return 0;
	u.slot = calloc(u.size, sizeof *u.slot);
	if (!u.slot)
		return -1;
	for (size_t i = 0; i < t->size; i++)
		if (t->slot[i].p)
			lap_table_put(&u, t->slot[i].key[0], t->slot[i].key[1], t->slot[i].key[2],
			    t->slot[i].p);
	free(t->slot);
	*t = u;
	return 0;
}

/* Entries after the deleted one move up if they had been displaced by it. */
void
lap_table_del(struct lap_table *t, uint64_t a, uint64_t b, uint64_t c)
{
	size_t mask = t->size - 1, i, j;

	if (!t->size)
		return;
	for (i = lap_table_place(t, a, b, c); t->slot[i].p && !lap_table_is(&t->slot[i], a, b, c);
	    i = (i + 1) & mask)
		;
	if (!t->slot[i].p)
		return;
	for (j = (i + 1) & mask; t->slot[j].p; j = (j + 1) & mask) {
		size_t home = lap_table_place(t, t->slot[j].key[0], t->slot[j].key[1], t->slot[j].key[2]);

		if (((j - home) & mask) >= ((j - i) & mask)) {
			t->slot[i] = t->slot[j];
			i = j;
		}
	}
	t->slot[i].p = NULL;
	t->n--;
}
