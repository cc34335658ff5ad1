/*
 * cvpread [-b] TRACE [REFS [HANDLER]]: reads a trace of CVP-1, or -b of CBP 2025, from the definition of the formats.
 *
 * Without REFS it prints a line for each record: address, class, access, branch, registers that are read, and those
 * that are written with their values. With REFS, the output of ws2addr -f text for the same run, it compares the
 * accesses and the sequence of instructions, and prints what differs. It also executes the trace: each load of up
 * to 8 bytes must have the value that a general register had when it was stored there, as far as that is known; then
 * it prints how many records there are of each class, and how many loads had a known value.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const name[12] = { "alu", "load", "store", "cond", "jump", "jump-ind", "fp", "slow", "undef", "call",
	"call-ind", "return" };
enum { LOAD = 1, STORE, COND, JUMP, JUMP_IND, SLOW = 7, CALL = 9, RETURN = 11, FLAGS = 64, CELLS = 1 << 22 };

struct rec {
	uint64_t pc, ea, target, v[256][2];
	unsigned class, size, base, offset, taken, nin, nout;
	uint8_t in[256], out[256];
};

static int cbp;
static uint64_t bad, count[12], known;

static uint64_t
le(FILE *f, int n)
{
	uint64_t v = 0;

	for (int i = 0, c; i < n; i++) {
		if ((c = getc(f)) == EOF) {
			printf("half a record\n");
			exit(1);
		}
		v |= (uint64_t)c << 8 * i;
	}
	return v;
}

static int
is_branch(const struct rec *r)
{
	return (r->class >= COND && r->class <= JUMP_IND) || r->class >= CALL;
}

static int
get(FILE *f, struct rec *r)
{
	int c = getc(f);

	if (c == EOF)
		return 0;
	ungetc(c, f);
	memset(r, 0, offsetof(struct rec, in));
	r->pc = le(f, 8);
	r->class = (unsigned)le(f, 1);
	if (r->class >= (cbp ? 12 : 8) || r->class == 8) {
		printf("class %u\n", r->class);
		exit(1);
	}
	if (r->class == LOAD || r->class == STORE) {
		r->ea = le(f, 8);
		r->size = (unsigned)le(f, 1);
		r->base = cbp ? (unsigned)le(f, 1) : 0;
		r->offset = cbp && r->class == STORE ? (unsigned)le(f, 1) : 0;
	}
	if (is_branch(r) && (r->taken = (unsigned)le(f, 1)) != 0)
		r->target = le(f, 8);
	r->nin = (unsigned)le(f, 1);
	for (unsigned i = 0; i < r->nin; i++)
		r->in[i] = (uint8_t)le(f, 1);
	r->nout = (unsigned)le(f, 1);
	for (unsigned i = 0; i < r->nout; i++)
		r->out[i] = (uint8_t)le(f, 1);
	for (unsigned i = 0; i < r->nout; i++) {
		r->v[i][0] = le(f, 8);
		r->v[i][1] = r->out[i] >= 32 && r->out[i] < 64 ? le(f, 8) : 0;
	}
	return 1;
}

static void
print(const struct rec *r)
{
	printf("%" PRIx64 " %s", r->pc, name[r->class]);
	if (r->size)
		printf(" [%" PRIx64 "]%u", r->ea, r->size);
	if (is_branch(r))
		printf(" %u %" PRIx64, r->taken, r->target);
	printf(" <");
	for (unsigned i = 0; i < r->nin; i++)
		printf(" %u", r->in[i]);
	printf(" >");
	for (unsigned i = 0; i < r->nout; i++) {
		printf(" %u=%" PRIx64, r->out[i], r->v[i][0]);
		if (r->out[i] >= 32 && r->out[i] < 64)
			printf(":%" PRIx64, r->v[i][1]);
	}
	printf("\n");
}

static void
differs(const struct rec *r, const char *what, uint64_t a, uint64_t b)
{
	if (bad++ < 5)
		printf("record %" PRIu64 " at %" PRIx64 ": %s: %" PRIx64 ", not %" PRIx64 "\n", count[8], r->pc, what, a, b);
}

/* Memory as far as it is known: a byte in a cell of a hash table, which may forget. */
static struct { uint64_t addr; uint8_t byte, epoch; } cell[CELLS];
static uint8_t epoch = 1;
static uint64_t regs[65], set[65];

static void
execute(const struct rec *r)
{
	unsigned data = r->nin ? r->in[r->nin - 1] : 0;
	uint64_t v = 0, have = 1;

	if (r->class == STORE) {
		have = r->nin && data < 32 && data != 4 && set[data] && r->size <= 8;
		for (unsigned i = 0; i < r->size; i++) {
			uint64_t h = (r->ea + i) * UINT64_C(0x9e3779b97f4a7c15) >> 42;

			cell[h].addr = r->ea + i;
			cell[h].epoch = have ? epoch : 0;
			cell[h].byte = (uint8_t)(i < 8 ? regs[data] >> 8 * i : 0);
		}
	}
	if (r->class == LOAD && r->size <= 8 && r->out[0] < 32) {
		for (unsigned i = 0; i < r->size && have; i++) {
			uint64_t h = (r->ea + i) * UINT64_C(0x9e3779b97f4a7c15) >> 42;

			have = cell[h].addr == r->ea + i && cell[h].epoch == epoch;
			v |= (uint64_t)cell[h].byte << 8 * i;
		}
		known += have;
		if (have && ((v ^ r->v[0][0]) & (r->size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * r->size) - 1)))
			differs(r, "the value that was stored", r->v[0][0], v);
	}
	if (r->class == LOAD && r->nout != 1)
		differs(r, "registers that a load defines", r->nout, 1);
	for (unsigned i = 0; i < r->nout; i++)
		if (r->out[i] <= FLAGS) {
			regs[r->out[i]] = r->v[i][0];
			set[r->out[i]] = 1;
		}
}

static void
forget(void)
{
	if (++epoch == 0) {
		memset(cell, 0, sizeof cell);
		epoch = 1;
	}
	memset(set, 0, sizeof set);
}

struct check {
	FILE *f;
	struct rec r;
	int have;
	uint64_t size, handler;
};

static void
next(struct check *c)
{
	c->have = get(c->f, &c->r);
	if (!c->have)
		return;
	count[c->r.class]++;
	count[8]++;
	execute(&c->r);
}

/* An access of the instruction at pc, which may have records without any before it. */
static void
access(struct check *c, uint64_t pc, unsigned class, uint64_t addr, unsigned size)
{
	while (c->have && c->r.pc == pc && c->r.class != LOAD && c->r.class != STORE)
		next(c);
	if (!c->have || c->r.pc != pc || c->r.class != class || c->r.ea != addr || c->r.size != size)
		differs(&c->r, "access", c->r.ea, addr);
	else
		next(c);
}

/* The branch was followed by the instruction at `to`. */
static void
followed(const struct rec *r, uint64_t to, uint64_t size)
{
	int taken = r->class != COND || to != r->pc + size;

	if (r->taken != (unsigned)taken)
		differs(r, "taken", r->taken, (unsigned)taken);
	/* a target 4 bytes on would look as if it was not taken */
	if (taken && r->target != (to == r->pc + 4 && r->class == COND ? r->pc + size : to))
		differs(r, "target", r->target, to);
}

/* The instruction at pc, of `size` bytes, ends; the next is at `to`. */
static void
end(struct check *c, uint64_t pc, uint64_t to, uint64_t size)
{
	int syscall = 0, branch = 0;

	while (c->have && c->r.pc == pc && c->r.class != LOAD && c->r.class != STORE && !branch) {
		syscall |= c->r.class == SLOW && c->r.nout == 3 && c->r.out[2] == 11;
		branch = is_branch(&c->r);
		if (branch && to && to != c->handler)
			followed(&c->r, to, size);
		next(c);
	}
	if (syscall || (to && to == c->handler))
		forget();
}

static void
compare(struct check *c, FILE *refs)
{
	char line[100], what[20];
	uint64_t addr, pc = 0;
	unsigned size;

	next(c);
	while (fgets(line, sizeof line, refs) && sscanf(line, "%19s %" SCNx64 " %u", what, &addr, &size) == 3 && bad < 5) {
		if (strcmp(what, "inst") == 0) {
			if (pc)
				end(c, pc, addr, c->size);
			pc = addr;
			c->size = size;
			continue;
		}
		if (strcmp(what, "store") != 0)
			access(c, pc, LOAD, addr, size);
		/* that a modify stores comes after what it computes */
		if (strcmp(what, "load") != 0)
			access(c, pc, STORE, addr, size);
	}
	end(c, pc, 0, 0);
	if (c->have)
		differs(&c->r, "a record too many", c->r.pc, pc);
}

int
main(int argc, char **argv)
{
	struct check c = { 0 };
	FILE *refs;

	if (argc > 1 && strcmp(argv[1], "-b") == 0) {
		cbp = 1;
		argc--;
		argv++;
	}
	c.f = argc > 1 ? strcmp(argv[1], "-") == 0 ? stdin : fopen(argv[1], "r") : NULL;
	if (!c.f)
		return 2;
	if (argc < 3) {
		while (get(c.f, &c.r))
			print(&c.r);
		return 0;
	}
	c.handler = argc > 3 ? strtoull(argv[3], NULL, 16) : 0;
	if (!(refs = fopen(argv[2], "r")))
		return 2;
	compare(&c, refs);
	for (int i = 0; i < 12; i++)
		printf("%s %" PRIu64 "\n", i == 8 ? "records" : name[i], count[i]);
	printf("known %" PRIu64 "\n", known);
	return bad != 0;
}
