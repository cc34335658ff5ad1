/* Emits code for addresses of operands and for their references. */
#include <Zydis/Zydis.h>
#include "replay/cpu/emit_internal.h"

/* Updates r11: it is after all words written so far. */
void
rp_out_sync(struct rp_tr *t)
{
	if (t->stream && t->words)
		e_lea(t, OUT, OUT, 8 * (int64_t)t->words);
	t->words = 0;
}

void
rp_word_append(struct rp_tr *t, int reg)
{
	e_mem(t, 1, 0x89, reg, OUT, -1, 1, 8 * (int64_t)t->words);
	t->words++;
	t->maxwords++;
}

void
rp_fetch(struct rp_tr *t)
{
	if (!t->refs || t->values || t->data || t->tally)
		return;
	e_imm(t, T0, ref_make(REF_INST, t->in->pc, t->in->z.length));
	rp_word_append(t, T0);
}

/* Is the address of operand o a constant at translation time? */
int
rp_isconst(const struct rp_tr *t, const ZydisDecodedOperand *o, uint64_t *addr)
{
	int rip = o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP;

	if (o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS)
		return 0;
	if (o->mem.index != ZYDIS_REGISTER_NONE || (o->mem.base != ZYDIS_REGISTER_NONE && !rip))
		return 0;
	*addr = (rip ? t->in->next : 0) + (uint64_t)o->mem.disp.value;
	if (t->in->z.address_width == 32)
		*addr = (uint32_t)*addr;
	return 1;
}

/* The host register of guest register r; it is loaded into tmp if it has none. */
static int
emit_address_gpr(struct rp_tr *t, ZydisRegister r, int tmp)
{
	int g = x86_gpr(r), h;

	if (g < 0)
		return -1;
	h = rp_home(g);
	if (h >= 0)
		return h;
	e_load(t, tmp, rp_regoff(g));
	return tmp;
}

/*
 * Computes the guest address of o, plus add, in T0 or in the host register of its only
 * register.  A vector index is left out.  Uses T1.
 */
int
rp_addr(struct rp_tr *t, const ZydisDecodedOperand *o, int64_t add)
{
	int rip = o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP;
	int wide = t->in->z.address_width != 32;
	int64_t disp = o->mem.disp.value + add;
	int base = rip ? -1 : emit_address_gpr(t, o->mem.base, T0);
	int index = emit_address_gpr(t, o->mem.index, base == T0 ? T1 : T0);
	int seg = o->mem.segment == ZYDIS_REGISTER_FS ? FO(fsbase) :
	    o->mem.segment == ZYDIS_REGISTER_GS ? FO(gsbase) : 0;
	int r = T0;

	if (rip)
		e_imm(t, T0,
		    (wide ? t->in->next + (uint64_t)disp : (uint32_t)(t->in->next + (uint64_t)disp)));
	else if (base >= 0 && index < 0 && disp == 0 && wide)
		r = base;
	else if (base < 0 && index < 0)
		e_imm(t, T0, wide ? (uint64_t)disp : (uint32_t)disp);
	else
		e_mem(t, wide, 0x8d, T0, base, index, o->mem.scale, disp);
	if (seg) {
		e_load(t, T1, seg);
		e_mem(t, 1, 0x8d, T0, r, T1, 1, 0);
		r = T0;
	}
	return r;
}

static int
log2_of(unsigned size)
{
	int i;

	for (i = 0; i < (int)RP_KSIZES; i++)
		if (size == 1u << i)
			return i;
	return -1;
}

/* T1 = the word of a reference to address 0. */
static void
kind_word(struct rp_tr *t, int kind, unsigned size)
{
	int l = log2_of(size);

	if (l < 0)
		e_imm(t, T1, ref_make((unsigned)kind, 0, size));
	else if (kind == REF_LOAD && l < 4)
		e_load(t, T1, FO(kload) + 8 * l);
	else if (kind == REF_STORE && (l == 2 || l == 3))
		e_load(t, T1, FO(kstore) + 8 * (l - 2));
	else
		e_load(t, T1, FO(kmore) + 8 * ((kind - REF_LOAD) * (int)RP_KSIZES + l));
}

/* Stores v in the upper 16 bits of the word just written: mov word [r11 + off], imm16. */
static void
emit_address_upper(struct rp_tr *t, uint64_t v)
{
	host_e1(t, 0x66);
	e_mem(t, 0, 0xc7, 0, OUT, -1, 1, 8 * ((int64_t)t->words - 1) + 6);
	host_e1(t, v >> 48 & 255);
	host_e1(t, (unsigned)(v >> 56));
}

/* RP_TALLY: a reference of the current instruction, or several pieces of one. */
static void
address_tally(struct rp_tr *t, int kind, unsigned size)
{
	unsigned n = 1;

	for (; size > REF_SIZEMAX; size -= REF_PIECE)
		n++;
	if (kind != REF_MODIFY && !t->nnow[kind]) {
		t->nnow[kind] = 1;
		n--;
		t->nload += kind == REF_LOAD;
		t->nstore += kind == REF_STORE;
	}
	t->more[kind] += n;
}

/*
 * Emits a reference to the address in reg.  Only its low 48 bits are used: a non-canonical
 * address, as in a damaged capture, must not change the kind of the reference.
 */
void
rp_ref(struct rp_tr *t, int kind, unsigned size, int reg)
{
	int64_t add = 0;

	if (t->tally)
		address_tally(t, kind, size);
	if (!t->refs || t->tally)
		return;
	while (size) {
		unsigned n = size > REF_SIZEMAX ? REF_PIECE : size;

		if (add) {              /* a later piece of the operand */
			e_lea(t, T1, reg, add);
			rp_word_append(t, T1);
			emit_address_upper(t, ref_make((unsigned)kind, 0, n));
		} else {
			e_canon(t, T0, reg);
			kind_word(t, kind, n);
			e_mem(t, 1, 0x8d, T1, T1, T0, 1, 0);
			rp_word_append(t, T1);
		}
		add += n;
		size -= n;
	}
}

void
rp_refconst(struct rp_tr *t, int kind, unsigned size, uint64_t addr)
{
	if (t->tally)
		address_tally(t, kind, size);
	if (!t->refs || t->tally)
		return;
	while (size) {
		unsigned n = size > REF_SIZEMAX ? REF_PIECE : size;

		e_imm(t, T0, ref_make((unsigned)kind, addr, n));
		rp_word_append(t, T0);
		addr += n;
		size -= n;
	}
}

/* kind < 0: no reference. */
void
rp_operand(struct rp_tr *t, const ZydisDecodedOperand *o, int kind, int dst)
{
	unsigned first = t->words - t->word0, i;
	uint64_t addr;
	int r;

	if (rp_isconst(t, o, &addr)) {
		if (kind >= 0)
			rp_refconst(t, kind, o->size / 8, addr);
		e_imm(t, dst, addr & rp_mask);
	} else {
		r = rp_addr(t, o, 0);
		if (kind >= 0)
			rp_ref(t, kind, o->size / 8, r);
		e_fold(t, dst, r);
	}
	for (i = first; kind >= 0 && kind != REF_STORE && t->words - t->word0 > i; i++)
		rp_load_record(t, first, i, dst);
}
