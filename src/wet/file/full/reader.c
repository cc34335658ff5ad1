/* Reads .wet files of kinds full and loads: sections and segments. */
#include "wet/file/full/reader.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t order[FULL_SECTIONS] = { WETFILE_CODE, WETFILE_KEY, WETFILE_PATH, WETFILE_RANK, WETFILE_DEP,
	WETFILE_VAL, WETFILE_ADDR };

int
full_reader_bad(struct store_read *r, const char *err)
{
	fault_set(&r->fault, r->file->section[r->sec].off, r->sec, "%s", err ? err : "no memory");
	return -1;
}

int
full_reader_load(struct store_read *r, size_t k, unsigned what, struct col_reader *c)
{
	r->sec = k * FULL_SECTIONS + what;
	if (wetfile_load(r->file, r->sec, &r->b, &r->fault) != 0)
		return -1;
	*c = (struct col_reader){ .p = r->b.p, .end = r->b.p + r->b.n, .w = r->work };
	return 0;
}

int
full_reader_over(struct store_read *r, const struct col_reader *c)
{
	return c->err ? full_reader_bad(r, c->err) :
	    c->p != c->end ? full_reader_bad(r, "bytes after the last column") : 0;
}

void
store_read_close(struct store_read *r)
{
	if (!r->shared) {
		store_code_free(&r->code);
		free(r->nstmt);
		free(r->total);
		for (size_t k = 0; r->rank && k < r->nsegment; k++)
			free(r->rank[k].v);
		free(r->rank);
	}
	if (r->load)
		load_free(r->load);
	free(r->load);
	model_free(&r->model);
	memdep_free(&r->dep);
	col_free(&r->path);
	value_cache_free(r);
	for (unsigned i = 0; i < DEP_NCOL; i++)
		col_free(&r->col[i]);
	free(r->times);
	free(r->at_slot);
	free(r->token);
	free(r->by_port);
	col_free(&r->sorted);
	col_free(&r->keys);
	col_free(&r->ref);
	free(r->refat);
	waddr_free(&r->addr);
	free(r->count);
	free(r->place);
	vc_work_free(r->work);
	buf_free(&r->b);
}

static int
full_reader_load_init(struct store_read *r)
{
	if ((r->load = aligned_alloc(alignof(struct load), sizeof *r->load)) == NULL)
		return -1;
	load_init(r->load);
	return 0;
}

int
store_read_open(struct store_read *r, const struct wetfile *f)
{
	size_t n = f->nsection;
	int e;

	*r = (struct store_read){ .file = f, .work = vc_work_new(1) };
	if (!r->work || model_init(&r->model, &r->code) != 0)
		return fault_nomem(&r->fault);
	vc_work_alone(r->work);
	if (f->kind == WETFILE_LOADS) {
		r->code.bytes = 1;
		if (full_reader_load_init(r) != 0)
			return fault_nomem(&r->fault);
	}
	while (n && f->section[n - 1].tag == WETFILE_ARCH)      /* labels are not read here */
		n--;
	for (size_t i = 0; i < n; i++)
		if (f->section[i].tag != order[i % FULL_SECTIONS] || f->section[i].segment != i / FULL_SECTIONS) {
			r->sec = i;
			return full_reader_bad(r, "a section that does not belong here");
		}
	r->nsegment = n / FULL_SECTIONS;
	if (f->whole && n % FULL_SECTIONS) {
		fault_set(&r->fault, f->size, f->nsection, "sections are missing");
		return -1;
	}
	if (full_reader_ranks(r) != 0)
		return -1;
	if (r->load && (e = store_load_open(r)) != 0)
		return full_reader_bad(r, e < 0 ? NULL : "a statement is not as its instruction is");
	r->count = calloc(r->code.nstmt + 1, sizeof *r->count);
	if (!r->count || memdep_room(&r->dep, r->code.nslot) != 0)
		return fault_nomem(&r->fault);
	return 0;
}

int
store_read_share(struct store_read *r, const struct store_read *of)
{
	*r = (struct store_read){ .file = of->file, .shared = 1, .work = vc_work_new(1), .code = of->code,
		.nsegment = of->nsegment, .nstmt = of->nstmt, .total = of->total, .rank = of->rank,
		.place = calloc(of->code.nstmt + 1, sizeof *r->place),
		.count = calloc(of->code.nstmt + 1, sizeof *r->count) };
	if (!r->work || !r->place || !r->count || model_init(&r->model, &r->code) != 0 ||
	    memdep_room(&r->dep, r->code.nslot) != 0 || (of->load && full_reader_load_init(r) != 0))
		return fault_nomem(&r->fault);
	vc_work_alone(r->work);
	return 0;
}

int
store_read_check(struct store_read *r, size_t k)
{
	struct col_reader c;

	return full_reader_load(r, k, FULL_ADDR, &c);
}

/* Sets r->place[].n to the executions in segment k. */
static void
full_reader_rank(struct store_read *r, size_t k)
{
	const struct store_rank *rank = &r->rank[k];

	memset(r->place, 0, (r->code.nstmt + 1) * sizeof *r->place);
	for (size_t i = 0; i < rank->n; i++)
		r->place[rank->v[i].id - 1].n = rank->v[i].n;
}

/* Counts how often each path is executed in the segment, and statements and ports. */
static int
full_reader_times(struct store_read *r)
{
	const struct store_code *code = &r->code;

	memset(r->times, 0, code->npath * sizeof *r->times);
	r->n = r->nport = 0;
	for (size_t i = 0; i < r->path.n; i++) {
		r->times[r->path.v[i]]++;
		r->n += code->path[r->path.v[i]].n;
		if (r->n > STORE_SEGMENT)
			return full_reader_bad(r, "a segment is too long");
	}
	return 0;
}

/* Reads PATH, and checks that RANK follows from it. */
static int
full_reader_paths(struct store_read *r, size_t k)
{
	const struct store_code *code = &r->code;
	struct col_reader c;
	uint64_t *n;
	int e = 0;

	if (full_reader_load(r, k, FULL_PATH, &c) != 0)
		return -1;
	if (code->npath == 0 || col_get(&c, &r->path, SIZE_MAX, code->npath - 1, NULL) != 0 ||
	    full_reader_over(r, &c) != 0)
		return full_reader_bad(r, c.err ? c.err : "no paths");
	if (buf_grow(&r->times, &r->captimes, code->npath, sizeof *r->times) != 0)
		return full_reader_bad(r, NULL);
	if (full_reader_times(r) != 0)
		return -1;
	if ((n = calloc(code->nstmt + 1, sizeof *n)) == NULL)
		return full_reader_bad(r, NULL);
	for (size_t i = 0; i < code->npath; i++)
		for (uint32_t j = 0; r->times[i] && j < code->path[i].n; j++) {
			uint32_t s = code->seq[code->path[i].first + j];

			n[s] += r->times[i];
			r->nport += (uint64_t)r->times[i] * (1 + code->stmt[s].nuse);
		}
	full_reader_rank(r, k);
	for (size_t s = 0; !e && s < code->nstmt; s++)
		if (n[s] != r->place[s].n)
			e = full_reader_bad(r, "the ranks are not those of the paths");
	free(n);
	return e;
}

/* The values wanted of a segment: of instances [from, to) of statement s, or all (s: UINT32_MAX). */
struct wanted { struct store_read *r; uint32_t s; uint64_t from, to; };

static int
is_wanted(const struct wanted *w, size_t from, size_t to)
{
	const struct store_place *at = &w->r->place[w->s == UINT32_MAX ? 0 : w->s];

	if (w->s == UINT32_MAX)
		return 1;
	for (unsigned j = 0; j < w->r->code.stmt[w->s].nval; j++)
		if (at->at + j * at->n + w->from < to && at->at + j * at->n + w->to > from)
			return 1;
	return 0;
}

/* Is the block wanted, and not decoded yet? If so, marks it as decoded. */
static int
is_missing(void *arg, size_t from, size_t to)
{
	const struct wanted *w = arg;
	uint8_t *have = &w->r->vals.have[from / w->r->vals.block];

	return !*have && (*have = (uint8_t)is_wanted(w, from, to)) != 0;
}

static int
all_there(const struct wanted *w, uint64_t n)
{
	const struct store_vals *v = &w->r->vals;

	for (size_t i = 0; i < v->nblock; i++) {
		uint64_t from = i * v->block;

		if (!v->have[i] && is_wanted(w, from, n - from < v->block ? n : from + v->block))
			return 0;
	}
	return v->at != 0;
}

/* Keys of values [from, to): statements and word numbers. */
static void
val_keys(void *arg, size_t from, size_t to, uint64_t *key)
{
	const struct store_read *r = ((const struct wanted *)arg)->r;

	for (size_t s = 0; s < r->code.nstmt; s++)
		for (unsigned j = 0; j < r->code.stmt[s].nval; j++) {
			uint64_t at = r->place[s].at + j * r->place[s].n, end = at + r->place[s].n;

			for (at = at < from ? from : at; at < end && at < to; at++)
				key[at - from] = (uint64_t)s << 3 | j;
		}
}

static int
full_reader_vals(struct store_read *r, size_t k, struct wanted *w)
{
	struct col_reader c;
	uint64_t at = 0, block;

	for (size_t s = 0; s < r->code.nstmt; s++) {
		r->place[s].at = at;
		at += r->place[s].n * r->code.stmt[s].nval;
	}
	if (at > COL_MAX)
		return full_reader_bad(r, "too many values");
	if (!r->load) {
		value_cache_select(r, k);
		if (all_there(w, at))
			return 0;
	}
	if (full_reader_load(r, k, FULL_VAL, &c) != 0)
		return -1;
	if (r->load)
		return store_load_values(r, &c, at) != 0 ? full_reader_bad(r, c.err) :
		    full_reader_over(r, &c);
	if (col_get_number(&c, VC_MAX, &block) != 0 || block == 0)
		return full_reader_bad(r, "blocks of no values");
	if (value_cache_alloc(r, k, at, block) != 0)
		return full_reader_bad(r, NULL);
	r->vals.part |= w->s != UINT32_MAX && w->to - w->from < r->place[w->s].n;
	if (col_get_blocks(&c, &r->vals.val, at, r->vals.block, is_missing, val_keys, w) == 0 &&
	    full_reader_over(r, &c) == 0)
		return 0;
	r->vals.at = 0;
	return c.err ? full_reader_bad(r, c.err) : -1;
}

int
store_read_values(struct store_read *r, size_t k, uint32_t s, uint64_t from, uint64_t to)
{
	if (r->load)
		return store_read_segment(r, k, STORE_VALUES);
	full_reader_rank(r, k);
	return full_reader_vals(r, k, &(struct wanted){ r, s, from, to });
}

/* Decodes the references of segment k, whose values are known; r->addr has all statements up to it. */
static int
full_reader_addrs(struct store_read *r, size_t k)
{
	struct waddr again = { .nstmt = k ? r->nstmt[k - 1] : 0 };
	struct col_reader c = { 0 };
	int e = 0;

	for (; r->addrs <= k; r->addrs++)
		if (full_reader_load(r, r->addrs, FULL_ADDR, &c) != 0 ||
		    waddr_decode(&r->addr, &r->code, r->nstmt[r->addrs], &c) != 0)
			return c.err ? full_reader_bad(r, c.err) : -1;
	if (full_reader_load(r, k, FULL_ADDR, &c) != 0)
		return -1;
	if (waddr_decode(&again, &r->code, r->nstmt[k], &c) != 0 || store_addr_refs_decode(r, &c) != 0)
		e = full_reader_bad(r, c.err);
	waddr_free(&again);
	return e ? e : full_reader_over(r, &c);
}

/* Reads the state before segment k, and its paths. */
static int
full_reader_begin(struct store_read *r, size_t k)
{
	struct col_reader c;

	if (full_reader_load(r, k, FULL_KEY, &c) != 0)
		return -1;
	if (model_load(&r->model, &c) != 0 || (r->load && load_state_decode(&r->load->st, &c) != 0) ||
	    full_reader_over(r, &c) != 0)
		return full_reader_bad(r, c.err ? c.err : "bytes after the state");
	return full_reader_paths(r, k);
}

int
store_read_segment(struct store_read *r, size_t k, unsigned want)
{
	if (full_reader_begin(r, k) != 0 || (want & (STORE_VALUES | STORE_ADDRS) &&
		full_reader_vals(r, k, &(struct wanted){ .r = r, .s = UINT32_MAX }) != 0) ||
	    (want & STORE_ADDRS && full_reader_addrs(r, k) != 0) ||
	    (want & STORE_DEPS && full_reader_deps(r, k, 0) < 0))
		return -1;
	r->at = k + 1;
	return 0;
}

int
store_read_deps_on(struct store_read *r, size_t k, uint64_t who)
{
	int e = full_reader_begin(r, k) != 0 ? -1 : full_reader_deps(r, k, who);

	if (e > 0)
		r->at = k + 1;
	return e;
}
