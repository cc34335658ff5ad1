/* Symbols by name. */
#include <stdlib.h>
#include <string.h>
#include "ae/rewrite/symtab.h"
#include "base/mem.h"

static struct sym *
symtab_probe(const struct symtab *t, uint32_t h, const char *s, size_t n)
{
	uint32_t at = h, i;

	while ((i = hash_find(&t->by_name, h, &at)) != HASH_NONE &&
	    (strncmp(t->sym[i]->name, s, n) != 0 || t->sym[i]->name[n]))
		;
	return i == HASH_NONE ? NULL : t->sym[i];
}

struct sym *
symtab_find(const struct symtab *t, const char *s, size_t n)
{
	return symtab_probe(t, hash_bytes(s, n), s, n);
}

struct sym *
symtab_get(struct symtab *t, const char *s, size_t n)
{
	const uint32_t h = hash_bytes(s, n);
	struct sym *y = symtab_probe(t, h, s, n);

	if (y)
		return y;
	hash_xadd(&t->by_name, h, (uint32_t)t->n);
	t->sym = mem_xgrow(t->sym, &t->cap, t->n + 1, sizeof(struct sym *));
	t->sym[t->n++] = y = xcalloc(1, sizeof *y);
	y->name = xstrndup(s, n);
	y->func = y->table = y->fn = UINT32_MAX;
	return y;
}

void
symtab_free(struct symtab *t)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		free(t->sym[i]->name);
		free(t->sym[i]);
	}
	free(t->sym);
	hash_free(&t->by_name);
	*t = (struct symtab){ 0 };
}
