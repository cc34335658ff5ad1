/*
 * visitmodes FILE.ws: a visit from the start with everything is what all
 * others must agree with: runs alone, with the words of calls, returns and
 * what moves the stack; without memory, picked instructions, segments from the
 * last to the first, going to instances, and turning from values to runs alone.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <Zydis/Zydis.h>

#include "../check.h"
#include "cfg/control.h"
#include "replay/guest/drive.h"
#include "replay/itrace/itrace.h"

#define MOST (4u << 20)

/* Of each instance: where it is and its references, values, contents of memory, writers */
static struct one { uint64_t pc, ref, val, mem, use, string, words; } *all, *got;
static uint64_t nall, nother, *before;
static size_t nseg;

static uint64_t
mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15u;
	return a ^ a >> 29;
}

static uint64_t
bytes(const uint8_t *p, unsigned n)
{
	uint64_t h = p ? n : 999;

	for (unsigned i = 0; p && i < n; i++)
		h = mix(h, p[i]);
	return h;
}

/* Writers as seen by a visit that began at the segment of instance n. */
static uint64_t
use(const struct visit_batch *b, uint64_t w, uint64_t start, unsigned n)
{
	uint64_t h = 0, last = WS_UNKNOWN;

	if (!(w & VISIT_MANY))
		return mix(w > start ? w : 0, n);
	for (const struct visit_piece *p = &b->piece[w & ~VISIT_MANY]; ; p++) {
		uint64_t x = p->writer > start ? p->writer : 0;

		if (x != last)
			h = mix(mix(h, x), p->off);
		if (!p->more)
			return h == mix(mix(0, x), 0) ? mix(x, n) : h;
		last = x;
	}
}

/*
 * The last instance of which the segment of instance n may lack what it wrote: a string instruction
 * is perhaps parted between segments
 */
static uint64_t
start_of(uint64_t n)
{
	size_t k = nseg;

	while (--k && before[k] >= n)
		;
	return before[k] + all[before[k] + 1].string;
}

/* Parts of a string instruction add up */
static void
take(struct one *o, unsigned what, const struct visit_insn *e, const struct visit_batch *b)
{
	const char *name = ZydisMnemonicGetString(e->fact->mnemonic);
	/* the state that they leave out is needed by no instruction */
	int state = strncmp(name, "xsave", 5) == 0 || strncmp(name, "xrstor", 6) == 0;
	uint32_t w = e->use;

	o->pc = e->fact->pc;
	if (e->fact->kind == FACT_SIGNAL)
		o->pc = 1;
	if (what & VISIT_CONTROL && !control_has_words(e->fact))
		return;
	o->words = 1;
	o->val = 0;
	for (unsigned i = 0; i < e->fact->ndef; i++)
		for (unsigned k = 0; e->fact->def[i].val != FACT_NOVALUE && k < e->fact->def[i].nval; k++)
			o->val = mix(o->val, b->word[e->val + e->fact->def[i].val + k]);
	for (unsigned i = 0; i < e->nref; i++) {
		uint64_t ref = b->word[e->ref + i];

		o->ref += mix(ref, 1);
		for (int stored = 0; what & VISIT_MEMORY && stored < 2 && !state; stored++)
			o->mem += mix(ref, bytes(visit_mem(b, e, i, stored), ref_size(ref)) +
			    (unsigned)stored);
	}
	if (e->fact->kind == FACT_STRING)
		o->string = 1;
	if (!(what & VISIT_WRITERS) || o->string)
		return;
	for (unsigned i = 0; i < e->fact->nuse; i++)
		o->use = mix(o->use, use(b, b->writer[w++], start_of(e->n), 0));
	for (unsigned i = 0; i < e->nref; i++)
		if (visit_reads(b->word[e->ref + i]))
			o->use = mix(o->use, use(b, b->writer[w++], start_of(e->n),
			    ref_size(b->word[e->ref + i])));
}

/* From where v is to the end that it has; instances that it gave, 0: a fault */
static uint64_t
collect(struct visit *v, unsigned what, struct one *to)
{
	const struct visit_batch *b;
	struct visit_insn e;
	uint64_t n = 0, last = 0;
	int r;

	while ((r = visit_next(v, &e, &b)) == REPLAY_OK) {
		if (e.n < last || e.n >= MOST)
			return 0;
		n += e.n != last;
		last = e.n;
		take(&to[e.n], what, &e, b);
	}
	if (r == REPLAY_BAD)
		printf("# %s\n", replay_fault(visit_replay(v))->err);
	return r == REPLAY_BAD ? 0 : n;
}

static int
picks(void *arg, uint64_t pc)
{
	return mix(pc, 77) % *(unsigned *)arg == 0;
}

static struct visit *
begin(const char *path, unsigned what)
{
	struct fault f;
	struct visit *v = visit_open(path, what, &f);

	if (!v)
		printf("# %s\n", f.err);
	memset(got, 0, MOST * sizeof *got);
	return v;
}

/* Instances [from, to] are the same but for what was not asked for */
static int
same(uint64_t from, uint64_t to, unsigned what)
{
	for (uint64_t n = from; n <= to; n++) {
		const struct one *a = &all[n], *g = &got[n];

		if (a->pc != g->pc ||
		    ((!(what & VISIT_CONTROL) || g->words) && (a->ref != g->ref || a->val != g->val)) ||
		    (what & VISIT_MEMORY && a->mem != g->mem) || (what & VISIT_WRITERS && a->use != g->use)) {
			printf("# instance %llu at 0x%llx, 0x%llx: %d %d %d %d\n", (unsigned long long)n,
			    (unsigned long long)a->pc, (unsigned long long)g->pc,
			    a->ref == g->ref, a->val == g->val, a->mem == g->mem, a->use == g->use);
			return 0;
		}
	}
	return 1;
}

static int
whole(const char *path, unsigned what)
{
	struct visit *v = begin(path, what);
	int good = v && collect(v, what, got) == nall && same(1, nall, what);

	visit_close(v);
	return good;
}

/* Those at picked addresses and no others; then, changing to all, the rest */
static int
picked(const char *path, unsigned of)
{
	struct visit *v = begin(path, VISIT_MEMORY);
	uint64_t n = 0, k, half = nall / 2;
	int good;

	if (!v || visit_filter(v, picks, &of) != 0)
		return 0;
	visit_until(v, half);
	k = collect(v, VISIT_MEMORY, got);
	good = replay_instances(visit_replay(v)) == half;
	for (uint64_t i = 1; i <= half && good; i++) {
		int yes = all[i].pc != 1 && picks(&of, all[i].pc);

		n += (uint64_t)yes;
		good = yes ? same(i, i, VISIT_MEMORY) : got[i].pc == 0;
		if (!good)
			printf("# instance %llu, picked: %d\n", (unsigned long long)i, yes);
	}
	printf("# 1 of %u: %llu picked of %llu\n", of, (unsigned long long)k, (unsigned long long)half);
	good = good && n == k && visit_filter(v, NULL, NULL) == 0;
	visit_until(v, WS_UNKNOWN);
	good = good && collect(v, VISIT_MEMORY, got) == nall - half && same(half + 1, nall, VISIT_MEMORY);
	visit_close(v);
	return good;
}

static int
segments(const char *path)
{
	unsigned what = VISIT_WRITERS | VISIT_MEMORY;
	struct visit *v = begin(path, what);
	uint64_t n = 0;
	int good = v && visit_segments(v) == nseg;

	for (size_t k = nseg; good && k-- > 0;) {
		struct one *next = k + 1 < nseg ? &got[before[k + 1] + 1] : &got[0];
		uint64_t last = next->val;      /* if it began here: its values are those of its last part */

		good = visit_segment(v, k) == before[k] && visit_seek(v, k) == REPLAY_OK;
		visit_stop(v, k + 1);
		n += collect(v, what, got);
		next->val = last;
	}
	printf("# %zu segments, %llu instances\n", nseg, (unsigned long long)n);
	good = good && n >= nall && n <= nall + nseg && same(1, nall, what);
	visit_close(v);
	return good;
}

/* Forward and backward */
static int
going(struct visit *v)
{
	unsigned what = VISIT_MEMORY, len = 500;
	int good = 1;

	for (unsigned i = 0; good && i < 24; i++) {
		uint64_t n = 1 + (i < 8 ? i * (nall / 9) : mix(i, nall) % (nall - len));

		memset(&got[n], 0, len * sizeof *got);
		visit_until(v, n + len - 1);
		good = visit_goto(v, n) == REPLAY_OK && collect(v, what, got) == len &&
		    same(n, n + len - 1, what);
	}
	return good && visit_goto(v, nall + 5) == REPLAY_END;
}

/* One visit with values, or runs alone, in turns; and with all of memory, which keyframes do not have */
static int
turning(const char *path, int kept)
{
	struct visit *v = begin(path, 0);
	unsigned len = 500, words = 0;
	int good = v && (!kept || visit_snapshots_enable(v, UINT64_C(64) << 20, nall / 20) == 0);

	for (unsigned i = 0; good && i < 36; i++) {
		unsigned what = i % 2 ? VISIT_CONTROL : 0;
		uint64_t n = 1 + mix(i, nall) % (nall - len);

		memset(&got[n], 0, len * sizeof *got);
		visit_set_control(v, what != 0);
		visit_until(v, n + len - 1);
		good = i % 3 ? visit_goto(v, n) == REPLAY_OK : visit_goto_whole(v, n) == REPLAY_OK &&
		    !drive_is_partial(visit_replay(v));
		good = good && collect(v, what, got) == len && same(n, n + len - 1, what);
		if (!good)
			printf("# turn %u, instance %llu\n", i, (unsigned long long)n);
		for (uint64_t k = n; what && k < n + len; k++)
			words += got[k].words != 0;
	}
	visit_close(v);
	printf("# %u with words\n", words);
	return good && words > 0;
}

/* The same, with states kept in `most` bytes of memory; then by other visits, which begin with those */
static int
keeping(const char *path, uint64_t most)
{
	struct visit *v = begin(path, VISIT_MEMORY);
	int good = v && visit_snapshots_enable(v, most, nall / 150) == 0 && going(v);

	for (int i = 0; good && i < 2; i++) {
		struct visit_kept *kept = visit_snapshots_detach(v);

		visit_close(v);
		if ((v = begin(path, VISIT_MEMORY)) == NULL)
			return 0;
		visit_snapshots_attach(v, kept);
		good = going(v);
	}
	visit_close(v);
	return good;
}

int
main(int argc, char **argv)
{
	struct visit *v;
	unsigned some[] = { 1, 7, 1000 };

	all = calloc(MOST, sizeof *all);
	got = calloc(MOST, sizeof *got);
	if (argc != 2 || !all || !got || (v = begin(argv[1], VISIT_WRITERS | VISIT_MEMORY)) == NULL)
		return 2;
	nseg = visit_segments(v);
	before = calloc(nseg + 1, sizeof *before);
	for (size_t k = 0; k < nseg; k++)
		before[k] = visit_segment(v, k);
	nall = collect(v, VISIT_WRITERS | VISIT_MEMORY, all);
	CHECK("all", nall > 0 && replay_instances(visit_replay(v)) == nall);
	visit_close(v);
	if (nall < 2000)
		return check_end();
	CHECK("runs alone", whole(argv[1], VISIT_CONTROL));
	CHECK("values alone", whole(argv[1], 0));
	CHECK("values and memory", whole(argv[1], VISIT_MEMORY));
	CHECK("values and writers", (nother = nall) && whole(argv[1], VISIT_WRITERS));
	for (size_t i = 0; i < sizeof some / sizeof *some; i++)
		CHECK("picked instructions", picked(argv[1], some[i]));
	CHECK("segments, the last first", segments(argv[1]));
	CHECK("going to instances", (v = begin(argv[1], VISIT_MEMORY)) != NULL && going(v));
	visit_close(v);
	CHECK("runs alone and values in turns", turning(argv[1], 0));
	if (access("/proc/self/pagemap", R_OK) == 0) {
		CHECK("the same with states in memory", turning(argv[1], 1));
		CHECK("with states in memory", keeping(argv[1], UINT64_C(64) << 20));
		CHECK("with states in little memory", keeping(argv[1], UINT64_C(1) << 20));
	}
	return check_end();
}
