/*
 * Captures for a fuzzer: the input is a capture whose checksums are made right
 * before it is read, sequentially, by groups and from each group; a plain one
 * that is read without a fault must come out of the writer byte for byte.
 * First inputs: wstest seeds FOLDER.
 */
#include "../fuzz/fuzz.h"
#include "base/bytes.h"
#include "format/ws/ws_internal.h"

/* The checksums of everything that can be found; the offset in the end mark */
static void
mend(uint8_t *p, size_t n)
{
	size_t off = WS_HEAD, len;

	if (n < WS_HEAD)
		return;
	len = get_le32(p + 12);
	if (len > n - off)
		return;
	put_le64(p + 16, ws_crc(p + off, len, ws_crc(p, 16, 0)));
	off += len;
	while (n - off >= WS_GROUP_HEAD && !memcmp(p + off, ws_magic_group, 4)) {
		uint8_t *h = p + off;

		for (len = 0; len < WS_NSTREAMS * 8; len += 8)
			off += get_le32(h + 52 + len);
		off += WS_GROUP_HEAD;
		if (off > n)
			off = n;
		put_le64(h + 88, ws_crc(h + WS_GROUP_HEAD, (size_t)(p + off - h) - WS_GROUP_HEAD, 0));
		put_le64(h + 96, ws_crc(h, 96, 0));
	}
	if (n - off < 8 + 8 + WS_MARK || memcmp(p + off, ws_magic_index, 4))
		return;
	len = get_le32(p + off + 4);
	if (len > n - off - 8 - 8 - WS_MARK)
		return;
	put_le64(p + off + 8 + len, ws_crc(p + off, 8 + len, 0));
	put_le64(p + off + 16 + len, off);
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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint8_t *p = malloc(n + 1);
	const struct ws_group *g;
	struct fault f;
	struct ws_reader *r;
	uint64_t sum = 0;
	size_t ng;
	int whole, good;

	if (!p)
		return 0;
	memcpy(p, data, n);
	mend(p, n);
	r = ws_open_mem(p, n, &f);
	if (r) {
		good = read_all(r, NULL, &sum);
		g = ws_groups(r, &ng, &whole);
		for (size_t i = 0; g && i < ng && i < 8; i++)
			if (ws_seek_group(r, i) == 0)
				read_all(r, NULL, &sum);
		if (good && whole)
			rewrite(r, p, n);
		ws_close(r);
	}
	free(p);
	return 0;
}
