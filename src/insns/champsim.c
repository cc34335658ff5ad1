/*
 * ChampSim's records of instructions. ChampSim finds out what kind of branch an instruction is by
 * whether it reads and writes the stack pointer, the flags and the instruction pointer, and whether
 * it reads anything else; so these come first among the registers of a branch, and others are left
 * out or added where its kind would be another one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/ref/ref.h"
#include "insns/formats.h"

#define RECORD  64u
#define BATCH   1024u           /* records that are written at a time */
#define NDEST   2u              /* registers and addresses that are written */
#define NSOURCE 4u              /* ... that are read */

enum { AT_BRANCH = 8, AT_TAKEN = 9, AT_DEST = 10, AT_SOURCE = 12, AT_DEST_MEM = 16, AT_SOURCE_MEM = 32 };
/* Registers as Pin numbers them; those after RIP are in this tool's own order. */
enum { PIN_RSP = 6, PIN_DS = 21, PIN_FS = 23, PIN_GS, PIN_FLAGS, PIN_RIP, PIN_X87 = 99, PIN_VECTOR,
	PIN_MASK = 196, PIN_MXCSR = 204 };

struct head {
	uint8_t b[16];                  /* of the record: all but the addresses */
	uint8_t known;
};

struct champsim {
	struct out *out;
	uint8_t *p;                     /* the next record, in the output's buffer */
	unsigned room;                  /* records that fit there */
	struct insns_kinds kinds;
	struct head *head;              /* by id of the fact; owned */
	size_t nhead;
};

static uint8_t
champsim_register(unsigned reg)
{
	static const uint8_t general[16] = { 10, 9, 8, 7, PIN_RSP, 5, 4, 3, 11, 12, 13, 14, 15, 16, 17, 18 };

	if (reg < 16)
		return general[reg];
	if (reg >= FACT_VECTOR)
		return (uint8_t)(PIN_VECTOR + (reg - FACT_VECTOR));
	if (reg >= FACT_MASK)
		return (uint8_t)(PIN_MASK + (reg - FACT_MASK));
	return reg == FACT_FLAGS ? PIN_FLAGS : reg == FACT_FSBASE ? PIN_FS : reg == FACT_GSBASE ? PIN_GS :
	    reg == FACT_X87 ? PIN_X87 : PIN_MXCSR;
}

/* Adds a register to a list, if it is not there and there is room. */
static void
champsim_add(uint8_t *list, unsigned max, uint8_t reg)
{
	unsigned i = 0;

	while (i < max && list[i] && list[i] != reg)
		i++;
	if (i < max)
		list[i] = reg;
}

static int
champsim_special(uint8_t reg)
{
	return reg == PIN_RSP || reg == PIN_FLAGS || reg == PIN_RIP;
}

/* The special registers that make it a branch of its kind. */
static void
champsim_branch(uint8_t *b, enum branch_kind kind)
{
	int stack = kind == BRANCH_CALL || kind == BRANCH_CALL_IND || kind == BRANCH_RETURN;

	if (stack) {
		champsim_add(b + AT_DEST, NDEST, PIN_RSP);
		champsim_add(b + AT_SOURCE, NSOURCE, PIN_RSP);
	}
	champsim_add(b + AT_DEST, NDEST, PIN_RIP);
	if (kind != BRANCH_JUMP_IND && kind != BRANCH_RETURN)
		champsim_add(b + AT_SOURCE, NSOURCE, PIN_RIP);
}

static void
champsim_head(struct champsim *c, const struct fact *f, struct head *h)
{
	enum branch_kind kind = (enum branch_kind)(insns_kind(&c->kinds, f)->kind - 1);
	uint8_t *source = h->b + AT_SOURCE;
	unsigned others = 0;

	put_le64(h->b, f->pc);
	h->b[AT_BRANCH] = h->b[AT_TAKEN] = kind != BRANCH_NONE;
	if (kind != BRANCH_NONE)
		champsim_branch(h->b, kind);
	for (unsigned i = 0; i < f->nuse; i++) {
		uint8_t reg = champsim_register(f->use[i].reg);

		/* a stack pointer that is part of an address would make an indirect jump another kind */
		if (kind != BRANCH_NONE && champsim_special(reg) &&
		    !(kind == BRANCH_COND && reg == PIN_FLAGS))
			continue;
		champsim_add(source, NSOURCE, reg);
		others++;
	}
	/* a segment that nothing writes stands for memory at a fixed address or on the stack */
	if ((kind == BRANCH_JUMP_IND || kind == BRANCH_CALL_IND) && !others)
		champsim_add(source, NSOURCE, PIN_DS);
	for (unsigned i = 0; i < f->ndef; i++)
		champsim_add(h->b + AT_DEST, NDEST, champsim_register(f->def[i].reg));
	h->known = 1;
}

static const struct head *
champsim_head_of(struct champsim *c, const struct fact *f)
{
	if (f->id >= c->nhead)
		c->head = insns_table(c->head, &c->nhead, f->id, sizeof *c->head);
	if (!c->head[f->id].known)
		champsim_head(c, f, &c->head[f->id]);
	return &c->head[f->id];
}

static void
champsim_flush(struct champsim *c)
{
	out_commit(c->out, (BATCH - c->room) * RECORD);
	c->p = out_reserve(c->out, BATCH * RECORD);
	c->room = BATCH;
}

/* Writes a record, and more of them for the references that it has no room for. */
static inline void
champsim_put(struct champsim *c, const struct head *h, int taken, const uint64_t *ref, uint32_t nref)
{
	do {
		uint8_t *p = c->p;
		unsigned nd = 0, ns = 0;

		memcpy(p, h->b, sizeof h->b);
		memset(p + sizeof h->b, 0, RECORD - sizeof h->b);
		p[AT_TAKEN] = (uint8_t)taken;
		for (; nref; ref++, nref--) {
			int reads = visit_reads(*ref), writes = visit_writes(*ref);

			if (ns + (unsigned)reads > NSOURCE || nd + (unsigned)writes > NDEST)
				break;
			if (reads)
				put_le64(p + AT_SOURCE_MEM + 8u * ns++, ref_addr(*ref));
			if (writes)
				put_le64(p + AT_DEST_MEM + 8u * nd++, ref_addr(*ref));
		}
		c->p += RECORD;
		if (--c->room == 0)
			champsim_flush(c);
	} while (nref);
}

static void
champsim_string(struct champsim *c, const struct insns_span *s, uint32_t i)
{
	struct visit_insn e = visit_insn(&s->run, i);
	const struct head *h = champsim_head_of(c, e.fact);
	uint32_t per = insns_kind(&c->kinds, e.fact)->per;

	/* the last iteration refers to nothing if it only finds that the count is 0 */
	for (uint32_t k = s->from; k < s->to; k++) {
		uint32_t at = k * per < e.nref ? k * per : e.nref;

		champsim_put(c, h, 0, s->word + e.ref + at, e.nref - at < per ? e.nref - at : per);
	}
}

static void
champsim_take(void *arg, const struct insns_span *s)
{
	struct champsim *c = arg;

	if (insns_signal(s))
		return;
	for (uint32_t i = 0; i < s->run.ninsn; i++) {
		const struct fact_at *a = &s->run.at[i];
		const struct fact *f = a->fact;
		const struct head *h;
		int taken;

		if (f->kind == FACT_STRING) {
			champsim_string(c, s, i);
			continue;
		}
		h = f->id < c->nhead && c->head[f->id].known ? &c->head[f->id] : champsim_head_of(c, f);
		taken = h->b[AT_TAKEN];
		if (taken && insns_next(s, i) == f->pc + f->len)
			taken = c->kinds.k[f->id].kind != BRANCH_COND + 1;
		champsim_put(c, h, taken, s->word + s->run.word + a->ref,
		    f->kind == FACT_COUNTED ? s->run.nlast : a->nref);
	}
}

int
champsim_write(const struct insns *q, struct out *out, struct ws_early *early, struct fault *f)
{
	struct champsim c = { .out = out, .room = BATCH };
	struct insns mine = *q;
	int bad;

	mine.values = 1;
	mine.take = champsim_take;
	mine.arg = &c;
	out_binary(out, "ChampSim's records");
	champsim_flush(&c);
	bad = insns_run(&mine, early, f);
	champsim_flush(&c);
	free(c.head);
	free(c.kinds.k);
	return bad;
}
