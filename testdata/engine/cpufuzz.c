/*
 * The replay's processor against the machine, one random instruction at a
 * time: random bytes that decode, random registers, flags, vectors and memory,
 * operands mostly where there is memory.  A child is stepped over the
 * instruction by ptrace, rp_run runs it; registers, memory, faults and
 * references (by the lifter of ae2addr, where it knows the instruction) must agree.
 *
 *	cpufuzz [-belv] [-n instructions] [-s seed] [-m mnemonic]
 *
 * -b: as on a processor without BMI2.
 * -e: vector instructions at the end of memory, on the machine only: it faults where the lifter says that something behind
 *     it is accessed.
 * -v: with the stream of values: they are right, and what changes is said to be defined.
 * -l: list the mnemonics with their counts (run, faulted, refused).
 */
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <Zydis/Zydis.h>

#include "../random.h"
#include "ae/regen/feed.h"
#include "replay/cpu/emit_internal.h"
#include "visitstate.h"
#include "isa/x86/decode.h"
#include "isa/x86/lift.h"
#include "format/ref/ref.h"

#define CODE  0x10000000u
#define DATA  0x20000000u
#define NDATA 0x10000u
#define MID   (DATA + NDATA / 2)

static pid_t pid;
static int values, edge;
static uint8_t nx[RP_XSAVE] __attribute__((aligned(64)));
static uint8_t gx[RP_XSAVE] __attribute__((aligned(64)));
static uint8_t data[NDATA];
static uint64_t words[1 << 16];
static struct rp_core *core;
static struct rp_run run;
static uint64_t xcr0;
static size_t nstate;          /* bytes of the kernel's image */
static unsigned counts[ZYDIS_MNEMONIC_MAX_VALUE + 1][3];
static unsigned lifted;
static ZydisDecodedInstruction z;
static ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
static struct user_regs_struct r0;      /* before */

static void show(const uint8_t *b);
static const uint8_t *current;

static void
die(const char *what)
{
	if (current)
		show(current);
	fprintf(stderr, "cpufuzz: %s: %s\n", what, strerror(errno));
	if (pid > 0)
		kill(pid, SIGKILL);
	exit(2);
}

static unsigned
below(unsigned n)
{
	return (unsigned)(rnd() >> 20) % n;
}

static uint64_t
value(void)
{
	switch (below(8)) {
	case 0: return 0;
	case 1: return below(64);
	case 2: return -(uint64_t)below(64);
	case 3: return UINT64_C(1) << below(64);
	case 4: return MID + below(256) - 128;
	case 5: return (uint32_t)rnd();
	default: return rnd();
	}
}

/* An instruction: bytes that are one */
static void
opcode(uint8_t *b, unsigned k)
{
	unsigned n = 0, i;

	for (i = 0; i < 15; i++)
		b[i] = (uint8_t)rnd();
	if (k == 12) {                  /* gather or scatter */
		int evex = below(2) != 0;

		b[n++] = evex ? 0x62 : 0xc4;
		b[n] = (uint8_t)((b[n] & 0xf0) | 2);
		b[n] &= evex ? 0xf0 | 2 : 0xff;
		n++;
		b[n] = (uint8_t)((b[n] & 0xf8) | 1 | (evex ? 4 : b[n] & 4));
		n++;
		if (evex)
			b[n++] &= 0x6f;
		b[n++] = (uint8_t)((evex && below(2) ? 0xa0 : 0x90) + below(4));
		b[n] = (uint8_t)((b[n] & 0x38) | 4 | below(3) << 6);
		return;
	}
	if (k >= 9) {                   /* EVEX */
		b[n++] = 0x62;
		b[n] = (uint8_t)((b[n] & 0xf0) | (1 + below(3)));
		n++;
		b[n++] |= 4;
		if (below(2))
			b[n] &= 0x7f;
		return;
	}
	if (below(7) == 0)
		b[n++] = 0x66;
	if (below(9) == 0)
		b[n++] = below(2) ? 0xf2 : 0xf3;
	if (below(30) == 0)
		b[n++] = 0x67;
	if (below(30) == 0)
		b[n++] = below(2) ? 0x64 : 0x65;
	if (k >= 7) {
		b[n++] = 0xc4;
		b[n] = (uint8_t)((b[n] & 0xe0) | (1 + below(3)));
		return;
	}
	if (below(12) == 0)
		b[n++] = 0xf0;
	if (below(2))
		b[n++] = 0x40 | (uint8_t)below(16);
	if (k >= 3)
		b[n++] = 0x0f;
	if (k == 6)
		b[n++] = below(2) ? 0x38 : 0x3a;
}

/* An address that no register forms leads to the data most of the time */
static void
aim_constant(uint8_t *b)
{
	int i, rip;
	uint64_t a = MID + below(512) - 256;

	for (i = 0; i < z.operand_count; i++) {
		const ZydisDecodedOperandMem *m = &op[i].mem;

		rip = m->base == ZYDIS_REGISTER_RIP || m->base == ZYDIS_REGISTER_EIP;
		if (op[i].type != ZYDIS_OPERAND_TYPE_MEMORY || m->index != ZYDIS_REGISTER_NONE
		    || (m->base != ZYDIS_REGISTER_NONE && !rip) || z.raw.disp.size < 32)
			continue;
		if (below(20) == 0)
			a = below(2) ? 0x1000 : 0x3f000000;
		if (rip)
			a -= CODE + z.length;
		memcpy(b + z.raw.disp.offset, &a, z.raw.disp.size / 8u);
		x86_decode(&z, op, b, 15, x86_amd_here());
	}
}

static int
wanted(uint8_t *b, const char *only)
{
	if (x86_decode(&z, op, b, 15, x86_amd_here()) != 0)
		return 0;
	aim_constant(b);
	if (only && strcmp(only, ZydisMnemonicGetString(z.mnemonic)))
		return 0;
	switch (z.mnemonic) {
	case ZYDIS_MNEMONIC_SYSCALL: case ZYDIS_MNEMONIC_SYSENTER: case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_INT: case ZYDIS_MNEMONIC_INT1: case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_CPUID: case ZYDIS_MNEMONIC_RDTSC: case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_RDRAND: case ZYDIS_MNEMONIC_RDSEED: case ZYDIS_MNEMONIC_RDPID:
	case ZYDIS_MNEMONIC_IRET: case ZYDIS_MNEMONIC_IRETD: case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_VMCALL: case ZYDIS_MNEMONIC_VMMCALL: case ZYDIS_MNEMONIC_VMFUNC:
	case ZYDIS_MNEMONIC_XBEGIN: case ZYDIS_MNEMONIC_WRPKRU:
	case ZYDIS_MNEMONIC_POPF: case ZYDIS_MNEMONIC_POPFQ:    /* they set the flag that steps */
	case ZYDIS_MNEMONIC_XRSTOR: case ZYDIS_MNEMONIC_XRSTOR64:
		return 0;
	default:
		break;
	}
	if (z.mnemonic == ZYDIS_MNEMONIC_ENTER && op[0].imm.value.u > 4096)
		return 0;
	if (z.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || z.meta.isa_ext == ZYDIS_ISA_EXT_SVM
	    || z.meta.isa_ext == ZYDIS_ISA_EXT_VTX || z.meta.isa_ext == ZYDIS_ISA_EXT_SGX ||
	    z.meta.isa_ext == ZYDIS_ISA_EXT_TDX)
		return 0;
	return !(z.operand_count && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER
	    && ZydisRegisterGetClass(op[0].reg.value) == ZYDIS_REGCLASS_SEGMENT);
}

static int
has_memory(void)
{
	for (int i = 0; i < z.operand_count_visible; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && op[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN)
			return 1;
	return 0;
}

/* Does it fault where its operand is not aligned? */
static int
aligned(void)
{
	switch (z.mnemonic) {
	case ZYDIS_MNEMONIC_VMOVAPS: case ZYDIS_MNEMONIC_VMOVAPD: case ZYDIS_MNEMONIC_VMOVDQA:
	case ZYDIS_MNEMONIC_VMOVDQA32: case ZYDIS_MNEMONIC_VMOVDQA64: case ZYDIS_MNEMONIC_VMOVNTPS:
	case ZYDIS_MNEMONIC_VMOVNTPD: case ZYDIS_MNEMONIC_VMOVNTDQ: case ZYDIS_MNEMONIC_VMOVNTDQA:
		return 1;
	default:
		return 0;
	}
}

static unsigned long long *
regp(struct user_regs_struct *u, int g)
{
	unsigned long long *p[16] = { &u->rax, &u->rcx, &u->rdx, &u->rbx, &u->rsp, &u->rbp, &u->rsi, &u->rdi,
		&u->r8, &u->r9, &u->r10, &u->r11, &u->r12, &u->r13, &u->r14, &u->r15 };

	return p[g];
}

static int
gpr(ZydisRegister r)
{
	ZydisRegister f = r == ZYDIS_REGISTER_NONE ? r :
	    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	return f >= ZYDIS_REGISTER_RAX && f <= ZYDIS_REGISTER_R15 ? (int)(f - ZYDIS_REGISTER_RAX) : -1;
}

static unsigned
state_offset(unsigned i)
{
	unsigned a = 0, b = 0, c, d;

	__get_cpuid_count(0xd, i, &a, &b, &c, &d);
	return b;
}

/* A small index in every element of the vector register */
static void
tame_index(ZydisRegister r, uint64_t bias)
{
	unsigned n = (unsigned)ZydisRegisterGetId(r), i, off;

	for (i = 0; i < 16; i++) {
		uint32_t v = z.mnemonic == ZYDIS_MNEMONIC_VGATHERQPD ||
		    z.mnemonic == ZYDIS_MNEMONIC_VGATHERQPS
		    || z.mnemonic == ZYDIS_MNEMONIC_VPGATHERQD || z.mnemonic == ZYDIS_MNEMONIC_VPGATHERQQ
		    || z.mnemonic == ZYDIS_MNEMONIC_VSCATTERQPD || z.mnemonic == ZYDIS_MNEMONIC_VSCATTERQPS
		    || z.mnemonic == ZYDIS_MNEMONIC_VPSCATTERQD || z.mnemonic == ZYDIS_MNEMONIC_VPSCATTERQQ
		    ? (i & 1 ? 0 : below(500)) : below(500) - 250;

		if (v)
			v += (uint32_t)bias;
		if (n >= 16)
			off = state_offset(7) + 64 * (n - 16) + 4 * i;
		else if (i < 4)
			off = 160 + 16 * n + 4 * i;
		else if (i < 8)
			off = state_offset(2) + 16 * n + 4 * (i - 4);
		else
			off = state_offset(6) + 32 * n + 4 * (i - 8);
		memcpy(nx + off, &v, 4);
	}
}

/* Registers that bring the memory operand to where memory is */
static void
aim(void)
{
	int i, base, index;

	for (i = 0; i < z.operand_count; i++) {
		uint64_t a = edge ? DATA + NDATA - below(80) : MID + below(512) - 256, part;

		if (op[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (below(3) == 0 || z.meta.isa_ext == ZYDIS_ISA_EXT_XSAVE)
			a &= ~UINT64_C(63);
		base = gpr(op[i].mem.base);
		index = gpr(op[i].mem.index);
		if (op[i].mem.type == ZYDIS_MEMOP_TYPE_VSIB)
			tame_index(op[i].mem.index, base < 0 ?
			    (a - (uint64_t)op[i].mem.disp.value) / op[i].mem.scale : 0);
		if (base < 0 && index < 0)
			continue;
		a -= (uint64_t)op[i].mem.disp.value;
		if (op[i].mem.segment == ZYDIS_REGISTER_FS)
			a -= r0.fs_base;
		if (op[i].mem.segment == ZYDIS_REGISTER_GS)
			a -= r0.gs_base;
		if (base >= 0 && base == index)
			*regp(&r0, base) = a / (op[i].mem.scale + 1u);
		else if (base >= 0) {
			part = index >= 0 ? (uint64_t)below(300) - 150 : 0;
			if (index >= 0)
				*regp(&r0, index) = part;
			*regp(&r0, base) = a - part * op[i].mem.scale;
		} else if (index >= 0)
			*regp(&r0, index) = a / op[i].mem.scale;
		/* a host that stands below the kernel may refuse to go on where rsp is not canonical */
		if (z.address_width == 32 && below(2) && base >= 0)
			*regp(&r0, base) |= rnd() << 32 & (base == 4 ? UINT64_C(0x7fff00000000) : UINT64_MAX);
	}
	if (z.operand_count > 1 && (z.meta.category == ZYDIS_CATEGORY_BITBYTE) &&
	    op[1].type == ZYDIS_OPERAND_TYPE_REGISTER
	    && op[0].type == ZYDIS_OPERAND_TYPE_MEMORY && gpr(op[1].reg.value) != gpr(op[0].mem.base)
	    && gpr(op[1].reg.value) != gpr(op[0].mem.index) && below(10))
		*regp(&r0, gpr(op[1].reg.value)) = (uint64_t)below(4000) - 2000;
	if (z.meta.category == ZYDIS_CATEGORY_STRINGOP) {
		r0.rcx = below(40) | (z.address_width == 32 && below(2) ? rnd() << 32 : 0);
		if (below(4))
			r0.rsi = MID + below(8192) - 4096;
		if (below(4))
			r0.rdi = MID + below(8192) - 4096;
	}
}

static void
random_state(void)
{
	struct iovec v = { nx, sizeof nx };
	uint64_t bv = xcr0 & 0xe7, zero = 0;
	uint32_t mxcsr = 0x1f80 | below(4) << 13 | below(64);
	uint16_t fcw = 0x37f | (uint16_t)(below(4) << 10), fsw = (uint16_t)(below(8) << 11);
	unsigned i;
	int g;

	if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &v))
		die("state");
	nstate = v.iov_len;
	for (i = 0; i < 416; i += 8) {
		uint64_t x = value();

		memcpy(nx + i, &x, 8);
	}
	for (i = 576; i < v.iov_len && i + 8 <= 2816; i += 8) {
		uint64_t x = value();

		memcpy(nx + i, &x, 8);
	}
	memcpy(nx, &fcw, 2);
	memcpy(nx + 2, &fsw, 2);
	nx[5] = 0;
	memset(nx + 6, 0, 18);          /* where the last instruction was */
	memcpy(nx + 24, &mxcsr, 4);
	memcpy(nx + 512, &bv, 8);
	memcpy(nx + 520, &zero, 8);
	for (g = 0; g < 16; g++)
		*regp(&r0, g) = value();
	r0.rsp = MID + below(256);
	if (below(4)) {
		r0.rbp = MID + below(256);
		r0.rbx = MID + below(256);
		r0.rsi = MID + below(256);
		r0.rdi = MID + below(256);
	}
	r0.rip = CODE;
	r0.eflags = 0x202 | (rnd() & 0x8d5) | (below(6) == 0 ? 0x400 : 0);
	r0.fs_base = 0x1230;
	r0.gs_base = 0x4560;
	r0.orig_rax = (unsigned long long)-1;
}

static void
vm(int write, uint64_t a, void *p, size_t n)
{
	struct iovec l = { p, n }, r = { (void *)(uintptr_t)a, n };

	if ((write ? process_vm_writev(pid, &l, 1, &r, 1, 0) :
	    process_vm_readv(pid, &l, 1, &r, 1, 0)) != (ssize_t)n)
		die("memory of the child");
}

static int
vsib(void)
{
	int i;

	for (i = 0; i < z.operand_count_visible; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && op[i].mem.type == ZYDIS_MEMOP_TYPE_VSIB)
			return 1;
	return 0;
}

/* The machine: 0 or the signal */
static int
machine(const uint8_t *b, struct user_regs_struct *u)
{
	struct iovec v = { nx, sizeof nx };
	uint8_t code[4096];
	siginfo_t si;
	int status, sig;

	memset(code, 0xf4, sizeof code);        /* hlt, which is never over */
	memcpy(code, b, z.length);
	vm(1, CODE, code, sizeof code);
	memcpy(rp_host(CODE), code, sizeof code);
	v.iov_len = nstate;
	if (ptrace(PTRACE_SETREGS, pid, 0, &r0) || ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &v))
		die("set registers");
	v.iov_len = sizeof nx;
	if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &v))
		die("state");
	memcpy(gx, nx, sizeof gx);
	do {
		if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) || waitpid(pid, &status, 0) != pid ||
		    !WIFSTOPPED(status))
			die("step");
		sig = WSTOPSIG(status);
		if (ptrace(PTRACE_GETREGS, pid, 0, u) || ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &v)
		    || ptrace(PTRACE_GETSIGINFO, pid, 0, &si))
			die("registers");
	} while (sig == SIGTRAP && u->rip == CODE && (z.meta.category == ZYDIS_CATEGORY_STRINGOP || vsib()));
	/* a virtual machine now and then forgets to say that it was a step */
	if (sig == SIGTRAP && (si.si_code == TRAP_TRACE ||
	    (u->rip == CODE + z.length && z.meta.category != ZYDIS_CATEGORY_INTERRUPT)))
		return 0;
	return sig;
}

static int
bad(const char *what)
{
	printf("%s\n", what);
	return 1;
}

static const uint8_t *
component(const uint8_t *x, unsigned i, unsigned off)
{
	static const uint8_t zero[4096];
	uint64_t bv;

	memcpy(&bv, x + 512, 8);
	return bv >> i & 1 ? x + off : zero;
}

/* 1: component i differs, and where */
static int
differs(unsigned i, unsigned off, unsigned len)
{
	const uint8_t *p = component(gx, i, off), *q = component(nx, i, off);
	unsigned k, w = i == 7 ? 64 : i == 6 ? 32 : i == 5 ? 8 : 16;

	for (k = 0; k < len && p[k] == q[k]; k++)
		;
	if (k < len)
		printf("state %u, register %u, byte %u: %02x, should be %02x\n", i, k / w, k % w, p[k], q[k]);
	return k < len;
}

static int
compare_vectors(void)
{
	static const uint8_t init[2] = { 0x7f, 3 };
	unsigned i, a, b, c, d, n = 0;
	const uint8_t *p = component(gx, 0, 0), *q = component(nx, 0, 0);

	if (memcmp(p == gx ? p : init, q == nx ? q : init, 2) || memcmp(p + 2, q + 2, 3))
		n += (unsigned)bad("x87 control, status or tags");
	for (i = 0; i < 8; i++)
		if (memcmp(p + 32 + 16 * i, q + 32 + 16 * i, 10))
			n += (unsigned)bad("x87 register");
	n += (unsigned)differs(1, 160, 256);
	if (memcmp(gx + 24, nx + 24, 4))
		n += (unsigned)bad("mxcsr");
	for (i = 2; i < 8; i++)
		if ((0xe4u >> i & 1) && xcr0 >> i & 1 && __get_cpuid_count(0xd, i, &a, &b, &c, &d) &&
		    a <= 4096)
			n += (unsigned)differs(i, b, a);
	return n != 0;
}

static int
compare_all(struct user_regs_struct *u)
{
	static uint8_t now[NDATA];
	int g, n = 0;
	unsigned i;

	for (g = 0; g < 16; g++)
		if (*regp(u, g) != run.cpu.r[g])
			n += printf("register %d: 0x%lx, should be 0x%llx (was 0x%llx)\n", g, run.cpu.r[g],
			    *regp(u, g), *regp(&r0, g)) > 0;
	if (u->rip != run.cpu.rip)
		n += printf("rip: 0x%lx, should be 0x%llx\n", run.cpu.rip, u->rip) > 0;
	if ((u->eflags ^ run.cpu.rflags) & 0xcd5)
		n += printf("flags: 0x%lx, should be 0x%llx (were 0x%llx)\n", run.cpu.rflags & 0xcd5,
		    u->eflags & 0xcd5, r0.eflags & 0xcd5) > 0;
	if (u->fs_base != run.cpu.fsbase || u->gs_base != run.cpu.gsbase)
		n += bad("segment base");
	vm(0, DATA, now, NDATA);
	if ((z.mnemonic == ZYDIS_MNEMONIC_PUSHF || z.mnemonic == ZYDIS_MNEMONIC_PUSHFQ) && u->rsp >= DATA &&
	    u->rsp < DATA + NDATA) {
		now[u->rsp - DATA + 1] &= 0xfe;         /* it was being stepped */
		vm(1, DATA, now, NDATA);
	}
	if (memcmp(now, rp_host(DATA), NDATA)) {
		int x87env = z.mnemonic == ZYDIS_MNEMONIC_FNSAVE || z.mnemonic == ZYDIS_MNEMONIC_FNSTENV
		    || z.mnemonic == ZYDIS_MNEMONIC_FXSAVE || z.mnemonic == ZYDIS_MNEMONIC_FXSAVE64
		    || z.meta.isa_ext == ZYDIS_ISA_EXT_XSAVE || z.meta.isa_ext == ZYDIS_ISA_EXT_XSAVEC ||
		    z.meta.isa_ext == ZYDIS_ISA_EXT_XSAVEOPT;

		for (i = 0; i < NDATA && n < 4 && !x87env; i++)
			if (now[i] != rp_host(DATA)[i])
				n += printf("memory 0x%x: %02x, should be %02x\n", DATA + i, rp_host(DATA)[i],
				    now[i]) > 0;
		memcpy(rp_host(DATA), now, NDATA);
	}
	return n + compare_vectors();
}

static uint64_t
at(const struct sch_addr *m)
{
	uint64_t a = (uint64_t)m->disp;

	if (m->base >= 0)
		a += *regp(&r0, m->base);
	if (m->index >= 0)
		a += *regp(&r0, m->index) * m->scale;
	if (m->narrow)
		a = (uint32_t)a;
	return a + (m->fs ? r0.fs_base : 0);
}

static uint64_t
operand_at(const struct op_step *s)
{
	return s->m.sym != SCH_NOSYM ?
	    CODE + z.length + (uint64_t)z.raw.disp.value + (s->m.fs ? r0.fs_base : 0) : at(&s->m);
}

/* The lifter's view of a masked access, and what ae2addr makes of that: n references; x: the state before it */
static const uint64_t *
masked_refs(const struct insn *in, const uint8_t *x, unsigned *n)
{
	static struct ae_state state;
	static struct feed f = {.s = &state};
	const struct op_step *s = &in->ref[0];
	uint64_t mask[8] = {0}, index[8];
	uint8_t v[64];

	if (in->mask.vector) {
		vector(x, in->mask.reg, v);
		memcpy(mask, v, in->mask.bytes);
	} else {
		mask[0] = kmask(x, in->mask.reg);
		if (in->mask.bytes < 8)
			mask[0] &= (UINT64_C(1) << 8 * in->mask.bytes) - 1;
	}
	vector(x, in->mask.index, v);
	memset(v + in->mask.nindex, 0, sizeof v - in->mask.nindex);
	memcpy(index, v, sizeof index);
	*n = (unsigned)(feed_masked(&f, state.buf, NULL, s->cc, s->w, s->n, operand_at(s), mask, index) - state.buf);
	return state.buf;
}

static int
compare_masked(const struct insn *in, const uint64_t *got, unsigned n, const uint8_t *x)
{
	unsigned want;
	const uint64_t *p = masked_refs(in, x, &want);

	for (unsigned i = 0; i < want || i < n; i++)
		if (i == want || i == n || p[i] != got[i]) {
			printf("masked reference %u: 0x%lx, should be 0x%lx\n", i, i < n ? got[i] : 0, i < want ? p[i] : 0);
			return 1;
		}
	return 0;
}

/*
 * The lifter's view of the references; those of repeated string instructions are theirs to test elsewhere. x: the state
 * before the instruction
 */
static int
compare_refs(const uint8_t *b, const uint8_t *x)
{
	static uint8_t rel[16];
	struct insn in;
	unsigned i, k, n = (unsigned)(run.out - words);

	for (i = 0; i < n; i++)
		if (!ref_valid(words[i]))
			return bad("a word that is none");
	if (n == 0 || words[0] != ref_make(REF_INST, CODE, z.length))
		return bad("no fetch");
	if (z.meta.category == ZYDIS_CATEGORY_STRINGOP &&
	    (z.attributes & (ZYDIS_ATTRIB_HAS_SEGMENT_FS | ZYDIS_ATTRIB_HAS_SEGMENT_GS)))
		return 0;
	memset(rel, 0, sizeof rel);
	if ((z.mnemonic == ZYDIS_MNEMONIC_PUSH || z.mnemonic == ZYDIS_MNEMONIC_LEAVE) &&
	    z.operand_width == 16)
		return 0;
	if (x86_makers_differ(&z, b))   /* compilers do not make them, and the lifter takes them as Intel's */
		return 0;
	if (x86_lift(b, z.length, rel, &in) || in.rep)
		return 0;
	lifted++;
	if (in.mask.bytes)
		return compare_masked(&in, words + 1, n - 1, x);
	for (i = 0, k = 1; i < in.nref; i++) {
		const struct op_step *s = &in.ref[i];
		unsigned kind = s->op == SO_STORE ? REF_STORE : s->op == SO_MODIFY ? REF_MODIFY : REF_LOAD;
		uint64_t a = operand_at(s);

		if (k >= n || words[k] != ref_make(kind, a, s->n)) {
			printf("reference %u: 0x%lx, should be 0x%lx\n", i, k < n ? words[k] :
			    0, ref_make(kind, a, s->n));
			return 1;
		}
		k++;
	}
	return k != n ? bad("too many references") : 0;
}

static void
show(const uint8_t *b)
{
	ZydisFormatter f;
	char text[256];
	int i;

	ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_INTEL);
	ZydisFormatterFormatInstruction(&f, &z, op, z.operand_count_visible, text, sizeof text, CODE,
	    ZYAN_NULL);
	for (i = 0; i < z.length; i++)
		printf("%02x ", b[i]);
	printf(" %s\n", text);
}

static int
emulate(int mode, int fast)
{
	int g;
	enum rp_stop s;

	for (g = 0; g < 16; g++)
		run.cpu.r[g] = *regp(&r0, g);
	run.cpu.rip = CODE;
	run.cpu.rflags = r0.eflags;
	run.cpu.fsbase = r0.fs_base;
	run.cpu.gsbase = r0.gs_base;
	run.out = words;
	run.end = words + sizeof words / sizeof *words;
	run.icount = 0;
	run.limit = fast ? 1000000 : 1;
	s = rp_run(core, &run, (enum rp_mode)mode);
	while (s == RP_COUNT && run.cpu.rip == CODE && z.meta.category == ZYDIS_CATEGORY_STRINGOP) {
		run.limit++;
		s = rp_run(core, &run, (enum rp_mode)mode);
	}
	return (int)s;
}

/* Is a value in the stream what the register is now? */
static int
right_value(const struct fact_def *d, const uint64_t *v)
{
	uint8_t b[64];

	if (d->reg < 16)
		return v[0] == run.cpu.r[d->reg];
	if (d->reg == FACT_FLAGS)
		return !((fact_rflags(v[0]) ^ run.cpu.rflags) & 0x8d5);
	if (d->reg < FACT_VECTOR)
		return v[0] == kmask(gx, d->reg - FACT_MASK);
	vector(gx, d->reg - FACT_VECTOR, b);
	return memcmp(v, b, 8u * d->nval) == 0;
}

/* Which bytes of a register have changed */
static uint64_t
changed(const uint8_t *x, unsigned reg)
{
	uint8_t a[64], b[64] = { 0 };
	uint64_t m = 0, v;
	unsigned i;

	memset(a, 0, sizeof a);
	if (reg < 16)
		v = *regp(&r0, (int)reg) ^ run.cpu.r[reg];
	else if (reg == FACT_FLAGS)
		return (r0.eflags ^ run.cpu.rflags) & 0xcd5;
	else if (reg >= FACT_VECTOR) {
		vector(x, reg - FACT_VECTOR, a);
		vector(gx, reg - FACT_VECTOR, b);
		v = 0;
	} else
		return reg >= FACT_MASK && kmask(x, reg - FACT_MASK) != kmask(gx, reg - FACT_MASK);
	if (reg < 16)
		memcpy(a, &v, 8);
	for (i = 0; i < 64; i++)
		m |= (uint64_t)(a[i] != b[i]) << i;
	return m;
}

/* The stream of values, of one instruction; x: state before it */
static int
compare_values(const uint8_t *x)
{
	uint64_t defined[FACT_NREG] = { 0 }, *w = words + 1;
	const struct fact_block *fb = fact_block(words[0]);
	const struct fact *f;
	unsigned i, n;

	if (words[0] >> 48 != 1 || fb->n != 1)
		return bad("no block of one instruction");
	f = fb->f[0];
	if (f->kind != FACT_PLAIN && f->kind != FACT_COUNTED)
		return 0;
	n = f->kind == FACT_COUNTED ? (unsigned)*w++ : f->nref;
	if (run.out != w + n + f->nval)
		return bad("not as many words as there should be");
	for (i = 0; i < n; i++, w++)
		if (!ref_valid(*w) || ref_kind(*w) == REF_INST || ref_kind(*w) > REF_MODIFY)
			return bad("a reference that is none");
	for (i = 0; i < f->ndef; i++) {
		defined[f->def[i].reg] = lanes_bytes(f->def[i].reg, f->def[i].lanes);
		if (f->def[i].val != FACT_NOVALUE && !right_value(&f->def[i], w + f->def[i].val))
			return bad("a value");
	}
	for (i = 0; i < FACT_NREG; i++)
		if (changed(x, i) & ~defined[i]) {
			printf("register %u: bytes 0x%lx change, 0x%lx are defined\n", i, changed(x, i),
			    defined[i]);
			return 1;
		}
	lifted++;
	return 0;
}

/* The same state again, with words: are there as many as were counted? */
static int
compare_tally(int fast, int s, const uint8_t *xsave)
{
	uint64_t n[REF_NACCESS];

	memcpy(n, run.tally, sizeof n);
	memcpy(rp_host(DATA), data, NDATA);
	memcpy(gx, xsave, sizeof gx);
	if (emulate(RP_REFS, fast) != s)
		return bad("another end where references are only counted");
	for (const uint64_t *w = words; w < run.out; w++)
		n[ref_kind(*w)]--;
	return n[REF_LOAD] | n[REF_STORE] | n[REF_MODIFY] ? bad("another number of references") : 0;
}

/*
 * -e: vector instructions whose operand is at the end of memory: they fault if and only if an element that the lifter says
 * is accessed is behind it.
 */
static int
at_edge(const uint8_t *b)
{
	static const uint8_t rel[16];
	struct user_regs_struct u;
	const uint64_t *p;
	struct insn in;
	unsigned n, past = 0;
	uint64_t whole;
	int sig;

	random_state();
	aim();
	sig = machine(b, &u);
	if (sig && sig != SIGSEGV && sig != SIGBUS)
		return 2;
	if (x86_lift(b, z.length, rel, &in) || in.nref != 1)
		return 2;
	lifted++;
	counts[z.mnemonic][sig != 0]++;
	p = &whole;
	n = 1;
	if (in.mask.bytes)
		p = masked_refs(&in, gx, &n);
	else
		whole = ref_make(REF_LOAD, operand_at(&in.ref[0]), in.ref[0].n);
	for (unsigned i = 0; i < n; i++) {
		uint64_t a = p[i] & UINT64_C(0xffffffffffff), end = a + ref_size(p[i]);

		past |= !(a >= DATA && end <= DATA + NDATA) && !(a >= CODE && end <= CODE + 4096);
	}
	if (past == (sig != 0))
		return 0;
	printf("%s: %u references, the first one 0x%lx, %s the end of memory\n", sig ? "it faults" : "no fault", n, n ? *p : 0,
	    past ? "beyond" : "within");
	return 1;
}

/* 0 right, 1 wrong, 2 refused */
static int
one(const uint8_t *b)
{
	static uint8_t before[RP_XSAVE];
	struct user_regs_struct u;
	static const uint8_t modes[] = { RP_NONE, RP_TALLY, RP_REFS, RP_REFS };
	int mode = modes[below(4)], fast = (int)below(2), sig, s, n;

	random_state();
	aim();
	sig = machine(b, &u);
	if ((u.rip >= CODE && u.rip < CODE + z.length) || (u.rip >= DATA && u.rip < DATA + NDATA))
		fast = 0;               /* to itself: once */
	if (values)
		mode = RP_VALUES;
	memcpy(before, gx, sizeof before);
	if (mode == RP_TALLY)
		memcpy(data, rp_host(DATA), NDATA);
	memset(run.tally, 0, sizeof run.tally);
	s = emulate(mode, fast);
	if (mode == RP_TALLY && compare_tally(fast, s, before))
		return 1;
	if (s == RP_BAD && strstr(run.why, "unusual references"))
		return bad(run.why);
	if (s == RP_BAD && (run.cpu.rip == CODE || !fast)) {
		vm(0, DATA, rp_host(DATA), NDATA);
		counts[z.mnemonic][2]++;
		return 2;
	}
	counts[z.mnemonic][sig != 0]++;
	if (sig && !strncmp(ZydisMnemonicGetString(z.mnemonic), "cl", 2))
		return 0;               /* a cache line of memory that is not there: nothing is done here */
	if (sig && z.meta.category == ZYDIS_CATEGORY_RDWRFSGS)
		return 0;               /* a base that is not canonical is taken here */
	/* some elements are done already, which is the machine's own business */
	if (sig && s == RP_FAULT && vsib()) {
		vm(0, DATA, rp_host(DATA), NDATA);
		return 0;
	}
	/* control to an address that is not canonical: here the fault comes at the target */
	if (sig && (z.meta.category == ZYDIS_CATEGORY_RET || z.meta.category == ZYDIS_CATEGORY_CALL ||
	    z.meta.category == ZYDIS_CATEGORY_UNCOND_BR)) {
		vm(0, DATA, rp_host(DATA), NDATA);
		return 0;
	}
	if (sig == SIGBUS)              /* an address that is not canonical on the stack */
		sig = SIGSEGV;
	if (s == RP_FAULT && run.cpu.rip == u.rip && run.cpu.rip != CODE)
		s = RP_COUNT;           /* at what follows it, or nowhere */
	if (sig && s == RP_FAULT && (z.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED))
		return 0;
	if (sig ? s != RP_FAULT || run.sig != sig : s != RP_COUNT) {
		printf("the machine: signal %d at 0x%llx; here: %d (%s), signal %d at 0x%lx\n", sig, u.rip, s,
		    s == RP_BAD ? run.why : "", run.sig, run.cpu.rip);
		return 1;
	}
	n = compare_all(&u);
	if (!sig && mode == RP_REFS && !fast)
		n += compare_refs(b, before);
	if (!sig && values && !fast && s == RP_COUNT)
		n += compare_values(before);
	return n != 0;
}

static void
child(void)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

	if ((pid = fork()) < 0)
		die("fork");
	if (pid == 0) {
		mmap((void *)(uintptr_t)CODE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, flags, -1, 0);
		mmap((void *)(uintptr_t)DATA, NDATA, PROT_READ | PROT_WRITE, flags, -1, 0);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(1);
	}
	if (waitpid(pid, NULL, 0) != pid || ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL)
	    || ptrace(PTRACE_GETREGS, pid, 0, &r0))
		die("child");
	if (mmap(rp_host(CODE), 4096, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED
	    || mmap(rp_host(DATA), NDATA, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
		die("mmap");
}

static void
fill(void)
{
	unsigned i;

	for (i = 0; i < NDATA; i += 8) {
		uint64_t v = value();

		memcpy(data + i, &v, 8);
	}
	vm(1, DATA, data, NDATA);
	memcpy(rp_host(DATA), data, NDATA);
}

int
main(int argc, char **argv)
{
	uint64_t n = 20000, i, wrong = 0, refused = 0;
	int o, list = 0, plain = 0;
	const char *only = NULL;
	uint32_t lo, hi;
	unsigned m;

	while ((o = getopt(argc, argv, "belm:n:s:v")) != -1)
		switch (o) {
		case 'b': plain = 1; break;
		case 'e': edge = 1; break;
		case 'v': values = 1; break;
		case 'l': list = 1; break;
		case 'm': only = optarg; break;
		case 'n': n = strtoull(optarg, NULL, 0); break;
		case 's': rnd_state += strtoull(optarg, NULL, 0) * UINT64_C(0x9e3779b97f4a7c15); break;
		default: return 2;
		}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if ((core = rp_core_new()) == NULL) {
		fprintf(stderr, "cpufuzz: %s\n", rp_core_why());
		return 2;
	}
	if (plain)
		core->bmi2 = 0;
	__asm__("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	run.xcr0 = xcr0 = (uint64_t)hi << 32 | lo;
	run.cpu.xsave = gx;
	child();
	for (i = 0; i < n && wrong < 20; i++) {
		uint8_t b[16];
		unsigned k;
		int s;

		if (i % 64 == 0)
			fill();
		k = below(13);
		do {
			if (only)
				k = below(13);
			if (edge)
				k = 7 + below(6);
			opcode(b, k);
		} while (!wanted(b, only) || (edge && (!has_memory() || aligned())));
		current = b;
		s = edge ? at_edge(b) : one(b);
		if (s == 1) {
			show(b);
			fill();
		}
		wrong += s == 1;
		refused += s == 2;
	}
	kill(pid, SIGKILL);
	if (list)
		for (m = 0; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++)
			if (counts[m][0] + counts[m][1] + counts[m][2])
				printf("%s %u %u %u\n", ZydisMnemonicGetString((ZydisMnemonic)m),
				    counts[m][0], counts[m][1], counts[m][2]);
	printf("%lu instructions, %lu wrong, %lu refused, references of %u compared\n", i, wrong, refused,
	    lifted);
	return wrong != 0;
}
