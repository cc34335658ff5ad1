/*
 * The x86-64 lifter, and the computations that regeneration makes of what it says.
 *
 *   x86test                facts of some instructions, in words
 *   x86test run SEED N     N random instructions, each run by this processor: registers, memory,
 *   conditions and
 *                          control must be what the effects say; and again with all else changed that is
 *                          not read
 *   x86test lengths SEED N the lengths of N random instructions, found without decoding them
 *   x86test names          the forms, each with how often its value and its conditions were known
 */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <Zydis/Zydis.h>

#include "../check.h"
#include "../random.h"
#include "base/bytes.h"
#include "ae/regen/code.h"
#include "isa/x86/decode.h"
#include "isa/x86/length.h"
#include "isa/x86/lift.h"
#define EFF_NREG X86_NREG
#define EFF_WORD 8
#include "effects.h"

#define AREA  0x20000000u       /* what instructions refer to, and the states around them */
#define NAREA 0x4000u
#define MEM   (AREA + 0x2000)   /* random bytes: a case's memory is here */
#define NMEM  0x400u
#define CODE  0x20100000u
#define RSP_HERE (MEM + NMEM / 2)

/* The states, in memory at AREA */
struct area { uint64_t in[16], out[16], flags, flags_out, host, taken; };
#define AT(field) (AREA + (uint32_t)offsetof(struct area, field))

struct form { const char *name; uint8_t op[3]; uint8_t n, modrm; uint8_t rep; };
#include "x86forms.h"

struct xcase {
	uint8_t b[15];
	uint64_t in[16];
	unsigned a, c, w;       /* the flags are those of a compared with c in width w (these are small) */
	uint64_t flags;
	uint8_t mem[NMEM];
	struct insn insn;
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t field[2];
	const struct form *form;
};

struct result { uint64_t r[16], flags; int taken; uint8_t mem[NMEM]; };

static struct area *const area = (struct area *)(uintptr_t)AREA;
static uint8_t *const memory = (uint8_t *)(uintptr_t)MEM;
static uint8_t *const code = (uint8_t *)(uintptr_t)CODE;
static sigjmp_buf fault;

static uint64_t
random_value(void)
{
	static const uint64_t some[] = {
		0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
		    UINT64_C(0x7fffffffffffffff),
		UINT64_C(0x8000000000000000), UINT64_MAX, UINT64_C(0xffffffff80000000), 31, 32, 33, 63, 64
	};

	switch (rnd() % 4) {
	case 0: return some[rnd() % (sizeof some / sizeof some[0])];
	case 1: return rnd() >> rnd() % 64;
	default: return rnd();
	}
}

static const char *
lift(const uint8_t *p, struct insn *in)
{
	static const uint8_t rel[15];

	return x86_lift(p, 15, rel, in);
}

/* Running one */

static uint8_t *
absolute(uint8_t *p, unsigned op, int r, uint32_t at)
{
	*p++ = (uint8_t)(0x48 | (r & 8) >> 1);
	*p++ = (uint8_t)op;
	*p++ = (uint8_t)(4 | (r & 7) << 3);     /* [disp32], no base */
	*p++ = 0x25;
	put_le32(p, at);
	return p + 4;
}

static uint8_t *
stack_flags(uint8_t *p, int push, uint32_t at)
{
	static const uint8_t in[] = { 0xff, 0x34, 0x25 }, out[] = { 0x9c, 0x8f, 0x04, 0x25 };

	memcpy(p, push ? in : out, push ? 3 : 4);
	p += push ? 3 : 4;
	put_le32(p, at);
	p += 4;
	if (push)
		*p++ = 0x9d;
	return p;
}

/* Code around b, with its purpose in front; returns b's first byte. Not taken: the mark after it is set. */
static uint8_t *
around(const uint8_t *b, unsigned len)
{
	static const uint8_t save[] = { 0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57 };
	static const uint8_t back[] = { 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3 };
	static const uint8_t mark[] = { 0xc6, 0x04, 0x25 };
	uint8_t *p = code, *at;
	int r;

	memcpy(p, save, sizeof save);
	p = absolute(p + sizeof save, 0x89, X86_RSP, AT(host));
	p = stack_flags(p, 1, AT(flags));
	for (r = 0; r < 16; r++)
		p = absolute(p, 0x8b, r, AT(in[r]));
	at = p;
	memcpy(p, b, len);
	p += len;
	memcpy(p, mark, sizeof mark);
	put_le32(p + 3, AT(taken));
	p[7] = 0;
	p += 8;
	for (r = 0; r < 16; r++)
		p = absolute(p, 0x89, r, AT(out[r]));
	p = absolute(p, 0x8b, X86_RSP, AT(host));
	p = stack_flags(p, 0, AT(flags_out));
	*p++ = 0xfc;    /* cld */
	memcpy(p, back, sizeof back);
	return at;
}

/* Addresses of instructions of forms; control goes to the code after the mark. */
static uint32_t
where(void)
{
	static const uint8_t none[1];

	return CODE + (uint32_t)(around(none, 1) - code);
}

static void
on_fault(int sig)
{
	siglongjmp(fault, sig);
}

/* 0, or the signal that it got */
static int
execute(const struct xcase *c, struct result *res)
{
	int sig;

	memcpy(area->in, c->in, sizeof c->in);
	memcpy(memory, c->mem, NMEM);
	area->flags = c->flags;
	area->taken = 1;
	around(c->b, c->insn.len);
	sig = sigsetjmp(fault, 1);
	if (!sig)
		((void (*)(void))(uintptr_t)CODE)();
	memcpy(res->r, area->out, sizeof res->r);
	memcpy(res->mem, memory, NMEM);
	res->flags = area->flags_out;
	res->taken = (area->taken & 0xff) != 0;
	return sig;
}

/* Making one */

#define CF 1u
#define PF 4u
#define AF 16u
#define ZF 64u
#define SF 128u
#define OF 2048u
#define ALLF (CF | PF | AF | ZF | SF | OF)

/* Flags after a compare of bytes a and c, by the book */
static uint64_t
compared(unsigned a, unsigned c)
{
	unsigned d = (a - c) & 255;
	uint64_t f = 0x202 | (uint64_t)((a ^ c ^ d) & AF);

	f |= a < c ? CF : 0;
	f |= d == 0 ? ZF : 0;
	f |= d & 128 ? SF : 0;
	f |= (a ^ c) & (a ^ d) & 128 ? OF : 0;
	f |= __builtin_parity(d) ? 0 : PF;
	return f;
}

static int
reg_of(ZydisRegister r)
{
	ZydisRegister full = r == ZYDIS_REGISTER_NONE ? r :
	    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	return full >= ZYDIS_REGISTER_RAX && full <= ZYDIS_REGISTER_R15 ? (int)(full - ZYDIS_REGISTER_RAX) :
	    -1;
}

/* Let memory operand o be at `at` or a little before; where it is, 0: nowhere */
static uint32_t
point(struct xcase *c, const ZydisDecodedOperand *o, uint32_t at)
{
	uint64_t disp = (uint64_t)(o->mem.disp.has_displacement ? o->mem.disp.value : 0), v,
	    scale = o->mem.scale;
	int b = reg_of(o->mem.base), x = reg_of(o->mem.index);
	/* leave's is not */
	int narrow = c->z.address_width == 32 && o->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT;

	if (o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP || (b < 0 && x < 0)) {
		if (c->z.raw.disp.size != 32)
			return 0;
		put_le32(c->b + c->z.raw.disp.offset, o->mem.base == ZYDIS_REGISTER_NONE ? at :
		    at - (where() + c->z.length));
		return at;
	}
	if (b == x)
		return 0;
	if (b < 0) {
		at -= (uint32_t)(at - disp) & (uint32_t)(scale - 1);
		v = (uint64_t)((int64_t)(narrow ? (uint32_t)(at - disp) : at - disp) / (int64_t)scale);
		b = x;
	} else
		v = at - disp - (x < 0 ? 0 : c->in[x] * scale);
	c->in[b] = narrow ? (v & 0xffffffff) | (c->in[b] & 0xffffffff00000000u) : v;
	return at;
}

/* The registers, so that what is referred to is in the memory, and control goes where it can */
static int
place(struct xcase *c)
{
	uint32_t at = MEM + 64 + (uint32_t)(rnd() % (NMEM - 128)), target = where() + c->z.length + 8;
	int ctl = c->insn.ctl, i;

	c->in[X86_RSP] = RSP_HERE + rnd() % 64;
	for (i = 0; i < c->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &c->op[i];
		int hidden = o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN))
			continue;
		if (hidden && reg_of(o->mem.base) == X86_RSP)
			continue;
		/* where the stack is, too, it must be in the memory */
		if ((at = point(c, o, at)) == 0 ||
		    (reg_of(o->mem.base) == X86_RSP && c->z.operand_count > c->z.operand_count_visible + 1))
			return 0;
		at += hidden ? 32 + (uint32_t)(rnd() % 32) : 0;
		if (ctl && o->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
			put_le64(c->mem + (at - MEM), target);
		if (at < MEM + 16 || at > MEM + NMEM - 96)
			at = MEM + 256;
	}
	if (c->insn.rep)
		c->in[X86_RCX] = rnd() % 5;
	if (ctl == IC_RETURN)
		put_le64(c->mem + (c->in[X86_RSP] - MEM), target);
	if (c->insn.setsdst == 1) {
		if (c->insn.tgt == X86_RSP)
			return 0;
		c->in[c->insn.tgt] = target;
	}
	return 1;
}

/* The bytes of a form */
static void
encode(struct xcase *c, const struct form *f)
{
	unsigned n = 0, i, rex = (unsigned)rnd();

	for (i = 0; i < 15; i++)
		c->b[i] = (uint8_t)rnd();
	if (rnd() % 16 == 0)
		c->b[n++] = 0x67;
	if (rnd() % 4 == 0)
		c->b[n++] = 0x66;
	if (f->rep && rnd() % 2)
		c->b[n++] = rnd() % 2 ? 0xf2 : 0xf3;
	if (rex & 0x300)
		c->b[n++] = (uint8_t)(0x40 | (rex & 15));
	memcpy(c->b + n, f->op, f->n);
	if (f->modrm < 8)
		c->b[n + f->n] = (uint8_t)((c->b[n + f->n] & 0xc7) | f->modrm << 3);
	else if (f->modrm == 16)        /* an opcode with a register in it */
		c->b[n + f->n - 1] |= rnd() & 7;
	else if (f->modrm == 32)        /* ... a condition */
		c->b[n + f->n - 1] |= rnd() & 15;
}

/* A displacement of a jump or call: to the code after the mark. */
static void
aim(struct xcase *c)
{
	const ZydisDecodedOperand *o = &c->op[0];

	if (o->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !o->imm.is_relative)
		return;
	memset(c->b + c->z.raw.imm[0].offset, 0, c->z.raw.imm[0].size / 8);
	c->b[c->z.raw.imm[0].offset] = 8;
}

static int
decode(struct xcase *c)
{
	return x86_decode(&c->z, c->op, c->b, sizeof c->b, 0) == 0;
}

/* A case of form f; 0: its random bytes are none that is lifted and can be run */
static int
make(struct xcase *c, const struct form *f)
{
	unsigned i;

	memset(c, 0, sizeof *c);
	c->form = f;
	encode(c, f);
	if (!decode(c))
		return 0;
	aim(c);
	if (lift(c->b, &c->insn) || !decode(c))
		return 0;
	/* the makers of processors do not agree how far that goes */
	if (c->insn.ctl && c->z.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE)
		return 0;
	for (i = 0; i < 16; i++)
		c->in[i] = random_value();
	if (c->z.operand_count > 1 && rnd() % 8 == 0 && reg_of(c->op[0].reg.value) >= 0 &&
	    reg_of(c->op[1].reg.value) >= 0)
		c->in[reg_of(c->op[1].reg.value)] = c->in[reg_of(c->op[0].reg.value)];
	for (i = 0; i < NMEM; i += 8)
		put_le64(c->mem + i, random_value());
	c->a = rnd() & 255;
	c->c = rnd() % 4 ? rnd() & 255 : c->a;
	c->flags = compared(c->a, c->c);
	if (!place(c) || lift(c->b, &c->insn))
		return 0;
	for (i = 0; i < c->insn.nfield; i++)
		if (c->insn.field[i].rip)       /* one that the linker fills: here, the displacement */
			c->field[i] = where() + c->insn.len +
			    (uint64_t)(int64_t)(int32_t)get_le32(c->b + c->insn.field[i].off);
	return 1;
}

/* Comparing */

#include "x86eval.h"

static int
run(uint64_t seed, unsigned n, int names)
{
	static const char *const what[] = { "registers", "memory", "conditions", "control",
	    "what results depend on", "facts fit together", "faults" };
	unsigned bad[7] = { 0 }, i, k, tries, ran = 0;
	unsigned long known = 0, conditions = 0;
	struct xcase *c = calloc(2, sizeof *c);
	struct result *r = calloc(2, sizeof *r);

	rnd_state = seed * 0x9e3779b97f4a7c15u + 1;
	for (i = 0; c && r && i < NFORMS; i++) {
		const struct form *f = &forms[i];
		struct tally t = { 0, 0 };
		unsigned done = 0;

		for (tries = 0; done < n / NFORMS && tries < 40 * (n / NFORMS); tries++) {
			unsigned m;

			if (!make(c, f))
				continue;
			done++;
			m = check_pair(c, r, &t);
			for (k = 0; k < 7; k++)
				if (m >> k & 1 && bad[k]++ < 5) {
					printf("# %s, %s:", what[k], f->name);
					show(c);
				}
		}
		if (done < n / NFORMS)
			printf("# %s: only %u\n", f->name, done);
		CHECK(f->name, done == n / NFORMS);
		if (names)
			printf("# %s: %u, %lu values, %lu conditions\n", f->name, done, t.values,
			    t.conditions);
		known += t.values;
		conditions += t.conditions;
		ran += done;
	}
	for (k = 0; k < 7; k++) {
		if (bad[k])
			printf("# %s: %u of %u\n", what[k], bad[k], ran);
		CHECK(what[k], bad[k] == 0);
	}
	printf("# %u instructions, %lu values and %lu conditions compared, seed %llu\n", ran, known,
	    conditions, (unsigned long long)seed);
	CHECK("values and conditions were compared", known > ran / 2 && conditions > ran);
	free(c);
	free(r);
	return check_end();
}

static int
facts(void)
{
	size_t i;

	/* the lifter has no narrow rotates by a register, schemas may */
	CHECK("rotates of one byte by more than its bits", (code_alu(SO_ROL, 1, 0, 0xf81, 9) & 255) == 0x03
	    && (code_alu(SO_ROR, 1, 0, 0xf81, 9) & 255) == 0xc0 &&
	    (code_alu(SO_ROL, 1, 0, 0x81, 16) & 255) == 0x81);
	for (i = 0; i < sizeof table / sizeof table[0]; i++) {
		uint8_t b[15] = { 0 };
		struct insn in;
		const char *why, *got;

		memcpy(b, table[i].b, table[i].n);
		why = lift(b, &in);
		got = say_insn(&in, why);
		if (strcmp(got, table[i].facts) != 0)
			printf("# got:  %s\n# want: %s\n", got, table[i].facts);
		CHECK(table[i].name, strcmp(got, table[i].facts) == 0 && (why || in.len == table[i].n));
	}
	return check_end();
}

/* Random bytes, most of them an instruction: how many are there. */
static size_t
make_bytes(uint8_t b[32])
{
	static const uint8_t prefix[] = { 0x66, 0xf3, 0xf2, 0xf0, 0x2e, 0x3e, 0x64, 0x65, 0x26, 0x36 },
	    vector[] = { 0xc4, 0xc5, 0x62 };
	unsigned n = (unsigned)rnd_below(8), at = 0;

	for (unsigned i = 0; i < 32; i++)
		b[i] = (uint8_t)rnd_below(256);
	for (n = n < 5 ? 0 : n - 4; n; n--)
		b[at++] = prefix[rnd_below(sizeof prefix)];
	if (!rnd_below(8)) {
		b[at] = vector[rnd_below(sizeof vector)];
	} else {
		if (!rnd_below(3))
			b[at++] = (uint8_t)(0x40 | rnd_below(16));
		if (rnd_below(2))
			b[at] = 0x0f;
	}
	return rnd_below(10) ? 16 : 1 + rnd_below(15);
}

static int
lengths(unsigned total)
{
	unsigned valid = 0, known = 0, bad = 0;

	for (unsigned i = 0; i < total; i++) {
		ZydisDecodedInstruction z;
		uint8_t b[32];
		int assumed = 0, amd = (int)(i & 1);
		size_t n = make_bytes(b);
		unsigned length = x86_length(b, n, &assumed);
		int err = x86_decode(&z, NULL, b, n, amd);

		valid += !err;
		known += !err && length;
		if (length && (err ? !assumed : z.length != length) && bad++ < 5)
			printf("# %u, decoded as %s %u: %02x %02x %02x %02x %02x %02x %02x %02x\n", length,
			    amd ? "AMD's" : "Intel's", err ? 0u : z.length, b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]);
	}
	printf("# %u instructions, %u lengths known\n", valid, known);
	CHECK("lengths are those of decoded instructions", bad == 0);
	CHECK("most are known", known > valid / 2);
	return check_end();
}

int
main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_fault, .sa_flags = SA_ONSTACK };
	stack_t ss = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	int sigs[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
	size_t i;

	if (argc == 1)
		return facts();
	if (!strcmp(argv[1], "lengths")) {
		rnd_state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
		return lengths(argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1000000);
	}
	if (!ss.ss_sp || sigaltstack(&ss, NULL) != 0
	    || mmap(area, NAREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
	    -1, 0) != (void *)area
	    || mmap(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)code) {
		puts("not ok 1 - memory for the instructions");
		return 1;
	}
	for (i = 0; i < sizeof sigs / sizeof sigs[0]; i++)
		sigaction(sigs[i], &sa, NULL);
	return run(argc > 2 ? strtoull(argv[2], NULL, 10) : 1, argc > 3 ?
	    (unsigned)strtoul(argv[3], NULL, 10) : 40000, !strcmp(argv[1], "names"));
}
