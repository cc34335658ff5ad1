/*
 * Decoding of schema units.  The bytes come from any executable: a count is
 * compared with the bytes that are left before memory is taken for it (every
 * element costs at least half a byte), an index with its bound.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "schema.h"
#include "schemaop.h"

struct rd {
	const uint8_t *base;
	size_t off, end;
	const char *err;        /* first error; everything reads as 0 after it */
	size_t erroff;
	struct sch_unit *u;
	struct sch_func *f;
};

static void
fail(struct rd *r, const char *what)
{
	if (!r->err) {
		r->err = what;
		r->erroff = r->off;
	}
}

/* Zeroed memory for n elements; n has been bounded by the caller. */
static void *
take(struct rd *r, size_t n, size_t size)
{
	struct sch_piece *p = r->u->mem;
	size_t need;
	void *q;

	if (r->err || n == 0)
		return NULL;
	if (n > (SIZE_MAX - 64) / size) {
		fail(r, "out of memory");
		return NULL;
	}
	need = (n * size + 15) & ~(size_t)15;
	if (!p || p->cap - p->len < need) {
		size_t cap = need < 16384 ? 16384 : need;

		p = calloc(1, sizeof *p + cap);
		if (!p) {
			fail(r, "out of memory");
			return NULL;
		}
		p->cap = cap;
		p->next = r->u->mem;
		r->u->mem = p;
	}
	q = p->data + p->len;
	p->len += need;
	return q;
}

static unsigned
get(struct rd *r)
{
	if (r->err)
		return 0;
	if (r->off >= r->end) {
		fail(r, "unit ends early");
		return 0;
	}
	return r->base[r->off++];
}

static uint64_t
get_u(struct rd *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		unsigned c = get(r);

		if (r->err)
			return 0;
		if (shift == 63 && c > 1) {
			fail(r, "number too large");
			return 0;
		}
		v |= (uint64_t)(c & 0x7f) << shift;
		if (c & 0x80)
			continue;
		if (c == 0 && shift > 0)
			fail(r, "number not in its shortest form");
		return v;
	}
}

static int64_t
get_s(struct rd *r)
{
	uint64_t v = get_u(r);

	return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

/* A number of at most max */
static uint32_t
get_max(struct rd *r, uint64_t max, const char *what)
{
	uint64_t v = get_u(r);

	if (v > max) {
		fail(r, what);
		return 0;
	}
	return (uint32_t)v;
}

/* An index into a table of n elements */
static uint32_t
get_index(struct rd *r, uint64_t n, const char *what)
{
	uint64_t v = get_u(r);

	if (v >= n) {
		fail(r, what);
		return 0;
	}
	return (uint32_t)v;
}

/* A number of elements of at least one byte each; per: elements a byte can hold */
static uint32_t
get_count(struct rd *r, unsigned per)
{
	uint64_t v = get_u(r);

	if (!r->err && (v > (uint64_t)(r->end - r->off) * per || v > INT32_MAX)) {
		fail(r, "count larger than the unit");
		return 0;
	}
	return r->err ? 0 : (uint32_t)v;
}

static char *
get_str(struct rd *r)
{
	uint32_t n = get_count(r, 1);
	char *s = take(r, (size_t)n + 1, 1);

	for (uint32_t i = 0; s && i < n; i++) {
		s[i] = (char)get(r);
		if (s[i] == 0)
			fail(r, "zero byte in a name");
	}
	return s;
}

/* Constants of both kinds */
static uint64_t
ncst(const struct rd *r)
{
	return (uint64_t)r->u->ncst + r->u->nfield;
}

static void
get_val(struct rd *r, struct sch_val *v)
{
	uint64_t t = get_u(r);

	v->kind = t & 3;
	t >>= 2;
	switch (v->kind) {
	case SV_VAR:
		if (t >= r->f->nvar)
			fail(r, "variable out of range");
		v->var = (int32_t)t;
		break;
	case SV_IMM:
		if (t)
			fail(r, "bad operand");
		v->imm = get_s(r);
		break;
	case SV_SYM:
		if (t >= ncst(r))
			fail(r, "constant out of range");
		v->var = (int32_t)t;
		v->imm = get_s(r);
		break;
	default:
		fail(r, "operand missing");
	}
}

static int16_t
get_var(struct rd *r)
{
	return (int16_t)get_index(r, r->f->nvar, "variable out of range");
}

static void
get_addr(struct rd *r, struct sch_addr *m)
{
	unsigned f = get(r), scale = f >> SM_SCALE & 3;

	m->scale = (uint8_t)(1u << scale);
	m->fs = (f & SM_FS) != 0;
	m->narrow = (f & SM_NARROW) != 0;
	if (f & SM_BASE)
		m->base = get_var(r);
	if (f & SM_INDEX)
		m->index = get_var(r);
	else if (scale)
		fail(r, "scale without index");
	if (f & SM_SYM)
		m->sym = (int32_t)get_index(r, ncst(r), "constant out of range");
	if (f & SM_DISP) {
		m->disp = get_s(r);
		if (m->disp == 0)
			fail(r, "number not in its shortest form");
	}
}

static void
step_init(struct sch_step *s)
{
	s->dst = SCH_NOVAR;
	s->sym = SCH_NOSYM;
	s->m.base = s->m.index = SCH_NOVAR;
	s->m.scale = 1;
	s->m.sym = SCH_NOSYM;
}

/* What one field alone cannot tell */
static void
check_step(struct rd *r, const struct sch_step *s)
{
	switch (s->op) {
	case SO_INST:
		if (s->n <= SCH_SHORT)
			fail(r, "instruction not in its shortest form");
		break;
	case SO_LEA:
		if (s->w < 4)
			fail(r, "width of an address computation");
		break;
	case SO_UNKNOWN:
		if (s->cc == 3 && s->w > 4)
			fail(r, "width of a sign-extended value");
		break;
	case SO_ZEXT:
	case SO_SEXT:
	case SO_LOADRO:
		if (s->n != 1 && s->n != 2 && s->n != 4 && s->n != 8)
			fail(r, "width of an extended value");
		break;
	case SO_BSWAP:
		if (s->w < 2)
			fail(r, "width of a byte swap");
		break;
	case SO_SETCC:
		if (s->w != 1)
			fail(r, "width of a condition");
		break;
	default:
		break;
	}
}

static void
get_step(struct rd *r, struct sch_step *s, unsigned op)
{
	const struct sch_opinfo *oi = &sch_opinfo[op];

	s->op = (uint8_t)op;
	for (const char *f = oi->fields; *f && !r->err; f++) {
		unsigned c;

		switch (*f) {
		case 'w':
			c = get(r);
			s->w = (uint8_t)(1u << (c & 3));
			s->cc = (uint8_t)(c >> 2);
			if (s->cc > oi->maxcc)
				fail(r, "bad condition");
			break;
		case 'd':
			s->dst = get_var(r);
			break;
		case 'n':
			s->n = get_max(r, oi->maxn, "size out of range");
			if (s->n == 0 && op != SO_CALLJ)
				fail(r, "size out of range");
			break;
		case 's':
			s->sym = (int32_t)get_index(r, r->u->nfunc, "function out of range");
			break;
		case 'm':
			get_addr(r, &s->m);
			break;
		case 'a':
			get_val(r, &s->a);
			break;
		case 'b':
			get_val(r, &s->b);
			break;
		}
	}
	check_step(r, s);
}

static void
get_steps(struct rd *r, struct sch_block *b)
{
	int odd = 0;            /* an odd short instruction came last */

	b->nstep = get_count(r, 2);
	b->step = take(r, b->nstep, sizeof *b->step);
	for (uint32_t i = 0; i < b->nstep && !r->err; i++) {
		struct sch_step *s = b->step + i;
		unsigned c = get(r);

		step_init(s);
		if (c < SO_NOPS) {
			get_step(r, s, c);
			odd = 0;
			continue;
		}
		c -= SCH_PAIR;
		if (c >= SCH_PAIRS)     /* also what lies below SCH_PAIR */
			fail(r, "unknown operation");
		else if (odd)
			fail(r, "instructions not in their shortest form");
		if (r->err)
			break;
		s->n = c / (SCH_SHORT + 1) + 1;
		c %= SCH_SHORT + 1;
		odd = c == 0;
		if (c == 0)
			continue;
		if (++i == b->nstep) {
			fail(r, "instructions beyond the end of the block");
			break;
		}
		step_init(++s);
		s->n = c;
	}
}

static void
get_succ(struct rd *r, struct sch_succ *s)
{
	uint64_t v = get_u(r);

	if (v >> 1 >= r->f->nblock) {
		fail(r, "block out of range");
		return;
	}
	s->block = (uint32_t)(v >> 1);
	if (!(v & 1))
		return;
	s->nev = get_count(r, 1);
	if (s->nev == 0)
		fail(r, "count not in its shortest form");
	s->ev = take(r, s->nev, sizeof *s->ev);
	for (uint32_t i = 0; i < s->nev && !r->err; i++) {
		v = get_u(r);
		s->ev[i].kind = (uint8_t)(v % 3);
		if (v / 3 >= r->f->nloop) {
			fail(r, "loop out of range");
			return;
		}
		s->ev[i].loop = (uint32_t)(v / 3);
	}
}

static void
get_block(struct rd *r, struct sch_block *b)
{
	unsigned c;
	int n;

	b->frag = get_index(r, r->f->nfrag, "fragment out of range");
	b->off = get_max(r, r->err ? 0 : r->f->frag[b->frag].size, "block outside its fragment");
	get_steps(r, b);
	c = get(r);
	b->term = c & 15;
	b->cc = (uint8_t)(c >> 4);
	if (b->term > ST_TAILX || b->cc > (b->term == ST_COND ? SC_NNEG : b->term == ST_SWITCH)) {
		fail(r, "bad end of block");
		return;
	}
	n = sch_nsucc(b->term);
	if (b->term == ST_SWITCH) {
		get_val(r, &b->target);
		b->nsucc = get_count(r, 1);
	} else {
		if (b->term == ST_TAIL)
			b->callee = get_index(r, r->u->nfunc, "function out of range");
		b->nsucc = (uint32_t)n;
	}
	b->succ = take(r, b->nsucc, sizeof *b->succ);
	for (uint32_t i = 0; i < b->nsucc && !r->err; i++)
		get_succ(r, b->succ + i);
}

static void
get_frags(struct rd *r, struct sch_func *f)
{
	for (uint32_t i = 0; i < f->nfrag && !r->err; i++) {
		f->frag[i].sym = (int32_t)get_index(r, r->u->ncst, "constant out of range");
		f->frag[i].off = get_max(r, UINT32_MAX, "fragment out of range");
		f->frag[i].size = get_max(r, INT32_MAX, "fragment out of range");
	}
}

static void
get_func(struct rd *r, struct sch_func *f)
{
	r->f = f;
	f->name = get_str(r);
	f->flags = get_max(r, SF_TAILOUT | SF_SETJMP | SF_NOENTRY, "unknown flags of a function");
	f->nvar = get_max(r, SCH_MAXVAR, "too many variables");
	if (f->nvar < r->u->nregs)
		fail(r, "fewer variables than registers");
	f->nfrag = get_count(r, 1);
	f->nneed = get_count(r, 1);
	f->nloop = get_count(r, 1);
	f->nblock = get_count(r, 1);
	if (f->nblock == 0)
		fail(r, "function without blocks");
	f->frag = take(r, f->nfrag, sizeof *f->frag);
	get_frags(r, f);
	f->need = take(r, f->nneed, sizeof *f->need);
	for (uint32_t i = 0; i < f->nneed && !r->err; i++)
		f->need[i] = (uint16_t)get_index(r, r->u->nregs, "register out of range");
	f->loop = take(r, f->nloop, sizeof *f->loop);
	for (uint32_t i = 0; i < f->nloop && !r->err; i++) {
		f->loop[i].header = get_index(r, f->nblock, "block out of range");
		f->loop[i].parent = (int32_t)get_max(r, f->nloop, "loop out of range") - 1;
	}
	f->block = take(r, f->nblock, sizeof *f->block);
	for (uint32_t i = 0; i < f->nblock && !r->err; i++)
		get_block(r, f->block + i);
}

static void
get_field(struct rd *r, struct sch_field *f)
{
	unsigned c;

	f->sym = (int32_t)get_index(r, r->u->ncst, "constant out of range");
	f->off = get_max(r, UINT32_MAX, "field out of range");
	c = get(r);
	f->size = (uint8_t)(1u << (c & 3));
	f->rip = (c & SFD_RIP) != 0;
	if (c & ~(SFD_RIP | 3u))
		fail(r, "bad field");
	if (f->rip)
		f->end = get_max(r, UINT32_MAX, "field out of range");
}

static void
get_unit(struct rd *r)
{
	struct sch_unit *u = r->u;

	r->off += (size_t)8 * u->ncst;
	u->source = get_str(r);
	u->nregs = get_max(r, SCH_MAXVAR, "too many registers");
	u->sp = (uint16_t)get_index(r, u->nregs, "register out of range");
	u->nfield = get_count(r, 1);
	u->nfunc = get_count(r, 1);
	u->cst = take(r, (size_t)ncst(r), sizeof *u->cst);
	u->field = take(r, u->nfield, sizeof *u->field);
	for (uint32_t i = 0; i < u->ncst && !r->err; i++)
		u->cst[i] = get_le64(r->base + SCH_HEADER + (size_t)8 * i);
	for (uint32_t i = 0; i < u->nfield && !r->err; i++)
		get_field(r, u->field + i);
	u->func = take(r, u->nfunc, sizeof *u->func);
	for (uint32_t i = 0; i < u->nfunc && !r->err; i++)
		get_func(r, u->func + i);
	if (!r->err && r->off != r->end)
		fail(r, "bytes behind the last function");
}

static long
malformed(const char *what, size_t off, const char **err, size_t *erroff)
{
	*err = what;
	*erroff = off;
	return -1;
}

long
sch_decode(const uint8_t *p, size_t n, struct sch_unit *u, const char **err, size_t *erroff)
{
	struct rd r = {.base = p, .off = SCH_HEADER, .u = u};

	memset(u, 0, sizeof *u);
	if (n == 0)
		return 0;
	if (n < SCH_HEADER)
		return malformed("unit ends early", n, err, erroff);
	if (memcmp(p, SCH_MAGIC, 4) != 0)
		return malformed("not a schema", 0, err, erroff);
	if (get_le32(p + 4) != SCH_VERSION)
		return malformed("schema of an unknown version", 4, err, erroff);
	r.end = get_le32(p + 8);
	if (r.end > n || r.end < SCH_HEADER || r.end > INT32_MAX)
		return malformed("bad length of a unit", 8, err, erroff);
	u->ncst = get_le32(p + 12);
	if (u->ncst > (r.end - SCH_HEADER) / 8)
		return malformed("bad number of constants", 12, err, erroff);
	get_unit(&r);
	if (r.err) {
		sch_free(u);
		return malformed(r.err, r.erroff, err, erroff);
	}
	return (long)r.end;
}
