/* Reads .wet files of kind replay. */
#include <stdlib.h>
#include <string.h>

#include "wet/file/file.h"
#include "wet/file/full/code.h"

static int
replay_file_bad(const struct wetfile *w, size_t i, struct fault *f, const char *err)
{
	fault_set(f, i < w->nsection ? w->section[i].off : w->size, i, "%s", err ? err : "no memory");
	return -1;
}

static int
replay_file_belongs(const struct wetfile *w, size_t i, uint32_t tag, uint64_t segment, struct fault *f)
{
	if (i >= w->nsection && !w->whole) {
		*f = w->fault;
		return -1;
	}
	if (i >= w->nsection || w->section[i].tag != tag || w->section[i].segment != segment)
		return replay_file_bad(w, i, f,
		    i < w->nsection ? "a section that does not belong here" : "sections are missing");
	return 0;
}

int
store_replay_code(const struct wetfile *w, struct store_code *c, struct fault *f)
{
	struct vc_work *work = vc_work_new(1);
	struct buf b = BUF_INIT;
	struct col_reader r = { 0 };
	int e = !work ? replay_file_bad(w, 0, f, NULL) : replay_file_belongs(w, 0, WETFILE_CODE, 0, f);

	*c = (struct store_code){ 0 };
	if (!e)
		e = wetfile_load(w, 0, &b, f);
	if (!e)         /* else there may be no bytes */
		r = (struct col_reader){ .p = b.p, .end = b.p + b.n, .w = work };
	if (!e && store_code_decode(c, &r) != 0)
		e = replay_file_bad(w, 0, f, r.err);
	vc_work_free(work);
	buf_free(&b);
	return e;
}

int
store_replay_capture(const struct wetfile *w, int (*put)(void *arg, const void *p, size_t n), void *arg,
    struct fault *f)
{
	struct buf b = BUF_INIT;
	size_t i = 1;
	int e = replay_file_belongs(w, i, WETFILE_CAP, 0, f);

	for (; !e && i < w->nsection && w->section[i].tag == WETFILE_CAP; i++) {
		e = replay_file_belongs(w, i, WETFILE_CAP, i - 1, f) != 0 || wetfile_load(w, i, &b, f) != 0;
		if (!e && put(arg, b.p, b.n) != 0)
			e = replay_file_bad(w, i, f, "cannot be written");
	}
	/* at least one state must follow the capture */
	if (!e)
		e = replay_file_belongs(w, i, WETFILE_KEY, 0, f);
	buf_free(&b);
	return e ? -1 : 0;
}

static size_t
first_state(const struct wetfile *w)
{
	size_t i = 1;

	while (i < w->nsection && w->section[i].tag == WETFILE_CAP)
		i++;
	return i;
}

size_t
store_replay_segments(const struct wetfile *w)
{
	size_t i = first_state(w);

	return i < w->nsection ? (w->nsection - i) / 2 : 0;
}

void
store_state_free(struct store_state *s)
{
	buf_free(&s->control);
	free(s->count);
	*s = (struct store_state){ 0 };
}

static int
get_key(struct col_reader *r, struct store_state *s)
{
	struct col bytes = { 0 };
	int e = col_get_number(r, UINT64_MAX, &s->instances) != 0 ||
	    col_get_number(r, UINT64_MAX, &s->statements) != 0 ||
	    col_get(r, &bytes, SIZE_MAX, 255, NULL) != 0;

	for (size_t i = 0; !e && i < bytes.n; i++)
		buf_u8(&s->control, (uint8_t)bytes.v[i]);
	col_free(&bytes);
	return e || s->control.nomem ? -1 : 0;
}

static int
get_rank(struct col_reader *r, const struct store_code *c, struct store_state *s)
{
	struct col stmt = { 0 }, n = { 0 };
	uint64_t at = 0;
	int e = col_get_upto(r, &stmt, c->nstmt, UINT32_MAX, NULL) != 0 ||
	    col_get(r, &n, stmt.n, UINT32_MAX, NULL) != 0;

	s->count = calloc(c->nstmt + 1, sizeof *s->count);
	for (size_t i = 0; !e && s->count && i < stmt.n; i++) {
		at += stmt.v[i];
		if (at >= c->nstmt) {
			r->err = "a statement that does not exist";
			e = 1;
		} else
			s->count[at] = n.v[i];
	}
	col_free(&stmt);
	col_free(&n);
	return e || !s->count ? -1 : 0;
}

int
store_replay_state(const struct wetfile *w, const struct store_code *c, size_t k, struct store_state *s,
    struct fault *f)
{
	struct vc_work *work = vc_work_new(1);
	struct buf b = BUF_INIT;
	size_t first = first_state(w) + 2 * k;
	int e = work ? 0 : replay_file_bad(w, first, f, NULL);

	*s = (struct store_state){ 0 };
	for (size_t i = first; !e && i < first + 2; i++) {
		struct col_reader r;

		if (replay_file_belongs(w, i, i == first ? WETFILE_KEY : WETFILE_RANK, k, f) != 0 ||
		    wetfile_load(w, i, &b, f) != 0) {
			e = -1;
			break;
		}
		r = (struct col_reader){ .p = b.p, .end = b.p + b.n, .w = work };
		if ((i == first ? get_key(&r, s) : get_rank(&r, c, s)) != 0 || r.p != r.end)
			e = replay_file_bad(w, i, f,
			    r.err ? r.err : r.p != r.end ? "bytes after the state" : NULL);
	}
	vc_work_free(work);
	buf_free(&b);
	if (e)
		store_state_free(s);
	return e;
}
