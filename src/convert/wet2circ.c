/*
 * wet2circ: print the last dependences of a whole execution trace
 *
 * The text is read twice: first to its end, for the order in which statements were executed
 * last; then for the dependences of those executions.  If the text has no such order,
 * dependences are ordered by instance.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/progress.h"
#include "base/spool.h"
#include "base/src.h"
#include "format/wettext/wettext.h"

#define DEFAULT  100000u        /* dependences, without -n */

/* A dependence of instance x of a statement.  seq: its position among the statement's dependences. */
struct dep { uint64_t x, seq, id, instance; };
struct late { struct dep dep; uint64_t pos; };          /* pos: position of the statement */

struct stmt {
	uint64_t id, addr, total;       /* total: executions by the order */
	uint64_t last;                  /* executions among the last steps */
	struct dep *dep;                /* dependences of these executions; owned */
	size_t ndep, cap, at;
};

struct job {
	const char *path, *name;        /* of the text; name is for diagnostics */
	struct out *out;
	uint64_t most;                  /* number of dependences wanted */
	struct stmt *stmt;
	size_t nstmt, capstmt;
	struct hash by_id;
	int ordered;
	struct wettext_step *ring;      /* the last steps; ring[first] is the oldest */
	size_t first, nring, capring;   /* capring is a power of 2 */
	uint64_t steps;                 /* statements executed in the ring */
	struct late *heap;              /* for texts without an order: the earliest is on top */
	size_t nheap, capheap;
};

/* The reader has verified that the statement exists. */
static struct stmt *
stmt_of(const struct job *j, uint64_t id)
{
	uint32_t h = hash_number(id), at = h, i;

	while ((i = hash_find(&j->by_id, h, &at)) != HASH_NONE && j->stmt[i].id != id)
		;
	return &j->stmt[i];
}

static void
add_stmt(struct job *j, const struct wettext_block *b)
{
	if (j->nstmt >= UINT32_MAX - 1)
		die("%s: too many statements", j->name);
	hash_xadd(&j->by_id, hash_number(b->id), (uint32_t)j->nstmt);
	j->stmt = mem_xgrow(j->stmt, &j->capstmt, j->nstmt + 1, sizeof *j->stmt);
	j->stmt[j->nstmt++] = (struct stmt){ .id = b->id, .addr = b->addr };
}

/* Adds a step to the ring, which keeps `most` executions. */
static void
add_step(struct job *j, const struct wettext_step *s, uint64_t most)
{
	if (j->nring == j->capring) {
		size_t cap = j->capring ? j->capring * 2 : 1024;
		struct wettext_step *r = xcalloc(cap, sizeof *r);

		for (size_t i = 0; i < j->nring; i++)
			r[i] = j->ring[(j->first + i) & (j->capring - 1)];
		free(j->ring);
		j->ring = r;
		j->first = 0;
		j->capring = cap;
	}
	j->ring[(j->first + j->nring++) & (j->capring - 1)] = *s;
	j->steps += s->count;
	while (j->steps - j->ring[j->first].count >= most) {
		j->steps -= j->ring[j->first].count;
		j->first = (j->first + 1) & (j->capring - 1);
		j->nring--;
	}
}

static int
wet2circ_earlier(const struct late *a, const struct late *b)
{
	if (a->dep.x != b->dep.x)
		return a->dep.x < b->dep.x;
	return a->pos != b->pos ? a->pos < b->pos : a->dep.seq < b->dep.seq;
}

static int
by_time(const void *a, const void *b)
{
	return wet2circ_earlier(a, b) ? -1 : wet2circ_earlier(b, a);
}

/* Adds a dependence to the heap, which keeps the latest ones. */
static void
add_late(struct job *j, const struct late *l)
{
	size_t i, k;

	if (j->nheap < j->most) {
		j->heap = mem_xgrow(j->heap, &j->capheap, j->nheap + 1, sizeof *j->heap);
		for (i = j->nheap++; i && wet2circ_earlier(l, &j->heap[(i - 1) / 2]); i = (i - 1) / 2)
			j->heap[i] = j->heap[(i - 1) / 2];
		j->heap[i] = *l;
		return;
	}
	if (wet2circ_earlier(l, &j->heap[0]))
		return;
	for (i = 0; (k = 2 * i + 1) < j->nheap; i = k) {
		if (k + 1 < j->nheap && wet2circ_earlier(&j->heap[k + 1], &j->heap[k]))
			k++;
		if (wet2circ_earlier(l, &j->heap[k]))
			break;
		j->heap[i] = j->heap[k];
	}
	j->heap[i] = *l;
}

_Noreturn static void
bad_text(const struct job *j, const struct wettext *r)
{
	die_fault(j->name, wettext_fault(r));
}

static struct wettext *
wet2circ_begin(const struct job *j, struct in **in)
{
	struct wettext *r = wettext_open(*in = in_open(j->path), 0);

	if (in_off(*in) == DIAG_NOOFF)  /* not text: it has no line 1 */
		die_at(j->name, DIAG_NOOFF, DIAG_NOREC, "%s", in_error(*in));
	if (!r)
		die("no memory");
	return r;
}

/* Reads the statements, and the last `most` executions. */
static void
wet2circ_read_order(struct job *j, uint64_t most)
{
	struct wettext_rec rec;
	struct in *in;
	struct wettext *r;
	int got;

	progress_stage("reading order");
	r = wet2circ_begin(j, &in);
	while ((got = wettext_next(r, &rec)) > 0) {
		if (got == WETTEXT_BLOCK)
			add_stmt(j, &rec.block);
		if (got != WETTEXT_ORDER)
			continue;
		j->ordered = 1;
		for (size_t i = 0; i < rec.n; i++) {
			add_step(j, &rec.step[i], most);
			for (uint64_t k = 0; k < rec.step[i].count; k++)
				stmt_of(j, rec.step[i].id + k)->total++;
		}
	}
	if (got == WETTEXT_BAD)
		bad_text(j, r);
	wettext_close(r);
	in_close(in);
	for (size_t i = 0; i < j->nring; i++) {
		const struct wettext_step *s = &j->ring[(j->first + i) & (j->capring - 1)];

		for (uint64_t k = 0; k < s->count; k++)
			stmt_of(j, s->id + k)->last++;
	}
}

static void
wet2circ_take(struct job *j, struct stmt *s, const struct dep *d)
{
	if (!j->ordered)
		add_late(j, &(struct late){ *d, (uint64_t)(s - j->stmt) });
	else if (d->x >= s->total - s->last) {
		s->dep = mem_xgrow(s->dep, &s->cap, s->ndep + 1, sizeof *s->dep);
		s->dep[s->ndep++] = *d;
	}
}

static int
by_instance(const void *a, const void *b)
{
	const struct dep *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return p->seq < q->seq ? -1 : p->seq > q->seq;
}

/* Reads the dependences of these executions, or the latest ones; returns their number. */
static uint64_t
wet2circ_collect(struct job *j)
{
	struct wettext_rec rec;
	struct in *in;
	struct wettext *r;
	struct stmt *s = NULL;
	uint64_t n = 0, seq = 0;
	int got;

	progress_stage("reading dependences");
	r = wet2circ_begin(j, &in);
	while ((got = wettext_next(r, &rec)) > 0) {
		if (got == WETTEXT_BLOCK) {
			s = stmt_of(j, rec.block.id);
			seq = 0;
		}
		for (size_t i = 0; got == WETTEXT_DEPS && i < rec.n; i++)
			wet2circ_take(j, s,
			    &(struct dep){ rec.dep[i].x, seq++, rec.dep[i].id, rec.dep[i].instance });
	}
	if (got == WETTEXT_BAD)
		bad_text(j, r);
	wettext_close(r);
	in_close(in);
	for (size_t i = 0; i < j->nstmt; i++) {
		if (j->stmt[i].ndep)
			qsort(j->stmt[i].dep, j->stmt[i].ndep, sizeof *j->stmt[i].dep, by_instance);
		n += j->stmt[i].ndep;
	}
	return n;
}

static void
wet2circ_print(struct job *j, const struct stmt *s, const struct dep *d)
{
	out_printf(j->out, "0x%" PRIx64 "#%" PRIu64 " --> 0x%" PRIx64 "#%" PRIu64 "\n", s->addr, d->x,
	    stmt_of(j, d->id)->addr, d->instance);
}

/* Prints the dependences of the last executions in order, except the first `skip`. */
static void
print_steps(struct job *j, uint64_t skip)
{
	for (size_t i = 0; i < j->nring; i++) {
		const struct wettext_step *t = &j->ring[(j->first + i) & (j->capring - 1)];

		for (uint64_t k = 0; k < t->count; k++) {
			struct stmt *s = stmt_of(j, t->id + k);
			uint64_t x = s->total - s->last--;

			for (; s->at < s->ndep && s->dep[s->at].x == x; s->at++) {
				if (skip)
					skip--;
				else
					wet2circ_print(j, s, &s->dep[s->at]);
			}
		}
	}
}

static void
wet2circ_forget(struct job *j)
{
	for (size_t i = 0; i < j->nstmt; i++)
		free(j->stmt[i].dep);
	free(j->stmt);
	hash_free(&j->by_id);
	free(j->ring);
	free(j->heap);
	*j = (struct job){ .path = j->path, .name = j->name, .out = j->out, .most = j->most };
}

static void
wet2circ_run(struct job *j)
{
	uint64_t n, steps = j->most;

	for (;; steps *= 4) {           /* go back as far as needed */
		uint64_t all = 0;

		wet2circ_read_order(j, steps);
		for (size_t i = 0; i < j->nstmt; i++)
			all += j->stmt[i].total;
		n = wet2circ_collect(j);
		if (!j->ordered || n >= j->most || j->steps == all || steps > UINT64_MAX / 4)
			break;
		wet2circ_forget(j);
	}
	if (j->ordered) {
		print_steps(j, n > j->most ? n - j->most : 0);
		return;
	}
	if (j->nheap)
		qsort(j->heap, j->nheap, sizeof *j->heap, by_time);
	for (size_t i = 0; i < j->nheap; i++)
		wet2circ_print(j, &j->stmt[j->heap[i].pos], &j->heap[i].dep);
}

static const struct opt wet2circ_opts[] = {
	{ 'n', "dependences", "N", "the last N dependences (100000)" },
	OPT_OUTPUT,
	{ 0 },
};

static const struct opt_tool wet2circ_tool = {
	.does = "Prints the most recent dependences of a WET text, in the order in which they happened.",
	.synopsis = "[-n dependences] [-o file] [text]",
	.example = "ws2wet --main p.ws | wet2circ -n 20",
	.opt = wet2circ_opts,
};

int
main(int argc, char **argv)
{
	struct job j = { .most = DEFAULT };
	const char *outname = NULL;
	char *copy = NULL;
	int c;

	diag_init(argv[0], 1);
	while ((c = opt_next(&wet2circ_tool, argc, argv)) != -1)
		switch (c) {
		case 'n':
			if (num_u64(optarg, 1, UINT32_MAX, &j.most) != 0)
				opt_wrong("not a number from 1 to %lu", (unsigned long)UINT32_MAX);
			break;
		case 'o': outname = optarg; break;
		}
	opt_operands(argc, argv, 0, 1);
	j.path = argv[optind];
	j.name = src_name(j.path);
	progress_start(j.name);
	if (src_is_stdin(j.path))
		j.path = copy = spool_stdin();
	j.out = out_open(outname);
	wet2circ_run(&j);
	out_close(j.out);
	wet2circ_forget(&j);
	free(copy);
	return 0;
}
