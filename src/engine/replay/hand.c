/*
 * Helpers of translated code.  The guest's vector registers are in the
 * hardware: this file is compiled with -mgeneral-regs-only and calls nothing.
 * Whatever may fault leaves the frame as it was before the element at hand.
 */
#include <Zydis/Zydis.h>
#include "stub.h"

struct u16 { uint16_t v; } __attribute__((packed, may_alias));
struct u32 { uint32_t v; } __attribute__((packed, may_alias));
struct u64 { uint64_t v; } __attribute__((packed, may_alias));

#define BARRIER() __asm__ volatile("" ::: "memory")
#define PAGE 4096u

struct rp_xcomp rp_xcomp[64];

static uint64_t
get(const uint8_t *p, unsigned size)
{
	switch (size) {
	case 1: return *(const volatile uint8_t *)p;
	case 2: return ((const volatile struct u16 *)p)->v;
	case 4: return ((const volatile struct u32 *)p)->v;
	default: return ((const volatile struct u64 *)p)->v;
	}
}

static void
set(uint8_t *p, unsigned size, uint64_t v)
{
	switch (size) {
	case 1: *(volatile uint8_t *)p = (uint8_t)v; break;
	case 2: ((volatile struct u16 *)p)->v = (uint16_t)v; break;
	case 4: ((volatile struct u32 *)p)->v = (uint32_t)v; break;
	default: ((volatile struct u64 *)p)->v = v; break;
	}
}

/* Instructions counted so far, and n more */
static uint64_t
count(const struct rp_frame *f)
{
	return f->base + (f->mode != RP_NONE ? f->ic : f->out);
}

/* n fetches of a string instruction */
static void
advance(struct rp_frame *f, uint64_t n)
{
	f->half = 1;
	f->less -= n;
	if (f->mode != RP_NONE)
		f->ic += n;
	else
		f->out += n;
}

static void
word(struct rp_frame *f, unsigned kind, uint64_t addr, unsigned size)
{
	*(uint64_t *)(uintptr_t)f->out = ref_make(kind, addr, size);
	f->out += 8;
}

/* The status flags of a - b */
static uint64_t
compare(uint64_t a, uint64_t b, unsigned size)
{
	uint64_t fl;

	switch (size) {
	case 1: __asm__("cmpb %b2, %b1; pushfq; popq %0" : "=r"(fl) : "q"(a), "q"(b) : "cc"); break;
	case 2: __asm__("cmpw %w2, %w1; pushfq; popq %0" : "=r"(fl) : "r"(a), "r"(b) : "cc"); break;
	case 4: __asm__("cmpl %k2, %k1; pushfq; popq %0" : "=r"(fl) : "r"(a), "r"(b) : "cc"); break;
	default: __asm__("cmpq %2, %1; pushfq; popq %0" : "=r"(fl) : "r"(a), "r"(b) : "cc"); break;
	}
	return fl & 0x8d5;
}

static void
element_refs(struct rp_frame *f, const struct rp_hinfo *h, uint64_t si, uint64_t di)
{
	if (!h->refs)
		return;
	if (f->mode == RP_REFS)
		word(f, REF_INST, h->pc, h->len);
	if (h->op == RS_CMPS)
		word(f, REF_LOAD, di, h->size);
	if (h->op == RS_MOVS || h->op == RS_CMPS || h->op == RS_LODS)
		word(f, REF_LOAD, si, h->size);
	if (h->op == RS_SCAS)
		word(f, REF_LOAD, di, h->size);
	if (h->op == RS_MOVS || h->op == RS_STOS)
		word(f, REF_STORE, di, h->size);
}

static uint64_t
segment(const struct rp_frame *f, const struct rp_hinfo *h)
{
	return h->seg == 1 ? f->fsbase : h->seg == 2 ? f->gsbase : 0;
}

/* A register that addresses or counts: with narrow addresses only half of it */
static uint64_t
half(const struct rp_hinfo *h, uint64_t v)
{
	return h->addr32 ? (uint32_t)v : v;
}

/* What a reference has loaded or stored: behind the references when their record is complete */
static void
content(struct rp_frame *f, const struct rp_hinfo *h, uint64_t v)
{
	if (h->memory)
		((uint64_t *)(uintptr_t)f->side)[f->nside++] = v;
}

/* One element; 1: its comparison ends the repetition */
static int
element(struct rp_frame *f, const struct rp_hinfo *h)
{
	uint64_t *rax = rp_reg(f, RAX), *rsi = rp_reg(f, RSI), *rdi = rp_reg(f, RDI);
	uint64_t si = half(h, *rsi) + segment(f, h), di = half(h, *rdi), step = f->rflags & 0x400 ? -(uint64_t)h->size : h->size, v, w, fl;
	int ends = 0;

	f->out0 = f->out;
	element_refs(f, h, si, di);
	BARRIER();
	switch (h->op) {
	case RS_MOVS:
		v = get(rp_host(si), h->size);
		set(rp_host(di), h->size, v);
		content(f, h, v);
		content(f, h, v);
		break;
	case RS_STOS:
		set(rp_host(di), h->size, *rax);
		content(f, h, *rax);
		break;
	case RS_LODS:
		v = get(rp_host(si), h->size);
		content(f, h, v);
		*rax = h->size == 1 ? (*rax & ~UINT64_C(255)) | v : h->size == 2 ? (*rax & ~UINT64_C(65535)) | v : v;
		break;
	default:
		v = get(rp_host(di), h->size);
		w = h->op == RS_CMPS ? get(rp_host(si), h->size) : *rax;
		fl = compare(w, v, h->size);
		content(f, h, v);
		if (h->op == RS_CMPS)
			content(f, h, w);
		f->rflags = (f->rflags & ~UINT64_C(0x8d5)) | fl;
		ends = h->rep == 2 ? (fl & 0x40) != 0 : (fl & 0x40) == 0;
	}
	BARRIER();
	if (h->op == RS_MOVS || h->op == RS_CMPS || h->op == RS_LODS)
		*rsi = half(h, *rsi + step);
	if (h->op != RS_LODS)
		*rdi = half(h, di + step);
	if (h->rep)
		*rp_reg(f, RCX) = half(h, *rp_reg(f, RCX) - 1);
	advance(f, 1);
	BARRIER();
	return ends;
}

/* Elements from here to the end of the page, in the direction of higher addresses */
static uint64_t
in_page(uint64_t a, unsigned size)
{
	return (PAGE - (a & (PAGE - 1))) / size;
}

/* n elements of movs or stos that cannot fault, upwards */
static void
bulk(struct rp_frame *f, const struct rp_hinfo *h, uint64_t n)
{
	uint64_t *rsi = rp_reg(f, RSI), *rdi = rp_reg(f, RDI), i, c = n;
	uint8_t *s = rp_host(*rsi), *d = rp_host(*rdi);

	if (h->refs)
		for (i = 0; i < n; i++)
			element_refs(f, h, *rsi + i * h->size, *rdi + i * h->size);
	if (h->op == RS_MOVS)
		switch (h->size) {
		case 1: __asm__ volatile("rep movsb" : "+c"(c), "+S"(s), "+D"(d) :: "memory"); break;
		case 2: __asm__ volatile("rep movsw" : "+c"(c), "+S"(s), "+D"(d) :: "memory"); break;
		case 4: __asm__ volatile("rep movsl" : "+c"(c), "+S"(s), "+D"(d) :: "memory"); break;
		default: __asm__ volatile("rep movsq" : "+c"(c), "+S"(s), "+D"(d) :: "memory"); break;
		}
	else
		switch (h->size) {
		case 1: __asm__ volatile("rep stosb" : "+c"(c), "+D"(d) : "a"(*rp_reg(f, RAX)) : "memory"); break;
		case 2: __asm__ volatile("rep stosw" : "+c"(c), "+D"(d) : "a"(*rp_reg(f, RAX)) : "memory"); break;
		case 4: __asm__ volatile("rep stosl" : "+c"(c), "+D"(d) : "a"(*rp_reg(f, RAX)) : "memory"); break;
		default: __asm__ volatile("rep stosq" : "+c"(c), "+D"(d) : "a"(*rp_reg(f, RAX)) : "memory"); break;
		}
	if (h->op == RS_MOVS)
		*rsi += n * h->size;
	*rdi += n * h->size;
	*rp_reg(f, RCX) -= n;
	advance(f, n);
}

/* How many elements may follow at once, the one at hand having shown that its pages are there */
static uint64_t
ahead(struct rp_frame *f, const struct rp_hinfo *h, uint64_t max)
{
	uint64_t n = *rp_reg(f, RCX), m;

	if ((h->op != RS_MOVS && h->op != RS_STOS) || f->rflags & 0x400 || h->addr32 || h->seg || h->memory)
		return 0;
	if (n > max)
		n = max;
	if (h->refs && n > (m = (f->end - f->out) / 8 / 4))
		n = m;
	/* the element just done is in the same page only if rdi is not at a page's start now */
	if ((*rp_reg(f, RDI) & (PAGE - 1)) < h->size || (h->op == RS_MOVS && (*rp_reg(f, RSI) & (PAGE - 1)) < h->size))
		return 0;
	if (n > (m = in_page(*rp_reg(f, RDI), h->size)))
		n = m;
	if (h->op == RS_MOVS && n > (m = in_page(*rp_reg(f, RSI), h->size)))
		n = m;
	return n;
}

void
rp_record(struct rp_frame *f, uint64_t done)
{
	uint64_t *w = (uint64_t *)(uintptr_t)f->record, i;

	w[0] = ((f->out - f->record) / 8 - FACT_RECORD) | (f->ic - f->ic0) << 32 | done;
	w[1] = *rp_reg(f, RCX);
	w[2] = *rp_reg(f, RSI);
	w[3] = *rp_reg(f, RDI);
	w[4] = *rp_reg(f, RAX);
	w[5] = (f->rflags & 0xd5) << 8 | (f->rflags >> 11 & 1);
	for (i = 0; i < f->nside; i++, f->out += 8)
		*(volatile uint64_t *)(uintptr_t)f->out = ((const uint64_t *)(uintptr_t)f->side)[i];
	f->record = 0;
}

/* Is there room for another element? */
static int
room(const struct rp_frame *f, const struct rp_hinfo *h)
{
	return !h->refs || (f->end - f->out >= 64 + 8 * f->nside + 64 && f->nside + 4 < RP_NSIDE);
}

static uint64_t
stop(struct rp_frame *f, const struct rp_hinfo *h)
{
	if (f->record)
		rp_record(f, 0);
	f->rip = h->pc;
	f->why = RW_CHECK;
	f->inhelper = 0;
	return 1;
}

uint64_t
rp_hand_string(struct rp_frame *f, const struct rp_hinfo *h)
{
	uint64_t done = 0, n, left;

	f->nside = 0;
	if (h->record) {
		f->record = f->out;
		f->out += 8 * FACT_RECORD;
		f->ic0 = f->ic;
	}
	f->inhelper = (uint64_t)(uintptr_t)h;
	for (;;) {
		if (!h->rep) {
			element(f, h);
			break;
		}
		left = f->limit - count(f);
		if (left == 0 || done == f->maxelem || !room(f, h))
			return stop(f, h);
		if (half(h, *rp_reg(f, RCX)) == 0) {
			if (f->mode == RP_REFS)
				word(f, REF_INST, h->pc, h->len);
			advance(f, 1);
			break;
		}
		done++;
		if (element(f, h) && h->op != RS_MOVS && h->op != RS_STOS && h->op != RS_LODS)
			break;
		if (f->maxelem == UINT64_MAX && (n = ahead(f, h, left - 1)) > 1)
			bulk(f, h, n);
	}
	f->inhelper = 0;
	f->half = 0;
	f->less++;
	if (f->record)
		rp_record(f, FACT_DONE);
	return 0;
}

static uint64_t
address(struct rp_frame *f, const struct rp_hinfo *h)
{
	uint64_t a = (uint64_t)h->disp;

	if (h->base >= 0)
		a += *rp_reg(f, h->base);
	if (h->index >= 0)
		a += *rp_reg(f, h->index) * h->scale;
	if (h->addr32)
		a = (uint32_t)a;
	return a + segment(f, h);
}

static uint64_t
mask_of(const struct rp_frame *f, const struct rp_hinfo *h)
{
	uint64_t m = 0;
	unsigned i, n = h->packed == 2 ? 64 : h->n;

	if (h->kfrom == 0)
		m = f->kmask;
	else if (h->kfrom == 2)
		for (i = 0; i < h->n; i++)
			m |= (f->vec[1][i / 8] >> (8 * (i & 7) + 7) & 1) << i;
	else
		for (i = 0; i < h->n; i++)
			if (h->size == 8 ? f->vec[1][i] >> 63 : f->vec[1][i / 2] >> (i & 1 ? 63 : 31) & 1)
				m |= UINT64_C(1) << i;
	return n < 64 ? m & ((UINT64_C(1) << n) - 1) : m;
}

static void
pieces(struct rp_frame *f, unsigned kind, uint64_t a, uint64_t n)
{
	while (n) {
		unsigned k = n > REF_SIZEMAX ? REF_PIECE : (unsigned)n;

		word(f, kind, a, k);
		a += k;
		n -= k;
	}
}

/* One reference for each run of adjacent active elements */
static void
masked(struct rp_frame *f, const struct rp_hinfo *h, uint64_t a)
{
	uint64_t m = mask_of(f, h);
	unsigned i = 0, j;

	if (h->packed == 1) {
		for (; m; m &= m - 1)
			i++;
		pieces(f, h->ref, a, i * h->size);
		return;
	}
	if (h->packed == 2) {
		if (m)
			word(f, h->ref, a, h->size);
		return;
	}
	while (i < h->n) {
		if (!(m >> i & 1)) {
			i++;
			continue;
		}
		for (j = i; j < h->n && (m >> j & 1); j++)
			;
		word(f, h->ref, a + (uint64_t)i * h->size, (j - i) * h->size);
		i = j;
	}
}

/* A gather or scatter, element by element; vec[2] is as its register, or to be it */
static void
indexed(struct rp_frame *f, const struct rp_hinfo *h, uint64_t a)
{
	uint64_t m = mask_of(f, h), x, e, *v = f->vec[2];
	unsigned i, sh;

	for (i = 0; i < h->n; i++) {
		if (!(m >> i & 1))
			continue;
		x = h->isize == 8 ? f->vec[0][i] : (uint64_t)(int64_t)(int32_t)(f->vec[0][i / 2] >> (i & 1 ? 32 : 0));
		e = a + x * h->scale;
		if (h->addr32)
			e = (uint32_t)(e - segment(f, h)) + segment(f, h);
		if (h->refs)
			word(f, h->ref, e, h->size);
		BARRIER();
		sh = h->size == 4 && (i & 1) ? 32 : 0;
		if (h->ref == REF_STORE)
			set(rp_host(e), h->size, v[h->size == 8 ? i : i / 2] >> sh);
		else if (h->size == 8)
			v[i] = get(rp_host(e), 8);
		else
			v[i / 2] = (v[i / 2] & ~(UINT64_C(0xffffffff) << sh)) | get(rp_host(e), 4) << sh;
	}
	for (i = h->n * h->size; i < 64; i += 4)        /* behind the data's length there is nothing */
		v[i / 8] &= i & 4 ? UINT64_C(0xffffffff) : 0;
}

static uint64_t
xsave_size(const struct rp_frame *f, const struct rp_hinfo *h, uint64_t a)
{
	uint64_t m = (*rp_reg((struct rp_frame *)(uintptr_t)f, RDX) << 32 | (uint32_t)*rp_reg((struct rp_frame *)(uintptr_t)f, RAX)) & f->xcr0;
	uint64_t comp = h->packed ? m : 0, end = 576;
	int i;

	if (h->ref == REF_LOAD)
		comp = get(rp_host(a + 520), 8);
	for (i = 2; i < 63; i++) {
		if (comp) {
			if (comp >> i & 1) {
				if (rp_xcomp[i].align)
					end = (end + 63) & ~UINT64_C(63);
				end += rp_xcomp[i].size;
			}
		} else if (m >> i & 1 && end < rp_xcomp[i].off + rp_xcomp[i].size)
			end = rp_xcomp[i].off + rp_xcomp[i].size;
	}
	return end > 16384 ? 16384 : end;
}

/*
 * Behind the references at out0, what each of them loads (stored: 0, room for
 * what is stored is left) or has stored (1).
 */
static void
contents(struct rp_frame *f, int stored)
{
	uint64_t *w = (uint64_t *)(uintptr_t)f->out0, n = (uint32_t)*w, i, k, *to = w + 1 + n;
	unsigned s, size;

	for (i = 1; i <= n; i++)
		for (s = 0; s < 2; s++) {
			if (s ? ref_kind(w[i]) == REF_LOAD : ref_kind(w[i]) == REF_STORE)
				continue;
			size = ref_size(w[i]);
			for (k = 0; s == (unsigned)stored && k < size; k++)
				((volatile uint8_t *)to)[k] = *(const volatile uint8_t *)rp_host(ref_addr(w[i]) + k);
			to += (size + 7) / 8;
		}
	*w = n | (uint64_t)(to - (w + 1 + n)) << 32;
	if (!stored)
		f->out = (uint64_t)(uintptr_t)to;
}

/* The same for gathers and scatters, whose elements it has one by one */
static void
elements(struct rp_frame *f, const struct rp_hinfo *h, const uint64_t *v)
{
	uint64_t m = mask_of(f, h);
	unsigned i;

	for (i = 0; i < h->n; i++)
		if (m >> i & 1) {
			*(volatile uint64_t *)(uintptr_t)f->out = h->size == 8 ? v[i] : (uint32_t)(v[i / 2] >> (i & 1 ? 32 : 0));
			f->out += 8;
		}
}

uint64_t
rp_hand_refs(struct rp_frame *f, const struct rp_hinfo *h)
{
	uint64_t a = address(f, h);

	f->inhelper = (uint64_t)(uintptr_t)h;
	f->out0 = f->out;
	if (h->refs)
		word(f, REF_INST, h->pc, h->len);
	BARRIER();
	switch (h->kind) {
	case RH_MASKED:
		masked(f, h, a);
		break;
	case RH_BITS: {
		uint64_t r = *rp_reg(f, h->reg);
		int64_t bit = h->size == 8 ? (int64_t)r : h->size == 4 ? (int32_t)r : (int16_t)r;

		word(f, h->ref, a + (uint64_t)((bit >> (h->size == 8 ? 6 : h->size == 4 ? 5 : 4)) * h->size), h->size);
		break;
	}
	case RH_XSAVE:
		pieces(f, h->ref, a, xsave_size(f, h, a));
		break;
	case RH_VSIB:
		indexed(f, h, a);
		break;
	default:
		break;
	}
	if (h->refs && f->mode == RP_VALUES)
		*(uint64_t *)(uintptr_t)f->out0 = (f->out - f->out0) / 8 - 1;
	if (h->memory && h->kind == RH_VSIB) {
		uint64_t *w = (uint64_t *)(uintptr_t)f->out0;

		elements(f, h, f->vec[2]);
		*w |= *w << 32;
	} else if (h->memory)
		contents(f, 0);
	f->inhelper = 0;
	return 0;
}

uint64_t
rp_hand_stored(struct rp_frame *f, const struct rp_hinfo *h)
{
	(void)h;
	contents(f, 1);
	return 0;
}

uint64_t
rp_hand_xgetbv(struct rp_frame *f, const struct rp_hinfo *h)
{
	uint32_t lo = (uint32_t)f->xcr0, hi = (uint32_t)(f->xcr0 >> 32);

	(void)h;
	if ((uint32_t)*rp_reg(f, RCX) != 0)
		__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(1));
	*rp_reg(f, RAX) = lo;
	*rp_reg(f, RDX) = hi;
	return 0;
}
