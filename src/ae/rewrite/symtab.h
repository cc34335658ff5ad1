/* The symbols of an assembly file. */
#ifndef TM_AE_REWRITE_SYMTAB_H
#define TM_AE_REWRITE_SYMTAB_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct sym {
	char *name;
	uint8_t isfunc, weak, global, seton, frag, readonly, indirect;
	uint8_t nset;           /* how often directives set its value; 2: perhaps more often */
	/* 0 not defined here, 1 code of function fn at instruction ins, 2 elsewhere */
	uint8_t where;
	uint32_t fn, ins, stmt; /* stmt: its label statement */
	uint32_t func;          /* function that starts here, or UINT32_MAX */
	uint32_t table;         /* jump table that starts here, or UINT32_MAX */
};

struct symtab {
	struct sym **sym;       /* owned, as they are */
	size_t n, cap;
	struct hash by_name;
};

struct sym *symtab_get(struct symtab *t, const char *s, size_t n);              /* adds it if it is missing */
struct sym *symtab_find(const struct symtab *t, const char *s, size_t n);       /* or NULL */
void symtab_free(struct symtab *t);

#endif
