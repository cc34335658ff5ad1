/* Merged Laplace traces: text and the packed form.  See laplace(5). */
#include <string.h>
#include <zlib.h>

#include "base/varint.h"
#include "format/laplace/hex_internal.h"
#include "format/laplace/laplace.h"

enum {                  /* The first byte of a packed record: the type is in bits 0 to 2. */
	END = 6, EVENT = 7,
	/* time since the record before */
	T_SAME = 0, T_NEXT = 1 << 3, T_BYTE = 2 << 3, T_LONG = 3 << 3, T_MASK = 3 << 3,
	PAGE = 1 << 5,          /* pages follow; otherwise they are those of the last reference of the type */
	LEN = 1 << 6,           /* the length follows */
	OFFSET = 1 << 7         /* the offset follows; otherwise it is where the last reference of the type ended */
};

#define PAGESIZE (1u << LAP_PAGEBITS)

size_t
lap_print_touch(uint8_t *dst, const struct lap_touch *t)
{
	uint8_t *d = dst;

	*d++ = (uint8_t)lap_types[t->type];
	*d++ = ' ';
	d = lap_put_hex(d, t->time);
	*d++ = ' ';
	if (t->len < 16)
		*d++ = (uint8_t)"0123456789abcdef"[t->len];
	else
		d = lap_put_hex(d, t->len);
	*d++ = ' ';
	d = lap_put_hex(d, t->page);
	*d++ = ' ';
	d = lap_put_hex(d, t->canon);
	if (t->at) {
		*d++ = ' ';
		d = lap_put_hex(d, t->at - 1u);
	}
	*d++ = '\n';
	return (size_t)(d - dst);
}

size_t
lap_pack_touch(struct lap_last *l, uint8_t *dst, const struct lap_touch *t)
{
	uint64_t dt = t->time - l->time;
	uint8_t *d = dst + 1;
	unsigned head = t->type;

	l->time = t->time;
	if (dt == 1) {
		head |= T_NEXT;
	} else if (dt && dt < 256) {
		head |= T_BYTE;
		*d++ = (uint8_t)dt;
	} else if (dt) {
		head |= T_LONG;
		d = varint_put(d, dt);
	}
	if (t->page != l->of[t->type].page || t->canon != l->of[t->type].canon) {
		head |= PAGE;
		d = varint_put(d, zigzag(t->page - l->of[t->type].page));
		d = varint_put(d, zigzag(t->canon - l->of[t->type].canon));
		l->of[t->type].page = t->page;
		l->of[t->type].canon = t->canon;
	}
	if (t->len != l->of[t->type].len) {
		head |= LEN;
		*d++ = l->of[t->type].len = t->len;
	}
	if (l->offsets) {
		unsigned at = t->at - 1u;

		if (at != l->of[t->type].end) {
			head |= OFFSET;
			put_le16(d, (uint16_t)at);
			d += 2;
		}
		l->of[t->type].end = (uint16_t)((at + t->len) % PAGESIZE);
	}
	*dst = (uint8_t)head;
	return (size_t)(d - dst);
}

/*
 * Packs an event: 7, time, kind, its fields in order: numbers, the type's letter, the name's length
 * and bytes.
 */
void
lap_pack_event(struct lap_last *l, struct buf *b, const struct lap_event *e)
{
	buf_u8(b, EVENT);
	buf_varint(b, e->time - l->time);
	l->time = e->time;
	buf_u8(b, (uint8_t)e->kind);
	for (const char *f = lap_kind_fields(e->kind); *f; f++) {
		if (*f == 'n') {
			buf_varint(b, e->nname);
			buf_add(b, e->name, e->nname);
		} else if (*f == 't') {
			buf_u8(b, (uint8_t)e->type);
		} else {
			buf_varint(b, e->f[lap_letter_field(*f)]);
		}
	}
}

uint32_t
lap_sum(uint32_t sum, const void *p, size_t n)
{
	return (uint32_t)crc32_z(sum, p, n);
}

void
lap_pack_end(uint8_t dst[LAP_TRAILER], uint32_t sum)
{
	dst[0] = END;
	put_le32(dst + 1, sum);
}

static int
lap_merged_fault(struct lap_merged *r, uint64_t off, const char *err)
{
	r->off = off;
	r->err = err;
	return -1;
}

static void
lap_merged_take(struct lap_merged *r, const uint8_t *p, size_t n)
{
	if (r->packed > 1)
		r->sum = lap_sum(r->sum, p, n);
	in_skip(r->in, n);
}

int
lap_merged_open(struct lap_merged *r, struct in *in, char *room)
{
	const uint8_t *p;
	uint8_t want[LAP_HEADER];
	size_t n;

	memset(r, 0, sizeof *r);
	r->in = in;
	r->name = room;
	r->offsets = -1;
	p = in_peek(in, LAP_HEADER, &n);
	if (!n && in_error(in))
		return lap_merged_fault(r, in_off(in), in_error(in));
	lap_put_header(want, LAP_H_MERGED);
	if (!n || p[0] != want[0])
		return 0;
	if (n < LAP_HEADER)
		return lap_merged_fault(r, n, in_error(in) ? in_error(in) : "truncated header");
	r->packed = get_le16(p + 8);
	r->offsets = r->last.offsets = r->packed > 1 && get_le32(p + 12) == LAP_H_OFFSETS;
	if (r->offsets)
		lap_put_header(want, LAP_H_OFFSETS);
	if (r->packed == 1)
		put_le16(want + 8, 1);  /* the header of version 1, which has no end */
	if (memcmp(p, want, LAP_HEADER) != 0)
		return lap_merged_fault(r, 0, memcmp(p, want, 8) != 0 ? lap_foreign(p, n) :
		    get_le16(p + 8) != get_le16(want + 8) ?
		    "unknown version of Laplace traces" : "no merged trace");
	lap_merged_take(r, p, LAP_HEADER);
	return 0;
}

static const char *
parse_touch(struct lap_touch *t, const uint8_t *p, const uint8_t *end, int *offsets)
{
	uint64_t len, at = 0;
	int has;

	t->type = (uint8_t)lap_type(*p);
	p = lap_get_field(p + 1, end, &t->time);
	p = p ? lap_get_field(p, end, &len) : NULL;
	p = p ? lap_get_field(p, end, &t->page) : NULL;
	p = p ? lap_get_field(p, end, &t->canon) : NULL;
	has = p && p != end;
	if (has)
		p = lap_get_field(p, end, &at);
	if (p != end)
		return "not a reference: type, time, length, virtual page, canonical page";
	if (!len || len > 255)
		return "a reference of no bytes, or of more than 255";
	if (t->page >= LAP_PAGES)
		return "a page beyond the end of memory";
	if (has && (at >= PAGESIZE || at + len > PAGESIZE))
		return "a reference beyond the end of its page";
	if (*offsets >= 0 && has != *offsets)
		return has ? "a reference with an offset, where others have none" :
		    "a reference without an offset, where others have one";
	*offsets = has;
	t->at = (uint16_t)(has ? at + 1 : 0);
	t->len = (uint8_t)len;
	return NULL;
}

static int
read_text(struct lap_merged *r, struct lap_item *it)
{
	uint64_t off = in_off(r->in);
	size_t n;
	const uint8_t *p, *nl;
	const char *err;

	p = in_line(r->in, LAP_LINE_MAX, &n, &nl);
	if (!n && !in_error(r->in))
		return 0;
	if (!nl)
		return n < LAP_LINE_MAX ? lap_merged_fault(r, off + n, in_error(r->in) ? in_error(r->in) :
		    "truncated record") :
		    lap_merged_fault(r, off, "an overlong record");
	it->isevent = lap_type(*p) < 0;
	if (it->isevent)
		err = lap_parse_event(&it->event, p, (size_t)(nl - p), r->name);
	else
		err = parse_touch(&it->touch, p, nl, &r->offsets);
	if (err)
		return lap_merged_fault(r, off, err);
	in_skip(r->in, (size_t)(nl + 1 - p));
	r->nrec++;
	return 1;
}

/* NULL: incomplete (*why NULL), or not in the canonical form (*why is the message). */
static const uint8_t *
lap_merged_number(const uint8_t *p, const uint8_t *end, uint64_t *v, const char **why)
{
	enum varint got = varint_get(&p, end, v);

	if (got != VARINT_OK && got != VARINT_CUT)
		*why = "a number that is not written the shortest way, or too large";
	return got == VARINT_OK ? p : NULL;
}

/* Unpacks an event and checks its fields as those of a line. NULL: incomplete, or *why. */
static const uint8_t *
unpack_event(struct lap_merged *r, struct lap_event *e, const uint8_t *p, const uint8_t *end,
    const char **why)
{
	uint64_t v;

	memset(e, 0, sizeof *e);
	e->name = "";
	if (!(p = lap_merged_number(p, end, &v, why)) || p == end)
		return NULL;
	e->time = r->last.time + v;
	if (e->time < v || *p >= LAP_NKINDS) {
		*why = e->time < v ? "a time beyond the last" : "an unknown tag";
		return NULL;
	}
	e->kind = (enum lap_kind)*p++;
	for (const char *f = lap_kind_fields(e->kind); *f; f++) {
		if (*f == 't') {
			if (p == end)
				return NULL;
			e->type = (char)*p++;
			continue;
		}
		if (!(p = lap_merged_number(p, end, &v, why)))
			return NULL;
		if (*f != 'n') {
			e->f[lap_letter_field(*f)] = v;
			continue;
		}
		if (v > LAP_NAME_MAX)
			*why = "an overlong name";
		if (*why || (uint64_t)(end - p) < v)
			return NULL;
		memcpy(r->name, p, v);
		e->name = r->name;
		e->nname = v;
		p += v;
	}
	return p;
}

/* Values that the text form cannot express are refused in the packed form, too. */
static const char *
check_event(const struct lap_event *e)
{
	for (const char *f = lap_kind_fields(e->kind); *f; f++)
		if (*f == 't' && (!e->type || !strchr("fpds", e->type)))
			return "an unknown type of file";
	for (unsigned i = 0; i < LAP_NFIELDS; i++)
		if (lap_field_bits((enum lap_field)i) < 64 && e->f[i] >> lap_field_bits((enum lap_field)i))
			return "a number that is too large";
	return memchr(e->name, 0, e->nname) ? "a name with a zero byte" : NULL;
}

/* given: is the offset written?  NULL: incomplete, or *why */
static const uint8_t *
unpack_offset(const struct lap_last *l, struct lap_touch *t, int given, const uint8_t *p, const uint8_t *end,
    const char **why)
{
	unsigned at = l->of[t->type].end;

	if (given) {
		if (end - p < 2)
			return NULL;
		if (get_le16(p) == at)
			*why = "an offset that is written, where it is clear";
		at = get_le16(p);
		p += 2;
	}
	if (at + t->len > PAGESIZE)
		*why = "a reference beyond the end of its page";
	t->at = (uint16_t)(at + 1);
	return p;
}

static const uint8_t *
unpack_touch(const struct lap_last *l, struct lap_touch *t, const uint8_t *p, const uint8_t *end,
    const char **why)
{
	unsigned head = *p++, type = head & 7;
	uint64_t dt = (head & T_MASK) == T_NEXT, v;

	if (type >= LAP_NTYPES || (head & OFFSET && !l->offsets)) {
		*why = "an unknown type of reference";
		return NULL;
	}
	t->type = (uint8_t)type;
	t->page = l->of[type].page;
	t->canon = l->of[type].canon;
	t->len = l->of[type].len;
	t->at = 0;
	if ((head & T_MASK) == T_BYTE) {
		if (p == end)
			return NULL;
		dt = *p++;
	} else if ((head & T_MASK) == T_LONG && !(p = lap_merged_number(p, end, &dt, why))) {
		return NULL;
	}
	t->time = l->time + dt;
	if (head & PAGE) {
		if (!(p = lap_merged_number(p, end, &v, why)))
			return NULL;
		t->page += unzigzag(v);
		if (!(p = lap_merged_number(p, end, &v, why)))
			return NULL;
		t->canon += unzigzag(v);
	}
	if (head & LEN) {
		if (p == end)
			return NULL;
		t->len = *p++;
	}
	if (l->offsets && !(p = unpack_offset(l, t, (head & OFFSET) != 0, p, end, why)))
		return NULL;
	if (t->time < dt || t->page >= LAP_PAGES || !t->len)
		*why = "a reference of no bytes, or beyond the end of memory or time";
	else if (((head & T_MASK) == T_BYTE && dt < 2) || ((head & T_MASK) == T_LONG && dt < 256) ||
	    (head & PAGE && t->page == l->of[type].page && t->canon == l->of[type].canon) ||
	    (head & LEN && t->len == l->of[type].len))
		*why = "a reference that is not written the shortest way";
	return *why ? NULL : p;
}

/* Reads the trailer; nothing may follow it: 0, or -1. */
static int
read_end(struct lap_merged *r, const uint8_t *p, size_t n, uint64_t off)
{
	if (n < LAP_TRAILER)
		return lap_merged_fault(r, off + n, in_error(r->in) ? in_error(r->in) : "truncated record");
	if (get_le32(p + 1) != r->sum)
		return lap_merged_fault(r, off, "the check sum is wrong: the trace is damaged");
	if (n > LAP_TRAILER)
		return lap_merged_fault(r, off + LAP_TRAILER, "garbage after the end of the trace");
	return in_error(r->in) ? lap_merged_fault(r, off + n, in_error(r->in)) : 0;
}

static int
read_packed(struct lap_merged *r, struct lap_item *it)
{
	uint64_t off = in_off(r->in);
	const char *why = NULL;
	size_t n;
	const uint8_t *p = in_peek(r->in, 64, &n), *q;

	if (!n && !in_error(r->in))
		return r->packed > 1 ? lap_merged_fault(r, off, "the end of the trace is missing") : 0;
	if (n && *p == END && r->packed > 1)
		return read_end(r, p, n, off);
	it->isevent = n && *p == EVENT;
	if (it->isevent) {
		p = in_peek(r->in, LAP_LINE_MAX, &n);
		q = unpack_event(r, &it->event, p + 1, p + n, &why);
		if (q)
			why = check_event(&it->event);
	} else {
		q = n ? unpack_touch(&r->last, &it->touch, p, p + n, &why) : NULL;
	}
	if (why)
		return lap_merged_fault(r, off, why);
	if (!q)
		return lap_merged_fault(r, off + n, in_error(r->in) ? in_error(r->in) : "truncated record");
	lap_merged_take(r, p, (size_t)(q - p));
	if (it->isevent) {
		r->last.time = it->event.time;
	} else {
		const struct lap_touch *t = &it->touch;

		r->last.time = t->time;
		r->last.of[t->type].page = t->page;
		r->last.of[t->type].canon = t->canon;
		r->last.of[t->type].len = t->len;
		if (t->at)
			r->last.of[t->type].end = (uint16_t)((t->at - 1u + t->len) % PAGESIZE);
	}
	r->nrec++;
	return 1;
}

int
lap_merged_read(struct lap_merged *r, struct lap_item *it)
{
	if (r->err)
		return -1;
	return r->packed ? read_packed(r, it) : read_text(r, it);
}
