/* Reader of event files; see events.h. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/ae/events.h"

static uint64_t
events_rotl(uint64_t v, unsigned n)
{
	return v << n | v >> (64 - n);
}

static uint64_t
events_mix(uint64_t h, uint64_t w)
{
	h = (h ^ w) * 0x9FB21C651E98DF25u;
	return h ^ h >> 32;
}

uint64_t
ev_checksum(const uint8_t *p, size_t n)
{
	uint64_t h[4], x;
	uint8_t tail[32] = {0};
	size_t i;

	for (i = 0; i < 4; i++)
		h[i] = 0x9E3779B97F4A7C15u * (i + 1);
	for (i = 0; i + 32 <= n; i += 32) {
		h[0] = events_mix(h[0], get_le64(p + i));
		h[1] = events_mix(h[1], get_le64(p + i + 8));
		h[2] = events_mix(h[2], get_le64(p + i + 16));
		h[3] = events_mix(h[3], get_le64(p + i + 24));
	}
	if (i < n) {
		memcpy(tail, p + i, n - i);
		for (i = 0; i < 4; i++)
			h[i] = events_mix(h[i], get_le64(tail + 8 * i));
	}
	x = (h[0] + events_rotl(h[1], 13) + events_rotl(h[2], 29) + events_rotl(h[3], 43)) ^ n;
	x ^= x >> 29;
	x *= 0x9E3779B97F4A7C15u;
	return x ^ x >> 32;
}

unsigned
ev_short(const uint8_t *p, uint64_t *v)
{
	uint32_t first = get_le32(p);
	unsigned n = ev_shortlen(first);

	*v = n == 4 ? first : n == 8 ? (uint64_t)(first & INT32_MAX) << 32 | get_le32(p + 4) : get_le64(p + 4);
	return (n == 8 && *v <= INT32_MAX) || (n == 12 && *v >> 32 < INT32_MAX) ? 0 : n;
}

unsigned
ev_putshort(uint8_t *p, uint64_t v)
{
	if (v <= INT32_MAX) {
		put_le32(p, (uint32_t)v);
		return 4;
	}
	if (v >> 32 < INT32_MAX) {
		put_le32(p, (uint32_t)(v >> 32) | UINT32_C(1) << 31);
		put_le32(p + 4, (uint32_t)v);
		return 8;
	}
	put_le32(p, UINT32_MAX);
	put_le64(p + 4, v);
	return 12;
}

const char *
ev_machine(unsigned machine)
{
	return machine == EM_X86_64 ? "x86-64" : machine == EM_MIPS ? "MIPS" : NULL;
}

static int
events_fail(struct ev_reader *r, uint64_t off, const char *what)
{
	if (!r->err) {
		r->err = what;
		r->erroff = off;
	}
	return -1;
}

static size_t
events_fill(struct ev_reader *r, void *p, size_t n)
{
	size_t got = r->read(r->arg, p, n);

	r->off += got;
	return got;
}

static int
all_zero(const uint8_t *p, size_t n)
{
	while (n && *p == 0) {
		p++;
		n--;
	}
	return n == 0;
}

/* Every bit of the header has one meaning: unused ones are zero. */
static int
parse_header(struct ev_reader *r, const uint8_t *p, size_t len)
{
	struct ev_header *h = &r->head;
	size_t at = r->version >= 4 ? 92 : 84;          /* of the parent's name, after its length */
	uint32_t n = get_le32(p + at - 4);

	if (get_le64(p + len - 8) != ev_checksum(p, len - 8))
		return events_fail(r, len - 8, "wrong checksum of the header");
	h->idlen = p[16];
	if (h->idlen > EV_IDMAX || !all_zero(p + 17 + h->idlen, 32 - h->idlen))
		return events_fail(r, 16, "bad build id");
	memcpy(h->id, p + 17, h->idlen);
	h->machine = get_le16(p + 49);
	if (p[51] || (r->version == 2 && !all_zero(p + 52, 4)))
		return events_fail(r, 51, "bytes of the header that should be 0");
	h->parent_task = get_le32(p + 52);
	h->fs = get_le64(p + 56);
	h->flags = get_le64(p + 64);
	h->parent_pos = get_le64(p + 72);
	if (h->flags & ~(uint64_t)EV_CHILD)
		return events_fail(r, 64, "unknown flags");
	if (!(h->flags & EV_CHILD) && (h->parent_pos || n || h->parent_task))
		return events_fail(r, 72, "parent of a process that was not forked");
	h->base = at == 92 ? get_le64(p + 80) : 0;
	if (h->base % EV_PAGE)
		return events_fail(r, 80, "bad load address");
	if (n > len - 8 - at || (at + n + 7) / 8 * 8 + 8 != len)
		return events_fail(r, at - 4, "bad length of the parent's name");
	memcpy(h->parent, p + at, n);
	if (memchr(h->parent, 0, n) || !all_zero(p + at + n, len - 8 - at - n))
		return events_fail(r, at, "bad name of the parent");
	return 0;
}

int
ev_open(struct ev_reader *r, ev_read_fn *read, void *arg)
{
	uint8_t head[EV_HEADMAX];
	size_t len, got;

	memset(r, 0, sizeof *r);
	r->task = r->begun = 1;
	r->left = -1;
	r->read = read;
	r->arg = arg;
	got = events_fill(r, head, 16);
	if (got == 0)
		return events_fail(r, 0, "empty, not an event file");
	if (memcmp(head, EV_MAGIC, got < 8 ? got : 8) != 0)
		return events_fail(r, 0, "not an event file");
	if (got < 16)
		return events_fail(r, got, "header ends early");
	r->version = (int)get_le32(head + 8);
	if (r->version < 2 || r->version > EV_VERSION)
		return events_fail(r, 8, "event file of an unknown version");
	len = get_le32(head + 12);
	if (len < EV_HEADMIN - (r->version < 4 ? 8 : 0) || len > EV_HEADMAX || len % 8)
		return events_fail(r, 12, "bad length of the header");
	got = events_fill(r, head + 16, len - 16);
	if (got < len - 16)
		return events_fail(r, r->off, "header ends early");
	if (parse_header(r, head, len) != 0)
		return -1;
	if (r->head.parent_task == 0)
		r->head.parent_task = 1;
	r->fs = r->head.fs;
	r->ordered = r->version >= 7;
	r->payload = malloc(EV_CHUNKMAX);
	if (!r->payload)
		return events_fail(r, r->off, "out of memory");
	return 0;
}

void
ev_close(struct ev_reader *r)
{
	free(r->payload);
	free(r->waste);
	free(r->begins);
	r->begins = NULL;
	r->nbegin = 0;
	for (size_t i = 0; i < r->nmodule; i++)
		free(r->module[i].path);
	free(r->module);
	r->module = NULL;
	r->nmodule = 0;
	r->payload = r->waste = NULL;
}

/* What the end record means for the thread that is read; task: the one that ended the process, 0: none that is recorded */
static int
end_of_task(struct ev_reader *r, uint32_t task, uint64_t off)
{
	struct ev_end *e = &r->end;

	if (!r->begun)
		return events_fail(r, off, "there is no thread of this number");
	if (r->left >= 0)
		e->reason = (uint32_t)r->left;
	else if (task != r->task && e->reason != EV_STOPPED && e->reason != EV_LIMITED)
		return events_fail(r, off + 72, "the end of a thread is missing");
	if (r->left >= 0 || task != r->task) {
		e->sig = e->access = e->tail = 0;
		e->rip = 0;
	}
	if (e->tail > r->nlast)
		return events_fail(r, off + 16, "bad end record");
	return 0;
}

int
ev_several(const uint8_t *p)
{
	if (memcmp(p, "AEnd", 4) != 0 || get_le32(p + 4) != EV_ENDLEN || get_le64(p + 8) != ev_checksum(p + 16, EV_ENDLEN))
		return -1;
	return get_le32(p + 76) != 0;
}

/* Reads the end record, whose frame has been read. */
static int
read_end(struct ev_reader *r)
{
	uint64_t off = r->off - 16;
	uint8_t b[EV_ENDLEN + 1];
	uint32_t task, ntask;
	size_t got;

	if (get_le32(r->frame + 4) != EV_ENDLEN)
		return events_fail(r, off + 4, "bad length of the end record");
	got = events_fill(r, b, EV_ENDLEN);
	if (got < EV_ENDLEN)
		return events_fail(r, r->off, "end record ends early");
	if (get_le64(r->frame + 8) != ev_checksum(b, EV_ENDLEN))
		return events_fail(r, off + 8, "wrong checksum of the end record");
	r->end.reason = get_le32(b);
	r->end.sig = get_le32(b + 4);
	r->end.nbytes = get_le64(b + 8);
	r->end.nthread = get_le64(b + 16);
	r->end.nhandler = get_le64(b + 24);
	r->end.rip = get_le64(b + 32);
	r->end.addr = get_le64(b + 40);
	r->end.access = get_le32(b + 48);
	r->end.tail = get_le32(b + 52);
	task = get_le32(b + 56);
	ntask = get_le32(b + 60);
	if (r->end.reason >= EV_NREASONS || r->end.access >= EV_NACCESSES ||
	    !all_zero(b + 40, r->end.reason == EV_SIGNAL && r->end.access ? 0 : 16) ||
	    (r->version == 2 && !all_zero(b + 56, EV_ENDLEN - 56)) || ntask == 1 || task > ntask || r->next > ntask)
		return events_fail(r, off + 16, "bad end record");
	if (r->end.nbytes != r->nbytes + r->other)
		return events_fail(r, off + 24, "the end record counts other events than there are");
	if (events_fill(r, b, 1) != 0)
		return events_fail(r, r->off - 1, "bytes after the end record");
	if (end_of_task(r, ntask ? task : 1, off) != 0)
		return -1;
	r->ended = 1;
	return 0;
}

static int
read_part(struct ev_reader *r, uint8_t *p, size_t n)
{
	if (events_fill(r, p, n) == n)
		return 0;
	return events_fail(r, r->off, "chunk ends early");
}

/* Passes over n bytes, events of another thread. */
static int
pass_over(struct ev_reader *r, size_t n)
{
	size_t got;

	r->other += n;
	if (r->pass) {
		got = r->pass(r->arg, n);
		r->off += got;
		return got == n ? 0 : events_fail(r, r->off, "chunk ends early");
	}
	if (!r->waste)
		r->waste = malloc(EV_CHUNKMAX);
	if (!r->waste)
		return events_fail(r, r->off, "out of memory");
	return read_part(r, r->waste, n);
}

static int
list_task(struct ev_reader *r, uint32_t task, uint64_t off)
{
	uint32_t *p = realloc(r->begins, (r->nbegin + 1) * sizeof *p);

	if (!p)
		return events_fail(r, off, "out of memory");
	r->begins = p;
	p[r->nbegin++] = task;
	return 0;
}

/* The begin or the end of a thread's stream, whose frame and first 8 bytes have been read */
static int
read_thread(struct ev_reader *r, enum ev_thread kind, uint64_t off)
{
	static const int left[] = { EV_EXIT, EV_EXIT, EV_RUNNING, EV_LOST };
	uint32_t task = get_le32(r->part);
	uint8_t b[24];

	memcpy(b, r->part, 8);
	if (get_le32(r->frame + 4) != sizeof b)
		return events_fail(r, off + 4, "bad length of a thread's record");
	if (read_part(r, b + 8, sizeof b - 8) != 0)
		return -1;
	if (get_le64(r->frame + 8) != ev_checksum(b, sizeof b))
		return events_fail(r, off + 8, "wrong checksum of a thread's record");
	if (kind == EV_BEGINS) {
		if (task == r->task && r->begun)
			return events_fail(r, off + 16, "a thread begins twice");
		if (r->version >= 6 && get_le32(b + 20) >= task)
			return events_fail(r, off + 36, "handlers that interrupted a later thread");
		if (task == r->task) {
			r->begun = 1;
			r->fs = get_le64(b + 8);
			r->interrupts = r->version >= 6 ? get_le32(b + 20) : 0;
		}
		if (task > r->task && (!r->next || task < r->next))
			r->next = task;
		return r->list ? list_task(r, task, off) : 0;
	}
	if (get_le64(b + 16) >= sizeof left / sizeof left[0])
		return events_fail(r, off + 32, "unknown end of a thread");
	if (task != r->task)
		return 0;
	if (!r->begun || r->left >= 0 || get_le64(b + 8) != r->nbytes)
		return events_fail(r, off + 24, "the end of a thread counts other events than there are");
	r->left = left[get_le64(b + 16)];
	return 0;
}

const struct ev_module *
ev_module(const struct ev_reader *r, uint32_t number)
{
	for (size_t i = 0; i < r->nmodule; i++)
		if (number - r->module[i].first < r->module[i].n)
			return r->module + i;
	return NULL;
}

/* Adds a library; its numbers are after those of the one before it. */
static int
add_module(struct ev_reader *r, const struct ev_module *m, const uint8_t *path, size_t len)
{
	const struct ev_module *before = r->nmodule ? r->module + r->nmodule - 1 : NULL;
	struct ev_module *p;

	if (m->n == 0 || m->first >= EV_NFUNCS || (before && m->first - before->first < before->n) ||
	    (before && m->first < before->first))
		return events_fail(r, m->off + 16, "bad numbers of a library's functions");
	p = realloc(r->module, (r->nmodule + 1) * sizeof *p);
	if (p)
		r->module = p;
	if (!p || (p[r->nmodule] = *m, p[r->nmodule].path = malloc(len + 1)) == NULL)
		return events_fail(r, m->off, "out of memory");
	memcpy(p[r->nmodule].path, path, len);
	p[r->nmodule++].path[len] = '\0';
	return 0;
}

/* The record of a library, whose frame has been read */
static int
read_module(struct ev_reader *r, uint64_t off, uint32_t len)
{
	struct ev_module m = { .off = off };
	uint8_t b[EV_MODMAX];
	uint32_t n;

	if (len < EV_MODMIN || len > sizeof b || len % 8)
		return events_fail(r, off + 4, "bad length of a library's record");
	if (read_part(r, b, len) != 0)
		return -1;
	if (get_le64(r->frame + 8) != ev_checksum(b, len))
		return events_fail(r, off + 8, "wrong checksum of a library's record");
	m.first = get_le32(b);
	m.n = get_le32(b + 4);
	m.base = get_le64(b + 8);
	if (m.base % EV_PAGE)
		return events_fail(r, off + 24, "bad load address");
	m.idlen = b[16];
	if (m.idlen > EV_IDMAX || !all_zero(b + 17 + m.idlen, 32 - m.idlen + 3))
		return events_fail(r, off + 32, "bad build id");
	memcpy(m.id, b + 17, m.idlen);
	n = get_le32(b + 52);
	if (n == 0 || n > len || (EV_MODPATH + n + 7) / 8 * 8 != len || memchr(b + EV_MODPATH, 0, n) ||
	    !all_zero(b + EV_MODPATH + n, len - EV_MODPATH - n))
		return events_fail(r, off + 68, "bad name of a library");
	return add_module(r, &m, b + EV_MODPATH, n);
}

/*
 * A record of a thread, whose frame has been read: the begin of a chunk of the thread that is read, then r->have_frame
 * is set; or something else, that is done with.
 */
static int
read_record(struct ev_reader *r, uint64_t off, uint32_t n)
{
	uint32_t task, kind;

	if (n <= 8 || n > EV_CHUNKMAX)
		return events_fail(r, off + 4, "bad length of a thread's record");
	if (read_part(r, r->part, 8) != 0)
		return -1;
	task = get_le32(r->part);
	kind = get_le32(r->part + 4);
	if (task == 0 || kind > EV_ENDS || (task == 1 && kind != EV_ENDS))
		return events_fail(r, off + 16, "bad record of a thread");
	if (kind != EV_CHUNK)
		return read_thread(r, (enum ev_thread)kind, off);
	if (task != r->task)
		return pass_over(r, n - 8);
	if (!r->begun || r->left >= 0)
		return events_fail(r, off + 16, "events of a thread before its begin or after its end");
	r->have_frame = 1;
	return 0;
}

/*
 * A chunk may be followed by zeros up to the next page of the file; then r->frame begins with some
 * of them. Skips them and completes the frame. Returns how many of its bytes are there, and where
 * it starts.
 */
static size_t
skip_padding(struct ev_reader *r, size_t got, uint64_t *off)
{
	size_t pad = EV_PAGE - (size_t)(*off % EV_PAGE), k = pad < got ? pad : got;
	uint8_t zeros[EV_PAGE];

	if (got == 0 || r->frame[0] != 0 || *off % EV_PAGE == 0 || r->nbytes + r->other == 0 || !all_zero(r->frame, k))
		return got;
	if (pad > k) {
		size_t more = events_fill(r, zeros, pad - k);

		if (!all_zero(zeros, more))
			return got;
		k = got;
		if (more < pad - got)
			return 0;
	}
	memmove(r->frame, r->frame + k, got - k);
	*off += pad;
	return got - k + events_fill(r, r->frame + got - k, 16 - (got - k));
}

/* A frame and what it needs: 0 if the next one is to be read, too, else 1 */
static int
read_one(struct ev_reader *r)
{
	uint64_t off = r->off;
	size_t got = events_fill(r, r->frame, 16);
	uint32_t n;

	got = skip_padding(r, got, &off);
	if (got < 16) {
		events_fail(r, r->off, got ? "chunk ends early" : "no end record: the file is truncated");
		return 1;
	}
	n = get_le32(r->frame + 4);
	if (memcmp(r->frame, "AEnd", 4) == 0) {
		read_end(r);
		return 1;
	}
	if (memcmp(r->frame, "AEth", 4) == 0 && r->version != 2)
		return read_record(r, off, n) != 0 || r->have_frame;
	if (memcmp(r->frame, "AEmo", 4) == 0 && r->version >= 5)
		return read_module(r, off, n) != 0;
	if (memcmp(r->frame, "AEch", 4) != 0)
		events_fail(r, off, "neither a chunk nor the end record");
	else if (n == 0 || n > EV_CHUNKMAX)
		events_fail(r, off + 4, "bad length of a chunk");
	else if (r->task != 1)
		return pass_over(r, n) != 0;
	else if (r->left >= 0)
		events_fail(r, off, "events of a thread before its begin or after its end");
	else
		r->have_frame = 1;
	return 1;
}

/* Reads on to the next chunk of the thread or the end record; sets `last` when no chunk follows. */
static void
read_frame(struct ev_reader *r)
{
	r->have_frame = 0;
	while (!read_one(r))
		;
	r->last = !r->have_frame;
}

int
ev_task(struct ev_reader *r, uint32_t n)
{
	if (n == 1)
		return 0;
	r->task = n;
	r->begun = 0;
	while (!r->begun && !read_one(r))
		;
	return r->begun ? 0 : -1;
}

long
ev_next(struct ev_reader *r, const uint8_t **p)
{
	size_t n, got, first;

	if (!r->have_frame && !r->last && !r->err)
		read_frame(r);
	if (!r->have_frame)
		return r->err ? -1 : 0;
	first = r->task == 1 ? 0 : sizeof r->part;
	n = get_le32(r->frame + 4) - first;
	r->payload_off = r->off;
	memcpy(r->payload, r->part, first);
	got = events_fill(r, r->payload + first, n);
	*p = r->payload + first;
	if (got == n && get_le64(r->frame + 8) != ev_checksum(r->payload, first + n)) {
		r->have_frame = 0;
		r->last = 1;
		return events_fail(r, r->payload_off - first - 8, "wrong checksum of a chunk");
	}
	r->nbytes += got;
	r->nlast = got;
	if (got < n) {
		r->have_frame = 0;
		r->last = 1;
		events_fail(r, r->off, "chunk ends early");
		return got ? (long)got : -1;
	}
	read_frame(r);
	return (long)n;
}
