/*
 * Captures for a fuzzer: the input is a capture whose checksums are made right
 * before it is read, sequentially, by groups and from each group, each run of
 * it; a plain one of a single run that is read without a fault must come out of
 * the writer byte for byte.  First inputs: wstest, wsrunstest and wspagestest seeds FOLDER.
 */
#include "../fuzz/fuzz.h"
#include "base/bytes.h"
#include "format/ws/runs_internal.h"
#include "format/ws/store_internal.h"

/* The checksums of an entry of the list of runs or the head of a piece at p; 0: it is none, else its bytes. */
static size_t
mend_run(uint8_t *p, size_t n)
{
	size_t len = n < WS_PIECE_HEAD ? 0 : get_le32(p + 4);

	if (n < WS_PIECE_HEAD)
		return 0;
	if (!memcmp(p, ws_magic_piece, 4)) {
		put_le64(p + 16, ws_crc(p, 16, 0));
		len = get_le32(p + 8);
		return len > n - WS_PIECE_HEAD ? n : WS_PIECE_HEAD + len;
	}
	if (n >= WS_BLOCK_HEAD && !memcmp(p, ws_magic_pages, 4)) {
		len = get_le32(p + 12);
		if (len > n - WS_BLOCK_HEAD)
			len = n - WS_BLOCK_HEAD;
		put_le64(p + 48, len ? ws_crc(p + WS_BLOCK_HEAD, len, 0) : 0);
		put_le64(p + 56, ws_crc(p, 56, 0));
		return WS_BLOCK_HEAD + len;
	}
	if (memcmp(p, ws_magic_run, 4) || len > n - 16)
		return 0;
	put_le64(p + 8 + len, ws_crc(p, 8 + len, 0));
	return 16 + len;
}

/*
 * The checksums of everything that can be found; the offset in the end mark.  list: there may be a list of
 * runs between; offsets are then those without it.
 */
static void
mend_one(uint8_t *p, size_t n, int list)
{
	size_t off = WS_HEAD, len, skipped = 0, k;

	if (n < WS_HEAD)
		return;
	len = get_le32(p + 12);
	if (len > n - off)
		return;
	put_le64(p + 16, ws_crc(p + off, len, ws_crc(p, 16, 0)));
	off += len;
	for (;;) {
		uint8_t *h = p + off;

		if (list && (k = mend_run(h, n - off)) > 0) {
			skipped += k;
			off += k;
		} else if (n - off >= WS_GROUP_HEAD && !memcmp(h, ws_magic_group, 4)) {
			for (len = 0; len < WS_NSTREAMS * 8; len += 8)
				off += get_le32(h + 52 + len);
			off += WS_GROUP_HEAD;
			if (off > n)
				off = n;
			put_le64(h + 88, ws_crc(h + WS_GROUP_HEAD, (size_t)(p + off - h) - WS_GROUP_HEAD, 0));
			put_le64(h + 96, ws_crc(h, 96, 0));
		} else if (n - off >= 8 + 8 + WS_MARK && !memcmp(h, ws_magic_index, 4)) {
			len = get_le32(h + 4);
			if (len > n - off - 8 - 8 - WS_MARK)
				return;
			put_le64(h + 8 + len, ws_crc(h, 8 + len, 0));
			put_le64(h + 16 + len, off - skipped);
			off += 8 + len + 8 + WS_MARK;
		} else {
			return;
		}
	}
}

/* The same in the runs after the first, which are in pieces. */
static void
mend(uint8_t *p, size_t n)
{
	struct ws_runs *t;
	struct fault f;
	int whole;

	mend_one(p, n, 1);
	t = ws_runs_read_mem(p, n, &whole, &f);
	for (size_t i = 2; t && i <= ws_runs_count(t) && i < 10; i++) {
		const struct ws_part *part = ws_runs_part(t, i);
		uint8_t *b = malloc(part->bytes + 1);

		for (size_t k = 0; b && k < part->n; k++)
			memcpy(b + part->piece[k].at, p + part->piece[k].off, part->piece[k].n);
		if (b)
			mend_one(b, part->bytes, 0);
		for (size_t k = 0; b && k < part->n; k++)
			memcpy(p + part->piece[k].off, b + part->piece[k].at, part->piece[k].n);
		free(b);
	}
	ws_runs_free(t);
}

struct sink {
	struct buf b;
};

static int
sink_write(void *arg, const void *p, size_t n)
{
	struct sink *s = arg;

	buf_add(&s->b, p, n);
	return s->b.nomem;
}

/* Every byte that is given is looked at */
static uint64_t
touch(const struct ws_rec *r)
{
	uint64_t sum = 0;
	const uint8_t *p = r->kind == WS_MEM ? r->u.mem.p : r->kind == WS_MAP ? r->u.map.id :
	    r->kind == WS_SIG ? r->u.sig.xsave :
	    r->kind == WS_START || r->kind == WS_KEY ? r->u.state.xsave : NULL;
	size_t n = r->kind == WS_MEM ? r->u.mem.n : r->kind == WS_MAP ? r->u.map.nid : r->kind == WS_SIG ?
	    r->u.sig.nxsave :
	    r->u.state.nxsave;

	for (size_t i = 0; p && i < n; i++)
		sum += p[i];
	for (size_t i = 0; r->kind == WS_SIG && i < r->u.sig.nstack; i++)
		sum += r->u.sig.stack[i];
	for (size_t i = 0; r->kind == WS_SIG && i < r->u.sig.nwords * WS_SIGWORD; i++)
		sum += r->u.sig.words[i];
	if (r->kind == WS_MAP)
		sum += strlen(r->u.map.name);
	if (r->kind == WS_NOTE)
		sum += strlen(r->u.note);
	return sum;
}

/* Reads; writes to w what it reads, if that is not NULL.  1: to the end, and all groups were plain */
static int
read_all(struct ws_reader *r, struct ws_writer *w, uint64_t *sum)
{
	const struct ws_group *g = NULL;
	size_t n = 0, next = 1;
	struct ws_rec rec;
	int end, plain = 1;

	if (w)
		g = ws_groups(r, &n, NULL);
	if (n)
		ws_icount(w, g[0].icount);
	while ((end = ws_next(r, &rec)) == 1) {
		if (w && next < n && ws_rec_no(r) == g[next].rec + 1) {
			if (ws_end_group(w) != 0)
				abort();
			ws_icount(w, g[next++].icount);
		}
		for (int i = 0; i < WS_NSTREAMS; i++)
			plain &= ws_sizes(r)->method[i] == WS_NONE;
		*sum += touch(&rec);
		/* where memory is from is the writer's to say: it may differ */
		*sum += rec.kind == WS_MEM ? (uint64_t)rec.u.mem.where << 32 : 0;
		if (w && ws_put(w, &rec) != 0)
			abort();
	}
	return plain && end == 0;
}

static void
rewrite(struct ws_reader *r, const uint8_t *p, size_t n)
{
	struct sink s = { BUF_INIT };
	struct fault f;
	struct ws_writer *w = ws_create(sink_write, &s, ws_head(r), WS_PLAIN, &f);
	struct ws_reader *again;
	uint64_t a = 0, b = 0;

	if (!w)
		abort();
	if (ws_seek_group(r, 0) == 0 && read_all(r, w, &a)) {
		if (ws_finish(w) != 0)
			abort();
		again = ws_open_mem(s.b.p, s.b.n, &f);
		if (!again || !read_all(again, NULL, &b))
			abort();
		ws_close(again);
		if (a == b && (s.b.n != n || memcmp(s.b.p, p, n)))
			abort();
	}
	ws_free(w);
	buf_free(&s.b);
}

static void
fuzz_run(const uint8_t *p, size_t n, size_t run, int only)
{
	const struct ws_group *g;
	struct fault f;
	struct ws_reader *r = ws_open_mem_run(p, n, run, &f);
	uint64_t sum = 0;
	size_t ng;
	int whole, good;

	if (!r)
		return;
	good = read_all(r, NULL, &sum);
	g = ws_groups(r, &ng, &whole);
	for (size_t i = 0; g && i < ng && i < 8; i++)
		if (ws_seek_group(r, i) == 0)
			read_all(r, NULL, &sum);
	if (good && whole && only)
		rewrite(r, p, n);
	ws_close(r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint8_t *p = malloc(n + 1);
	struct ws_runs *t;
	struct fault f;
	size_t nruns;
	int whole;

	if (!p)
		return 0;
	memcpy(p, data, n);
	mend(p, n);
	t = ws_runs_read_mem(p, n, &whole, &f);
	nruns = t ? ws_runs_count(t) : 0;
	for (size_t i = 1; i <= nruns && i < 10; i++)
		fuzz_run(p, n, i, nruns == 1 && !ws_runs_pages(t)->n);
	ws_runs_free(t);
	free(p);
	return 0;
}
