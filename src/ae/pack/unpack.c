/* Unpacks an event file, block by block. See streams.h. */
#include <stdlib.h>
#include <string.h>

#include "ae/pack/streams.h"
#include "base/diag.h"
#include "base/varint.h"
#include "format/ae/events.h"

struct unpack {
	struct streams t;
	struct in *in;
	struct exe *x;
	int begun, done;
	struct fault fault;
	int bad;
	uint64_t off;                   /* where the part begins that is read */
	uint64_t size;                  /* bytes of the event file so far */
	uint8_t *part;                  /* owned: without its frame */
	size_t npart, cappart;
	struct buf all, bytes;          /* what the block gives; the bytes that it has as bytes */
	size_t given, used;             /* of them */
};

const struct feed_unpack unpack_how = { unpack_new, unpack_read, unpack_fault, unpack_free };

void *
unpack_new(struct in *in, void *exe)
{
	struct unpack *u = calloc(1, sizeof *u);

	if (!u)
		return NULL;
	u->in = in;
	u->x = exe;
	return u;
}

void
unpack_free(void *arg)
{
	struct unpack *u = arg;

	if (!u)
		return;
	streams_free(&u->t);
	free(u->part);
	buf_free(&u->all);
	buf_free(&u->bytes);
	free(u);
}

const struct fault *
unpack_fault(const void *arg)
{
	const struct unpack *u = arg;

	return u->bad ? &u->fault : NULL;
}

static int
unpack_fail(struct unpack *u, uint64_t off, const char *what)
{
	if (!u->bad)
		fault_set(&u->fault, off, DIAG_NOREC, "%s", what);
	u->bad = 1;
	return -1;
}

/* Reads exactly n bytes. */
static int
unpack_fill(struct unpack *u, void *b, size_t n)
{
	size_t got = in_read(u->in, b, n);

	if (got == n)
		return 0;
	return unpack_fail(u, in_off(u->in), in_error(u->in) ? in_error(u->in) : "the packed file is truncated");
}

static int
unpack_begin(struct unpack *u)
{
	uint8_t b[PACK_HEADER];

	u->begun = 1;
	if (unpack_fill(u, b, sizeof b) != 0)
		return -1;
	if (memcmp(b, EV_PACKED, 8) != 0)
		return unpack_fail(u, 0, "not a packed event file");
	if (get_le32(b + 8) != PACK_VERSION)
		return unpack_fail(u, 8, "packed event file of an unknown version");
	if (get_le32(b + 12) != PACK_MODEL)
		return unpack_fail(u, 12, "packed by a version of aepack that foresees other events");
	return streams_init(&u->t, u->x) != 0 ? unpack_fail(u, DIAG_NOOFF, u->t.err) : 0;
}

/* The numbers and bytes of a block */
struct cursor { const uint8_t *p, *end; };

static int
unpack_number(struct unpack *u, struct cursor *c, uint64_t *v)
{
	return varint_get(&c->p, c->end, v) != VARINT_OK ? unpack_fail(u, u->off, "bad number in a block") : 0;
}

static int
unpack_piece(struct unpack *u, struct cursor *c, size_t n)
{
	const struct vc_col col = { .n = n, .width = 1 };
	const char *err;
	unsigned method;
	uint64_t len, *v;
	uint8_t *to;

	if (c->p == c->end)
		return unpack_fail(u, u->off, "bytes of a block are missing");
	method = *c->p++;
	if (unpack_number(u, c, &len) != 0)
		return -1;
	if (len > (size_t)(c->end - c->p))
		return unpack_fail(u, u->off, "bytes of a block are missing");
	v = malloc(n * sizeof *v);
	to = v ? buf_reserve(&u->bytes, n) : NULL;
	if (!to || vc_decode(u->t.work, NULL, &col, (enum vc_method)method, c->p, (size_t)len, v, &err) != 0) {
		free(v);
		return unpack_fail(u, u->off, to ? err : "out of memory");
	}
	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)v[i];
	u->bytes.n += n;
	c->p += len;
	free(v);
	return 0;
}

/* The bytes that a block has as bytes */
static int
unpack_bytes(struct unpack *u, struct cursor *c)
{
	uint64_t n;

	u->bytes.n = u->used = 0;
	if (unpack_number(u, c, &n) != 0)
		return -1;
	if (n > PACK_RAWMAX)
		return unpack_fail(u, u->off, "a block is too large");
	for (size_t k; n; n -= k) {
		k = n < PACK_PIECE ? (size_t)n : PACK_PIECE;
		if (unpack_piece(u, c, k) != 0)
			return -1;
	}
	return 0;
}

/* n of them are what comes next */
static int
unpack_take(struct unpack *u, uint64_t n, const uint8_t **p)
{
	if (n > u->bytes.n - u->used || n > PACK_RAWMAX - u->all.n)
		return unpack_fail(u, u->off, "bytes of a block are missing");
	if (p)
		*p = u->bytes.p + u->used;
	if (n)
		buf_add(&u->all, u->bytes.p + u->used, (size_t)n);
	u->used += (size_t)n;
	return u->all.nomem ? unpack_fail(u, DIAG_NOOFF, "out of memory") : 0;
}

static const char unpack_other[] = "the program does not have these events: it is not the one that they were packed with";

static int
unpack_walked(struct unpack *u, struct stream *s, uint64_t n, uint64_t walked)
{
	size_t left = s->left;

	if (streams_walk(&u->t, s) != 0)
		return unpack_fail(u, DIAG_NOOFF, u->t.err);
	if (!s->walk || walked > left + n || (walked && walked <= left) || n > PACK_RAWMAX - u->all.n)
		return unpack_fail(u, u->off, "bad number of events in a block");
	if (walk_decode(s->walk, (size_t)walked) != 0)
		return unpack_fail(u, u->off, u->t.code.failed ? "out of memory" : unpack_other);
	if (walked)
		buf_add(&u->all, s->walk->buf + left, (size_t)walked - left);
	s->left = (size_t)(left + n - walked);
	return unpack_take(u, walked ? s->left : n, NULL);
}

static int
unpack_events(struct unpack *u, struct cursor *c)
{
	uint64_t task, n, walked;
	struct stream *s;

	if (unpack_number(u, c, &task) != 0 || unpack_number(u, c, &n) != 0 || unpack_number(u, c, &walked) != 0)
		return -1;
	if (task == 0 || task > UINT32_MAX || n > EV_CHUNKMAX)
		return unpack_fail(u, u->off, "bad number of events in a block");
	s = streams_find(&u->t, (uint32_t)task);
	if (!s)
		return unpack_fail(u, DIAG_NOOFF, u->t.err);
	return walked ? unpack_walked(u, s, n, walked - 1) : unpack_take(u, n, NULL);
}

static int
unpack_entry(struct unpack *u, struct cursor *c)
{
	uint64_t what, n;
	const uint8_t *p;

	if (unpack_number(u, c, &what) != 0)
		return -1;
	if (what == PE_EVENTS)
		return unpack_events(u, c);
	if (what > PE_CLOSE)
		return unpack_fail(u, u->off, "unknown entry of a block");
	if (unpack_number(u, c, &n) != 0)
		return -1;
	if (what == PE_CLOSE && n > UINT32_MAX)
		return unpack_fail(u, u->off, "unknown entry of a block");
	if (what == PE_CLOSE) {
		streams_close(&u->t, (uint32_t)n);
		return 0;
	}
	if (unpack_take(u, n, &p) != 0)
		return -1;
	return what == PE_HEAD && streams_head(&u->t, p, (size_t)n) != 0 ? unpack_fail(u, u->off, u->t.err) : 0;
}

static int
unpack_block(struct unpack *u)
{
	struct cursor c = { u->part + 8, u->part + u->npart }, list;
	uint64_t n;

	u->all.n = u->given = 0;
	if (u->npart < 8 || unpack_number(u, &c, &n) != 0)
		return unpack_fail(u, u->off, "a block is too short");
	if (n > (size_t)(c.end - c.p))
		return unpack_fail(u, u->off, "a block is too short");
	list = (struct cursor){ c.p, c.p + n };
	c.p += n;
	if (unpack_bytes(u, &c) != 0)
		return -1;
	coder_decode(&u->t.code, c.p, (size_t)(c.end - c.p));
	while (list.p < list.end)
		if (unpack_entry(u, &list) != 0)
			return -1;
	if (streams_failed(&u->t) || u->all.nomem)
		return unpack_fail(u, DIAG_NOOFF, "out of memory");
	if (u->used != u->bytes.n)
		return unpack_fail(u, u->off, "a block has bytes that belong to nothing");
	if (ev_checksum(u->all.p, u->all.n) != get_le64(u->part))
		return unpack_fail(u, u->off, unpack_other);
	return 0;
}

static int
unpack_end(struct unpack *u)
{
	uint8_t more;

	u->all.n = u->given = 0;
	if (u->npart < 8 || u->npart > 8 + PACK_TAIL || get_le64(u->part) != u->size + u->npart - 8)
		return unpack_fail(u, u->off, "the end says that the event file has another length");
	buf_add(&u->all, u->part + 8, u->npart - 8);
	if (in_read(u->in, &more, 1) != 0)
		return unpack_fail(u, in_off(u->in) - 1, "bytes after the end");
	if (in_error(u->in))
		return unpack_fail(u, in_off(u->in), in_error(u->in));
	u->done = 1;
	return u->all.nomem ? unpack_fail(u, DIAG_NOOFF, "out of memory") : 0;
}

/* Reads the next part, and unpacks what it gives into u->all. */
static int
unpack_part(struct unpack *u)
{
	uint8_t frame[PACK_FRAME];
	int end;

	u->off = in_off(u->in);
	if (unpack_fill(u, frame, sizeof frame) != 0)
		return -1;
	end = memcmp(frame, "AEpe", 4) == 0;
	if (!end && memcmp(frame, "AEpb", 4) != 0)
		return unpack_fail(u, u->off, "neither a block nor the end");
	u->npart = get_le32(frame + 4);
	if (u->npart > PACK_MOST)
		return unpack_fail(u, u->off + 4, "a block is too large");
	if (u->npart > u->cappart) {
		free(u->part);
		u->cappart = 0;
		u->part = malloc(u->npart);
		if (!u->part)
			return unpack_fail(u, DIAG_NOOFF, "out of memory");
		u->cappart = u->npart;
	}
	if (unpack_fill(u, u->part, u->npart) != 0)
		return -1;
	if (ev_checksum(u->part, u->npart) != get_le64(frame + 8))
		return unpack_fail(u, u->off + 8, "wrong checksum of a block");
	if ((end ? unpack_end(u) : unpack_block(u)) != 0) {
		u->all.n = 0;
		return -1;
	}
	u->size += u->all.n;
	return 0;
}

size_t
unpack_read(void *arg, void *buf, size_t n)
{
	struct unpack *u = arg;
	size_t got = 0, k;

	if (!u->begun)
		unpack_begin(u);
	while (got < n) {
		k = u->all.n - u->given < n - got ? u->all.n - u->given : n - got;
		if (k)
			memcpy((uint8_t *)buf + got, u->all.p + u->given, k);
		u->given += k;
		got += k;
		if (got < n && (u->bad || u->done || unpack_part(u) != 0))
			break;
	}
	return got;
}
