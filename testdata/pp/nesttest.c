/*
 * The analysis of loops (sim/parallel.h) against a slow one that keeps the whole run: a tree of invocations
 * and iterations, evaluated from the inside out, on random nests of loops with random accesses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/ref/ref.h"
#include "sim/parallel.h"

#define WORDS  3000
#define BYTES  200u             /* addresses 0 to BYTES - 1 */
#define LOOPS  6u
#define DEPS   40000
#define MODELS PARALLEL_NMODELS

struct invocation { int parent, loop, again; uint64_t from, to, at[MODELS], length[MODELS], alone[MODELS]; };
struct iteration { int in; uint64_t number, from, to, at[MODELS], alone[MODELS]; };
struct op { int iteration; uint64_t t, pc; };           /* t: instructions before its instruction */
struct carried {
	int in, from, to;               /* invocation; ops */
	enum parallel_kind kind;
	unsigned decided[MODELS];
};

static uint64_t word[WORDS], seed;
static int nword;
static struct invocation inv[WORDS];
static struct iteration iter[WORDS];
static struct op op[2 * WORDS];
static struct carried carried[DEPS];
static int ninv, niter, nop, ncarried;

static unsigned
random_below(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static void
emit(unsigned kind, uint64_t addr, unsigned size)
{
	if (nword < WORDS)
		word[nword++] = ref_make(kind, addr, size);
}

static void
make(unsigned depth)
{
	static const unsigned size[] = { 1, 2, 4, 8, 8, 16, 3 };

	for (unsigned i = 0, n = 1 + random_below(6); i < n; i++) {
		unsigned what = random_below(10), s = size[random_below(7)];

		emit(REF_INST, 0x1000 + 4 * random_below(40), 4);
		if (what < 5)
			emit(REF_LOAD + random_below(3), random_below(BYTES - 16), s);
		if (what == 5)          /* two references of one instruction */
			for (int k = 0; k < 2; k++)
				emit(REF_LOAD + random_below(3), random_below(BYTES - 16), s);
		if (what > 7 && depth < 6) {
			uint64_t loop = 0x9000 + random_below(LOOPS);

			emit(REF_ENTER, loop, 0);
			for (unsigned k = 0, m = random_below(7); k < m; k++) {
				make(depth + 1);
				emit(REF_BACK, loop, 0);
			}
			make(depth + 1);
			emit(REF_EXIT, loop, 0);
		}
	}
}

/* The chain of iterations from the program to i. */
static int
chain(int i, int *out)
{
	int n = 0, at[64];

	for (; i >= 0; i = inv[iter[i].in].parent)
		at[n++] = i;
	for (int k = 0; k < n; k++)
		out[k] = at[n - 1 - k];
	return n;
}

static void
depends(int from, int to, enum parallel_kind kind)
{
	int a[64], b[64], na = chain(op[from].iteration, a), nb = chain(op[to].iteration, b), k = 0;

	while (k < na && k < nb && a[k] == b[k])
		k++;
	if (k < na && k < nb && iter[a[k]].in == iter[b[k]].in && ncarried < DEPS)
		carried[ncarried++] = (struct carried){ .in = iter[a[k]].in, .from = from, .to = to, .kind = kind };
}

static void
accessed(int o, uint64_t addr, unsigned size, int write)
{
	static int lastwrite[BYTES], lastread[BYTES];   /* ops + 1 */
	int before = 0;

	if (o < 0) {
		memset(lastwrite, 0, sizeof lastwrite);
		memset(lastread, 0, sizeof lastread);
		return;
	}
	for (unsigned pass = 0; pass < 2; pass++) {
		int *last = write && pass == 0 ? lastread : lastwrite;

		before = 0;
		for (uint64_t a = addr; a < addr + size; a++) {
			if (last[a] && last[a] != before)
				depends(last[a] - 1, o, !write ? PARALLEL_FLOW : pass == 0 ? PARALLEL_ANTI : PARALLEL_OUTPUT);
			before = last[a];
		}
		if (!write)
			break;
	}
	for (uint64_t a = addr; a < addr + size; a++) {
		(write ? lastwrite : lastread)[a] = o + 1;
		if (write)
			lastread[a] = 0;
	}
}

static int
begin(int in, uint64_t number, uint64_t t)
{
	iter[niter] = (struct iteration){ .in = in, .number = number, .from = t };
	return niter++;
}

static int
enter(int parent, int loop, uint64_t t)
{
	int again = 0;

	for (int i = parent; i >= 0; i = inv[iter[i].in].parent)
		again |= inv[iter[i].in].loop == loop;
	inv[ninv] = (struct invocation){ .parent = parent, .loop = loop, .again = again, .from = t };
	ninv++;
	return begin(ninv - 1, 0, t);
}

static uint64_t
build(void)
{
	uint64_t t = 0, pc = 0;
	int now;

	ninv = niter = nop = ncarried = 0;
	accessed(-1, 0, 0, 0);
	now = enter(-1, -1, 0);
	for (int i = 0; i < nword; i++) {
		unsigned kind = ref_kind(word[i]);
		uint64_t addr = ref_addr(word[i]);

		if (kind == REF_INST) {
			t++;
			pc = addr;
		} else if (kind <= REF_MODIFY) {
			for (int w = 0; w < 2; w++)
				if (w ? kind != REF_LOAD : kind != REF_STORE) {
					op[nop] = (struct op){ now, t - 1, pc };
					accessed(nop++, addr, ref_size(word[i]), w);
				}
		} else if (kind == REF_ENTER) {
			now = enter(now, (int)(addr - 0x9000), t);
		} else {
			iter[now].to = t;
			if (kind == REF_EXIT)
				inv[iter[now].in].to = t;
			now = kind == REF_EXIT ? inv[iter[now].in].parent :
			    begin(iter[now].in, iter[now].number + 1, t);
		}
	}
	for (; now >= 0; now = inv[iter[now].in].parent)
		inv[iter[now].in].to = iter[now].to = t;
	return t;
}

/* The time of instruction t in iteration i, which contains it; all loops within are evaluated. */
static uint64_t
local(int i, uint64_t t, int m)
{
	uint64_t at = t - iter[i].from;

	for (int v = 0; v < ninv; v++)
		if (inv[v].parent == i && inv[v].to <= t)
			at -= inv[v].to - inv[v].from - inv[v].length[m];
	return at;
}

/* The time of an op in iteration i, which is around it. */
static uint64_t
time_in(int i, const struct op *o, int m)
{
	int k = o->iteration;
	uint64_t at = local(k, o->t, m);

	while (k != i) {
		at += iter[k].at[m] + inv[iter[k].in].at[m];
		k = inv[iter[k].in].parent;
	}
	return at;
}

static int
around(int in, int o)
{
	int i = op[o].iteration;

	while (iter[i].in != in)
		i = inv[iter[i].in].parent;
	return i;
}

/* The begin of iteration i of invocation v; why[m]: the dependence that decides it for v alone, or -1. */
static void
begins(int v, int i, int *why)
{
	for (int c = 0; c < ncarried; c++) {
		const struct carried *d = &carried[c];
		int a;

		if (d->in != v || around(v, d->to) != i)
			continue;
		a = around(v, d->from);
		for (int m = d->kind == PARALLEL_FLOW ? PARALLEL_RENAMED : PARALLEL_ALL; m < MODELS; m++) {
			int64_t need = (int64_t)(iter[a].at[m] + time_in(a, &op[d->from], m) + 1) -
			    (int64_t)time_in(i, &op[d->to], m);
			int64_t alone = (int64_t)(iter[a].alone[m] + op[d->from].t - iter[a].from + 1) -
			    (int64_t)(op[d->to].t - iter[i].from);

			if (need > (int64_t)iter[i].at[m])
				iter[i].at[m] = (uint64_t)need;
			if (alone > (int64_t)iter[i].alone[m]) {
				iter[i].alone[m] = (uint64_t)alone;
				why[m] = c;
			}
		}
	}
}

static void
evaluate(int v, struct parallel_loop *loop)
{
	for (int w = v + 1; w < ninv; w++)
		if (iter[inv[w].parent].in == v)
			evaluate(w, loop);
	for (int w = v + 1; w < ninv; w++)
		for (int m = 0; m < MODELS; m++)
			if (iter[inv[w].parent].in == v)
				inv[w].at[m] = local(inv[w].parent, inv[w].from, m);
	for (int i = 0; i < niter; i++) {
		int why[MODELS] = { -1, -1 };

		if (iter[i].in != v)
			continue;
		begins(v, i, why);
		for (int m = 0; m < MODELS; m++) {
			uint64_t end = iter[i].at[m] + local(i, iter[i].to, m);
			uint64_t alone = iter[i].alone[m] + iter[i].to - iter[i].from;

			inv[v].length[m] = end > inv[v].length[m] ? end : inv[v].length[m];
			inv[v].alone[m] = alone > inv[v].alone[m] ? alone : inv[v].alone[m];
			if (why[m] >= 0) {
				loop[inv[v].loop].delayed[m] += !inv[v].again;
				carried[why[m]].decided[m]++;
			}
		}
	}
}

static void
summarize(struct parallel_loop *loop)
{
	for (int v = 1; v < ninv; v++) {
		struct parallel_loop *l = &loop[inv[v].loop];

		l->invocations++;
		for (int i = 0; i < niter; i++)
			l->iterations += iter[i].in == v;
		if (inv[v].again)
			continue;
		l->ninsn += inv[v].to - inv[v].from;
		for (int m = 0; m < MODELS; m++)
			l->alone[m] += inv[v].alone[m];
	}
	for (int c = 0; c < ncarried; c++)
		loop[inv[carried[c].in].loop].ndep[carried[c].kind]++;
}

static int
same_loops(const struct parallel_result *r, const struct parallel_loop *loop)
{
	size_t known = 0;

	for (size_t i = 0; i < r->nloop; i++) {
		struct parallel_loop want = loop[r->loop[i].pc - 0x9000];

		want.pc = r->loop[i].pc;
		if (memcmp(&want, &r->loop[i], sizeof want) != 0)
			return 0;
	}
	for (unsigned k = 0; k < LOOPS; k++)
		known += loop[k].invocations > 0;
	return known == r->nloop;
}

/* Does the sum over all dependences between these instructions equal what the analysis has? */
static int
same_deps(const struct parallel_result *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->ndep; i++) {
		struct parallel_dep d = r->dep[i];
		uint64_t near = UINT64_MAX, far = 0;

		n += d.n;
		for (int c = 0; c < ncarried; c++) {
			const struct carried *x = &carried[c];
			uint64_t apart;

			if (inv[x->in].loop + 0x9000u != r->loop[d.loop].pc || x->kind != d.kind ||
			    op[x->from].pc != d.from || op[x->to].pc != d.to)
				continue;
			apart = iter[around(x->in, x->to)].number - iter[around(x->in, x->from)].number;
			near = apart < near ? apart : near;
			far = apart > far ? apart : far;
			d.n--;
			for (int m = 0; m < MODELS; m++)
				d.decided[m] -= x->decided[m];
		}
		if (d.n || d.decided[0] || d.decided[1] || near != d.nearest || far != d.farthest)
			return 0;
	}
	return n == (uint64_t)ncarried;
}

static int
run(struct parallel_result *total)
{
	struct parallel_loop loop[LOOPS] = { 0 };
	struct parallel *p = parallel_new();
	struct parallel_result r;
	uint64_t n = build();
	int same = p != NULL, at = 0;

	evaluate(0, loop);
	summarize(loop);
	while (at < nword && same) {
		int k = 1 + (int)random_below(50);

		k = k < nword - at ? k : nword - at;
		same = parallel_take(p, word + at, (size_t)k) == 0;
		at += k;
	}
	same = same && parallel_end(p, &r) == 0 && r.ninsn == n;
	for (int m = 0; m < MODELS && same; m++)
		same = r.time[m] == inv[0].length[m];
	same = same && same_loops(&r, loop) && same_deps(&r);
	total->ninsn += r.ninsn;
	total->nloop += r.nloop;
	total->ndep += r.ndep;
	total->time[PARALLEL_ALL] += r.time[PARALLEL_ALL] < r.ninsn;
	total->time[PARALLEL_RENAMED] += r.time[PARALLEL_RENAMED] < r.time[PARALLEL_ALL];
	parallel_free(p);
	return same;
}

int
main(void)
{
	struct parallel_result total = { 0 };
	int bad = 0;

	for (uint64_t s = 1; s <= 80; s++) {
		seed = s;
		nword = 0;
		for (unsigned k = 1 + random_below(8); k > 0; k--)
			make(1);
		/* the run may end in the middle of loops */
		if (!run(&total) && !bad++)
			printf("# seed %llu, %d words\n", (unsigned long long)s, nword);
	}
	printf("%s 1 - 80 random nests: as evaluated from the inside out\n", bad ? "not ok" : "ok");
	printf("%s 2 - they had %llu dependences; %llu were faster, %llu more so with renaming\n",
	    total.ndep > 1000 && total.time[PARALLEL_ALL] > 40 && total.time[PARALLEL_RENAMED] > 20 ? "ok" : "not ok",
	    (unsigned long long)total.ndep, (unsigned long long)total.time[PARALLEL_ALL],
	    (unsigned long long)total.time[PARALLEL_RENAMED]);
	return bad != 0;
}
