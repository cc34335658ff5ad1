/*
 * Addresses of a run's references to memory, for ADDR sections of wet(5).  Each reference has
 * an expression of registers; a model follows the registers as far as statements' values are
 * known.  Only references that differ from the model's prediction are stored.
 */
#ifndef TM_WET_FILE_FULL_ADDRESSES_H
#define TM_WET_FILE_FULL_ADDRESSES_H

#include "format/ref/ref.h"
#include "isa/x86/fact.h"
#include "wet/file/full/code.h"

#define WADDR_NREG 19u                  /* general registers, flags (never used), FACT_FSBASE, FACT_GSBASE */
#define WADDR_REFS ((size_t)1 << 27)    /* limit of a reader: references in a segment */
#define WADDR_SEGMENT (1u << 24)        /* a writer ends a segment after this many references */
/* maximum expressions of a statement that makes any number of references */
#define WADDR_PERIOD 2u

/*
 * A statement.  Each of its expressions is a slot; a statement with a variable number of
 * references has one more slot, without an expression.
 */
struct waddr_stmt {
	uint32_t slot;                  /* its first slot */
	uint8_t nexpr;
	/* the number of references varies; they repeat the expressions, each time further on */
	uint8_t any;
	uint8_t val;                    /* general register that its value is for, plus 1; 0: none */
	uint8_t from;                   /* it sets rsp to this register (4 or 5) plus `by`; 0: it does not */
	int32_t by;
};

struct waddr {
	struct waddr_stmt *stmt;        /* owned, as expr; [i] has id i + 1 */
	struct fact_addr *expr;         /* by slot */
	size_t nstmt, capstmt, nexpr, capexpr;
};

void waddr_free(struct waddr *t);
/* expr has s->nexpr elements.  0, or -1: no memory. */
int waddr_add(struct waddr *t, const struct waddr_stmt *s, const struct fact_addr *expr);

/*
 * Write and read statements from `from` up to `to` as columns; c has their code.  waddr_decode
 * appends to t.  0, or -1 (waddr_decode: r->err).
 */
int waddr_encode(const struct waddr *t, const struct store_code *c, size_t from, size_t to,
    struct store_out *o);
int waddr_decode(struct waddr *t, const struct store_code *c, size_t to, struct col_reader *r);

/* The model: values of registers, and whether they are out of date. */
struct waddr_model { uint64_t reg[WADDR_NREG]; uint8_t stale[WADDR_NREG]; };

/* The reference that the model predicts for e. */
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

/* The reference was ref instead of `expected`: corrects a register. */
void waddr_correct(struct waddr_model *m, const struct fact_addr *e, uint64_t ref, uint64_t expected);

/* Predicts reference k of a statement with several, from the earlier ones in ref. */
static inline uint64_t
waddr_next(const uint64_t *ref, size_t k, unsigned period)
{
	uint64_t last = ref[k - period];

	return last + (k >= 2 * (size_t)period ? last - ref[k - 2 * (size_t)period] : ref_size(last));
}

/*
 * Updates the model after a statement with n references: registers continue after the last
 * ones.  ring: reference k is at k % (2 * nexpr).
 */
void waddr_update_many(struct waddr_model *m, const struct waddr *t, const struct waddr_stmt *s,
    const uint64_t *ring, uint64_t n);

/* Updates the model after a statement; value: its value, if it has one. */
static inline void
waddr_update(struct waddr_model *m, const struct waddr_stmt *s, const uint16_t *def, uint32_t ndef,
    uint64_t value)
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

void waddr_save(const struct waddr_model *m, struct buf *b);    /* writes the model's registers */
int waddr_load(struct waddr_model *m, struct col_reader *r);    /* 0, or -1 (r->err) */

#endif
