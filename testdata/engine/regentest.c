/*
 * The interpreter on programs made by hand: calls, run sequences, unwinding,
 * string instructions, values, block numbers, on machines of both word sizes
 * and byte orders; and schemas that must be refused.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"
#include "../eventfile.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "ae/regen/regen.h"
#include "format/ref/ref.h"

#pragma GCC diagnostic ignored "-Woverride-init"

#define NOADDR {.base = SCH_NOVAR, .index = SCH_NOVAR, .scale = 1, .sym = SCH_NOSYM}
#define STEP(o, ...) {.op = o, .dst = SCH_NOVAR, .sym = SCH_NOSYM, .m = NOADDR, __VA_ARGS__}
#define VAR(v) {.kind = SV_VAR, .var = v}
#define IMM(i) {.kind = SV_IMM, .imm = i}
#define ADDR(b, d) {.base = b, .index = SCH_NOVAR, .scale = 1, .sym = SCH_NOSYM, .disp = d}
#define INST(k) STEP(SO_INST, .n = k)
#define BLOCK(o, steps, ...) {.off = o, .nstep = sizeof steps / sizeof *steps, .step = steps, __VA_ARGS__}
#define FUNC(name, flags, frag, blocks) \
	{name, flags, 1, 20, 0, sizeof blocks / sizeof *blocks, 0, frag, NULL, blocks, NULL}

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
static uint64_t cst[] = {0x1000};
static char src[] = "t.c", name[] = "f";

/* The program as an executable has it, and an event file of it */
static struct buf schema, fn, events;

/* What they are for */
static const struct machine {
	uint16_t number, nregs, sp;
	uint8_t word, big, push;
} machines[] = {
	{EM_X86_64, 16, RSP, 8, 0, 8}, {EM_MIPS, 34, 29, 4, 0, 0}, {EM_MIPS, 34, 29, 4, 1, 0},
	    {EM_S390, 20, 15, 8, 1, 0},
}, *mach = machines;

/* `regentest dump`: write the program of unit N as uN, and its event files uN.M.ae, for a test of aec */
static int dump;
static unsigned nunit, nevents;

static unsigned theirs;         /* the machine that events are of, if it is not that of the program */
static int counting;
static uint64_t counted[RK_NKINDS];

static const uint8_t rodata_bytes[8] = {0xfe, 0xff, 0xff, 0x80, 1, 2, 3, 4};

static void
save(const struct buf *b)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "u%u.%u.ae", nunit, ++nevents);
	f = fopen(path, "wb");
	if (!f || fwrite(b->p, 1, b->n, f) != b->n || fclose(f) != 0)
		exit(1);
}

static void
section(Elf *e, unsigned name, unsigned type, uint64_t addr, uint64_t flags, const void *p, size_t n)
{
	Elf_Scn *scn = elf_newscn(e);
	Elf_Data *d = scn ? elf_newdata(scn) : NULL;
	GElf_Shdr sh;

	if (!d || !gelf_getshdr(scn, &sh))
		exit(1);
	d->d_buf = (void *)(uintptr_t)p;
	d->d_size = n;
	sh.sh_name = name;
	sh.sh_type = type;
	sh.sh_addr = addr;
	sh.sh_flags = flags;
	if (!gelf_update_shdr(scn, &sh))
		exit(1);
}

/* An executable as far as its readers look: schemas, functions, read-only data at 0x5000 */
static void
save_program(void)
{
	static const char names[] = "\0.aeschema\0aefn\0.rodata\0.shstrtab";
	char path[64];
	GElf_Ehdr eh;
	Elf *e;
	int fd;

	snprintf(path, sizeof path, "u%u", nunit);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0777);
	elf_version(EV_CURRENT);
	e = elf_begin(fd, ELF_C_WRITE, NULL);
	if (!e || !gelf_newehdr(e, mach->word == 4 ? ELFCLASS32 : ELFCLASS64) || !gelf_getehdr(e, &eh))
		exit(1);
	eh.e_ident[EI_DATA] = mach->big ? ELFDATA2MSB : ELFDATA2LSB;
	eh.e_type = ET_EXEC;
	eh.e_machine = mach->number;
	eh.e_version = EV_CURRENT;
	eh.e_shstrndx = 4;
	section(e, 1, SHT_PROGBITS, 0, 0, schema.p, schema.n);
	section(e, 11, SHT_PROGBITS, 0, SHF_ALLOC | SHF_WRITE, fn.p, fn.n);
	section(e, 16, SHT_PROGBITS, 0x5000, SHF_ALLOC, rodata_bytes, 8);
	section(e, 24, SHT_STRTAB, 0, 0, names, sizeof names);
	if (!gelf_update_ehdr(e, &eh) || elf_update(e, ELF_C_WRITE) < 0 || elf_end(e) != 0 || close(fd) != 0)
		exit(1);
}

/* n bytes in the machine's order */
static void
put(struct buf *b, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		buf_u8(b, (uint8_t)(v >> 8 * (mach->big ? n - 1 - i : i)));
}

static void
unit(struct sch_func *f, uint32_t n)
{
	struct sch_unit u = {src, mach->number, mach->word, mach->big, mach->push, mach->nregs, mach->sp, n,
	    f, 1, cst, 0, NULL, NULL};
	size_t len;
	uint8_t *e = sch_encode(&u, &len);

	buf_free(&schema);
	buf_free(&fn);
	buf_add(&schema, e, len);
	free(e);
	for (uint32_t i = 0; i < n; i++) {
		put(&fn, cst[0] + f[i].frag[0].off, mach->word);
		put(&fn, 0, mach->word);
		put(&fn, 0, mach->word);
	}
	nunit++;
	nevents = 0;
	if (dump)
		save_program();
}

/* Pieces of `size` bytes: the window may end anywhere */
static void
file(struct buf *out, const struct buf *ev, size_t size, unsigned reason)
{
	event_header(out, theirs ? theirs : mach->number);
	event_chunks(out, ev->p, ev->n, size, reason, 0);
}

/* Short text of references: i1000+4 l2000+8 ... */
static int
collect(void *arg, const uint64_t *w, size_t n)
{
	static const char kind[] = "ilsmEBX";

	for (size_t i = 0; i < n; i++)
		buf_printf(arg, "%s%c%llx", ((struct buf *)arg)->n ? " " : "", kind[ref_kind(w[i])],
		    (unsigned long long)ref_addr(w[i]));
	return 0;
}

static int
rodata(void *arg, uint64_t addr, void *buf, size_t n)
{
	(void)arg;
	if (addr < 0x5000 || addr + n > 0x5008)
		return 0;
	memcpy(buf, rodata_bytes + (addr - 0x5000), n);
	return 1;
}

static int
load(struct prog *g)
{
	struct prog_source s = {schema.p, schema.n, fn.p, fn.n, NULL, rodata, NULL, NULL};

	return prog_load(g, &s);
}

/* References of the run, then `!` and what was wrong */
static const char *
run(size_t chunk, unsigned reason)
{
	static struct buf text;
	struct buf f = BUF_INIT;
	const char *err = NULL;
	struct regen *r;
	struct prog g;
	struct feed feed;
	char path[] = "events.XXXXXX";
	int fd = mkstemp(path);

	buf_free(&text);
	file(&f, &events, chunk, reason);
	if (fd < 0 || write(fd, f.p, f.n) != (ssize_t)f.n || close(fd) != 0)
		return "cannot write";
	buf_free(&f);
	if (load(&g) != 0 || !(r = regen_new(&g, counting, NULL, &err))) {
		unlink(path);
		prog_free(&g);
		return err ? err : "not loaded";
	}
	feed_tasks(&feed, regen_state(r), &(struct feed_job){
		.file = path, .machine = mach->number, .sink = collect, .sinkarg = &text, .quietmax = FEED_QUIET,
		.run = regen_thread, .arg = r
	});
	if (feed.err)
		buf_printf(&text, " ! %s", feed.err);
	buf_u8(&text, 0);
	feed_close(&feed);
	memcpy(counted, regen_counts(r), sizeof counted);
	regen_free(r);
	prog_free(&g);
	unlink(path);
	return (char *)text.p;
}

/* Bytes in hexadecimal; =N a word, :N two bytes, ;N four bytes in the machine's order */
static void
ev_bytes(const char *hex)
{
	while (*hex) {
		unsigned n = *hex == '=' ? mach->word : *hex == ':' ? 2 : *hex == ';' ? 4 : 0;
		unsigned v;
		char *end;

		if (*hex == ' ') {
			hex++;
		} else if (n) {
			put(&events, strtoull(hex + 1, &end, 16), n);
			hex = end;
		} else {
			sscanf(hex, "%2x", &v);
			buf_u8(&events, (uint8_t)v);
			hex += 2;
		}
	}
}

static const uint64_t *
counts(const char *hex)
{
	buf_free(&events);
	ev_bytes(hex);
	counting = 1;
	run(3, EV_EXIT);
	counting = 0;
	return counted;
}

static void
expect(const char *what, unsigned reason, const char *hex, const char *want)
{
	int good = 1;

	buf_free(&events);
	ev_bytes(hex);
	if (dump) {
		struct buf f = BUF_INIT;

		file(&f, &events, 7, reason);
		save(&f);
		buf_free(&f);
		return;
	}
	for (size_t chunk = 1; chunk <= events.n; chunk++) {
		const char *got = run(chunk, reason);

		if (strcmp(got, want) != 0 && good) {
			printf("# %s: chunks of %zu\n# got  %s\n# want %s\n", what, chunk, got, want);
			good = 0;
		}
	}
	CHECK(what, good);
}

#define ENTER "fe 0080000000000000 "    /* rsp 0x8000 */

/* main calls g, which is known and leaves by a jump to whatever rdi says; then something unknown */
static void
calls(void)
{
	struct op_step m0[] = {INST(1), STEP(SO_STORE, .n = 8, .m = ADDR(RSP, -8)),
	    STEP(SO_SUB, .w = 8, .dst = RSP, .a = VAR(RSP), .b = IMM(8)),
		INST(5), STEP(SO_STORE, .n = 8, .m = ADDR(RSP, -8)), STEP(SO_CALL, .sym = 1),
		INST(2), STEP(SO_STORE, .n = 8, .m = ADDR(RSP, -8)), STEP(SO_CALLX, .n = 0), INST(1),
		    STEP(SO_LOAD, .n = 8, .m = ADDR(RSP, 0))};
	struct op_step g0[] = {INST(3)}, h0[] =
	    {INST(1), STEP(SO_LOAD, .n = 8, .m = ADDR(RSP, 0)), STEP(SO_LOAD, .n = 4, .m = ADDR(RDI, 0))};
	struct sch_block mb[] = {BLOCK(0, m0, .term = ST_RETURN)}, gb[] = {BLOCK(0, g0, .term = ST_TAILX)},
	    hb[] = {BLOCK(0, h0, .term = ST_RETURN)};
	struct sch_frag fr[] = {{0, 0, 99}, {0, 0x100, 9}, {0, 0x200, 9}};
	struct sch_func f[] = {FUNC(name, 0, fr, mb), FUNC(name, SF_TAILOUT, fr + 1, gb),
	    FUNC(name, 0, fr + 2, hb)};
	uint16_t rdi = RDI;

	f[2].nneed = 1;
	f[2].need = &rdi;
	unit(f, 3);
	expect("jump to an unknown function, then an unknown call", EV_EXIT,
	    ENTER "0100  0300 0040000000000000 00  0300 0050000000000000 00",
	    "i1000 s7ff8 i1001 s7ff0 i1100 i1200 l7ff0 l4000 i1006 s7ff0 i1200 l7ff0 l5000 i1008 l7ff8");
	expect("untraced callees, a callback", EV_EXIT,
	    ENTER "0100  00  fe 0070000000000000 0300 0040000000000000 00",
	    "i1000 s7ff8 i1001 s7ff0 i1100 i1006 s7ff0 i1200 l7000 l4000 i1008 l7ff8");
	expect("the end: exit in a call", EV_EXIT, ENTER "0100 00",
	    "i1000 s7ff8 i1001 s7ff0 i1100 i1006 s7ff0");
	expect("the end of the events inside a function", EV_EXIT,
	    ENTER "0100 00 fe 0070000000000000 0300 0040",
	    "i1000 s7ff8 i1001 s7ff0 i1100 i1006 s7ff0 ! the events end inside a function");
	expect("the same when recording stopped", EV_STOPPED, ENTER "0100 00 fe 0070000000000000 0300 0040",
	    "i1000 s7ff8 i1001 s7ff0 i1100 i1006 s7ff0 ! recording stopped here, before the run ended");
	expect("unwinding to the unknown call", EV_EXIT,
	    ENTER "0100 00 fe 0070000000000000 0100 00 fd f87f000000000000 00",
	    "i1000 s7ff8 i1001 s7ff0 i1100 i1006 s7ff0 i1000 s6ff8 i1001 s6ff0 i1100 i1006 s6ff0 i1008 "
	    "l7ff8");
	expect("a region ends, another one begins", EV_EXIT,
	    ENTER "0100 00 fd 0000000000000000 fe 0070000000000000 0100 00",
	    "i1000 s7ff8 i1001 s7ff0 i1100 i1006 s7ff0 i1000 s6ff8 i1001 s6ff0 i1100 i1006 s6ff0");
	expect("unwinding to nowhere", EV_EXIT, ENTER "0100 00 fd 0100000000000000",
	    "i1000 s7ff8 i1001 s7ff0 i1100 i1006 s7ff0 ! no frame to unwind to");
	expect("no such function", EV_EXIT, ENTER "0400", " ! a function that the program does not have");
	expect("no stack pointer", EV_EXIT, "0100", " ! a function is entered without a stack pointer");
	expect("no function", EV_EXIT, ENTER "00", " ! a stack pointer without a function to enter");
	expect("a return from nowhere", EV_EXIT, "00", " ! a return from nowhere");
}

/* setjmp, a branch, an unknown call that jumps back */
static void
landings(void)
{
	struct op_step s0[] = {INST(5), STEP(SO_MOV, .w = 8, .dst = RBX, .a = IMM(0x900)),
	    STEP(SO_CALLJ, .n = 7), INST(3)};
	struct op_step s1[] = {INST(5), STEP(SO_ADD, .w = 8, .dst = RBX, .a = VAR(RBX), .b = IMM(16)),
	    STEP(SO_CALLX, .n = 0)};
	struct op_step s2[] = {INST(1), STEP(SO_LOAD, .n = 8, .m = ADDR(RBX, 0)),
	    STEP(SO_LOAD, .n = 8, .m = ADDR(RSP, 0))};
	struct sch_succ go[] = {{1, 0, NULL}, {2, 0, NULL}};
	struct sch_block b[] = {BLOCK(0, s0, .term = ST_BRANCH, .nsucc = 2, .succ = go),
	    BLOCK(8, s1, .term = ST_NONE),
		BLOCK(13, s2, .term = ST_RETURN)};
	struct sch_frag fr = {0, 0, 99};
	struct sch_func f = FUNC(name, SF_SETJMP, &fr, b);

	unit(&f, 1);
	expect("setjmp, longjmp", EV_EXIT, ENTER "0100 ff 0080000000000000 0700 01 ff 0080000000000000 0700 "
	    "00",
	    "i1000 i1005 i1008 i1005 i100d l910 l8000");
	expect("longjmp from a deeper frame", EV_EXIT,
	    ENTER "0100 ff 0080000000000000 0700 01 fe 0070000000000000 0100 ff 0070000000000000 0700 01 ff "
	    "0080000000000000 0700 00",
	    "i1000 i1005 i1008 i1000 i1005 i1008 i1005 i100d l910 l8000");
	expect("longjmp to a frame that is gone", EV_EXIT,
	    ENTER "0100 ff 0080000000000000 0700 01 ff 0070000000000000 0700 00",
	    "i1000 i1005 i1008 ! no frame to unwind to");
	expect("a call that does not return", EV_EXIT, ENTER "0100 ff 0080000000000000 0700 01 00",
	    "i1000 i1005 i1008 ! a function returns that cannot");
	expect("setjmp that returns", EV_EXIT, ENTER "0100 00",
	    "i1000 ! setjmp returns as other functions do");
	expect("a bad branch", EV_EXIT, ENTER "0100 ff 0080000000000000 0700 02",
	    "i1000 i1005 ! neither 0 nor 1 for a branch");
}

/* Values in all widths, seen as addresses */
static void
values(void)
{
#define SEE STEP(SO_LOAD, .n = 1, .m = ADDR(RAX, 0))
	struct op_step s[] = {
		INST(1), STEP(SO_MOV, .w = 8, .dst = RAX, .a = IMM(0x1122334455)),
		    STEP(SO_MOV, .w = 1, .dst = RAX, .a = IMM(-1)), SEE,
		STEP(SO_MOV, .w = 2, .dst = RAX, .a = IMM(0x12345)), SEE,
		    STEP(SO_MOV, .w = 4, .dst = RAX, .a = IMM(-2)), SEE,
		STEP(SO_SAR, .w = 4, .dst = RAX, .a = VAR(RAX), .b = IMM(33)), SEE,
		STEP(SO_SHR, .w = 4, .dst = RAX, .a = VAR(RAX), .b = IMM(28)), SEE,
		STEP(SO_ROR, .w = 2, .dst = RAX, .a = VAR(RAX), .b = IMM(17)), SEE,
		STEP(SO_ROL, .w = 1, .dst = RAX, .a = IMM(0x81), .b = IMM(4)), SEE,
		STEP(SO_BSWAP, .w = 4, .dst = RAX, .a = VAR(RAX)), SEE,
		    STEP(SO_NOT, .w = 1, .dst = RAX, .a = VAR(RAX)), SEE,
		STEP(SO_NEG, .w = 4, .dst = RAX, .a = VAR(RAX)), SEE,
		    STEP(SO_SEXT, .w = 2, .n = 1, .dst = RAX, .a = IMM(0x80)), SEE,
		STEP(SO_ZEXT, .w = 4, .n = 2, .dst = RAX, .a = VAR(RAX)), SEE,
		STEP(SO_MUL, .w = 4, .dst = RAX, .a = VAR(RAX), .b = IMM(0x10001)), SEE,
		STEP(SO_FLAGS_SUB, .w = 1, .a = IMM(0x180), .b = IMM(0x7f)),
		    STEP(SO_SETCC, .w = 1, .cc = SC_LT, .dst = RAX), SEE,
		STEP(SO_SETCC, .w = 1, .cc = SC_LTU, .dst = RAX), SEE,
		    STEP(SO_SETCC, .w = 1, .cc = SC_NEG, .dst = RAX), SEE,
		STEP(SO_FLAGS_AND, .w = 4, .a = IMM(6), .b = IMM(9)),
		    STEP(SO_CMOV, .w = 4, .cc = SC_EQ, .dst = RAX, .a = IMM(0x777)), SEE,
		STEP(SO_CMOV, .w = 8, .cc = SC_NE, .dst = RAX, .a = IMM(0x888)), SEE,
		STEP(SO_LOADRO, .w = 8, .n = 4, .cc = 1, .dst = RAX,
		    .m = {.base = SCH_NOVAR, .index = SCH_NOVAR, .scale = 1, .sym = 0, .disp = 0x4000}), SEE,
		STEP(SO_LOADRO, .w = 4, .n = 2, .dst = RAX,
		    .m = {.base = SCH_NOVAR, .index = SCH_NOVAR, .scale = 1, .sym = 0, .disp = 0x4000}), SEE,
		STEP(SO_UNKNOWN, .w = 1, .cc = 1, .dst = RAX), SEE,
		    STEP(SO_UNKNOWN, .w = 2, .cc = 3, .dst = RAX), SEE,
		STEP(SO_UNKNOWN, .w = 2, .cc = 2, .dst = RAX), SEE, STEP(SO_UNKNOWN, .w = 4, .dst = RAX), SEE,
		STEP(SO_LOAD, .n = 2, .m = {.base = RAX, .index = RAX, .scale = 8, .fs = 1, .narrow = 1,
		    .sym = SCH_NOSYM, .disp = -1}),
		STEP(SO_LEA, .w = 4, .dst = RAX,
		    .m = {.base = RAX, .index = RAX, .scale = 2, .sym = 0, .disp = -1}), SEE,
	};
	struct sch_block b[] = {BLOCK(0, s, .term = ST_RETURN)};
	struct sch_frag fr = {0, 0, 99};
	struct sch_func f = FUNC(name, 0, &fr, b);

	unit(&f, 1);
	expect("values", EV_EXIT, ENTER "0100 80 0080 3412 00000080",
	    "i1000 l11223344ff l1122332345 lfffffffe lffffffff lf l8007 l8018 l18800000 l188000ff le77fff01 "
	    "le77fff80 "
	    "lff80 lff80ff80 lff80ff01 lff80ff00 lff80ff00 l777 l777 lffffffff80fffffe lfffe "
	    "lffffffffffffff80 lffff8000 "
	    "lffff1234 l80000000 l8000003f l80000fff");
}

/* rep movs of 2, repe cmps stopped at the second of 3 elements, repne scas that runs out, rep of nothing */
static void
strings(void)
{
	struct op_step s[] = {
		STEP(SO_MOV, .w = 8, .dst = RCX, .a = IMM(2)),
		    STEP(SO_MOV, .w = 8, .dst = RSI, .a = IMM(0x2000)),
		STEP(SO_MOV, .w = 8, .dst = RDI, .a = IMM(0x3000)),
		    STEP(SO_REP, .n = 3, .w = 8, .cc = SR_MOVS),
		INST(1), STEP(SO_MOV, .w = 8, .dst = RCX, .a = IMM(3)),
		    STEP(SO_REP, .n = 2, .w = 1, .cc = SR_CMPS),
		STEP(SO_REP, .n = 2, .w = 2, .cc = SR_SCAS), STEP(SO_REP, .n = 2, .w = 4, .cc = SR_STOS),
	};
	struct sch_block b[] = {BLOCK(0, s, .term = ST_RETURN)};
	struct sch_frag fr = {0, 0, 99};
	struct sch_func f = FUNC(name, 0, &fr, b);

	unit(&f, 1);
	expect("string instructions", EV_EXIT, ENTER "0100 0100000000000000 01 0000000000000000 00",
	    "i1000 l2000 s3000 i1000 l2008 s3008 i1000 i1003 i1004 l3010 l2010 i1004 l3011 l2011 i1006 l3012 "
	    "i1006 i1008");
	expect("one that stops at its last element", EV_EXIT,
	    ENTER "0100 0000000000000000 01 0000000000000000 01",
	    "i1000 l2000 s3000 i1000 l2008 s3008 i1000 i1003 i1004 l3010 l2010 i1004 l3011 l2011 i1004 l3012 "
	    "l2012 i1006 i1008");
	expect("one that goes back", EV_EXIT, ENTER "0100 0400000000000000 00",
	    "i1000 l2000 s3000 i1000 l2008 s3008 i1000 i1003 ! a string instruction that goes back");
}

/* A counted loop without events, a switch */
static void
loops(void)
{
	struct op_step s0[] = {INST(2), STEP(SO_UNKNOWN, .w = 4, .dst = RAX),
	    STEP(SO_UNKNOWN, .w = 8, .dst = RDX)};
	struct op_step s1[] = {INST(4), STEP(SO_SUB, .w = 4, .dst = RAX, .a = VAR(RAX), .b = IMM(1)),
	    STEP(SO_FLAGS_RES, .w = 4, .a = VAR(RAX))};
	struct op_step s2[] = {INST(2)}, s3[] = {INST(1)};
	struct sch_loopev in[] = {{SL_ENTER, 0}}, back[] = {{SL_BACK, 0}}, out[] = {{SL_EXIT, 0}};
	struct sch_succ t0[] = {{1, 1, in}}, t1[] = {{1, 1, back}, {2, 1, out}},
	    t2[] = {{3, 0, NULL}, {0, 0, NULL}};
	struct sch_block b[] = {BLOCK(0, s0, .term = ST_JUMP, .nsucc = 1, .succ = t0),
		BLOCK(2, s1, .term = ST_COND, .cc = SC_NE, .nsucc = 2, .succ = t1),
		BLOCK(6, s2, .term = ST_SWITCH, .target = VAR(RDX), .nsucc = 2, .succ = t2),
		    BLOCK(8, s3, .term = ST_RETURN)};
	struct sch_loop lo = {1, -1};
	struct sch_frag fr = {0, 0, 99};
	struct sch_func f = FUNC(name, 0, &fr, b);
	const char *got;

	f.nloop = 1;
	f.loop = &lo;
	unit(&f, 1);
	expect("loop and switch", EV_EXIT, ENTER "0100 03000000 0810000000000000",
	    "i1000 E1002 i1002 B1002 i1002 B1002 i1002 X1002 i1006 i1008");
	expect("a switch to nowhere", EV_EXIT, ENTER "0100 01000000 0910000000000000",
	    "i1000 E1002 i1002 X1002 i1006 ! a switch without such a target");
	b[2].cc = 1;
	f.flags = SF_TAILOUT;
	unit(&f, 1);
	expect("a switch to a place in the function that has no label", EV_EXIT, ENTER "0100 01000000 0910000000000000",
	    "i1000 E1002 i1002 X1002 i1006 ! a switch without such a target");
	expect("a switch out of the function", EV_EXIT,
	    ENTER "0100 01000000 0011000000000000 0100 01000000 0810000000000000",
	    "i1000 E1002 i1002 X1002 i1006 i1000 E1002 i1002 X1002 i1006 i1008");
	if (dump)
		return;
	f.flags = 0;
	unit(&f, 1);
	CHECK("an unannounced switch out", strcmp(run(100, EV_EXIT), "not loaded") == 0);
	b[2].cc = 0;
	unit(&f, 1);
	buf_free(&events);
	ev_bytes(ENTER "0100 00000000 0000000000000000");
	got = run(100, EV_SIGNAL);
	CHECK("a loop that a signal ended does not go on for ever", strlen(got) < (FEED_GRACE + 2) * 6 + 10);
	CHECK("but for a while, without an error", strlen(got) > FEED_GRACE * 6 - 10 && !strchr(got, '!'));
	t1[0].block = 2;
	b[1].nstep = b[2].nstep = 0;
	t2[0].block = 1;
	unit(&f, 1);
	CHECK("a cycle without instructions is refused", strcmp(run(100, EV_EXIT), "not loaded") == 0);
}

/* main lands exceptions of an unknown call, outer those of its call of plain, which lands none */
static void
exceptions(void)
{
	struct op_step m0[] = {INST(1), STEP(SO_SUB, .w = 8, .dst = RSP, .a = VAR(RSP), .b = IMM(16)), INST(1),
	    STEP(SO_CALLX, .n = 0)};
	struct op_step back[] = {INST(1), STEP(SO_LOAD, .n = 8, .m = ADDR(RSP, 0))},
	    pad[] = {INST(1), STEP(SO_LOAD, .n = 8, .m = ADDR(RSP, 8))};
	struct op_step p0[] = {INST(1), STEP(SO_CALLX, .n = 0), INST(1)};
	struct op_step o0[] = {INST(1), STEP(SO_SUB, .w = 8, .dst = RSP, .a = VAR(RSP), .b = IMM(8)), INST(1),
	    STEP(SO_CALL, .sym = 1)};
	struct sch_succ go[] = {{1, 0, NULL}, {2, 0, NULL}};
	struct sch_block mb[] = {BLOCK(0, m0, .term = ST_LANDING, .nsucc = 2, .succ = go),
	    BLOCK(2, back, .term = ST_RETURN), BLOCK(0x10, pad, .term = ST_RETURN)};
	struct sch_block pb[] = {BLOCK(0, p0, .term = ST_RETURN)};
	struct sch_block ob[] = {BLOCK(0, o0, .term = ST_LANDING, .nsucc = 2, .succ = go),
	    BLOCK(2, back, .term = ST_RETURN), BLOCK(0x10, pad, .term = ST_RETURN)};
	struct sch_block none[] = {BLOCK(0, back, .term = ST_LANDING, .nsucc = 2, .succ = go),
	    BLOCK(2, back, .term = ST_RETURN), BLOCK(0x10, pad, .term = ST_RETURN)};
	struct sch_frag fr[] = {{0, 0, 99}, {0, 0x100, 9}, {0, 0x200, 99}};
	struct sch_func f[] = {FUNC(name, 0, fr, mb), FUNC(name, 0, fr + 1, pb), FUNC(name, 0, fr + 2, ob)};

	unit(f, 3);
	expect("a call that returns, where exceptions would land", EV_EXIT, ENTER "0100 00", "i1000 i1001 i1002 l7ff0");
	expect("an exception lands", EV_EXIT, ENTER "0100 ff f07f000000000000 ffff", "i1000 i1001 i1010 l7ff8");
	expect("arguments are popped on the way", EV_EXIT, ENTER "0100 ff f87f000000000000 ffff", "i1000 i1001 i1010 l8000");
	expect("through a frame that lands none", EV_EXIT, ENTER "0100 0200 ff f07f000000000000 ffff",
	    "i1000 i1001 i1100 i1010 l7ff8");
	expect("out of a known call", EV_EXIT, ENTER "0300 ff f87f000000000000 ffff", "i1200 i1201 i1100 i1210 l8000");
	expect("past frames that would land others", EV_EXIT, ENTER "0100 0300 0100 ff f07f000000000000 ffff",
	    "i1000 i1001 i1200 i1201 i1100 i1000 i1001 i1010 l7ff8");
	expect("after it, functions return to where they were called", EV_EXIT,
	    ENTER "0100 fe 0070000000000000 0300 ff f86f000000000000 ffff 00",
	    "i1000 i1001 i1200 i1201 i1100 i1210 l7000 i1002 l7ff0");
	expect("into a frame that lands none", EV_EXIT, ENTER "0200 ff f07f000000000000 ffff",
	    "i1100 ! no frame to unwind to");
	expect("above the frame", EV_EXIT, ENTER "0100 ff 0880000000000000 ffff", "i1000 i1001 ! no frame to unwind to");
	f[0].block = none;
	unit(f, 3);
	CHECK("exceptions of no call are refused", strcmp(run(100, EV_EXIT), "not loaded") == 0);
}

static void
refused(void)
{
	struct op_step call[] = {STEP(SO_CALL, .sym = 0)},
	    two[] = {INST(1), STEP(SO_CALLJ, .n = 1), STEP(SO_CALLJ, .n = 1)};
	struct op_step inst[] = {INST(1)};
	struct sch_block b[] = {BLOCK(0, call, .term = ST_RETURN)}, c[] = {BLOCK(0, two, .term = ST_RETURN)};
	struct sch_block t[] = {BLOCK(0, inst, .term = ST_TAILX)}, deep[] = {BLOCK(0, inst, .term = ST_TAIL)};
	struct sch_succ go[] = {{1, 0, NULL}};
	struct sch_block bare[] = {{.nsucc = 1, .succ = go}, {.term = ST_TAIL}};
	struct op_step rec[] = {INST(1), STEP(SO_CALL, .sym = 0)};
	struct sch_block r[] = {BLOCK(0, rec, .term = ST_RETURN)};
	struct sch_frag fr = {0, 0, 99};
	struct sch_func f = FUNC(name, SF_SETJMP, &fr, b);

	buf_free(&events);
	ev_bytes(ENTER "0100");
	unit(&f, 1);
	CHECK("a call without an instruction", strcmp(run(100, EV_EXIT), "not loaded") == 0);
	f.block = c;
	unit(&f, 1);
	CHECK("a setjmp site twice", strcmp(run(100, EV_EXIT), "not loaded") == 0);
	f.block = t;
	unit(&f, 1);
	CHECK("an unannounced jump out", strcmp(run(100, EV_EXIT), "not loaded") == 0);
	f.block = bare;
	f.nblock = 2;
	unit(&f, 1);
	CHECK("a jump to a function without an instruction", strcmp(run(100, EV_EXIT), "not loaded") == 0);
	f.nblock = 1;
	f.block = deep;
	unit(&f, 1);
	CHECK("jumps from function to function for ever, after a signal", strlen(run(100, EV_SIGNAL)) > 1000);
	f.block = r;
	unit(&f, 1);
	CHECK("recursion for ever, after a signal", strlen(run(100, EV_SIGNAL)) > 1000);
}

#define WORD_ENTER "fe =8000 "

/* What calls() and landings() have, without a return address on the stack */
static void
word_calls(void)
{
	const int sp = mach->sp;
	struct op_step m0[] = {INST(4), STEP(SO_LEA, .w = 4, .dst = sp, .m = ADDR(sp, -32)),
	    STEP(SO_STORE, .n = 4, .m = ADDR(sp, 28)),
		INST(4), STEP(SO_MOV, .w = 4, .dst = 4, .a = IMM(0x4000)), STEP(SO_CALL, .sym = 1), INST(4),
		    STEP(SO_CALLX, .n = 0),
		INST(4), STEP(SO_LOAD, .n = 4, .m = ADDR(sp, 28))};
	struct op_step g0[] = {INST(4), STEP(SO_LOAD, .n = 4, .m = ADDR(4, 0)),
	    STEP(SO_LOAD, .n = 4, .m = ADDR(sp, 0))};
	struct op_step j0[] = {INST(4), STEP(SO_CALLJ, .n = 0x107), INST(4)},
	    j1[] = {INST(4), STEP(SO_CALLX, .n = 0)}, j2[] = {INST(8)};
	struct sch_succ go[] = {{1, 0, NULL}, {2, 0, NULL}};
	struct sch_block mb[] = {BLOCK(0, m0, .term = ST_RETURN)}, gb[] = {BLOCK(0, g0, .term = ST_TAILX)};
	struct sch_block jb[] = {BLOCK(0, j0, .term = ST_BRANCH, .nsucc = 2, .succ = go),
	    BLOCK(8, j1, .term = ST_NONE), BLOCK(12, j2, .term = ST_RETURN)};
	struct sch_frag fr[] = {{0, 0, 99}, {0, 0x100, 99}, {0, 0x200, 99}};
	struct sch_func f[] = {FUNC(name, 0, fr, mb), FUNC(name, SF_TAILOUT, fr + 1, gb),
	    FUNC(name, SF_SETJMP, fr + 2, jb)};
	uint16_t need = 4;

	f[1].nneed = 1;
	f[1].need = &need;
	unit(f, 3);
	expect("a known call pushes nothing; after its jump, an unknown one", EV_EXIT,
	    WORD_ENTER "0100  0200 =4400 00  0200 =5000 00",
	    "i1000 s7ffc i1004 i1100 l4000 l7fe0 i1100 l4400 l7fe0 i1008 i1100 l5000 l7fe0 i100c l7ffc");
	expect("a callback", EV_EXIT, WORD_ENTER "0100 00  fe =7000 0200 =4400 00",
	    "i1000 s7ffc i1004 i1100 l4000 l7fe0 i1008 i1100 l4400 l7000 i100c l7ffc");
	expect("unwinding", EV_EXIT, WORD_ENTER "0100 00 fe =7000 0100 00 fd =7fe0 00",
	    "i1000 s7ffc i1004 i1100 l4000 l7fe0 i1008 i1000 s6ffc i1004 i1100 l4000 l6fe0 i1008 i100c "
	    "l7ffc");
	expect("unwinding to nowhere", EV_EXIT, WORD_ENTER "0100 00 fd =7ffc",
	    "i1000 s7ffc i1004 i1100 l4000 l7fe0 i1008 ! no frame to unwind to");
	expect("setjmp, longjmp", EV_EXIT, WORD_ENTER "0300 ff =8000 :107 01 ff =8000 :107 00",
	    "i1200 i1204 i1208 i1204 i120c");
	expect("longjmp to another site", EV_EXIT, WORD_ENTER "0300 ff =8000 :107 01 ff =8000 :701",
	    "i1200 i1204 i1208 ! no frame to unwind to");
	expect("no stack pointer", EV_EXIT, "0100", " ! a function is entered without a stack pointer");
	expect("a stack pointer cut off", EV_EXIT, "fe 0000", " ! the events end inside a function");
}

static void
word_values(void)
{
#define SEE2 STEP(SO_LOAD, .n = 1, .m = ADDR(2, 0))
	struct op_step s[] = {
		INST(4), STEP(SO_UNKNOWN, .w = 4, .dst = 2), SEE2,
		    STEP(SO_UNKNOWN, .w = 4, .cc = 1, .dst = 2), SEE2,
		STEP(SO_UNKNOWN, .w = 4, .cc = 3, .dst = 2), SEE2, STEP(SO_UNKNOWN, .w = 2, .dst = 2), SEE2,
		STEP(SO_UNKNOWN, .w = 2, .cc = 3, .dst = 2), SEE2,
		    STEP(SO_UNKNOWN, .w = 2, .cc = 2, .dst = 2), SEE2,
		STEP(SO_UNKNOWN, .w = 1, .dst = 2), SEE2, STEP(SO_UNKNOWN, .w = 1, .cc = 3, .dst = 2), SEE2,
		STEP(SO_ADD, .w = 4, .dst = 2, .a = VAR(2), .b = IMM(-4)), SEE2,
		STEP(SO_LOADRO, .w = 4, .n = 2, .cc = 1, .dst = 2,
		    .m = {.base = SCH_NOVAR, .index = SCH_NOVAR, .scale = 1, .sym = 0, .disp = 0x4002}), SEE2,
		STEP(SO_LOADRO, .w = 8, .n = 8, .dst = 2,
		    .m = {.base = SCH_NOVAR, .index = SCH_NOVAR, .scale = 1, .align = 1, .sym = 0,
		    .disp = 0x4003}),
		STEP(SO_SHR, .w = 8, .dst = 2, .a = VAR(2), .b = IMM(24)), SEE2,
		STEP(SO_MOV, .w = 4, .dst = 2, .a = IMM(0x1003)),
		STEP(SO_LOAD, .n = 4, .m = {.base = 2, .index = SCH_NOVAR, .scale = 1, .align = 1,
		    .sym = SCH_NOSYM, .disp = 2}),
		STEP(SO_STORE, .n = 4, .m = {.base = 2, .index = SCH_NOVAR, .scale = 1, .align = 1, .sym = 0,
		    .disp = -4}),
		STEP(SO_STORE, .n = 4, .m = {.base = SCH_NOVAR, .index = SCH_NOVAR, .scale = 1, .align = 1,
		    .sym = 0, .disp = 7}),
		STEP(SO_LEA, .w = 4, .dst = 3,
		    .m = {.base = 2, .index = SCH_NOVAR, .scale = 1, .align = 1, .sym = SCH_NOSYM,
		    .disp = -1}),
		STEP(SO_LOAD, .n = 1, .m = ADDR(3, 0)),
		STEP(SO_LEA, .w = 4, .dst = 3,
		    .m = {.base = SCH_NOVAR, .index = SCH_NOVAR, .scale = 1, .fs = 1, .sym = SCH_NOSYM,
		    .disp = -0x10}),
		STEP(SO_LOAD, .n = 1, .m = ADDR(3, 0)),
		STEP(SO_MOV, .w = 8, .dst = 2, .a = IMM(0x123456789)),
		    STEP(SO_FLAGS_SUB, .w = 4, .a = IMM(1), .b = IMM(2)),
		STEP(SO_SETCC, .w = 4, .cc = SC_LT, .dst = 2), SEE2,
		STEP(SO_MOV, .w = 8, .dst = 2, .a = IMM(0x123456789)),
		    STEP(SO_SETCC, .w = 8, .cc = SC_GT, .dst = 2), SEE2,
		STEP(SO_MOV, .w = 8, .dst = 2, .a = IMM(0x123456789)),
		    STEP(SO_SETCC, .w = 1, .cc = SC_LTU, .dst = 2), SEE2,
	};
	struct sch_block b[] = {BLOCK(0, s, .term = ST_RETURN)};
	struct sch_frag fr = {0, 0, 99};
	struct sch_func f = FUNC(name, 0, &fr, b);
	char want[256];

	unit(&f, 1);
	snprintf(want, sizeof want, "i1000 l12345678 lffffffff80000000 l80000000 l8001 lffff8001 lffff1234 "
	    "lfe lfffffffe lfffffffa "
	    "%s l1004 s1ffc s1004 l1000 l30 l1 l0 l123456701", mach->big ? "lffffff80 lfeffff8001" :
	    "lffff80ff l403020180");
	expect("values", EV_EXIT, WORD_ENTER "0100 ;12345678 ;80000000 ;80000000 :8001 :8001 :1234 fe fe",
	    want);
}

#define LATE " ! the events end inside a function"

/*
 * Figure 2 of the paper: numbers of a byte before the targets of the conditional branch; the stack
 * pointer is recorded
 */
static void
targets(void)
{
	struct op_step s0[] = {INST(4), STEP(SO_UNKNOWN, .w = mach->word, .dst = mach->sp),
	    STEP(SO_UNKNOWN, .w = 4, .dst = 8)}, s2[] = {INST(4)};
	struct op_step s1[] = {INST(4), STEP(SO_STORE, .n = 4, .m = ADDR(8, 0)),
	    STEP(SO_ADD, .w = 4, .dst = 8, .a = VAR(8), .b = IMM(4)), INST(4)};
	struct op_step s3[] = {INST(4), STEP(SO_LOAD, .n = 4, .m = ADDR(mach->sp, 8))};
	struct sch_loopev in[] = {{SL_ENTER, 0}}, back[] = {{SL_BACK, 0}}, out[] = {{SL_EXIT, 0}};
	struct sch_succ t0[] = {{2, 1, in}}, t1[] = {{2, 1, back}},
	    t2[] = {{1, 0, NULL}, {3, 1, out}, {3, 0, NULL}};
	struct sch_block b[] = {BLOCK(0, s0, .term = ST_JUMP, .nsucc = 1, .succ = t0),
		BLOCK(8, s1, .mark = 1, .term = ST_JUMP, .nsucc = 1, .succ = t1),
		    BLOCK(16, s2, .term = ST_TARGET, .nsucc = 3, .succ = t2),
		BLOCK(20, s3, .mark = 1, .term = ST_RETURN)};
	struct sch_loop lo = {2, -1};
	struct sch_frag fr = {0, 0, 99};
	struct sch_func f = FUNC(name, 0, &fr, b);

	f.nloop = 1;
	f.loop = &lo;
	unit(&f, 1);
	expect("numbers of a byte", EV_EXIT, WORD_ENTER "0100 =7f00 ;2000 01 01 03",
	    "i1000 E1010 i1010 i1008 s2000 i100c B1010 i1010 i1008 s2004 i100c B1010 i1010 X1010 i1014 "
	    "l7f08");
	expect("a number of another block", EV_EXIT, WORD_ENTER "0100 =7f00 ;2000 01 02",
	    "i1000 E1010 i1010 i1008 s2000 i100c B1010 i1010 ! the number of no block that control may go to "
	    "here");
	expect("no number", EV_EXIT, WORD_ENTER "0100 =7f00 ;2000 01",
	    "i1000 E1010 i1010 i1008 s2000 i100c B1010 i1010" LATE);
	expect("a value cut off", EV_STOPPED, WORD_ENTER "0100 =7f00 00",
	    "i1000 ! recording stopped here, before the run ended");
	if (!dump && mach->word == 4) {
		const uint64_t *n = counts(WORD_ENTER "0100 =7f00 ;2000 01 01 03");

		CHECK("counted", n[RK_BLOCK] == 3 && n[RK_VALUE] == 8 && n[RK_ITEM] == 7 && !n[RK_NEED] &&
		    !n[RK_BRANCH] && !n[RK_STRING]);
		n = counts(WORD_ENTER "0100 =7f00 ;2000 01 01");
		CHECK("only what is there is counted", n[RK_BLOCK] == 2 && n[RK_VALUE] == 8 &&
		    n[RK_ITEM] == 7);
	}
}

/* Numbers of two bytes, come to by every kind of edge */
static void
marks(void)
{
	struct op_step s0[] = {INST(4), STEP(SO_UNKNOWN, .w = 1, .dst = 9),
	    STEP(SO_FLAGS_SUB, .w = 4, .a = VAR(9), .b = IMM(1))};
	struct op_step one[] = {INST(4)}, s2[] = {INST(4), STEP(SO_UNKNOWN, .w = 4, .dst = 10)};
	struct sch_loopev back[] = {{SL_BACK, 0}}, out[] = {{SL_EXIT, 0}};
	struct sch_succ t0[] = {{1, 0, NULL}, {2, 1, out}}, t1[] = {{0, 1, back}, {3, 0, NULL}},
	    t2[] = {{1, 0, NULL}, {3, 0, NULL}};
	struct sch_succ t3[] = {{0, 1, back}, {4, 0, NULL}}, t4[] = {{5, 0, NULL}};
	struct sch_block b[] = {BLOCK(0, s0, .mark = 2, .term = ST_COND, .cc = SC_EQ, .nsucc = 2, .succ = t0),
		BLOCK(8, one, .mark = 2, .term = ST_BRANCH, .nsucc = 2, .succ = t1),
		BLOCK(16, s2, .mark = 2, .term = ST_SWITCH, .target = VAR(10), .nsucc = 2, .succ = t2),
		BLOCK(24, one, .mark = 2, .term = ST_TARGET, .nsucc = 2, .succ = t3),
		    BLOCK(32, one, .mark = 2, .term = ST_JUMP, .nsucc = 1, .succ = t4),
		BLOCK(40, one, .mark = 1, .term = ST_RETURN)};
	struct sch_loop lo = {0, -1};
	struct sch_frag fr = {0, 0, 99};
	struct sch_func f = FUNC(name, 0, &fr, b);

	f.nloop = 1;
	f.loop = &lo;
	unit(&f, 1);
	expect("numbers of two bytes", EV_EXIT,
	    WORD_ENTER "0100 :0 01 :1 01 :0 02 :2 ;1008 :1 00 :3 :0 01 :1 00 :3 :4 05",
	    "i1000 i1008 B1000 i1000 X1000 i1010 i1008 i1018 B1000 i1000 i1008 i1018 i1020 i1028");
	expect("the number of another block, at the entry", EV_EXIT, WORD_ENTER "0100 :1",
	    " ! the number of another block than control comes to");
	expect("behind a jump", EV_EXIT, WORD_ENTER "0100 :0 01 :1 00 :3 :4 04",
	    "i1000 i1008 i1018 i1020 ! the number of another block than control comes to");
	expect("behind a condition", EV_EXIT, WORD_ENTER "0100 :0 02 :1",
	    "i1000 X1000 ! the number of another block than control comes to");
	expect("in the other byte order", EV_EXIT, WORD_ENTER "0100 :0 01 :100",
	    "i1000 ! the number of another block than control comes to");
	expect("a number of no target", EV_EXIT, WORD_ENTER "0100 :0 01 :1 00 :3 :1",
	    "i1000 i1008 i1018 ! the number of no block that control may go to here");
	expect("half a number", EV_EXIT, WORD_ENTER "0100 :0 01 :1 00 :3 00", "i1000 i1008 i1018" LATE);
	expect("the same after a signal", EV_SIGNAL, WORD_ENTER "0100 :0 01 :1 00 :3 00",
	    "i1000 i1008 i1018");
}

/* Programs of more than one machine, events of another one */
static void
mixed(void)
{
	struct op_step one[] = {INST(4)};
	struct sch_block b[] = {BLOCK(0, one, .term = ST_RETURN)};
	struct sch_frag fr = {0, 0, 99};
	struct sch_func f = FUNC(name, 0, &fr, b);
	struct buf first = BUF_INIT;
	unsigned good = 1;

	buf_free(&events);
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		mach = machines;
		unit(&f, 1);
		buf_free(&first);
		buf_add(&first, schema.p, schema.n);
		mach = machines + i;
		unit(&f, 1);
		buf_add(&schema, first.p, first.n);
		good &= (strcmp(run(100, EV_EXIT), "not loaded") == 0) == (i != 0);
	}
	CHECK("all units are for one machine", good);
	buf_free(&first);
	mach = machines + 1;
	unit(&f, 1);
	theirs = EM_X86_64;
	CHECK("events of another machine", strcmp(run(100, EV_EXIT),
	    " ! events of an x86-64 program, but the executable is for MIPS") == 0);
	mach = machines;
	unit(&f, 1);
	theirs = EM_MIPS;
	CHECK("the other way round", strcmp(run(100, EV_EXIT),
	    " ! events of a MIPS program, but the executable is for x86-64") == 0);
	theirs = 40;
	CHECK("one without a name", strcmp(run(100, EV_EXIT),
	    " ! events of a machine 40 program, but the executable is for x86-64") == 0);
	theirs = 0;
}

int
main(int argc, char **argv)
{
	dump = argc > 1 && strcmp(argv[1], "dump") == 0;
	calls();
	landings();
	values();
	strings();
	loops();
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		mach = machines + i;
		if (!dump)
			printf("# machine %u, words of %u bytes, %s first\n", mach->number, mach->word,
			    mach->big ? "high" : "low");
		if (mach->push == 0) {
			word_calls();
			word_values();
		}
		targets();
		marks();
	}
	mach = machines;
	if (dump)
		return 0;
	exceptions();
	refused();
	mixed();
	buf_free(&schema);
	buf_free(&fn);
	buf_free(&events);
	return check_end();
}
