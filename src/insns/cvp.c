/*
 * The records of the championships of value prediction, CVP-1, and of branch prediction, CBP 2025. They are
 * those of a processor with at most one access to memory in an instruction: each record is an operation of
 * micro.h.
 */
#include <string.h>

#include "base/bytes.h"
#include "insns/formats.h"
#include "insns/micro.h"

#define BATCH (128u << 10)      /* bytes of the output's buffer */
#define MOST  1024u             /* bytes of a record, at most */

/* Classes of instructions; the last three are in CBP 2025 only. */
enum {
	CVP_ALU, CVP_LOAD, CVP_STORE, CVP_COND, CVP_JUMP, CVP_JUMP_IND, CVP_FP, CVP_SLOW,
	CVP_CALL = 9, CVP_CALL_IND, CVP_RETURN
};

/* Registers: those of the general ones that x86 does not have are ours. */
enum {
	CVP_CONSTANT = 4,               /* nothing writes it */
	CVP_MASK = 16, CVP_X87 = 24, CVP_MXCSR, CVP_FS, CVP_LOADED, CVP_LOADED_ODD, CVP_STORED,
	CVP_LINK = 30, CVP_STACK, CVP_VECTOR, CVP_WIDE = 63, CVP_FLAGS
};

struct cvp {
	struct out *out;
	uint8_t *p, *begin, *end;       /* in the output's buffer: where the next record goes */
	int cbp;                        /* CBP 2025 */
	struct micros micros;
};

/* The numbers of the registers of micro.h. */
static uint8_t
cvp_register(unsigned reg)
{
	static const uint8_t other[] = {
		[FACT_FLAGS] = CVP_FLAGS, [FACT_FSBASE] = CVP_FS, [FACT_GSBASE] = CVP_FS, [FACT_X87] = CVP_X87,
		[FACT_MXCSR] = CVP_MXCSR,
	};
	static const uint8_t temporary[] = { CVP_LOADED, CVP_LOADED_ODD, CVP_STORED, CVP_LINK, CVP_CONSTANT,
		CVP_WIDE, CVP_WIDE - 1, CVP_WIDE - 2 };

	if (reg < 16)
		return reg == X86_RSP ? CVP_STACK : (uint8_t)reg;
	if (reg >= MICRO_LOADED)
		return temporary[reg - MICRO_LOADED];
	if (reg >= FACT_VECTOR)
		return (uint8_t)(CVP_VECTOR + (reg - FACT_VECTOR));
	return reg >= FACT_MASK ? (uint8_t)(CVP_MASK + (reg - FACT_MASK)) : other[reg];
}

static uint8_t
cvp_class(const struct cvp *c, const struct micro_at *a)
{
	static const uint8_t compute[] = { CVP_ALU, CVP_FP, CVP_SLOW };
	static const uint8_t branch[2][BRANCH_KINDS] = {
		{ CVP_ALU, CVP_COND, CVP_JUMP, CVP_JUMP_IND, CVP_JUMP, CVP_JUMP_IND, CVP_JUMP_IND },
		{ CVP_ALU, CVP_COND, CVP_JUMP, CVP_JUMP_IND, CVP_CALL, CVP_CALL_IND, CVP_RETURN },
	};

	switch (a->op->type) {
	case MICRO_LOAD: return CVP_LOAD;
	case MICRO_STORE: return CVP_STORE;
	case MICRO_BRANCH: return branch[c->cbp][a->kind->kind - 1];
	default: return compute[a->op->class];
	}
}

/*
 * The registers that are read. In CBP 2025, there are three at most; of a store, the first makes the
 * address, a second may, and the next is the data.
 */
static uint8_t *
cvp_inputs(const struct cvp *c, uint8_t *p, const struct micro_op *o)
{
	uint8_t *count = p++;

	if (c->cbp && o->type == MICRO_STORE) {
		if (!o->naddr)
			*p++ = CVP_CONSTANT;
		for (unsigned i = 0; i < o->naddr && i < 2; i++)
			*p++ = cvp_register(o->in[i]);
		*p++ = cvp_register(o->in[o->nin - 1]);
	} else
		for (unsigned i = 0; i < o->nin && (!c->cbp || i < 3); i++)
			*p++ = cvp_register(o->in[i]);
	*count = (uint8_t)(p - count - 1);
	return p;
}

static uint8_t *
cvp_outputs(uint8_t *p, const struct micro_at *a)
{
	const struct micro_op *o = a->op;
	uint8_t *count = p++;
	uint64_t v[2];

	for (unsigned i = 0; i < o->nout; i++)
		if (o->out[i].from != MICRO_UNKNOWN)
			*p++ = cvp_register(o->out[i].reg);
	*count = (uint8_t)(p - count - 1);
	for (unsigned i = 0; i < o->nout; i++) {
		uint8_t reg = cvp_register(o->out[i].reg);

		if (o->out[i].from == MICRO_UNKNOWN)
			continue;
		micro_value(a, i, v);
		put_le64(p, v[0]);
		p += 8;
		if (reg >= CVP_VECTOR && reg <= CVP_WIDE) {
			put_le64(p, v[1]);
			p += 8;
		}
	}
	return p;
}

static void
cvp_flush(struct cvp *c)
{
	if (c->begin)
		out_commit(c->out, (size_t)(c->p - c->begin));
	c->begin = c->p = out_reserve(c->out, BATCH);
	c->end = c->p + BATCH - MOST;
}

/*
 * Where a taken branch goes. As the simulators take instructions for 4 bytes long, they take a conditional
 * branch to the address 4 bytes on for one that is not taken: that has the instruction after it as its
 * target.
 */
static uint64_t
cvp_target(const struct micro_at *a)
{
	uint64_t to = a->kind->target ? a->kind->target : a->next;

	return a->kind->kind == BRANCH_COND + 1 && to == a->fact->pc + 4 ? a->fact->pc + a->fact->len : to;
}

static void
cvp_put(void *arg, const struct micro_at *a)
{
	struct cvp *c = arg;
	const struct micro_op *o = a->op;
	uint8_t *p = c->p;

	put_le64(p, a->fact->pc);
	p[8] = cvp_class(c, a);
	p += 9;
	if (o->type == MICRO_LOAD || o->type == MICRO_STORE) {
		put_le64(p, ref_addr(a->ref));
		p[8] = (uint8_t)ref_size(a->ref);
		p += 9;
		if (c->cbp) {
			*p++ = 0;                       /* the record does not change the address register */
			if (o->type == MICRO_STORE)
				*p++ = o->naddr > 1;    /* there is a second one */
		}
	} else if (o->type == MICRO_BRANCH) {
		*p++ = (uint8_t)micro_taken(a);
		if (p[-1]) {
			put_le64(p, cvp_target(a));
			p += 8;
		}
	}
	p = cvp_inputs(c, p, o);
	c->p = cvp_outputs(p, a);
	if (c->p > c->end)
		cvp_flush(c);
}

static void
cvp_take(void *arg, const struct insns_span *s)
{
	struct cvp *c = arg;

	micro_span(&c->micros, s, cvp_put, c);
}

int
cvp_write(const struct insns *q, int cbp, struct out *out, struct ws_early *early, struct fault *f)
{
	struct cvp c = { .out = out, .cbp = cbp };
	struct insns mine = *q;
	int bad;

	mine.values = 1;
	mine.what = VISIT_FLAGS | VISIT_MEMORY;
	mine.take = cvp_take;
	mine.arg = &c;
	out_binary(out, cbp ? "a CBP 2025 trace" : "a CVP-1 trace");
	cvp_flush(&c);
	bad = insns_run(&mine, early, f);
	cvp_flush(&c);
	micros_free(&c.micros);
	return bad;
}
