/*
 * Basic-block vectors: how many instructions each block of code executed, in each interval of the
 * run. They are those that valgrind's exp-bbv writes: a block begins where control arrives, and
 * ends with a branch, a system call, and before and after a repeated string instruction, which
 * counts once. Blocks are numbered in the order in which they are first executed. An interval ends
 * with the instruction that exceeds its length, which the next one counts, too.
 */
#include <stdlib.h>

#include "base/digits.h"
#include "base/mem.h"
#include "insns/formats.h"

#define ENTRY 48u               /* bytes of an entry of a vector, at most */

struct block {
	uint64_t pc, count;             /* instructions that it executed in this interval */
	uint32_t number;                /* 0: it is not known yet */
};

/* How an instruction ends blocks; by id of the fact. */
enum { END_UNKNOWN, END_NONE, END_AFTER, END_BOTH };

struct bbv {
	struct out *out;
	struct block *block;            /* by id of the first instruction's fact; owned */
	uint8_t *ends;                  /* owned */
	size_t nblock, nends;
	uint32_t *used;                 /* blocks with a count; owned */
	size_t nused, capused;
	uint32_t number;
	const struct fact *first;       /* of the block that runs; NULL: none */
	uint64_t n;                     /* instructions of it */
	uint64_t interval, done;        /* instructions of the interval */
};

static int
bbv_ends_new(struct bbv *v, const struct fact *f)
{
	struct insns_kind k;

	insns_decode(f, &k);
	if (f->id >= v->nends)
		v->ends = insns_table(v->ends, &v->nends, f->id, sizeof *v->ends);
	v->ends[f->id] = k.repeats ? END_BOTH : k.kind != BRANCH_NONE + 1 || k.syscall ? END_AFTER : END_NONE;
	return v->ends[f->id];
}

static int
bbv_order(const void *a, const void *b, void *arg)
{
	const struct block *block = arg, *x = &block[*(const uint32_t *)a], *y = &block[*(const uint32_t *)b];

	return x->pc != y->pc ? x->pc < y->pc ? -1 : 1 : x->number < y->number ? -1 : x->number > y->number;
}

static void
bbv_interval(struct bbv *v)
{
	qsort_r(v->used, v->nused, sizeof *v->used, bbv_order, v->block);
	out_str(v->out, "T");
	for (size_t i = 0; i < v->nused; i++) {
		struct block *b = &v->block[v->used[i]];
		uint8_t *p = out_reserve(v->out, ENTRY), *q = p;

		*q++ = ':';
		q += digits_dec(q, b->number);
		*q++ = ':';
		q += digits_dec(q, b->count);
		*q++ = ' ';
		*q++ = ' ';
		*q++ = ' ';
		out_commit(v->out, (size_t)(q - p));
		b->count = 0;
	}
	out_str(v->out, "\n");
	v->nused = 0;
	v->done -= v->interval;
}

/* n instructions of the block b were executed. */
static void
bbv_count(struct bbv *v, uint32_t b, uint64_t n)
{
	if (!v->block[b].count) {
		v->used = mem_xgrow(v->used, &v->capused, v->nused + 1, sizeof *v->used);
		v->used[v->nused++] = b;
	}
	v->block[b].count += n;
	v->done += n;
}

static void
bbv_end_block(struct bbv *v)
{
	uint32_t b;
	uint64_t n = v->n;

	if (!v->first)
		return;
	b = v->first->id;
	if (b >= v->nblock)
		v->block = insns_table(v->block, &v->nblock, b, sizeof *v->block);
	if (!v->block[b].number)
		v->block[b] = (struct block){ .pc = v->first->pc, .number = ++v->number };
	v->first = NULL;
	while (v->done + n > v->interval) {
		uint64_t part = v->interval + 1 - v->done;

		bbv_count(v, b, part);
		bbv_interval(v);
		n -= part;
	}
	if (n)
		bbv_count(v, b, n);
}

static void
bbv_take(void *arg, const struct insns_span *s)
{
	struct bbv *v = arg;

	if (insns_signal(s)) {
		bbv_end_block(v);
		return;
	}
	for (uint32_t i = 0; i < s->run.ninsn; i++) {
		const struct fact *f = s->run.at[i].fact;
		int ends = f->id < v->nends && v->ends[f->id] ? v->ends[f->id] : bbv_ends_new(v, f);

		if (ends == END_BOTH && s->again && i + 1u == s->run.ninsn)
			continue;
		if (ends == END_BOTH)
			bbv_end_block(v);
		if (!v->first) {
			v->first = f;
			v->n = 0;
		}
		v->n++;
		if (ends != END_NONE)
			bbv_end_block(v);
	}
}

int
bbv_write(const struct insns *q, uint64_t interval, struct out *out, struct ws_early *early,
    struct fault *f)
{
	struct bbv v = { .out = out, .interval = interval };
	struct insns mine = *q;
	int bad;

	mine.tells = 1;
	mine.take = bbv_take;
	mine.arg = &v;
	bad = insns_run(&mine, early, f);
	free(v.block);
	free(v.ends);
	free(v.used);
	return bad;
}
