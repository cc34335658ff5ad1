/* Emits the few host instructions that surround a guest instruction.  None of them changes a flag. */
#include <string.h>
#include <Zydis/Zydis.h>
#include "replay/cpu/emit_internal.h"

void
host_e1(struct rp_tr *t, unsigned b)
{
	*rp_w(t->p++) = (uint8_t)b;
}

void
host_e4(struct rp_tr *t, uint32_t v)
{
	memcpy(rp_w(t->p), &v, 4);
	t->p += 4;
}

void
host_e8(struct rp_tr *t, uint64_t v)
{
	memcpy(rp_w(t->p), &v, 8);
	t->p += 8;
}

/* op reg, [base + index * scale + disp]; w: 64 bits; index and base may be -1: none. */
void
e_mem(struct rp_tr *t, int w, unsigned op, int reg, int base, int index, unsigned scale, int64_t disp)
{
	unsigned rex = 0x40u | (unsigned)w << 3 | ((unsigned)reg >> 3 & 1) << 2;
	unsigned ss = scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0;
	unsigned mod, r = ((unsigned)reg & 7) << 3;

	if (index >= 0)
		rex |= ((unsigned)index >> 3 & 1) << 1;
	if (base >= 0)
		rex |= (unsigned)base >> 3 & 1;
	if (rex != 0x40)
		host_e1(t, rex);
	host_e1(t, op);
	mod = base < 0 ? 0 : disp == 0 && (base & 7) != RBP ? 0 : disp >= -128 && disp < 128 ? 1 : 2;
	if (index < 0 && base >= 0 && (base & 7) != RSP)
		host_e1(t, mod << 6 | r | ((unsigned)base & 7));
	else {
		host_e1(t, mod << 6 | r | 4);
		host_e1(t, ss << 6 | (index < 0 ? 4u : (unsigned)index & 7) << 3 |
		    (base < 0 ? 5u : (unsigned)base & 7));
	}
	if (mod == 1)
		host_e1(t, (unsigned)disp & 255);
	else if (mod == 2 || base < 0)
		host_e4(t, (uint32_t)disp);
}

void
e_load(struct rp_tr *t, int reg, int off)
{
	e_mem(t, 1, 0x8b, reg, RSP, -1, 1, off);
}

void
e_store(struct rp_tr *t, int off, int reg)
{
	e_mem(t, 1, 0x89, reg, RSP, -1, 1, off);
}

void
e_mov(struct rp_tr *t, int dst, int src)
{
	if (dst == src)
		return;
	host_e1(t, 0x48u | ((unsigned)src >> 3) << 2 | (unsigned)dst >> 3);
	host_e1(t, 0x89);
	host_e1(t, 0xc0u | ((unsigned)src & 7) << 3 | ((unsigned)dst & 7));
}

void
e_imm(struct rp_tr *t, int reg, uint64_t v)
{
	unsigned b = (unsigned)reg >> 3;

	if (v >> 32 == 0) {
		if (b)
			host_e1(t, 0x41);
		host_e1(t, 0xb8u | ((unsigned)reg & 7));
		host_e4(t, (uint32_t)v);
	} else if ((int64_t)v == (int32_t)v) {
		host_e1(t, 0x48u | b);
		host_e1(t, 0xc7);
		host_e1(t, 0xc0u | ((unsigned)reg & 7));
		host_e4(t, (uint32_t)v);
	} else {
		host_e1(t, 0x48u | b);
		host_e1(t, 0xb8u | ((unsigned)reg & 7));
		host_e8(t, v);
	}
}

void
e_lea(struct rp_tr *t, int dst, int base, int64_t disp)
{
	if (disp == 0)
		e_mov(t, dst, base);
	else
		e_mem(t, 1, 0x8d, dst, base, -1, 1, disp);
}

/* pext dst, src, [rsp + off] */
static void
host_pext(struct rp_tr *t, int dst, int src, int off)
{
	host_e1(t, 0xc4);
	host_e1(t, 0x62u | (dst < 8 ? 0x80 : 0));
	host_e1(t, 0x80u | (~(unsigned)src & 15) << 3 | 2);
	host_e1(t, 0xf5);
	host_e1(t, (off < 128 ? 0x44u : 0x84u) | ((unsigned)dst & 7) << 3);
	host_e1(t, 0x24);
	if (off < 128)
		host_e1(t, (unsigned)off);
	else
		host_e4(t, (uint32_t)off);
}

/* dst = src & [rsp + off], a mask of low bits.  Without BMI2 it uses `and` and restores the flags. */
static void
host_low(struct rp_tr *t, int dst, int src, int off)
{
	if (t->bmi2) {
		host_pext(t, dst, src, off);
		return;
	}
	e_mov(t, dst, src);
	host_e1(t, 0x9c);
	e_mem(t, 1, 0x23, dst, RSP, -1, 1, off + 8);
	host_e1(t, 0x9d);
}

/* Folds the guest address in src to an offset in the window. */
void
e_fold(struct rp_tr *t, int dst, int src)
{
	host_low(t, dst, src, FO(mask));
}

void
e_canon(struct rp_tr *t, int dst, int src)
{
	host_low(t, dst, src, FO(canon));
}

void
e_sign(struct rp_tr *t, int dst, int src)
{
	if (t->bmi2) {
		host_pext(t, dst, src, FO(sign));
		return;
	}
	e_mov(t, dst, src);
	host_e1(t, 0x9c);
	host_e1(t, 0x48u | (unsigned)dst >> 3); /* shr dst, 63 */
	host_e1(t, 0xc1);
	host_e1(t, 0xe8u | ((unsigned)dst & 7));
	host_e1(t, 63);
	host_e1(t, 0x9d);
}

void
e_patch(uint8_t *rel, const uint8_t *to)
{
	int32_t d = (int32_t)(to - (rel + 4));

	memcpy(rp_w(rel), &d, 4);
}

uint8_t *
e_jmp32(struct rp_tr *t)
{
	host_e1(t, 0xe9);
	host_e4(t, 0);
	return t->p - 4;
}

uint8_t *
e_jcc32(struct rp_tr *t, unsigned cc)
{
	host_e1(t, 0x0f);
	host_e1(t, 0x80u | cc);
	host_e4(t, 0);
	return t->p - 4;
}

void
e_jmp(struct rp_tr *t, const uint8_t *to)
{
	e_patch(e_jmp32(t), to);
}

static void
host_gs(struct rp_tr *t, int size, unsigned op, int reg, int base)
{
	host_e1(t, 0x65);
	if (size == 2)
		host_e1(t, 0x66);
	e_mem(t, size == 8, op, reg, base, -1, 1, 0);
}

void
e_gsload(struct rp_tr *t, int size, int reg, int base)
{
	host_gs(t, size, 0x8b, reg, base);
}

void
e_gsstore(struct rp_tr *t, int size, int reg, int base)
{
	host_gs(t, size, 0x89, reg, base);
}
