/* Writer of kind paper: collects the labels of nodes and edges, execution by execution. */
#include <stdlib.h>
#include <string.h>

#include "wet/file/paper/paper_internal.h"

/* Ensures room for element n; starts with little memory, as most lists stay short. */
static int
paper_array_grow(void *array, uint32_t *cap, uint32_t n, size_t size)
{
	uint32_t want = *cap < 2 ? 2 : *cap * 2;
	void *p;

	if (n < *cap)
		return 0;
	memcpy(&p, array, sizeof p);
	if (n >= UINT32_MAX / 2 || (p = realloc(p, want * size)) == NULL)
		return -1;
	memcpy(array, &p, sizeof p);
	*cap = want;
	return 0;
}

/* Finds or adds the edge from a statement of a node, and moves it to the front; NULL: no memory. */
static struct pedge *
edge_of(struct pport *p, uint32_t node, uint32_t stmt)
{
	uint32_t i, cap = p->nedge;
	struct pedge e;

	for (i = 0; i < p->nedge; i++)
		if (p->edge[i].stmt == stmt && p->edge[i].node == node)
			break;
	if (i == p->nedge) {
		if ((p->nedge & (p->nedge - 1)) == 0) {         /* capacities are powers of 2 */
			struct pedge *q = realloc(p->edge, (cap ? cap * 2 : 1) * sizeof *q);

			if (!q)
				return NULL;
			p->edge = q;
		}
		p->edge[p->nedge++] = (struct pedge){ node, stmt, NULL, 0, 0 };
	}
	e = p->edge[i];
	memmove(p->edge + 1, p->edge, i * sizeof *p->edge);
	p->edge[0] = e;
	return p->edge;
}

static int
paper_label(struct pport *p, uint32_t node, uint32_t stmt, uint32_t use, uint32_t def)
{
	struct pedge *e = edge_of(p, node, stmt);

	if (!e || paper_array_grow(&e->label, &e->cap, e->n, sizeof *e->label) != 0)
		return -1;
	e->label[e->n++] = (struct plabel){ use, def };
	return 0;
}

int
paper_port_add_edge(struct pport *p, uint32_t path, uint32_t before)
{
	for (uint32_t i = 0; i < p->nsame; i++)
		if (paper_label(p, path, p->same - 1, before + i, before + i) != 0)
			return -1;
	p->same = p->nsame = 0;
	return 0;
}

static int
paper_use(void *arg, uint32_t s, uint32_t x, uint32_t port, const uint64_t *who, size_t n)
{
	struct paper *t = arg;
	struct pnode *a = t->at;
	struct pport *p = &a->port[t->atport++];
	uint32_t k = a->n;              /* executions in the segment before this one */

	(void)s, (void)x, (void)port;
	for (size_t i = 0; i < n; i++) {
		uint32_t stmt = (uint32_t)(who[i] >> 32) - 1, class = t->class.of[stmt], when;

		if ((uint32_t)who[i] >= t->nwhen[class])
			return store_fail(t->out.f, 1, "a dependence on what is still to come");
		when = t->when[class][(uint32_t)who[i]];
		if (n == 1 && when == t->time &&
		    (k == 0 ? !p->nedge : p->same == stmt + 1 && p->nsame == k)) {
			p->same = stmt + 1;
			p->nsame++;
			return 0;
		}
		if (paper_port_add_edge(p, t->atpath, a->before) != 0 ||
		    paper_label(p, t->seq[when], stmt, a->before + k, t->nth[when]) != 0)
			return -1;
		t->npair++;
	}
	return 0;
}

static int
new_node(struct paper *t, uint32_t path)
{
	const struct store_path *p = &t->r.code.path[path];
	struct pnode *a = &t->node[path];

	for (uint32_t i = 0; i < p->n; i++) {
		const struct store_stmt *v = &t->r.code.stmt[t->r.code.seq[p->first + i]];

		a->nport += 1 + v->nuse + v->nmem;
		a->nword += v->nval;
	}
	return (a->port = calloc(a->nport + 1, sizeof *a->port)) == NULL ? -1 : 0;
}

/* Path i of the other file's segment was executed; x0: executions of statements before it. */
static int
paper_execution(struct paper *t, size_t i, const uint32_t *x0)
{
	struct store_read *r = &t->r;
	uint32_t path = (uint32_t)r->path.v[i];
	const struct store_path *p = &r->code.path[path];
	const uint32_t *seq = r->code.seq + p->first;
	struct pnode *a = &t->node[path];

	if (t->time >= UINT32_MAX - 1)
		return store_fail(t->out.f, 1, "more than 4294967294 executions of paths");
	if ((!a->port && new_node(t, path) != 0) ||
	    buf_grow(&t->seq, &t->capseq, t->time + 1, sizeof *t->seq) != 0 ||
	    buf_grow(&t->nth, &t->capnth, t->time + 1, sizeof *t->nth) != 0 ||
	    buf_grow(&a->time, &a->captime, a->n + 1u, sizeof *a->time) != 0 ||
	    buf_grow(&a->val, &a->capval, (size_t)(a->n + 1) * a->nword, sizeof *a->val) != 0)
		return -1;
	t->seq[t->time] = path;
	t->nth[t->time] = a->before + a->n;
	for (uint32_t k = t->class.first[path]; k < t->class.first[path + 1]; k++)
		t->when[t->class.class[k]][t->nwhen[t->class.class[k]]++] = (uint32_t)t->time;
	for (uint32_t k = 0, w = 0; k < p->n; k++) {
		const struct store_place *at = &r->place[seq[k]];

		for (unsigned j = 0; j < r->code.stmt[seq[k]].nval; j++)
			a->val[(size_t)a->n * a->nword + w++] = r->vals.val.v[at->at + j * at->n +
			    (r->count[seq[k]] - x0[seq[k]])];
	}
	t->at = a;
	t->atpath = path;
	t->atport = 0;
	t->out.f->err[0] = 0;
	if (store_read_deps(r, i, NULL, paper_use, t) != 0)
		return t->out.f->err[0] ? -1 : store_fail(t->out.f, 1, "%s", r->fault.err);
	a->time[a->n++] = (uint32_t)t->time++;
	t->n += p->n;
	t->nword += a->nword;
	return 0;
}

/* Collects the times of all instances of each class. */
static int
paper_cut_times(struct paper *t)
{
	t->when = calloc(t->class.n + 1, sizeof *t->when);
	t->nwhen = calloc(t->class.n + 1, sizeof *t->nwhen);
	if (!t->when || !t->nwhen)
		return -1;
	for (size_t s = 0; s < t->r.code.nstmt; s++) {
		uint32_t class = t->class.of[s];

		if (!t->when[class] && (t->when[class] = calloc(t->r.total[s] + 1, sizeof **t->when)) == NULL)
			return -1;
	}
	return 0;
}

static int
paper_segments(struct paper *t)
{
	uint32_t *x0 = calloc(t->r.code.nstmt + 1, sizeof *x0);
	int bad = !x0;

	for (size_t k = 0; !bad && k < t->r.nsegment; k++) {
		memcpy(x0, t->r.count, t->r.code.nstmt * sizeof *x0);
		if (store_read_segment(&t->r, k, STORE_DEPS | STORE_VALUES) != 0)
			bad = store_fail(t->out.f, 1, "%s", t->r.fault.err);
		if (!bad && t->n && t->n + t->r.n > PAPER_SEGMENT)
			bad = paper_segment(t);
		for (size_t i = 0; !bad && i < t->r.path.n; i++)
			bad = paper_execution(t, i, x0);
		if (!bad && (t->n >= t->out.o->segment || t->nword >= PAPER_WORDS || t->npair >= PAPER_PAIRS))
			bad = paper_segment(t);
	}
	if (!bad && t->n)
		bad = paper_segment(t);
	free(x0);
	return bad;
}

/* Copies one-bit labels unchanged. */
static int
paper_labels(struct paper *t, const struct wetfile *full)
{
	struct fault wf;
	int bad = 0;

	for (size_t i = 0; i < full->nsection && !bad; i++)
		if (full->section[i].tag == WETFILE_ARCH)
			bad = wetfile_load(full, i, &t->out.b, &wf) != 0 ?
			    store_fail(t->out.f, 1, "%s", wf.err) :
			    store_section(&t->out, WETFILE_ARCH, full->section[i].segment, STORE_P_ARCH);
	return bad;
}

static void
free_nodes(struct paper *t)
{
	for (size_t i = 0; t->node && i < t->r.code.npath; i++) {
		struct pnode *a = &t->node[i];

		for (uint32_t k = 0; a->port && k < a->nport; k++) {
			for (uint32_t j = 0; j < a->port[k].nedge; j++)
				free(a->port[k].edge[j].label);
			free(a->port[k].edge);
		}
		free(a->port);
		free(a->time);
		free(a->val);
	}
	free(t->node);
}

static void
paper_free(struct paper *t)
{
	free_nodes(t);
	for (uint32_t i = 0; t->when && i < t->class.n; i++)
		free(t->when[i]);
	free(t->when);
	free(t->nwhen);
	free(t->seq);
	free(t->nth);
	paper_classes_free(&t->class);
	pstreams_free(&t->streams);
	store_read_close(&t->r);
	store_out_free(&t->out);
	free(t);
}

int
store_paper(const struct wetfile *full, struct wetfile_writer *w, const struct store_opts *o,
    struct paper_stats *s, struct fault *f)
{
	struct paper *t = calloc(1, sizeof *t);
	int bad;

	f->err[0] = '\0';
	if (!t)
		return fault_nomem(f);
	bad = store_out_init(&t->out, w, o, f, 1);
	if (store_read_open(&t->r, full) != 0 && !bad)
		bad = store_fail(f, 1, "%s", t->r.fault.err);
	if (!bad && (bad = paper_classes(&t->class, &t->r.code)) > 0)
		bad = store_fail(f, 1, "a path has a statement twice");
	if (!bad)
		bad = (t->node = calloc(t->r.code.npath + 1, sizeof *t->node)) == NULL ||
		    paper_cut_times(t) != 0 || paper_segments(t) != 0 || paper_labels(t, full) != 0;
	if (!bad && full->whole)
		bad = store_finish(&t->out, &full->early) != 0;
	t->stats.npath = t->r.code.npath;
	t->stats.ntime = t->time;
	t->stats.nsegment = t->nseg;
	t->stats.arch = t->out.stats.part[STORE_P_ARCH];
	*s = t->stats;
	paper_free(t);
	return bad ? fault_nomem(f) : 0;
}
