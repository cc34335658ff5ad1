/* For tests of captures: random records, and comparing them */
#ifndef TESTDATA_FORMAT_WSMAKE_H
#define TESTDATA_FORMAT_WSMAKE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/ws/ws.h"

static uint64_t rnd_state = 1;

static uint64_t
rnd(void)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return rnd_state * 0x9e3779b97f4a7c15u;
}

/* Mostly small, some of any size, some at the edges */
static uint64_t
rnd_num(void)
{
	switch (rnd() % 8) {
	case 0: return rnd();
	case 1: return 0;
	case 2: return UINT64_MAX - rnd() % 3;
	case 3: return rnd() >> rnd() % 64;
	case 4: return 0x7f0000000000 + rnd() % 1000000;
	default: return rnd() % 300;
	}
}

static uint8_t rnd_bytes[3u << 20];

static void
rnd_regs(struct ws_regs *g)
{
	for (int i = 0; i < 16; i++)
		if (rnd() % 3 == 0)
			g->r[i] = rnd_num();
	g->rip = rnd_num();
	g->rflags = rnd_num();
	if (rnd() % 8 == 0)
		g->fsbase = rnd_num();
	if (rnd() % 8 == 0)
		g->gsbase = rnd_num();
}

/* n bytes somewhere in rnd_bytes; zero at the end is avoided unless `zero` */
static const uint8_t *
rnd_block(size_t n)
{
	return rnd_bytes + rnd() % (sizeof(rnd_bytes) - n);
}

static void
rnd_xsave(const uint8_t **p, size_t *n)
{
	*n = rnd() % 4 ? rnd() % 900 : 0;
	*p = rnd_block(*n);
	while (*n && !(*p)[*n - 1])
		--*n;
}

static void
rnd_range(uint64_t *addr, uint64_t *len)
{
	*addr = rnd() % 4 ? (0x7f0000000 + rnd() % 256) << 12 : rnd_num() << 12;
	*len = (1 + rnd() % 20) << 12;
	if (*addr + *len < *addr)
		*addr = 0;
}

static void
rnd_mem(struct ws_rec_mem *m)
{
	m->n = rnd() % 64 == 0 ? 1 + rnd() % (2u << 20) : rnd() % 2 ? 64 * (1 + rnd() % 4) : 1 + rnd() % 300;
	m->addr = rnd() % 2 ? (0x7f0000000 + rnd() % 256) << 12 : rnd_num();
	if (rnd() % 2)
		m->addr &= ~(uint64_t)63;
	if (m->addr + m->n < m->addr)
		m->addr = 0;
	m->p = rnd() % 8 ? rnd_block(m->n) : NULL;
}

static const char *
rnd_name(void)
{
	static const char *const names[] = { "", "/usr/lib/libc.so.6", "/bin/a", "\xff\x01", "[heap]" };

	return names[rnd() % 5];
}

static void
rnd_rec(struct ws_rec *r, enum ws_kind kind, struct ws_regs *g)
{
	memset(r, 0, sizeof(*r));
	r->kind = kind;
	switch (kind) {
	case WS_START: case WS_KEY:
		rnd_regs(g);
		r->u.state.regs = *g;
		r->u.state.icount = kind == WS_KEY ? rnd_num() : 0;
		r->u.state.instances = kind == WS_START ? 0 : rnd() % 2 ? WS_UNKNOWN : rnd_num();
		rnd_xsave(&r->u.state.xsave, &r->u.state.nxsave);
		break;
	case WS_MAP:
		rnd_range(&r->u.map.addr, &r->u.map.len);
		r->u.map.prot = rnd() % 8;
		r->u.map.type = rnd() % WS_NMAPS;
		r->u.map.flags = rnd() % 4;
		r->u.map.offset = rnd_num();
		r->u.map.dev = rnd() % 2;
		r->u.map.ino = rnd() % 2;
		r->u.map.name = rnd_name();
		r->u.map.nid = rnd() % 2 ? 20 : 0;
		r->u.map.id = rnd_bytes + rnd() % 2;
		break;
	case WS_PROT:
		r->u.range.prot = rnd() % 8;
		/* fall through */
	case WS_UNMAP:
		rnd_range(&r->u.range.addr, &r->u.range.len);
		break;
	case WS_MOVE:
		rnd_range(&r->u.move.from, &r->u.move.oldlen);
		rnd_range(&r->u.move.to, &r->u.move.newlen);
		break;
	case WS_MEM:
		rnd_mem(&r->u.mem);
		break;
	case WS_SYS:
		r->u.sys.pc = 0x7f0000001000 + rnd() % 3 * 16;
		r->u.sys.nr = rnd() % 8 ? rnd() % 4 : rnd_num();
		for (int i = 0; i < 6; i++)
			r->u.sys.arg[i] = rnd() % 2 ? 5 : rnd_num();
		r->u.sys.ret = rnd() % 3 ? rnd_num() : r->u.sys.arg[2];
		r->u.sys.hash = (uint32_t)rnd();
		break;
	case WS_SIG:
		r->u.sig.sig = rnd() % 65;
		rnd_regs(g);
		r->u.sig.at = *g;
		rnd_regs(g);
		r->u.sig.to = *g;
		rnd_xsave(&r->u.sig.xsave, &r->u.sig.nxsave);
		r->u.sig.icount = rnd() % 3 ? WS_UNKNOWN : rnd_num();
		if (r->u.sig.icount == WS_UNKNOWN && rnd() % 2)
			r->u.sig.stack = rnd_block(r->u.sig.nstack = 1 + rnd() % WS_SIGSTACK);
		if (r->u.sig.icount == WS_UNKNOWN && rnd() % 2)
			r->u.sig.words = rnd_block((r->u.sig.nwords = 1 + rnd() % WS_SIGWORDS) * WS_SIGWORD);
		break;
	case WS_TSC:
		r->u.tsc.value = rnd_num();
		r->u.tsc.has_aux = rnd() % 2;
		r->u.tsc.aux = r->u.tsc.has_aux ? rnd() % 3 : 0;
		break;
	case WS_CPUID:
		r->u.cpuid = (struct ws_cpuid){ (uint32_t)rnd_num(), 1, (uint32_t)rnd_num(), 3,
		    (uint32_t)rnd(), 0 };
		break;
	case WS_RAND:
		r->u.rand.insn = rnd() % WS_NRANDOMS;
		r->u.rand.failed = r->u.rand.insn != WS_RDPID && rnd() % 4 == 0;
		r->u.rand.value = r->u.rand.failed ? 0 : rnd_num();
		break;
	case WS_TIME:
		r->u.time = WS_TIME_LEAST + rnd_num() % (WS_TIME_MAX - WS_TIME_LEAST + 1);
		break;
	case WS_END:
		r->u.end.how = rnd() % WS_NHOWS;
		r->u.end.status = r->u.end.how == WS_EXITED ? rnd() % 256 : r->u.end.how == WS_KILLED ?
		    1 + rnd() % 64 : 0;
		r->u.end.icount = rnd_num();
		break;
	case WS_NOTE:
		r->u.note = rnd_name();
		break;
	default:
		break;
	}
}

static int
same_bytes(const void *p, size_t n, const void *q, size_t m)
{
	return n == m && (!n || !memcmp(p, q, n));
}

/* All but MEM, which may be split */
static int
same_rec(const struct ws_rec *a, const struct ws_rec *b)
{
	struct ws_rec x, y;

	if (a->kind != b->kind)
		return 0;
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	switch (a->kind) {
	case WS_START: case WS_KEY:
		if (!same_bytes(a->u.state.xsave, a->u.state.nxsave, b->u.state.xsave, b->u.state.nxsave))
			return 0;
		x.u.state.xsave = y.u.state.xsave = NULL;
		x.u.state.trigger = y.u.state.trigger = 0;
		break;
	case WS_SIG:
		if (!same_bytes(a->u.sig.xsave, a->u.sig.nxsave, b->u.sig.xsave, b->u.sig.nxsave))
			return 0;
		if (!same_bytes(a->u.sig.stack, a->u.sig.nstack, b->u.sig.stack, b->u.sig.nstack))
			return 0;
		if (!same_bytes(a->u.sig.words, a->u.sig.nwords, b->u.sig.words, b->u.sig.nwords))
			return 0;
		x.u.sig.xsave = y.u.sig.xsave = x.u.sig.stack = y.u.sig.stack = x.u.sig.words =
		    y.u.sig.words = NULL;
		break;
	case WS_MAP:
		if (!same_bytes(a->u.map.id, a->u.map.nid, b->u.map.id, b->u.map.nid) ||
		    strcmp(a->u.map.name, b->u.map.name))
			return 0;
		x.u.map.id = y.u.map.id = NULL;
		x.u.map.name = y.u.map.name = NULL;
		break;
	case WS_NOTE:
		return !strcmp(a->u.note, b->u.note);
	default:
		break;
	}
	return !memcmp(&x, &y, sizeof(x));
}

/* The bytes of pieces that are MEMs of the file, joined: is it the start of what was put?  Steps it. */
static int
take_mem(struct ws_rec_mem *want, const struct ws_rec_mem *m)
{
	static const uint8_t zero[1u << 20];

	if (m->addr != want->addr || m->n > want->n || (m->p && m->n > sizeof(zero)))
		return 0;
	for (size_t i = 0, k; i < m->n; i += k) {
		k = m->n - i < sizeof(zero) ? m->n - i : sizeof(zero);
		if (memcmp(m->p ? m->p + i : zero, want->p ? want->p + i : zero, k))
			return 0;
	}
	want->addr += m->n;
	want->n -= m->n;
	if (want->p)
		want->p += m->n;
	return 1;
}

/* What one test writes: room for a whole capture in memory */
struct sink {
	uint8_t *p;
	size_t n, cap;
};

static inline int
sink_write(void *arg, const void *p, size_t n)
{
	struct sink *s = arg;

	if (s->n + n > s->cap) {
		s->cap = 2 * (s->n + n);
		s->p = realloc(s->p, s->cap);
		if (!s->p)
			exit(2);
	}
	memcpy(s->p + s->n, p, n);
	s->n += n;
	return 0;
}

/* The header that all tests have */
static const char *const make_argv[] = { "prog", "", "a b", NULL };
static const struct ws_cpuid make_cpuid[] = { { 0, 0, 1, 2, 3, 4 }, { 7, 0, 1, 0, 0xffffffff, 0 },
    { 7, 1, 0, 0, 0, 0 } };
static const struct ws_header make_head = {
	.machine = WS_X86_64, .page = 4096, .line = 64, .flags = WS_TRIMMED, .xcr0 = 0xe7,
	    .when = 1000000000000000000,
	.version = "tracemill test", .brand = "A Processor", .kernel = "6.1", .exe = "/bin/prog",
	.argv = make_argv, .argc = 3, .cpuid = make_cpuid, .ncpuid = 3,
};

#endif
