/*
 * Value streams for a fuzzer: the input is a file of bifcm(5) whose checksums
 * are made right before it is read, forward, backward, by a cursor: all must
 * agree.  Blocks are made small, so that many are tried in a second.
 * First inputs: streamtest seeds FOLDER.
 */
#include "../fuzz/fuzz.h"
#include "base/bytes.h"
#include "codec/stream/stream_internal.h"

#define BLOCK 2048u
#define WHOLE 8192u             /* bytes of a whole block by context mixing */

/* The checksums of everything that can be found */
static void
mend(uint8_t *p, size_t n)
{
	struct vs_info info;
	struct vs_bhead h;
	const char *err;
	size_t at;

	if (n < VS_HEADER)
		return;
	if (get_le32(p + 10) > BLOCK)
		put_le32(p + 10, BLOCK);
	at = vs_header_size(p, &err);
	if (!at || at > n)
		return;
	put_le32(p + at - 4, vs_crc(p, at - 4, 0));
	if (vs_get_header(p, at, &info, &err) != 0)
		return;
	while (at < n && p[at]) {
		if (vs_decode_block_head(p + at, n - at, &info, &h, &err) != 1 || h.size > n - at)
			return;
		/* these few bytes may say that they are 16 MB, which take half a minute */
		if (h.whole && h.col[0].method == VS_BYTES && h.n * vs_record_size(&info.layout) > WHOLE)
			return;
		put_le32(p + at + h.len - 4, vs_crc(p + at + h.len, h.size - h.len,
		    vs_crc(p + at, h.len - 4, 0)));
		at += h.size;
	}
	if (n - at < VS_END + 5)
		return;
	put_le32(p + n - VS_END, (uint32_t)(n - VS_END - at));
	memcpy(p + n - 4, vs_magic_end, 4);
	put_le32(p + n - VS_END - 4, vs_crc(p + at, n - VS_END - 4 - at, 0));
}

/* The sum of the values cannot be mended without them: it may be another */
static int
is_bad(int status, const struct fault *f)
{
	return status != 0 && strcmp(f->err, "the values are not those that were compressed");
}

static int
keep(void *arg, const void *p, size_t n)
{
	buf_add(arg, p, n);
	return ((struct buf *)arg)->nomem;
}

/* Walks the cursor over the stream whose bytes are in b, in an unusual order. */
static void
wander(struct vs_reader *r, const struct buf *b)
{
	const struct vs_layout *y = &vs_info(r)->layout;
	unsigned rec = vs_record_size(y);
	uint64_t v[4 * VS_FIELDS], n, at = 0;
	struct fault f;
	struct vs_cursor *c = vs_cursor(r, &f);

	if (!c)
		abort();
	n = vs_count(c);
	for (int i = 0; i < 40 && n; i++) {
		long k;

		if (vs_seek(c, at) != 0)
			abort();
		k = i & 1 ? vs_prev(c, v, 4) : vs_next(c, v, 4);
		if (k < 0 || (!k && at != (i & 1 ? 0 : n)))
			abort();
		for (long j = 0; j < k; j++) {
			const uint8_t *p = b->p + (i & 1 ? at - 1 - (uint64_t)j : at + (uint64_t)j) * rec;

			for (unsigned x = 0; x < y->nfield; p += y->width[x++])
				if ((v[(size_t)j * y->nfield + x] ^ get_le(p, y->width[x])) << (64 -
				    8 * y->width[x]))
					abort();
		}
		at = (at * 7 + 1009) % (n + 1);
	}
	vs_cursor_free(c);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct buf a = BUF_INIT, b = BUF_INIT;
	uint8_t *p = malloc(n + 1);
	struct vs_reader *r;
	struct fault f;
	unsigned rec;
	int bad;

	if (!p)
		return 0;
	memcpy(p, data, n);
	mend(p, n);
	r = vs_open_mem(p, n, &f);
	if (r) {
		rec = vs_record_size(&vs_info(r)->layout);
		bad = is_bad(vs_copy(r, 1, keep, &a, &f), &f);
		if (bad && !f.err[0] && !a.nomem)
			abort();
		if (vs_index(r, &f) && !is_bad(vs_walk(r, 0, UINT64_MAX, 1, 1, keep, &b, &f), &f)) {
			/* forward may have more: a tail */
			if (!bad && b.n / rec != a.n / rec)
				abort();
			for (size_t i = 0; !bad && i < b.n; i += rec)
				if (memcmp(b.p + i, a.p + b.n - rec - i, rec))
					abort();
			if (!bad)
				wander(r, &a);
		} else if (!bad) {
			abort();
		}
		vs_close(r);
	}
	buf_free(&a);
	buf_free(&b);
	free(p);
	return 0;
}
