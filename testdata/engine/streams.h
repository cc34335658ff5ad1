/* Streams for tests of value streams, and how they are packed. */
#ifndef TESTDATA_ENGINE_STREAMS_H
#define TESTDATA_ENGINE_STREAMS_H

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/stream/stream_internal.h"

struct text {
	uint8_t *p;
	size_t n, cap;
	size_t stop;            /* a sink that fails when it has more; 0 never */
};

static uint64_t state = 1;

static inline uint64_t
rnd(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return n ? (state * 0x2545f4914f6cdd1dull >> 11) % n : state;
}

static inline int
keep(void *arg, const void *p, size_t n)
{
	struct text *t = arg;

	if (t->n + n > t->cap) {
		t->cap = 2 * (t->n + n);
		t->p = realloc(t->p, t->cap);
		if (!t->p)
			abort();
	}
	memcpy(t->p + t->n, p, n);
	t->n += n;
	return t->stop && t->n > t->stop ? -1 : 0;
}

/* There may be nothing to compare, and nowhere */
static inline int
same(const void *a, const void *b, size_t n)
{
	return !n || !memcmp(a, b, n);
}

/* n bytes of the kinds of values that traces have: strides, few values, references, noise */
static inline void
make(struct text *t, size_t n)
{
	uint64_t a = rnd(1u << 20), b = 0, kind = rnd(5);

	t->n = 0;
	while (t->n < n) {
		uint8_t w[8];
		size_t k = n - t->n < 8 ? n - t->n : 8;

		if (!rnd(40))
			kind = rnd(5);
		switch (kind) {
		case 0:
			a += 8;
			break;
		case 1:
			a = rnd(4) * 1000;
			break;
		case 2:
			b = b + 1 + rnd(3) / 2;
			a = (b % 20) * 4 + 0x400000 + (rnd(3) ? 4ull << 48 : (1ull << 56) + (8ull << 48));
			break;
		case 3:
			a = rnd(0);
			break;
		default:
			break;
		}
		put_le64(w, a);
		keep(t, w, k);
	}
}

static inline void
pack(struct text *out, const struct text *in, const struct vs_options *o, size_t head)
{
	struct vs_options q = *o;
	struct fault f;
	struct vs_writer *w;
	size_t at;

	q.head = in->p;
	q.nhead = at = in->n < head ? in->n : head;
	out->n = 0;
	w = vs_create(keep, out, &q, &f);
	if (!w)
		abort();
	while (at < in->n) {
		size_t k = 1 + rnd(rnd(8) ? 50 : in->n);

		k = k > in->n - at ? in->n - at : k;
		if (vs_write(w, in->p + at, k) != 0)
			abort();
		at += k;
	}
	if (vs_finish(w) != 0)
		abort();
	vs_free(w);
}

static const char *const layouts[] = { "8", "4", "2", "1", "4,8", "8,1,2", "1,2:0,4:2,8", "1,1,1,1,1,1,1,8",
    "addr" };
#define NLAYOUT (sizeof(layouts) / sizeof(layouts[0]))

static inline void
options(struct vs_options *o, const char *layout)
{
	struct fault f;

	*o = (struct vs_options){ .block = 1 + (uint32_t)rnd(rnd(3) ? 40 : 3000), .level = (int)rnd(10),
	    .method = -1,
	    .threads = 1 + (unsigned)rnd(3) };
	if (vs_layout_parse(&o->layout, layout, &f) != 0)
		abort();
	if (!rnd(4)) {
		unsigned m = (unsigned)rnd(256);

		while (!vc_name(m))
			m = (m + 1) % 256;
		o->method = (int)m;
	}
	o->first = rnd(2) ? 0 : 1 + (uint32_t)rnd(300);
	o->group = rnd(3) ? 0 : o->block * (1 + (uint32_t)rnd(6));
	o->unit = rnd(8) ? 0 : 1000 + (uint32_t)rnd(9000);
	if (o->first && !rnd(4))
		o->block = 0;
}

#endif
