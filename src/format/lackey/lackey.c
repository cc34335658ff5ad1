/* Logs of valgrind's lackey: see lackey.h. */
#include "format/lackey/lackey.h"

#include <string.h>

#include "format/ref/ref.h"

static const int8_t hexval[256] = {
	['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, ['6'] = 7, ['7'] = 8, ['8'] = 9,
	['9'] = 10,
	['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16
};      /* value + 1; 0 is not a digit */

void
lackey_open(struct lackey *l, struct in *in)
{
	memset(l, 0, sizeof(*l));
	l->in = in;
}

/* The kind that a line of at least 3 bytes and a newline begins with, or -1. */
static int
kind_of(const uint8_t *p)
{
	if (p[0] == 'I')
		return p[1] == ' ' && p[2] == ' ' ? REF_INST : -1;
	if (p[0] != ' ' || p[2] != ' ')
		return -1;
	switch (p[1]) {
	case 'L':
		return REF_LOAD;
	case 'S':
		return REF_STORE;
	case 'M':
		return REF_MODIFY;
	}
	return -1;
}

/*
 * Parses `addr,size
 * ` at p, which has a newline: 0, or a message.
 */
static const char *
parse_ref(const uint8_t *p, uint64_t *addr, unsigned *size)
{
	uint64_t a = 0;
	unsigned n = 0;
	int i, d;

	for (i = 0; (d = hexval[p[i]]); i++)
		a = a << 4 | (unsigned)(d - 1);
	if (!i || i > 16 || p[i] != ',')
		return "damaged line: no address";
	p += i + 1;
	for (i = 0; p[i] >= '0' && p[i] <= '9' && i < 5; i++)
		n = n * 10 + (unsigned)(p[i] - '0');
	if (!n || p[i] != '\n')
		return "damaged line: no size";
	if (n > LACKEY_MIN / 2 * REF_PIECE)
		return "impossible size";
	if (a + (1ull << 47) >= 1ull << 48)
		return "address out of range";
	*addr = a;
	*size = n;
	return NULL;
}

static const uint8_t *
next_line(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *nl = memchr(p, '\n', (size_t)(end - p));

	return nl ? nl + 1 : end;
}

/*
 * Parses the whole lines p..end (the last byte is a newline) while w has room. *used is the number
 * of bytes parsed; l->err is set at a fault.
 */
static size_t
parse_lines(struct lackey *l, const uint8_t *p, const uint8_t *end, uint64_t *w, size_t max, size_t *used)
{
	const uint8_t *start = p;
	size_t n = 0;

	if (l->holding) {
		w[n++] = l->held;
		l->holding = 0;
	}
	while (p < end && n + LACKEY_MIN / 2 < max) {
		uint64_t addr;
		unsigned size;
		int kind = end - p > 3 ? kind_of(p) : -1;

		/* not lackey's: the traced program may print lines that begin like its lines */
		if (kind < 0 || !hexval[p[3]]) {
			p = next_line(p, end);
			continue;
		}
		l->err = parse_ref(p + 3, &addr, &size);
		if (l->err)
			break;
		if (kind == REF_MODIFY && n && w[n - 1] == ref_make(REF_LOAD, addr, size & 255))
			n--;
		for (; size > REF_SIZEMAX; size -= REF_PIECE, addr += REF_PIECE)
			w[n++] = ref_make((unsigned)kind, addr, REF_PIECE);
		w[n++] = ref_make((unsigned)kind, addr, size);
		p += 5;
		p = next_line(p, end);
	}
	*used = (size_t)(p - start);
	return n;
}

/* Drops the bytes of a line that is longer than the buffer: it cannot be a reference. */
static void
skip_long(struct lackey *l, const uint8_t *p, size_t have)
{
	const uint8_t *nl = memchr(p, '\n', have);

	l->inlong = !nl;
	in_skip(l->in, nl ? (size_t)(nl - p) + 1 : have);
}

/* The rest of the input without a newline: a reference that was cut off, or junk. */
static const char *
tail_fault(const uint8_t *p, size_t n)
{
	if (n > 3 ? kind_of(p) >= 0 && hexval[p[3]] : p[0] == 'I' || p[0] == ' ')
		return "truncated line";
	return NULL;
}

static long
lackey_deliver(struct lackey *l, uint64_t *w, size_t n)
{
	/* a modify that replaces the last load may follow */
	if (!l->err && n > 1 && ref_kind(w[n - 1]) == REF_LOAD) {
		l->held = w[--n];
		l->holding = 1;
	}
	l->nrec += n;
	return (long)n;
}

long
lackey_read(struct lackey *l, uint64_t *w, size_t max)
{
	const uint8_t *p, *nl;
	size_t have, want = 1, n, used;

	while (!l->err) {
		p = in_peek(l->in, want, &have);
		if (l->inlong && have) {
			skip_long(l, p, have);
			continue;
		}
		nl = have ? memrchr(p, '\n', have) : NULL;
		if (!nl && have >= want && have < IN_PEEK) {
			want = have + 1;
			continue;
		}
		if (!nl && have >= IN_PEEK) {
			skip_long(l, p, have);
			want = 1;
			continue;
		}
		if (nl) {
			l->off = in_off(l->in);
			n = parse_lines(l, p, nl + 1, w, max, &used);
			in_skip(l->in, used);
			l->off += used;
			want = 1;
			if (n > 1 || (n && ref_kind(w[0]) != REF_LOAD))
				return lackey_deliver(l, w, n);
			if (n) {
				l->held = w[0];
				l->holding = 1;
			}
			continue;
		}
		l->off = in_off(l->in) + have;
		l->err = in_error(l->in) ? in_error(l->in) : have ? tail_fault(p, have) : NULL;
		in_skip(l->in, have);
		break;
	}
	if (l->holding) {
		w[0] = l->held;
		l->holding = 0;
		l->nrec++;
		return 1;
	}
	return l->err ? -1 : 0;
}
