/*
 * Helpers of translated code that compute references.  As helpers.c, this is compiled with
 * -mgeneral-regs-only and calls nothing.
 */
#include "replay/cpu/helpers_internal.h"

struct rp_xcomp rp_xcomp[64];

static uint64_t
helper_address(struct rp_frame *f, const struct rp_hinfo *h)
{
	uint64_t a = (uint64_t)h->disp;

	if (h->base >= 0)
		a += *rp_reg(f, h->base);
	if (h->index >= 0)
		a += *rp_reg(f, h->index) * h->scale;
	if (h->addr32)
		a = (uint32_t)a;
	return a + helper_segment(f, h);
}

static uint64_t
mask_of(const struct rp_frame *f, const struct rp_hinfo *h)
{
	uint64_t m = 0;
	unsigned i, n = h->n;

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
helper_pieces(struct rp_frame *f, unsigned kind, uint64_t a, uint64_t n)
{
	while (n) {
		unsigned k = n > REF_SIZEMAX ? REF_PIECE : (unsigned)n;

		helper_word(f, kind, a, k);
		a += k;
		n -= k;
	}
}

/* Writes one reference for each run of adjacent active elements. */
static void
helper_masked(struct rp_frame *f, const struct rp_hinfo *h, uint64_t a)
{
	uint64_t m = mask_of(f, h);
	unsigned i = 0, j, n = h->packed == 2 ? h->isize : h->n;

	if (h->packed == 1) {
		for (; m; m &= m - 1)
			i++;
		helper_pieces(f, h->ref, a, i * h->size);
		return;
	}
	if (h->packed == 2) {           /* an element in memory is accessed if any that it becomes is written */
		for (j = n; j < h->n; j += n)
			m |= m >> j;
		m &= (UINT64_C(1) << n) - 1;
	}
	while (i < n) {
		if (!(m >> i & 1)) {
			i++;
			continue;
		}
		for (j = i; j < n && (m >> j & 1); j++)
			;
		helper_word(f, h->ref, a + (uint64_t)i * h->size, (j - i) * h->size);
		i = j;
	}
}

/*
 * A gather or scatter, element by element.  vec[2] is the value of its register, or will be
 * loaded into it.
 */
static void
helper_indexed(struct rp_frame *f, const struct rp_hinfo *h, uint64_t a)
{
	uint64_t m = mask_of(f, h), x, e, *v = f->vec[2];
	unsigned i, sh;

	for (i = 0; i < h->n; i++) {
		if (!(m >> i & 1))
			continue;
		x = h->isize == 8 ? f->vec[0][i] :
		    (uint64_t)(int64_t)(int32_t)(f->vec[0][i / 2] >> (i & 1 ? 32 : 0));
		e = a + x * h->scale;
		if (h->addr32)
			e = (uint32_t)(e - helper_segment(f, h)) + helper_segment(f, h);
		if (h->refs)
			helper_word(f, h->ref, e, h->size);
		BARRIER();
		sh = h->size == 4 && (i & 1) ? 32 : 0;
		if (h->ref == REF_STORE)
			helper_set(rp_host(e), h->size, v[h->size == 8 ? i : i / 2] >> sh);
		else if (h->size == 8)
			v[i] = helper_get(rp_host(e), 8);
		else
			v[i / 2] = (v[i / 2] & ~(UINT64_C(0xffffffff) << sh)) |
			    helper_get(rp_host(e), 4) << sh;
	}
	for (i = h->n * h->size; i < 64; i += 4)        /* elements beyond the length are zero */
		v[i / 8] &= i & 4 ? UINT64_C(0xffffffff) : 0;
}

static uint64_t
xsave_size(const struct rp_frame *f, const struct rp_hinfo *h, uint64_t a)
{
	uint64_t m = (*rp_reg((struct rp_frame *)(uintptr_t)f, RDX) << 32 |
	    (uint32_t)*rp_reg((struct rp_frame *)(uintptr_t)f, RAX)) & f->xcr0;
	uint64_t comp = h->packed ? m : 0, end = 576;
	int i;

	if (h->ref == REF_LOAD)
		comp = helper_get(rp_host(a + 520), 8);
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
 * After the references at out0, writes what each of them loads (stored: 0, leaving room for
 * what is stored) or has stored (1).
 */
static void
helper_contents(struct rp_frame *f, int stored)
{
	uint64_t *w = (uint64_t *)(uintptr_t)f->out0, n = (uint32_t)*w, i, k, *to = w + 1 + n;
	unsigned s, size;

	for (i = 1; i <= n; i++)
		for (s = 0; s < 2; s++) {
			if (s ? ref_kind(w[i]) == REF_LOAD : ref_kind(w[i]) == REF_STORE)
				continue;
			size = ref_size(w[i]);
			for (k = 0; s == (unsigned)stored && k < size; k++)
				((volatile uint8_t *)to)[k] =
				    *(const volatile uint8_t *)rp_host(ref_addr(w[i]) + k);
			to += (size + 7) / 8;
		}
	*w = n | (uint64_t)(to - (w + 1 + n)) << 32;
	if (!stored)
		f->out = (uint64_t)(uintptr_t)to;
}

/* As above for gathers and scatters, whose elements are in the frame. */
static void
helper_elements(struct rp_frame *f, const struct rp_hinfo *h, const uint64_t *v)
{
	uint64_t m = mask_of(f, h);
	unsigned i;

	for (i = 0; i < h->n; i++)
		if (m >> i & 1) {
			*(volatile uint64_t *)(uintptr_t)f->out = h->size == 8 ? v[i] :
		    (uint32_t)(v[i / 2] >> (i & 1 ? 32 : 0));
			f->out += 8;
		}
}

/* Address and bit of a bit string operand: the bit number in a register may lead far away from a. */
static void
helper_bit_operand(struct rp_frame *f, const struct rp_hinfo *h, uint64_t a)
{
	uint64_t r = *rp_reg(f, h->reg), n = 8u * h->size;
	int64_t bit = h->size == 8 ? (int64_t)r : h->size == 4 ? (int32_t)r : (int16_t)r;

	a += (uint64_t)((bit >> (h->size == 8 ? 6 : h->size == 4 ? 5 : 4)) * h->size);
	if (h->refs)
		helper_word(f, h->ref, a, h->size);
	f->vec[0][0] = a & rp_mask;
	f->vec[0][1] = r & (n - 1);
}

uint64_t
rp_helper_refs(struct rp_frame *f, const struct rp_hinfo *h)
{
	uint64_t a = helper_address(f, h);

	f->inhelper = (uint64_t)(uintptr_t)h;
	helper_begin(f);
	if (h->refs && helper_has_words(f) && f->mode != RP_DATA)
		helper_word(f, REF_INST, h->pc, h->len);
	BARRIER();
	switch (h->kind) {
	case RH_MASKED:
		helper_masked(f, h, a);
		break;
	case RH_BITS:
		helper_bit_operand(f, h, a);
		break;
	case RH_XSAVE:
		helper_pieces(f, h->ref, a, xsave_size(f, h, a));
		break;
	case RH_VSIB:
		helper_indexed(f, h, a);
		break;
	default:
		break;
	}
	if (h->refs && f->mode >= RP_VALUES)
		*(uint64_t *)(uintptr_t)f->out0 = (f->out - f->out0) / 8 - 1;
	if (h->memory && h->kind == RH_VSIB) {
		uint64_t *w = (uint64_t *)(uintptr_t)f->out0;

		helper_elements(f, h, f->vec[2]);
		*w |= *w << 32;
	} else if (h->memory)
		helper_contents(f, 0);
	f->inhelper = 0;
	return 0;
}

/* Replaces n bytes of a host pointer in a saved image by the guest's. */
static void
helper_replace_pointer(uint8_t *p, unsigned n, uint64_t was, uint64_t is)
{
	uint64_t m = n == 8 ? ~UINT64_C(0) : (UINT64_C(1) << 8 * n) - 1;

	if (((helper_get(p, n) ^ was) & m) == 0)
		helper_set(p, n, is);
}

uint64_t
rp_helper_x87(struct rp_frame *f, const struct rp_hinfo *h)
{
	uint64_t ip = helper_get(f->fx + 8, 8), data = helper_get(f->fx + 16, 8), ip0 = ip, data0 = data;
	uint8_t *p = rp_host(helper_address(f, h));

	/*
	 * xsave may omit the x87 component, whose memory may then be unmapped; the header is
	 * always there
	 */
	if (h->kind == RH_XSAVE && (!(*rp_reg(f, RAX) & 1) || (h->packed && !(helper_get(p + 512, 8) & 1))))
		return 0;
	if (rp_x87(f, &ip, &data)) {
		helper_replace_pointer(p + h->op, h->size, ip0, ip);
		helper_replace_pointer(p + h->n, h->size, data0, data);
	}
	return 0;
}

uint64_t
rp_helper_stored(struct rp_frame *f, const struct rp_hinfo *h)
{
	(void)h;
	helper_contents(f, 1);
	return 0;
}
