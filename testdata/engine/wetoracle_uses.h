/*
 * What an instruction uses and defines, for wetoracle: from Zydis's operands,
 * byte by byte, rounded up to the lanes that wettext(5) tells apart.
 */
#ifndef TM_WETORACLE_USES_H
#define TM_WETORACLE_USES_H

#include <stdint.h>
#include <string.h>
#include <Zydis/Zydis.h>

enum { FLAGS = 16, FSBASE, GSBASE, X87, MXCSR, KMASK, VEC = KMASK + 8, NREG = VEC + 32 };

struct use { int reg; uint64_t bytes; };
struct memref { uint64_t addr; unsigned size; int reads, writes; };

struct insn {
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	struct use use[NREG], def[NREG];        /* in order of ports; def in the decoder's order */
	int nuse, ndef, string;
};

static uint64_t
low(unsigned n)
{
	return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

/* All of every lane that is touched */
static uint64_t
lanes(int reg, uint64_t b)
{
	static const uint64_t g[] = { 1, 2, 0xfc },
	    v[] = { 0xf, 0xf0, 0xff00, 0xffff0000, UINT64_C(0xffffffff00000000) };
	static const uint64_t f[] = { 1, 0x800, 0x40, 0x94, 0x400 };
	const uint64_t *l = reg < 16 ? g : reg == FLAGS ? f : v;
	unsigned n = reg < 16 ? 3 : 5;
	uint64_t m = 0;

	if (reg > FLAGS && reg < VEC)
		return b != 0;
	for (unsigned i = 0; i < n; i++)
		if (b & l[i])
			m |= l[i];
	return m;
}

static void
add(struct use *u, int *n, int reg, uint64_t bytes)
{
	int i;

	if (!(bytes = lanes(reg, bytes)))
		return;
	for (i = 0; i < *n && u[i].reg != reg; i++)
		;
	if (i == *n)
		u[(*n)++] = (struct use){ reg, 0 };
	u[i].bytes |= bytes;
}

static int
gpr(ZydisRegister z, uint64_t *bytes)
{
	unsigned w = (unsigned)ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, z) / 8u;

	*bytes = z >= ZYDIS_REGISTER_AH && z <= ZYDIS_REGISTER_BH ? 2 : low(w == 4 ? 8 : w);
	z = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, z);
	return z >= ZYDIS_REGISTER_RAX && z <= ZYDIS_REGISTER_R15 ? (int)(z - ZYDIS_REGISTER_RAX) : -1;
}

static int
is_nop(const struct insn *in)
{
	return in->z.meta.category == ZYDIS_CATEGORY_NOP || in->z.meta.category == ZYDIS_CATEGORY_WIDENOP;
}

static void
operand(struct insn *in, int i)
{
	const ZydisDecodedOperand *o = &in->op[i];
	int rd = o->actions & (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_CONDWRITE),
	    wr = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE, k = -1;
	ZydisMnemonic m = in->z.mnemonic;
	ZydisRegister v = o->reg.value;
	uint64_t b = 1, t;

	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		if ((k = gpr(o->mem.base, &t)) >= 0)
			add(in->use, &in->nuse, k, 255);
		if ((k = gpr(o->mem.index, &t)) >= 0)
			add(in->use, &in->nuse, k, t);
		if (o->mem.segment == ZYDIS_REGISTER_FS && o->mem.type != ZYDIS_MEMOP_TYPE_AGEN)
			add(in->use, &in->nuse, FSBASE, 1);
		return;
	}
	if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return;
	if ((k = gpr(v, &b)) >= 0) {
		if (m == ZYDIS_MNEMONIC_LEAVE && k == 4)
			rd = 0;
		if (m == ZYDIS_MNEMONIC_BSF || m == ZYDIS_MNEMONIC_BSR)
			rd = 1;
	} else if (v >= ZYDIS_REGISTER_XMM0 && v <= ZYDIS_REGISTER_ZMM31) {
		k = VEC + ZydisRegisterGetId(v);
		b = low(o->size / 8u);
		if (m == ZYDIS_MNEMONIC_MOVHPS || m == ZYDIS_MNEMONIC_MOVHPD ||
		    (m == ZYDIS_MNEMONIC_MOVLHPS && i == 0) || (m == ZYDIS_MNEMONIC_MOVHLPS && i == 1))
			b = 0xff00;
		if (m == ZYDIS_MNEMONIC_MOVLHPS && i == 1)
			b = 0xff;
		if (m == ZYDIS_MNEMONIC_MOVHLPS && i == 0)
			b = 0xff;
		if (strncmp(ZydisMnemonicGetString(m), "punpckh", 7) == 0 ||
		    strncmp(ZydisMnemonicGetString(m), "unpckh", 6) == 0)
			b = 0xffff;
		if (wr && in->z.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) {
			if (rd)
				add(in->use, &in->nuse, k, b);
			b = ~UINT64_C(0);
			rd = 0;
		}
	} else if (v >= ZYDIS_REGISTER_K0 && v <= ZYDIS_REGISTER_K7) {
		if (v == ZYDIS_REGISTER_K0 && o->encoding == ZYDIS_OPERAND_ENCODING_MASK)
			return;
		k = KMASK + (v - ZYDIS_REGISTER_K0);
		b = 1;
	} else if (v == ZYDIS_REGISTER_MXCSR)
		k = MXCSR;
	if (k >= 0 && rd)
		add(in->use, &in->nuse, k, b);
	if (k >= 0 && wr)
		add(in->def, &in->ndef, k, b);
}

/* Its result does not depend on the register that it uses twice */
static int
zeroes(const struct insn *in)
{
	const char *s = ZydisMnemonicGetString(in->z.mnemonic);
	int i = in->z.operand_count_visible == 3;

	if (*s == 'v')
		s++;
	if (strncmp(s, "xor", 3) && strncmp(s, "pxor", 4) && strcmp(s, "sub") &&
	    (strncmp(s, "pcmpeq", 6) || s[6] == 'q') && (strncmp(s, "psub", 4) || strlen(s) != 5))
		return 0;
	return in->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    in->op[i + 1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    in->op[i].reg.value == in->op[i + 1].reg.value;
}

static void
uses(struct insn *in)
{
	static const uint8_t args[] = { 0, 7, 6, 2, 10, 8, 9 };
	const char *s = ZydisMnemonicGetString(in->z.mnemonic);

	in->nuse = in->ndef = 0;
	in->string = in->z.meta.category == ZYDIS_CATEGORY_STRINGOP;
	if (strcmp(s, "syscall") == 0) {
		for (unsigned i = 0; i < sizeof args; i++)
			add(in->use, &in->nuse, args[i], 255);
		add(in->def, &in->ndef, 0, 255);
		add(in->def, &in->ndef, 1, 255);
		add(in->def, &in->ndef, 11, 255);
		return;
	}
	for (int i = 0; i < in->z.operand_count; i++)
		operand(in, i);
	if (in->string) {
		if (strncmp(s, "stos", 4) && strncmp(s, "scas", 4)) {
			add(in->use, &in->nuse, 6, 255);
			add(in->def, &in->ndef, 6, 255);
		}
		if (strncmp(s, "lods", 4)) {
			add(in->use, &in->nuse, 7, 255);
			add(in->def, &in->ndef, 7, 255);
		}
	}
	if (zeroes(in) || is_nop(in))
		in->nuse = 0;
	if (in->z.cpu_flags) {
		add(in->use, &in->nuse, FLAGS, in->z.cpu_flags->tested & 0xcd5);
		if (strncmp(s, "pushf", 5) == 0)
			add(in->use, &in->nuse, FLAGS, 0xcd5);
		add(in->def, &in->ndef, FLAGS,
		    (in->z.cpu_flags->modified | in->z.cpu_flags->set_0 | in->z.cpu_flags->set_1 |
		    in->z.cpu_flags->undefined) & 0xcd5);
	}
	if (strcmp(s, "ldmxcsr") == 0)
		add(in->def, &in->ndef, MXCSR, 1);
	if (strcmp(s, "stmxcsr") == 0)
		add(in->use, &in->nuse, MXCSR, 1);
	if (in->z.meta.isa_ext == ZYDIS_ISA_EXT_X87 || in->z.meta.isa_ext == ZYDIS_ISA_EXT_MMX) {
		add(in->use, &in->nuse, X87, 1);
		add(in->def, &in->ndef, X87, 1);
	}
}

/* What it refers to, with these registers; -1: more than is known here */
static int
references(const struct insn *in, const uint64_t *r, uint64_t next, uint64_t fs, struct memref *m)
{
	const char *s = ZydisMnemonicGetString(in->z.mnemonic);
	int n = 0;

	if (is_nop(in) || strncmp(s, "prefetch", 8) == 0 || strcmp(s, "endbr64") == 0)
		return 0;
	if (strstr(s, "xsave") || strstr(s, "xrstor") ||
	    (in->z.mnemonic != ZYDIS_MNEMONIC_BT && s[0] == 'b' && s[1] == 't'))
		return -1;
	for (int i = 0; i < in->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &in->op[i];
		uint64_t a, t;
		int b = gpr(o->mem.base, &t), x = gpr(o->mem.index, &t);

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
		    !o->actions)
			continue;
		if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB || in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
			return -1;
		a = (uint64_t)o->mem.disp.value + (b >= 0 ? r[b] : 0) + (x >= 0 ? r[x] * o->mem.scale : 0);
		if (o->mem.base == ZYDIS_REGISTER_RIP)
			a += next;
		if (o->mem.segment == ZYDIS_REGISTER_FS)
			a += fs;
		if (b == 4 && o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
		    o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			a -= o->size / 8u;              /* push, call: below rsp */
		if (strcmp(s, "pop") == 0 && b == 4 && o->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			a += 8;
		if (strcmp(s, "leave") == 0)
			a = r[5];
		m[n++] = (struct memref){ a, o->size / 8u, (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
		    (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 };
	}
	return n;
}

#endif
