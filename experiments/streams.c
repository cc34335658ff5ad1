/*
 * streams: streams of values from a traced run, for experiments with compressors.
 *
 *   streams CAPTURE N PREFIX        from a working-set capture: PREFIX.pc .ea .vpc .val .ts
 *   streams - N PREFIX <references  from a reference stream: PREFIX.pc .ea .vpc .ts
 *
 * Each has the first N values that there are, 8 bytes each, little-endian:
 *   pc   addresses of instructions, in order of execution
 *   ea   addresses of data references
 *   vpc  the 4 bytes "vpc3", then records: 4 bytes, the instruction; 8 bytes, the address of its reference
 *   val  what instructions put into general registers, all values of one instruction together
 *   ts   numbers of the blocks that were executed, all of one block's together: when it was
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/in.h"
#include "replay/itrace/itrace.h"
#include "format/ref/ref.h"

/* A value and what it is grouped by */
struct item {
	uint64_t key, v;
	size_t no;
};

struct streams {
	size_t max;
	FILE *pc, *ea, *vpc;
	size_t npc, nea;
	struct item *val, *ts;
	size_t nval, nts;
	uint64_t insn, next, block;     /* the last instruction, where it would go on, blocks so far */
	const char *prefix;
};

static _Noreturn void
fail(const char *what)
{
	fprintf(stderr, "streams: %s\n", what);
	exit(1);
}

static FILE *
make(const struct streams *s, const char *suffix)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s.%s", s->prefix, suffix);
	f = fopen(path, "wb");
	if (!f)
		fail(path);
	return f;
}

static void
put(FILE *f, uint64_t v, size_t width)
{
	uint8_t b[8];

	put_le64(b, v);
	fwrite(b, 1, width, f);
}

static void
fetch(struct streams *s, uint64_t pc, unsigned len)
{
	if (pc != s->next) {
		s->block++;
		if (s->nts < s->max) {
			s->ts[s->nts] = (struct item){ pc, s->block, s->nts };
			s->nts++;
		}
	}
	s->insn = pc;
	s->next = pc + len;
	if (s->npc < s->max) {
		put(s->pc, pc, 8);
		s->npc++;
	}
}

static void
data(struct streams *s, uint64_t addr)
{
	if (s->nea < s->max) {
		put(s->ea, addr, 8);
		put(s->vpc, s->insn, 4);
		put(s->vpc, addr, 8);
		s->nea++;
	}
}

static void
value(struct streams *s, uint64_t pc, uint64_t v)
{
	if (s->nval < s->max) {
		s->val[s->nval] = (struct item){ pc, v, s->nval };
		s->nval++;
	}
}

static int
full(const struct streams *s)
{
	return s->npc >= s->max && s->nea >= s->max && s->nts >= s->max && s->nval >= s->max;
}

static void
insn(struct streams *s, const struct visit_batch *b, const struct visit_insn *e)
{
	const struct fact *f = e->fact;

	if (f->kind == FACT_SIGNAL)
		return;
	fetch(s, f->pc, f->len);
	for (uint32_t i = 0; i < e->nref; i++)
		data(s, ref_addr(b->word[e->ref + i]));
	for (unsigned d = 0; d < f->ndef; d++)
		if (f->def[d].reg < FACT_FLAGS && f->def[d].val != FACT_NOVALUE)
			value(s, f->pc, b->word[e->val + f->def[d].val]);
}

static void
from_capture(struct streams *s, const char *path)
{
	struct fault fault;
	struct visit *v = visit_open(path, 0, &fault);
	struct visit_batch b;
	int e = REPLAY_OK;

	if (!v)
		fail(fault.err);
	while (!full(s) && (e = visit_batch(v, &b)) == REPLAY_OK) {
		for (const struct visit_run *r = b.run; r < b.run + b.nrun; r++) {
			for (uint32_t i = 0; i < r->ninsn; i++) {
				struct visit_insn x = visit_insn(r, i);

				insn(s, &b, &x);
			}
		}
	}
	if (e == REPLAY_BAD)
		fail(replay_fault(visit_replay(v))->err);
	visit_close(v);
}

static void
from_refs(struct streams *s)
{
	struct ref_reader r;
	uint64_t w[4096];
	long n = 0;

	s->nval = s->max;
	if (ref_open(&r, in_open(NULL)) != 0)
		fail(r.err);
	while (!full(s) && (n = ref_read(&r, w, 4096)) > 0) {
		for (long i = 0; i < n; i++) {
			if (ref_kind(w[i]) == REF_INST)
				fetch(s, ref_addr(w[i]), ref_size(w[i]));
			else if (ref_kind(w[i]) < REF_ENTER)
				data(s, ref_addr(w[i]));
		}
	}
	if (n < 0)
		fail(r.err);
	s->nval = 0;
}

static int
by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->no > y->no) - (x->no < y->no);
}

static void
grouped(FILE *f, struct item *t, size_t n)
{
	qsort(t, n, sizeof(*t), by_key);
	for (size_t i = 0; i < n; i++)
		put(f, t[i].v, 8);
	if (fclose(f) != 0)
		fail("cannot write");
}

int
main(int argc, char **argv)
{
	struct streams s = { 0 };
	FILE *val = NULL, *ts;

	if (argc != 4)
		fail("usage: streams CAPTURE|- N PREFIX");
	s.max = strtoul(argv[2], NULL, 10);
	s.prefix = argv[3];
	s.val = malloc((s.max + 1) * sizeof(*s.val));
	s.ts = malloc((s.max + 1) * sizeof(*s.ts));
	if (!s.val || !s.ts)
		fail("out of memory");
	s.pc = make(&s, "pc");
	s.ea = make(&s, "ea");
	s.vpc = make(&s, "vpc");
	/* a process that replays can open no file any more */
	if (strcmp(argv[1], "-") != 0)
		val = make(&s, "val");
	ts = make(&s, "ts");
	fwrite("vpc3", 1, 4, s.vpc);
	if (!strcmp(argv[1], "-"))
		from_refs(&s);
	else
		from_capture(&s, argv[1]);
	if (val)
		grouped(val, s.val, s.nval);
	grouped(ts, s.ts, s.nts);
	if (fclose(s.pc) != 0 || fclose(s.ea) != 0 || fclose(s.vpc) != 0)
		fail("cannot write");
	return 0;
}
