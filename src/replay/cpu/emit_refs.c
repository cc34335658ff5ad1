/*
 * References that depend on more than an address: masks, vectors of indices, bit numbers, sizes
 * known only at run time.
 */
#include <Zydis/Zydis.h>
#include "replay/cpu/emit_internal.h"

/*
 * vmovdqu[64] [rsp + off], vector register r.  Opcode 6f loads instead and clears the rest of
 * the register.
 */
static void
move_vector(struct rp_tr *t, unsigned opcode, ZydisRegister r, int off)
{
	unsigned n = (unsigned)ZydisRegisterGetId(r);

	if (t->in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
		host_e1(t, 0x62);
		host_e1(t, 0x61u | (n & 8 ? 0 : 0x80) | (n & 16 ? 0 : 0x10));
		host_e1(t, 0xfe);
		host_e1(t, 0x48);
	} else {
		host_e1(t, 0xc5);
		host_e1(t, 0x7eu | (n & 8 ? 0 : 0x80));
	}
	host_e1(t, opcode);
	host_e1(t, 0x84u | (n & 7) << 3);
	host_e1(t, 0x24);
	host_e4(t, (uint32_t)off);
}

static void
dump_vector(struct rp_tr *t, ZydisRegister r, int off)
{
	move_vector(t, 0x7f, r, off);
}

/* kmovq (or kmovw) [rsp + kmask], k */
static void
dump_mask(struct rp_tr *t, ZydisRegister r, unsigned bits)
{
	unsigned n = (unsigned)(r - ZYDIS_REGISTER_K0);

	if (bits > 16) {
		host_e1(t, 0xc4);
		host_e1(t, 0xe1);
		host_e1(t, 0xf8);
	} else {
		host_e1(t, 0xc5);
		host_e1(t, 0xf8);
	}
	host_e1(t, 0x91);
	host_e1(t, 0x84u | n << 3);
	host_e1(t, 0x24);
	host_e4(t, (uint32_t)FO(kmask));
}

static void
fill_masked(struct rp_tr *t, struct rp_hinfo *h, const ZydisDecodedOperand *o)
{
	const struct x86_inst *in = t->in;

	if (in->z.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID) {
		h->size = (uint8_t)(o->element_size / 8);
		h->n = (uint8_t)x86_broadcast_elements(&in->z);
		h->isize = (uint8_t)(o->size / o->element_size);
		h->packed = 2;
	} else {
		h->size = (uint8_t)(o->element_size / 8);
		h->n = (uint8_t)(o->size / o->element_size);
		h->packed = (uint8_t)x86_packs(in->z.mnemonic);
	}
	if (in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		dump_mask(t, in->z.avx.mask.reg, h->n > 16 ? 64 : 16);
	else {
		h->kfrom = 1;
		dump_vector(t, in->op[1].reg.value, FO(vec) + 64);
	}
}

/* What the instruction stores is read after it. */
static void
emit_refs_later(struct rp_tr *t, const struct rp_hinfo *h)
{
	struct rp_hinfo *s;

	if (!h->memory || h->ref == REF_LOAD || (s = rp_alloc(t->c, sizeof *s)) == NULL)
		return;
	*s = *h;
	t->stored = s;
}

void
rp_hinfo_set_operand(const struct rp_tr *t, struct rp_hinfo *h, const ZydisDecodedOperand *o)
{
	int rip = o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP;

	h->base = (int8_t)(rip ? -1 : x86_gpr(o->mem.base));
	h->index = (int8_t)x86_gpr(o->mem.index);
	h->scale = o->mem.scale;
	h->disp = (rip ? (int64_t)t->in->next : 0) + o->mem.disp.value;
	h->seg = o->mem.segment == ZYDIS_REGISTER_FS ? 1 : o->mem.segment == ZYDIS_REGISTER_GS ? 2 : 0;
	h->addr32 = t->in->z.address_width == 32;
}

/*
 * RP_TALLY: is the instruction one whose references are the runs of ones in a mask register?  Translated code
 * counts these: such instructions are frequent in the C library's functions for strings.
 */
static int
emit_refs_runs(const struct rp_tr *t, enum x86_refs by)
{
	return by == X86_BY_MASK && t->tally && t->bmi2 && t->in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX &&
	    t->in->z.avx.broadcast.mode == ZYDIS_BROADCAST_MODE_INVALID && !x86_packs(t->in->z.mnemonic);
}

static void
emit_refs_bytes(struct rp_tr *t, const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		host_e1(t, b[i]);
}

/* Counts the runs of ones in the n low bits of the mask register k.  The flags are in rax meanwhile. */
static void
emit_refs_count_runs(struct rp_tr *t, ZydisRegister k, unsigned n, int kind)
{
	static const uint8_t flags[] = { 0x9f, 0x0f, 0x90, 0xc0 };      /* lahf; seto al */
	static const uint8_t back[] = { 0x04, 0x7f, 0x9e };             /* add al, 127; sahf */
	/* lea rcx, [r15 + r15]; andn rcx, rcx, r15; popcnt rcx, rcx: ones that do not follow another */
	static const uint8_t ends[] = { 0x4b, 0x8d, 0x0c, 0x3f, 0xc4, 0xc2, 0xf0, 0xf2, 0xcf, 0xf3, 0x48, 0x0f,
	    0xb8, 0xc9 };
	/* kmovw, kmovd or kmovq r15, k */
	const uint8_t mask[] = { 0xc4, 0x61, n <= 16 ? 0x78 : n == 32 ? 0x7b : 0xfb, 0x93,
	    (uint8_t)(0xf8 | (k - ZYDIS_REGISTER_K0)) };

	e_store(t, FO(tmp), RAX);
	emit_refs_bytes(t, flags, sizeof flags);
	emit_refs_bytes(t, mask, sizeof mask);
	if (n < 16) {
		host_e1(t, 0x41);       /* and r15d, the low n bits */
		host_e1(t, 0x81);
		host_e1(t, 0xe7);
		host_e4(t, (1u << n) - 1);
	}
	emit_refs_bytes(t, ends, sizeof ends);
	e_load(t, T1, FO(tally) + 8 * kind);
	e_store(t, FO(tally0) + 8 * kind, T1);
	e_mem(t, 1, 0x8d, T0, T0, T1, 1, 0);
	e_store(t, FO(tally) + 8 * kind, T0);
	e_mem(t, 1, 0xc7, 0, RSP, -1, 1, FO(helped));   /* mov qword [helped], the kind */
	host_e4(t, 1u << kind);
	emit_refs_bytes(t, back, sizeof back);
	e_load(t, RAX, FO(tmp));
}

void
rp_refs_by_helper(struct rp_tr *t, enum x86_refs by, const ZydisDecodedOperand *o)
{
	struct rp_hinfo *h;

	t->b->mark[t->b->nmark - 1].out0 = 1;
	if (emit_refs_runs(t, by)) {
		emit_refs_count_runs(t, t->in->z.avx.mask.reg, o->size / o->element_size, x86_refkind(o));
		return;
	}
	if ((h = rp_hinfo(t)) == NULL)
		return;
	h->kind = by == X86_BY_MASK ? RH_MASKED : by == X86_BY_BIT ? RH_BITS : RH_XSAVE;
	h->ref = (uint8_t)x86_refkind(o);
	rp_hinfo_set_operand(t, h, o);
	if (by == X86_BY_MASK)
		fill_masked(t, h, o);
	else if (by == X86_BY_BIT) {
		h->reg = (int16_t)x86_gpr(t->in->op[1].reg.value);
		h->size = (uint8_t)(o->size / 8);
	} else
		h->packed = t->in->z.mnemonic == ZYDIS_MNEMONIC_XSAVEC ||
		    t->in->z.mnemonic == ZYDIS_MNEMONIC_XSAVEC64;
	t->maxwords += t->refs ? 256 : 0;
	rp_helper(t, rp_helper_refs, h);
	emit_refs_later(t, h);
}

/*
 * maskmovq and maskmovdqu store bytes of their first operand at rdi, which holds the host
 * address during the instruction.
 */
void
rp_maskmov(struct rp_tr *t)
{
	const struct x86_inst *in = t->in;
	unsigned n = in->z.mnemonic == ZYDIS_MNEMONIC_MASKMOVQ ? 8 : 16, i, r;
	struct rp_mark *m = &t->b->mark[t->b->nmark - 1];
	struct rp_hinfo *h;

	for (i = 0; i + 1u < in->z.length; i++)
		if (in->b[i] == 0x64 || in->b[i] == 0x65 || in->b[i] == 0x67)
			t->bad = "a masked store with prefixes";
	if (t->refs && (h = rp_hinfo(t)) != NULL) {
		rp_out_sync(t);
		m->words = 0;
		m->off = (uint32_t)(t->p - t->b->start);
		m->out0 = 1;
		r = (unsigned)ZydisRegisterGetId(in->op[1].reg.value);
		if (in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
			dump_vector(t, in->op[1].reg.value, FO(vec) + 64);
		else {                  /* movq or movdqu [rsp + vec], register */
			if (n == 16)
				host_e1(t, 0xf3);
			if (r & 8)
				host_e1(t, 0x44);
			host_e1(t, 0x0f);
			host_e1(t, 0x7f);
			host_e1(t, 0x84u | (r & 7) << 3);
			host_e1(t, 0x24);
			host_e4(t, (uint32_t)FO(vec) + 64);
		}
		h->kind = RH_MASKED;
		h->ref = REF_STORE;
		h->base = RDI;
		h->index = -1;
		h->size = 1;
		h->n = (uint8_t)n;
		h->kfrom = 2;
		t->maxwords += 16;
		rp_helper(t, rp_helper_refs, h);
		emit_refs_later(t, h);
	}
	m->borrowed[0] = RDI + 1;
	e_store(t, FO(save), RDI);
	e_fold(t, RDI, RDI);
	host_e1(t, 0x65);
	for (i = 0; i < in->z.length; i++)
		host_e1(t, in->b[i]);
	e_load(t, RDI, FO(save));
}

/* A gather or scatter leaves its mask empty. */
static void
clear_mask(struct rp_tr *t, ZydisRegister r)
{
	unsigned n = (unsigned)ZydisRegisterGetId(r);

	if (t->in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {     /* kxorw k, k, k */
		host_e1(t, 0xc5);
		host_e1(t, 0x84u | (~n & 15) << 3);
		host_e1(t, 0x47);
	} else {                                                        /* vpxor xmm, xmm, xmm */
		host_e1(t, 0xc4);
		host_e1(t, 0x41u | (n & 8 ? 0 : 0xa0));
		host_e1(t, 0x01u | (~n & 15) << 3);
		host_e1(t, 0xef);
	}
	host_e1(t, 0xc0u | (n & 7) << 3 | (n & 7));
}

/*
 * Gathers and scatters are done by the helper, element by element: their elements may lie
 * anywhere, not only in the window around the base register.
 */
void
rp_gather_scatter(struct rp_tr *t)
{
	const struct x86_inst *in = t->in;
	const ZydisDecodedOperand *o = &in->op[in->mem];
	int evex = in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX, store = in->mem == 0,
	    data = store ? 2 : 0;
	ZydisRegister mask = evex ? in->z.avx.mask.reg : in->op[2].reg.value;
	struct rp_mark *m = &t->b->mark[t->b->nmark - 1];
	struct rp_hinfo *h = rp_hinfo(t);

	if (h == NULL)
		return;
	if (in->op[data].type != ZYDIS_OPERAND_TYPE_REGISTER || ZydisRegisterGetId(in->op[data].reg.value) < 0
	    || ZydisRegisterGetClass(in->op[data].reg.value) < ZYDIS_REGCLASS_XMM
	    || ZydisRegisterGetClass(in->op[data].reg.value) > ZYDIS_REGCLASS_ZMM) {
		t->bad = "a gather of an unusual kind";
		return;
	}
	rp_out_sync(t);
	m->words = 0;
	m->off = (uint32_t)(t->p - t->b->start);
	m->out0 = 1;
	h->kind = RH_VSIB;
	h->ref = store ? REF_STORE : REF_LOAD;
	rp_hinfo_set_operand(t, h, o);
	h->index = -1;                  /* the index belongs to the elements */
	h->isize = x86_quad_index(in->z.mnemonic) ? 8 : 4;
	h->size = x86_wide_element(in->z.mnemonic) ? 8 : 4;
	h->n = (uint8_t)(in->z.avx.vector_length / 8 / (h->isize > h->size ? h->isize : h->size));
	h->kfrom = !evex;
	dump_vector(t, o->mem.index, FO(vec));
	dump_vector(t, in->op[data].reg.value, FO(vec) + 128);
	if (evex)
		dump_mask(t, mask, 16);
	else
		dump_vector(t, mask, FO(vec) + 64);
	t->maxwords += 32;
	rp_helper(t, rp_helper_refs, h);
	if (!store)
		move_vector(t, 0x6f, in->op[0].reg.value, FO(vec) + 128);
	clear_mask(t, mask);
}
