/* Packs an event file: reads its records, and writes blocks. See streams.h. */
#include <stdlib.h>
#include <string.h>

#include "ae/pack/streams.h"
#include "base/diag.h"
#include "format/ae/events.h"

struct packer {
	struct streams t;
	struct in *in;
	pack_sink *sink;
	void *arg;
	struct fault *f;
	uint8_t *payload;               /* owned: of one record */
	uint64_t size;                  /* bytes of the event file */
	/* the block: its list, the bytes that are kept as bytes, and all bytes that it gives */
	struct buf list, bytes, all;
	uint64_t run;                   /* bytes since the last entry of the list, which are an entry of kind PE_BYTES */
};

static int
packer_fail(struct packer *p, const char *what)
{
	if (in_error(p->in))
		what = in_error(p->in);
	fault_set(p->f, in_error(p->in) ? in_off(p->in) : 0, DIAG_NOREC, "%s", what);
	return -1;
}

static int
packer_nomem(struct packer *p)
{
	fault_set(p->f, DIAG_NOOFF, DIAG_NOREC, "out of memory");
	return -1;
}

/* Writes a part of the packed file: a frame and what is in b. */
static void
packer_part(struct packer *p, const char *magic, const struct buf *b)
{
	uint8_t frame[PACK_FRAME];

	memcpy(frame, magic, 4);
	put_le32(frame + 4, (uint32_t)b->n);
	put_le64(frame + 8, ev_checksum(b->p, b->n));
	p->sink(p->arg, frame, sizeof frame);
	p->sink(p->arg, b->p, b->n);
}

/* Codes n bytes by the methods of columns, in pieces. */
static int
packer_bytes(struct packer *p, struct buf *out, const uint8_t *b, size_t n)
{
	struct buf coded = BUF_INIT;
	enum vc_method method;
	uint64_t *v;
	int bad = 0;

	buf_varint(out, n);
	v = malloc((n < PACK_PIECE ? n + 1 : PACK_PIECE) * sizeof *v);
	if (!v)
		return -1;
	while (n && !bad) {
		size_t k = n < PACK_PIECE ? n : PACK_PIECE;
		const struct vc_col col = { .v = v, .n = k, .width = 1 };

		for (size_t i = 0; i < k; i++)
			v[i] = b[i];
		coded.n = 0;
		bad = vc_encode(p->t.work, NULL, &col, 6, &method, &coded);
		buf_u8(out, (uint8_t)method);
		buf_varint(out, coded.n);
		buf_add(out, coded.p, coded.n);
		b += k;
		n -= k;
	}
	free(v);
	buf_free(&coded);
	return bad;
}

/* Ends the run of bytes that are kept as bytes. */
static void
packer_run(struct packer *p)
{
	if (!p->run)
		return;
	buf_varint(&p->list, PE_BYTES);
	buf_varint(&p->list, p->run);
	p->run = 0;
}

/* Writes the block, if there is anything in it. */
static int
packer_flush(struct packer *p)
{
	struct buf out = BUF_INIT;
	size_t coded;
	int bad;

	packer_run(p);
	coded = coder_end(&p->t.code);
	if (p->list.n) {
		buf_le64(&out, ev_checksum(p->all.p, p->all.n));
		buf_varint(&out, p->list.n);
		buf_add(&out, p->list.p, p->list.n);
		bad = packer_bytes(p, &out, p->bytes.p, p->bytes.n);
		buf_add(&out, p->t.code.out, coded);
		bad |= out.nomem || p->list.nomem || p->bytes.nomem || p->all.nomem || streams_failed(&p->t);
		if (bad) {
			buf_free(&out);
			return packer_nomem(p);
		}
		packer_part(p, "AEpb", &out);
	}
	p->list.n = p->bytes.n = p->all.n = 0;
	buf_free(&out);
	coder_encode(&p->t.code);
	return 0;
}

static int
packer_room(struct packer *p)
{
	return p->all.n >= PACK_BLOCK ? packer_flush(p) : 0;
}

/* Keeps n bytes as bytes. */
static void
packer_keep(struct packer *p, const uint8_t *b, size_t n)
{
	buf_add(&p->bytes, b, n);
	buf_add(&p->all, b, n);
	p->run += n;
	p->size += n;
}

/* The same, of a header or record for streams_head */
static int
packer_head(struct packer *p, const uint8_t *b, size_t n)
{
	uint64_t at = p->size;

	packer_run(p);
	buf_varint(&p->list, PE_HEAD);
	buf_varint(&p->list, n);
	packer_keep(p, b, n);
	p->run = 0;
	if (streams_head(&p->t, b, n) == 0)
		return 0;
	fault_set(p->f, at, DIAG_NOREC, "%s", p->t.err);
	return -1;
}

/* n bytes of events of a thread */
static int
packer_events(struct packer *p, uint32_t task, const uint8_t *b, size_t n)
{
	struct stream *s = streams_find(&p->t, task);
	size_t walked = 0, rest = n;

	packer_run(p);
	if (!s || streams_walk(&p->t, s) != 0) {
		fault_set(p->f, DIAG_NOOFF, DIAG_NOREC, "%s", p->t.err);
		return -1;
	}
	if (s->walk && !s->walk->over) {
		walked = 1 + walk_encode(s->walk, b, n);
		rest = walk_left(s->walk);
	}
	buf_varint(&p->list, PE_EVENTS);
	buf_varint(&p->list, task);
	buf_varint(&p->list, n);
	buf_varint(&p->list, walked);
	/* what is left of n bytes; what was left before is in the file already */
	if (rest > n)
		rest = n;
	buf_add(&p->bytes, b + n - rest, rest);
	buf_add(&p->all, b, n);
	p->size += n;
	return 0;
}

/* Reads n bytes, fewer at the end. */
static size_t
packer_read(struct packer *p, uint8_t *b, size_t n)
{
	return in_read(p->in, b, n);
}

/* The rest of the file is kept as bytes: it is not what an event file has. */
static int
packer_rest(struct packer *p)
{
	size_t n;

	do {
		if (packer_room(p) != 0)
			return -1;
		n = packer_read(p, p->payload, EV_CHUNKMAX < PACK_BLOCK ? EV_CHUNKMAX : PACK_BLOCK);
		packer_keep(p, p->payload, n);
	} while (n);
	return in_error(p->in) ? packer_fail(p, "") : 0;
}

static int
packer_header(struct packer *p)
{
	uint8_t *b = p->payload;
	size_t n = packer_read(p, b, 16), len;

	if (n == 0)
		return packer_fail(p, "empty, not an event file");
	if (n >= 8 && memcmp(b, EV_PACKED, 8) == 0)
		return packer_fail(p, "it is packed already");
	if (n < 16 || memcmp(b, EV_MAGIC, 8) != 0)
		return packer_fail(p, "not an event file");
	len = get_le32(b + 12);
	if (len < 16 || len > EV_HEADMAX)
		return packer_fail(p, "not an event file");
	n = packer_read(p, b + 16, len - 16);
	if (n < len - 16)
		return packer_fail(p, "header ends early");
	return packer_head(p, b, len);
}

/* What a record is */
enum packer_what { PW_EVENTS, PW_HEAD, PW_CLOSE, PW_END, PW_UNKNOWN };

/* ... by its frame, and of a thread by the 8 bytes after it; *n: the bytes that follow these */
static enum packer_what
packer_what(const uint8_t *b, uint32_t *task, uint32_t *n)
{
	static const enum packer_what kinds[] = { PW_HEAD, PW_EVENTS, PW_CLOSE };

	*n = get_le32(b + 4);
	*task = 1;
	if (memcmp(b, "AEch", 4) == 0)
		return *n == 0 || *n > EV_CHUNKMAX ? PW_UNKNOWN : PW_EVENTS;
	if (memcmp(b, "AEmo", 4) == 0)
		return *n < EV_MODMIN || *n > EV_MODMAX ? PW_UNKNOWN : PW_HEAD;
	if (memcmp(b, "AEnd", 4) == 0)
		return *n == EV_ENDLEN ? PW_END : PW_UNKNOWN;
	if (memcmp(b, "AEth", 4) != 0 || *n <= 8 || *n > EV_CHUNKMAX)
		return PW_UNKNOWN;
	*task = get_le32(b + 16);
	*n -= 8;
	if (*task == 0 || get_le32(b + 20) >= sizeof kinds / sizeof kinds[0])
		return PW_UNKNOWN;
	if (get_le32(b + 20) != EV_CHUNK && *n != 16)
		return PW_UNKNOWN;
	return kinds[get_le32(b + 20)];
}

/* Zeros up to the next page, of which n are at b: passes over them; returns how many other bytes are at b then */
static size_t
packer_zeros(struct packer *p, uint8_t *b, size_t n, size_t want)
{
	while (n && b[0] == 0 && p->size % EV_PAGE) {
		packer_keep(p, b, 1);
		memmove(b, b + 1, --n);
		n += packer_read(p, b + n, want - n);
	}
	return n;
}

/* The end record, which the end of the packed file has */
static int
packer_end(struct packer *p, const uint8_t *b, size_t n)
{
	struct buf out = BUF_INIT;
	int bad;

	if (packer_flush(p) != 0)
		return -1;
	p->size += n;
	buf_le64(&out, p->size);
	buf_add(&out, b, n);
	bad = out.nomem;
	if (!bad)
		packer_part(p, "AEpe", &out);
	buf_free(&out);
	return bad ? packer_nomem(p) : 0;
}

/* One record: 1; 0 after the last one, then everything is done; -1 */
static int
packer_record(struct packer *p)
{
	uint8_t b[24 + EV_MODMAX];
	uint8_t more;
	uint32_t task, n;
	size_t have = packer_zeros(p, b, packer_read(p, b, 16), 16), head = 16;
	enum packer_what what;

	if (have == 16 && memcmp(b, "AEth", 4) == 0)
		have += packer_read(p, b + 16, 8);
	if (have >= 16 && memcmp(b, "AEth", 4) == 0)
		head = 24;
	what = have < head ? PW_UNKNOWN : packer_what(b, &task, &n);
	if (what == PW_UNKNOWN) {
		packer_keep(p, b, have);
		return packer_rest(p) == 0 ? packer_end(p, NULL, 0) : -1;
	}
	if (what == PW_EVENTS) {
		packer_keep(p, b, have);
		have = packer_read(p, p->payload, n);
		if (have < n) {
			packer_keep(p, p->payload, have);
			return packer_rest(p) == 0 ? packer_end(p, NULL, 0) : -1;
		}
		return packer_events(p, task, p->payload, n) == 0 && packer_room(p) == 0 ? 1 : -1;
	}
	have += packer_read(p, b + head, n);
	if (have < head + n) {
		packer_keep(p, b, have);
		return packer_rest(p) == 0 ? packer_end(p, NULL, 0) : -1;
	}
	if (what == PW_END) {
		have = packer_read(p, &more, 1);
		if (have == 0)
			return packer_end(p, b, PACK_TAIL);
		packer_keep(p, b, PACK_TAIL);
		packer_keep(p, &more, 1);
		return packer_rest(p) == 0 ? packer_end(p, NULL, 0) : -1;
	}
	if (what == PW_HEAD)
		return packer_head(p, b, have) == 0 ? 1 : -1;
	packer_keep(p, b, have);
	packer_run(p);
	buf_varint(&p->list, PE_CLOSE);
	buf_varint(&p->list, task);
	streams_close(&p->t, task);
	return packer_room(p) == 0 ? 1 : -1;
}

static int
packer_all(struct packer *p)
{
	uint8_t head[PACK_HEADER];
	int more;

	p->payload = malloc(EV_CHUNKMAX);
	if (!p->payload)
		return packer_nomem(p);
	coder_encode(&p->t.code);
	if (packer_header(p) != 0)
		return -1;
	memcpy(head, EV_PACKED, 8);
	put_le32(head + 8, PACK_VERSION);
	put_le32(head + 12, PACK_MODEL);
	p->sink(p->arg, head, sizeof head);
	while ((more = packer_record(p)) > 0)
		;
	return more;
}

int
pack_file(struct in *in, struct exe *x, pack_sink *sink, void *arg, struct fault *f)
{
	struct packer p = { .in = in, .sink = sink, .arg = arg, .f = f };
	int bad;

	if (streams_init(&p.t, x) != 0) {
		fault_set(f, DIAG_NOOFF, DIAG_NOREC, "%s", p.t.err);
		bad = -1;
	} else
		bad = packer_all(&p);
	streams_free(&p.t);
	free(p.payload);
	buf_free(&p.list);
	buf_free(&p.bytes);
	buf_free(&p.all);
	return bad;
}
