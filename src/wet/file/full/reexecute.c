/* Executes statements of kind loads one at a time, on registers in memory. */
#include "wet/file/full/reexecute.h"

#include <stdlib.h>
#include <string.h>

#define STRINGS (UINT64_C(1) << 28)     /* bytes that string instructions may store in a segment */

void
load_init(struct load *l)
{
	memset(l, 0, sizeof *l);
	l->st.mxcsr = LOAD_MXCSR;
	load_begin(l);
}

void
load_free(struct load *l)
{
	load_free_code(l);
	loadmem_free(&l->mem);
	facts_free(l->facts);
	free(l->stmt);
	free(l->def);
}

void
load_begin(struct load *l)
{
	memset(l->saved, 0, sizeof l->saved);
	loadmem_clear(&l->mem);
	l->strings = STRINGS;
}

/*
 * Runs native code, which changes all registers but rsp.  The compiler may use the red zone,
 * 128 bytes below rsp.
 */
static void
reexecute_call(struct load_state *st, const uint8_t *code)
{
	__asm__ volatile("lea -136(%%rsp), %%rsp\n\tpush %%rbp\n\tcall *%1\n\t"
	    "pop %%rbp\n\tlea 136(%%rsp), %%rsp"
	    : "+D"(st), "+S"(code) :
	    : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cc",
	    "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
	    "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

static void
reexecute_native(struct load *l, const struct load_stmt *s)
{
	if (l->fresh && load_ready(l) != 0) {
		l->mem.nomem = 1;
		return;
	}
	if (s->fp && l->st.mxcsr != LOAD_MXCSR) {
		uint32_t host, guest = (uint32_t)l->st.mxcsr;

		__asm__ volatile("stmxcsr %0" : "=m"(host));
		__asm__ volatile("ldmxcsr %0" : : "m"(guest));
		reexecute_call(&l->st, s->code);
		__asm__ volatile("ldmxcsr %0" : : "m"(host));
		return;
	}
	reexecute_call(&l->st, s->code);
}

static uint64_t
reexecute_low(uint64_t v, unsigned size)
{
	return size == 8 ? v : v & ((UINT64_C(1) << 8 * size) - 1);
}

static int64_t
reexecute_sign(uint64_t v, unsigned size)
{
	return (int64_t)(v << (64 - 8 * size)) >> (64 - 8 * size);
}

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

/* Can the division be done without a trap? */
static int
may_divide(const struct load_state *st, const struct load_stmt *s)
{
	unsigned size = s->arg & 15;
	uint64_t v = s->dst == 32 ? reexecute_low(*(const uint64_t *)(const void *)st->mem, size) :
	    reexecute_low(st->r[s->dst & 15] >> (s->dst & 16 ? 8 : 0), size);
	uint64_t lo = reexecute_low(st->r[X86_RAX], size),
	    hi = size == 1 ? reexecute_low(st->r[X86_RAX] >> 8, 1) : reexecute_low(st->r[X86_RDX], size);
	wide n, q;

	if (!v)
		return 0;
	if (!(s->arg & 16))
		return hi < v;
	n = (wide)(((uwide)(wide)reexecute_sign(hi, size) << 8 * size) | lo);
	if (reexecute_sign(v, size) == -1 && size == 8 && hi == UINT64_C(1) << 63 && !lo)
		return 0;
	q = n / reexecute_sign(v, size);
	return q == (wide)reexecute_sign((uint64_t)q, size);
}

static void
reexecute_upper(struct load_state *st, unsigned from)
{
	for (unsigned i = 0; i < 16; i++)
		memset(st->vec[i] + from, 0, sizeof st->vec[i] - from);
}

static uint64_t
reexecute_where(const struct load_state *st, const struct load_stmt *s)
{
	uint64_t a = s->disp + (s->base < 16 ? st->r[s->base] : 0) +
	    (s->index < 16 ? st->r[s->index] * s->scale : 0);

	return (s->narrow ? (uint32_t)a : a) + st->seg[s->seg];
}

int
load_known(struct load *l, uint32_t k, uint64_t *w)
{
	const struct load_stmt *s = &l->stmt[k];

	if (s->kind >= LOAD_STOS)
		return 0;
	l->known = 1;
	if (!s->nload && !s->nstore && !s->forget)
		return 1;
	l->ea = reexecute_where(&l->st, s);
	if (s->nload) {
		w[s->nstored - 1] = 0;
		l->known = loadmem_read(&l->mem, l->ea, w, s->nload);
	}
	return l->known;
}

/*
 * A string instruction stored [from, to), one element after the other; src: copied from there;
 * NULL: from rax.
 */
static void
reexecute_string(struct load *l, const struct load_stmt *s, uint64_t from, uint64_t to, const uint64_t *src)
{
	uint64_t size = s->arg, n = to - from, dst = from;
	int64_t step = (int64_t)size;

	if (n >> 63) {
		n = -n;
		step = -step;
	}
	if (n > l->strings || n % size) {
		loadmem_clear(&l->mem);
		l->strings = 0;
		return;
	}
	l->strings -= n;
	for (uint64_t i = 0; i < n; i += size, dst += (uint64_t)step) {
		uint64_t v = l->st.r[X86_RAX];

		if (!src || loadmem_read(&l->mem, *src + (dst - from), &v, size))
			loadmem_write(&l->mem, dst, &v, size);
		else
			loadmem_forget(&l->mem, dst, size);
	}
}

/* Executes a statement whose words are in st.mem, and which stores only to st.mem. */
static void
reexecute_execute(struct load *l, uint32_t k, const struct load_stmt *s, const uint64_t *w)
{
	struct load_state *st = &l->st;
	uint64_t rsi = st->r[X86_RSI], rdi = st->r[X86_RDI];

	switch ((enum load_kind)s->kind) {
	case LOAD_NONE: break;
	case LOAD_DIV:
		if (may_divide(st, s))
			reexecute_native(l, s);
		break;
	case LOAD_NATIVE: reexecute_native(l, s); break;
	case LOAD_CONST: st->r[s->dst] = s->arg; break;
	case LOAD_STACK: st->r[X86_RSP] += s->arg; break;
	case LOAD_PUSH:
	case LOAD_CALL:
		memcpy(st->mem, s->kind == LOAD_PUSH ? &st->r[s->dst] : &s->arg, 8);
		st->r[X86_RSP] -= 8;
		break;
	case LOAD_POP:
		st->r[X86_RSP] += 8;
		st->r[s->dst] = w[0];
		break;
	case LOAD_LEAVE:
		st->r[X86_RSP] = st->r[X86_RBP] + 8;
		st->r[X86_RBP] = w[0];
		break;
	case LOAD_POPF:
		st->r[X86_RSP] += 8;
		st->flags = (w[0] & 0xd5) << 8 | 0x200 | (w[0] >> 11 & 1);
		break;
	case LOAD_LDMXCSR: st->mxcsr = load_mxcsr(w[0]); break;
	case LOAD_UPPER: reexecute_upper(st, 16); break;
	case LOAD_ALL: reexecute_upper(st, 0); break;
	case LOAD_SAVE: memcpy(l->saved, st->vec, sizeof l->saved); break;
	case LOAD_RESTORE: memcpy(st->vec, l->saved, sizeof l->saved); break;
	case LOAD_STOS:
	case LOAD_MOVS:
		load_set(l, k, w);
		reexecute_string(l, s, rdi, st->r[X86_RDI], s->kind == LOAD_MOVS ? &rsi : NULL);
		break;
	case LOAD_GIVEN: load_set(l, k, w); break;
	}
}

void
load_execute(struct load *l, uint32_t k, const uint64_t *w, int right)
{
	const struct load_stmt *s = &l->stmt[k];

	if (s->nload) {
		memcpy(l->st.mem, w, 8u * s->nstored);
		if (!l->known || !right)
			loadmem_write(&l->mem, l->ea, w, s->nload);
	}
	if (s->kind >= LOAD_STOS && s->forget)
		l->ea = reexecute_where(&l->st, s);
	reexecute_execute(l, k, s, w);
	if (s->nstore)
		loadmem_write(&l->mem, l->ea, l->st.mem, s->nstore);
	else if (s->forget == LOAD_ANYWHERE)
		loadmem_clear(&l->mem);
	else if (s->forget)
		loadmem_forget(&l->mem, l->ea, s->forget);
}

void
load_set(struct load *l, uint32_t k, const uint64_t *w)
{
	const struct load_stmt *s = &l->stmt[k];
	const struct load_def *d = l->def + s->def;

	for (unsigned i = 0; i < s->ndef; w += d[i++].n) {
		memcpy((uint8_t *)&l->st + d[i].at, w, 8u * d[i].n);
		if (d[i].clear)
			memset((uint8_t *)&l->st + d[i].at + 8u * d[i].n, 0, 64 - 8u * d[i].n);
	}
}

void
load_value(const struct load *l, uint32_t k, uint64_t *to)
{
	const struct load_stmt *s = &l->stmt[k];

	if (s->nval == WPORT_FLAGS)
		*to = fact_rflags(l->st.flags);
	else
		memcpy(to, (const uint8_t *)&l->st + s->val, 8u * s->nval);
}

/* Writes the nonzero registers: container plus 1, words; 0 ends the list. */
void
load_state_encode(const struct load_state *st, struct buf *b)
{
	for (unsigned reg = 0; reg < FACT_NREG; reg++) {
		uint16_t at = 0;
		unsigned n = load_state_offset(reg, &at);
		uint64_t v[8], any = 0;

		memcpy(v, (const uint8_t *)st + at, 8u * n);
		for (unsigned i = 0; i < n; i++)
			any |= v[i];
		if (!any)
			continue;
		col_put_number(b, reg + 1);
		for (unsigned i = 0; i < n; i++)
			col_put_number(b, v[i]);
	}
	col_put_number(b, 0);
}

int
load_state_decode(struct load_state *st, struct col_reader *r)
{
	uint64_t reg, v[8];
	uint16_t at;
	unsigned n;

	memset(st, 0, sizeof *st);
	for (;;) {
		if (col_get_number(r, FACT_NREG, &reg) != 0)
			return -1;
		if (!reg)
			break;
		n = load_state_offset((unsigned)reg - 1, &at);
		for (unsigned i = 0; i < n; i++)
			if (col_get_number(r, UINT64_MAX, &v[i]) != 0)
				return -1;
		memcpy((uint8_t *)st + at, v, 8u * n);
	}
	st->seg[2] = 0;
	st->mxcsr = load_mxcsr(st->mxcsr);
	return 0;
}
