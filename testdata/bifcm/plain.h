/* The plain decoder: between the file (plain.c) and the methods. */
#ifndef TESTDATA_BIFCM_PLAIN_H
#define TESTDATA_BIFCM_PLAIN_H

#include <stddef.h>
#include <stdint.h>

struct column {
	uint64_t *v, *k;        /* values; keys, or NULL */
	size_t n;
	unsigned w;             /* bytes */
	struct grid *grid;      /* of scaled values, NULL: they are not */
	/* of the first block's columns, made when needed: by what is coded; places on the grid */
	struct cm *primer[4];
	struct column *places;
};

extern unsigned columns;       /* of the file */

_Noreturn void reject(const char *why);
void *alloc(size_t n);          /* zeros */

/* c->v from the len bytes at p; first: the column in the first block, or NULL */
static void decode(unsigned method, const uint8_t *p, size_t len, struct column *c, struct column *first);

#include "plain_methods.h"

#endif
