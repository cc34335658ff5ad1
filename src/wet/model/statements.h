/*
 * The statements of a run: instructions with their ids, use ports and values,
 * as wettext(5) has them; the blocks of a visit as sequences of statements;
 * and which statements are always executed one after the other.
 *
 * A statement is an instruction at an address.  Its use ports: 0, control;
 * one for each register that it uses; one for each reference that reads, or
 * one for all of them where their number is not known before it runs.
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
	const struct fact *fact;        /* of the visit that it was first seen by: until visit_close */
	uint32_t id;                    /* from 1, in order of first execution; 0: left out */
	uint32_t hnext;
	uint32_t prev, next;            /* those it is always executed with; STMT_NONE */
	/* its sequence of such, and place in it; STMT_NONE: none, or not known yet */
	uint32_t atom, off;
	uint16_t nuse, nmem;            /* registers, references that read */
	uint16_t val;                   /* first word of the value among its values */
	uint8_t nval, any;              /* words, 0: no values; any: one port for all references */
	uint8_t len, b[15];
	uint8_t joined;                 /* 1: prev is set, 2: next is */
};

/* Instructions that are always executed one after the other */
struct stmt_atom { uint32_t first, len, count; };

/* A block of a visit */
struct stmt_block {
	const struct fact_at *at;
	uint32_t n;
	uint32_t *stmt;                 /* owned, n of them */
	uint32_t num;                   /* from 0 */
};

struct stmts {
	/* does the instruction there get an id?  NULL: all do, and [i] has id i + 1 */
	int (*in)(void *arg, uint64_t pc);
	void *arg;
	uint32_t nid;
	struct stmt *stmt;              /* owned; ids ascend */
	uint32_t *hash;
	size_t n, cap, nhash;
	struct stmt_block *block;       /* owned; [i] has num i */
	size_t nblock, capblock;
	struct hash by_at;              /* their places in it */
	struct stmt_atom *atom;         /* owned */
	uint32_t *atomstmt;             /* statements of all atoms; owned */
	size_t natom, capatom;
};

/* Functions that return a pointer give NULL, others -1, without memory. */
void stmts_free(struct stmts *t);
void stmts_forget(struct stmts *t);     /* the visit's blocks and facts; statements and atoms stay */

/* The block of a run that is no signal; statements and links of a new one are made */
const struct stmt_block *stmts_block(struct stmts *t, const struct visit_run *r);

uint32_t stmts_find(const struct stmts *t, const struct fact *f);       /* STMT_NONE: it was never seen */
int stmts_atoms(struct stmts *t);       /* all blocks of the run are known */

/* Ports of a statement, values that are words of its value */
static inline uint32_t stmt_ports(const struct stmt *s) { return 1u + s->nuse + s->nmem; }
static inline unsigned stmt_words(const struct stmt *s) { return s->nval == WPORT_FLAGS ? 1 : s->nval; }

#endif
