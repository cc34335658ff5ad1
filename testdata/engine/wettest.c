/*
 * wettest [seed]: random code, of which some was executed; what descent
 * reaches, successors and post-dominators against sets that are made as their
 * definitions say.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../random.h"
#include "cfg/code.h"

#define N    40u
#define BASE UINT64_C(0x10000)
#define EXIT N

enum { NOP, COND, JUMP, RET, CALL, UD };
struct op { int kind, to; };            /* CALL: to a function that is not here */

static struct op op[N];
static unsigned char bytes[N * 8 + 4096];
static int ran[N], back[N], edge[N][N + 1], reached[N];
static unsigned long long bad, checked, branches, loops;

static size_t
read_code(void *arg, uint64_t addr, void *p, size_t n, int exec)
{
	(void)arg;
	(void)exec;
	if (addr < BASE || addr >= BASE + N * 8)
		return 0;
	if (n > BASE + N * 8 - addr)
		n = BASE + N * 8 - addr;
	memcpy(p, bytes + (addr - BASE), n);
	return n;
}

/* Instruction i takes 8 bytes: nops fill it up, except after instructions that do not continue. */
static void
encode(unsigned i)
{
	unsigned char *p = bytes + 8 * i;
	int rel;

	memset(p, 0x90, 8);
	switch (op[i].kind) {
	case COND: p[0] = 0x0f; p[1] = 0x84; p += 2; break;
	case JUMP: p[0] = 0xe9; p++; break;
	case RET: p[0] = 0xc3; return;
	case UD: p[0] = 0x0f; p[1] = 0x0b; return;
	case CALL: p[0] = 0xe8; p++; break;
	default: return;
	}
	rel = op[i].kind == CALL ? 0x100000 : op[i].to * 8 - (int)(p + 4 - bytes);
	memcpy(p, &rel, 4);
}

static void
make(void)
{
	for (unsigned i = 0; i < N; i++) {
		unsigned k = rnd_below(20);

		op[i] = (struct op){ k < 8 ? NOP : k < 15 ? COND : k < 17 ? JUMP : k < 18 ? CALL :
		    rnd_below(3) ? NOP : rnd_below(2) ? RET : UD, (int)rnd_below(N) };
		if (op[i].to == (int)i + 1)
			op[i].to = 0;
		encode(i);
	}
	op[N - 1].kind = RET;
	encode(N - 1);
}

static void
execute(struct wcode *c, unsigned at, unsigned len)
{
	wcode_insn(c, BASE + at, bytes + at, len);
}

/* A walk: these were executed, and `back` is where each continued. */
static void
walk(struct wcode *c)
{
	static const unsigned char len[] = { 1, 6, 5, 1, 5, 2 };
	unsigned at = rnd_below(N);

	memset(ran, 0, sizeof ran);
	memset(back, 0, sizeof back);
	for (int steps = (int)rnd_below(60); steps >= 0; steps--) {
		unsigned k = len[op[at].kind];

		ran[at] = 1;
		execute(c, 8 * at, k);
		if (op[at].kind == RET || op[at].kind == UD || (op[at].kind == CALL && steps == 0))
			break;
		if (op[at].kind == JUMP || (op[at].kind == COND && rnd_below(2))) {
			at = (unsigned)op[at].to;
			continue;
		}
		back[at] = 1;
		if (op[at].kind == CALL) {
			static const unsigned char ret[] = { 0xc3 };

			wcode_insn(c, BASE + 0x200000, ret, 1);
			wcode_went(c, BASE + 0x200000, BASE + 8 * at + k);
		}
		for (; k < 8; k++)
			execute(c, 8 * at + k, 1);
		at++;
	}
	if (!ran[at]) {
		ran[at] = 1;
		execute(c, 8 * at, len[op[at].kind]);
	}
}

static void
visit(unsigned i)
{
	if (reached[i])
		return;
	reached[i] = 1;
	if (op[i].kind == COND || op[i].kind == JUMP)
		visit((unsigned)op[i].to);
	if (op[i].kind != JUMP && op[i].kind != RET && op[i].kind != UD)
		visit(i + 1);
}

static void
edges(void)
{
	memset(edge, 0, sizeof edge);
	for (unsigned i = 0; i < N; i++) {
		if (!reached[i])
			continue;
		switch (op[i].kind) {
		case RET: case UD: edge[i][EXIT] = 1; break;
		case JUMP: edge[i][op[i].to] = 1; break;
		case COND: edge[i][op[i].to] = edge[i][i + 1] = 1; break;
		case CALL: edge[i][ran[i] && !back[i] ? EXIT : i + 1] = 1; break;
		default: edge[i][i + 1] = 1;
		}
	}
}

/* way[i][j]: from i one comes to j */
static void
ways(int way[N][N + 1])
{
	memcpy(way, edge, sizeof edge);
	for (unsigned k = 0; k < N; k++)
		for (unsigned i = 0; i < N; i++)
			for (unsigned j = 0; way[i][k] && j <= N; j++)
				way[i][j] |= way[k][j];
}

/* From every set of nodes that never leave each other, an edge to the exit at the first of them */
static void
endless(void)
{
	static int way[N][N + 1];

	ways(way);
	for (unsigned i = 0; i < N; i++) {
		int bottom = reached[i] && !way[i][EXIT];

		for (unsigned j = 0; j < N; j++)
			bottom &= !way[i][j] || (way[j][i] && j >= i);
		if (bottom) {
			edge[i][EXIT] = 2;
			loops++;
		}
	}
}

static void
compare(struct wcode *c, uint64_t seed)
{
	static int pdom[N + 1][N + 1];          /* pdom[i][j]: j is on every way from i to the exit */
	int change = 1;

	for (unsigned i = 0; i <= N; i++)
		for (unsigned j = 0; j <= N; j++)
			pdom[i][j] = i != EXIT || j == EXIT;
	while (change) {
		change = 0;
		for (unsigned i = 0; i < N; i++)
			for (unsigned j = 0; reached[i] && j <= N; j++) {
				int all = 1;

				for (unsigned k = 0; k <= N; k++)
					all &= !edge[i][k] || pdom[k][j];
				all |= i == j;
				change |= all != pdom[i][j];
				pdom[i][j] = all;
			}
	}
	for (unsigned i = 0; i < N; i++) {
		uint32_t v = wcode_find(c, BASE + 8 * i);
		unsigned want = EXIT, most = 0, n = 0, got;

		if ((v != CODE_EXIT) != reached[i]) {
			printf("# seed %llu: %u is %sreached\n", (unsigned long long)seed, i, reached[i] ?
			    "not " : "");
			bad++;
			continue;
		}
		if (!reached[i])
			continue;
		for (unsigned j = 0; j <= N; j++) {             /* the nearest has the most of its own */
			unsigned k, m = 0;

			for (k = 0; k <= N; k++)
				m += (unsigned)pdom[j][k];
			if (j != i && pdom[i][j] && m > most) {
				most = m;
				want = j;
			}
			n += edge[i][j] == 1;
		}
		while ((v = c->node[v].pdom) != CODE_EXIT && (c->node[v].pc - BASE) % 8)
			;
		got = v == CODE_EXIT ? EXIT : (unsigned)(c->node[v].pc - BASE) / 8;
		v = wcode_find(c, BASE + 8 * i);
		checked++;
		branches += n > 1;
		if (got != want || (n > 1) != !!(c->node[v].flags & CODE_BRANCH)) {
			printf("# seed %llu: %u: post-dominator %u, want %u; %u successors\n",
			    (unsigned long long)seed, i, got, want, n);
			bad++;
		}
	}
}

int
main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;

	for (uint64_t i = seed; i < seed + 3000 && bad < 10; i++) {
		struct wcode c;

		rnd_state = i * UINT64_C(0x9e3779b97f4a7c15) + 1;
		make();
		wcode_init(&c, read_code, NULL);
		walk(&c);
		if (wcode_descend(&c) != 0 || wcode_analyse(&c) != 0)
			return 2;
		memset(reached, 0, sizeof reached);
		for (unsigned k = 0; k < N; k++)
			if (ran[k])
				visit(k);
		edges();
		endless();
		compare(&c, i);
		wcode_free(&c);
	}
	printf("%s - %llu nodes, %llu branches, %llu endless loops, %llu differences\n", bad ||
	    !loops ? "not ok" : "ok", checked, branches, loops, bad);
	return bad != 0;
}
