/* Growable byte buffer, which doubles. See buf.h. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/varint.h"

void
buf_free(struct buf *b)
{
	free(b->p);
	memset(b, 0, sizeof(*b));
}

uint8_t *
buf_reserve(struct buf *b, size_t n)
{
	size_t cap = b->cap ? b->cap : 256;
	uint8_t *p;

	if (b->nomem)
		return NULL;
	if (b->p && n <= b->cap - b->n)
		return b->p + b->n;
	while (cap - b->n < n) {
		if (cap > SIZE_MAX / 2) {
			b->nomem = 1;
			return NULL;
		}
		cap *= 2;
	}
	p = realloc(b->p, cap);
	if (!p) {
		b->nomem = 1;
		return NULL;
	}
	b->p = p;
	b->cap = cap;
	return p + b->n;
}

void
buf_add(struct buf *b, const void *p, size_t n)
{
	uint8_t *d = buf_reserve(b, n);

	if (d && n) {
		memcpy(d, p, n);
		b->n += n;
	}
}

void
buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void
buf_u8(struct buf *b, uint8_t v)
{
	buf_add(b, &v, 1);
}

void
buf_le16(struct buf *b, uint16_t v)
{
	uint8_t t[2];

	put_le16(t, v);
	buf_add(b, t, sizeof(t));
}

void
buf_le32(struct buf *b, uint32_t v)
{
	uint8_t t[4];

	put_le32(t, v);
	buf_add(b, t, sizeof(t));
}

void
buf_le64(struct buf *b, uint64_t v)
{
	uint8_t t[8];

	put_le64(t, v);
	buf_add(b, t, sizeof(t));
}

void
buf_varint(struct buf *b, uint64_t v)
{
	uint8_t *d = buf_reserve(b, VARINT_MAX);

	if (d)
		b->n = (size_t)(varint_put(d, v) - b->p);
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	uint8_t *d;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->nomem = 1;
		return;
	}
	d = buf_reserve(b, (size_t)n + 1);
	if (!d)
		return;
	va_start(ap, fmt);
	vsnprintf((char *)d, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->n += (size_t)n;
}

int
buf_grow(void *array, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap ? *cap : 16;
	void *p;

	memcpy(&p, array, sizeof p);
	if (p && need <= *cap)
		return 0;
	while (n < need) {
		if (n > SIZE_MAX / 2)
			return -1;
		n *= 2;
	}
	p = reallocarray(p, n, size);
	if (!p)
		return -1;
	memcpy(array, &p, sizeof p);
	*cap = n;
	return 0;
}
