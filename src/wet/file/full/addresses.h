/*
 * Addresses of a run's references to memory, as ADDR sections of wet(5) have
 * them: how each is made of registers, what the registers hold as far as
 * values of statements tell, and what this gives wrong.
 */
#ifndef TM_WET_FILE_FULL_ADDRESSES_H
#define TM_WET_FILE_FULL_ADDRESSES_H

#include "format/ref/ref.h"
#include "isa/x86/fact.h"
#include "wet/file/full/code.h"

#define WADDR_NREG 19u                  /* general registers, flags (never used), FACT_FSBASE, FACT_GSBASE */
#define WADDR_REFS ((size_t)1 << 27)    /* references in a segment that a reader takes */
#define WADDR_SEGMENT (1u << 24)        /* as many end a segment */
#define WADDR_PERIOD 2u                 /* expressions of a statement that makes any number of references, at most */

/* A statement; its expressions are slots, one more (of no expression) if their number is not known before it runs */
struct waddr_stmt {
	uint32_t slot;                  /* the first */
	uint8_t nexpr;
	uint8_t any;                    /* it has as many references as data say: these, again and again, so far on each time */
	uint8_t val;                    /* general register that its value is of, plus 1; 0: of none */
	uint8_t from;                   /* rsp is this register (4 or 5) and by then; 0: it is not moved so */
	int32_t by;
};

struct waddr {
	struct waddr_stmt *stmt;        /* owned, [i] has id i + 1; so are expr's */
	struct fact_addr *expr;         /* by slot */
	size_t nstmt, capstmt, nexpr, capexpr;
};

void waddr_free(struct waddr *t);
int waddr_add(struct waddr *t, const struct waddr_stmt *s, const struct fact_addr *expr);       /* its nexpr.  0, or -1 without memory */

/* Statements from `from` on as columns; and added to t: n of them, at addr of each, code's.  0, or -1 (r->err) */
int waddr_put(const struct waddr *t, const struct store_code *c, size_t from, size_t to, struct vc_work *w,
    int level, struct buf *b);
int waddr_get(struct waddr *t, const struct store_code *c, size_t to, struct col_reader *r);

/* What registers hold */
struct waddr_model { uint64_t reg[WADDR_NREG]; uint8_t stale[WADDR_NREG]; };

/* The reference that e makes */
static inline uint64_t
waddr_expect(const struct waddr_model *m, const struct fact_addr *e)
{
	uint64_t a = e->disp;

	if (e->base != FACT_NOREG)
		a += m->reg[e->base];
	if (e->index != FACT_NOREG)
		a += m->reg[e->index] * e->scale;
	if (e->seg != FACT_NOREG)
		a += m->reg[e->seg];
	return ref_make(e->kind, a, e->size);
}

/* It was ref instead of what was expected: a register holds something else */
void waddr_correct(struct waddr_model *m, const struct fact_addr *e, uint64_t ref, uint64_t expected);

/* What reference k of several is likely to be, of which ref is what there is so far */
static inline uint64_t
waddr_next(const uint64_t *ref, size_t k, unsigned period)
{
	uint64_t last = ref[k - period];

	return last + (k >= 2 * (size_t)period ? last - ref[k - 2 * (size_t)period] : ref_size(last));
}

/* Behind the n references of a statement with any number of them: registers go on behind the last.  ring: reference k is at k % (2 nexpr) */
void waddr_many(struct waddr_model *m, const struct waddr *t, const struct waddr_stmt *s,
    const uint64_t *ring, uint64_t n);

/* Behind the statement, whose value is value (if it has one) */
static inline void
waddr_leave(struct waddr_model *m, const struct waddr_stmt *s, const uint16_t *def, uint32_t ndef, uint64_t value)
{
	uint64_t rsp = s->from ? m->reg[s->from] + (uint64_t)(int64_t)s->by : 0;
	uint8_t stale = s->from ? m->stale[s->from] : 0;

	for (uint32_t i = 0; i < ndef; i++)
		if (def[i] >> 5 < WADDR_NREG)
			m->stale[def[i] >> 5] = 1;
	if (s->from) {
		m->reg[4] = rsp;
		m->stale[4] = stale;
	}
	if (s->val) {
		m->reg[s->val - 1] = value;
		m->stale[s->val - 1] = 0;
	}
}

void waddr_save(const struct waddr_model *m, struct buf *b);
int waddr_load(struct waddr_model *m, struct col_reader *r);    /* 0, or -1 (r->err) */

#endif
