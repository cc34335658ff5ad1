/*
 * The interpreter on programs made by hand: calls, run sequences, unwinding,
 * string instructions, values; and schemas that must be refused.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "engine/regen/regen.h"
#include "format/ref.h"

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

/* `regentest dump`: write unit N as uN.schema and uN.fn, and its event files uN.M.ae, for a test of aec */
static int dump;
static unsigned nunit, nevents;

static void
save(const struct buf *b, const char *suffix, unsigned m)
{
	char path[64];
	FILE *f;

	if (m)
		snprintf(path, sizeof path, "u%u.%u.%s", nunit, m, suffix);
	else
		snprintf(path, sizeof path, "u%u.%s", nunit, suffix);
	f = fopen(path, "wb");
	if (!f || fwrite(b->p, 1, b->n, f) != b->n || fclose(f) != 0)
		exit(1);
}

static void
unit(struct sch_func *f, uint32_t n)
{
	struct sch_unit u = {src, 16, RSP, n, f, 1, cst, 0, NULL, NULL};
	size_t len;
	uint8_t *e = sch_encode(&u, &len);

	buf_free(&schema);
	buf_free(&fn);
	buf_str(&schema, "AESC");
	buf_le32(&schema, SCH_VERSION);
	buf_le32(&schema, (uint32_t)(24 + len));
	buf_le32(&schema, 1);
	buf_le64(&schema, cst[0]);
	buf_add(&schema, e, len);
	free(e);
	for (uint32_t i = 0; i < n; i++) {
		buf_le64(&fn, cst[0] + f[i].frag[0].off);
		buf_le64(&fn, 0);
		buf_le64(&fn, 0);
	}
	nunit++;
	nevents = 0;
	if (dump) {
		save(&schema, "schema", 0);
		save(&fn, "fn", 0);
	}
}

static void
record(struct buf *b, const char *magic, const uint8_t *p, size_t n)
{
	buf_add(b, magic, 4);
	buf_le32(b, (uint32_t)n);
	buf_le64(b, ev_checksum(p, n));
	buf_add(b, p, n);
}

/* Pieces of `size` bytes: the window may end anywhere */
static void
file(struct buf *out, const struct buf *ev, size_t size, unsigned reason)
{
	uint8_t end[EV_ENDLEN] = {0};

	buf_str(out, EV_MAGIC);
	buf_le32(out, EV_VERSION);
	buf_le32(out, EV_HEADMIN);
	for (int i = 16; i < EV_HEADMIN - 8; i++)
		buf_u8(out, i == 56 ? 64 : 0);  /* fs base */
	buf_le64(out, ev_checksum(out->p, EV_HEADMIN - 8));
	for (size_t i = 0; i < ev->n; i += size)
		record(out, "AEch", ev->p + i, ev->n - i < size ? ev->n - i : size);
	put_le32(end, reason);
	put_le64(end + 8, ev->n);
	record(out, "AEnd", end, EV_ENDLEN);
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
	if (addr != 0x5000 || n > 8)
		return 0;
	memcpy(buf, "\xfe\xff\xff\x80\1\2\3\4", n);
	return 1;
}

static int
load(struct prog *g)
{
	struct prog_source s = {schema.p, schema.n, fn.p, fn.n, NULL, rodata, NULL};

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
	if (load(&g) != 0 || !(r = regen_new(&g, &err))) {
		unlink(path);
		prog_free(&g);
		return err ? err : "not loaded";
	}
	if (feed_open(&feed, regen_state(r), path, NULL, NULL, 0) == 0) {
		feed.sink = collect;
		feed.sinkarg = &text;
		regen_run(r, &feed);
	}
	if (feed.err)
		buf_printf(&text, " ! %s", feed.err);
	buf_u8(&text, 0);
	feed_close(&feed);
	regen_free(r);
	prog_free(&g);
	unlink(path);
	return (char *)text.p;
}

static void
ev_bytes(const char *hex)
{
	for (; *hex; hex++) {
		unsigned v;

		if (*hex == ' ')
			continue;
		sscanf(hex, "%2x", &v);
		buf_u8(&events, (uint8_t)v);
		hex++;
	}
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
		save(&f, "ae", ++nevents);
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
	struct sch_step m0[] = {INST(1), STEP(SO_STORE, .n = 8, .m = ADDR(RSP, -8)), STEP(SO_SUB, .w = 8, .dst = RSP, .a = VAR(RSP), .b = IMM(8)),
		INST(5), STEP(SO_STORE, .n = 8, .m = ADDR(RSP, -8)), STEP(SO_CALL, .sym = 1),
		INST(2), STEP(SO_STORE, .n = 8, .m = ADDR(RSP, -8)), STEP(SO_CALLX, .n = 0), INST(1), STEP(SO_LOAD, .n = 8, .m = ADDR(RSP, 0))};
	struct sch_step g0[] = {INST(3)}, h0[] = {INST(1), STEP(SO_LOAD, .n = 8, .m = ADDR(RSP, 0)), STEP(SO_LOAD, .n = 4, .m = ADDR(RDI, 0))};
	struct sch_block mb[] = {BLOCK(0, m0, .term = ST_RETURN)}, gb[] = {BLOCK(0, g0, .term = ST_TAILX)}, hb[] = {BLOCK(0, h0, .term = ST_RETURN)};
	struct sch_frag fr[] = {{0, 0, 99}, {0, 0x100, 9}, {0, 0x200, 9}};
	struct sch_func f[] = {FUNC(name, 0, fr, mb), FUNC(name, SF_TAILOUT, fr + 1, gb), FUNC(name, 0, fr + 2, hb)};
	uint16_t rdi = RDI;

	f[2].nneed = 1;
	f[2].need = &rdi;
	unit(f, 3);
	expect("jump to an unknown function, then an unknown call", EV_EXIT,
	    ENTER "0100  0300 0040000000000000 00  0300 0050000000000000 00",
	    "i1000 s7ff8 i1001 s7ff0 i1100 i1200 l7ff0 l4000 i1006 s7ff0 i1200 l7ff0 l5000 i1008 l7ff8");
	expect("untraced callees, a callback", EV_EXIT, ENTER "0100  00  fe 0070000000000000 0300 0040000000000000 00",
	    "i1000 s7ff8 i1001 s7ff0 i1100 i1006 s7ff0 i1200 l7000 l4000 i1008 l7ff8");
	expect("the end: exit in a call", EV_EXIT, ENTER "0100 00", "i1000 s7ff8 i1001 s7ff0 i1100 i1006 s7ff0");
	expect("the end of the events inside a function", EV_EXIT, ENTER "0100 00 fe 0070000000000000 0300 0040",
	    "i1000 s7ff8 i1001 s7ff0 i1100 i1006 s7ff0 ! the events end inside a function");
	expect("the same when recording stopped", EV_STOPPED, ENTER "0100 00 fe 0070000000000000 0300 0040",
	    "i1000 s7ff8 i1001 s7ff0 i1100 i1006 s7ff0");
	expect("unwinding to the unknown call", EV_EXIT, ENTER "0100 00 fe 0070000000000000 0100 00 fd f87f000000000000 00",
	    "i1000 s7ff8 i1001 s7ff0 i1100 i1006 s7ff0 i1000 s6ff8 i1001 s6ff0 i1100 i1006 s6ff0 i1008 l7ff8");
	expect("unwinding to nowhere", EV_EXIT, ENTER "0100 00 fd 0000000000000000",
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
	struct sch_step s0[] = {INST(5), STEP(SO_MOV, .w = 8, .dst = RBX, .a = IMM(0x900)), STEP(SO_CALLJ, .n = 7), INST(3)};
	struct sch_step s1[] = {INST(5), STEP(SO_ADD, .w = 8, .dst = RBX, .a = VAR(RBX), .b = IMM(16)), STEP(SO_CALLX, .n = 0)};
	struct sch_step s2[] = {INST(1), STEP(SO_LOAD, .n = 8, .m = ADDR(RBX, 0)), STEP(SO_LOAD, .n = 8, .m = ADDR(RSP, 0))};
	struct sch_succ go[] = {{1, 0, NULL}, {2, 0, NULL}};
	struct sch_block b[] = {BLOCK(0, s0, .term = ST_BRANCH, .nsucc = 2, .succ = go), BLOCK(8, s1, .term = ST_NONE),
		BLOCK(13, s2, .term = ST_RETURN)};
	struct sch_frag fr = {0, 0, 99};
	struct sch_func f = FUNC(name, SF_SETJMP, &fr, b);

	unit(&f, 1);
	expect("setjmp, longjmp", EV_EXIT, ENTER "0100 ff 0080000000000000 0700 01 ff 0080000000000000 0700 00",
	    "i1000 i1005 i1008 i1005 i100d l910 l8000");
	expect("longjmp from a deeper frame", EV_EXIT,
	    ENTER "0100 ff 0080000000000000 0700 01 fe 0070000000000000 0100 ff 0070000000000000 0700 01 ff 0080000000000000 0700 00",
	    "i1000 i1005 i1008 i1000 i1005 i1008 i1005 i100d l910 l8000");
	expect("longjmp to a frame that is gone", EV_EXIT, ENTER "0100 ff 0080000000000000 0700 01 ff 0070000000000000 0700 00",
	    "i1000 i1005 i1008 ! no frame to unwind to");
	expect("a call that does not return", EV_EXIT, ENTER "0100 ff 0080000000000000 0700 01 00",
	    "i1000 i1005 i1008 ! a function returns that cannot");
	expect("setjmp that returns", EV_EXIT, ENTER "0100 00", "i1000 ! setjmp returns as other functions do");
	expect("a bad branch", EV_EXIT, ENTER "0100 ff 0080000000000000 0700 02", "i1000 i1005 ! neither 0 nor 1 for a branch");
}

/* Values in all widths, seen as addresses */
static void
values(void)
{
#define SEE STEP(SO_LOAD, .n = 1, .m = ADDR(RAX, 0))
	struct sch_step s[] = {
		INST(1), STEP(SO_MOV, .w = 8, .dst = RAX, .a = IMM(0x1122334455)), STEP(SO_MOV, .w = 1, .dst = RAX, .a = IMM(-1)), SEE,
		STEP(SO_MOV, .w = 2, .dst = RAX, .a = IMM(0x12345)), SEE, STEP(SO_MOV, .w = 4, .dst = RAX, .a = IMM(-2)), SEE,
		STEP(SO_SAR, .w = 4, .dst = RAX, .a = VAR(RAX), .b = IMM(33)), SEE,
		STEP(SO_SHR, .w = 4, .dst = RAX, .a = VAR(RAX), .b = IMM(28)), SEE,
		STEP(SO_ROR, .w = 2, .dst = RAX, .a = VAR(RAX), .b = IMM(17)), SEE,
		STEP(SO_ROL, .w = 1, .dst = RAX, .a = IMM(0x81), .b = IMM(4)), SEE,
		STEP(SO_BSWAP, .w = 4, .dst = RAX, .a = VAR(RAX)), SEE, STEP(SO_NOT, .w = 1, .dst = RAX, .a = VAR(RAX)), SEE,
		STEP(SO_NEG, .w = 4, .dst = RAX, .a = VAR(RAX)), SEE, STEP(SO_SEXT, .w = 2, .n = 1, .dst = RAX, .a = IMM(0x80)), SEE,
		STEP(SO_ZEXT, .w = 4, .n = 2, .dst = RAX, .a = VAR(RAX)), SEE,
		STEP(SO_MUL, .w = 4, .dst = RAX, .a = VAR(RAX), .b = IMM(0x10001)), SEE,
		STEP(SO_FLAGS_SUB, .w = 1, .a = IMM(0x180), .b = IMM(0x7f)), STEP(SO_SETCC, .w = 1, .cc = SC_LT, .dst = RAX), SEE,
		STEP(SO_SETCC, .w = 1, .cc = SC_LTU, .dst = RAX), SEE, STEP(SO_SETCC, .w = 1, .cc = SC_NEG, .dst = RAX), SEE,
		STEP(SO_FLAGS_AND, .w = 4, .a = IMM(6), .b = IMM(9)), STEP(SO_CMOV, .w = 4, .cc = SC_EQ, .dst = RAX, .a = IMM(0x777)), SEE,
		STEP(SO_CMOV, .w = 8, .cc = SC_NE, .dst = RAX, .a = IMM(0x888)), SEE,
		STEP(SO_LOADRO, .w = 8, .n = 4, .cc = 1, .dst = RAX, .m = {.base = SCH_NOVAR, .index = SCH_NOVAR, .scale = 1, .sym = 0, .disp = 0x4000}), SEE,
		STEP(SO_LOADRO, .w = 4, .n = 2, .dst = RAX, .m = {.base = SCH_NOVAR, .index = SCH_NOVAR, .scale = 1, .sym = 0, .disp = 0x4000}), SEE,
		STEP(SO_UNKNOWN, .w = 1, .cc = 1, .dst = RAX), SEE, STEP(SO_UNKNOWN, .w = 2, .cc = 3, .dst = RAX), SEE,
		STEP(SO_UNKNOWN, .w = 2, .cc = 2, .dst = RAX), SEE, STEP(SO_UNKNOWN, .w = 4, .dst = RAX), SEE,
		STEP(SO_LOAD, .n = 2, .m = {.base = RAX, .index = RAX, .scale = 8, .fs = 1, .narrow = 1, .sym = SCH_NOSYM, .disp = -1}),
		STEP(SO_LEA, .w = 4, .dst = RAX, .m = {.base = RAX, .index = RAX, .scale = 2, .sym = 0, .disp = -1}), SEE,
	};
	struct sch_block b[] = {BLOCK(0, s, .term = ST_RETURN)};
	struct sch_frag fr = {0, 0, 99};
	struct sch_func f = FUNC(name, 0, &fr, b);

	unit(&f, 1);
	expect("values", EV_EXIT, ENTER "0100 80 0080 3412 00000080",
	    "i1000 l11223344ff l1122332345 lfffffffe lffffffff lf l8007 l8018 l18800000 l188000ff le77fff01 le77fff80 "
	    "lff80 lff80ff80 lff80ff01 lff80ff00 lff80ff00 l777 l777 lffffffff80fffffe lfffe lffffffffffffff80 lffff8000 "
	    "lffff1234 l80000000 l8000003f l80000fff");
}

/* rep movs of 2, repe cmps stopped at the second of 3 elements, repne scas that runs out, rep of nothing */
static void
strings(void)
{
	struct sch_step s[] = {
		STEP(SO_MOV, .w = 8, .dst = RCX, .a = IMM(2)), STEP(SO_MOV, .w = 8, .dst = RSI, .a = IMM(0x2000)),
		STEP(SO_MOV, .w = 8, .dst = RDI, .a = IMM(0x3000)), STEP(SO_REP, .n = 3, .w = 8, .cc = SR_MOVS),
		INST(1), STEP(SO_MOV, .w = 8, .dst = RCX, .a = IMM(3)), STEP(SO_REP, .n = 2, .w = 1, .cc = SR_CMPS),
		STEP(SO_REP, .n = 2, .w = 2, .cc = SR_SCAS), STEP(SO_REP, .n = 2, .w = 4, .cc = SR_STOS),
	};
	struct sch_block b[] = {BLOCK(0, s, .term = ST_RETURN)};
	struct sch_frag fr = {0, 0, 99};
	struct sch_func f = FUNC(name, 0, &fr, b);

	unit(&f, 1);
	expect("string instructions", EV_EXIT, ENTER "0100 0100000000000000 01 0000000000000000 00",
	    "i1000 l2000 s3000 i1000 l2008 s3008 i1000 i1003 i1004 l3010 l2010 i1004 l3011 l2011 i1006 l3012 i1006 i1008");
	expect("one that stops at its last element", EV_EXIT, ENTER "0100 0000000000000000 01 0000000000000000 01",
	    "i1000 l2000 s3000 i1000 l2008 s3008 i1000 i1003 i1004 l3010 l2010 i1004 l3011 l2011 i1004 l3012 l2012 i1006 i1008");
	expect("one that goes back", EV_EXIT, ENTER "0100 0400000000000000 00",
	    "i1000 l2000 s3000 i1000 l2008 s3008 i1000 i1003 ! a string instruction that goes back");
}

/* A counted loop without events, a switch */
static void
loops(void)
{
	struct sch_step s0[] = {INST(2), STEP(SO_UNKNOWN, .w = 4, .dst = RAX), STEP(SO_UNKNOWN, .w = 8, .dst = RDX)};
	struct sch_step s1[] = {INST(4), STEP(SO_SUB, .w = 4, .dst = RAX, .a = VAR(RAX), .b = IMM(1)), STEP(SO_FLAGS_RES, .w = 4, .a = VAR(RAX))};
	struct sch_step s2[] = {INST(2)}, s3[] = {INST(1)};
	struct sch_loopev in[] = {{SL_ENTER, 0}}, back[] = {{SL_BACK, 0}}, out[] = {{SL_EXIT, 0}};
	struct sch_succ t0[] = {{1, 1, in}}, t1[] = {{1, 1, back}, {2, 1, out}}, t2[] = {{3, 0, NULL}, {0, 0, NULL}};
	struct sch_block b[] = {BLOCK(0, s0, .term = ST_JUMP, .nsucc = 1, .succ = t0),
		BLOCK(2, s1, .term = ST_COND, .cc = SC_NE, .nsucc = 2, .succ = t1),
		BLOCK(6, s2, .term = ST_SWITCH, .target = VAR(RDX), .nsucc = 2, .succ = t2), BLOCK(8, s3, .term = ST_RETURN)};
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
	expect("a switch out of the function", EV_EXIT, ENTER "0100 01000000 0910000000000000 0100 01000000 0810000000000000",
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

static void
refused(void)
{
	struct sch_step call[] = {STEP(SO_CALL, .sym = 0)}, two[] = {INST(1), STEP(SO_CALLJ, .n = 1), STEP(SO_CALLJ, .n = 1)};
	struct sch_step inst[] = {INST(1)};
	struct sch_block b[] = {BLOCK(0, call, .term = ST_RETURN)}, c[] = {BLOCK(0, two, .term = ST_RETURN)};
	struct sch_block t[] = {BLOCK(0, inst, .term = ST_TAILX)}, deep[] = {BLOCK(0, inst, .term = ST_TAIL)};
	struct sch_step rec[] = {INST(1), STEP(SO_CALL, .sym = 0)};
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
	f.block = deep;
	unit(&f, 1);
	CHECK("jumps from function to function for ever, after a signal", strlen(run(100, EV_SIGNAL)) > 1000);
	f.block = r;
	unit(&f, 1);
	CHECK("recursion for ever, after a signal", strlen(run(100, EV_SIGNAL)) > 1000);
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
	if (dump)
		return 0;
	refused();
	buf_free(&schema);
	buf_free(&fn);
	buf_free(&events);
	return check_end();
}
