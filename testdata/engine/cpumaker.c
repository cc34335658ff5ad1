/*
 * The replay's processor where processors differ: code is executed as the
 * captured one did, whichever this is; and clzero, which not all have.  And
 * what of this process its programs see: not where their code is.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"
#include "cpurun.h"
#include "isa/x86/decode.h"
#include "format/ref/ref.h"
#include "format/ws/ws.h"
#include "replay/guest/replay.h"

/*
 * The run of hex on a processor of AMD's kind, or not; ends at a system call, a fault, or where
 * there is no memory
 */
static enum rp_stop
as(int amd, const char *hex)
{
	enum rp_stop s;

	rp_core_set_amd(core, amd);
	rp_flush(core, CODE, 4096);
	code(hex);
	x.cpu.r[0] = CODE + 0x80;
	x.cpu.r[1] = 2;
	x.cpu.r[3] = DATA + 0x100;
	memset(rp_host(DATA), 0, 0x10000);
	memcpy(rp_host(DATA + 0x8000), "\x34\x12\x40\0\0\0\0\0", 8);
	memcpy(rp_host(DATA + 0x100), "\x78\x06\x40\0\0\0\0\0", 8);
	s = go(RP_REFS);
	return s;
}

static uint64_t
ref(size_t i)
{
	return words + i < x.out ? words[i] : 0;
}

/* Each goes to `to` with `len` bytes of its own; AMD's: to 16 bits of `there`, with `alen` bytes */
static void
branches(void)
{
	static const struct { const char *what, *hex; unsigned len, alen; uint64_t to, there; int sp,
	    asp; } t[] = {
		{ "jcc, 32 bits", "66 0f84 f0ff 0f05", 7, 5, CODE + 7 + 0x050ffff0, 0xfff5, 0, 0 },
		{ "jcc, 8 bits", "66 7470", 3, 3, CODE + 0x73, 0x73, 0, 0 },
		{ "jmp, 32 bits", "66 e9 f0ff 0000", 6, 4, CODE + 6 + 0xfff0, 0xfff4, 0, 0 },
		{ "jmp, 8 bits", "66 eb70", 3, 3, CODE + 0x73, 0x73, 0, 0 },
		{ "loop", "66 e270", 3, 3, CODE + 0x73, 0x73, 0, 0 },
		{ "loopne with repe", "f3 e070", 3, 3, CODE + 3, CODE + 0x73, 0, 0 },
		{ "loope with repne", "f2 e170", 3, 3, CODE + 0x73, CODE + 3, 0, 0 },
		{ "call, 32 bits", "66 e8 f0ff 0000", 6, 4, CODE + 6 + 0xfff0, 0xfff4, -8, -2 },
		{ "call register", "66 ffd0", 3, 3, CODE + 0x80, 0x80, -8, -2 },
		{ "jmp register", "66 ffe0", 3, 3, CODE + 0x80, 0x80, 0, 0 },
		{ "call memory", "66 ff13", 3, 3, 0x400678, 0x678, -8, -2 },
		{ "jmp memory", "66 ff23", 3, 3, 0x400678, 0x678, 0, 0 },
		{ "ret", "66 c3", 2, 2, 0x401234, 0x1234, 8, 2 },
		{ "ret n", "66 c21000", 4, 4, 0x401234, 0x1234, 24, 18 },
		{ "REX.W is stronger", "66 48 c3", 3, 3, 0x401234, 0x401234, 8, 8 },
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		for (int amd = 0; amd < 2; amd++) {
			uint64_t to = amd ? t[i].there : t[i].to;
			int sp = amd ? t[i].asp : t[i].sp;
			char what[80];
			int flags;

			as(amd, t[i].hex);
			/* once more, up to it: the comparison that jcc needs */
			code(t[i].hex);
			x.cpu.r[0] = CODE + 0x80;
			x.cpu.r[1] = 2;
			x.cpu.r[3] = DATA + 0x100;
			x.cpu.rflags |= 0x40;
			x.limit = 1;
			flags = go(RP_REFS) == RP_COUNT && x.icount == 1;
			snprintf(what, sizeof what, "%s as %s's", t[i].what, amd ? "AMD" : "Intel");
			CHECK(what, flags && x.cpu.rip == to &&
			    x.cpu.r[4] == DATA + 0x8000 + (uint64_t)(int64_t)sp &&
			    ref(0) == ref_make(REF_INST, CODE, amd ? t[i].alen : t[i].len));
		}
	as(1, "66 e8 f0ff");
	CHECK("two bytes are pushed", ref(1) == ref_make(REF_STORE, DATA + 0x7ffe, 2) &&
	    !memcmp(rp_host(DATA + 0x7ffe), "\x04\0", 2));
	as(1, "66 7570 66 7470 0f05");
	CHECK("rip is whole where a branch is not taken", ref(1) == ref_make(REF_INST, CODE + 3, 3) ||
	    x.cpu.rip == 0x73);
	CHECK("0f 0d with a register is a nop", as(0, "0f0dd9 0f05") == RP_SYSCALL);
	CHECK("and no instruction", as(1, "0f0dd9 0f05") == RP_FAULT && x.sig == 4 && x.cpu.rip == CODE);
	CHECK("it prefetches in memory", as(1, "0f0d0b 0f05") == RP_SYSCALL);
	for (int amd = 0; amd < 2; amd++) {
		as(amd, "48c7c007000000 f34190 0f05");
		CHECK("f3 90 with REX.B is a pause of Intel's, and exchanges on AMD's", x.cpu.rip == CODE + 12 &&
		    (x.cpu.r[8] == 7) == amd && (x.cpu.r[0] != 7) == amd);
		as(amd, "48c7c007000000 f24190 0f05");
		CHECK("f2 90 with REX.B exchanges on both", x.cpu.rip == CODE + 12 && x.cpu.r[8] == 7 && x.cpu.r[0] != 7);
		as(amd, "48c7c007000000 f390 0f05");
		CHECK("and without it does nothing", x.cpu.rip == CODE + 11 && x.cpu.r[8] != 7 &&
		    x.cpu.r[0] == 7);
	}
}

/* Approximations are the maker's own */
static void
approximations(void)
{
	CHECK("rsqrtss here", as(x86_amd_here(), "f30f52c1 0f05") == RP_SYSCALL);
	CHECK("rsqrtss of another maker's", as(!x86_amd_here(), "f30f52c1 0f05") == RP_BAD &&
	    strstr(x.why, "maker"));
	CHECK("sqrtss of another maker's", as(!x86_amd_here(), "f30f51c1 0f05") == RP_SYSCALL);
}

static void
makers(void)
{
	struct ws_cpuid c[2] = { { .leaf = 0, .ebx = 0x68747541, .edx = 0x69746e65, .ecx = 0x444d4163 } };
	struct ws_header h = { .cpuid = c, .ncpuid = 1 };

	CHECK("AuthenticAMD", replay_amd(&h));
	c[0] = (struct ws_cpuid){ .leaf = 0, .ebx = 0x756e6547, .edx = 0x49656e69, .ecx = 0x6c65746e };
	CHECK("GenuineIntel", !replay_amd(&h));
	h.ncpuid = 0;
	CHECK("nothing said", !replay_amd(&h));
}

static void
clzero(void)
{
	int full = 1;

	for (int mode = RP_NONE; mode <= RP_REFS; mode++) {
		code("0f01fc 9c 58 0f05");
		rp_flush(core, CODE, 4096);
		memset(rp_host(DATA), 7, 0x1000);
		x.cpu.r[0] = DATA + 0x5c;
		x.cpu.rflags = 0x202 | 0x8d5;
		CHECK("clzero", go(mode) == RP_SYSCALL && x.cpu.r[0] == (0x202 | 0x8d5));
		for (unsigned i = 0; i < 0x100; i++)
			full &= *rp_host(DATA + i) == (i >= 0x40 && i < 0x80 ? 0 : 7);
		CHECK("the line of its address, all of it, and no more", full);
	}
	CHECK("its reference", words[1] == ref_make(REF_STORE, DATA + 0x40, 64));
	code("67 0f01fc 0f05");
	x.cpu.r[0] = UINT64_C(0x123400000000) | (CODE + 0xfff);
	memset(rp_host(CODE + 0xfc0), 7, 64);
	CHECK("with a narrow address", go(RP_REFS) == RP_SYSCALL &&
	    words[1] == ref_make(REF_STORE, CODE + 0xfc0, 64) && !*rp_host(CODE + 0xfff));
	code("0f01fc 0f05");
	x.cpu.r[0] = UINT64_C(0x66600000001);
	CHECK("where there is no memory", go(RP_REFS) == RP_FAULT && x.sig == 11 && x.cpu.rip == CODE &&
	    x.cpu.r[0] == UINT64_C(0x66600000001));
	code("65 0f01fc 0f05");
	CHECK("with a segment", go(RP_REFS) == RP_BAD);
}

/* Is it the program's x87 instruction at `at`, or nothing?  Some say so only while an exception is pending */
static int
place_ok(const uint8_t *p, unsigned n, uint64_t at)
{
	uint64_t v = 0;

	memcpy(&v, p, n);
	return v == 0 || v == (n == 8 ? at : at & ((UINT64_C(1) << 8 * n) - 1));
}

/*
 * A division by 0 that is not masked, by what rbx points to, then an instruction that saves the
 * state at rdi
 */
static void
pointers_hidden(void)
{
	static const struct { const char *what, *hex; unsigned n, ip, data; } t[] = {
		{ "fxsave64", "480fae07", 8, 8, 16 }, { "fxsave", "0fae07", 4, 8, 16 },
		{ "fnstenv", "d937", 4, 12, 20 }, { "fnsave", "dd37", 4, 12, 20 },
		{ "fnstenv, 16 bits", "66d937", 2, 6, 10 }, { "fnsave, 16 bits", "66dd37", 2, 6, 10 },
		{ "xsave64", "480fae27", 8, 8, 16 }, { "xsave", "0fae27", 4, 8, 16 },
		{ "xsavec64", "480fc727", 8, 8, 16 }, { "xsavec", "0fc727", 4, 8, 16 },
		{ "xsaveopt64", "480fae37", 8, 8, 16 }, { "xsaveopt", "0fae37", 4, 8, 16 },
	};
	char hex[80], what[80];

	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		for (int mode = RP_NONE; mode <= RP_REFS; mode++) {
			uint8_t *p = rp_host(DATA + 0x1000);

			/* fldcw [rsi]; fld1; fdiv dword [rbx]; ...; syscall */
			snprintf(hex, sizeof hex, "d92e d9e8 d833 %s 0f05", t[i].hex);
			rp_flush(core, CODE, 4096);
			code(hex);
			memset(rp_host(DATA), 0, 0x4000);
			memcpy(rp_host(DATA + 0x200), "\x7b\x03", 2);
			x.cpu.r[0] = 7;
			x.cpu.r[3] = DATA + 0x100;
			x.cpu.r[6] = DATA + 0x200;
			x.cpu.r[7] = DATA + 0x1000;
			snprintf(what, sizeof what, "%s: where the last x87 instruction was", t[i].what);
			CHECK(what, go(mode) == RP_SYSCALL && place_ok(p + t[i].ip, t[i].n, CODE + 4) &&
			    place_ok(p + t[i].data, t[i].n, DATA + 0x100));
			snprintf(what, sizeof what, "%s: and in the state behind it", t[i].what);
			CHECK(what, place_ok(state + 8, 8, CODE + 4) &&
			    place_ok(state + 16, 8, DATA + 0x100));
		}
	CHECK("a state keeps what the program had",
	    (code("0fae07 0f05"), memcpy(state + 8, "\x11\x22\x33\x44", 4), state[2] = 0x80, state[512] = 1,
	    x.cpu.r[7] = DATA + 0x1000, rp_flush(core, CODE, 4096), go(RP_NONE) == RP_SYSCALL) &&
	    place_ok(rp_host(DATA + 0x1008), 4, 0x44332211));
}

/* No memory of this process may be written and executed; code that a child makes after a fork is its own */
static void
code_memory(void)
{
	char line[400];
	unsigned both = 0, exec = 0;
	FILE *f = fopen("/proc/self/maps", "r");
	int status = 1;
	pid_t pid;

	while (f && fgets(line, sizeof line, f)) {
		const char *p = strchr(line, ' ');

		both += p && p[2] == 'w' && p[3] == 'x';
		exec += p && p[3] == 'x';
	}
	if (f)
		fclose(f);
	CHECK("no memory is writable and executable", both == 0 && exec > 0);
	code("b801000000 0f05");
	rp_flush(core, CODE, 4096);
	CHECK("before a fork", go(RP_NONE) == RP_SYSCALL && x.cpu.r[0] == 1);
	if ((pid = fork()) == 0) {
		code("b802000000 0f05");
		rp_flush(core, CODE, 4096);
		_exit(go(RP_NONE) == RP_SYSCALL && x.cpu.r[0] == 2 ? 0 : 1);
	}
	CHECK("a child's code", pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	code("b803000000 0f05");
	CHECK("and the parent's, where the child wrote",
	    (rp_flush(core, CODE, 4096), go(RP_NONE)) == RP_SYSCALL && x.cpu.r[0] == 3);
	code("b803000000 0f05");
	CHECK("again, as it is", go(RP_NONE) == RP_SYSCALL && x.cpu.r[0] == 3);
}

/* Narrow addresses without a base: the field that has none in it looks like r13 */
static void
baseless(void)
{
	for (int mode = RP_NONE; mode <= RP_REFS; mode++)
		for (int index = 0; index < 2; index++) {
			code(index ? "67 498b045d 00014000 0f05" : "67 498b0425 00014000 0f05");
			rp_flush(core, CODE, 4096);
			memcpy(rp_host(CODE + 0x100), "\1\2\3\4\5\6\7", 8);
			memcpy(rp_host(CODE + 0x110), "\7\2\3\4\5\6\7", 8);
			x.cpu.r[3] = 8;
			x.cpu.r[13] = 0x20;
			CHECK("an address without a base", go(mode) == RP_SYSCALL &&
			    x.cpu.r[0] == UINT64_C(0x07060504030201) + 6u * (unsigned)index);
			CHECK("its reference", mode != RP_REFS ||
			    words[1] == ref_make(REF_LOAD, CODE + 0x100 + 0x10u * (unsigned)index, 8));
		}
}

static uint64_t mine;

/* A bit by its number in rdx, which reaches all memory there is: that of the program only */
static void
bit_strings(void)
{
	static const struct { const char *what,
	    *hex; unsigned size; int64_t number; uint64_t at; unsigned bit; } t[] = {
		{ "bts, 64 bits, ahead", "480fab13", 8, 64 * 0x200 + 37, DATA + 0x1100, 37 },
		{ "back", "480fab13", 8, -1, DATA + 0xf8, 63 },
		{ "bts, 32 bits, ahead", "0fab13", 4, 32 * 0x400 + 5, DATA + 0x1100, 5 },
		{ "back", "0fab13", 4, -32 * 0x40, DATA, 0 },
		{ "bts, 16 bits, ahead", "660fab13", 2, 0x7fff, DATA + 0x10fe, 15 },
		{ "back", "660fab13", 2, -0x800, DATA, 0 },
		{ "with other high bits", "480fab13", 8, INT64_MIN >> 3 | (64 * 0x200 + 37),
		DATA + 0x1100 - (UINT64_C(1) << 57), 37 },
	};
	char hex[40];

	for (int mode = RP_NONE; mode <= RP_VALUES; mode++) {
		for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
			uint8_t *p = rp_host(t[i].at + t[i].bit / 8);

			snprintf(hex, sizeof hex, "%s 0f05", t[i].hex);
			code(hex);
			rp_flush(core, CODE, 4096);
			memset(rp_host(DATA), 0, 0x4000);
			x.cpu.r[2] = (uint64_t)t[i].number;
			x.cpu.r[3] = DATA + 0x100;
			x.cpu.rflags = 0x202 | 0x8d5;
			CHECK(t[i].what, go(mode) == RP_SYSCALL && *p == 1 << t[i].bit % 8 &&
			    !(x.cpu.rflags & 1) && (uint64_t)t[i].number == x.cpu.r[2]);
			CHECK("its reference", mode != RP_REFS ||
			    words[1] == ref_make(REF_MODIFY, t[i].at & UINT64_C(0xffffffffffff), t[i].size));
		}
		mine = 0;
		code("480fab13 0f05");
		rp_flush(core, CODE, 4096);
		x.cpu.r[2] = 8 * (uint64_t)((uint8_t *)&mine - rp_host(DATA));
		x.cpu.r[3] = DATA;
		CHECK("never this process's", go(mode) == RP_FAULT && x.sig == 11 && x.cpu.rip == CODE &&
		    mine == 0);
	}
}

#define TOP UINT64_C(0x3ffffffff000)    /* the last page that an address folds to */

static void *
behind(void)
{
	return mmap(rp_host(TOP) + 4096, RP_GUARD, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

/* An access at the end of the window reaches nothing after it. */
static void
window_end(void)
{
	static const struct { const char *what, *hex; uint64_t at; } t[] = {
		{ "movq", "488b07", TOP + 0xffc }, { "movdqu", "f30f7f07", TOP + 0xff1 },
		{ "xsave64", "480fae27", TOP + 0xfc0 }, { "fxsave64", "480fae07", TOP + 0xff0 },
		{ "with bits that are not folded", "488b07", (TOP | UINT64_C(0x400000000000)) + 0xffc },
		{ "movsq", "48a5", TOP + 0xfff },
	};
	char hex[40];
	void *p;

	CHECK("nothing can be mapped there", behind() == MAP_FAILED);
	map(TOP, 4096);
	for (int mode = RP_NONE; mode <= RP_REFS; mode++)
		for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
			snprintf(hex, sizeof hex, "%s 0f05", t[i].hex);
			code(hex);
			rp_flush(core, CODE, 4096);
			x.cpu.r[0] = 7;
			x.cpu.r[6] = DATA;
			x.cpu.r[7] = t[i].at;
			CHECK(t[i].what, go(mode) == RP_FAULT && x.sig == 11 && x.cpu.rip == CODE);
		}
	rp_core_free(core);
	p = behind();
	CHECK("without a core it is free", p == rp_host(TOP) + 4096);
	CHECK("and is wanted for one", (core = rp_core_new()) == NULL && strstr(rp_core_why(), "after"));
	munmap(p, RP_GUARD);
	CHECK("again", (core = rp_core_new()) != NULL);
}

int
main(void)
{
	if ((core = rp_core_new()) == NULL) {
		printf("# skip %s\n", rp_core_why());
		return 0;
	}
	map(CODE, 4096);
	map(DATA, 0x10000);
	branches();
	approximations();
	makers();
	clzero();
	pointers_hidden();
	baseless();
	bit_strings();
	code_memory();
	window_end();
	rp_core_free(core);
	return check_end();
}
