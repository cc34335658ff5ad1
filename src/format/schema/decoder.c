/*
 * Decoding of schema units. The bytes come from any executable: before memory is allocated for a
 * count, it is compared with the bytes that are left (each element takes at least half a byte); an
 * index is compared with its bound.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/varint.h"
#include "format/schema/decoder_internal.h"
#include "format/schema/operation_internal.h"
#include "format/schema/schema.h"

void
rd_fail(struct rd *r, const char *what)
{
	if (!r->err) {
		r->err = what;
		r->erroff = r->off;
	}
}

void *
rd_alloc(struct rd *r, size_t n, size_t size)
{
	struct sch_piece *p = r->u->mem;
	size_t need;
	void *q;

	if (r->err || n == 0)
		return NULL;
	if (n > (SIZE_MAX - 64) / size) {
		rd_fail(r, "out of memory");
		return NULL;
	}
	need = (n * size + 15) & ~(size_t)15;
	if (!p || p->cap - p->len < need) {
		size_t cap = need < 16384 ? 16384 : need;

		p = calloc(1, sizeof *p + cap);
		if (!p) {
			rd_fail(r, "out of memory");
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

unsigned
rd_byte(struct rd *r)
{
	if (r->err)
		return 0;
	if (r->off >= r->end) {
		rd_fail(r, "unit ends early");
		return 0;
	}
	return r->base[r->off++];
}

uint64_t
rd_unsigned(struct rd *r)
{
	static const char *const wrong[] = { [VARINT_CUT] = "unit ends early",
		[VARINT_LARGE] = "number too large",
		[VARINT_PADDED] = "number not in its shortest form" };
	const uint8_t *p = r->base + r->off;
	uint64_t v = 0;
	enum varint got;

	if (r->err)
		return 0;
	got = varint_get(&p, r->base + r->end, &v);
	r->off = (size_t)(p - r->base);
	if (got != VARINT_OK)
		rd_fail(r, wrong[got]);
	return v;
}

int64_t
rd_signed(struct rd *r)
{
	return (int64_t)unzigzag(rd_unsigned(r));
}

uint32_t
rd_max(struct rd *r, uint64_t max, const char *what)
{
	uint64_t v = rd_unsigned(r);

	if (v > max) {
		rd_fail(r, what);
		return 0;
	}
	return (uint32_t)v;
}

uint32_t
rd_index(struct rd *r, uint64_t n, const char *what)
{
	uint64_t v = rd_unsigned(r);

	if (v >= n) {
		rd_fail(r, what);
		return 0;
	}
	return (uint32_t)v;
}

uint32_t
rd_count(struct rd *r, unsigned per)
{
	uint64_t v = rd_unsigned(r);

	if (!r->err && (v > (uint64_t)(r->end - r->off) * per || v > INT32_MAX)) {
		rd_fail(r, "count larger than the unit");
		return 0;
	}
	return r->err ? 0 : (uint32_t)v;
}

static char *
get_str(struct rd *r)
{
	uint32_t n = rd_count(r, 1);
	char *s = rd_alloc(r, (size_t)n + 1, 1);

	for (uint32_t i = 0; s && i < n; i++) {
		s[i] = (char)rd_byte(r);
		if (s[i] == 0)
			rd_fail(r, "zero byte in a name");
	}
	return s;
}

uint64_t
rd_ncst(const struct rd *r)
{
	return (uint64_t)r->u->ncst + r->u->nfield;
}

static void
get_succ(struct rd *r, struct sch_succ *s)
{
	uint64_t v = rd_unsigned(r);

	if (v >> 1 >= r->f->nblock) {
		rd_fail(r, "block out of range");
		return;
	}
	s->block = (uint32_t)(v >> 1);
	if (!(v & 1))
		return;
	s->nev = rd_count(r, 1);
	if (s->nev == 0)
		rd_fail(r, "count not in its shortest form");
	s->ev = rd_alloc(r, s->nev, sizeof *s->ev);
	for (uint32_t i = 0; i < s->nev && !r->err; i++) {
		v = rd_unsigned(r);
		s->ev[i].kind = (uint8_t)(v % 3);
		if (v / 3 >= r->f->nloop) {
			rd_fail(r, "loop out of range");
			return;
		}
		s->ev[i].loop = (uint32_t)(v / 3);
	}
}

static void
get_block(struct rd *r, struct sch_block *b)
{
	uint64_t v = rd_unsigned(r);
	unsigned c;
	int n;

	if (v / 3 >= r->f->nfrag)
		rd_fail(r, "fragment out of range");
	b->frag = r->err ? 0 : (uint32_t)(v / 3);
	b->mark = v % 3;
	if (b->mark && (uint32_t)(b - r->f->block) >> 8 * b->mark)
		rd_fail(r, "number of a block too large for its mark");
	b->off = rd_max(r, r->err ? 0 : r->f->frag[b->frag].size, "block outside its fragment");
	rd_steps(r, b);
	c = rd_byte(r);
	b->term = c & 15;
	b->cc = (uint8_t)(c >> 4);
	if (b->term > ST_LANDING || b->cc > (b->term == ST_COND ? SC_NNEG : b->term == ST_SWITCH)) {
		rd_fail(r, "bad end of block");
		return;
	}
	n = sch_nsucc(b->term);
	if (b->term == ST_SWITCH)
		rd_val(r, &b->target);
	if (n < 0)
		b->nsucc = rd_count(r, 1);
	else {
		if (b->term == ST_TAIL)
			b->callee = rd_index(r, r->u->nfunc, "function out of range");
		b->nsucc = (uint32_t)n;
	}
	b->succ = rd_alloc(r, b->nsucc, sizeof *b->succ);
	for (uint32_t i = 0; i < b->nsucc && !r->err; i++)
		get_succ(r, b->succ + i);
}

/*
 * Where a number in the events decides, each possible successor must have its own mark, and all
 * marks the same size.
 */
static void
check_targets(struct rd *r, const struct sch_func *f)
{
	for (uint32_t i = 0; i < f->nblock && !r->err; i++) {
		const struct sch_block *b = f->block + i;

		if (b->term != ST_TARGET)
			continue;
		if (b->nsucc == 0)
			rd_fail(r, "end of block without successors");
		for (uint32_t j = 0; j < b->nsucc; j++) {
			unsigned mark = f->block[b->succ[j].block].mark;

			if (mark == 0 || mark != f->block[b->succ[0].block].mark)
				rd_fail(r, "successor without the mark it needs");
		}
	}
}

static void
get_frags(struct rd *r, struct sch_func *f)
{
	for (uint32_t i = 0; i < f->nfrag && !r->err; i++) {
		f->frag[i].sym = (int32_t)rd_index(r, r->u->ncst, "constant out of range");
		f->frag[i].off = rd_max(r, UINT32_MAX, "fragment out of range");
		f->frag[i].size = rd_max(r, INT32_MAX, "fragment out of range");
	}
}

static void
get_func(struct rd *r, struct sch_func *f)
{
	r->f = f;
	f->name = get_str(r);
	f->flags = rd_max(r, SF_TAILOUT | SF_SETJMP | SF_NOENTRY | SF_LIBRARY | SF_SHORT,
	    "unknown flags of a function");
	if (f->flags & SF_SHORT && (r->u->word != 8 || r->u->big))
		rd_fail(r, "width of a short value");
	f->nvar = rd_max(r, SCH_MAXVAR, "too many variables");
	if (f->nvar < r->u->nregs)
		rd_fail(r, "fewer variables than registers");
	f->nfrag = rd_count(r, 1);
	f->nneed = rd_count(r, 1);
	f->nloop = rd_count(r, 1);
	f->nblock = rd_count(r, 1);
	if (f->nblock == 0)
		rd_fail(r, "function without blocks");
	f->frag = rd_alloc(r, f->nfrag, sizeof *f->frag);
	get_frags(r, f);
	f->need = rd_alloc(r, f->nneed, sizeof *f->need);
	for (uint32_t i = 0; i < f->nneed && !r->err; i++)
		f->need[i] = (uint16_t)rd_index(r, r->u->nregs, "register out of range");
	f->loop = rd_alloc(r, f->nloop, sizeof *f->loop);
	for (uint32_t i = 0; i < f->nloop && !r->err; i++) {
		f->loop[i].header = rd_index(r, f->nblock, "block out of range");
		f->loop[i].parent = (int32_t)rd_max(r, f->nloop, "loop out of range") - 1;
	}
	f->block = rd_alloc(r, f->nblock, sizeof *f->block);
	for (uint32_t i = 0; i < f->nblock && !r->err; i++)
		get_block(r, f->block + i);
	check_targets(r, f);
}

static void
get_field(struct rd *r, struct sch_field *f)
{
	unsigned c;

	f->sym = (int32_t)rd_index(r, r->u->ncst, "constant out of range");
	f->off = rd_max(r, UINT32_MAX, "field out of range");
	c = rd_byte(r);
	f->size = (uint8_t)(1u << (c & 3));
	f->rip = (c & SFD_RIP) != 0;
	if (c & ~(SFD_RIP | 3u))
		rd_fail(r, "bad field");
	if (f->rip)
		f->end = rd_max(r, UINT32_MAX, "field out of range");
}

/* As the linker left it: in a small word's 8 bytes the other 4 are 0. */
static uint64_t
get_cst(struct rd *r, const uint8_t *p)
{
	const struct sch_unit *u = r->u;

	if (u->word == 4 && get_le32(p + 4) != 0)
		rd_fail(r, "constant larger than a word");
	return get_order(p, u->word, u->big);
}

static void
get_unit(struct rd *r)
{
	struct sch_unit *u = r->u;

	r->off = sch_body(u->ncst);
	u->source = get_str(r);
	u->nregs = rd_max(r, SCH_MAXVAR, "too many registers");
	u->sp = (uint16_t)rd_index(r, u->nregs, "register out of range");
	u->machine = (uint16_t)rd_max(r, UINT16_MAX, "machine out of range");
	u->push = (uint8_t)rd_max(r, UINT8_MAX, "size of a call out of range");
	u->nfield = rd_count(r, 1);
	u->nfunc = rd_count(r, 1);
	u->cst = rd_alloc(r, (size_t)rd_ncst(r), sizeof *u->cst);
	u->field = rd_alloc(r, u->nfield, sizeof *u->field);
	for (uint32_t i = 0; i < u->ncst && !r->err; i++)
		u->cst[i] = get_cst(r, r->base + SCH_HEADER + (size_t)8 * i);
	for (uint32_t i = 0; i < u->nfield && !r->err; i++)
		get_field(r, u->field + i);
	u->func = rd_alloc(r, u->nfunc, sizeof *u->func);
	for (uint32_t i = 0; i < u->nfunc && !r->err; i++)
		get_func(r, u->func + i);
	if (!r->err && r->off != r->end)
		rd_fail(r, "bytes after the last function");
}

static long
schema_malformed(const char *what, size_t off, const char **err, size_t *erroff)
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
		return schema_malformed("unit ends early", n, err, erroff);
	if (memcmp(p, SCH_MAGIC, 4) != 0)
		return schema_malformed("not a schema", 0, err, erroff);
	if (get_le16(p + 4) < SCH_VERSION || get_le16(p + 4) > SCH_VERSION_MASKED)
		return schema_malformed(get_le16(p + 4) < SCH_VERSION ?
		    "made by an older aecc: compile the program again" : "schema of an unknown version",
		    4, err, erroff);
	if ((p[6] != 4 && p[6] != 8) || p[7] > 1)
		return schema_malformed("unknown size or byte order of a word", 6, err, erroff);
	u->word = p[6];
	u->big = p[7];
	r.end = get_le32(p + 8);
	if (r.end > n || r.end < SCH_HEADER || r.end > INT32_MAX)
		return schema_malformed("bad length of a unit", 8, err, erroff);
	u->ncst = get_le32(p + 12);
	if (u->ncst > (r.end - SCH_HEADER) / 16)
		return schema_malformed("bad number of constants", 12, err, erroff);
	if (get_le32(p + SCH_HEADER - 4) != sch_checksum(p))
		return schema_malformed("wrong check sum", SCH_HEADER - 4, err, erroff);
	if (memcmp(p + SCH_HEADER, p + SCH_HEADER + (size_t)8 * u->ncst, (size_t)8 * u->ncst) != 0)
		return schema_malformed("a constant that is not the same both times", SCH_HEADER, err,
		    erroff);
	get_unit(&r);
	if (r.err) {
		sch_free(u);
		return schema_malformed(r.err, r.erroff, err, erroff);
	}
	if (sch_version(u) != get_le16(p + 4)) {
		sch_free(u);
		return schema_malformed("the version of a unit with other steps", 4, err, erroff);
	}
	return (long)r.end;
}
