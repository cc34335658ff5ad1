/*
 * The statements of a run: instructions with their ids, use ports and values,
 * as in wettext(5); the blocks of a visit as sequences of statements; and
 * atoms, sequences of statements that are always executed together.
 *
 * A statement is an instruction at an address; port.h has its use ports.
 */
#ifndef TM_WET_MODEL_STATEMENTS_H
#define TM_WET_MODEL_STATEMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "replay/itrace/itrace.h"
#include "wet/model/port.h"

#define STMT_NONE  UINT32_MAX

struct stmt {
	uint64_t pc;
	const struct fact *fact;        /* borrowed from the last visit; NULL after stmts_forget */
	uint32_t id;                    /* from 1, in order of first execution; 0: left out */
	uint32_t hnext;
	uint32_t prev, next;            /* the statements always executed before and after it; STMT_NONE */
	/* its atom, and its place in that; STMT_NONE: none, or not known yet */
	uint32_t atom, off;
	uint16_t nuse, nmem, val;       /* these and the next two: see struct wport */
	uint8_t nval, any;
	uint8_t len, b[15];             /* the instruction */
	uint8_t joined;                 /* 1: prev is set, 2: next is set */
};

/* Statements that are always executed together: atomstmt[first] to atomstmt[first + len - 1] */
struct stmt_atom { uint32_t first, len, count; };

/* A block of a visit */
struct stmt_block {
	const struct fact_at *at;
	uint32_t n;
	uint32_t *stmt;                 /* its n statements; owned */
	uint32_t num;                   /* index in struct stmts.block */
};

struct stmts {
	/* does the instruction at pc get an id?  NULL: all do, and stmt[i] has id i + 1 */
	int (*in)(void *arg, uint64_t pc);
	void *arg;
	uint32_t nid;
	struct stmt *stmt;              /* owned; ids ascend */
	uint32_t *hash;
	size_t n, cap, nhash;
	struct stmt_block *block;       /* owned */
	size_t nblock, capblock;
	struct hash by_at;              /* finds blocks by at and n */
	struct stmt_atom *atom;         /* owned */
	uint32_t *atomstmt;             /* statements of all atoms; owned */
	size_t natom, capatom;
};

/* Without memory, functions return NULL or -1. */
void stmts_free(struct stmts *t);
void stmts_forget(struct stmts *t);     /* drops blocks and facts of the visit, keeps statements and atoms */

/* Finds or makes the block of a run that is no signal, and its statements. */
const struct stmt_block *stmts_block(struct stmts *t, const struct visit_run *r);

uint32_t stmts_find(const struct stmts *t, const struct fact *f);       /* STMT_NONE: it was never seen */
int stmts_atoms(struct stmts *t);       /* makes the atoms, after the last block of the run */

/* The number of use ports of a statement, and of words of its value */
static inline uint32_t stmt_ports(const struct stmt *s) { return 1u + s->nuse + s->nmem; }
static inline unsigned stmt_words(const struct stmt *s) { return s->nval == WPORT_FLAGS ? 1 : s->nval; }

#endif
