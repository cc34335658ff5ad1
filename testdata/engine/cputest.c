/* The replay's processor: where it stops, what it reports, code that changes. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../check.h"
#include "cpurun.h"
#include "format/ref/ref.h"

#define BIG  0x30000000u

static uint64_t more[1 << 17];

/* Is x.tally what there is among n words? */
static int
tally_is(const uint64_t *w, uint64_t n)
{
	uint64_t k[REF_NACCESS] = { 0 };

	for (uint64_t i = 0; i < n; i++)
		k[ref_kind(w[i])]++;
	return x.icount == k[REF_INST] && x.tally[REF_LOAD] == k[REF_LOAD] && x.tally[REF_STORE] == k[REF_STORE] &&
	    x.tally[REF_MODIFY] == k[REF_MODIFY];
}

/* mov ecx, 100; L: add rax, rcx; push rax; pop rdx; dec ecx; jnz L; syscall: every limit */
static void
limits(void)
{
	static struct rp_cpu at[600];
	static uint64_t nw[600];
	unsigned n, i, bad = 0;
	int mode;

	code("b964000000 4801c8 50 5a ffc9 75f8 0f05");
	for (n = 0; n <= 501; n++) {
		x.limit = n;
		if (go(RP_REFS) != RP_COUNT || x.icount != n)
			bad++;
		at[n] = x.cpu;
		nw[n] = (uint64_t)(x.out - words);
	}
	CHECK("stops after every instruction", bad == 0);
	x.limit = UINT64_MAX;
	CHECK("syscall is executed", go(RP_REFS) == RP_SYSCALL && x.icount == 502 && x.cpu.rip == CODE + 16 &&
	    x.cpu.r[0] == 5050);
	memcpy(more, words, sizeof words);
	n = (unsigned)(x.out - words);
	CHECK("references of a loop", n == 502 + 200 && words[1] == ref_make(REF_INST, CODE + 5, 3)
	    && words[3] == ref_make(REF_STORE, DATA + 0x7ff8, 8) &&
	    words[5] == ref_make(REF_LOAD, DATA + 0x7ff8, 8));
	for (mode = RP_NONE, bad = 0; mode <= RP_REFS; mode++)
		for (i = 0; i <= 501; i++) {
			code("");
			x.limit = i;
			if (go(mode) != RP_COUNT || x.icount != i ||
			    memcmp(x.cpu.r, at[i].r, sizeof x.cpu.r) || x.cpu.rip != at[i].rip
			    || x.cpu.rflags != at[i].rflags ||
			    (mode == RP_REFS && ((uint64_t)(x.out - words) != nw[i] || memcmp(words, more, 8 * nw[i]))) ||
			    (mode == RP_TALLY && !tally_is(more, nw[i])))
				bad++;
		}
	CHECK("the same from the start, with references, their number, and without", bad == 0);
	CHECK("at the limit already", go(RP_NONE) == RP_COUNT && x.icount == 501);
}

/* Of n words: those of fetches in *f, the others to `to`; returns how many these are */
static unsigned
apart(const uint64_t *w, size_t n, uint64_t *to, unsigned *f)
{
	unsigned k = 0;

	for (size_t i = 0; i < n; i++)
		if (ref_kind(w[i]) == REF_INST)
			++*f;
		else
			to[k++] = w[i];
	return k;
}

/* RP_DATA: the same loads and stores, wherever it stops; fetches once, and again when they are asked for */
static void
fetches(void)
{
	static uint64_t refs[600], data[600];
	unsigned i, bad = 0, f = 0, n, k;

	for (i = 0; i <= 502; i += 1 + i / 100) {
		code("b964000000 4801c8 50 5a ffc9 75f8 0f05");
		x.limit = i;
		go(RP_REFS);
		n = apart(words, (size_t)(x.out - words), refs, &f);
		code("");
		x.limit = i;
		bad += go(RP_DATA) != (i < 502 ? RP_COUNT : RP_SYSCALL) || x.icount != i;
		k = apart(words, (size_t)(x.out - words), data, &f);
		bad += k != n || memcmp(refs, data, 8 * n) != 0;
	}
	CHECK("loads and stores without fetches", bad == 0);
	code("b964000000 4801c8 50 5a ffc9 75f8 0f05");
	rp_flush(core, CODE, 4096);
	f = 0;
	CHECK("fetches once", go(RP_DATA) == RP_SYSCALL && apart(words, (size_t)(x.out - words), data, &f) == 200 &&
	    f >= 7 && f <= 14 && words[0] == ref_make(REF_INST, CODE, 5) && words[5] == ref_make(REF_INST, CODE + 12, 2) &&
	    words[6] == ref_make(REF_STORE, DATA + 0x7ff8, 8));
	n = f;
	f = 0;
	code("");
	CHECK("not again", go(RP_DATA) == RP_SYSCALL && apart(words, (size_t)(x.out - words), data, &f) == 200 && f == 0);
	rp_fetches_again(core);
	code("");
	CHECK("but again when asked", go(RP_DATA) == RP_SYSCALL && apart(words, (size_t)(x.out - words), data, &f) == 200 &&
	    f == n);
}

/* Room for few references: the same ones in the end */
static void
room(void)
{
	unsigned n, all;

	code("b990d00300 4801c8 50 5a ffc9 75f8 0f05");
	x.limit = 60000;
	go(RP_REFS);
	all = (unsigned)(x.out - words);
	memcpy(more, words, 8 * all);
	code("");
	x.limit = 60000;
	for (n = 0; ; ) {
		enum rp_stop s;

		x.out = words + n;
		x.end = x.out + RP_SLACK + 100;
		if (x.end > words + sizeof words / sizeof *words)
			break;
		s = go(RP_REFS);
		n = (unsigned)(x.out - words);
		if (s != RP_FULL)
			break;
	}
	CHECK("pieces make the whole", n == all && memcmp(words, more, 8 * all) == 0 && x.icount == 60000);
	x.end = x.out + RP_SLACK - 1;
	CHECK("without room", (x.limit = UINT64_MAX, go(RP_REFS)) == RP_FULL && x.icount == 60000);
}

/* mov ecx, 5; lea rsi, [rsp]; lea rdi, [rsp + 64]; rep movsb; nop; syscall */
static void
strings(void)
{
	unsigned i, bad = 0;

	code("b905000000 488d3424 488d7c2440 f3a4 90 0f05");
	memcpy(rp_host(x.cpu.r[4]), "hello", 6);
	CHECK("rep movsb", go(RP_REFS) == RP_SYSCALL && x.icount == 3 + 6 + 2 && x.out - words == 3 + 16 + 2
	    && memcmp(rp_host(x.cpu.r[4] + 64), "hello", 6) == 0 && x.cpu.r[1] == 0 &&
	    x.cpu.r[7] == x.cpu.r[4] + 69);
	for (i = 0; i < 12; i++) {
		code("");
		x.limit = i;
		bad += go((int)(i % 3)) != RP_COUNT || x.icount != i ||
		    (i >= 3 && i <= 8 && (x.cpu.rip != CODE + 14 || x.cpu.r[1] != 8 - i));
		if (i == 10)
			break;
	}
	CHECK("stops amid rep movsb", bad == 0);
	code("");
	rp_break(core, CODE + 14, 1);
	for (i = 0; i < 10 && go((int)(i % 3)) == RP_BREAK; i++)
		bad += x.cpu.rip != CODE + 14 || x.cpu.r[1] != 5 - i;
	CHECK("breakpoint before every element", bad == 0 && i == 6 && x.cpu.rip == CODE + 19 &&
	    x.icount == 11);
	rp_break(core, CODE + 14, 0);
	/* mov ecx, 9; lea rdi, [rsp]; mov al, 'o'; repne scasb */
	code("b909000000 488d3c24 b06f f2ae 0f05");
	CHECK("repne scasb", go(RP_REFS) == RP_SYSCALL && x.icount == 3 + 5 + 1 && x.cpu.r[1] == 4 &&
	    (x.cpu.rflags & 0x40));
}

static void
breakpoints(void)
{
	unsigned n = 0, bad = 0;

	code("b964000000 4801c8 50 5a ffc9 75f8 0f05");
	go(RP_REFS);                    /* translated without it */
	code("");
	rp_break(core, CODE + 8, 1);
	while (go(RP_REFS) == RP_BREAK) {
		bad += x.cpu.rip != CODE + 8 || x.icount != 2 + 5 * n;
		n++;
	}
	CHECK("breakpoint in a loop", n == 100 && bad == 0);
	rp_break(core, CODE + 8, 0);
	code("");
	CHECK("and none", go(RP_REFS) == RP_SYSCALL && x.icount == 502);
}

static void
faults(void)
{
	int mode;

	for (mode = RP_NONE; mode <= RP_REFS; mode++) {
		/* mov rbx, 5; cmp eax, 1; mov r9, [rip + 0x10000000]; nop */
		code("48c7c305000000 83f801 4c8b0d00000010 90 0f05");
		CHECK("load from nowhere", go(mode) == RP_FAULT && x.sig == SIGSEGV &&
		    x.cpu.rip == CODE + 10 && x.icount == 2
		    && x.cpu.r[3] == 5 && x.cpu.r[9] == 0 && (x.cpu.rflags & 0x8d5) == 0x95 &&
		    x.addr == CODE + 17 + 0x10000000
		    && x.out - words == (mode == RP_REFS ? 2 : 0) && !x.tally[REF_LOAD]);
		/* push; rep stosb across the end of memory */
		code("50 b918000000 488d3c25f8ff1f00 488dbc24f87f0000 f3aa");
		CHECK("rep stosb runs off", go(mode) == RP_FAULT && x.sig == SIGSEGV && x.cpu.r[1] == 8
		    && x.cpu.r[7] == DATA + 0x10000 && x.icount == 4 + 16 &&
		    (mode != RP_TALLY || x.tally[REF_STORE] == 1 + 16));
		code("31c9 f7f1 90");
		CHECK("division by zero", go(mode) == RP_FAULT && x.sig == SIGFPE && x.cpu.rip == CODE + 2 &&
		    x.icount == 1);
		code("90 0f0b");
		CHECK("ud2", go(mode) == RP_FAULT && x.sig == SIGILL && x.cpu.rip == CODE + 1 &&
		    x.icount == 1);
		code("90 cc");
		CHECK("int3", go(mode) == RP_TRAP && x.sig == SIGTRAP && x.cpu.rip == CODE + 2 &&
		    x.icount == 2);
		code("90 0fc7f0");
		CHECK("rdrand", go(mode) == RP_RAND && x.insn == RP_RDRAND && x.reg == 0 && x.size == 4 &&
		    x.cpu.rip == CODE + 4 && x.icount == 2);
		code("90 490fc7fb");
		CHECK("rdseed", go(mode) == RP_RAND && x.insn == RP_RDSEED && x.reg == 11 && x.size == 8 &&
		    x.cpu.rip == CODE + 5);
		code("90 06");
		CHECK("bytes that are no instruction", go(mode) == RP_BAD && x.cpu.rip == CODE + 1);
		code("06");
		CHECK("at the beginning", go(mode) == RP_BAD && x.cpu.rip == CODE);
		code("90 0f05");
		CHECK("which become one", go(mode) == RP_SYSCALL && x.icount == 2);
		code("ffe0");
		x.cpu.r[0] = 0x5000;
		CHECK("control to nowhere", go(mode) == RP_FAULT && x.sig == SIGSEGV && x.cpu.rip == 0x5000 &&
		    x.icount == 1);
	}
}

/* push rax; mov eax, 0x1d; kmovd k1, eax; vmovdqu8 ymm0{k1}, ...: what elements 0 and 2 to 4 load are two references */
static void
masked(void)
{
	if (!core->avx512bw)
		return;
	code("50 b81d000000 c5fb92c8 62f17f296f0424 0f05");
	CHECK("runs of a mask", go(RP_TALLY) == RP_SYSCALL && x.icount == 5 &&
	    x.tally[REF_LOAD] == 2 && x.tally[REF_STORE] == 1);
	code("50 b81d000000 83f81d c5fb92c8 62f17f296f0500000010 0f05");
	CHECK("from nowhere", go(RP_TALLY) == RP_FAULT && x.icount == 4 && x.tally[REF_LOAD] == 0 &&
	    x.tally[REF_STORE] == 1 && (x.cpu.rflags & 0x8d5) == 0x44);
	code("50 b800000000 83f81d c5fb92c8 62f17f296f0500000010 0f05");
	CHECK("nothing from nowhere", go(RP_TALLY) == RP_SYSCALL && x.icount == 6 && x.tally[REF_LOAD] == 0 &&
	    (x.cpu.rflags & 0x8d5) == 0x91);
}

static void
outside(void)
{
	code("90 0f31 0f01f9 0fa2 31c9 0f01d0 0f05");
	CHECK("rdtsc", go(RP_REFS) == RP_TSC && x.insn == RP_RDTSC && x.cpu.rip == CODE + 3 &&
	    x.icount == 2 && x.out - words == 2);
	CHECK("rdtscp", go(RP_NONE) == RP_TSC && x.insn == RP_RDTSCP && x.cpu.rip == CODE + 6);
	CHECK("cpuid", go(RP_REFS) == RP_CPUID && x.cpu.rip == CODE + 8);
	x.cpu.r[0] = 9;
	CHECK("xgetbv", go(RP_REFS) == RP_SYSCALL && x.cpu.r[0] == 7 && x.cpu.r[2] == 0);
	/* movd xmm3, eax; paddd xmm3, xmm3; vector registers survive */
	code("660f6ed8 660ffedb 0f05");
	x.cpu.r[0] = 21;
	go(RP_REFS);
	code("660f7ed8 0f05");
	memcpy(state + 512, "\2", 1);
	memcpy(state + 160 + 48, "\x2a", 1);
	CHECK("vector registers", go(RP_NONE) == RP_SYSCALL && x.cpu.r[0] == 42);
}

static void
changing(void)
{
	unsigned i, bad = 0;

	/*
	 * mov ecx, 4; L: add eax, 1; inc byte [rip - 3 - 6 ... the 1]; dec ecx; jnz L; syscall: 1 + 2 + 3 +
	 * 4
	 */
	code("b904000000 83c001 fe05f9ffffff ffc9 75f3 0f05");
	CHECK("code that changes itself", go(RP_REFS) == RP_SYSCALL && x.cpu.r[0] == 1 + 2 + 3 + 4);
	code("b904000000 83c001 fe05f9ffffff ffc9 75f3 0f05");
	CHECK("and without references", go(RP_NONE) == RP_SYSCALL && x.cpu.r[0] == 10);
	for (i = 0; i < 10; i++) {
		code("b800000000 0f05");
		rp_host(CODE)[1] = (uint8_t)i;
		bad += go((int)(i & 1)) != RP_SYSCALL || x.cpu.r[0] != i;
	}
	CHECK("code that the driver changes", bad == 0);
	map(CODE, 4096);
	rp_flush(core, CODE, 4096);
	code("b82c010000 0f05");
	CHECK("code that is mapped anew", go(RP_REFS) == RP_SYSCALL && x.cpu.r[0] == 300);
}

/* Masked, indexed and broadcast vector operands */
static void
vectors(void)
{
	static const struct { unsigned kind, off, size; } want[] = {
		{ REF_INST, 0, 4 },
		/* runs of adjacent elements */
		{ REF_INST, 4, 6 }, { REF_STORE, 0, 2 }, { REF_STORE, 3, 1 },
		{ REF_INST, 10, 6 }, { REF_LOAD, 0, 4 },                        /* one element for all */
		{ REF_INST, 16, 6 }, { REF_STORE, 0, 12 },                      /* packed */
		/* its mask hides no element of memory */
		{ REF_INST, 22, 6 }, { REF_LOAD, 0, 64 },
		{ REF_INST, 28, 6 },
		{ REF_INST, 34, 8 }, { REF_LOAD, 8, 4 }, { REF_LOAD, 8, 4 }, { REF_LOAD, 8, 4 },
		/* the gather has cleared the mask */
		{ REF_INST, 42, 6 },
		{ REF_INST, 48, 3 }, { REF_STORE, 0, 128 }, { REF_STORE, 128, 128 }, { REF_STORE, 256, 128 },
		{ REF_STORE, 384, 128 },
		{ REF_INST, 51, 2 }
	};
	unsigned i, n = sizeof want / sizeof want[0], bad = 0;

	if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl")) {
		printf("# skip no AVX-512\n");
		return;
	}
	/* kmovd k1, eax; vmovdqu8 [rdi]{k1}, ymm16; vaddps zmm0{k1}, zmm1, [rdi]{1to16}; vpcompressd [rdi]{k1}, zmm1;
	   vpermw zmm2{k1}, zmm1, [rdi]; vpxord zmm3, zmm3, zmm3; vpgatherdd zmm2{k1}, [rdi + zmm3 * 4 + 8];
	   vmovss xmm1{k1}, [rdi]; fxsave [rdi]; syscall */
	code("c5fb92c8 62e17f297f07 62f174595807 62f27d498b0f 62f2f5498d17 62f16548efdb 62f27d4990549f02 "
	    "62f17e09100f 0fae07 0f05");
	x.cpu.r[0] = 11;
	x.cpu.r[7] = DATA;
	x.xcr0 = 0xe7;
	CHECK("vectors run", go(RP_REFS) == RP_SYSCALL && x.out - words == n);
	for (i = 0; i < n; i++)
		bad += words[i] != ref_make(want[i].kind,
		    (want[i].kind == REF_INST ? CODE : DATA) + want[i].off, want[i].size);
	CHECK("references of vectors", bad == 0);
}

/*
 * Pointers as indices: vmovdqu64 zmm3, [rdi]; kmovd k1, eax; vpgatherqq zmm2{k1}, [zmm3]; vmovdqu64
 * [rdi + 64], zmm2; syscall
 */
static void
pointers(void)
{
	uint64_t *p = (uint64_t *)(void *)rp_host(DATA);
	unsigned i, bad = 0;

	if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
		return;
	for (i = 0; i < 8; i++) {
		p[i] = i & 1 ? DATA + 256 + 8 * i : BIG + 64 * i;
		p[32 + i] = 100 + i;
		((uint64_t *)(void *)rp_host(BIG))[8 * i] = 200 + i;
	}
	code("62f1fe486f1f c5fb92c8 62f2fd4991141d00000000 62f1fe487f5701 0f05");
	x.cpu.r[0] = 0xdf;
	x.cpu.r[7] = DATA;
	CHECK("gather over the whole address space", go(RP_REFS) == RP_SYSCALL && x.out - words == 5 + 2 + 7);
	for (i = 0; i < 8; i++)
		bad += p[8 + i] != (i == 5 ? 0 : i & 1 ? 100u + i : 200u + i);
	CHECK("and its values", bad == 0);
}

/* More code than fits */
static void
much(void)
{
	static const uint8_t add[] = { 0x48, 0x01, 0x03 };      /* add [rbx], rax */
	size_t n = RP_CODE / 40;        /* what is made of it takes as much, or more */
	uint8_t *p = rp_host(BIG);
	int turn;

	map(BIG, sizeof add * n + 4096);
	for (size_t i = 0; i < n; i++)
		memcpy(p + sizeof add * i, add, sizeof add);
	memcpy(p + sizeof add * n, "\x0f\x05", 2);
	code("");
	x.cpu.r[3] = DATA;
	for (turn = 0; turn < 2; turn++) {
		enum rp_stop s;
		uint8_t *last = core->cp;
		int full = 0;

		x.cpu.rip = BIG;
		x.icount = 0;
		do {
			x.out = words;
			s = go(RP_REFS);
			full |= core->cp < last;
			last = core->cp;
		} while (s == RP_FULL);
		CHECK("more code than there is room for", s == RP_SYSCALL && x.icount == n + 1 && full);
	}
}

int
main(void)
{
	if ((core = rp_core_new()) == NULL) {
		printf("# skip %s\n", rp_core_why());
		return 0;
	}
	CHECK("one core at a time", rp_core_new() == NULL);
	map(CODE, 4096);
	map(DATA, 0x10000);
	limits();
	fetches();
	room();
	strings();
	breakpoints();
	faults();
	masked();
	outside();
	changing();
	vectors();
	map(BIG, 4096);
	pointers();
	much();
	core->bmi2 = 0;                 /* as on older processors */
	rp_flush(core, 0, UINT64_C(1) << 45);
	limits();
	fetches();
	room();
	strings();
	faults();
	masked();
	changing();
	rp_core_free(core);
	core = rp_core_new();
	CHECK("and another one after it", core != NULL);
	rp_core_free(core);
	return check_end();
}
