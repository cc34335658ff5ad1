/* Emits instructions that push and pop. */
#include <Zydis/Zydis.h>
#include "replay/cpu/emit_internal.h"

/*
 * Makes room for size bytes on the stack and reports the store.  The host address is in rcx;
 * rsp is not changed yet.
 */
void
rp_push_room(struct rp_tr *t, int size)
{
	e_lea(t, T0, G_RSP, -size);
	rp_ref(t, REF_STORE, (unsigned)size, T0);
	e_fold(t, T0, T0);
}

void
rp_push(struct rp_tr *t)
{
	const ZydisDecodedOperand *o = &t->in->op[0];
	int size = t->in->z.operand_width == 16 ? 2 : 8, src = T1, g;

	rp_fetch(t);
	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		rp_operand(t, o, REF_LOAD, T0);
		e_gsload(t, size, T0, T0);
		e_store(t, FO(tmp), T0);
	}
	rp_push_room(t, size);
	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
		e_load(t, T1, FO(tmp));
	else if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		e_imm(t, T1, o->imm.is_signed ? (uint64_t)o->imm.value.s : o->imm.value.u);
	else if ((g = x86_gpr(o->reg.value)) < 0) {
		t->bad = "a segment register is pushed";
		return;
	} else if ((src = rp_home(g)) < 0) {
		src = T1;
		e_load(t, T1, rp_regoff(g));
	}
	e_gsstore(t, size, src, T0);
	e_lea(t, G_RSP, G_RSP, -size);
}

static void
pop_memory(struct rp_tr *t, const ZydisDecodedOperand *o, int size)
{
	uint64_t addr;
	int r;

	e_gsload(t, size, T0, T0);
	e_store(t, FO(tmp), T0);
	if (rp_isconst(t, o, &addr)) {
		rp_refconst(t, REF_STORE, (unsigned)size, addr);
		e_imm(t, T0, addr & rp_mask);
	} else {
		r = rp_addr(t, o, x86_gpr(o->mem.base) == RSP ? size : 0);
		rp_ref(t, REF_STORE, (unsigned)size, r);
		e_fold(t, T0, r);
	}
	e_load(t, T1, FO(tmp));
	e_gsstore(t, size, T1, T0);
	e_lea(t, G_RSP, G_RSP, size);
}

void
rp_pop(struct rp_tr *t)
{
	const ZydisDecodedOperand *o = &t->in->op[0];
	int size = t->in->z.operand_width == 16 ? 2 : 8, g, h;

	rp_fetch(t);
	rp_ref(t, REF_LOAD, (unsigned)size, G_RSP);
	e_fold(t, T0, G_RSP);
	rp_load_record(t, 0, 0, T0);
	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		pop_memory(t, o, size);
		return;
	}
	if ((g = x86_gpr(o->reg.value)) < 0) {
		t->bad = "a segment register is popped";
		return;
	}
	h = rp_home(g);
	if (h < 0) {
		if (size == 2)
			e_load(t, T1, rp_regoff(g));
		e_gsload(t, size, T1, T0);
		e_store(t, rp_regoff(g), T1);
	} else
		e_gsload(t, size, h, T0);
	if (g != RSP)
		e_lea(t, G_RSP, G_RSP, size);
}

void
rp_leave(struct rp_tr *t)
{
	int size = t->in->z.operand_width == 16 ? 2 : 8;

	rp_fetch(t);
	rp_ref(t, REF_LOAD, (unsigned)size, RBP);
	e_fold(t, T0, RBP);
	if (size == 2)
		e_mov(t, T1, RBP);      /* keeps the upper half of rbp */
	e_gsload(t, size, T1, T0);
	e_lea(t, G_RSP, RBP, size);
	e_mov(t, RBP, T1);
}

void
rp_enter(struct rp_tr *t)
{
	if (t->in->op[1].imm.value.u & 31 || t->in->z.operand_width == 16) {
		t->bad = "enter with nested frames";
		return;
	}
	rp_fetch(t);
	rp_push_room(t, 8);
	e_gsstore(t, 8, RBP, T0);
	e_lea(t, RBP, G_RSP, -8);
	e_lea(t, G_RSP, G_RSP, -8 - (int64_t)(t->in->op[0].imm.value.u & 0xffff));
}

void
rp_pushf(struct rp_tr *t)
{
	int size = t->in->z.operand_width == 16 ? 2 : 8;

	rp_fetch(t);
	rp_push_room(t, size);
	e_load(t, T1, FO(ac));
	host_e1(t, 0x9c);       /* pushfq, twice: once to keep the flags over the or */
	host_e1(t, 0x9c);
	host_e4(t, 0x243c094c); /* or [rsp], r15 */
	host_e1(t, 0x41);
	host_e1(t, 0x5f);       /* pop r15 */
	host_e1(t, 0x9d);
	e_gsstore(t, size, T1, T0);
	e_lea(t, G_RSP, G_RSP, -size);
}

/*
 * Restricts flags to those that user code may change and that cannot harm this process: no
 * single steps, no alignment checks.  Programs that look for a 386 set AC, and look whether it is set.
 */
void
rp_popf(struct rp_tr *t)
{
	int size = t->in->z.operand_width == 16 ? 2 : 8;

	rp_fetch(t);
	rp_ref(t, REF_LOAD, (unsigned)size, G_RSP);
	e_fold(t, T0, G_RSP);
	e_imm(t, T1, 0);
	if (size == 2) {                /* a 16-bit popf keeps the upper half, which pushf returns */
		host_e1(t, 0x9c);
		host_e1(t, 0x41);
		host_e1(t, 0x5f);
	}
	e_gsload(t, size, T1, T0);
	e_lea(t, G_RSP, G_RSP, size);
	if (size == 8) {
		e_mov(t, T0, T1);
		host_e1(t, 0x81);       /* and ecx, AC */
		host_e1(t, 0xe1);
		host_e4(t, 0x40000);
		e_store(t, FO(ac), T0);
	}
	host_e1(t, 0x49);       /* and r15, mask */
	host_e1(t, 0x81);
	host_e1(t, 0xe7);
	host_e4(t, 0x200cd5);
	host_e1(t, 0x41);
	host_e1(t, 0x57);       /* push r15 */
	host_e1(t, 0x9d);
}
