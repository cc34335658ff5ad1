/* Reaching definitions of a function. */
#ifndef TM_AE_REWRITE_REACH_H
#define TM_AE_REWRITE_REACH_H

#include "ae/rewrite/slice.h"

#define NREGVAR(m) ((m)->nreg + 1u)     /* registers and flags: the bits of masks */

struct reach {
	const struct afunc *fn;
	const struct slice *s;  /* def and first */
	size_t words;
	uint64_t *in;           /* definitions that reach the start of each block */
	uint32_t **list, *nlist, nvar;          /* definitions of each variable */
};

/* Lists all definitions in s (entry values first, by variable) and computes where they reach. */
void reach_find(struct reach *r, struct afunc *fn, struct slice *s);
void reach_free(struct reach *r);

typedef void reach_fn(void *arg, uint32_t def);
/* Calls fn for every definition of var that reaches effect k of instruction i (block b). */
void reach_each(const struct reach *r, uint32_t b, uint32_t i, unsigned k, unsigned var, reach_fn *fn,
    void *arg);

#endif
