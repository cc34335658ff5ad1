/* Queries of a capture: the dependences between the instances of a slice, from a visit with writers. */
#include <stdlib.h>
#include <sys/mman.h>

#include "wet/query/capture_internal.h"

#define SIGNAL UINT32_MAX               /* in id: a signal, which counts as the instance before it */

struct deps {
	struct query *q;
	struct qcap *cap;
	const struct query_slice *s;
	query_dep_fn *fn;
	void *arg;
	uint32_t *id;                   /* statements of members so far, by position; NORESERVE memory */
	uint64_t last;                  /* the last position visited */
	uint64_t *writer;               /* writers of the current port; owned */
	size_t nwriter, capwriter;
	int control, enough;
};

static int
deps_latest_first(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p > q ? -1 : p < q;
}

/* Adds a writer of the current port if it is in the slice. */
static int
deps_add(struct deps *c, uint64_t writer)
{
	while (writer && c->id[writer] == SIGNAL)
		writer--;
	if (!writer || !query_in_slice(c->q, writer) || !c->id[writer])
		return 0;
	if (buf_grow(&c->writer, &c->capwriter, c->nwriter + 1, sizeof *c->writer) < 0)
		return -1;
	c->writer[c->nwriter++] = writer;
	return 0;
}

/* Reports the dependences of a port, which has nw uses with writers w; each writer once. */
static int
deps_port(struct deps *c, uint32_t id, uint32_t port, uint64_t n, const uint64_t *w, size_t nw,
    const struct visit_batch *b)
{
	struct query_dep d = { .id = id, .port = port, .n = n };

	c->nwriter = 0;
	for (size_t i = 0; i < nw; i++) {
		const struct visit_piece *p = &b->piece[w[i] & ~VISIT_MANY];

		do
			if (deps_add(c, w[i] & VISIT_MANY ? p->writer : w[i]) != 0)
				return -1;
		while (w[i] & VISIT_MANY && p++->more);
	}
	if (c->nwriter > 1)
		qsort(c->writer, c->nwriter, sizeof *c->writer, deps_latest_first);
	for (size_t i = 0; i < c->nwriter; i++) {
		d.onn = c->writer[i];
		d.on = c->id[d.onn];
		if (i == 0 || d.onn != c->writer[i - 1])
			c->enough |= c->fn(c->arg, &d) != 0;
	}
	return 0;
}

/* Reports the dependences of a member.  again: a further part of a string instruction */
static int
deps_member(struct deps *c, uint32_t id, const struct visit_insn *e, const struct visit_batch *b,
    uint64_t parent, int again)
{
	const uint64_t *w = b->writer + e->use;
	unsigned nuse = e->fact->nuse, nread = 0;
	int bad = 0;

	c->id[e->n] = id;
	if (c->s->flags & QUERY_FORWARD && e->n == c->s->n)
		return 0;               /* the criterion of a forward slice depends on no member */
	if (!again && !(c->s->flags & QUERY_DATA))
		bad |= deps_port(c, id, 0, e->n, &parent, 1, b);
	for (unsigned i = 0; i < nuse && !again; i++)
		if (qcap_follows(c->s->flags, e->fact, i, &c->q->stmt[id - 1].port))
			bad |= deps_port(c, id, i + 1, e->n, &w[i], 1, b);
	if (c->s->flags & QUERY_CONTROL)
		return bad;
	for (uint32_t i = 0; i < e->nref; i++)
		nread += (unsigned)visit_reads(b->word[e->ref + i]);
	if (c->q->stmt[id - 1].port.any)
		return bad | deps_port(c, id, nuse + 1, e->n, w + nuse, nread, b);
	for (unsigned k = 0; k < nread; k++)
		bad |= deps_port(c, id, nuse + 1 + k, e->n, &w[nuse + k], 1, b);
	return bad;
}

/* Reports the dependences of the members of a run.  Members in the same piece have the same parent. */
static int
deps_members(struct deps *c, const struct visit_run *r, const struct visit_batch *b, const struct qpath *p,
    uint64_t mask, int again)
{
	for (uint32_t k = 0; mask && !c->enough; mask &= mask - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(mask);
		struct visit_insn e = visit_insn(r, i);

		while (c->control && i >= p->control->end[k])
			k++;
		if (deps_member(c, p->id[i], &e, b, c->control ? c->cap->parent[k] : 0, again) != 0)
			return -1;
	}
	return 0;
}

static int
deps_run(struct deps *c, const struct visit_run *r, const struct visit_batch *b)
{
	struct qcap *cap = c->cap;
	const uint64_t *word = b->word + r->word;
	uint64_t mask = query_in_slice_mask(c->q, r->n) & ~UINT64_C(0) >> (64 - r->ninsn);
	int again = r->n <= c->last;
	struct qpath *p;

	c->last = r->n + r->ninsn - 1;
	if ((p = qcap_path(cap, r->at, r->ninsn)) == NULL)
		return -1;
	if (!p->id) {
		c->id[r->n] = SIGNAL;
		return c->control && control_signal(cap->control, r->n, word) != 0 ? -1 : 0;
	}
	if (c->control &&
	    (qcap_control_path(cap, p) == NULL ||
		buf_grow(&cap->parent, &cap->capparent, r->ninsn, sizeof *cap->parent) < 0 ||
		control_step(cap->control, p->control, r->n, word, mask ? cap->parent : NULL) != 0))
		return -1;
	return deps_members(c, r, b, p, mask, again);
}

static int
deps_walk(struct deps *c)
{
	struct qcap *cap = c->cap;
	uint64_t end = c->s->flags & QUERY_FORWARD ? cap->q->length : c->s->n;
	struct visit_batch b;
	int got = qcap_seek(cap, 1);

	visit_until(cap->trace, end);
	while (got == 1 && !c->enough && (got = qcap_next_batch(cap, &b)) == 1)
		for (size_t i = 0; i < b.nrun; i++)
			if (deps_run(c, &b.run[i], &b) != 0)
				return -1;
	return got < 0 ? -1 : 0;
}

int
qcap_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg)
{
	struct qcap *cap = q->cap;
	struct deps c = {
		.q = q, .cap = cap, .s = s, .fn = fn, .arg = arg, .control = !(s->flags & QUERY_DATA)
	};
	size_t n = (q->length + 2) * sizeof *c.id;
	int bad;

	if (qcap_open_trace(cap, VISIT_WRITERS) != 0)
		return -1;
	c.id = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	bad = c.id == MAP_FAILED ? -1 : c.control ? qcap_load_control(cap, 0) : 0;
	if (!bad)
		bad = deps_walk(&c);
	free(c.writer);
	if (c.id != MAP_FAILED)
		munmap(c.id, n);
	return bad;
}
