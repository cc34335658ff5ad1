/*
 * streams: value streams out of our own traces, as little-endian 64-bit words
 *
 *   streams refs SKIP MAX NAME < stream    NAME.pc: fetched addresses, NAME.ea: addresses of data
 *   streams wet SKIP MAX NAME CAPTURE      NAME.val: what the instructions put into general registers, NAME.ts: the times
 *                                          blocks were run at, both by statement, as the labels of a WET's nodes are
 *
 * MAX values of each, after SKIP instructions.  NAME.val.len and NAME.ts.len have how many belong to each statement.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/num.h"
#include "replay/itrace/itrace.h"

#define NBUF 65536

struct list {
	uint64_t *v;
	uint32_t *id;                   /* of the statement, if there are statements */
	size_t n, max;
};

static void
list_make(struct list *l, size_t max)
{
	*l = (struct list){ xreallocarray(NULL, max, sizeof *l->v), xreallocarray(NULL, max, sizeof *l->id), 0, max };
}

static void
list_add(struct list *l, uint64_t v, uint32_t id)
{
	if (l->n == l->max)
		return;
	l->v[l->n] = v;
	l->id[l->n++] = id;
}

static void
list_write(const char *name, const char *suffix, const uint64_t *v, size_t n)
{
	char path[4096];
	uint8_t b[8];
	FILE *f;

	snprintf(path, sizeof path, "%s.%s", name, suffix);
	f = fopen(path, "w");
	if (!f)
		die("%s: cannot be written", path);
	for (size_t i = 0; i < n; i++) {
		put_le64(b, v[i]);
		fwrite(b, 8, 1, f);
	}
	if (ferror(f) | fclose(f))
		die("%s: not written", path);
}

/* By statement, each in order, statements in order of their ids */
static void
list_group(const char *name, const char *suffix, const struct list *l)
{
	uint64_t *v = xreallocarray(NULL, l->n + 1, sizeof *v), *len;
	size_t nid = 0, nlen = 0, at = 0, *place;
	char lens[64];

	for (size_t i = 0; i < l->n; i++)
		nid = l->id[i] >= nid ? l->id[i] + 1u : nid;
	place = xreallocarray(NULL, nid + 1, sizeof *place);
	len = xreallocarray(NULL, nid + 1, sizeof *len);
	memset(place, 0, (nid + 1) * sizeof *place);
	for (size_t i = 0; i < l->n; i++)
		place[l->id[i]]++;
	for (size_t k = 0; k < nid; k++) {
		size_t n = place[k];

		place[k] = at;
		at += n;
		if (n)
			len[nlen++] = n;
	}
	for (size_t i = 0; i < l->n; i++)
		v[place[l->id[i]]++] = l->v[i];
	list_write(name, suffix, v, l->n);
	snprintf(lens, sizeof lens, "%s.len", suffix);
	list_write(name, lens, len, nlen);
	free(v);
	free(len);
	free(place);
}

static void
refs(uint64_t skip, size_t max, const char *name)
{
	struct in *in = in_open("-");
	struct ref_reader r;
	struct list pc, ea;
	uint64_t ninst = 0, w[4096];
	long n;

	list_make(&pc, max);
	list_make(&ea, max);
	if (ref_open(&r, in) != 0)
		die("%s", r.err);
	while ((n = ref_read(&r, w, 4096)) > 0 && (pc.n < max || ea.n < max))
		for (long i = 0; i < n; i++) {
			int fetch = ref_kind(w[i]) == REF_INST;

			ninst += (uint64_t)fetch;
			if (ninst > skip && ref_kind(w[i]) < REF_ENTER)
				list_add(fetch ? &pc : &ea, ref_addr(w[i]), 0);
		}
	if (n < 0)
		die("%s", r.err);
	list_write(name, "pc", pc.v, pc.n);
	list_write(name, "ea", ea.v, ea.n);
}

/* The general register that an instruction defines first, if it does: its value */
static int
result(const struct visit_batch *b, const struct visit_insn *e, uint64_t *v)
{
	for (unsigned k = 0; k < e->fact->ndef; k++) {
		const struct fact_def *d = &e->fact->def[k];

		if (d->reg < 16 && d->val != FACT_NOVALUE) {
			*v = b->word[e->val + d->val];
			return 1;
		}
	}
	return 0;
}

static void
wet(uint64_t skip, size_t max, const char *name, const char *capture)
{
	struct fault f;
	struct visit_batch b;
	struct visit *v = visit_open(capture, 0, &f);
	struct list val, ts;
	uint64_t time = 0, x;
	int e = v ? REPLAY_OK : REPLAY_BAD;

	list_make(&val, max);
	list_make(&ts, max);
	while (e == REPLAY_OK && (val.n < max || ts.n < max) && (e = visit_batch(v, &b)) == REPLAY_OK)
		for (const struct visit_run *r = b.run; r < b.run + b.nrun; r++) {
			time++;
			if (r->n <= skip || r->ninsn == 0)
				continue;
			list_add(&ts, time, r->at[0].fact->id);
			for (uint32_t i = 0; i < r->ninsn; i++) {
				struct visit_insn at = visit_insn(r, i);

				if (result(&b, &at, &x))
					list_add(&val, x, at.fact->id);
			}
		}
	if (e == REPLAY_BAD)
		die("%s: %s", capture, v ? replay_fault(visit_replay(v))->err : f.err);
	list_group(name, "val", &val);
	list_group(name, "ts", &ts);
}

int
main(int argc, char **argv)
{
	uint64_t skip, max;

	diag_init("streams", 1);
	if (argc < 5 || num_u64(argv[2], 0, UINT64_MAX, &skip) || num_u64(argv[3], 1, 1u << 28, &max))
		die("refs SKIP MAX NAME, wet SKIP MAX NAME CAPTURE");
	if (!strcmp(argv[1], "wet") && argc == 6)
		wet(skip, max, argv[4], argv[5]);
	else
		refs(skip, max, argv[4]);
	return 0;
}
