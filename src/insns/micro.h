/*
 * Instructions as sequences of operations with at most one access to memory each, for the formats that know
 * no others: an instruction is its loads, then what it computes, its stores, and a branch.
 *
 * A load that is all that an instruction does defines the instruction's register; other loads define a
 * temporary register, which the computation uses. What is computed and stored is in a temporary register,
 * too.
 */
#ifndef TM_INSNS_MICRO_H
#define TM_INSNS_MICRO_H

#include "insns/insns.h"

enum micro_type { MICRO_COMPUTE, MICRO_LOAD, MICRO_STORE, MICRO_BRANCH };

/* What a computation is: simple; with vectors or the x87; a multiplication, division or system instruction */
enum micro_class { MICRO_SIMPLE, MICRO_VECTOR, MICRO_SLOW };

/* Registers are those of fact.h, and these; the last ones for what is loaded or stored in over 8 bytes. */
enum {
	MICRO_LOADED = FACT_NREG,       /* by the loads of even number, from 0 */
	MICRO_LOADED_ODD,
	MICRO_STORED,                   /* what is computed to be stored */
	MICRO_LINK,                     /* the return address, of calls and returns */
	MICRO_CONSTANT,                 /* nothing writes it: what is stored is a constant */
	MICRO_WIDE,                     /* this, instead of MICRO_LOADED, and so on */
	MICRO_NREG = MICRO_WIDE + 3
};

/* Where the value of a register that is defined comes from */
enum micro_from {
	MICRO_VALUE,                    /* words at to at + n of the instruction's values */
	MICRO_FROM_LOAD,                /* what the reference loaded */
	MICRO_FROM_STORE,               /* what the reference `at` stored */
	MICRO_RETURN,                   /* the address of the next instruction in memory */
	MICRO_ZERO,
	MICRO_UNKNOWN                   /* as the values of the x87 are */
};

#define MICRO_NIN  12u
#define MICRO_NOUT 44u          /* xrstor defines the most */

struct micro_op {
	uint8_t type, class;
	uint8_t ref;                    /* load and store: which reference of the instruction or the iteration */
	uint8_t nin, nout;
	/* load and store: how many of `in`, the first ones, make the address; the last of a store is the data */
	uint8_t naddr;
	uint8_t in[MICRO_NIN];
	struct { uint8_t reg, from, at, n; } out[MICRO_NOUT];
};

/* An executed operation. */
struct micro_at {
	const struct micro_op *op;
	const struct fact *fact;
	uint64_t ref;                   /* load and store: the word of ref(5); of a branch: 0 */
	const uint8_t *mem;             /* what was loaded or stored, ref_size bytes; NULL: not known */
	const uint8_t *stored;          /* for MICRO_FROM_STORE, of storedsize bytes */
	unsigned storedsize;
	const uint64_t *val;            /* for MICRO_VALUE */
	const struct insns_kind *kind;  /* a branch's */
	uint64_t next;                  /* a branch's: where control went */
	int first;                      /* of its instruction, or of an iteration */
};
typedef void micro_fn(void *arg, const struct micro_at *a);

/* Zeroed is the beginning. */
struct micros {
	struct insns_kinds kinds;
	struct micro { struct micro_op *op; uint8_t n; } *of;   /* by id of the fact; owned */
	size_t nof;
};
void micros_free(struct micros *t);

/*
 * Calls fn for each operation of a span. Signals have none. Only in a run with VISIT_MEMORY is there anything
 * at mem and stored.
 */
void micro_span(struct micros *t, const struct insns_span *s, micro_fn *fn, void *arg);

/* The first 16 bytes of the value of register i that op defines. */
void micro_value(const struct micro_at *a, unsigned i, uint64_t v[2]);

/* Is the branch taken? Only conditional ones may be not. */
static inline int
micro_taken(const struct micro_at *a)
{
	return a->kind->kind != BRANCH_COND + 1 || a->next != a->fact->pc + a->fact->len;
}

#endif
