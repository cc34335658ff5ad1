/*
 * Which loop waits: one that changes nothing that others could see, and of the registers one at most, as it counts how often it
 * has looked; and that reads the same memory each time.  Such a loop can end when others have written there.  Of others,
 * that only seem to wait, as they compute in one register, each pass would end a turn: spin.c has a limit.
 */
#include <string.h>

#include "base/bytes.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/spin.h"

#define NEAR_STACK 4096u        /* bytes around the stack pointer: what is read there is the thread's own */

static void
loop_forget(struct spin_loop *l)
{
	l->n = 0;
	l->used = 0;
	l->reads = 0;
}

/* A jump was taken backward: has it been, with the same registers? */
static void
loop_pass(struct spin_loop *l, const struct ws_regs *w)
{
	uint32_t changed = 0;
	size_t i;

	for (i = 0; i < l->n && l->jump[i].addr != l->last; i++)
		;
	if (i == LOOP_JUMPS)
		return;
	for (unsigned k = 0; k < 16 && i < l->n; k++)
		changed |= (uint32_t)(l->jump[i].r[k] != w->r[k]) << k;
	if (i < l->n && !(changed & (changed - 1)) && !(changed & l->used) && l->reads) {
		l->found = l->last;
		l->len = l->lastlen;
	}
	l->n += i == l->n;
	l->jump[i].addr = l->last;
	memcpy(l->jump[i].r, w->r, sizeof(w->r));
}

static int
loop_is_general(ZydisRegister r)
{
	return ZydisRegisterGetClass(r) == ZYDIS_REGCLASS_GPR64;
}

/* A memory operand at addr. */
static void
loop_memory(struct spin_loop *l, struct cap *c, const ZydisDecodedOperand *o, uint64_t addr, uint64_t sp)
{
	int writes = (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;

	if (writes && tracee_read(&c->t, addr, l->had, 8) == 8)
		l->dest = addr;
	else if (writes)
		loop_forget(l);
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ && addr - (sp - NEAR_STACK) > 2 * NEAR_STACK) {
		l->reads = 1;
		if (loop_is_general(o->mem.base))
			l->used |= 1u << ZydisRegisterGetId(o->mem.base);
		if (loop_is_general(o->mem.index))
			l->used |= 1u << ZydisRegisterGetId(o->mem.index);
	}
}

static void
loop_operands(struct spin_loop *l, struct cap *c, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *op,
    const struct ws_regs *w)
{
	ZydisRegisterContext x;
	uint64_t addr;

	memset(&x, 0, sizeof(x));
	for (int i = 0; i < 16; i++) {
		x.values[ZYDIS_REGISTER_RAX + i] = w->r[i];
		x.values[ZYDIS_REGISTER_EAX + i] = (uint32_t)w->r[i];
	}
	for (int i = 0; i < z->operand_count_visible; i++) {
		const ZydisDecodedOperand *o = &op[i];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    ZydisRegisterGetClass(o->reg.value) > ZYDIS_REGCLASS_GPR64)
			loop_forget(l);         /* it computes in vectors */
		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
		    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(z, o, w->rip, &x, &addr)))
			continue;
		addr += o->mem.segment == ZYDIS_REGISTER_FS ? w->fsbase : o->mem.segment == ZYDIS_REGISTER_GS ? w->gsbase : 0;
		loop_memory(l, c, o, addr, w->r[WS_RSP]);
	}
}

/* Can spin_after execute it? */
static int
loop_knows(const ZydisDecodedInstruction *z, const uint8_t *b)
{
	return (z->length == 2 && ((b[0] & 0xf0) == 0x70 || b[0] == 0xeb)) || (z->length == 5 && b[0] == 0xe9) ||
	    (z->length == 6 && b[0] == 0x0f && (b[1] & 0xf0) == 0x80);
}

void
spin_loop_step(struct spin_loop *l, struct cap *c, const struct user_regs_struct *g, const ZydisDecodedInstruction *z,
    const ZydisDecodedOperand *op)
{
	struct ws_regs w;
	uint8_t b[8];

	if (l->found)
		return;
	tracee_from_user(&w, g, g->rax);
	if (l->dest && (tracee_read(&c->t, l->dest, b, 8) != 8 || memcmp(b, l->had, 8)))
		loop_forget(l);
	if (l->last && w.rip == l->to)
		loop_pass(l, &w);
	l->last = l->dest = 0;
	if (z->mnemonic == ZYDIS_MNEMONIC_PAUSE)        /* spin_learn finds it */
		loop_forget(l);
	loop_operands(l, c, z, op, &w);
	if (op[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !op[0].imm.is_relative || op[0].imm.value.s >= -(int64_t)z->length ||
	    tracee_read(&c->t, w.rip, b, z->length < 8 ? z->length : 8) != z->length || !loop_knows(z, b))
		return;
	l->last = w.rip;
	l->lastlen = z->length;
	l->to = w.rip + z->length + (uint64_t)op[0].imm.value.s;
}

/* The condition of the jump whose code ends with cc. */
static int
loop_jumps(unsigned cc, uint64_t flags)
{
	int cf = flags & 1, pf = flags >> 2 & 1, zf = flags >> 6 & 1, sf = flags >> 7 & 1, of = flags >> 11 & 1;
	const int is[8] = { of, cf, zf, cf | zf, sf, pf, sf ^ of, zf | (sf ^ of) };

	return is[cc >> 1 & 7] ^ (int)(cc & 1);
}

uint64_t
spin_after(struct cap *c, const struct site *s, uint64_t flags)
{
	uint64_t next = s->addr + s->d.len;
	uint8_t b[6] = {0};

	if (s->was == PAUSE_BYTE || s->d.len > sizeof(b) || tracee_read(&c->t, s->addr, b, s->d.len) != s->d.len)
		return next;
	if (s->was == 0xeb || s->was == 0xe9 || loop_jumps(s->was == 0x0f ? b[1] : s->was, flags))
		next += s->d.len == 2 ? (uint64_t)(int8_t)b[1] : (uint64_t)(int32_t)get_le32(b + s->d.len - 4);
	return next;
}
