/* Internal to the encoder and decoder of schemas: fields and byte values. */
#ifndef TM_FORMAT_SCHEMA_OPERATION_INTERNAL_H
#define TM_FORMAT_SCHEMA_OPERATION_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "format/schema/schema.h"

#define SCH_MAGIC  "AESC"
#define SCH_MAXVAR 32767

/*
 * First byte of a step. Below SCH_PAIR: an operation. From there on: one or two instructions of 1
 * to SCH_SHORT bytes, SCH_PAIR + (n1-1)*(SCH_SHORT+1) + n2, where n2 is 0 if there is only one. A
 * single instruction may only end such a run.
 */
#define SCH_PAIR   0x40
#define SCH_SHORT  11
#define SCH_PAIRS  (SCH_SHORT * (SCH_SHORT + 1))

/* First byte of a memory address. */
#define SM_BASE   0x01
#define SM_INDEX  0x02
#define SM_SCALE  2             /* shift of two bits: log2 of the scale */
#define SM_ALIGN  0x04          /* without SM_INDEX, instead of a scale */
#define SM_FS     0x10
#define SM_NARROW 0x20
#define SM_SYM    0x40
#define SM_DISP   0x80

/* Size byte of a field: log2 of its size, and */
#define SFD_RIP   0x80

struct sch_opinfo {
	const char *name, *fields;
	uint8_t maxcc;
	uint32_t maxn;
};
extern const struct sch_opinfo sch_opinfo[SO_NOPS];

/* Is n a set of the unit's registers, without the stack pointer? (SO_LINKED) */
static inline int
sch_isset(const struct sch_unit *u, uint32_t n)
{
	return (u->nregs >= 32 || !(n >> u->nregs)) && !(u->sp < 32 && n >> u->sp & 1);
}

/* Is SO_MASKED step s one of a function with that many variables? */
static inline int
sch_masked_valid(const struct op_step *s, uint32_t nvar)
{
	unsigned how = MA_HOW(s->cc), most = how < MA_INDEX4 ? MA_MOST : MA_MOST_INDEXED;

	if (s->a.kind != SV_VAR || s->n > most || s->m.align ||
	    (how != MA_FOLDED && s->n * s->w > MA_MOST) || (uint32_t)s->a.var + sch_mask_vars(how, s->w, s->n) > nvar)
		return 0;
	if (how < MA_INDEX4)
		return (!MA_SHIFT(s->cc) || how == MA_FOLDED) && s->b.kind == SV_IMM && !s->b.imm;
	return s->w >= 4 && s->m.index == SCH_NOVAR && !s->m.narrow && s->b.kind == SV_VAR &&
	    (uint32_t)s->b.var + sch_index_vars(how, s->n) <= nvar;
}

/* Memory of a decoded unit: a list of pieces that are freed together. */
struct sch_piece {
	struct sch_piece *next;
	size_t len, cap;
	_Alignas(16) uint8_t data[];
};

/* Number of successors of a block, by the way it ends; -1: any. */
int sch_nsucc(unsigned term);

/* For a unit whose length and number of constants have been checked. */
uint32_t sch_checksum(const uint8_t *p);
/* the version of a unit with these steps */
unsigned sch_version(const struct sch_unit *u);

#endif
