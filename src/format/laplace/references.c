/* Laplace's raw references: classic, wide, text.  See laplace(5). */
#include <stdio.h>
#include <string.h>

#include "format/kind.h"
#include "format/laplace/hex_internal.h"
#include "format/laplace/laplace.h"

#define VERSION  1u
#define MERGED   2u             /* version of packed merges; version 1 had no trailer */
#define TEXT_MAX 57u            /* r, five blanks and a newline, 16 + 2 + 16 + 16 digits; one spare */
#define WINDOW   (64u << 10)

const char lap_types[] = "rwiRWI";

static const uint8_t magic[8] = { 0x89, 'T', 'M', 'L', 'A', 'P', '\r', '\n' };

const char *
lap_foreign(const uint8_t *p, size_t n)
{
	static char text[80];
	const struct kind *k = kind_of(p, n);

	if (!k)
		return "no Laplace trace";
	snprintf(text, sizeof text, "%s, not a Laplace trace%s", k->what,
	    strcmp(k->what, "a capture") == 0 ? ": ws2laplace makes one of it" : "");
	return text;
}

void
lap_put_header(uint8_t dst[LAP_HEADER], enum lap_header kind)
{
	memcpy(dst, magic, sizeof magic);
	put_le16(dst + 8, kind == LAP_H_REFS ? VERSION : MERGED);
	put_le16(dst + 10, LAP_HEADER);
	put_le32(dst + 12, (uint32_t)kind);
}

int
lap_is_packed(const uint8_t *p, size_t n)
{
	return n >= LAP_HEADER && memcmp(p, magic, sizeof magic) == 0 &&
	    (get_le32(p + 12) == LAP_H_MERGED || get_le32(p + 12) == LAP_H_OFFSETS);
}

static int
lap_ref_fault(struct lap_refs *r, uint64_t off, const char *err)
{
	r->off = off;
	r->err = err;
	return -1;
}

/* Text has a blank after the type, and digits and blanks up to the end of the line or of a classic record. */
static int
looks_like_text(const uint8_t *p, size_t n)
{
	if (n < 3 || p[1] != ' ')
		return 0;
	for (size_t i = 2; i < n && i < LAP_CLASSIC_REC; i++) {
		if (p[i] == '\n')
			return 1;
		if (p[i] != ' ' && lap_digit(p[i]) < 0)
			return 0;
	}
	return 1;
}

int
lap_refs_open(struct lap_refs *r, struct in *in)
{
	const uint8_t *p;
	size_t n;

	memset(r, 0, sizeof *r);
	r->in = in;
	p = in_peek(in, LAP_CLASSIC_REC, &n);
	if (!n && in_error(in))
		return lap_ref_fault(r, in_off(in), in_error(in));
	if (!n || p[0] != magic[0]) {
		r->form = looks_like_text(p, n) ? LAP_TEXT : LAP_CLASSIC;
		return 0;
	}
	r->form = LAP_WIDE;
	if (n < LAP_HEADER)
		return lap_ref_fault(r, n, in_error(in) ? in_error(in) : "truncated header");
	if (memcmp(p, magic, sizeof magic) != 0)
		return lap_ref_fault(r, 0, lap_foreign(p, n));
	if (lap_is_packed(p, n))
		return lap_ref_fault(r, 12, "a merged trace, where raw references are wanted");
	if (get_le16(p + 8) != VERSION)
		return lap_ref_fault(r, 8, "unknown version of Laplace traces");
	if (get_le16(p + 10) != LAP_HEADER)
		return lap_ref_fault(r, 10, "unknown length of the header");
	if (get_le32(p + 12) != 0)
		return lap_ref_fault(r, 12, "unknown kind of trace");
	in_skip(in, LAP_HEADER);
	return 0;
}

static const char *
lap_ref_decode(enum lap_form f, struct lap_ref *v, const uint8_t *p)
{
	int type = lap_type(p[0]);

	if (type < 0)
		return "an unknown type of reference";
	if (!p[9])
		return "a reference of no bytes";
	v->type = (uint8_t)type;
	v->time = get_le64(p + 1);
	v->len = p[9];
	v->space = f == LAP_WIDE ? get_le64(p + 10) : get_le32(p + 10);
	v->addr = f == LAP_WIDE ? get_le64(p + 18) : get_le32(p + 14);
	return NULL;
}

static long
read_binary(struct lap_refs *r, struct lap_ref *v, size_t max)
{
	size_t size = r->form == LAP_WIDE ? LAP_WIDE_REC : LAP_CLASSIC_REC, n, i;
	uint64_t off = in_off(r->in);
	const uint8_t *p = in_peek(r->in, size, &n);

	if (n < size) {
		if (!n && !in_error(r->in))
			return 0;
		return lap_ref_fault(r, off + n, in_error(r->in) ? in_error(r->in) : "truncated reference");
	}
	n /= size;
	if (n > max)
		n = max;
	for (i = 0; i < n; i++)
		if ((r->err = lap_ref_decode(r->form, &v[i], p + i * size)))
			break;
	if (i)
		r->err = NULL;          /* from a later call */
	in_skip(r->in, i * size);
	r->nrec += i;
	return i ? (long)i : lap_ref_fault(r, off, r->err);
}

/* Parses a line without its newline. */
static const char *
lap_ref_parse(struct lap_ref *v, const uint8_t *p, const uint8_t *end)
{
	int type = p < end ? lap_type(*p) : -1;
	uint64_t len;

	if (type < 0)
		return "an unknown type of reference";
	v->type = (uint8_t)type;
	p = lap_get_field(p + 1, end, &v->time);
	p = p ? lap_get_field(p, end, &len) : NULL;
	p = p ? lap_get_field(p, end, &v->space) : NULL;
	p = p ? lap_get_field(p, end, &v->addr) : NULL;
	if (p != end)
		return "not a reference: type, time, length, address space, address";
	if (!len || len > 255)
		return "a reference of no bytes, or of more than 255";
	v->len = (uint8_t)len;
	return NULL;
}

static long
read_text(struct lap_refs *r, struct lap_ref *v, size_t max)
{
	uint64_t off = in_off(r->in);
	size_t n, at = 0, i = 0;
	const uint8_t *p = in_peek(r->in, TEXT_MAX, &n);
	const char *err = NULL;

	if (!n && !in_error(r->in))
		return 0;
	if (n > WINDOW)
		n = WINDOW;
	while (i < max && at < n) {
		const uint8_t *nl = memchr(p + at, '\n', n - at < TEXT_MAX ? n - at : TEXT_MAX);

		if (!nl) {
			if (i)
				break;
			return n - at >= TEXT_MAX ? lap_ref_fault(r, off, "an overlong record") :
			    lap_ref_fault(r, off + n, in_error(r->in) ? in_error(r->in) :
			    "truncated reference");
		}
		err = lap_ref_parse(&v[i], p + at, nl);
		if (err)
			break;
		at = (size_t)(nl + 1 - p);
		i++;
	}
	in_skip(r->in, at);
	r->nrec += i;
	if (i)
		return (long)i;
	return lap_ref_fault(r, off, err ? err : in_error(r->in));
}

long
lap_refs_read(struct lap_refs *r, struct lap_ref *v, size_t max)
{
	if (r->err)
		return -1;
	return r->form == LAP_TEXT ? read_text(r, v, max) : read_binary(r, v, max);
}

int
lap_refs_skip(struct lap_refs *r)
{
	const uint8_t *p, *nl;
	size_t n;

	if (in_error(r->in) && r->err == in_error(r->in))
		return -1;
	r->nrec++;
	if (r->form != LAP_TEXT) {
		size_t size = r->form == LAP_WIDE ? LAP_WIDE_REC : LAP_CLASSIC_REC;

		in_peek(r->in, size, &n);
		in_skip(r->in, n < size ? n : size);
		r->err = NULL;
		return n < size ? -1 : 0;
	}
	do {
		p = in_peek(r->in, TEXT_MAX, &n);
		nl = n ? memchr(p, '\n', n) : NULL;
		in_skip(r->in, nl ? (size_t)(nl + 1 - p) : n);
	} while (n && !nl);
	r->err = NULL;
	return nl ? 0 : -1;
}

int
lap_fits_classic(const struct lap_ref *v)
{
	return !(v->space >> 32) && !(v->addr >> 32);
}

size_t
lap_put_ref(enum lap_form f, uint8_t *dst, const struct lap_ref *v)
{
	uint8_t *d = dst;

	*d++ = (uint8_t)lap_types[v->type];
	if (f == LAP_TEXT) {
		*d++ = ' ';
		d = lap_put_hex(d, v->time);
		*d++ = ' ';
		d = lap_put_hex(d, v->len);
		*d++ = ' ';
		d = lap_put_hex(d, v->space);
		*d++ = ' ';
		d = lap_put_hex(d, v->addr);
		*d++ = '\n';
		return (size_t)(d - dst);
	}
	put_le64(d, v->time);
	d[8] = v->len;
	if (f == LAP_CLASSIC) {
		put_le32(d + 9, (uint32_t)v->space);
		put_le32(d + 13, (uint32_t)v->addr);
		return LAP_CLASSIC_REC;
	}
	put_le64(d + 9, v->space);
	put_le64(d + 17, v->addr);
	return LAP_WIDE_REC;
}
