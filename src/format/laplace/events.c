/* Laplace's kernel trace: one record a line.  See laplace(5). */
#include <string.h>

#include "format/laplace/hex_internal.h"
#include "format/laplace/laplace.h"

static const struct kind {
	char tag;
	const char *meaning, *fields;
} kinds[LAP_NKINDS] = {
#define K(name, tag, meaning, fields) { tag, meaning, fields },
#include "format/laplace/tag.def"
#undef K
};

static const struct field {
	char letter;
	unsigned bits;
} fields[LAP_NFIELDS] = {
#define F(name, letter, bits) { letter, bits },
#include "format/laplace/tag.def"
#undef F
};

const char *
lap_kind_meaning(enum lap_kind k)
{
	return kinds[k].meaning;
}

const char *
lap_kind_fields(enum lap_kind k)
{
	return kinds[k].fields;
}

enum lap_field
lap_letter_field(char letter)
{
	unsigned i = 0;

	while (i < LAP_NFIELDS && fields[i].letter != letter)
		i++;
	return (enum lap_field)i;
}

unsigned
lap_field_bits(enum lap_field f)
{
	return fields[f].bits;
}

static int
lap_event_escaped(uint8_t c)
{
	return c <= ' ' || c == 0x7f || c == '\\';
}

/* Reads up to the end of the line. NULL, or a message. */
static const char *
get_name(struct lap_event *e, const uint8_t *p, const uint8_t *end, char *room)
{
	static const char bad[] = "a name that is not escaped as it must be";
	size_t n = 0;

	e->name = room;
	e->nname = 0;
	if (end - p == 1 && *p == '\\')
		return NULL;            /* an empty name */
	while (p < end) {
		uint8_t c = *p++;

		if (c == '\\') {
			int hi = p < end ? lap_digit(p[0]) : -1, lo = end - p > 1 ? lap_digit(p[1]) : -1;

			if (hi < 0 || lo < 0)
				return bad;
			c = (uint8_t)(hi << 4 | lo);
			if (!c || !lap_event_escaped(c))
				return bad;
			p += 2;
		} else if (lap_event_escaped(c)) {
			return bad;
		}
		if (n == LAP_NAME_MAX)
			return "an overlong name";
		room[n++] = (char)c;
	}
	e->nname = n;
	return n ? NULL : bad;
}

static const char *
get_field(struct lap_event *e, char letter, const uint8_t **p, const uint8_t *end, char *room)
{
	const uint8_t *q = *p;
	enum lap_field f;

	if (letter == 'n') {
		if (q == end || *q != ' ')
			return "a record that lacks a name";
		*p = end;
		return get_name(e, q + 1, end, room);
	}
	if (letter == 't') {
		if (end - q < 2 || *q != ' ' || !strchr("fpds", q[1]) || !q[1])
			return "an unknown type of file";
		e->type = (char)q[1];
		*p = q + 2;
		return NULL;
	}
	f = lap_letter_field(letter);
	*p = lap_get_field(q, end, &e->f[f]);
	if (!*p)
		return "not the fields that the record has, as hexadecimal numbers";
	return fields[f].bits < 64 && e->f[f] >> fields[f].bits ? "a number that is too large" : NULL;
}

const char *
lap_parse_event(struct lap_event *e, const uint8_t *p, size_t n, char *room)
{
	const uint8_t *end = p + n;
	const char *err = NULL;
	unsigned k = 0;

	memset(e, 0, sizeof *e);
	e->name = "";
	while (n && k < LAP_NKINDS && kinds[k].tag != (char)*p)
		k++;
	if (!n || k == LAP_NKINDS)
		return "an unknown tag";
	e->kind = (enum lap_kind)k;
	p = lap_get_field(p + 1, end, &e->time);
	if (!p)
		return "not a timestamp after the tag";
	for (const char *f = kinds[k].fields; *f && !err; f++)
		err = get_field(e, *f, &p, end, room);
	return err ? err : p != end ? "more after the record's last field" : NULL;
}

static void
print_name(struct buf *b, const char *s, size_t n)
{
	static const char digit[] = "0123456789abcdef";

	if (!n)
		buf_u8(b, '\\');
	for (size_t i = 0; i < n; i++) {
		uint8_t c = (uint8_t)s[i];

		if (lap_event_escaped(c)) {
			buf_u8(b, '\\');
			buf_u8(b, (uint8_t)digit[c >> 4]);
			buf_u8(b, (uint8_t)digit[c & 15]);
		} else {
			buf_u8(b, c);
		}
	}
}

static void
print_number(struct buf *b, uint64_t v)
{
	uint8_t text[16];

	buf_u8(b, ' ');
	buf_add(b, text, (size_t)(lap_put_hex(text, v) - text));
}

void
lap_print_event(struct buf *b, const struct lap_event *e)
{
	buf_u8(b, (uint8_t)kinds[e->kind].tag);
	print_number(b, e->time);
	for (const char *f = kinds[e->kind].fields; *f; f++) {
		if (*f == 'n') {
			buf_u8(b, ' ');
			print_name(b, e->name, e->nname);
		} else if (*f == 't') {
			buf_u8(b, ' ');
			buf_u8(b, (uint8_t)e->type);
		} else {
			print_number(b, e->f[lap_letter_field(*f)]);
		}
	}
	buf_u8(b, '\n');
}

void
lap_events_open(struct lap_events *r, struct in *in)
{
	memset(r, 0, sizeof *r);
	r->in = in;
}

int
lap_events_read(struct lap_events *r, struct lap_event *e)
{
	size_t n;
	const uint8_t *p, *nl;

	if (r->err)
		return -1;
	in_skip(r->in, r->nline);
	r->nline = 0;
	p = in_line(r->in, LAP_LINE_MAX, &n, &nl);
	if (!n && !in_error(r->in))
		return 0;
	r->off = in_off(r->in);
	if (!nl && n < LAP_LINE_MAX) {
		r->off += n;
		r->err = in_error(r->in) ? in_error(r->in) : "truncated record";
	} else {
		r->err = nl ? lap_parse_event(e, p, (size_t)(nl - p), r->name) : "an overlong record";
	}
	if (r->err)
		return -1;
	r->line = p;
	r->nline = (size_t)(nl + 1 - p);
	r->nrec++;
	return 1;
}

int
lap_events_skip(struct lap_events *r)
{
	const uint8_t *p, *nl;
	size_t n;

	if (in_error(r->in) && r->err == in_error(r->in))
		return -1;
	r->nrec++;
	do {
		p = in_peek(r->in, 256, &n);
		nl = n ? memchr(p, '\n', n) : NULL;
		in_skip(r->in, nl ? (size_t)(nl + 1 - p) : n);
	} while (n && !nl);
	r->err = NULL;
	return nl ? 0 : -1;
}
