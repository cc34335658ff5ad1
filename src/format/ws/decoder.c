/* Captures: decodes streams into records, and refuses what encoder.c would not have written. */
#include <string.h>

#include "base/bytes.h"
#include "format/ws/ws_internal.h"

uint64_t
ws_get(struct ws_cur *c)
{
	static const char *const wrong[] = {
		[VARINT_CUT] = "a number is cut off", [VARINT_LARGE] = "a number of more than 64 bits",
		[VARINT_PADDED] = "a number in more bytes than it needs"
	};
	uint64_t v = 0;

	if (!c->err)
		c->err = wrong[varint_get(&c->p, c->end, &v)];
	return v;
}

uint64_t
ws_get_max(struct ws_cur *c, uint64_t max, const char *err)
{
	uint64_t v = ws_get(c);

	if (c->err || v <= max)
		return v;
	c->err = err;
	return 0;
}

const uint8_t *
ws_get_bytes(struct ws_cur *c, size_t n)
{
	const uint8_t *p = c->p;

	if (c->err)
		return NULL;
	if ((size_t)(c->end - p) < n) {
		c->err = "bytes are cut off";
		return NULL;
	}
	c->p += n;
	return p;
}

static unsigned
get_u8(struct ws_cur *c)
{
	const uint8_t *p = ws_get_bytes(c, 1);

	return p ? *p : 0;
}

static uint32_t
get_u32(struct ws_cur *c)
{
	return (uint32_t)ws_get_max(c, UINT32_MAX, "a number of more than 32 bits");
}

static uint64_t
get_delta(struct ws_cur *c, uint64_t past)
{
	return past + unzigzag(ws_get(c));
}

/* A difference that must not be 0, because only changes are written. */
static uint64_t
get_change(struct ws_cur *c, uint64_t past)
{
	uint64_t z = ws_get(c);

	if (!z && !c->err)
		c->err = "a change that is none";
	return past + unzigzag(z);
}

/* A multiple of `unit`, stored divided by it. */
static uint64_t
get_units(struct ws_cur *c, uint64_t unit)
{
	return ws_get_max(c, UINT64_MAX / unit, "a size that is too large") * unit;
}

static uint64_t
get_delta_units(struct ws_cur *c, uint64_t past, uint64_t unit)
{
	int64_t d = (int64_t)unzigzag(ws_get(c)), most = INT64_MAX / (int64_t)unit;

	if (d > most || d < -most - 1) {
		if (!c->err)
			c->err = "a distance that is too large";
		return past;
	}
	return past + (uint64_t)d * unit;
}

/* A string, terminated by NUL, in b. */
static const char *
get_str(struct ws_cur *c, struct buf *b)
{
	size_t n = (size_t)ws_get_max(c, WS_STR_MAX, "a string is too long");
	const uint8_t *p = ws_get_bytes(c, n);

	b->n = 0;
	if (!p || !n)
		return "";
	if (memchr(p, 0, n)) {
		c->err = "a string with a zero byte";
		return "";
	}
	buf_add(b, p, n);
	buf_u8(b, 0);
	if (b->nomem) {
		c->err = "out of memory";
		return "";
	}
	return (const char *)b->p;
}

static void
get_regs(struct ws_history *a, struct ws_cur *c, struct ws_regs *g)
{
	uint64_t mask = ws_get_max(c, (1u << 20) - 1, "registers that do not exist");

	for (int i = 0; i < 20; i++)
		if (mask >> i & 1)
			*ws_reg(&a->regs, i) = get_change(c, *ws_reg(&a->regs, i));
	*g = a->regs;
}

static void
get_xsave(struct ws_cur *s, const uint8_t **p, size_t *n)
{
	*n = (size_t)ws_get_max(&s[WS_S_CONTROL], WS_XSAVE_MAX, "a processor state that is too long");
	*p = ws_get_bytes(&s[WS_S_DATA], *n);
	if (*p && *n && !(*p)[*n - 1])
		s[WS_S_DATA].err = "a processor state that ends with zeros";
}

/* The file of a mapping, which must differ from that of the mapping before. */
static void
get_file(struct ws_history *a, struct ws_cur *c)
{
	uint64_t dev = ws_get(c), ino = ws_get(c);
	size_t n = (size_t)ws_get_max(c, WS_STR_MAX, "a string is too long");
	const uint8_t *name = ws_get_bytes(c, n);
	size_t nid = (size_t)ws_get_max(c, WS_ID_MAX, "a build id is too long");
	const uint8_t *id = ws_get_bytes(c, nid);

	if (c->err)
		return;
	if (n && memchr(name, 0, n))
		c->err = "a string with a zero byte";
	if (dev == a->dev && ino == a->ino && (n ? n + 1 : 0) == a->name.n &&
	    (!n || !memcmp(name, a->name.p, n)) &&
	    nid == a->id.n && (!nid || !memcmp(id, a->id.p, nid)))
		c->err = "the file of the mapping before, told again";
	a->dev = dev;
	a->ino = ino;
	a->name.n = a->id.n = 0;
	buf_add(&a->name, name, n);
	if (n)
		buf_u8(&a->name, 0);
	buf_add(&a->id, id, nid);
	if (a->name.nomem || a->id.nomem)
		c->err = "out of memory";
}

static void
get_map(struct ws_history *a, struct ws_cur *c, struct ws_rec_map *m, unsigned head)
{
	unsigned pf;

	m->addr = get_delta_units(c, a->map_end, WS_PAGE);
	m->len = get_units(c, WS_PAGE);
	pf = get_u8(c);
	m->prot = pf & 7;
	m->flags = pf >> 3;
	m->type = get_u32(c);
	m->offset = ws_get(c);
	a->map_end = m->addr + m->len;
	if (!(head & WS_H_SAMEFILE))
		get_file(a, c);
	m->dev = a->dev;
	m->ino = a->ino;
	m->name = a->name.n ? (const char *)a->name.p : "";
	m->id = a->id.p;
	m->nid = a->id.n;
}

static void
get_range(struct ws_history *a, struct ws_cur *c, struct ws_rec_range *g, unsigned prot)
{
	g->addr = get_delta_units(c, a->map_end, WS_PAGE);
	g->len = get_units(c, WS_PAGE);
	g->prot = prot;
	a->map_end = g->addr + g->len;
}

static void
get_mem(struct ws_history *a, struct ws_cur *s, struct ws_rec_mem *m, unsigned head)
{
	struct ws_cur *c = &s[WS_S_CONTROL], *from;

	if (head & WS_H_LINES) {
		m->addr = get_delta_units(c, a->mem_end, WS_LINE);
		m->n = get_units(c, WS_LINE);
	} else {
		m->addr = get_delta(c, a->mem_end);
		m->n = ws_get(c);
	}
	if (!c->err && !(head & WS_H_LINES) != !!((m->addr | m->n | a->mem_end) % WS_LINE))
		c->err = "memory of whole lines, not told in lines";
	a->mem_end = m->addr + m->n;
	m->p = NULL;
	m->where = 0;
	m->page = 0;
	if (!(head & (WS_H_FROM | WS_H_PAGES)) || c->err)
		return;
	if (!(head & WS_H_FROM)) {
		c->err = "unknown kind or flags of a record";
		return;
	}
	m->where = (head & WS_H_FROM) / 0x10 - 1;
	if (m->n > WS_MEM_MAX || !m->n) {
		c->err = "a piece of memory that is empty or too long";
		return;
	}
	if (head & WS_H_PAGES) {
		uint64_t page = get_delta(c, a->page_end);

		if (m->n % WS_PAGE || page > UINT64_MAX / 2)
			c->err = "pages of the file that are none";
		a->page_end = page + m->n / WS_PAGE;
		m->page = page + 1;
		return;
	}
	from = &s[WS_S_DATA + m->where];
	m->p = ws_get_bytes(from, m->n);
}

static void
get_sys(struct ws_history *a, struct ws_cur *s, struct ws_rec_sys *y, unsigned head)
{
	struct ws_cur *c = &s[WS_S_CONTROL];
	struct ws_past_sys *o;
	const uint8_t *h;
	unsigned mask, ret = head >> 4;

	y->nr = ws_get(c);
	mask = get_u8(c);
	if (!c->err && (mask > 0x7f || ret > WS_RET_DELTA))
		c->err = "unknown flags of a system call";
	o = &a->sys[ws_slot(y->nr)];
	if (mask >> 6)
		o->pc = get_change(c, o->pc);
	for (int i = 0; i < 6; i++)
		if (mask >> i & 1)
			o->arg[i] = get_change(c, o->arg[i]);
	y->ret = ret == WS_RET_SAME ? o->ret : ret == WS_RET_ARG2 ? o->arg[2] : ret == WS_RET_ZERO ? 0 :
	    get_delta(c, o->ret);
	if (!c->err &&
	    ((ret > WS_RET_SAME && y->ret == o->ret) || (ret > WS_RET_ARG2 && y->ret == o->arg[2]) ||
		(ret > WS_RET_ZERO && !y->ret)))
		c->err = "a result that is told in a longer way than it could";
	o->ret = y->ret;
	y->pc = o->pc;
	memcpy(y->arg, o->arg, sizeof(y->arg));
	h = ws_get_bytes(&s[WS_S_HASH], 4);
	y->hash = h ? get_le32(h) : 0;
}

static void
get_tsc(struct ws_history *a, struct ws_cur *c, struct ws_rec_tsc *t, unsigned head)
{
	unsigned flags = head & 0xf0;

	t->value = a->tsc = get_delta(c, a->tsc);
	t->has_aux = !!(flags & WS_H_AUX);
	t->aux = 0;
	if (flags == (WS_H_AUX | WS_H_NEWAUX)) {
		uint32_t aux = get_u32(c);

		if (aux == a->aux && !c->err)
			c->err = "a change that is none";
		a->aux = aux;
	} else if (flags & ~(unsigned)WS_H_AUX)
		c->err = "unknown flags of a time stamp";
	if (t->has_aux)
		t->aux = a->aux;
}

static void
get_sig(struct ws_history *a, struct ws_cur *s, struct ws_rec_sig *g, unsigned head)
{
	struct ws_cur *c = &s[WS_S_CONTROL];
	unsigned flags = head & 0xf0;

	g->sig = get_u32(c);
	g->thread = g->sig == WS_SWITCH ? get_u32(c) : 0;
	get_regs(a, c, &g->at);
	get_regs(a, c, &g->to);
	get_xsave(s, &g->xsave, &g->nxsave);
	g->icount = flags == WS_H_ICOUNT ? ws_get(c) : WS_UNKNOWN;
	if (!c->err && flags & WS_H_ICOUNT && (flags != WS_H_ICOUNT || g->icount == WS_UNKNOWN))
		c->err = "unknown flags of a signal";
	if (flags & WS_H_STACK) {
		g->nstack = (size_t)ws_get_max(c, WS_SIGSTACK, "more stack than a signal is found by");
		g->stack = ws_get_bytes(&s[WS_S_DATA], g->nstack);
	}
	if (flags & WS_H_WORDS) {
		g->nwords = (size_t)ws_get_max(c, WS_SIGWORDS, "more memory than a signal is found by");
		g->words = ws_get_bytes(&s[WS_S_DATA], g->nwords * WS_SIGWORD);
	}
	if (!c->err && ((flags & WS_H_STACK && !g->nstack) || (flags & WS_H_WORDS && !g->nwords)))
		c->err = "unknown flags of a signal";
}

static void
get_rand(struct ws_cur *c, struct ws_rec_rand *d, unsigned head)
{
	d->insn = (head & WS_H_INSN) >> 4;
	d->failed = !!(head & WS_H_FAILED);
	d->value = d->failed ? 0 : ws_get(c);
}

static void
get_key(struct ws_cur *c, struct ws_rec_state *k, unsigned head)
{
	k->icount = ws_get(c);
	k->trigger = ws_get(c);
	k->instances = WS_UNKNOWN;
	if (head & WS_H_INSTANCES)
		k->instances = ws_get_max(c, WS_UNKNOWN - 1, "a number of instances that stands for none");
	k->thread = head & WS_H_THREAD ? get_u32(c) : 0;
	if (!c->err && head & WS_H_THREAD && k->thread < 2)
		c->err = "the first thread, told";
}

static void
get_rest(struct ws_history *a, struct ws_cur *s, struct ws_rec *r, unsigned head)
{
	struct ws_cur *c = &s[WS_S_CONTROL];

	switch (r->kind) {
	case WS_KEY:
		get_key(c, &r->u.state, head);
		/* fall through */
	case WS_START:
		get_regs(a, c, &r->u.state.regs);
		get_xsave(s, &r->u.state.xsave, &r->u.state.nxsave);
		return;
	case WS_MOVE:
		r->u.move.from = get_units(c, WS_PAGE);
		r->u.move.oldlen = get_units(c, WS_PAGE);
		r->u.move.to = get_units(c, WS_PAGE);
		r->u.move.newlen = get_units(c, WS_PAGE);
		return;
	case WS_CPUID:
		r->u.cpuid = (struct ws_cpuid){ .leaf = get_u32(c) };
		r->u.cpuid.sub = get_u32(c);
		r->u.cpuid.eax = get_u32(c);
		r->u.cpuid.ebx = get_u32(c);
		r->u.cpuid.ecx = get_u32(c);
		r->u.cpuid.edx = get_u32(c);
		return;
	case WS_END:
		r->u.end.how = get_u32(c);
		r->u.end.status = get_u32(c);
		r->u.end.icount = ws_get(c) - 1;
		return;
	case WS_TIME:
		r->u.time = ws_get(c);
		return;
	case WS_NOTE:
		r->u.note = get_str(c, &a->note);
		return;
	default:
		return;
	}
}

/* Flags that are valid in the head byte of each kind. */
static const uint8_t head_flags[WS_NKINDS] = {
	[WS_MAP] = WS_H_SAMEFILE, [WS_PROT] = 0x70, [WS_MEM] = WS_H_FROM | WS_H_LINES | WS_H_PAGES, [WS_SYS] = 0x30,
	[WS_TSC] = WS_H_AUX | WS_H_NEWAUX, [WS_SIG] = WS_H_ICOUNT | WS_H_STACK | WS_H_WORDS,
	[WS_KEY] = WS_H_INSTANCES | WS_H_THREAD, [WS_RAND] = WS_H_INSN | WS_H_FAILED,
};

int
ws_decode(struct ws_history *a, struct ws_cur *s, struct ws_rec *r, unsigned *bad)
{
	struct ws_cur *c = &s[WS_S_CONTROL];
	unsigned head = get_u8(c), kind = head & 15;

	*bad = WS_S_CONTROL;
	if (c->err)
		return -1;
	if (kind >= WS_NKINDS || (head & 0xf0 & ~(unsigned)head_flags[kind])) {
		c->err = "unknown kind or flags of a record";
		return -1;
	}
	memset(r, 0, sizeof(*r));
	r->kind = kind;
	switch (r->kind) {
	case WS_MAP: get_map(a, c, &r->u.map, head); break;
	case WS_PROT: case WS_UNMAP: get_range(a, c, &r->u.range, head >> 4); break;
	case WS_MEM: get_mem(a, s, &r->u.mem, head); break;
	case WS_SYS: get_sys(a, s, &r->u.sys, head); break;
	case WS_TSC: get_tsc(a, c, &r->u.tsc, head); break;
	case WS_SIG: get_sig(a, s, &r->u.sig, head); break;
	case WS_RAND: get_rand(c, &r->u.rand, head); break;
	default: get_rest(a, s, r, head); break;
	}
	if (!c->err)
		c->err = ws_check(r);
	for (*bad = 0; *bad < WS_NSTREAMS; (*bad)++)
		if (s[*bad].err)
			return -1;
	return 0;
}
