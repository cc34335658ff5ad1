/* Symbols by name: open addressing, FNV-1a. */
#include <stdlib.h>
#include <string.h>
#include "ae/rewrite/symtab.h"
#include "base/mem.h"

static uint32_t
symtab_hash(const char *s, size_t n)
{
	uint32_t h = 2166136261u;

	while (n--)
		h = (h ^ (uint8_t)*s++) * 16777619u;
	return h;
}

static size_t
symtab_place(const struct symtab *t, uint32_t h, const char *s, size_t n)
{
	size_t i = h & (t->nslot - 1);

	while (t->slot[i] &&
	    (t->slot[i]->hash != h || strncmp(t->slot[i]->name, s, n) != 0 || t->slot[i]->name[n]))
		i = (i + 1) & (t->nslot - 1);
	return i;
}

struct sym *
symtab_find(const struct symtab *t, const char *s, size_t n)
{
	return t->nslot ? t->slot[symtab_place(t, symtab_hash(s, n), s, n)] : NULL;
}

static void
symtab_enlarge(struct symtab *t)
{
	struct symtab old = *t;
	size_t i;

	t->nslot = old.nslot ? old.nslot * 2 : 256;
	t->slot = xcalloc(t->nslot, sizeof *t->slot);
	for (i = 0; i < old.nslot; i++)
		if (old.slot[i])
			t->slot[symtab_place(t, old.slot[i]->hash, old.slot[i]->name,
			    strlen(old.slot[i]->name))] = old.slot[i];
	free(old.slot);
}

struct sym *
symtab_get(struct symtab *t, const char *s, size_t n)
{
	struct sym *y;
	size_t i;

	if (t->n * 2 >= t->nslot)
		symtab_enlarge(t);
	i = symtab_place(t, symtab_hash(s, n), s, n);
	if (t->slot[i])
		return t->slot[i];
	y = xcalloc(1, sizeof *y);
	y->name = xstrndup(s, n);
	y->hash = symtab_hash(s, n);
	y->func = y->table = y->fn = UINT32_MAX;
	t->slot[i] = y;
	t->n++;
	return y;
}

void
symtab_free(struct symtab *t)
{
	size_t i;

	for (i = 0; i < t->nslot; i++)
		if (t->slot[i]) {
			free(t->slot[i]->name);
			free(t->slot[i]);
		}
	free(t->slot);
	t->slot = NULL;
	t->nslot = t->n = 0;
}
