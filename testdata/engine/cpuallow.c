/*
 * cpuallow: what the translator makes of every kind of instruction.
 *
 * Encodings of all maps (legacy with prefixes and REX, VEX, EVEX, XOP, 3DNow!)
 * are decoded and translated, and the host code of each that is accepted is
 * looked at: it has no instruction but those of allow.def and none that the
 * replay answers itself; it refers to memory only
 *
 *	gs:[rcx], gs:[r15], gs:[rdi] and a little above    the program's window
 *	[rsp + n]                                          the frame, which rsp is never taken away from
 *	[r11 + n]                                          the stream of references
 *
 * with rcx, r15 and rdi folded before; it jumps only within itself and to the
 * thunks, or by the index of translated blocks.  So whatever its registers
 * hold, a program reaches no memory but its own.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <Zydis/Zydis.h>

#include "isa/x86/limits.h"
#include "replay/cpu/emit_internal.h"

#define CODE 0x10000000u
/* bytes above a folded address, or r11, that code may name; RP_GUARD and RP_SLACK are more */
#define NEARBY 8192

static struct rp_core *core;
static uint8_t seen[ZYDIS_MNEMONIC_MAX_VALUE + 1], accepted[ZYDIS_MNEMONIC_MAX_VALUE + 1];
static unsigned long tried, translated, nhost, wrong;

static const char *const allowed[] = {
#define A(name) #name,
#define M(name) #name,
#include "isa/x86/allow.def"
};

/* These above all must not be: they are decoded, and never accepted */
static const ZydisMnemonic refused[] = {
#define N(name) ZYDIS_MNEMONIC_##name
	N(IN), N(OUT), N(INSB), N(INSD), N(OUTSB), N(OUTSD), N(CLI), N(STI), N(HLT), N(LGDT), N(LIDT),
	    N(LLDT), N(LTR), N(LMSW), N(CLTS), N(INVLPG),
	N(WBINVD), N(RDMSR), N(WRMSR), N(RDPMC), N(SYSENTER), N(SYSEXIT), N(SYSRET), N(IRETQ), N(SWAPGS),
	    N(RSM),
	N(VMCALL), N(VMMCALL), N(VMFUNC), N(VMLAUNCH), N(VMRUN), N(VMLOAD), N(VMSAVE), N(SKINIT), N(CLGI),
	    N(STGI), N(GETSEC), N(ENCLU), N(ENCLS),
	N(RDPRU), N(MCOMMIT), N(RDPKRU), N(WRPKRU), N(PTWRITE), N(SENDUIPI), N(STUI), N(CLUI), N(TESTUI),
	    N(UIRET),
	N(SAVEPREVSSP), N(RSTORSSP), N(INCSSPD), N(INCSSPQ), N(WRSSD), N(WRSSQ), N(WRUSSQ), N(SETSSBSY),
	    N(CLRSSBSY),
	N(ENCODEKEY128), N(ENCODEKEY256), N(LOADIWKEY), N(AESENC128KL), N(AESDECWIDE256KL), N(MONITOR),
	    N(MWAIT), N(MONITORX), N(MWAITX), N(UMONITOR),
	N(UMWAIT), N(TPAUSE), N(MOVDIR64B), N(ENQCMD), N(ENQCMDS), N(XBEGIN), N(XEND), N(XABORT), N(XSAVES),
	    N(XRSTORS), N(XSETBV), N(SGDT), N(SIDT),
	N(SLDT), N(STR), N(SMSW), N(LFS), N(LGS), N(LSS), N(PCONFIG), N(XSTORE), N(MONTMUL), N(XSHA1), N(UD0),
	    N(UD1), N(UD2), N(TDPBSSD), N(LLWPCB)
#undef N
};

static int
bad(const uint8_t *b, const char *what, const struct x86_inst *h)
{
	if (wrong++ < 20) {
		printf("#");
		for (int i = 0; i < 12; i++)
			printf(" %02x", b[i]);
		printf(": %s: %s\n", what, h ? ZydisMnemonicGetString(h->z.mnemonic) : "");
	}
	return 1;
}

/* May host code refer to it? */
static int
memory_ok(const struct x86_inst *h, const ZydisDecodedOperand *o)
{
	const ZydisDecodedOperandMem *m = &o->mem;
	int64_t d = m->disp.value;

	if (m->type == ZYDIS_MEMOP_TYPE_AGEN)
		return 1;
	if (m->type != ZYDIS_MEMOP_TYPE_MEM || h->z.address_width != 64)
		return 0;
	if (m->segment == ZYDIS_REGISTER_GS)
		return m->index == ZYDIS_REGISTER_NONE && d >= 0 && d < NEARBY &&
		    (m->base == ZYDIS_REGISTER_RCX || m->base == ZYDIS_REGISTER_R15 ||
		    (m->base == ZYDIS_REGISTER_RDI && o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN));
	if (m->segment == ZYDIS_REGISTER_FS)
		return 0;
	/* pushes and pops lie below */
	if (m->base == ZYDIS_REGISTER_RSP && m->index == ZYDIS_REGISTER_NONE)
		return o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN ? d == 0 : d >= 0 &&
		    d + o->size / 8 <= (int64_t)sizeof(struct rp_frame);
	/* where an indirect jump leads: r15 is 16 bits of the target then */
	if (m->base == ZYDIS_REGISTER_RSP)
		return h->z.mnemonic == ZYDIS_MNEMONIC_JMP && m->index == ZYDIS_REGISTER_R15 &&
		    m->scale == 8 && d == FO(index);
	return m->base == ZYDIS_REGISTER_R11 && m->index == ZYDIS_REGISTER_NONE && d >= 0 && d < NEARBY &&
	    !(o->actions & ZYDIS_OPERAND_ACTION_MASK_READ);
}

/* Registers that translated code stands on */
static int
register_ok(const struct x86_inst *h, const ZydisDecodedOperand *o)
{
	int g = x86_gpr(o->reg.value);

	if (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN ||
	    !(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return 1;
	if (ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_SEGMENT)
		return 0;
	return g != RSP && (g != OUT || h->z.mnemonic == ZYDIS_MNEMONIC_LEA);
}

static int
within(uint64_t a, const uint8_t *lo, const uint8_t *hi)
{
	return a >= (uint64_t)(uintptr_t)lo && a <= (uint64_t)(uintptr_t)hi;
}

static int
host_ok(const uint8_t *b, const struct rp_block *k, const struct x86_inst *h)
{
	uint64_t to;

	switch (h->z.mnemonic) {
	case ZYDIS_MNEMONIC_SYSCALL: case ZYDIS_MNEMONIC_CPUID: case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP: case ZYDIS_MNEMONIC_CLZERO:
	case ZYDIS_MNEMONIC_XLAT: case ZYDIS_MNEMONIC_RET: case ZYDIS_MNEMONIC_LEAVE:
	case ZYDIS_MNEMONIC_ENTER: case ZYDIS_MNEMONIC_XGETBV:
	case ZYDIS_MNEMONIC_RDSSPD: case ZYDIS_MNEMONIC_RDSSPQ: case ZYDIS_MNEMONIC_RDFSBASE:
	case ZYDIS_MNEMONIC_RDGSBASE:
	case ZYDIS_MNEMONIC_WRFSBASE: case ZYDIS_MNEMONIC_WRGSBASE:
	case ZYDIS_MNEMONIC_INT: case ZYDIS_MNEMONIC_INT1: case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_RDRAND: case ZYDIS_MNEMONIC_RDSEED: case ZYDIS_MNEMONIC_RDPID:
		return bad(b, "is left to the processor", h);
	case ZYDIS_MNEMONIC_BT: case ZYDIS_MNEMONIC_BTS: case ZYDIS_MNEMONIC_BTR: case ZYDIS_MNEMONIC_BTC:
		/* the number of a bit in a register goes beyond the operand; r15 has one within it */
		if (h->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    h->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && x86_gpr(h->op[1].reg.value) != R15)
			return bad(b, "refers to memory by the number of a bit", h);
		break;
	default:
		if (x86_refuse(h) || x86_trap_before(h) || h->z.meta.category == ZYDIS_CATEGORY_STRINGOP)
			return bad(b, "must not be in host code", h);
	}
	for (int i = 0; i < h->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &h->op[i];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && !memory_ok(h, o))
			return bad(b, "refers to memory that is not the program's", h);
		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && !register_ok(h, o))
			return bad(b, "changes a register that it stands on", h);
		if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && o->imm.is_relative) {
			to = h->next + o->imm.value.u;
			if (!within(to, k->start, k->end) && !within(to, core->code, core->first))
				return bad(b, "jumps out of its block", h);
		}
	}
	if (h->z.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE && h->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
		return bad(b, "jumps by a register", h);
	return 0;
}

/* The code of one instruction */
static void
translate(const uint8_t *b, ZydisMnemonic m, int string, int mode)
{
	struct rp_block *k;
	struct x86_inst h;

	memcpy(rp_host(CODE), b, 16);
	if ((k = rp_block(core, CODE, mode, 1, 1)) == NULL) {
		bad(b, "no memory", NULL);
		return;
	}
	if (k->ninst || string) {       /* those count themselves */
		accepted[m] = 1;
		translated++;
		for (const uint8_t *p = k->start; p < k->end; p += h.z.length, nhost++)
			if (x86_inst_decode(&h, p, (size_t)(k->end - p < 15 ? k->end - p : 15),
			    (uint64_t)(uintptr_t)p, 0)) {
				bad(b, "host code that is none", NULL);
				break;
			} else if (host_ok(b, k, &h)) {
				break;
			}
	}
	rp_block_drop(core, k);
}

static void
try(const uint8_t *b, unsigned n)
{
	/* a displacement and an immediate operand, whatever there is of them */
	static const uint8_t rest[] = { 0x24, 0x40, 0x33, 0x22, 0x11, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	uint8_t c[16];
	struct x86_inst in;
	int string;

	memcpy(c, b, n);
	memcpy(c + n, rest, sizeof c - n);
	tried++;
	if (x86_inst_decode(&in, c, 15, CODE, core->amd))
		return;
	seen[in.z.mnemonic] = 1;
	string = in.z.meta.category == ZYDIS_CATEGORY_STRINGOP && !x86_refuse(&in) && !x86_trap_before(&in);
	translate(c, in.z.mnemonic, string, RP_NONE);
	translate(c, in.z.mnemonic, string, RP_TALLY);
	translate(c, in.z.mnemonic, string, RP_REFS);
}

/* modrm bytes: every register field, memory by each way of forming an address, and registers */
static const uint8_t forms[] = { 0x00, 0x01, 0x04, 0x05, 0x47, 0x84, 0xc0, 0xc1, 0xc4, 0xc7 };
#define NFORMS sizeof forms

static void
legacy(void)
{
	static const uint8_t pre[][2] = { { 0 }, { 0x66 }, { 0xf2 }, { 0xf3 }, { 0x67 }, { 0x64 }, { 0xf0 },
	    { 0x66, 0xf2 }, { 0x66, 0xf3 } };
	static const uint8_t rex[] = { 0, 0x48, 0x4f };

	for (unsigned i = 0; i < sizeof pre / sizeof pre[0] * sizeof rex * 4 * 256; i++) {
		unsigned op = i % 256, map = i / 256 % 4, r = i / 1024 % sizeof rex,
		    p = i / 1024 / sizeof rex, n = 0;
		uint8_t b[16];

		for (unsigned k = 0; k < 2; k++)
			if (pre[p][k])
				b[n++] = pre[p][k];
		if (rex[r])
			b[n++] = rex[r];
		if (map)
			b[n++] = 0x0f;
		if (map > 1)
			b[n++] = map == 2 ? 0x38 : 0x3a;
		b[n++] = (uint8_t)op;
		for (unsigned m = 0; m < 8 * NFORMS; m++) {
			b[n] = (uint8_t)(forms[m / 8] | m % 8 << 3);
			try(b, n + 1);
		}
		/* some have instructions in rm also */
		for (unsigned m = 0xc0; (map == 1 ? op == 0x01 || op == 0xae || op == 0xc7 ||
		    op == 0x1e : map == 0 && (op & 0xf8) == 0xd8) && m < 0x100; m++) {
			b[n] = (uint8_t)m;
			try(b, n + 1);
		}
		for (unsigned s = 0; map == 1 && op == 0x0f && s < 256; s++) {
			b[n] = 0xc1;
			b[n + 1] = (uint8_t)s;
			try(b, n + 2);
		}
	}
}

/* first: c4 VEX, 8f XOP */
static void
vex(uint8_t first, unsigned from, unsigned to)
{
	for (unsigned i = 0; i < (to - from) * 32 * 256 * NFORMS; i++) {
		unsigned f = i % NFORMS, j = i / (unsigned)NFORMS, op = j % 256, v = j / 256 % 32,
		    map = from + j / 256 / 32;
		uint8_t b[5] = { first, (uint8_t)(0xe0 | map),
		    (uint8_t)((v & 16) << 3 | (v & 8 ? 0x78 : 0x30) | (v & 7)), (uint8_t)op, 0 };

		for (unsigned r = 0; r < 8; r += op == 0xf3 || op == 0xae ? 1 : 5) {
			b[4] = (uint8_t)(forms[f] | r << 3);
			try(b, 5);
		}
	}
}

static void
evex(void)
{
	static const uint8_t maps[] = { 1, 2, 3, 5, 6 }, some[] = { 0x01, 0x04, 0x47, 0xc1 },
	    last[] = { 0x08, 0x09, 0x49, 0x19, 0x20 | 8, 0x40 | 8 };

	for (unsigned i = 0; i < sizeof maps * 16 * sizeof last * 256 * sizeof some; i++) {
		unsigned f = i % sizeof some, j = i / (unsigned)sizeof some, op = j % 256,
		    l = j / 256 % sizeof last, v = j / 256 / (unsigned)sizeof last % 16;
		unsigned map = maps[j / 256 / sizeof last / 16];
		uint8_t b[6] = { 0x62, (uint8_t)(0xf0 | map),
		    (uint8_t)((v & 8) << 4 | (v & 4 ? 0x78 : 0x30) | 4 | (v & 3)), last[l], (uint8_t)op, 0 };

		for (unsigned r = 0; r < 8; r += map == 2 && (op & 0xfe) == 0xc6 ? 1 : map == 1 &&
		    op >= 0x71 && op <= 0x73 ? 1 : 8) {
			b[5] = (uint8_t)(some[f] | r << 3);
			try(b, 6);
		}
	}
}

static int
named(const char *name)
{
	for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
		if (strcasecmp(allowed[i], name) == 0)
			return 1;
	return 0;
}

/* allow.def names what is accepted, and nothing else */
static void
lists(void)
{
	for (unsigned m = 1; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++) {
		const char *s = ZydisMnemonicGetString((ZydisMnemonic)m);

		if (accepted[m] != named(s) && wrong++ < 40)
			printf("# %s: %s\n", s, accepted[m] ? "accepted, and not in allow.def" : seen[m] ?
			    "in allow.def, and refused" : "in allow.def, and not tried");
	}
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (!seen[refused[i]] || accepted[refused[i]]) {
			wrong++;
			printf("# %s: %s\n", ZydisMnemonicGetString(refused[i]), accepted[refused[i]] ?
			    "accepted" : "not tried");
		}
}

int
main(void)
{
	if ((core = rp_core_new()) == NULL) {
		printf("# skip %s\n", rp_core_why());
		return 0;
	}
	if (mmap(rp_host(CODE), 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
	    0) == MAP_FAILED)
		return 2;
	legacy();
	vex(0xc4, 1, 4);
	vex(0x8f, 8, 11);
	evex();
	lists();
	printf("%s - %lu encodings tried, %lu translations, %lu host instructions, %lu wrong\n", wrong ?
	    "not ok" : "ok", tried, translated, nhost, wrong);
	return wrong != 0;
}
