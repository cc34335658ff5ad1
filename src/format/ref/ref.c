/* The reference stream: see ref.h and ref(5). */
#include "format/ref/ref.h"

#include <string.h>

#include "base/bytes.h"
#include "base/digits.h"

static const uint8_t magic[8] = { 0x89, 'T', 'M', 'R', 'E', 'F', '\r', '\n' };

static const struct kind {
	const char *text;
	char lackey[4];
	char din;
} kinds[REF_NKINDS] = {
#define K(name, text, lackey, din, sized) [REF_##name] = { text, lackey, din },
#include "format/ref/kind.def"
#undef K
};

#define DATA (1u << REF_LOAD | 1u << REF_STORE | 1u << REF_MODIFY)

static const struct { const char *name; unsigned kinds; } sets[] = {
	{ "data", DATA }, { "instructions", 1u << REF_INST }, { "all", DATA | 1u << REF_INST },
};
#define NSETS (sizeof sets / sizeof *sets)

const char *
ref_set_name(unsigned kinds)
{
	for (size_t i = 0; i < NSETS; i++)
		if (sets[i].kinds == kinds)
			return sets[i].name;
	return NULL;
}

int
ref_set(const char *name, unsigned *kinds)
{
	for (size_t i = 0; i < NSETS; i++)
		if (!strcmp(name, sets[i].name)) {
			*kinds = sets[i].kinds;
			return 0;
		}
	return -1;
}

const char *
ref_kind_name(unsigned kind)
{
	return kinds[kind].text;
}

int
ref_is_stream(const uint8_t *p, size_t n)
{
	return n >= sizeof(magic) && !memcmp(p, magic, sizeof(magic));
}

static long
ref_fault(struct ref_reader *r, uint64_t off, const char *err)
{
	const char *e = in_error(r->in);

	r->off = off;
	r->err = e ? e : err;
	return -1;
}

/* What is wrong with a file that does not begin as a stream; n >= 8. */
static const char *
ref_other(const uint8_t *p)
{
	return !memcmp(p, "\x89TMCAP\r\n", 8) ? "a capture, not a reference stream: ws2addr makes one of it" :
	    !memcmp(p, "\x89" "AEOUT\r\n", 8) ? "events, not a reference stream: ae2addr makes one of them" :
	    !memcmp(p, "\x89TMWET\r\n", 8) ? "a compressed execution trace, not a reference stream: wetq and wetz -d read it" :
	    !memcmp(p, "\x89TMBIF\r\n", 8) ? "compressed by bifcm: bifcm -d gives the stream back" :
	    "not a reference stream";
}

int
ref_open(struct ref_reader *r, struct in *in)
{
	const uint8_t *p;
	size_t n;

	memset(r, 0, sizeof(*r));
	r->in = in;
	p = in_peek(in, REF_HEADER, &n);
	if (n < REF_HEADER)
		return (int)ref_fault(r, n, n && memcmp(p, magic, n < 8 ? n : 8) ? "not a reference stream" :
		    n ? "truncated header" : "empty input");
	if (!ref_is_stream(p, n))
		r->err = ref_other(p);
	else if (get_le16(p + 8) != REF_VERSION) {
		r->off = 8;
		r->err = "unknown version of the reference stream";
	} else if (get_le16(p + 10) != REF_HEADER || get_le32(p + 12)) {
		r->off = 10;
		r->err = "unknown header length or flags";
	}
	if (r->err)
		return -1;
	in_skip(in, REF_HEADER);
	return 0;
}

long
ref_read(struct ref_reader *r, uint64_t *w, size_t max)
{
	const uint8_t *p;
	size_t n, i;
	uint64_t off = in_off(r->in);

	if (r->err)
		return -1;
	p = in_peek(r->in, 8, &n);
	if (n < 8) {
		if (!n && !in_error(r->in))
			return 0;
		return ref_fault(r, off + n, "truncated reference");
	}
	n /= 8;
	if (n > max)
		n = max;
	for (i = 0; i < n; i++) {
		w[i] = get_le64(p + 8 * i);
		if (!ref_valid(w[i]))
			break;
	}
	in_skip(r->in, 8 * i);
	r->nrec += i;
	if (i)
		return (long)i;
	r->off = off;
	r->err = "not a reference: unknown kind, or a size that the kind does not have";
	return -1;
}

#define BLOCK 256u      /* words that are checked together */

/* 1 if all words of the block are valid, in steps that the compiler makes vector instructions of */
static int
ref_valid_block(const uint64_t w[BLOCK])
{
	uint64_t bad = 0;

	for (unsigned i = 0; i < BLOCK; i++)
		/* bit 58: has a size and an event's kind, or neither; the bits above: no kind; those below mean nothing */
		bad |= (256 - (w[i] >> 48 & 255)) << 50 ^ w[i];
	return !(bad >> 58);
}

size_t
ref_valid_words(const uint64_t *w, size_t n)
{
	size_t i = 0;

	while (n - i >= BLOCK && ref_valid_block(w + i))
		i += BLOCK;
	while (i < n && ref_valid(w[i]))
		i++;
	return i;
}

long
ref_next(struct ref_reader *r, const uint64_t **w, uint64_t *room, size_t max)
{
	const uint8_t *p;
	size_t n;

	in_skip(r->in, r->lent);
	r->lent = 0;
	p = in_peek(r->in, 8, &n);
	n = n / 8 < max ? n / 8 : max;
	*w = room;
	/* the slow way also reports faults */
	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || (uintptr_t)p % sizeof **w || !n)
		return ref_read(r, room, max);
	*w = (const uint64_t *)(const void *)p;
	n = ref_valid_words(*w, n);
	if (!n)
		return ref_read(r, room, max);
	r->lent = 8 * n;
	r->nrec += n;
	return (long)n;
}

int
ref_format(const char *name)
{
	static const char *const names[] = { "addr", "lackey", "din", "text" };
	int i;

	for (i = 0; i < 4; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

void
ref_put_header(uint8_t dst[REF_HEADER])
{
	memcpy(dst, magic, sizeof(magic));
	put_le16(dst + 8, REF_VERSION);
	put_le16(dst + 10, REF_HEADER);
	put_le32(dst + 12, 0);
}

/* 0 to 255 */
static uint8_t *
put_dec(uint8_t *d, unsigned v)
{
	if (v >= 100)
		*d++ = (uint8_t)('0' + v / 100);
	if (v >= 10)
		*d++ = (uint8_t)('0' + v / 10 % 10);
	*d++ = (uint8_t)('0' + v % 10);
	return d;
}

static size_t
put_lackey(uint8_t *dst, const uint64_t *w, size_t n)
{
	uint8_t *d = dst;
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);

		if (kind >= REF_ENTER)
			continue;
		memcpy(d, kinds[kind].lackey, 4);
		d += 3;
		d += digits_hex_room(d, ref_addr(w[i]), 8);
		*d++ = ',';
		d = put_dec(d, ref_size(w[i]));
		*d++ = '\n';
	}
	return (size_t)(d - dst);
}

static uint8_t *
put_din_line(uint8_t *d, char label, uint64_t addr)
{
	*d++ = (uint8_t)label;
	*d++ = ' ';
	d += digits_hex_room(d, addr, 1);
	*d++ = '\n';
	return d;
}

static size_t
put_din(uint8_t *dst, const uint64_t *w, size_t n)
{
	uint8_t *d = dst;
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);

		if (kind >= REF_ENTER)
			continue;
		d = put_din_line(d, kinds[kind].din, ref_addr(w[i]));
		if (kind == REF_MODIFY)
			d = put_din_line(d, '1', ref_addr(w[i]));
	}
	return (size_t)(d - dst);
}

static size_t
put_text(uint8_t *dst, const uint64_t *w, size_t n)
{
	uint8_t *d = dst;
	size_t i, k;

	for (i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);

		k = strlen(kinds[kind].text);
		memcpy(d, kinds[kind].text, k);
		d += k;
		memcpy(d, " 0x", 3);
		d += 3;
		d += digits_hex_room(d, ref_addr(w[i]), 1);
		if (kind < REF_ENTER) {
			*d++ = ' ';
			d = put_dec(d, ref_size(w[i]));
		}
		*d++ = '\n';
	}
	return (size_t)(d - dst);
}

size_t
ref_put(enum ref_format f, uint8_t *dst, const uint64_t *w, size_t n)
{
	size_t i;

	switch (f) {
	case REF_LACKEY:
		return put_lackey(dst, w, n);
	case REF_DIN:
		return put_din(dst, w, n);
	case REF_TEXT:
		return put_text(dst, w, n);
	case REF_ADDR:
		break;
	}
	for (i = 0; i < n; i++)
		put_le64(dst + 8 * i, w[i]);
	return 8 * n;
}
