/*
 * drmemread TRACE [REFERENCES]: reads a drmemtrace trace by the description of its records, checks that its control
 * flow is possible, and prints what is in it. REFERENCES is what `ws2addr -f text` prints of the same run: each
 * instruction must have loaded and stored from the same first byte to the same last byte.
 *
 * drmemread -c TRACE: the bytes of the code at each address, the last ones.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ, WRITE, INSTR = 10, JUMP, JUMP_IND, COND, CALL, CALL_IND, RETURN, THREAD = 22, THREAD_EXIT, PID, HEADER, FOOTER,
	MARKER = 28, NO_FETCH, ENCODING = 47, TAKEN, UNTAKEN };
enum { KERNEL_EVENT, KERNEL_XFER, TIMESTAMP, CPU, FILETYPE = 9, LINE, VERSION = 12, PAGE = 18, CHUNK = 20, SYSCALL = 25,
	TARGET = 29, SIGNAL = 40 };

struct rec { unsigned type, size; uint64_t v; };
struct span { uint64_t from, to; };             /* to 0: nothing */
struct insn { uint64_t pc; unsigned len; struct span load, store; };

/* The code at an address, in a table of chains. */
static struct code { uint64_t pc; uint8_t b[16]; unsigned n; struct code *next; } *code[1 << 16];

static FILE *in, *refs;
static uint64_t nrec;
static int failures, list;

/* What is known so far. */
static struct insn insn;                        /* the last instruction */
static int any;                                 /* is there one? */
static int jumps;                               /* may the next be anywhere? */
static uint64_t next, after;                    /* where it led; where it ends */
static int sys;                                 /* it is a system call whose number has not come yet */
static int have_target, ended, exited;
static uint64_t target, now, nload, nstore, ncode, count[64];
static uint8_t bytes[16];                       /* code of the next one */
static unsigned nbytes;

static const char *const name[] = { [INSTR] = "plain", [JUMP] = "jump", [JUMP_IND] = "indirect-jump", [CALL] = "call",
	[CALL_IND] = "indirect-call", [RETURN] = "return", [NO_FETCH] = "no-fetch", [TAKEN] = "taken", [UNTAKEN] = "untaken" };
#define NNAME (sizeof name / sizeof *name)

static void
bad(const char *what)
{
	if (failures++ < 10)
		printf("record %" PRIu64 ": %s\n", nrec, what);
}

static int
get(struct rec *r)
{
	uint8_t b[12];
	size_t n = fread(b, 1, sizeof b, in);

	if (n && n < sizeof b)
		bad("an incomplete record");
	if (n < sizeof b)
		return 0;
	nrec++;
	r->type = b[0] | b[1] << 8;
	r->size = b[2] | b[3] << 8;
	r->v = 0;
	for (int i = 11; i > 3; i--)
		r->v = r->v << 8 | b[i];
	return 1;
}

static struct code *
code_at(uint64_t pc)
{
	struct code **p = &code[pc & 0xffff];

	while (*p && (*p)->pc != pc)
		p = &(*p)->next;
	if (!*p && (*p = calloc(1, sizeof **p)) != NULL)
		(*p)->pc = pc;
	if (!*p)
		abort();
	return *p;
}

static void
widen(struct span *s, uint64_t addr, unsigned n)
{
	if (!s->to || addr < s->from)
		s->from = addr;
	if (addr + n > s->to)
		s->to = addr + n;
}

/* The next instruction of the references. A fetch of a string instruction only to find that it is done is left out. */
static int
reference(struct insn *i, int string)
{
	static char line[256];
	static int have;
	uint64_t addr, before;
	unsigned n;
	char kind[16];

	memset(&i->load, 0, sizeof i->load);
	memset(&i->store, 0, sizeof i->store);
again:
	if (!have && !fgets(line, sizeof line, refs))
		return 0;
	have = 0;
	if (sscanf(line, "%15s 0x%" SCNx64 " %u", kind, &addr, &n) != 3 || strcmp(kind, "inst") != 0)
		abort();
	before = i->pc;
	i->pc = addr;
	i->len = n;
	while (fgets(line, sizeof line, refs) != NULL) {
		if (sscanf(line, "%15s 0x%" SCNx64 " %u", kind, &addr, &n) != 3)
			abort();
		if (strcmp(kind, "inst") == 0) {
			have = 1;
			break;
		}
		if (strcmp(kind, "store") != 0)
			widen(&i->load, addr, n);
		if (strcmp(kind, "load") != 0)
			widen(&i->store, addr, n);
	}
	if (string && before == i->pc && !i->load.to && !i->store.to) {
		string = 0;
		if (!have)
			return 0;
		goto again;
	}
	return 1;
}

static int
same(struct span a, struct span b)
{
	return a.to == b.to && (!a.to || a.from == b.from);
}

static void
compare(const struct insn *i)
{
	static struct insn r;
	static int string;
	const struct code *c = code_at(i->pc);

	if (!reference(&r, string) || r.pc != i->pc || r.len != i->len || !same(r.load, i->load) || !same(r.store, i->store))
		bad("another instruction than in the references");
	/* a4 to a7, aa to af, after a prefix f2 or f3 */
	string = c->n > 1 && (c->b[0] == 0xf2 || c->b[0] == 0xf3) && ((c->b[c->n - 1] & 0xfc) == 0xa4 ||
	    (c->b[c->n - 1] >= 0xaa && c->b[c->n - 1] <= 0xaf));
}

static void
expect(unsigned type, unsigned size, uint64_t v, int any)
{
	struct rec r;

	if (!get(&r) || r.type != type || r.size != size || (!any && r.v != v))
		bad("not the record that belongs to the beginning");
}

static void
begin(void)
{
	expect(HEADER, 0, 5, 0);
	expect(MARKER, VERSION, 5, 0);
	expect(MARKER, FILETYPE, 0x40 | 0x200 | 0x400, 0);
	expect(THREAD, 4, 1, 0);
	expect(PID, 4, 1, 0);
	expect(MARKER, LINE, 64, 0);
	expect(MARKER, CHUNK, 0, 0);
	expect(MARKER, PAGE, 4096, 0);
	expect(MARKER, TIMESTAMP, 0, 1);
	expect(MARKER, CPU, UINT64_MAX, 0);
}

static void
marker(const struct rec *r)
{
	switch (r->size) {
	case TIMESTAMP:
		if (r->v < now)
			bad("an earlier time");
		now = r->v;
		break;
	case SYSCALL:
		if (!sys)
			bad("a system call's number after another instruction");
		sys = 0;
		if (!list)
			printf("syscall %" PRIu64 "\n", r->v);
		break;
	case TARGET:
		target = r->v;
		have_target = 1;
		break;
	case KERNEL_EVENT:
		if (any && !jumps && r->v != next)
			bad("a signal at a place where the program was not");
		jumps = 1;
		break;
	case KERNEL_XFER:
		if (r->v != after)
			bad("a return of a handler by another instruction");
		jumps = 1;
		break;
	case SIGNAL:
		if (!list)
			printf("signal %" PRIu64 "\n", r->v);
	}
}

static void
encoding(const struct rec *r)
{
	if (!r->size || r->size > 8 || nbytes + r->size > 15) {
		bad("impossible code");
		return;
	}
	for (unsigned k = 0; k < r->size; k++)
		bytes[nbytes++] = (uint8_t)(r->v >> 8 * k);
}

/* Where an instruction leads. Direct branches have 1 or 4 bytes, the last ones, for that. */
static void
leads(const struct rec *r, const uint8_t *end)
{
	next = after = r->v + r->size;
	if (r->type == JUMP || r->type == CALL || r->type == TAKEN)
		next += r->size < 5 ? (uint64_t)(int8_t)end[-1] : (uint64_t)(int32_t)((uint32_t)end[-4] |
		    (uint32_t)end[-3] << 8 | (uint32_t)end[-2] << 16 | (uint32_t)end[-1] << 24);
	if (have_target)
		next = target;
	have_target = jumps = 0;
}

static void
instruction(const struct rec *r)
{
	struct code *c = code_at(r->v);

	if (any && refs)
		compare(&insn);
	if (sys)
		bad("a system call without a number");
	count[r->type]++;
	if (nbytes) {
		if (c->n == nbytes && memcmp(c->b, bytes, nbytes) == 0)
			bad("code that is known");
		memcpy(c->b, bytes, nbytes);
		c->n = nbytes;
		nbytes = 0;
		ncode++;
	}
	if (c->n != r->size)
		bad("an instruction without code, or with that of another length");
	if (r->type == NO_FETCH ? r->v != insn.pc : any && !jumps && r->v != next)
		bad("an instruction where the one before it does not lead");
	if (have_target != (r->type == JUMP_IND || r->type == CALL_IND || r->type == RETURN))
		bad("a target of another instruction, or none");
	sys = r->size == 2 && memcmp(c->b, "\017\005", 2) == 0;
	insn = (struct insn){ .pc = r->v, .len = r->size };
	any = 1;
	leads(r, c->b + c->n);
}

/* How many references of ref(5) an access is: one of more than 255 bytes has pieces of 128, and the rest. */
static unsigned
pieces(unsigned size)
{
	return size > 255 ? 1 + (size - 255 + 127) / 128 : 1;
}

static void
record(const struct rec *r)
{
	if (ended || (exited && r->type != FOOTER))
		bad("a record after the end");
	switch (r->type) {
	case READ:
	case WRITE:
		if (!any || !r->size)
			bad("an access of no instruction, or of no bytes");
		widen(r->type == READ ? &insn.load : &insn.store, r->v, r->size);
		*(r->type == READ ? &nload : &nstore) += pieces(r->size);
		break;
	case ENCODING: encoding(r); break;
	case MARKER: marker(r); break;
	case THREAD_EXIT: exited = 1; break;
	case FOOTER: ended = 1; break;
	default:
		if (r->type < NNAME && name[r->type])
			instruction(r);
		else
			bad("an unknown record");
	}
}

static void
print(void)
{
	for (unsigned k = 0; list && k < sizeof code / sizeof *code; k++)
		for (struct code *c = code[k]; c; c = c->next) {
			printf("%" PRIx64 " ", c->pc);
			for (unsigned n = 0; n < c->n; n++)
				printf("%02x", c->b[n]);
			printf("\n");
		}
	for (unsigned k = 0; !list && k < NNAME; k++)
		if (name[k])
			printf("%s %" PRIu64 "\n", name[k], count[k]);
	if (!list)
		printf("code %" PRIu64 "\nload %" PRIu64 "\nstore %" PRIu64 "\n", ncode, nload, nstore);
}

int
main(int argc, char **argv)
{
	struct insn more;
	struct rec r;

	list = argc > 2 && strcmp(argv[1], "-c") == 0;
	in = argc > 1 ? fopen(argv[list ? 2 : 1], "rb") : NULL;
	refs = argc > 2 && !list ? fopen(argv[2], "r") : NULL;
	if (!in || (argc > 2 && !list && !refs))
		return 2;
	begin();
	while (get(&r))
		record(&r);
	if (any && refs) {
		compare(&insn);
		/* only the end of a string instruction can follow */
		more = insn;
		if (reference(&more, 1))
			bad("fewer instructions than references");
	}
	if (!ended || !exited)
		bad("no end");
	print();
	return failures != 0;
}
