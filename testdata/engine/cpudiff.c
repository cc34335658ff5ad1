/*
 * The replay's processor against the machine itself: a program is stepped by
 * ptrace, and the same instructions are run by rp_run on a copy of its
 * memory.  Registers are compared after every batch of instructions, the
 * memory before every system call, whose results come from the program.
 *
 *	cpudiff [-b batch] [-m mode] [-n instructions] [-s seed] [-x skip] [-q] program [argument...]
 *
 * mode: 0 without references, 1 with (and their fetches compared), 2 both, and their number, in
 * turn.  batch 0: of random length.  skip: instructions that only the machine runs.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"
#include "replay/cpu/cpu.h"
#include "format/ref/ref.h"

#define MAXBATCH 4096u
#define NWORDS   (1u << 20)

struct map { uint64_t lo, hi; int w; };

static pid_t pid;
static struct user_regs_struct nr;
static uint8_t nx[RP_XSAVE] __attribute__((aligned(64)));
static uint8_t gx[RP_XSAVE] __attribute__((aligned(64)));
static struct rp_run run;
static struct rp_core *core;
static struct map maps[4096];
static size_t nmaps;
static uint64_t words[NWORDS];
static uint64_t pcs[4 * MAXBATCH];
static size_t npcs;
static uint64_t done, fetches;
static int quiet, status_now;

static void
die(const char *what)
{
	fprintf(stderr, "cpudiff: %s: %s\n", what, strerror(errno));
	if (pid > 0)
		kill(pid, SIGKILL);
	exit(2);
}

static void
getregs(void)
{
	struct iovec v = { nx, sizeof nx };

	if (ptrace(PTRACE_GETREGS, pid, 0, &nr))
		die("registers");
	memset(nx, 0, sizeof nx);
	if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &v))
		die("state");
}

static void
native_regs(uint64_t r[16])
{
	uint64_t v[16] = { nr.rax, nr.rcx, nr.rdx, nr.rbx, nr.rsp, nr.rbp, nr.rsi, nr.rdi,
		nr.r8, nr.r9, nr.r10, nr.r11, nr.r12, nr.r13, nr.r14, nr.r15 };

	memcpy(r, v, sizeof v);
}

static void
adopt(void)
{
	native_regs(run.cpu.r);
	run.cpu.rip = nr.rip;
	run.cpu.rflags = nr.eflags & ~UINT64_C(0x100);
	run.cpu.fsbase = nr.fs_base;
	run.cpu.gsbase = nr.gs_base;
	memcpy(gx, nx, sizeof gx);
}

static int
readmem(uint64_t a, void *p, size_t n)
{
	struct iovec l = { p, n }, r = { (void *)(uintptr_t)a, n };

	return process_vm_readv(pid, &l, 1, &r, 1, 0) == (ssize_t)n ? 0 : -1;
}

static void
unmap_all(void)
{
	size_t i;

	for (i = 0; i < nmaps; i++) {
		munmap(rp_host(maps[i].lo), maps[i].hi - maps[i].lo);
		rp_flush(core, maps[i].lo, maps[i].hi - maps[i].lo);
	}
	nmaps = 0;
}

static int
same_maps(FILE *f)
{
	char line[4200];
	size_t n = 0;
	int same = 1;

	while (fgets(line, sizeof line, f)) {
		uint64_t lo, hi;
		char prot[8];

		if (sscanf(line, "%lx-%lx %7s", &lo, &hi, prot) != 3 || strstr(line, "[vsyscall]") ||
		    strstr(line, "[vvar"))
			continue;
		if (n == 4096)
			die("maps");
		if (n >= nmaps || maps[n].lo != lo || maps[n].hi != hi || maps[n].w != (prot[1] == 'w'))
			same = 0;
		n++;
	}
	return same && n == nmaps;
}

/* all: mappings too; else only what can be written */
static void
copy_memory(void)
{
	char name[64], line[4200];
	size_t i;
	FILE *f;
	int same;

	snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
	if ((f = fopen(name, "r")) == NULL)
		die(name);
	same = same_maps(f);
	if (!same) {
		unmap_all();
		rewind(f);
		while (fgets(line, sizeof line, f)) {
			struct map *m = &maps[nmaps];
			char prot[8];

			if (sscanf(line, "%lx-%lx %7s", &m->lo, &m->hi, prot) != 3 ||
			    strstr(line, "[vsyscall]") || strstr(line, "[vvar"))
				continue;
			m->w = prot[1] == 'w';
			if (mmap(rp_host(m->lo), m->hi - m->lo, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
			    0) == MAP_FAILED)
				die("mmap");
			nmaps++;
		}
	}
	fclose(f);
	for (i = 0; i < nmaps; i++) {
		uint64_t a, n;

		if (same && !maps[i].w)
			continue;
		for (a = maps[i].lo; a < maps[i].hi; a += n) {
			static uint8_t buf[1 << 20];

			n = maps[i].hi - a < sizeof buf ? maps[i].hi - a : sizeof buf;
			if (readmem(a, buf, n))
				break;
			if (memcmp(buf, rp_host(a), n))
				memcpy(rp_host(a), buf, n);
		}
	}
}

static int
compare_memory(void)
{
	size_t i, k;
	int bad = 0;

	for (i = 0; i < nmaps; i++) {
		uint64_t a, n;

		if (!maps[i].w)
			continue;
		for (a = maps[i].lo; a < maps[i].hi; a += n) {
			static uint8_t buf[1 << 20];

			n = maps[i].hi - a < sizeof buf ? maps[i].hi - a : sizeof buf;
			if (readmem(a, buf, n))
				break;
			if (memcmp(buf, rp_host(a), n) == 0)
				continue;
			for (k = 0; k < n && bad < 8; k++)
				if (buf[k] != rp_host(a)[k]) {
					printf("memory 0x%lx: %02x, should be %02x\n", a + k, rp_host(a)[k],
					    buf[k]);
					bad++;
				}
		}
	}
	return bad;
}

/* Component i of a saved state: as in memory, or as it is initially */
static const uint8_t *
component(const uint8_t *x, unsigned i, unsigned off, unsigned n)
{
	static const uint8_t zero[4096];
	uint64_t bv;

	memcpy(&bv, x + 512, 8);
	return bv >> i & 1 || n > sizeof zero ? x + off : zero;
}

static int
compare_x(const char *what, unsigned i, unsigned off, unsigned n)
{
	const uint8_t *a = component(gx, i, off, n), *b = component(nx, i, off, n);
	unsigned k;

	for (k = 0; k < n; k++)
		if (a[k] != b[k]) {
			printf("%s byte %u (register %u): %02x, should be %02x\n", what, k,
			    k / (i == 6 ? 32 : i == 7 ? 64 : 16), a[k], b[k]);
			return 1;
		}
	return 0;
}

static int
compare_state(void)
{
	static const char *const names[8] = { "x87", "xmm", "ymm", "", "", "k", "zmm", "zmm16" };
	unsigned i, a, b, c, d, bad = 0;
	uint64_t bv;

	memcpy(&bv, nx + 512, 8);
	for (i = 0; i < 8; i++) {
		uint16_t init = 0x37f;

		if (i == 0) {
			const uint8_t *p = component(gx, 0, 0, 160), *q = component(nx, 0, 0, 160);

			if (memcmp(p == gx ? p : (uint8_t *)&init, q == nx ? q : (uint8_t *)&init, 2))
				bad += printf("x87 control word\n") > 0;
			if (memcmp(p + 2, q + 2, 3))
				bad += printf("x87 status %02x%02x, should be %02x%02x\n", p[3], p[2], q[3],
				    q[2]) > 0;
			for (c = 0; c < 8; c++)
				if (memcmp(p + 32 + 16 * c, q + 32 + 16 * c, 10))
					bad += printf("st%u\n", c) > 0;
		} else if (i == 1)
			bad += compare_x("xmm", 1, 160, 256) + (memcmp(gx + 24, nx + 24, 4) ?
			    printf("mxcsr\n") > 0 : 0);
		else if (i != 3 && i != 4 && __get_cpuid_count(0xd, i, &a, &b, &c, &d) && a && a <= 4096)
			bad += compare_x(names[i], i, b, a);
	}
	return (int)bad;
}

static int
compare_regs(void)
{
	static const char *const names[16] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15" };
	uint64_t r[16];
	int i, bad = 0;

	native_regs(r);
	for (i = 0; i < 16; i++)
		if (r[i] != run.cpu.r[i])
			bad += printf("%s 0x%lx, should be 0x%lx\n", names[i], run.cpu.r[i], r[i]) > 0;
	if (run.cpu.rip != nr.rip)
		bad += printf("rip 0x%lx, should be 0x%llx\n", run.cpu.rip, nr.rip) > 0;
	if ((run.cpu.rflags ^ nr.eflags) & 0xcd5)
		bad += printf("flags 0x%lx, should be 0x%llx\n", run.cpu.rflags & 0xcd5,
		    nr.eflags & 0xcd5) > 0;
	if (run.cpu.fsbase != nr.fs_base)
		bad += printf("fs 0x%lx, should be 0x%llx\n", run.cpu.fsbase, nr.fs_base) > 0;
	return bad + compare_state();
}

static void
insn_bytes(uint64_t pc, uint8_t b[16])
{
	memset(b, 0, 16);
	if (readmem(pc, b, 15)) {
		size_t n = 4096 - (pc & 4095);

		if (n < 15)
			readmem(pc, b, n);
	}
}

/* Is b a repeated string instruction?  1 rep, 2 repne; *cmp: it compares */
static int
is_rep(const uint8_t *b, int *cmp)
{
	int i, rep = 0;

	for (i = 0; b[i] == 0x66 || b[i] == 0xf2 || b[i] == 0xf3 || (b[i] & 0xf0) == 0x40; i++)
		if (b[i] == 0xf2 || b[i] == 0xf3)
			rep = b[i] == 0xf2 ? 2 : 1;
	*cmp = (b[i] & 0xfe) == 0xa6 || (b[i] & 0xfe) == 0xae;
	return b[i] >= 0xa4 && b[i] <= 0xaf && (b[i] & 0xfe) != 0xa8 ? rep : 0;
}

enum { N_PLAIN, N_SYSCALL, N_TIME, N_GONE };

static int
special(const uint8_t *b)
{
	if (b[0] != 0x0f)
		return N_PLAIN;
	if (b[1] == 0x05)
		return N_SYSCALL;
	return b[1] == 0x31 || b[1] == 0xa2 || (b[1] == 0x01 && b[2] == 0xf9) ? N_TIME : N_PLAIN;
}

/* One step of the machine; counts fetches as ref(5) does */
static int
step(const uint8_t *b)
{
	int cmp, rep = is_rep(b, &cmp), status = 0;
	uint64_t rcx = nr.rcx, pc = nr.rip;
	unsigned i, n = 1;

	if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) || waitpid(pid, &status, 0) != pid)
		die("step");
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
		status_now = status;
		return -1;
	}
	if (ptrace(PTRACE_GETREGS, pid, 0, &nr))
		die("registers");
	if (rep && nr.rip != pc && rcx && nr.rcx == 0 && (!cmp || (rep == 1) == (nr.eflags >> 6 & 1)))
		n = 2;
	for (i = 0; i < n; i++)
		pcs[npcs++] = pc;
	fetches += n;
	done++;
	return 0;
}

/* Time and cpuid, done for the program */
static int
step_time(const uint8_t *b)
{
	pcs[npcs++] = nr.rip;
	fetches++;
	done++;
	if (!answer(&nr, b) || ptrace(PTRACE_SETREGS, pid, 0, &nr))
		die("registers");
	return 0;
}

static const struct map *
map_of(uint64_t a)
{
	static size_t last;
	size_t i;

	if (last < nmaps && a >= maps[last].lo && a < maps[last].hi)
		return &maps[last];
	for (i = 0; i < nmaps; i++)
		if (a >= maps[i].lo && a < maps[i].hi)
			return &maps[last = i];
	return NULL;
}

/* The machine up to n steps, or before a system call and the like */
static int
native(unsigned n)
{
	uint8_t b[16];
	int s;

	while (n--) {
		const struct map *m = map_of(nr.rip);

		if (m && !m->w && nr.rip + 15 < m->hi)  /* the copy is the same */
			memcpy(b, rp_host(nr.rip), 15);
		else
			insn_bytes(nr.rip, b);
		if ((s = special(b)) != N_PLAIN)
			return s;
		if (step(b))
			return N_GONE;
	}
	return N_PLAIN;
}

static int
check_fetches(const uint64_t *from, const uint64_t *to)
{
	size_t i = 0;
	const uint64_t *w;

	for (w = from; w < to; w++) {
		if (!ref_valid(*w)) {
			printf("word 0x%lx\n", *w);
			return 1;
		}
		if (ref_kind(*w) != REF_INST)
			continue;
		if (i >= npcs || ref_addr(*w) != (pcs[i] & 0xffffffffffff)) {
			printf("fetch %zu of 0x%lx, should be 0x%lx\n", i, ref_addr(*w), i < npcs ? pcs[i] :
			    0);
			return 1;
		}
		i++;
	}
	if (i != npcs)
		printf("%zu fetches, should be %zu\n", i, npcs);
	return i != npcs;
}

static int
emulate(int mode, enum rp_stop want)
{
	enum rp_stop s;

	run.out = words;
	run.end = words + NWORDS;
	run.limit = fetches;
	s = rp_run(core, &run, (enum rp_mode)mode);
	if (want == RP_SYSCALL ? s != RP_SYSCALL && s != RP_TSC && s != RP_CPUID : s != want) {
		printf("stopped: %d %s at 0x%lx (icount %lu, limit %lu) sig %d addr 0x%lx\n", s, s == RP_BAD ?
		    run.why : "",
		    run.cpu.rip, run.icount, run.limit, run.sig, run.addr);
		return 1;
	}
	return mode == RP_REFS ? check_fetches(words, run.out) : 0;
}

static void
show(uint64_t from)
{
	uint8_t b[16];
	int i;

	insn_bytes(from, b);
	printf("after %lu steps, batch from 0x%lx (%lu pcs, last 0x%lx):", done, from, npcs, npcs ?
	    pcs[npcs - 1] : 0);
	for (i = 0; i < 15; i++)
		printf(" %02x", b[i]);
	printf("\n");
}

/* The kernel would write memory at any time */
static void
no_rseq(const uint8_t *b)
{
	if (special(b) != N_SYSCALL || nr.rax != SYS_rseq)
		return;
	nr.rax = 1000;
	if (ptrace(PTRACE_SETREGS, pid, 0, &nr))
		die("rseq");
}

/* What the system call, or the processor about itself, gave */
static int
outside(int kind, int mode)
{
	uint8_t b[16];

	if (kind == N_SYSCALL && compare_memory())
		return 1;
	npcs = 0;
	insn_bytes(nr.rip, b);
	no_rseq(b);
	run.cpu.r[0] = nr.rax;
	if (kind == N_TIME ? step_time(b) : step(b))
		return -1;
	run.limit = UINT64_MAX;
	fetches++;
	if (emulate(mode, RP_SYSCALL))
		return 1;
	fetches--;
	getregs();
	if (run.cpu.rip != nr.rip || run.icount != fetches) {
		printf("rip 0x%lx after a system call, icount %lu\n", run.cpu.rip, run.icount);
		return 1;
	}
	adopt();
	if (kind == N_SYSCALL)
		copy_memory();
	return 0;
}

static void
launch(char **argv)
{
	int status;

	if ((pid = fork()) < 0)
		die("fork");
	if (pid == 0) {
		int fd = open("/dev/null", O_RDWR);

		if (quiet) {
			dup2(fd, 1);
			dup2(fd, 2);
		}
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		die(argv[0]);
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL);
}

/* Nobody finds the vdso */
static void
hide_vdso(void)
{
	uint64_t a = nr.rsp, v;

	if (readmem(a, &v, 8))
		die("stack");
	for (a += 8 * (v + 2); readmem(a, &v, 8) == 0 && v; a += 8)
		;
	for (a += 8; readmem(a, &v, 8) == 0 && v; a += 16)
		if (v == AT_SYSINFO_EHDR)
			ptrace(PTRACE_POKEDATA, pid, a, (void *)(uintptr_t)AT_IGNORE);
}

static unsigned seed = 1;

static unsigned
rnd(unsigned n)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 8) % n;
}

static unsigned
length(unsigned batch)
{
	if (batch)
		return batch;
	switch (rnd(4)) {
	case 0: return 1 + rnd(4);
	case 1: return 1 + rnd(200);
	default: return 1 + rnd(MAXBATCH);
	}
}

static int
loop(uint64_t max, unsigned batch, int mode)
{
	uint64_t from;
	int kind = N_PLAIN, m = mode == 1 ? RP_REFS : RP_NONE, r;

	while (done < max) {
		npcs = 0;
		from = nr.rip;
		kind = native(length(batch));
		if (kind == N_GONE)
			break;
		getregs();
		if (npcs && (emulate(m, RP_COUNT) || compare_regs())) {
			show(from);
			return 1;
		}
		if (kind != N_PLAIN) {
			uint64_t nrsys = nr.rax;

			if ((r = outside(kind, m)) < 0)
				break;
			if (r) {
				show(from);
				printf("system call %lu\n", nrsys);
				return 1;
			}
		}
		if (mode == 2)
			m = (int)rnd(3);        /* RP_NONE, RP_TALLY or RP_REFS */
	}
	return 0;
}

int
main(int argc, char **argv)
{
	uint64_t max = 100000, skip = 0;
	unsigned batch = 0, a, b, c, d;
	int o, mode = 2, bad;
	struct timespec t0, t1;

	while ((o = getopt(argc, argv, "+b:m:n:qs:x:")) != -1)
		switch (o) {
		case 'b': batch = (unsigned)atoi(optarg); break;
		case 'm': mode = atoi(optarg); break;
		case 'n': max = strtoull(optarg, NULL, 0); break;
		case 'q': quiet = 1; break;
		case 's': seed = (unsigned)atoi(optarg); break;
		case 'x': skip = strtoull(optarg, NULL, 0); break;
		default: return 2;
		}
	if (optind == argc)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if ((core = rp_core_new()) == NULL) {
		fprintf(stderr, "cpudiff: %s\n", rp_core_why());
		return 2;
	}
	__asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	run.xcr0 = (uint64_t)d << 32 | a;
	(void)b;
	(void)c;
	run.cpu.xsave = gx;
	launch(argv + optind);
	getregs();
	hide_vdso();
	while (skip--) {
		uint8_t code[16];

		npcs = 0;
		insn_bytes(nr.rip, code);
		no_rseq(code);
		if (step(code))
			return 2;
	}
	done = fetches = 0;
	getregs();
	adopt();
	copy_memory();
	clock_gettime(CLOCK_MONOTONIC, &t0);
	bad = loop(max, batch, mode);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	kill(pid, SIGKILL);
	printf("%s: %lu instructions %s, %.1f s\n", argv[optind], done, bad ? "DIFFER" : "the same",
	    (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec));
	return bad;
}
