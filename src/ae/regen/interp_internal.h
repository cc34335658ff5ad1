/* Internal to the interpreter: frames, and the state that the switch keeps in registers. */
#ifndef TM_AE_REGEN_INTERP_INTERNAL_H
#define TM_AE_REGEN_INTERP_INTERNAL_H

#include <stddef.h>
#include <string.h>

#include "ae/regen/code.h"
#include "ae/regen/model.h"
#include "ae/regen/msg.h"
#include "ae/regen/regen.h"

/* Frames are in a large region of memory, in a row: FRAME words of bookkeeping, then the variables. */
enum { F_RET, F_FUNC, F_PREV, F_RSP, FRAME };   /* F_PREV: words back to the caller's variables */

/* The state in registers while the switch runs, for the functions outside it. */
struct ctx {
	struct regen *r;
	struct feed *f;
	uint64_t *p;
	const uint8_t *e;
	uint64_t *v;
	const struct iop *ip;
	int have;                       /* the next function's rsp is known: 1 by rule, 2 by an event */
	uint64_t next;
};

struct regen {
	struct prog *g;
	const uint8_t *watched;
	regen_library *library;         /* NULL: there are none */
	void *libraryarg;
	int counts, lowered;
	struct code *c;                 /* owned, but if it is another's: see regen_also */
	int borrows;
	uint64_t count[RK_NKINDS];
	struct ae_state s;
	uint64_t *stack;
	size_t nstack;                  /* words */
	int watch;                      /* there are watched functions */
	int called;                     /* one of them was called */
	uint32_t back;                  /* where it returns to */
	const struct regen_model *model;        /* NULL, or what follows the program and provides events */
	struct ctx at;                  /* where it goes on, if it was interrupted; r is NULL: at the beginning */
	size_t atop;                    /* ... its place in the code, which may move meanwhile */
	int points;                     /* it is interrupted at each point in the order of synchronisation */
	uint64_t passed;                /* ... the number of the last one */
	uint64_t point;                 /* ... this one, as its item has it; 0: it was not, so that it is at the end */
};

/* In mode of a model: n bytes of events are provided by it; or the regeneration is interrupted. */
void interp_event(struct ctx *x, struct regen_ask *a);

static inline const uint8_t *
interp_need(struct ctx *x, uint64_t *p, const uint8_t *e, unsigned n, int item)
{
	if ((size_t)(x->r->s.eend - e) >= n)
		return e;
	return feed_more(x->f, p, e, n, item);
}

/* Where another thread may go on: the regeneration is interrupted. */
_Noreturn void interp_point(struct ctx *x, uint64_t point);

/* A frame for function fn; its variables are 0 except rsp. */
static inline uint64_t *
interp_push(struct ctx *x, uint32_t fn, uint64_t rsp, uint32_t ret, size_t used)
{
	const struct ifunc *t = x->r->c->fn + fn;
	uint64_t *v = x->v + used + FRAME;

	if ((size_t)(v - x->r->stack) + t->nslot + 1 > x->r->nstack)
		feed_fault(x->f, x->p, x->e, msg_deep);
	memset(v, 0, t->nslot * sizeof *v);
	v[F_RET - FRAME] = ret;
	v[F_FUNC - FRAME] = fn;
	v[F_PREV - FRAME] = used + FRAME;
	v[F_RSP - FRAME] = rsp;
	v[t->sp] = rsp;
	return v;
}

/* A watched function begins: references are wanted from here on. */
void interp_begin(struct ctx *x);
/* It returned: the regeneration ends, unless it left by a jump to an unknown function. */
void interp_end(struct ctx *x);

/* From the beginning, or from where it was interrupted; leaves by f->out. */
void interp_run(struct regen *r, struct feed *f);

/* Executes run items at x->ip, which is a SEQ, SEQJ or SEQROOT, until control is elsewhere. */
void interp_items(struct ctx *x);

#endif
