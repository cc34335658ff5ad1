/*
 * The static code of a run: the instructions that were executed, and those
 * that recursive descent reaches from them through the sides of branches that
 * were never taken.  Its control-flow graph, calls being stepped over, and the
 * immediate post-dominators in it.
 *
 * Descent does not follow calls; a call that never ran goes on behind itself.
 * One that ran and never came back, leads to the exit, and so do returns,
 * jumps to other functions, jumps whose targets are not known, and places that
 * are no code.
 */
#ifndef TM_CFG_CODE_H
#define TM_CFG_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

#define CODE_EXIT UINT32_MAX            /* as a node: behind every return */

enum wcode_kind {
	CODE_PLAIN,
	CODE_COND,                      /* goes to target or on */
	CODE_JUMP,
	CODE_INDIRECT,                  /* a jump through a register or memory */
	CODE_CALL,                      /* target 0: indirect */
	CODE_RETURN,
	CODE_SYSCALL,
	CODE_STOP                       /* traps */
};

enum wcode_flag {
	CODE_RUN = 1,                   /* it was executed */
	CODE_BRANCH = 2,                /* more than one successor */
	CODE_JOIN = 4,                  /* immediate post-dominator of a branch */
	CODE_TAIL = 8,                  /* its jump leads to another function */
	CODE_SLOT = 16,                 /* CODE_INDIRECT through memory at a fixed address */
	CODE_TABLE = 32                 /* CODE_INDIRECT whose targets are all known */
};

struct wcode_node {
	uint64_t pc, target;            /* target of a direct jump or call */
	uint32_t pdom;                  /* immediate post-dominator, or CODE_EXIT; after wcode_analyse */
	uint32_t hnext, enext;
	uint32_t from;                  /* a jump that leads here, or CODE_EXIT */
	uint8_t len, kind, flags;
	uint8_t b[15];
};

struct wcode_edge { uint64_t to; uint32_t from; };

/* n bytes at addr; how many there are.  exec: only of what may be executed */
typedef size_t wcode_read_fn(void *arg, uint64_t addr, void *p, size_t n, int exec);

struct wcode {
	struct wcode_node *node;         /* owned; by order of discovery */
	size_t n, cap;
	uint32_t *hash, *ends;          /* by pc, by pc + len; nhash of them each; owned */
	size_t nhash;
	struct wcode_edge *edge;         /* indirect jumps: seen, or of a table; owned */
	size_t nedge, capedge;
	struct hash_set entry, edges;   /* entries of functions, by the calls that ran; what edge holds */
	struct hash_set back;           /* where returns went */
	struct wcode_edge *todo;         /* owned */
	size_t ntodo, captodo;
	/* decoded as AMD's processors do (x86_decode); may be set before the first instruction */
	int amd;
	wcode_read_fn *read;
	void *arg;
	/* bytes that descent relied on, but for those of wcode_insn; may be NULL */
	void (*kept)(void *arg, uint64_t addr, size_t n);
	void *keptarg;
};

/* Functions that return int give 0, or -1 without memory. */
void wcode_init(struct wcode *c, wcode_read_fn *read, void *arg);
void wcode_free(struct wcode *c);

/* The n bytes at pc were executed as an instruction; what it reaches is found by wcode_descend. */
int wcode_insn(struct wcode *c, uint64_t pc, const uint8_t *b, size_t n);
int wcode_went(struct wcode *c, uint64_t from, uint64_t to);    /* an indirect jump, a call or a return did */
int wcode_descend(struct wcode *c);       /* while memory is still what it was */

/* After the last of these: successors and post-dominators */
int wcode_analyse(struct wcode *c);

uint32_t wcode_find(const struct wcode *c, uint64_t pc);  /* CODE_EXIT: there is none */
/* In hash and ends: neighbours are neighbours, which are asked for one after the other */
static inline size_t wcode_bucket(const struct wcode *c, uint64_t pc) { return (size_t)(pc ^ pc >> 24) & (c->nhash - 1); }
int wcode_is_entry(const struct wcode *c, uint64_t pc);


/* jump_table.c: the targets of indirect jump v, if it takes them from a table that is understood */
int wcode_table(struct wcode *c, uint32_t v);
int wcode_add_edge(struct wcode *c, uint32_t from, uint64_t to);

#endif
