/* Value streams: the index of a file; for a truncated file, an index made from its blocks. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/stream/stream_internal.h"

#define INDEX_MAX (1ull << 32)

/* A position in the bytes of an index. */
struct cur {
	const uint8_t *p, *end;
	int bad;
};

static uint64_t
index_number(struct cur *c, uint64_t max)
{
	uint64_t v = 0;
	c->bad |= !c->bad && (varint_get(&c->p, c->end, &v) != VARINT_OK || v > max);
	return c->bad ? 0 : v;
}

/* Decodes entries and tail from bytes whose check sum is good: 0; -1: impossible values; -2: no memory. */
static int
index_parse(struct vs_reader *r, const uint8_t *p, size_t n)
{
	struct cur c = { p + 1, p + n - 4, n < 1 + 4 || p[0] };
	uint64_t nblock = index_number(&c, c.bad ? 0 : (uint64_t)(c.end - c.p) / 2), off = r->first, rec = 0,
	    ntail;

	r->entry = calloc(nblock + 1, sizeof(*r->entry));
	if (!r->entry)
		return -2;
	for (size_t i = 0; i < nblock && !c.bad; i++) {
		struct vs_entry *e = &r->entry[i];

		uint32_t before = i ? e[-1].n : 0, unit = VS_UNIT / r->m.record;
		uint32_t most = r->m.info.whole && unit > r->m.info.block ? unit : r->m.info.block;

		e->n = (uint32_t)index_number(&c, most);
		c.bad |= e->n ? e->n == before : !before;
		e->n = e->n ? e->n : before;
		e->size = index_number(&c, VS_BHEAD + (uint64_t)VS_COLUMNS * 8 * VC_MAX);
		e->off = off;
		e->rec = rec;
		off += e->size;
		rec += e->n;
	}
	ntail = index_number(&c, r->m.record - 1);
	if (c.bad || (uint64_t)(c.end - c.p) != ntail + 8)
		return -1;
	r->tail = malloc(ntail + 1);
	if (!r->tail)
		return -2;
	memcpy(r->tail, c.p, ntail);
	r->sum = get_le64(c.p + ntail);
	r->index.e = r->entry;
	r->index.n = nblock;
	r->index.nrec = rec;
	r->index.tail = r->tail;
	r->index.ntail = ntail;
	return 0;
}

static void
index_forget(struct vs_reader *r)
{
	free(r->entry);
	free(r->tail);
	r->entry = NULL;
	r->tail = NULL;
	memset(&r->index, 0, sizeof(r->index));
}

/* Makes the index in the n bytes at p, read from off, the reader's; 0, or -1 and *f. */
static int
index_use(struct vs_reader *r, uint64_t off, const uint8_t *p, size_t n, struct fault *f)
{
	int bad = -1;

	if (n < 5 || vs_crc(p, n - 4, 0) != get_le32(p + n - 4))
		fault_set(f, off, UINT64_MAX, "the index is damaged");
	else if ((bad = index_parse(r, p, n)) != 0)
		fault_set(f, off, UINT64_MAX, bad == -2 ? VS_NOMEM : "the index is not as it must be");
	else if (r->index.n ? r->entry[r->index.n - 1].off + r->entry[r->index.n - 1].size != off :
	    off != r->first)
		bad = -1, fault_set(f, off, UINT64_MAX, "the index does not fit the blocks");
	if (bad)
		index_forget(r);
	else
		r->index.whole = 1;
	return bad ? -1 : 0;
}

/* Reads the rest of the file, which is no more than an index of n blocks and the end mark need. */
static int
index_rest(struct vs_reader *r, uint64_t off, size_t n, struct buf *b, struct fault *f)
{
	uint64_t max = VS_INDEX + VS_END + (uint64_t)n * 2 * VARINT_MAX + 1;

	while (b->n < max) {
		size_t k = max - b->n < 65536 ? (size_t)(max - b->n) : 65536, got;
		uint8_t *p = buf_reserve(b, k);

		if (!p) {
			fault_set(f, off, UINT64_MAX, VS_NOMEM);
			return -1;
		}
		got = vs_get(r, off + b->n, p, k);
		b->n += got;
		if (got < k)
			break;
	}
	return vs_read_error(r, f, off + b->n, UINT64_MAX) ? -1 : 0;
}

/* The end of the first end mark that fits an index of n bytes; 0: none. */
static size_t
index_ended(const uint8_t *p, size_t n)
{
	for (size_t len = 5; len + VS_END <= n; len++)
		if (get_le32(p + len) == len && !memcmp(p + len + 4, vs_magic_end, 4))
			return len + VS_END;
	return 0;
}

int
vs_get_index(struct vs_reader *r, uint64_t off, const struct vs_entry *e, size_t n, struct fault *f)
{
	struct buf b = BUF_INIT;
	const uint8_t *end;
	size_t len, i;
	int bad = -1, same;

	if (index_rest(r, off, n, &b, f) != 0)
		goto out;
	if (b.n < VS_END + 5) {
		fault_set(f, off + b.n, UINT64_MAX, "the file was cut off in its index, after all blocks");
		goto out;
	}
	/* The last bytes hold the length; they are the end mark's only if nothing follows or is missing. */
	end = b.p + b.n - VS_END;
	len = b.n - VS_END;
	if ((i = index_ended(b.p, b.n)) && i < b.n) {
		fault_set(f, off + i, UINT64_MAX, "something follows the end of the stream");
		goto out;
	}
	if (memcmp(end + 4, vs_magic_end, 4) || get_le32(end) != len) {
		fault_set(f, off, UINT64_MAX, "the index or the end mark after it is damaged");
		goto out;
	}
	if (index_use(r, off, b.p, len, f) != 0)
		goto out;
	for (same = r->index.n == n, i = 0; same && i < n; i++)
		same = e[i].off == r->entry[i].off && e[i].n == r->entry[i].n;
	if (!same) {
		fault_set(f, off, UINT64_MAX, "the index does not fit the blocks");
		index_forget(r);
		goto out;
	}
	r->index.size = off + b.n;
	r->indexed = 1;
	bad = 0;
out:
	buf_free(&b);
	return bad;
}

/* Finds the index by the end mark; 0, or -1 and *f. */
static int
from_end(struct vs_reader *r, struct fault *f)
{
	uint8_t end[VS_END], *p;
	uint64_t size = r->src.size, len;
	int bad;

	fault_set(f, size, UINT64_MAX, "the file was cut off: it has no end mark");
	if (size < r->first + VS_END || vs_get(r, size - VS_END, end, VS_END) != VS_END ||
	    memcmp(end + 4, vs_magic_end, 4))
		return -1;
	len = get_le32(end);
	fault_set(f, size - VS_END, UINT64_MAX, "the end mark is damaged");
	if (len > size - VS_END - r->first)
		return -1;
	p = malloc(len + 1);
	if (!p) {
		fault_set(f, size, UINT64_MAX, VS_NOMEM);
		return -1;
	}
	bad = vs_get(r, size - VS_END - len, p, len) == len ? index_use(r, size - VS_END - len, p, len, f) :
	    -1;
	free(p);
	return bad;
}

/* Finds the blocks by their heads; 0, or -1 without memory. */
static int
from_front(struct vs_reader *r)
{
	uint64_t off = r->first, rec = 0, size = r->src.size;
	size_t n = 0, cap = 0;
	uint8_t p[VS_BHEAD];
	struct vs_bhead h = { 0 };
	const char *err;

	for (;;) {
		size_t got = vs_peek(r, off, p, VS_BHEAD);

		h.before = h.n;
		if (!got || !p[0] || vs_decode_block_head(p, got, &r->m.info, &h, &err) != 1 ||
		    h.size > size - off)
			break;
		if (buf_grow(&r->entry, &cap, n + 1, sizeof(*r->entry)) != 0)
			return -1;
		r->entry[n++] = (struct vs_entry){
			.off = off, .rec = rec, .size = h.size, .n = (uint32_t)h.n
		};
		off += h.size;
		rec += h.n;
	}
	r->index = (struct vs_index){ .e = r->entry, .n = n, .nrec = rec };
	return 0;
}

int
vs_index_contradicts(struct vs_reader *r, size_t no, uint64_t off, struct fault *f)
{
	struct fault why;
	int there;

	if (!r->src.seeks)
		return 0;
	if (from_end(r, &why) != 0) {
		there = why.off == off;
		if (there)
			*f = why;
		return there;
	}
	there = no < r->index.n && r->entry[no].off == off;
	if (there)
		fault_set(f, off, r->entry[no].rec,
		    "block %zu (records %llu to %llu) is damaged: its head is not what the index has", no + 1,
		    (unsigned long long)r->entry[no].rec,
		    (unsigned long long)(r->entry[no].rec + r->entry[no].n - 1));
	index_forget(r);
	return there;
}

const struct vs_index *
vs_index(struct vs_reader *r, struct fault *f)
{
	struct fault why;

	if (r->indexed)
		return &r->index;
	if (!r->src.seeks) {
		fault_set(f, 0, UINT64_MAX, "a pipe can only be read from its beginning to its end");
		return NULL;
	}
	if (from_end(r, &why) != 0) {
		if (from_front(r) != 0) {
			index_forget(r);
			fault_set(f, r->first, UINT64_MAX, VS_NOMEM);
			return NULL;
		}
		r->index.fault = why;
	}
	r->index.size = r->src.size;
	r->indexed = 1;
	return &r->index;
}
