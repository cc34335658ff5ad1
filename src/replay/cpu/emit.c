/*
 * Re-encodes instructions that the processor itself executes: the guest's bytes with other
 * registers in them, and [rcx] or [r15] for a memory operand.
 */
#include <string.h>
#include <Zydis/Zydis.h>
#include "replay/cpu/emit_internal.h"

struct plan {
	int reg, rm, vvvv, opc;         /* host registers of the fields; -1: unchanged */
	int base;                       /* host register that addresses the memory operand; -1: none */
	int force_rex;
	/* temporaries */
	int ntemp;
	struct { int host, guest, load, store, borrowed; } temp[4];
	unsigned used;                  /* host registers in use */
	int rcx_in, rcx_out;            /* the instruction reads (writes) the guest's rcx implicitly */
	int hi;                         /* a high byte register is used: no REX prefix is possible */
	int bit;                        /* a bit string: r15 holds the number of the bit */
};

static int
is_prefix(unsigned b)
{
	switch (b) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65:
	case 0x66: case 0x67: case 0xf0: case 0xf2: case 0xf3:
		return 1;
	default:
		return 0;
	}
}

/* Emits modrm and sib, and the bytes after the displacement. */
static void
emit_tail(struct rp_tr *t, const struct plan *p)
{
	const struct x86_inst *in = t->in;
	const ZydisDecodedInstructionRaw *raw = &in->z.raw;
	unsigned m = in->b[raw->modrm.offset], end = raw->modrm.offset + 1u;

	if (p->reg >= 0)
		m = (m & ~0x38u) | ((unsigned)p->reg & 7) << 3;
	if (p->rm >= 0)
		m = (m & ~7u) | ((unsigned)p->rm & 7);
	if (raw->modrm.mod != 3) {
		if (raw->modrm.rm == 4)
			end++;
		end += raw->disp.size / 8u;
	}
	host_e1(t, p->base >= 0 ? (m & 0x38) | ((unsigned)p->base & 7) : m);
	while (end < in->z.length)
		host_e1(t, in->b[end++]);
}

static void
emit_legacy(struct rp_tr *t, const struct plan *p)
{
	const struct x86_inst *in = t->in;
	unsigned i, rex = 0, n = in->z.length,
	    modrm = in->z.attributes & ZYDIS_ATTRIB_HAS_MODRM ? in->z.raw.modrm.offset : n;

	for (i = 0; i < n; i++) {       /* a REX prefix counts only directly before the opcode */
		if ((in->b[i] & 0xf0) == 0x40)
			rex = in->b[i];
		else if (is_prefix(in->b[i]))
			rex = 0;
		else
			break;
		/* f3 makes this exchange a pause on Intel's processors, and REX.B makes a pause an exchange on AMD's */
		if (in->b[i] == 0x66 || ((in->b[i] == 0xf2 || in->b[i] == 0xf3) && in->z.mnemonic != ZYDIS_MNEMONIC_XCHG))
			host_e1(t, in->b[i]);
	}
	if (in->z.mnemonic == ZYDIS_MNEMONIC_PAUSE)
		rex = 0;
	if (p->reg >= 0)
		rex = (rex & ~4u) | ((unsigned)p->reg >> 3) << 2;
	if (p->rm >= 0)
		rex = (rex & ~1u) | (unsigned)p->rm >> 3;
	if (p->opc >= 0)
		rex = (rex & ~1u) | (unsigned)p->opc >> 3;
	if (p->base >= 0)
		rex = (rex & ~3u) | (unsigned)p->base >> 3;
	if (rex || p->force_rex)
		rex |= 0x40;
	if (rex)
		host_e1(t, rex);
	if (p->opc >= 0) {              /* the register is in the opcode, which has one byte or follows 0f */
		if (in->b[i] == 0x0f)
			host_e1(t, in->b[i++]);
		host_e1(t, (in->b[i++] & ~7u) | ((unsigned)p->opc & 7));
	}
	while (i < modrm)
		host_e1(t, in->b[i++]);
	if (modrm < n)
		emit_tail(t, p);
}

static void
emit_vex(struct rp_tr *t, const struct plan *p)
{
	const struct x86_inst *in = t->in;
	const uint8_t *b = in->b + in->z.raw.vex.offset;
	unsigned b1, b2, i;

	if (b[0] == 0xc5) {
		b1 = (b[1] & 0x80u) | 0x61;
		b2 = b[1] & 0x7fu;
		i = in->z.raw.vex.offset + 2u;
	} else {
		b1 = b[1];
		b2 = b[2];
		i = in->z.raw.vex.offset + 3u;
	}
	if (p->reg >= 0)
		b1 = (b1 & ~0x80u) | (p->reg < 8 ? 0x80 : 0);
	if (p->rm >= 0)
		b1 = (b1 & ~0x20u) | (p->rm < 8 ? 0x20 : 0);
	if (p->base >= 0)
		b1 = (b1 & ~0x20u) | (p->base < 8 ? 0x20 : 0) | 0x40;
	if (p->vvvv >= 0)
		b2 = (b2 & ~0x78u) | (~(unsigned)p->vvvv & 15) << 3;
	host_e1(t, 0xc4);
	host_e1(t, b1);
	host_e1(t, b2);
	host_e1(t, in->b[i]);
	if (in->z.attributes & ZYDIS_ATTRIB_HAS_MODRM)
		emit_tail(t, p);
}

static void
emit_evex(struct rp_tr *t, const struct plan *p)
{
	const struct x86_inst *in = t->in;
	const uint8_t *b = in->b + in->z.raw.evex.offset;
	unsigned p0 = b[1], p1 = b[2];

	if (p->reg >= 0)
		p0 = (p0 & ~0x80u) | 0x10 | (p->reg < 8 ? 0x80 : 0);
	if (p->rm >= 0)
		p0 = (p0 & ~0x20u) | 0x40 | (p->rm < 8 ? 0x20 : 0);
	if (p->base >= 0)
		p0 = (p0 & ~0x20u) | (p->base < 8 ? 0x20 : 0) | 0x40;
	if (p->vvvv >= 0)
		p1 = (p1 & ~0x78u) | (~(unsigned)p->vvvv & 15) << 3;
	host_e1(t, 0x62);
	host_e1(t, p0);
	host_e1(t, p1);
	host_e1(t, b[3]);
	host_e1(t, b[4]);
	emit_tail(t, p);
}

static void
emit_reencode(struct rp_tr *t, const struct plan *p)
{
	if (p->base >= 0)
		host_e1(t, 0x65);
	switch (t->in->z.encoding) {
	case ZYDIS_INSTRUCTION_ENCODING_VEX: emit_vex(t, p); break;
	case ZYDIS_INSTRUCTION_ENCODING_EVEX: emit_evex(t, p); break;
	default: emit_legacy(t, p); break;
	}
}

/*
 * Chooses a host register that the instruction does not use: a scratch register, or one whose
 * value is saved.
 */
static int
emit_temporary(struct rp_tr *t, struct plan *p, int guest, int high, int legacy_only)
{
	static const int8_t pool[] = { T0, T1, RBX, RDX, RAX, RSI, RDI, RBP, R8, R12, R13, R14 };
	unsigned i;
	int k = p->ntemp++;

	for (i = 0; i < sizeof pool; i++) {
		int h = pool[i];

		if (p->used >> h & 1 || (high && h > RBX) || (legacy_only && h > RDI))
			continue;
		p->used |= 1u << h;
		p->temp[k].host = h;
		p->temp[k].guest = guest;
		p->temp[k].load = p->temp[k].store = 0;
		p->temp[k].borrowed = h != T0 && h != T1;
		return k;
	}
	t->bad = "too many registers";
	return k;
}

/* Does the destination keep its value when the instruction has no result? */
static int
emit_dst_may_stay(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_BSF || m == ZYDIS_MNEMONIC_BSR || m == ZYDIS_MNEMONIC_LAR ||
	    m == ZYDIS_MNEMONIC_LSL;
}

/* The host register that stands for the general register operand o. */
static int
emit_operand_gpr(struct rp_tr *t, struct plan *p, const ZydisDecodedOperand *o)
{
	int g = x86_gpr(o->reg.value), high = x86_highbyte(o->reg.value), h = rp_home(g), k;

	if (h < 0 || (p->hi && h > RDI)) {
		for (k = 0; k < p->ntemp; k++)
			if (p->temp[k].guest == g)
				break;
		if (k == p->ntemp)
			k = emit_temporary(t, p, g, p->hi && g == RCX, p->hi);
		if (o->actions & (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_CONDWRITE) ||
		    o->size < 32 || emit_dst_may_stay(t->in->z.mnemonic))
			p->temp[k].load = 1;
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			p->temp[k].store = 1;
		h = p->temp[k].host;
	}
	if (o->size == 8 && !high && h >= 4 && h <= 7)
		p->force_rex = 1;
	return high ? h + 4 : h;
}

static void
emit_note_registers(struct plan *p, const ZydisDecodedOperand *o)
{
	int g, h;

	if (o->type != ZYDIS_OPERAND_TYPE_REGISTER || (g = x86_gpr(o->reg.value)) < 0)
		return;
	h = rp_home(g);
	if (h >= 0)
		p->used |= 1u << h;
	if (x86_highbyte(o->reg.value))
		p->hi = 1;
	if (o->encoding == ZYDIS_OPERAND_ENCODING_NONE && g == RCX) {
		p->used |= 1u << T0;
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			p->rcx_in = 1;
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			p->rcx_out = 1;
	}
}

static void
emit_assign(struct rp_tr *t, struct plan *p)
{
	const struct x86_inst *in = t->in;
	int i;

	for (i = 0; i < in->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &in->op[i];

		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER || x86_gpr(o->reg.value) < 0)
			continue;
		switch (o->encoding) {
		case ZYDIS_OPERAND_ENCODING_MODRM_REG: p->reg = p->bit ? T1 : emit_operand_gpr(t, p, o); break;
		case ZYDIS_OPERAND_ENCODING_MODRM_RM: p->rm = emit_operand_gpr(t, p, o); break;
		case ZYDIS_OPERAND_ENCODING_NDSNDD: p->vvvv = emit_operand_gpr(t, p, o); break;
		case ZYDIS_OPERAND_ENCODING_OPCODE: p->opc = emit_operand_gpr(t, p, o); break;
		case ZYDIS_OPERAND_ENCODING_NONE: {
			int g = x86_gpr(o->reg.value);

			if (rp_home(g) != g && g != RCX)
				t->bad = "an implicit register";
			break;
		}
		default:
			t->bad = "a register in an unusual place";
		}
	}
}

static void
emit_before(struct rp_tr *t, struct plan *p)
{
	struct rp_mark *m = &t->b->mark[t->b->nmark - 1];
	int k, n = 0;

	for (k = 0; k < p->ntemp; k++)
		if (p->temp[k].borrowed) {
			if (n == (int)RP_NSAVE) {
				t->bad = "too many registers";
				return;
			}
			m->borrowed[n] = (uint8_t)(p->temp[k].host + 1);
			e_store(t, FO(save) + 8 * n++, p->temp[k].host);
		}
	for (k = 0; k < p->ntemp; k++)
		if (p->temp[k].load) {
			int h = rp_home(p->temp[k].guest);

			if (h >= 0)
				e_mov(t, p->temp[k].host, h);
			else
				e_load(t, p->temp[k].host, rp_regoff(p->temp[k].guest));
		}
	if (p->rcx_in)
		e_mov(t, RCX, G_RCX);
}

static void
emit_after(struct rp_tr *t, const struct plan *p)
{
	int k, n = 0;

	if (p->rcx_out)
		e_mov(t, G_RCX, RCX);
	for (k = 0; k < p->ntemp; k++)
		if (p->temp[k].store) {
			int h = rp_home(p->temp[k].guest);

			if (h >= 0)
				e_mov(t, h, p->temp[k].host);
			else
				e_store(t, rp_regoff(p->temp[k].guest), p->temp[k].host);
		}
	for (k = 0; k < p->ntemp; k++)
		if (p->temp[k].borrowed)
			e_load(t, p->temp[k].host, FO(save) + 8 * n++);
}

/* mov between rax and a constant address has no modrm byte. */
static void
emit_moffs(struct rp_tr *t, const ZydisDecodedOperand *o)
{
	unsigned w = t->in->z.operand_width;

	rp_operand(t, o, x86_refkind(o), T0);
	host_e1(t, 0x65);
	if (w == 16)
		host_e1(t, 0x66);
	if (w == 64)
		host_e1(t, 0x48);
	host_e1(t, 0x88u | (t->in->z.opcode & 1) | (t->in->z.opcode & 2 ? 0 : 2));
	host_e1(t, T0);
}

/* Does the instruction make the processor record its own address (x87)? */
static int
emit_records_address(const struct x86_inst *in)
{
	if (in->z.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
	    in->z.opcode_map != ZYDIS_OPCODE_MAP_DEFAULT || (in->z.opcode & 0xf8) != 0xd8)
		return 0;
	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_FNINIT: case ZYDIS_MNEMONIC_FNCLEX: case ZYDIS_MNEMONIC_FLDCW:
	case ZYDIS_MNEMONIC_FNSTCW: case ZYDIS_MNEMONIC_FNSTSW:
	case ZYDIS_MNEMONIC_FNSTENV: case ZYDIS_MNEMONIC_FLDENV: case ZYDIS_MNEMONIC_FNSAVE:
	case ZYDIS_MNEMONIC_FRSTOR:
		return 0;
	default:
		return 1;
	}
}

/* Records the guest's own address and data address for rp_helper_x87, which hides the host's. */
static void
emit_store_address(struct rp_tr *t)
{
	e_imm(t, T0, t->in->pc);
	e_store(t, FO(fip), T0);
	if (t->in->mem >= 0)
		e_store(t, FO(fdp), rp_addr(t, &t->in->op[t->in->mem], 0));
}

/*
 * For an instruction that saves x87 state: the size of the last instruction's address in the
 * image, and its offsets. 0: any other instruction.
 */
static unsigned
emit_x87_layout(const struct x86_inst *in, unsigned *ip, unsigned *data)
{
	*ip = 8;
	*data = 16;
	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_FXSAVE64: case ZYDIS_MNEMONIC_XSAVE64: case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT64:
		return 8;
	case ZYDIS_MNEMONIC_FXSAVE: case ZYDIS_MNEMONIC_XSAVE: case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEOPT:
		return 4;
	case ZYDIS_MNEMONIC_FNSTENV: case ZYDIS_MNEMONIC_FNSAVE:
		if (in->z.operand_width == 16) {
			*ip = 6;
			*data = 10;
			return 2;
		}
		*ip = 12;
		*data = 20;
		return 4;
	default:
		return 0;
	}
}

/*
 * The instruction itself; for one that saves x87 state, with the image taken before it and host
 * addresses removed after it.
 */
static void
emit_x87_save(struct rp_tr *t, struct plan *p)
{
	static const uint8_t fxsave[] = { 0x48, 0x0f, 0xae, 0x84, 0x24 };       /* fxsave64 [rsp + disp32] */
	struct rp_hinfo *h = rp_hinfo(t);
	unsigned i, ip, data, size = emit_x87_layout(t->in, &ip, &data);

	if (h == NULL)
		return;
	for (i = 0; i < sizeof fxsave; i++)
		host_e1(t, fxsave[i]);
	host_e4(t, (uint32_t)FO(fx));
	if (t->in->z.mnemonic == ZYDIS_MNEMONIC_XSAVEOPT || t->in->z.mnemonic == ZYDIS_MNEMONIC_XSAVEOPT64)
		/* xsave instead: which parts xsaveopt omits depends on the processor's history */
		p->reg = 4;
	emit_reencode(t, p);
	rp_hinfo_set_operand(t, h, &t->in->op[t->in->mem]);
	h->kind = x86_refs_depend_on(&t->in->z, t->in->op) == X86_BY_STATE ? RH_XSAVE : RH_X87;
	h->packed = t->in->z.mnemonic == ZYDIS_MNEMONIC_XSAVEC ||
	    t->in->z.mnemonic == ZYDIS_MNEMONIC_XSAVEC64;
	h->size = (uint8_t)size;
	h->op = (uint8_t)ip;
	h->n = (uint8_t)data;
	rp_helper(t, rp_helper_x87, h);
}

static void
emit_memory(struct rp_tr *t, struct plan *p, const ZydisDecodedOperand *o)
{
	enum x86_refs by = x86_refs_depend_on(&t->in->z, t->in->op);

	p->base = p->rcx_in ? T1 : T0;
	p->used |= 1u << p->base;
	if (by == X86_BY_BIT && t->in->z.address_width == 32)
		t->bad = "a bit string with narrow addresses";
	if (by && (t->refs || by == X86_BY_BIT)) {
		rp_out_sync(t);
		t->b->mark[t->b->nmark - 1].words = 0;
		t->b->mark[t->b->nmark - 1].off = (uint32_t)(t->p - t->b->start);
		rp_refs_by_helper(t, by, o);
	}
	/*
	 * the processor would add the register's bytes to the unfolded window base; the helper
	 * has folded them
	 */
	if (by == X86_BY_BIT) {
		p->bit = 1;
		p->used |= 1u << T1;
		e_load(t, T0, FO(vec));
		e_load(t, T1, FO(vec) + 8);
	} else if (by)
		rp_operand(t, o, -1, p->base);
	else {
		rp_fetch(t);
		rp_operand(t, o, x86_refkind(o), p->base);
	}
}

/*
 * xrstor is limited to the components that rp_core_new found safe: protection keys and the like
 * belong to this process.
 */
static void
emit_restore(struct rp_tr *t, const struct plan *p)
{
	/* pushfq; and eax, rfbm; popfq; mov edx, 0 */
	static const uint8_t mask[] = { 0x9c, 0x25, 0, 0, 0, 0, 0x9d, 0xba, 0, 0, 0, 0 };
	struct rp_mark *m = &t->b->mark[t->b->nmark - 1];
	unsigned i;

	if (p->ntemp) {
		t->bad = "too many registers";
		return;
	}
	m->borrowed[0] = RAX + 1;
	m->borrowed[1] = RDX + 1;
	e_store(t, FO(save), RAX);
	e_store(t, FO(save) + 8, RDX);
	for (i = 0; i < sizeof mask; i++)
		host_e1(t, i >= 2 && i < 6 ? (unsigned)(t->c->rfbm >> 8 * (i - 2)) & 255 : mask[i]);
	emit_reencode(t, p);
	e_load(t, RAX, FO(save));
	e_load(t, RDX, FO(save) + 8);
}

void
rp_plain(struct rp_tr *t)
{
	const struct x86_inst *in = t->in;
	struct plan p = { .reg = -1, .rm = -1, .vvvv = -1, .opc = -1, .base = -1 };
	unsigned ip, data;
	int i;

	for (i = 0; i < in->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &in->op[i];

		emit_note_registers(&p, o);
		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && i != in->mem) {
			if ((in->z.opcode & 0xfc) == 0xa0 && in->z.mnemonic == ZYDIS_MNEMONIC_MOV) {
				rp_fetch(t);
				emit_moffs(t, o);
			} else
				t->bad = "an operand in memory of an unusual kind";
			return;
		}
	}
	if (in->mem >= 0 && in->op[in->mem].mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
		rp_gather_scatter(t);
		return;
	}
	if (in->mem >= 0 && in->op[in->mem].mem.type != ZYDIS_MEMOP_TYPE_MEM) {
		t->bad = "an address of an unusual kind";
		return;
	}
	if (emit_records_address(in))
		emit_store_address(t);
	if (in->mem >= 0) {
		if (p.hi && p.rcx_in)
			t->bad = "a high byte register in an unusual place";
		emit_memory(t, &p, &in->op[in->mem]);
	} else
		rp_fetch(t);
	emit_assign(t, &p);
	emit_before(t, &p);
	if (t->bad)
		return;
	if (p.hi && p.force_rex)
		t->bad = "a high byte register in an unusual place";
	if (in->z.mnemonic == ZYDIS_MNEMONIC_XRSTOR || in->z.mnemonic == ZYDIS_MNEMONIC_XRSTOR64)
		emit_restore(t, &p);
	else if (emit_x87_layout(in, &ip, &data))
		emit_x87_save(t, &p);
	else
		emit_reencode(t, &p);
	emit_after(t, &p);
}
