/* Queries of a capture: recording a window of the run. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <asm/prctl.h>

#include "wet/query/capture_window_internal.h"

void
qrec_free(struct qrec *c)
{
	free(c->run);
	free(c->word);
	free(c->parent);
	free(c->effect);
}

static unsigned
window_move(const struct ws_rec_move *m, uint64_t n, struct qeffect *e)
{
	uint64_t kept = m->oldlen < m->newlen ? m->oldlen : m->newlen;
	unsigned k = 0;

	if (m->from != m->to) {
		e[k++] = (struct qeffect){ .kind = QEFFECT_GONE, .n = n, .addr = m->to, .len = m->newlen };
		e[k++] = (struct qeffect){
			.kind = QEFFECT_MOVE, .n = n, .addr = m->from, .to = m->to, .len = kept
		};
	}
	if (m->oldlen > kept || m->from != m->to)
		e[k++] = (struct qeffect){
			.kind = QEFFECT_GONE, .n = n, .addr = m->from == m->to ? m->from + kept : m->from,
			.len = m->from == m->to ? m->oldlen - kept : m->oldlen
		};
	if (m->newlen > kept)
		e[k++] = (struct qeffect){
			.kind = QEFFECT_WRITE, .n = n, .addr = m->to + kept, .len = m->newlen - kept
		};
	return k;
}

unsigned
qrec_effects(const struct ws_rec *rec, uint64_t n, struct qeffect *e)
{
	switch (rec->kind) {
	case WS_MEM:
		*e = (struct qeffect){
			.kind = QEFFECT_WRITE, .n = n, .addr = rec->u.mem.addr, .len = rec->u.mem.n
		};
		return n != 0;
	case WS_MAP:
		*e = (struct qeffect){
			.kind = QEFFECT_WRITE, .n = n, .addr = rec->u.map.addr, .len = rec->u.map.len
		};
		return 1;
	case WS_UNMAP:
		*e = (struct qeffect){
			.kind = QEFFECT_GONE, .n = n, .addr = rec->u.range.addr, .len = rec->u.range.len
		};
		return 1;
	case WS_MOVE:
		return window_move(&rec->u.move, n, e);
	case WS_SYS:
		if (rec->u.sys.nr != SYS_arch_prctl || rec->u.sys.ret != 0 ||
		    (rec->u.sys.arg[0] != ARCH_SET_FS && rec->u.sys.arg[0] != ARCH_SET_GS))
			return 0;
		*e = (struct qeffect){
			.kind = rec->u.sys.arg[0] == ARCH_SET_FS ? QEFFECT_FSBASE : QEFFECT_GSBASE, .n = n
		};
		return 1;
	default:
		return 0;
	}
}

static void
on_record(void *arg, const struct ws_rec *rec, size_t run, uint64_t n)
{
	struct qrec *c = arg;
	struct qeffect e[4];
	unsigned k;

	if (n < c->from && n)           /* it belongs to the window before */
		return;
	k = qrec_effects(rec, n, e);
	if (buf_grow(&c->effect, &c->capeffect, c->neffect + k, sizeof *c->effect) < 0) {
		c->nomem = 1;
		return;
	}
	for (unsigned i = 0; i < k; i++) {
		e[i].run = c->batch + run;
		c->effect[c->neffect++] = e[i];
	}
}

/* The number of words of a run, with those that depend on how its last instruction ran */
static size_t
window_words(const struct qpath *p, const struct visit_run *r)
{
	return p->nword + r->nlast + r->nmem;
}

/* Appends the references of a run to the recorded words; the caller has made room. */
static inline void
window_references(struct qrec *c, const struct qpath *p, const uint64_t *word, uint32_t nlast)
{
	uint64_t *to = c->word + c->nword;

	for (uint32_t i = 0; i < p->nref; i++)
		to[i] = word[p->ref[i]];
	if (nlast)
		memcpy(to + p->nref, word + p->at[p->n - 1].ref, nlast * sizeof *to);
	c->nword += p->nref + nlast;
}

static inline int
window_run(struct qrec *c, const struct visit_run *run, const struct visit_batch *b, uint64_t end,
    int control, size_t word)
{
	struct qcap *cap = c->cap;
	const uint64_t *w = b->word + run->word;
	uint32_t ninsn = run->ninsn, nlast = run->nlast, nmem = run->nmem;
	const struct control_path *t;
	struct qpath *p;

	if (run->n + ninsn - 1 > end) {
		ninsn = (uint32_t)(end - run->n + 1);
		nlast = nmem = 0;
	}
	if ((p = qcap_path(cap, run->at, ninsn)) == NULL || (!p->insn && qcap_make_insns(cap, p) != 0))
		return -1;
	c->run[c->nrun++] = (struct qrun){
		p, c->brief ? c->nword : word + run->word, (uint32_t)(run->n - c->from),
		(uint32_t)c->nparent, nlast, nmem
	};
	if (c->brief)
		window_references(c, p, w, nlast);
	if (!control)
		return 0;
	if (!p->id)
		return control_signal(cap->control, run->n, w);
	if ((t = qcap_control_path(cap, p)) == NULL ||
	    control_step(cap->control, t, run->n, w, c->parent + c->nparent) != 0)
		return -1;
	c->nparent += t->npiece;
	return 0;
}

/* Records a batch, up to position end.  Unless c->brief, its words are copied unchanged. */
static int
window_batch(struct qrec *c, const struct visit_batch *b, uint64_t end, int control)
{
	const struct visit_run *last = b->run + b->nrun - 1;
	size_t lo = b->run->word, word = c->nword - lo, n;
	const struct qpath *p;

	if (b->run->n > end)
		return 0;
	if ((p = qcap_path(c->cap, last->at, last->ninsn)) == NULL)
		return -1;
	n = last->word + window_words(p, last) - lo;
	if (buf_grow(&c->parent, &c->capparent, c->nparent + b->ninsn, sizeof *c->parent) < 0 ||
	    buf_grow(&c->run, &c->caprun, c->nrun + b->nrun, sizeof *c->run) < 0 ||
	    buf_grow(&c->word, &c->capword, c->nword + n, sizeof *c->word) < 0)
		return -1;
	if (!c->brief)
		memcpy(c->word + c->nword, b->word + lo, n * sizeof *c->word);
	for (const struct visit_run *r = b->run; r <= last && r->n <= end; r++)
		if (window_run(c, r, b, end, control, word) != 0)
			return -1;
	if (!c->brief)
		c->nword += n;
	return 0;
}

static int
window_record(struct qrec *c, uint64_t end, int control)
{
	struct qcap *cap = c->cap;
	struct visit_batch b;
	int got = qcap_seek(cap, c->from);
	uint64_t last = 0;

	visit_set_record_fn(cap->trace, on_record, c);
	visit_until(cap->trace, end + 1);       /* so that the records after instance `end` come, too */
	while (got == 1 && last <= end && (got = qcap_next_batch(cap, &b)) == 1) {
		if (b.nrun && window_batch(c, &b, end, control) != 0)
			return -1;
		if (b.nrun)
			last = b.run[b.nrun - 1].n + b.run[b.nrun - 1].ninsn - 1;
		c->batch = c->nrun;
	}
	visit_set_record_fn(cap->trace, NULL, NULL);
	if (c->nomem)
		return -1;
	return got < 0 ? -1 : 0;
}

/* An array of n elements, which are used from the first on: its pages are large, as there are many. */
static void *
window_array(size_t n, size_t size, size_t *cap)
{
	const size_t large = (size_t)2 << 20;
	char *p = malloc(n * size), *from = p + (large - (uintptr_t)p % large);

	*cap = p ? n : 0;
	if (p && n * size > 2 * large)
		(void)madvise(from, (size_t)(p + n * size - from) / large * large, MADV_HUGEPAGE);
	return p;
}

/* Memory that is not used is not there; without memory, arrays grow as they are filled. */
static void
window_reserve(struct qrec *c)
{
	size_t n = c->cap->window < c->cap->q->length ? c->cap->window : c->cap->q->length;

	if (c->run)
		return;
	c->run = window_array(n / 8 + 64, sizeof *c->run, &c->caprun);
	c->word = window_array(n + n / 2 + 64, sizeof *c->word, &c->capword);
	c->parent = window_array(n / 4 + 64, sizeof *c->parent, &c->capparent);
}

int
qrec_window(struct qrec *c, size_t k, uint64_t end, int control)
{
	struct qcap *cap = c->cap;

	window_reserve(c);
	c->from = cap->win[k].n;
	c->nrun = c->nword = c->nparent = c->neffect = c->batch = 0;
	if (qcap_open_trace(cap, 0) != 0 || (control && qcap_load_control(cap, k) != 0))
		return -1;
	return window_record(c, end, control);
}
