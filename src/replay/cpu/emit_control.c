/* Emits instructions that change rip or rsp, or that the processor must not execute directly. */
#include <Zydis/Zydis.h>
#include "isa/x86/decode.h"
#include "isa/x86/limits.h"
#include "replay/cpu/emit_internal.h"

static struct rp_site *
new_site(struct rp_tr *t, uint8_t *rel, uint64_t pc)
{
	struct rp_site *s = t->site++;

	s->to = NULL;
	s->next = NULL;
	s->from = t->b;
	s->pc = pc;
	s->rel = rel;
	t->b->nsite++;
	return s;
}

static void
set_why(struct rp_tr *t, unsigned why)
{
	host_e1(t, 0x48);       /* mov qword [rsp + why], imm32 */
	host_e1(t, 0xc7);
	host_e1(t, 0x84);
	host_e1(t, 0x24);
	host_e4(t, (uint32_t)FO(why));
	host_e4(t, why);
}

/* Without words: counts what the block has done where it is left, after n instructions.  Uses r15. */
void
rp_count_emit(struct rp_tr *t, int n, unsigned nload, unsigned nstore)
{
	if (t->tally && n) {
		e_imm(t, T1, rp_packed((uint64_t)n, nload, nstore));
		e_mem(t, 1, 0x8d, OUT, OUT, T1, 1, 0);
	} else if (!t->stream && n)
		e_lea(t, OUT, OUT, n);
}

/* As above, up to and with the current instruction. */
static void
control_count(struct rp_tr *t)
{
	rp_count_emit(t, t->ninst + 1, t->nload, t->nstore);
}

/* Returns to C with rip = pc. */
void
rp_leavewith(struct rp_tr *t, unsigned why, uint64_t pc)
{
	rp_out_sync(t);
	e_imm(t, T0, pc);
	e_store(t, FO(rip), T0);
	set_why(t, why);
	e_jmp(t, t->th->exit);
	t->done = 1;
}

/* Returns to C; r11 is up to date. */
static void
to_site(struct rp_tr *t, uint64_t pc)
{
	if (t->step) {
		e_imm(t, T0, pc);
		e_store(t, FO(rip), T0);
		set_why(t, RW_NEXT);
		e_jmp(t, t->th->exit);
	} else
		new_site(t, e_jmp32(t), pc);
}

void
rp_jump(struct rp_tr *t, uint64_t pc)
{
	rp_out_sync(t);
	to_site(t, pc);
	t->done = 1;
}

void
rp_goto(struct rp_tr *t, uint64_t pc)
{
	rp_count_emit(t, t->ninst, t->nload, t->nstore);
	rp_jump(t, pc);
}

/* Jumps to the guest address in rcx. */
static void
control_indirect(struct rp_tr *t)
{
	control_count(t);
	e_store(t, FO(rip), T0);
	if (t->step) {
		set_why(t, RW_NEXT);
		e_jmp(t, t->th->exit);
	} else {
		static const uint8_t code[] = { 0x44, 0x0f, 0xb7, 0xf9, 0x42, 0xff, 0xa4, 0xfc };
		unsigned i;

		for (i = 0; i < sizeof code; i++)       /* movzx r15d, cx; jmp [rsp + r15 * 8 + index] */
			host_e1(t, code[i]);
		host_e4(t, (uint32_t)FO(index));
	}
	t->done = 1;
}

void
rp_helper(struct rp_tr *t, uint64_t (*fn)(struct rp_frame *, const struct rp_hinfo *),
    const struct rp_hinfo *h)
{
	((struct rp_hinfo *)(uintptr_t)h)->fn = fn;
	e_imm(t, T0, (uint64_t)(uintptr_t)h);
	host_e1(t, 0xe8);
	host_e4(t, 0);
	e_patch(t->p - 4, t->th->call);
}

/* Size in bytes of what a call pushes, a return pops, or a jump reads. */
static int
control_width(const struct x86_inst *in)
{
	return in->z.operand_width == 16 ? 2 : 8;
}

/* Lets the block continue at pc. */
static void
control_continue_at(struct rp_tr *t, uint64_t pc)
{
	t->jumped = 1;
	t->follow = pc;
}

/* Reduces a 16-bit jump target in rcx to its size: movzx ecx, cx. */
static void
control_truncate_target(struct rp_tr *t)
{
	if (control_width(t->in) == 8)
		return;
	host_e1(t, 0x0f);
	host_e1(t, 0xb7);
	host_e1(t, 0xc9);
}

/* rcx = value of operand o, a register or memory; reports the load. */
static void
target_value(struct rp_tr *t, const ZydisDecodedOperand *o)
{
	int g, h;

	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		rp_operand(t, o, REF_LOAD, T0);
		e_gsload(t, control_width(t->in), T0, T0);
	} else {
		g = x86_gpr(o->reg.value);
		h = rp_home(g);
		if (h >= 0)
			e_mov(t, T0, h);
		else
			e_load(t, T0, rp_regoff(g));
	}
	control_truncate_target(t);
}

static void
control_call(struct rp_tr *t)
{
	const struct x86_inst *in = t->in;
	const ZydisDecodedOperand *o = &in->op[0];
	int direct = o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE, size = control_width(in);

	rp_fetch(t);
	if (!direct) {
		target_value(t, o);
		e_store(t, FO(tmp), T0);
	}
	rp_push_room(t, size);
	e_imm(t, T1, in->next);
	e_gsstore(t, size, T1, T0);
	e_lea(t, G_RSP, G_RSP, -size);
	if (direct) {
		control_continue_at(t, x86_target(&in->z, in->next));
		return;
	}
	rp_values_emit(t);
	rp_out_sync(t);
	e_load(t, T0, FO(tmp));
	control_indirect(t);
}

/* Ends the instruction except for the jump to rcx. */
static void
control_values(struct rp_tr *t)
{
	int uses = t->now && t->now->nmem;

	if (uses)
		e_store(t, FO(tmp), T0);
	rp_values_emit(t);
	if (uses)
		e_load(t, T0, FO(tmp));
	rp_out_sync(t);
}

static void
control_jump(struct rp_tr *t)
{
	const ZydisDecodedOperand *o = &t->in->op[0];

	rp_fetch(t);
	if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		control_continue_at(t, x86_target(&t->in->z, t->in->next));
		return;
	}
	target_value(t, o);
	control_values(t);
	control_indirect(t);
}

static void
control_ret(struct rp_tr *t)
{
	const struct x86_inst *in = t->in;
	int64_t pops = in->z.operand_count_visible ? (int64_t)in->op[0].imm.value.u & 0xffff : 0;

	int size = control_width(in);

	rp_fetch(t);
	rp_ref(t, REF_LOAD, (unsigned)size, G_RSP);
	e_fold(t, T0, G_RSP);
	e_gsload(t, size, T0, T0);
	control_truncate_target(t);
	e_lea(t, G_RSP, G_RSP, size + pops);
	control_values(t);
	control_indirect(t);
}

/* loop, loope, loopne, jrcxz, jecxz */
static void
control_counted(struct rp_tr *t)
{
	uint64_t to = x86_target(&t->in->z, t->in->next);
	ZydisMnemonic m = t->in->z.mnemonic;
	uint8_t *out[2];
	int n = 0;

	rp_fetch(t);
	if (m != ZYDIS_MNEMONIC_JECXZ && m != ZYDIS_MNEMONIC_JRCXZ)
		e_mem(t, t->in->z.address_width != 32, 0x8d, G_RCX, G_RCX, -1, 1, -1);
	rp_values_emit(t);
	rp_out_sync(t);
	control_count(t);
	if (m == ZYDIS_MNEMONIC_JECXZ) {
		host_e1(t, 0x44);       /* mov ecx, r9d */
		host_e1(t, 0x89);
		host_e1(t, 0xc9);
	} else
		e_mov(t, T0, G_RCX);
	host_e1(t, 0xe3);       /* jrcxz */
	host_e1(t, 0);
	out[n++] = t->p - 1;
	if (m == ZYDIS_MNEMONIC_LOOPE || m == ZYDIS_MNEMONIC_LOOPNE) {
		host_e1(t, m == ZYDIS_MNEMONIC_LOOPE ? 0x75 : 0x74);
		host_e1(t, 0);
		out[n++] = t->p - 1;
	}
	to_site(t, n == 1 && (m == ZYDIS_MNEMONIC_JRCXZ || m == ZYDIS_MNEMONIC_JECXZ) ? t->in->next : to);
	while (n--)
		*rp_w(out[n]) = (uint8_t)(t->p - out[n] - 1);
	to_site(t, m == ZYDIS_MNEMONIC_JRCXZ || m == ZYDIS_MNEMONIC_JECXZ ? to : t->in->next);
	t->done = 1;
}

static void
cpu_control_branch(struct rp_tr *t)
{
	uint64_t to = x86_target(&t->in->z, t->in->next);

	if (t->in->z.opcode >= 0xe0 && t->in->z.opcode <= 0xe3) {
		control_counted(t);
		return;
	}
	rp_fetch(t);
	if (t->step) {
		uint8_t *rel;

		rp_out_sync(t);
		control_count(t);
		rel = e_jcc32(t, t->in->z.opcode & 15);
		to_site(t, t->in->next);
		e_patch(rel, t->p);
		to_site(t, to);
		t->done = 1;
		return;
	}
	t->side[t->nside].rel = e_jcc32(t, t->in->z.opcode & 15);
	t->side[t->nside].pc = to;
	t->side[t->nside].left = t->ninst + 1;
	t->side[t->nside].nload = t->nload;
	t->side[t->nside].nstore = t->nstore;
	t->side[t->nside++].words = (int)t->words;
	t->branched = 1;
	control_continue_at(t, t->in->next);
}

static int
home_or(struct rp_tr *t, ZydisRegister r, int tmp)
{
	int g = x86_gpr(r), h;

	if (g < 0)
		return -1;
	if ((h = rp_home(g)) >= 0)
		return h;
	e_load(t, tmp, rp_regoff(g));
	return tmp;
}

static void
control_lea(struct rp_tr *t)
{
	const ZydisDecodedOperand *d = &t->in->op[0], *o = &t->in->op[1];
	int g = x86_gpr(d->reg.value), h = rp_home(g), dst = h < 0 ? T0 : h, base, index;
	int rip = o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP;
	int wide = t->in->z.address_width != 32;

	rp_fetch(t);
	if (rip || (o->mem.base == ZYDIS_REGISTER_NONE && o->mem.index == ZYDIS_REGISTER_NONE)) {
		uint64_t v = (rip ? t->in->next : 0) + (uint64_t)o->mem.disp.value;

		if (!wide || d->size == 32)
			v = (uint32_t)v;
		e_imm(t, d->size == 16 ? T1 : dst, v);
	} else {
		base = home_or(t, o->mem.base, T0);
		index = home_or(t, o->mem.index, T1);
		e_mem(t, wide && d->size != 32, 0x8d, d->size == 16 ? T1 : dst, base, index, o->mem.scale,
		    o->mem.disp.value);
	}
	if (d->size == 16) {            /* only the low half of dst is written */
		if (h < 0)
			e_load(t, T0, rp_regoff(g));
		host_e1(t, 0x66);       /* mov dst16, r15w */
		host_e1(t, 0x44u | (unsigned)dst >> 3);
		host_e1(t, 0x89);
		host_e1(t, 0xf8u | ((unsigned)dst & 7));
	}
	if (h < 0)
		e_store(t, rp_regoff(g), T0);
}

static void
control_xlat(struct rp_tr *t)
{
	unsigned i;

	for (i = 0; i + 1u < t->in->z.length; i++)
		if (t->in->b[i] == 0x64 || t->in->b[i] == 0x65 || t->in->b[i] == 0x67)
			t->bad = "xlat with prefixes";
	rp_fetch(t);
	host_e1(t, 0x0f);       /* movzx ecx, al */
	host_e1(t, 0xb6);
	host_e1(t, 0xc8);
	e_mem(t, 1, 0x8d, T0, RBX, T0, 1, 0);
	rp_ref(t, REF_LOAD, 1, T0);
	e_fold(t, T0, T0);
	host_e1(t, 0x65);       /* mov al, gs:[rcx] */
	host_e1(t, 0x8a);
	host_e1(t, 0x01);
}

/*
 * Clears the 64-byte line at rax, by stores: rax as the guest has it would be an address of
 * this process.
 */
static void
control_clzero(struct rp_tr *t)
{
	/* pushfq; and rcx, -64; popfq */
	static const uint8_t align[] = { 0x9c, 0x48, 0x83, 0xe1, (uint8_t)~X86_LINE, 0x9d };
	unsigned i;

	for (i = 0; i < t->in->z.length; i++)
		if (t->in->b[i] == 0x64 || t->in->b[i] == 0x65)
			t->bad = "clzero with prefixes";
	rp_fetch(t);
	e_mov(t, T0, rp_addr(t, &t->in->op[t->in->z.operand_count - 1], 0));
	for (i = 0; i < sizeof align; i++)
		host_e1(t, align[i]);
	rp_ref(t, REF_STORE, X86_LINE + 1, T0);
	e_fold(t, T0, T0);
	for (i = 0; i <= X86_LINE; i += 8) {
		host_e1(t, 0x65);       /* mov qword gs:[rcx + i], 0 */
		e_mem(t, 1, 0xc7, 0, T0, -1, 1, i);
		host_e4(t, 0);
	}
}

static void
segment_base(struct rp_tr *t, int off, int write)
{
	const ZydisDecodedOperand *o = &t->in->op[0];
	int g = x86_gpr(o->reg.value), h = rp_home(g);

	rp_fetch(t);
	if (write) {
		if (h < 0)
			e_load(t, h = T0, rp_regoff(g));
		if (o->size == 32) {
			host_e1(t, 0x40u | ((unsigned)h >> 3) << 2); /* mov ecx, h */
			host_e1(t, 0x89);
			host_e1(t, 0xc0u | ((unsigned)h & 7) << 3 | T0);
			h = T0;
		}
		e_store(t, off, h);
		return;
	}
	e_mem(t, o->size == 64, 0x8b, h < 0 ? T0 : h, RSP, -1, 1, off);
	if (h < 0)
		e_store(t, rp_regoff(g), T0);
}

static void
control_string(struct rp_tr *t)
{
	static const struct { uint8_t first, kind; } kinds[] = {
		{ 0xa4, RS_MOVS }, { 0xa6, RS_CMPS }, { 0xaa, RS_STOS }, { 0xac, RS_LODS }, { 0xae, RS_SCAS }
	};
	const struct x86_inst *in = t->in;
	struct rp_hinfo *h;
	unsigned i;

	if ((h = rp_hinfo(t)) == NULL)
		return;
	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if ((in->z.opcode & 0xfe) == kinds[i].first)
			h->op = kinds[i].kind;
	h->size = (uint8_t)(in->z.opcode & 1 ? in->z.operand_width / 8 : 1);
	h->rep = in->z.attributes & ZYDIS_ATTRIB_HAS_REPNE ? 2
	    : in->z.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE) ? 1 : 0;
	h->addr32 = in->z.address_width == 32;
	if (h->op != RS_STOS && h->op != RS_SCAS)
		/* the segment of the source: the last prefix counts */
		for (i = 0; i + 1u < in->z.length; i++)
			if (in->b[i] == 0x64 || in->b[i] == 0x65)
				h->seg = in->b[i] == 0x64 ? 1 : 2;
	rp_out_sync(t);
	rp_count_emit(t, t->ninst, t->nload, t->nstore);
	rp_helper(t, rp_helper_string, h);
	t->b->mark[t->b->nmark - 1].out0 = 1;
	t->ninst--;                     /* the helper counts it */
	to_site(t, in->next);
	t->done = 1;
}

static int
control_category(struct rp_tr *t)
{
	switch (t->in->z.meta.category) {
	case ZYDIS_CATEGORY_CALL: control_call(t); return 1;
	case ZYDIS_CATEGORY_RET: control_ret(t); return 1;
	case ZYDIS_CATEGORY_UNCOND_BR: control_jump(t); return 1;
	case ZYDIS_CATEGORY_COND_BR: cpu_control_branch(t); return 1;
	case ZYDIS_CATEGORY_STRINGOP: control_string(t); return 1;
	default: return 0;
	}
}

static int
control_leaving(struct rp_tr *t, unsigned why)
{
	rp_fetch(t);
	if (t->now && !t->valued) {     /* room for values: the caller of rp_run fills them in */
		t->words += FACT_NLATE;
		t->maxwords += FACT_NLATE;
		rp_out_sync(t);
		e_store(t, FO(late), OUT);
	}
	control_count(t);
	rp_leavewith(t, why, t->in->next);
	return 1;
}

static int
control_randomly(struct rp_tr *t, int insn)
{
	const ZydisDecodedOperand *o = &t->in->op[0];

	e_imm(t, T0, (uint64_t)insn | (uint64_t)x86_gpr(o->reg.value) << 8 | (uint64_t)(o->size / 8) << 16);
	e_store(t, FO(rand), T0);
	return control_leaving(t, RW_RAND);
}

static int
control_trapped(struct rp_tr *t, int sig)
{
	rp_fetch(t);
	e_imm(t, T0, (uint64_t)sig);
	e_store(t, FO(sig), T0);
	control_count(t);
	rp_leavewith(t, RW_BEHIND, t->in->next);
	return 1;
}

int
rp_special(struct rp_tr *t)
{
	struct rp_hinfo *h;
	int sig, random;

	if (x86_no_reference(&t->in->z)) {
		rp_fetch(t);
		return 1;
	}
	if (control_category(t))
		return 1;
	if ((sig = x86_trap_after(t->in)) != 0)
		return control_trapped(t, sig);
	if ((random = x86_random_insn(t->in)) != 0)
		return control_randomly(t, RP_RDRAND + random - X86_RDRAND);
	switch (t->in->z.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH: rp_push(t); return 1;
	case ZYDIS_MNEMONIC_POP: rp_pop(t); return 1;
	case ZYDIS_MNEMONIC_LEAVE: rp_leave(t); return 1;
	case ZYDIS_MNEMONIC_ENTER: rp_enter(t); return 1;
	case ZYDIS_MNEMONIC_LEA: control_lea(t); return 1;
	case ZYDIS_MNEMONIC_PUSHF: case ZYDIS_MNEMONIC_PUSHFQ: rp_pushf(t); return 1;
	case ZYDIS_MNEMONIC_POPF: case ZYDIS_MNEMONIC_POPFQ: rp_popf(t); return 1;
	case ZYDIS_MNEMONIC_XLAT: control_xlat(t); return 1;
	case ZYDIS_MNEMONIC_CLZERO: control_clzero(t); return 1;
	/*
	 * rdssp does nothing without a shadow stack.  Programs are captured without one, but
	 * this process might have one.
	 */
	case ZYDIS_MNEMONIC_RDSSPD: case ZYDIS_MNEMONIC_RDSSPQ: rp_fetch(t); return 1;
	case ZYDIS_MNEMONIC_RDFSBASE: segment_base(t, FO(fsbase), 0); return 1;
	case ZYDIS_MNEMONIC_RDGSBASE: segment_base(t, FO(gsbase), 0); return 1;
	case ZYDIS_MNEMONIC_WRFSBASE: segment_base(t, FO(fsbase), 1); return 1;
	case ZYDIS_MNEMONIC_WRGSBASE: segment_base(t, FO(gsbase), 1); return 1;
	case ZYDIS_MNEMONIC_MASKMOVQ: case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU: rp_maskmov(t); return 1;
	case ZYDIS_MNEMONIC_SYSCALL: return control_leaving(t, RW_SYSCALL);
	case ZYDIS_MNEMONIC_RDTSC: return control_leaving(t, RW_RDTSC);
	case ZYDIS_MNEMONIC_RDTSCP: return control_leaving(t, RW_RDTSCP);
	case ZYDIS_MNEMONIC_CPUID: return control_leaving(t, RW_CPUID);
	case ZYDIS_MNEMONIC_XGETBV:
		rp_fetch(t);
		if ((h = rp_hinfo(t)) != NULL) {
			rp_out_sync(t);
			rp_helper(t, rp_helper_xgetbv, h);
		}
		return 1;
	default:
		return 0;
	}
}
