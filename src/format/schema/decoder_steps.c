/* Decoding of schema units: the steps of a block. */
#include "format/schema/decoder_internal.h"
#include "format/schema/operation_internal.h"
#include "format/schema/schema.h"

void
rd_val(struct rd *r, struct op_value *v)
{
	uint64_t t = rd_unsigned(r);

	v->kind = t & 3;
	t >>= 2;
	switch (v->kind) {
	case SV_VAR:
		if (t >= r->f->nvar)
			rd_fail(r, "variable out of range");
		v->var = (int32_t)t;
		break;
	case SV_IMM:
		if (t)
			rd_fail(r, "bad operand");
		v->imm = rd_signed(r);
		break;
	case SV_SYM:
		if (t >= rd_ncst(r))
			rd_fail(r, "constant out of range");
		v->var = (int32_t)t;
		v->imm = rd_signed(r);
		break;
	default:
		rd_fail(r, "operand missing");
	}
}

static int16_t
get_var(struct rd *r)
{
	return (int16_t)rd_index(r, r->f->nvar, "variable out of range");
}

static void
get_addr(struct rd *r, struct sch_addr *m)
{
	unsigned f = rd_byte(r), scale = f >> SM_SCALE & 3;

	m->scale = (uint8_t)(1u << scale);
	m->fs = (f & SM_FS) != 0;
	m->narrow = (f & SM_NARROW) != 0;
	if (f & SM_BASE)
		m->base = get_var(r);
	if (f & SM_INDEX)
		m->index = get_var(r);
	else if (scale == SM_ALIGN >> SM_SCALE && !m->fs && !m->narrow) {
		m->align = 1;
		m->scale = 1;
	} else if (scale)
		rd_fail(r, "scale without index");
	if (f & SM_SYM)
		m->sym = (int32_t)rd_index(r, rd_ncst(r), "constant out of range");
	if (f & SM_DISP) {
		m->disp = rd_signed(r);
		if (m->disp == 0)
			rd_fail(r, "number not in its shortest form");
	}
}

static void
step_init(struct op_step *s)
{
	s->dst = SCH_NOVAR;
	s->sym = SCH_NOSYM;
	s->m.base = s->m.index = SCH_NOVAR;
	s->m.scale = 1;
	s->m.sym = SCH_NOSYM;
}

/* Checks that involve several fields. */
static void
check_step(struct rd *r, const struct op_step *s)
{
	switch (s->op) {
	case SO_INST:
		if (s->n <= SCH_SHORT)
			rd_fail(r, "instruction not in its shortest form");
		break;
	case SO_LEA:
		if (s->w < 4)
			rd_fail(r, "width of an address computation");
		break;
	case SO_UNKNOWN:
		if (s->cc == 3 && s->w > 4)
			rd_fail(r, "width of a sign-extended value");
		if (s->cc == 4 && (s->w != 8 || r->u->word != 8 || r->u->big))
			rd_fail(r, "width of a short value");
		break;
	case SO_ZEXT:
	case SO_SEXT:
	case SO_LOADRO:
		if (s->n != 1 && s->n != 2 && s->n != 4 && s->n != 8)
			rd_fail(r, "width of an extended value");
		break;
	case SO_BSWAP:
		if (s->w < 2)
			rd_fail(r, "width of a byte swap");
		break;
	case SO_SETCC:
		if (s->w == 2)
			rd_fail(r, "width of a condition");
		break;
	case SO_LINKED:
		if (s->a.kind != SV_SYM || s->a.imm)
			rd_fail(r, "target of a call");
		if (!sch_isset(r->u, s->n))
			rd_fail(r, "registers of a call");
		break;
	case SO_MASKED:
		if (!sch_masked_valid(s, r->f->nvar))
			rd_fail(r, "masked access");
		break;
	default:
		break;
	}
}

static void
get_step(struct rd *r, struct op_step *s, unsigned op)
{
	const struct sch_opinfo *oi = &sch_opinfo[op];

	s->op = (uint8_t)op;
	for (const char *f = oi->fields; *f && !r->err; f++) {
		unsigned c;

		switch (*f) {
		case 'w':
			c = rd_byte(r);
			s->w = (uint8_t)(1u << (c & 3));
			s->cc = (uint8_t)(c >> 2);
			if (s->cc > oi->maxcc)
				rd_fail(r, "bad condition");
			break;
		case 'd':
			s->dst = get_var(r);
			break;
		case 'n':
			s->n = rd_max(r, oi->maxn, "size out of range");
			if (s->n == 0 && op != SO_CALLJ && op != SO_LINKED)
				rd_fail(r, "size out of range");
			break;
		case 's':
			s->sym = (int32_t)rd_index(r, r->u->nfunc, "function out of range");
			break;
		case 'm':
			get_addr(r, &s->m);
			break;
		case 'a':
			rd_val(r, &s->a);
			break;
		case 'b':
			rd_val(r, &s->b);
			break;
		}
	}
	check_step(r, s);
}

void
rd_steps(struct rd *r, struct sch_block *b)
{
	int odd = 0;            /* the last short instruction was an odd one */

	b->nstep = rd_count(r, 2);
	b->step = rd_alloc(r, b->nstep, sizeof *b->step);
	for (uint32_t i = 0; i < b->nstep && !r->err; i++) {
		struct op_step *s = b->step + i;
		unsigned c = rd_byte(r);

		step_init(s);
		if (c < SO_NOPS) {
			get_step(r, s, c);
			odd = 0;
			continue;
		}
		c -= SCH_PAIR;
		if (c >= SCH_PAIRS)     /* also values below SCH_PAIR */
			rd_fail(r, "unknown operation");
		else if (odd)
			rd_fail(r, "instructions not in their shortest form");
		if (r->err)
			break;
		s->n = c / (SCH_SHORT + 1) + 1;
		c %= SCH_SHORT + 1;
		odd = c == 0;
		if (c == 0)
			continue;
		if (++i == b->nstep) {
			rd_fail(r, "instructions beyond the end of the block");
			break;
		}
		step_init(++s);
		s->n = c;
	}
}
