/* Packets of gdb's remote protocol: framing, check sums, escapes, interrupts. */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/wsgdb/wsgdb.h"
#include "base/diag.h"
#include "base/num.h"
#include "base/text.h"

#define INTERRUPT 3
#define ESCAPE '}'
#define RUN_LEAST 3u            /* further bytes of a run that is encoded */
#define RUN_MOST 97u
#define RUN_CHAR 29u            /* their number, plus this, is a character that can be printed */

/* Reads more: 1; 0: the end.  There must be room. */
static int
wire_read(struct wire *w)
{
	ssize_t n;

	if (w->at) {
		memmove(w->room, w->room + w->at, w->n - w->at);
		w->n -= w->at;
		w->at = 0;
	}
	do
		n = read(w->in, w->room + w->n, sizeof w->room - w->n);
	while (n < 0 && errno == EINTR);
	if (n <= 0) {
		w->eof = 1;
		return 0;
	}
	w->n += (size_t)n;
	return 1;
}

static int
wire_byte(struct wire *w)
{
	if (w->at == w->n && (w->eof || !wire_read(w)))
		return -1;
	return w->room[w->at++];
}

int
wire_interrupted(struct wire *w)
{
	struct pollfd p = { .fd = w->in, .events = POLLIN };
	uint8_t *c;

	if (w->interrupt) {
		w->interrupt = 0;
		return 1;
	}
	if (w->n - w->at < sizeof w->room / 2 && !w->eof && poll(&p, 1, 0) > 0 && !wire_read(w))
		return 1;       /* gdb is gone */
	c = memchr(w->room + w->at, INTERRUPT, w->n - w->at);
	if (!c)
		return w->eof;
	*c = '+';       /* an acknowledgement means nothing here */
	return 1;
}

static int
hex_digit(int c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ?
	    c - 'A' + 10 : -1;
}

/* The packet after its $: 1; 0: it is damaged or too long; -1: the end */
static int
wire_body(struct wire *w)
{
	unsigned sum = 0;
	int c, hi, lo, fits = 1;

	w->len = 0;
	while ((c = wire_byte(w)) != '#') {
		if (c < 0)
			return -1;
		if (c == '$') {         /* the one before was cut off */
			w->len = 0;
			sum = 0;
			fits = 1;
			continue;
		}
		sum += (unsigned)c;
		if (w->len == sizeof w->packet - 1)
			fits = 0;
		else
			w->packet[w->len++] = (char)c;
	}
	w->packet[w->len] = '\0';
	if ((hi = wire_byte(w)) < 0 || (lo = wire_byte(w)) < 0)
		return -1;
	hi = hex_digit(hi);
	lo = hex_digit(lo);
	return fits && hi >= 0 && lo >= 0 && (w->noack || (sum & 255) == (unsigned)(hi << 4 | lo));
}

/* Writes all of it, unless gdb is gone. */
static void
wire_write(struct wire *w, const void *p, size_t n)
{
	const uint8_t *c = p;

	while (n && !w->gone) {
		ssize_t k = write(w->out, c, n);

		if (k < 0 && (errno == EPIPE || errno == ECONNRESET))
			w->eof = w->gone = 1;
		else if (k < 0 && errno != EINTR)
			die_sys("gdb");
		else if (k > 0) {
			c += k;
			n -= (size_t)k;
		}
	}
}

int
wire_next(struct wire *w)
{
	int c, got;

	for (;;) {
		while ((c = wire_byte(w)) != '$') {
			if (c < 0)
				return 0;
			if (c == INTERRUPT)
				w->interrupt = 1;
			if (c == '-' && !w->noack)
				wire_write(w, w->last.p, w->last.n);
		}
		got = wire_body(w);
		if (got < 0)
			return 0;
		if (!w->noack)
			wire_write(w, got ? "+" : "-", 1);
		if (got)
			return 1;
	}
}

/*
 * Appends the packet with runs of a byte as the byte, * and a character for the number of further
 * ones.  gdb makes a system call for each byte that it gets through a pipe.
 */
static void
wire_encode(struct buf *b, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t more = 0;

		while (i + 1 + more < n && p[i + 1 + more] == p[i] && more < RUN_MOST)
			more++;
		buf_u8(b, p[i]);
		i++;
		/* these have a meaning of their own */
		while (more >= RUN_LEAST && memchr("#$+-", (int)more + RUN_CHAR, 4))
			more--;
		if (more >= RUN_LEAST) {
			buf_u8(b, '*');
			buf_u8(b, (uint8_t)(more + RUN_CHAR));
			i += more;
		}
	}
}

void
wire_send(struct wire *w, const void *p, size_t n)
{
	unsigned sum = 0;

	w->last.n = 0;
	buf_u8(&w->last, '$');
	wire_encode(&w->last, p, n);
	for (size_t i = 1; i < w->last.n; i++)
		sum += w->last.p[i];
	buf_printf(&w->last, "#%02x", sum & 255);
	if (w->last.nomem)
		die("no memory");
	wire_write(w, w->last.p, w->last.n);
}

void
wire_text(struct wire *w, const char *s)
{
	wire_send(w, s, strlen(s));
}

void
packet_hex(struct buf *b, const void *p, size_t n)
{
	static const char digit[] = "0123456789abcdef";
	const uint8_t *c = p;
	uint8_t *to = buf_reserve(b, 2 * n);

	if (!to)
		die("no memory");
	for (size_t i = 0; i < n; i++) {
		to[2 * i] = (uint8_t)digit[c[i] >> 4];
		to[2 * i + 1] = (uint8_t)digit[c[i] & 15];
	}
	b->n += 2 * n;
}

size_t
packet_binary(struct buf *b, const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n && b->n <= PACKET_MAX - 64; i++) {
		if (memchr("#$}*", p[i], 4)) {
			buf_u8(b, ESCAPE);
			buf_u8(b, p[i] ^ 0x20);
		} else
			buf_u8(b, p[i]);
	}
	if (b->nomem)
		die("no memory");
	return i;
}

int
packet_unhex(uint8_t *to, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int hi = hex_digit((unsigned char)s[2 * i]);
		int lo = hi < 0 ? -1 : hex_digit((unsigned char)s[2 * i + 1]);

		if (lo < 0)
			return -1;
		to[i] = (uint8_t)(hi << 4 | lo);
	}
	return 0;
}

int
packet_number(const char **s, uint64_t *v, char end)
{
	size_t n = num_hex(*s, strlen(*s), v);

	if (!n || (end && (*s)[n] != end))
		return -1;
	*s += n + (end != '\0');
	return 0;
}

void
wire_console(struct wire *w, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof text - 1)
		n = (int)sizeof text - 1;
	/* gdb prints it as it is, and there are names of the capture in it */
	for (char *s = text, *nl; s < text + n; s = nl + 1) {
		if ((nl = memchr(s, '\n', (size_t)(text + n - s))) == NULL)
			nl = text + n;
		text_clean(s, (size_t)(nl - s));
	}
	buf_u8(&b, 'O');
	packet_hex(&b, text, (size_t)n);
	wire_send(w, b.p, b.n);
	buf_free(&b);
}
