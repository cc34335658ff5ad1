/* Encoding of schema units, ae-schema(5); decoder.c is the inverse. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/varint.h"
#include "format/schema/operation_internal.h"
#include "format/schema/schema.h"

const struct sch_opinfo sch_opinfo[SO_NOPS] = {
#define OP(name, fields, maxcc, maxn) [SO_##name] = {#name, fields, maxcc, maxn},
#include "format/schema/operation.def"
#undef OP
};

int
sch_nsucc(unsigned term)
{
	switch (term) {
	case ST_JUMP:
		return 1;
	case ST_BRANCH:
	case ST_COND:
	case ST_LANDING:
		return 2;
	case ST_SWITCH:
	case ST_TARGET:
		return -1;
	default:
		return 0;
	}
}

static void
put_s(struct buf *w, int64_t v)
{
	buf_varint(w, zigzag((uint64_t)v));
}

static void
put_str(struct buf *w, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	buf_varint(w, n);
	for (size_t i = 0; i < n; i++)
		buf_u8(w, (uint8_t)s[i]);
}

static unsigned
schema_log2of(unsigned v)
{
	return v == 8 ? 3 : v == 4 ? 2 : v == 2 ? 1 : 0;
}

static void
put_val(struct buf *w, const struct op_value *v)
{
	switch (v->kind) {
	case SV_VAR:
		buf_varint(w, (uint64_t)(uint32_t)v->var * 4 + SV_VAR);
		break;
	case SV_IMM:
		buf_varint(w, SV_IMM);
		put_s(w, v->imm);
		break;
	case SV_SYM:
		buf_varint(w, (uint64_t)(uint32_t)v->var * 4 + SV_SYM);
		put_s(w, v->imm);
		break;
	default:
		buf_varint(w, SV_NONE);
	}
}

static void
put_addr(struct buf *w, const struct sch_addr *m)
{
	unsigned f = 0;

	if (m->align && (m->index != SCH_NOVAR || m->fs || m->narrow))
		w->nomem = 1;           /* it has no encoding: see schema.h */
	if (m->base != SCH_NOVAR)
		f |= SM_BASE;
	if (m->index != SCH_NOVAR)
		f |= SM_INDEX | schema_log2of(m->scale) << SM_SCALE;
	else if (m->align)
		f |= SM_ALIGN;
	if (m->fs)
		f |= SM_FS;
	if (m->narrow)
		f |= SM_NARROW;
	if (m->sym != SCH_NOSYM)
		f |= SM_SYM;
	if (m->disp)
		f |= SM_DISP;
	buf_u8(w, (uint8_t)f);
	if (f & SM_BASE)
		buf_varint(w, (uint64_t)m->base);
	if (f & SM_INDEX)
		buf_varint(w, (uint64_t)m->index);
	if (f & SM_SYM)
		buf_varint(w, (uint64_t)m->sym);
	if (f & SM_DISP)
		put_s(w, m->disp);
}

static void
put_step(struct buf *w, const struct op_step *s)
{
	buf_u8(w, s->op);
	for (const char *f = sch_opinfo[s->op].fields; *f; f++) {
		switch (*f) {
		case 'w':
			buf_u8(w, (uint8_t)(schema_log2of(s->w) | (unsigned)s->cc << 2));
			break;
		case 'd':
			buf_varint(w, (uint64_t)s->dst);
			break;
		case 'n':
			buf_varint(w, s->n);
			break;
		case 's':
			buf_varint(w, (uint64_t)s->sym);
			break;
		case 'm':
			put_addr(w, &s->m);
			break;
		case 'a':
			put_val(w, &s->a);
			break;
		case 'b':
			put_val(w, &s->b);
			break;
		}
	}
}

static int
schema_isshort(const struct op_step *s)
{
	return s->op == SO_INST && s->n >= 1 && s->n <= SCH_SHORT;
}

static void
put_steps(struct buf *w, const struct sch_block *b)
{
	uint32_t i = 0;

	buf_varint(w, b->nstep);
	while (i < b->nstep) {
		const struct op_step *s = b->step + i;
		unsigned pair;

		if (!schema_isshort(s)) {
			put_step(w, s);
			i++;
			continue;
		}
		pair = SCH_PAIR + (s->n - 1) * (SCH_SHORT + 1);
		i++;
		if (i < b->nstep && schema_isshort(s + 1)) {
			pair += s[1].n;
			i++;
		}
		buf_u8(w, (uint8_t)pair);
	}
}

static void
put_block(struct buf *w, const struct sch_block *b)
{
	buf_varint(w, (uint64_t)b->frag * 3 + b->mark);
	buf_varint(w, b->off);
	put_steps(w, b);
	buf_u8(w, (uint8_t)(b->term | (b->term == ST_COND ||
	    b->term == ST_SWITCH ? (unsigned)b->cc << 4 : 0)));
	if (b->term == ST_SWITCH)
		put_val(w, &b->target);
	if (sch_nsucc(b->term) < 0)
		buf_varint(w, b->nsucc);
	else if (b->term == ST_TAIL)
		buf_varint(w, b->callee);
	for (uint32_t i = 0; i < b->nsucc; i++) {
		const struct sch_succ *s = b->succ + i;

		buf_varint(w, (uint64_t)s->block * 2 + (s->nev != 0));
		if (!s->nev)
			continue;
		buf_varint(w, s->nev);
		for (uint32_t j = 0; j < s->nev; j++)
			buf_varint(w, (uint64_t)s->ev[j].loop * 3 + s->ev[j].kind);
	}
}

static void
put_func(struct buf *w, const struct sch_unit *u, const struct sch_func *f)
{
	put_str(w, f->name);
	buf_varint(w, f->flags);
	buf_varint(w, f->nvar < u->nregs ? u->nregs : f->nvar);
	buf_varint(w, f->nfrag);
	buf_varint(w, f->nneed);
	buf_varint(w, f->nloop);
	buf_varint(w, f->nblock);
	for (uint32_t i = 0; i < f->nfrag; i++) {
		buf_varint(w, (uint64_t)(uint32_t)f->frag[i].sym);
		buf_varint(w, f->frag[i].off);
		buf_varint(w, f->frag[i].size);
	}
	for (uint32_t i = 0; i < f->nneed; i++)
		buf_varint(w, f->need[i]);
	for (uint32_t i = 0; i < f->nloop; i++) {
		buf_varint(w, f->loop[i].header);
		buf_varint(w, (uint64_t)((int64_t)f->loop[i].parent + 1));
	}
	for (uint32_t i = 0; i < f->nblock; i++)
		put_block(w, f->block + i);
}

static void
put_field(struct buf *w, const struct sch_field *f)
{
	buf_varint(w, (uint64_t)(uint32_t)f->sym);
	buf_varint(w, f->off);
	buf_u8(w, (uint8_t)(schema_log2of(f->size) | (f->rip ? SFD_RIP : 0)));
	if (f->rip)
		buf_varint(w, f->end);
}

uint32_t
sch_checksum(const uint8_t *p)
{
	size_t body = sch_body(get_le32(p + 12)), n = get_le32(p + 8);

	return (uint32_t)crc32_z(crc32_z(0, p, SCH_HEADER - 4), p + body, n - body);
}

void
sch_update_checksum(uint8_t *p)
{
	size_t n = (size_t)8 * get_le32(p + 12);

	memcpy(p + SCH_HEADER + n, p + SCH_HEADER, n);
	put_le32(p + SCH_HEADER - 4, sch_checksum(p));
}

unsigned
sch_version(const struct sch_unit *u)
{
	unsigned v = SCH_VERSION;

	for (uint32_t i = 0; i < u->nfunc; i++) {
		if (u->func[i].flags & SF_SHORT && v < SCH_VERSION_SHORT)
			v = SCH_VERSION_SHORT;
		for (uint32_t b = 0; b < u->func[i].nblock; b++)
			for (uint32_t k = 0; k < u->func[i].block[b].nstep; k++) {
				const struct op_step *s = u->func[i].block[b].step + k;

				if (s->op == SO_MASKED)
					return SCH_VERSION_MASKED;
				if (s->op == SO_LINKED)
					v = SCH_VERSION_LINKED;
				if (s->op == SO_UNKNOWN && s->cc == 4 && v < SCH_VERSION_SHORT)
					v = SCH_VERSION_SHORT;
			}
	}
	return v;
}

static void
put_head(struct buf *w, const struct sch_unit *u)
{
	buf_str(w, SCH_MAGIC);
	buf_le16(w, (uint16_t)sch_version(u));
	buf_u8(w, u->word);
	buf_u8(w, u->big);
	buf_le32(w, 0);         /* placeholder for the length */
	buf_le32(w, u->ncst);
	buf_le32(w, 0);
	for (uint32_t i = 0; i < 2 * u->ncst; i++) {
		uint64_t v = u->cst ? u->cst[i % u->ncst] : 0;
		uint8_t c[8];

		if (!u->big)
			put_le64(c, v);
		else    /* an address first, as the linker leaves it */
			put_be64(c, v << (64 - 8 * u->word));
		buf_add(w, c, sizeof c);
	}
}

uint8_t *
sch_encode(const struct sch_unit *u, size_t *len)
{
	struct buf w = BUF_INIT;

	put_head(&w, u);
	put_str(&w, u->source);
	buf_varint(&w, u->nregs);
	buf_varint(&w, u->sp);
	buf_varint(&w, u->machine);
	buf_varint(&w, u->push);
	buf_varint(&w, u->nfield);
	buf_varint(&w, u->nfunc);
	for (uint32_t i = 0; i < u->nfield; i++)
		put_field(&w, u->field + i);
	for (uint32_t i = 0; i < u->nfunc; i++)
		put_func(&w, u, u->func + i);
	if (w.nomem || w.n > INT32_MAX) {
		buf_free(&w);
		return NULL;
	}
	put_le32(w.p + 8, (uint32_t)w.n);
	sch_update_checksum(w.p);
	*len = w.n;
	return w.p;
}

int
sch_resolve(struct sch_unit *u, int (*rd)(void *arg, uint64_t addr, void *buf, size_t n), void *arg)
{
	for (uint32_t i = 0; i < u->nfield; i++) {
		const struct sch_field *f = u->field + i;
		uint64_t at = u->cst[f->sym], v;
		unsigned keep = 64 - 8u * f->size;
		uint8_t b[8];

		if (!rd(arg, at + f->off, b, f->size))
			return -1;
		v = get_order(b, f->size, u->big) << keep;
		v = (uint64_t)((int64_t)v >> keep);
		if (f->rip)
			v += at + f->end;
		u->cst[u->ncst + i] = v;
	}
	return 0;
}

void
sch_free(struct sch_unit *u)
{
	struct sch_piece *p = u->mem;

	while (p) {
		struct sch_piece *next = p->next;

		free(p);
		p = next;
	}
	memset(u, 0, sizeof *u);
}
