/*
 * One-bit labels out of a log of valgrind's lackey, by another way than wetz:
 * archplain JUMPS HISTORY COUNTERS SIZE WAYS LINE [ID] <log
 * JUMPS is a file of addresses of conditional jumps.  What wetq arch says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, EXECUTIONS = 1 << 20 };

static struct insn { unsigned long pc, len; unsigned n; int kinds; unsigned char *bit[3]; } insn[MOST];
static unsigned long jump[MOST];
static struct way { unsigned long line, when; int full; } *cache;
static int *counter;
static unsigned ninsn, njump, history, counters, size, ways, line;
static unsigned long outcomes, now;

static struct insn *
at(unsigned long pc, unsigned long len)
{
	unsigned i;

	for (i = 0; i < ninsn && insn[i].pc != pc; i++)
		;
	if (i == ninsn) {
		insn[ninsn++] = (struct insn){ .pc = pc, .len = len };
		for (int k = 0; k < 3; k++)
			insn[i].bit[k] = calloc(EXECUTIONS, 1);
		for (unsigned k = 0; k < njump; k++)
			insn[i].kinds |= jump[k] == pc;
	}
	return &insn[i];
}

static int
missed(unsigned long addr, unsigned n)
{
	int any = 0;

	for (unsigned long l = addr / line; l <= (addr + n - 1) / line; l++) {
		unsigned sets = size / ways / line;
		struct way *set = cache + l % sets * ways, *old = set, *hit = NULL;

		for (struct way *w = set; w < set + ways; w++) {
			if (w->full && w->line == l)
				hit = w;
			if (old->full && (!w->full || w->when < old->when))
				old = w;
		}
		any |= !hit;
		hit = hit ? hit : old;
		*hit = (struct way){ l, ++now, 1 };
	}
	return any;
}

static void
branch(struct insn *b, unsigned long pc)
{
	int taken = pc != b->pc + b->len;
	int *c = &counter[(b->pc ^ (outcomes & ((1ul << history) - 1))) % counters];

	b->bit[0][b->n - 1] = (*c > 1) != taken;
	*c += taken ? *c < 3 : -(*c > 0);
	outcomes = outcomes * 2 + (unsigned)taken;
}

int
main(int argc, char **argv)
{
	struct insn *last = NULL;
	FILE *f = argc > 6 ? fopen(argv[1], "r") : NULL;
	char s[200], kind;
	unsigned long addr;
	unsigned n;

	if (!f)
		return 2;
	while (njump < MOST && fscanf(f, "%lx", &jump[njump]) == 1)
		njump++;
	history = (unsigned)atoi(argv[2]), counters = (unsigned)atoi(argv[3]);
	size = (unsigned)atoi(argv[4]), ways = (unsigned)atoi(argv[5]), line = (unsigned)atoi(argv[6]);
	cache = calloc(size / line, sizeof *cache);
	counter = malloc(counters * sizeof *counter);
	for (unsigned i = 0; i < counters; i++)
		counter[i] = 1;
	while (fgets(s, sizeof s, stdin)) {
		if (sscanf(s, " %c %lx,%u", &kind, &addr, &n) != 3)
			continue;
		if (kind == 'I') {
			if (last && last->kinds & 1)
				branch(last, addr);
			last = at(addr, n);
			last->n++;
			continue;
		}
		last->kinds |= kind == 'L' ? 2 : kind == 'S' ? 4 : 6;
		last->bit[kind == 'S' ? 2 : 1][last->n - 1] |= (unsigned char)missed(addr, n);
	}
	for (unsigned i = 0; i < ninsn; i++) {
		if (!insn[i].kinds || (argc > 7 && (unsigned)atoi(argv[7]) != i + 1))
			continue;
		if (argc <= 7)
			printf("%u %u", i + 1, insn[i].n);
		for (unsigned x = 0; x < insn[i].n && argc > 7; x++) {
			printf("%u", x);
			for (int k = 0; k < 3; k++)
				printf(" %c", !(insn[i].kinds >> k & 1) ? '-' : '0' + insn[i].bit[k][x]);
			printf("\n");
		}
		for (int k = 0; k < 3 && argc <= 7; k++) {
			unsigned ones = 0;

			for (unsigned x = 0; x < insn[i].n; x++)
				ones += insn[i].bit[k][x];
			if (insn[i].kinds >> k & 1)
				printf(" %u", ones);
			else
				printf(" -");
		}
		if (argc <= 7)
			printf("\n");
	}
	return 0;
}
