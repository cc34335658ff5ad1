/* Reads code and times of .wet files of kind paper. */
#include "wet/file/paper/reader.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t order[PAPER_NSECTION] = { WETFILE_CODE, WETFILE_NODE, WETFILE_GRP, WETFILE_EDGE };

int
paper_bad(struct paper_read *r, const char *err)
{
	fault_set(&r->fault, r->sec < r->file->nsection ? r->file->section[r->sec].off : 0, r->sec, "%s",
	    err ? err : "no memory");
	return -1;
}

int
paper_load(struct paper_read *r, size_t segment, enum paper_section what, struct col_reader *c)
{
	r->sec = segment * PAPER_NSECTION + what;
	if (wetfile_load(r->file, r->sec, &r->b, &r->fault) != 0)
		return -1;
	*c = (struct col_reader){ .p = r->b.p, .end = r->b.p + r->b.n, .w = r->work };
	return 0;
}

void
paper_read_close(struct paper_read *r)
{
	store_code_free(&r->code);
	paper_classes_free(&r->class);
	pstreams_in_free(&r->in);
	free(r->node);
	free(r->first);
	free(r->seq);
	free(r->total);
	free(r->base);
	free(r->row);
	free(r->count);
	vc_work_free(r->work);
	buf_free(&r->b);
}

/* Appends the nodes of segment k to the nnode earlier ones. */
static int
paper_reader_nodes(struct paper_read *r, size_t k, size_t *nnode, size_t *cap)
{
	struct col path = { 0 }, n = { 0 };
	struct col_reader c;
	uint64_t p = 0, all = 0;
	int e = paper_load(r, k, PAPER_NODE, &c);

	if (!e &&
	    (col_get_upto(&c, &path, r->code.npath, UINT32_MAX, NULL) != 0 ||
		col_get(&c, &n, path.n, PAPER_SEGMENT, NULL) != 0))
		e = paper_bad(r, c.err);
	if (!e && buf_grow(&r->node, cap, *nnode + path.n + 1, sizeof *r->node) != 0)
		e = paper_bad(r, NULL);
	for (size_t i = 0; !e && i < path.n; i++) {
		if ((p += path.v[i]) >= r->code.npath || !n.v[i] || (i && !path.v[i])) {
			e = paper_bad(r, "a path that does not exist");
			break;
		}
		r->node[(*nnode)++] = (struct paper_node){ (uint32_t)p, (uint32_t)n.v[i], 0 };
		all += n.v[i] * r->code.path[p].n;
		r->ntime += n.v[i];
		if (all > PAPER_SEGMENT || r->ntime >= UINT32_MAX)
			e = paper_bad(r, "a segment is too long");
	}
	col_free(&path);
	col_free(&n);
	return e;
}

/* Reads all code, and all nodes. */
static int
all_code(struct paper_read *r)
{
	struct col_reader c;
	size_t n = 0, cap = 0;

	if ((r->first = calloc(r->nsegment + 1, sizeof *r->first)) == NULL)
		return paper_bad(r, NULL);
	for (size_t k = 0; k < r->nsegment; k++) {
		if (paper_load(r, k, PAPER_CODE, &c) != 0)
			return -1;
		if (store_code_decode(&r->code, &c) != 0)
			return paper_bad(r, c.err);
		if (paper_reader_nodes(r, k, &n, &cap) != 0)
			return -1;
		r->first[k + 1] = n;
	}
	return 0;
}

/* Allocates the arrays that are computed from times. */
static int
paper_reader_rows(struct paper_read *r)
{
	uint64_t n = 0;
	int e = paper_classes(&r->class, &r->code);

	if (e)
		return paper_bad(r, e < 0 ? NULL : "a path has a statement twice");
	r->total = calloc(r->code.npath + 1, sizeof *r->total);
	r->base = calloc(r->code.npath + 1, sizeof *r->base);
	r->count = calloc(r->class.n + 1, sizeof *r->count);
	r->seq = calloc(r->ntime + 1, sizeof *r->seq);
	if (!r->total || !r->base || !r->count || !r->seq)
		return paper_bad(r, NULL);
	for (size_t i = 0; r->nsegment && i < r->first[r->nsegment]; i++) {
		struct paper_node *a = &r->node[i];

		a->before = r->total[a->path];
		r->total[a->path] += a->n;
	}
	for (size_t i = 0; i < r->code.npath; i++) {
		r->base[i] = n;
		n += (uint64_t)r->total[i] * (r->class.first[i + 1] - r->class.first[i] + 1);
	}
	return (r->row = calloc(n + 1, sizeof *r->row)) == NULL ? paper_bad(r, NULL) : 0;
}

/* Reads the times of segment k, which begin at `from`.  seq has paths plus 1; 0: not read yet. */
static int
paper_reader_times(struct paper_read *r, size_t k, uint64_t from, uint64_t to)
{
	struct col skip = { 0 }, t = { 0 };
	struct col_reader c;
	int e = paper_load(r, k, PAPER_NODE, &c);

	for (int i = 0; i < 2 && !e; i++)
		e = col_get(&c, &skip, SIZE_MAX, UINT64_MAX, NULL);
	for (unsigned i = 2; i < 6 && !e; i++)
		e = col_get(&c, &skip, 0, 0, NULL);
	e = e || pstreams_load(&r->in, &c) != 0 ? paper_bad(r, c.err) : 0;
	for (size_t i = r->first[k]; i < r->first[k + 1] && !e; i++) {
		const struct paper_node *a = &r->node[i];
		uint32_t *row = r->row + (paper_times(r, a->path) - r->row);

		if (pstreams_next(&r->in, a->n, &c) != 0 ||
		    pstream_decode(&r->in, r->in.n - 1, to - 1, &t, &c) != 0) {
			e = paper_bad(r, c.err);
			break;
		}
		for (uint32_t j = 0; j < a->n && !e; j++) {
			if (t.v[j] < from || r->seq[t.v[j]] || (j && t.v[j] < t.v[j - 1]))
				e = paper_bad(r, "a time that is another's");
			else {
				r->seq[t.v[j]] = a->path + 1;
				row[a->before + j] = (uint32_t)t.v[j];
			}
		}
	}
	if (!e && (pstreams_at_end(&r->in, &c) != 0 || c.p != c.end))
		e = paper_bad(r, c.err ? c.err : "bytes after the last column");
	col_free(&skip);
	col_free(&t);
	return e;
}

/*
 * All times are different, and there is one for each place, so seq is complete: numbers the
 * instances of each execution.
 */
static int
paper_reader_instances(struct paper_read *r)
{
	uint32_t *nth = calloc(r->code.npath + 1, sizeof *nth);

	if (!nth)
		return paper_bad(r, NULL);
	for (uint64_t t = 0; t < r->ntime; t++) {
		uint32_t path = --r->seq[t], *row = r->row + r->base[path] + nth[path]++;

		for (uint32_t k = r->class.first[path]; k < r->class.first[path + 1];
		    k++, row += r->total[path])
			*row = r->count[r->class.class[k]]++;
	}
	free(nth);
	return 0;
}

int
paper_read_open(struct paper_read *r, const struct wetfile *f)
{
	size_t n = f->nsection;
	uint64_t from = 0;

	*r = (struct paper_read){ .file = f, .work = vc_work_new(1) };
	if (!r->work)
		return paper_bad(r, NULL);
	while (n && f->section[n - 1].tag == WETFILE_ARCH)
		n--;
	for (size_t i = 0; i < n; i++)
		if (f->section[i].tag != order[i % PAPER_NSECTION] ||
		    f->section[i].segment != i / PAPER_NSECTION) {
			r->sec = i;
			return paper_bad(r, "a section that does not belong here");
		}
	r->nsegment = n / PAPER_NSECTION;
	if (f->whole && n % PAPER_NSECTION) {
		fault_set(&r->fault, f->size, f->nsection, "sections are missing");
		return -1;
	}
	if (all_code(r) != 0 || paper_reader_rows(r) != 0)
		return -1;
	for (size_t k = 0; k < r->nsegment; k++) {
		uint64_t to = from;

		for (size_t i = r->first[k]; i < r->first[k + 1]; i++)
			to += r->node[i].n;
		if (paper_reader_times(r, k, from, to) != 0)
			return -1;
		from = to;
	}
	return paper_reader_instances(r);
}
