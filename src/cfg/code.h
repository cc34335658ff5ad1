/*
 * The static code of a run: the instructions that were executed, and those
 * that recursive descent reaches from them through the sides of branches that
 * were never taken.  The room makes its control-flow graph, in which the
 * successor of a call is the instruction after it, and finds the immediate
 * post-dominators.
 *
 * Descent does not follow calls.  A call that was executed but never returned
 * leads to the exit.  So do returns, jumps to other functions, jumps whose
 * targets are not known, and addresses where there is no code.
 */
#ifndef TM_CFG_CODE_H
#define TM_CFG_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "cfg/dominators.h"

#define CODE_EXIT UINT32_MAX            /* instead of a node: the exit, which is the successor of returns */

enum wcode_kind {
	CODE_PLAIN,
	CODE_COND,                      /* a conditional branch to target */
	CODE_JUMP,
	CODE_INDIRECT,                  /* a jump through a register or memory */
	CODE_CALL,                      /* target 0: indirect */
	CODE_RETURN,
	CODE_SYSCALL,
	CODE_STOP                       /* an instruction that traps */
};

enum wcode_flag {
	CODE_RUN = 1,                   /* it was executed */
	CODE_BRANCH = 2,                /* more than one successor */
	CODE_JOIN = 4,                  /* immediate post-dominator of a branch */
	CODE_TAIL = 8,                  /* it jumps to another function */
	CODE_SLOT = 16,                 /* CODE_INDIRECT through memory at a fixed address */
	CODE_TABLE = 32                 /* CODE_INDIRECT whose targets are all known */
};

struct wcode_node {
	uint64_t pc, target;            /* target of a direct jump or call */
	uint32_t pdom;                  /* immediate post-dominator, or CODE_EXIT; after wcode_analyse */
	uint32_t hnext, enext, tnext;   /* chains of hash, ends and targets */
	uint8_t len, kind, flags;
	uint8_t b[15];
};

struct wcode_edge { uint64_t to; uint32_t from; };

/* Reads n bytes at addr and returns how many there are.  exec: only executable memory */
typedef size_t wcode_read_fn(void *arg, uint64_t addr, void *p, size_t n, int exec);

struct wcode {
	struct wcode_node *node;        /* in order of discovery; owned */
	size_t n, cap;
	/* hash tables by pc, by pc + len, and (direct jumps) by target; nhash slots each; owned */
	uint32_t *hash, *ends, *targets;
	size_t nhash;
	struct wcode_edge *edge;        /* edges of indirect jumps, executed or from a jump table; owned */
	size_t nedge, capedge;
	struct hash_set entry, edges;   /* targets of calls that were executed; the contents of edge */
	struct hash_set back;           /* addresses that returns went to */
	uint64_t *todo;                 /* addresses for wcode_descend; owned */
	size_t ntodo, captodo;
	uint32_t *indirect;             /* work of wcode_descend: jumps that may have a table; owned */
	size_t nindirect, capindirect;
	/* After wcode_analyse: the successors of each node; n is the exit.  Owned. */
	struct adjacency succ;
	/* decoded as AMD's processors do (x86_decode); may be set before the first instruction */
	int amd;
	wcode_read_fn *read;
	void *arg;
	/* reports the bytes that descent has read; may be NULL */
	void (*kept)(void *arg, uint64_t addr, size_t n);
	void *keptarg;
};

/* Functions that return int give 0, or -1 without memory. */
void wcode_init(struct wcode *c, wcode_read_fn *read, void *arg);
void wcode_free(struct wcode *c);

/* The n bytes at pc were executed as an instruction.  wcode_descend finds what it reaches. */
int wcode_insn(struct wcode *c, uint64_t pc, const uint8_t *b, size_t n);
/* The jump, call or return at `from` went to `to`. */
int wcode_went(struct wcode *c, uint64_t from, uint64_t to);
int wcode_descend(struct wcode *c);     /* call it before memory that has code changes */

/* Finds successors and post-dominators; call it after the last of these. */
int wcode_analyse(struct wcode *c);

uint32_t wcode_find(const struct wcode *c, uint64_t pc);        /* CODE_EXIT: there is none */

/* The slot in hash, ends and targets.  Neighbours in the code are looked up in sequence, and are neighbours here. */
static inline size_t
wcode_bucket(const struct wcode *c, uint64_t pc)
{
	return (size_t)(pc ^ pc >> 24) & (c->nhash - 1);
}

int wcode_is_entry(const struct wcode *c, uint64_t pc);

/* jump_table.c: adds edges for the targets of indirect jump v, if they come from a known form of table */
int wcode_table(struct wcode *c, uint32_t v);
int wcode_add_edge(struct wcode *c, uint32_t from, uint64_t to);

#endif
