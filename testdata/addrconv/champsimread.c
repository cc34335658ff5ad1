/*
 * champsimread TRACE [REFS [HANDLER]]: what ChampSim understands of a trace, from its documentation alone: the
 * kinds of branches by the registers that they read and write.
 *
 * Without REFS it prints a line for each record: ip, kind and whether it is taken, destination and
 * source registers. With REFS, the output of ws2addr -f text for the same run, it compares the two
 * (instructions, addresses, the next instruction of each branch), and prints what differs, then how
 * many instructions, records and branches of each kind there are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIRECT, INDIRECT, CONDITIONAL, CALL, CALL_INDIRECT, RETURN, OTHER, NONE, KINDS };
static const char *const name[KINDS] = { "jump", "indirect-jump", "conditional", "call", "indirect-call", "return",
	"other", "none" };

struct rec {
	uint64_t ip, dst[2], src[4];
	uint8_t branch, taken, wr[2], rd[4];
};

static uint64_t
le64(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 8; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

static int
get(FILE *f, struct rec *r)
{
	uint8_t b[64];
	size_t n = fread(b, 1, sizeof b, f);

	if (n == 0)
		return 0;
	if (n != sizeof b) {
		printf("half a record\n");
		exit(1);
	}
	r->ip = le64(b);
	r->branch = b[8];
	r->taken = b[9];
	memcpy(r->wr, b + 10, 2);
	memcpy(r->rd, b + 12, 4);
	for (int i = 0; i < 2; i++)
		r->dst[i] = le64(b + 16 + 8 * i);
	for (int i = 0; i < 4; i++)
		r->src[i] = le64(b + 32 + 8 * i);
	return 1;
}

/* The table of ChampSim: registers 6, 25 and 26 are the stack pointer, the flags, the instruction pointer. */
static int
kind(const struct rec *r)
{
	int writes_sp = 0, writes_ip = 0, reads_sp = 0, reads_flags = 0, reads_ip = 0, reads_other = 0;

	for (int i = 0; i < 2; i++) {
		writes_sp |= r->wr[i] == 6;
		writes_ip |= r->wr[i] == 26;
	}
	for (int i = 0; i < 4; i++) {
		reads_sp |= r->rd[i] == 6;
		reads_flags |= r->rd[i] == 25;
		reads_ip |= r->rd[i] == 26;
		reads_other |= r->rd[i] && r->rd[i] != 6 && r->rd[i] != 25 && r->rd[i] != 26;
	}
	if (!writes_ip)
		return NONE;
	if (!reads_sp && !reads_flags && !reads_other)
		return DIRECT;
	if (!reads_sp && !reads_ip && !reads_flags && reads_other)
		return INDIRECT;
	if (!reads_sp && reads_ip && !writes_sp && (reads_flags || reads_other))
		return CONDITIONAL;
	if (reads_sp && reads_ip && writes_sp && !reads_flags)
		return reads_other ? CALL_INDIRECT : CALL;
	if (reads_sp && !reads_ip && writes_sp)
		return RETURN;
	return OTHER;
}

static void
print(FILE *f)
{
	struct rec r;

	while (get(f, &r))
		printf("%" PRIx64 " %s %d, %d %d, %d %d %d %d\n", r.ip, name[kind(&r)], r.taken, r.wr[0], r.wr[1],
		    r.rd[0], r.rd[1], r.rd[2], r.rd[3]);
}

struct check {
	FILE *f, *refs;
	struct rec r;
	unsigned ns, nd;        /* addresses of r that were compared */
	uint64_t ninsn, nrec, size, bad, count[KINDS];
	int have;
	uint64_t handler;
};

static void
differs(struct check *c, const char *what, uint64_t a, uint64_t b)
{
	if (c->bad++ < 5)
		printf("instruction %" PRIu64 " at %" PRIx64 ": %s: %" PRIx64 ", not %" PRIx64 "\n", c->ninsn, c->r.ip,
		    what, a, b);
}

static void
next(struct check *c)
{
	if (c->have && ((c->ns < 4 && c->r.src[c->ns]) || (c->nd < 2 && c->r.dst[c->nd])))
		differs(c, "an address too many", c->r.src[0], c->r.dst[0]);
	c->have = get(c->f, &c->r);
	c->ns = c->nd = 0;
	c->nrec += (uint64_t)c->have;
}

/* The instruction after that of c->r is at pc. */
static void
followed(struct check *c, const struct rec *r, uint64_t pc)
{
	int k = kind(r);

	c->count[k]++;
	if (r->branch != (k != NONE))
		differs(c, "is_branch", r->branch, k != NONE);
	if (pc && pc != c->handler && k == CONDITIONAL && r->taken != (pc != r->ip + c->size))
		differs(c, "taken", r->taken, pc);
	if (k != CONDITIONAL && r->taken != (k != NONE))
		differs(c, "taken", r->taken, k != NONE);
}

static void
address(struct check *c, uint64_t addr, int write)
{
	uint64_t ip = c->r.ip, got;

	if (write ? c->nd == 2 : c->ns == 4)
		next(c);
	got = write ? c->r.dst[c->nd++] : c->r.src[c->ns++];
	if (got != addr)
		differs(c, write ? "store" : "load", got, addr);
	if (c->r.ip != ip)
		differs(c, "continued at", c->r.ip, ip);
}

static void
compare(struct check *c)
{
	char line[100], what[20];
	uint64_t addr;
	unsigned size;

	while (fgets(line, sizeof line, c->refs) && sscanf(line, "%19s %" SCNx64 " %u", what, &addr, &size) == 3) {
		if (strcmp(what, "inst") == 0) {
			struct rec last = c->r;

			next(c);
			if (c->ninsn++)
				followed(c, &last, addr);
			if (!c->have || c->r.ip != addr) {
				differs(c, "ip", c->have ? c->r.ip : 0, addr);
				return;
			}
			c->size = size;
			continue;
		}
		if (strcmp(what, "store") != 0)
			address(c, addr, 0);
		if (strcmp(what, "load") != 0)
			address(c, addr, 1);
	}
	if (c->ninsn)
		followed(c, &c->r, 0);
	next(c);
	if (c->have)
		differs(c, "a record too many", c->r.ip, 0);
}

int
main(int argc, char **argv)
{
	struct check c = { .f = strcmp(argv[1], "-") == 0 ? stdin : fopen(argv[1], "r") };

	if (!c.f || (argc > 2 && !(c.refs = fopen(argv[2], "r"))))
		return 2;
	c.handler = argc > 3 ? strtoull(argv[3], NULL, 16) : 0;
	if (!c.refs) {
		print(c.f);
		return 0;
	}
	compare(&c);
	printf("instructions %" PRIu64 "\nrecords %" PRIu64 "\n", c.ninsn, c.nrec);
	for (int i = 0; i < KINDS; i++)
		printf("%s %" PRIu64 "\n", name[i], c.count[i]);
	return c.bad != 0;
}
