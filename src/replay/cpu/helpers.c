/*
 * Helpers of translated code for strings, bits and masks.  The guest's vector registers are in
 * the hardware, so this file is compiled with -mgeneral-regs-only and calls nothing.  A fault
 * leaves the frame as it was before the current element.
 */
#include "replay/cpu/helpers_internal.h"

#define PAGE 4096u

/* Fetches so far. */
static uint64_t
helper_count(const struct rp_frame *f)
{
	return f->base + (helper_has_words(f) ? f->ic : f->mode == RP_TALLY ? rp_insts(f->out) : f->out);
}

/* Counts n fetches of a string instruction. */
static void
helper_advance(struct rp_frame *f, uint64_t n)
{
	f->half = 1;
	f->less -= n;
	if (helper_has_words(f))
		f->ic += n;
	else
		f->out += f->mode == RP_TALLY ? rp_packed(n, 0, 0) : n;
}

/* The status flags of a - b. */
static uint64_t
helper_compare(uint64_t a, uint64_t b, unsigned size)
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
		helper_word(f, REF_INST, h->pc, h->len);
	if (h->op == RS_CMPS)
		helper_word(f, REF_LOAD, di, h->size);
	if (h->op == RS_MOVS || h->op == RS_CMPS || h->op == RS_LODS)
		helper_word(f, REF_LOAD, si, h->size);
	if (h->op == RS_SCAS)
		helper_word(f, REF_LOAD, di, h->size);
	if (h->op == RS_MOVS || h->op == RS_STOS)
		helper_word(f, REF_STORE, di, h->size);
}

/* The value of an address or count register: its low half with 32-bit addresses. */
static uint64_t
helper_truncate(const struct rp_hinfo *h, uint64_t v)
{
	return h->addr32 ? (uint32_t)v : v;
}

/* Keeps what a reference has loaded or stored: it is written after all references of the record. */
static void
helper_side_append(struct rp_frame *f, const struct rp_hinfo *h, uint64_t v)
{
	if (h->memory)
		((uint64_t *)(uintptr_t)f->side)[f->nside++] = v;
}

/* Does one element. 1: its comparison ends the repetition. */
static int
helper_element(struct rp_frame *f, const struct rp_hinfo *h)
{
	uint64_t *rax = rp_reg(f, RAX), *rsi = rp_reg(f, RSI), *rdi = rp_reg(f, RDI);
	uint64_t si = helper_truncate(h, *rsi) + helper_segment(f, h), di = helper_truncate(h, *rdi),
	    step = f->rflags & 0x400 ? -(uint64_t)h->size : h->size, v, w, fl;
	int ends = 0;

	helper_begin(f);
	element_refs(f, h, si, di);
	BARRIER();
	switch (h->op) {
	case RS_MOVS:
		v = helper_get(rp_host(si), h->size);
		helper_set(rp_host(di), h->size, v);
		helper_side_append(f, h, v);
		helper_side_append(f, h, v);
		break;
	case RS_STOS:
		helper_set(rp_host(di), h->size, *rax);
		helper_side_append(f, h, *rax);
		break;
	case RS_LODS:
		v = helper_get(rp_host(si), h->size);
		helper_side_append(f, h, v);
		*rax = h->size == 1 ? (*rax & ~UINT64_C(255)) | v :
		    h->size == 2 ? (*rax & ~UINT64_C(65535)) | v : v;
		break;
	default:
		v = helper_get(rp_host(di), h->size);
		w = h->op == RS_CMPS ? helper_get(rp_host(si), h->size) : *rax;
		fl = helper_compare(w, v, h->size);
		helper_side_append(f, h, v);
		if (h->op == RS_CMPS)
			helper_side_append(f, h, w);
		f->rflags = (f->rflags & ~UINT64_C(0x8d5)) | fl;
		ends = h->rep == 2 ? (fl & 0x40) != 0 : (fl & 0x40) == 0;
	}
	BARRIER();
	if (h->op == RS_MOVS || h->op == RS_CMPS || h->op == RS_LODS)
		*rsi = helper_truncate(h, *rsi + step);
	if (h->op != RS_LODS)
		*rdi = helper_truncate(h, di + step);
	if (h->rep)
		*rp_reg(f, RCX) = helper_truncate(h, *rp_reg(f, RCX) - 1);
	helper_advance(f, 1);
	BARRIER();
	return ends;
}

/* Number of elements from here to the end of the page, upwards. */
static uint64_t
in_page(uint64_t a, unsigned size)
{
	return (PAGE - (a & (PAGE - 1))) / size;
}

/* Does n elements of movs or stos, upwards; they cannot fault. */
static void
helper_bulk(struct rp_frame *f, const struct rp_hinfo *h, uint64_t n)
{
	uint64_t *rsi = rp_reg(f, RSI), *rdi = rp_reg(f, RDI), i, c = n;
	uint8_t *s = rp_host(*rsi), *d = rp_host(*rdi);

	if (f->mode == RP_TALLY) {
		f->tally[REF_LOAD] += h->op == RS_MOVS ? n : 0;
		f->tally[REF_STORE] += n;
	} else if (h->refs)
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
		case 1:
			__asm__ volatile("rep stosb" : "+c"(c), "+D"(d) : "a"(*rp_reg(f, RAX)) : "memory");
			break;
		case 2:
			__asm__ volatile("rep stosw" : "+c"(c), "+D"(d) : "a"(*rp_reg(f, RAX)) : "memory");
			break;
		case 4:
			__asm__ volatile("rep stosl" : "+c"(c), "+D"(d) : "a"(*rp_reg(f, RAX)) : "memory");
			break;
		default:
			__asm__ volatile("rep stosq" : "+c"(c), "+D"(d) : "a"(*rp_reg(f, RAX)) : "memory");
			break;
		}
	if (h->op == RS_MOVS)
		*rsi += n * h->size;
	*rdi += n * h->size;
	*rp_reg(f, RCX) -= n;
	helper_advance(f, n);
}

/* How many elements can follow at once, after the current one has shown that its pages are mapped. */
static uint64_t
helper_bulk_count(struct rp_frame *f, const struct rp_hinfo *h, uint64_t max)
{
	uint64_t n = *rp_reg(f, RCX), m;

	if ((h->op != RS_MOVS && h->op != RS_STOS) || f->rflags & 0x400 || h->addr32 || h->seg || h->memory)
		return 0;
	if (n > max)
		n = max;
	if (h->refs && helper_has_words(f) && n > (m = (f->end - f->out) / 8 / 4))
		n = m;
	/* the element just done was in the same page unless rdi is at the start of a page now */
	if ((*rp_reg(f, RDI) & (PAGE - 1)) < h->size ||
	    (h->op == RS_MOVS && (*rp_reg(f, RSI) & (PAGE - 1)) < h->size))
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
helper_room(const struct rp_frame *f, const struct rp_hinfo *h)
{
	return !h->refs || !helper_has_words(f) ||
	    (f->end - f->out >= 64 + 8 * f->nside + 64 && f->nside + 4 < RP_NSIDE);
}

static uint64_t
helper_stop(struct rp_frame *f, const struct rp_hinfo *h)
{
	if (f->record)
		rp_record(f, 0);
	f->rip = h->pc;
	f->why = RW_CHECK;
	f->inhelper = 0;
	return 1;
}

uint64_t
rp_helper_string(struct rp_frame *f, const struct rp_hinfo *h)
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
			helper_element(f, h);
			break;
		}
		left = f->last - helper_count(f);
		if (left == 0 || done == f->maxelem || !helper_room(f, h))
			return helper_stop(f, h);
		if (helper_truncate(h, *rp_reg(f, RCX)) == 0) {
			if (f->mode == RP_REFS)
				helper_word(f, REF_INST, h->pc, h->len);
			helper_advance(f, 1);
			break;
		}
		done++;
		if (helper_element(f, h) && h->op != RS_MOVS && h->op != RS_STOS && h->op != RS_LODS)
			break;
		if (f->maxelem == UINT64_MAX && (n = helper_bulk_count(f, h, left - 1)) > 1)
			helper_bulk(f, h, n);
	}
	f->inhelper = 0;
	f->half = 0;
	f->less++;
	if (f->record)
		rp_record(f, FACT_DONE);
	return 0;
}

uint64_t
rp_helper_fetch(struct rp_frame *f, const struct rp_hinfo *h)
{
	uint64_t back = 8u * h->words;

	/* what was written since r11 was advanced comes before them, what will be written after them */
	f->out += back;
	for (const struct rp_mark *m = h->block->mark + h->mark, *end = m + h->nmark; m < end; m++)
		if (m->len)
			helper_word(f, REF_INST, m->pc, m->len);
	f->out -= back;
	((struct rp_hinfo *)(uintptr_t)h)->fresh = 0;
	return 0;
}

uint64_t
rp_helper_xgetbv(struct rp_frame *f, const struct rp_hinfo *h)
{
	uint32_t lo = (uint32_t)f->xcr0, hi = (uint32_t)(f->xcr0 >> 32);

	(void)h;
	if ((uint32_t)*rp_reg(f, RCX) != 0)
		__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(1));
	*rp_reg(f, RAX) = lo;
	*rp_reg(f, RDX) = hi;
	return 0;
}
