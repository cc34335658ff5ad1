/*
 * Value streams as a library: what is written comes back, forward, backward,
 * by cursor from anywhere, whatever the layout; cut off at every byte, and with
 * every bit flipped, what comes is a beginning of it and a fault.
 * With arguments: see the functions before main.
 */
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "base/bytes.h"
#include "engine/codec/streampriv.h"

struct text {
	uint8_t *p;
	size_t n, cap;
	size_t stop;            /* a sink that fails when it has more; 0 never */
};

static uint64_t state = 1;

static uint64_t
rnd(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return n ? (state * 0x2545f4914f6cdd1dull >> 11) % n : state;
}

static int
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

/* n bytes of the kinds of values that traces have: strides, few values, references, noise */
static void
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

static void
pack(struct text *out, const struct text *in, const struct vs_options *o, size_t head)
{
	struct vs_options q = *o;
	struct vs_fault f;
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

static const char *const layouts[] = { "8", "4", "2", "1", "4,8", "8,1,2", "1,2:0,4:2,8", "1,1,1,1,1,1,1,8", "addr" };
#define NLAYOUT (sizeof(layouts) / sizeof(layouts[0]))

static void
options(struct vs_options *o, const char *layout)
{
	*o = (struct vs_options){ .block = 1 + (uint32_t)rnd(rnd(3) ? 40 : 3000), .level = (int)rnd(10), .method = -1,
	    .threads = 1 + (unsigned)rnd(3) };
	if (vs_layout_parse(&o->layout, layout) != 0)
		abort();
	if (!rnd(4)) {
		unsigned m = (unsigned)rnd(256);

		while (!vc_name(m))
			m = (m + 1) % 256;
		o->method = (int)m;
	}
	o->first = rnd(2) ? 0 : 1 + (uint32_t)rnd(300);
	o->group = rnd(3) ? 0 : o->block * (1 + (uint32_t)rnd(6));
}

/* Everything that in says, from out, in all ways; 1 if so */
static int
agrees(const struct text *in, const struct text *out, const struct vs_options *o, size_t head)
{
	unsigned rec = vs_record_size(&o->layout);
	struct vs_fault f;
	struct vs_reader *r = vs_open_mem(out->p, out->n, &f);
	const struct vs_index *x;
	struct text t = { 0 };
	size_t nrec, from, n, ok;

	if (!r)
		return 0;
	if (head > in->n)
		head = in->n;
	nrec = (in->n - head) / rec;
	ok = vs_info(r)->nhead == head && !memcmp(vs_info(r)->head, in->p, head);
	ok = ok && vs_copy(r, 1 + (unsigned)rnd(3), keep, &t, &f) == 0 && t.n == in->n - head && !memcmp(t.p, in->p + head, t.n);
	x = vs_index(r, &f);
	ok = ok && x && x->whole && x->nrec == nrec && x->ntail == in->n - head - nrec * rec && x->size == out->n;
	for (int i = 0; ok && i < 6; i++) {
		int back = i & 1;

		from = i < 2 ? 0 : rnd(nrec + 2);
		n = i < 2 ? nrec : rnd(nrec + 2);
		t.n = 0;
		ok = vs_walk(r, from, n, back, 1 + (unsigned)rnd(3), keep, &t, &f) == 0;
		if (from > nrec)
			from = nrec;
		if (n > nrec - from)
			n = nrec - from;
		ok = ok && t.n == n * rec;
		for (size_t k = 0; ok && k < n; k++)
			ok = !memcmp(t.p + k * rec, in->p + head + (back ? from + n - 1 - k : from + k) * rec, rec);
	}
	vs_close(r);
	free(t.p);
	return ok != 0;
}

/* A record as the cursor gives it */
static int
same_record(const struct vs_layout *y, const uint64_t *v, const uint8_t *p)
{
	for (unsigned f = 0; f < y->nfield; f++) {
		if (v[f] != get_le(p, y->width[f]))
			return 0;
		p += y->width[f];
	}
	return 1;
}

/* A cursor's wanderings against the plain values */
static int
wanders(const struct text *in, const struct text *out, const struct vs_options *o, int steps)
{
	unsigned rec = vs_record_size(&o->layout), nf = o->layout.nfield;
	size_t nrec = in->n / rec, at = 0, max = 100;
	uint64_t *v = malloc(max * nf * sizeof(*v));
	struct vs_fault f;
	struct vs_reader *r = vs_open_mem(out->p, out->n, &f);
	struct vs_cursor *c = r ? vs_cursor(r, &f) : NULL;
	int ok = c && v && vs_count(c) == nrec;

	while (ok && steps--) {
		size_t n = 1 + rnd(rnd(2) ? 3 : max);
		int back = (int)rnd(2);
		long got;

		if (!rnd(5)) {
			at = rnd(nrec + 1);
			ok = vs_seek(c, at) == 0;
			continue;
		}
		got = back ? vs_prev(c, v, n) : vs_next(c, v, n);
		ok = got >= 0 && (size_t)got <= n && (got > 0 || at == (back ? 0 : nrec));
		for (long k = 0; ok && k < got; k++) {
			if (back)
				at--;
			ok = same_record(&o->layout, v + (size_t)k * nf, in->p + at * rec);
			if (!back)
				at++;
		}
		ok = ok && vs_tell(c) == at;
	}
	ok = ok && vs_seek(c, nrec + 1) == -1 && vs_tell(c) == at;
	vs_cursor_free(c);
	vs_close(r);
	free(v);
	return ok;
}

/* Fields of n records */
static void
fields(const struct vs_layout *y, const uint8_t *p, size_t n, uint64_t *v)
{
	while (n--) {
		for (unsigned f = 0; f < y->nfield; f++) {
			*v++ = get_le(p, y->width[f]);
			p += y->width[f];
		}
	}
}

static void
test_round(void)
{
	struct text in = { 0 }, out = { 0 }, again = { 0 };
	struct vs_options o;
	int copies = 1, cursors = 1, threads = 1, puts = 1;

	for (int i = 0; i < 150; i++) {
		struct vs_fault f;
		size_t head = rnd(3) ? 0 : rnd(40);
		unsigned rec;

		options(&o, layouts[rnd(NLAYOUT)]);
		make(&in, rnd(10) ? rnd(3000) : rnd(100000));
		pack(&out, &in, &o, head);
		copies &= agrees(&in, &out, &o, head);
		o.threads = o.threads % 3 + 1;
		pack(&again, &in, &o, head);
		threads &= out.n == again.n && !memcmp(out.p, again.p, out.n);
		rec = vs_record_size(&o.layout);
		in.n -= in.n % rec;
		pack(&out, &in, &o, 0);
		cursors &= wanders(&in, &out, &o, 200);
		if (i % 4 == 0) {
			uint64_t *v = malloc((in.n + 1) * sizeof(*v));
			struct vs_writer *w = vs_create(keep, &again, &o, &f);
			size_t n = in.n / rec, k = rnd(n + 1);

			again.n = 0;
			vs_free(w);
			w = vs_create(keep, &again, &o, &f);
			fields(&o.layout, in.p, n, v);
			puts &= vs_put(w, v, k) == 0 && vs_put(w, v + k * o.layout.nfield, n - k) == 0 && vs_finish(w) == 0;
			vs_free(w);
			puts &= out.n == again.n && !memcmp(out.p, again.p, out.n);
			free(v);
		}
	}
	CHECK("forward, backward, parts: what was written", copies);
	CHECK("a cursor", cursors);
	CHECK("the threads do not show", threads);
	CHECK("values as well as bytes", puts);
	free(in.p);
	free(out.p);
	free(again.p);
}

/* Where each block of a file begins, and the index behind them */
static size_t
places(const struct text *out, uint64_t *off, size_t max)
{
	struct vs_fault f;
	struct vs_reader *r = vs_open_mem(out->p, out->n, &f);
	const struct vs_index *x = vs_index(r, &f);
	size_t n = x->n;

	if (n + 1 > max)
		abort();
	for (size_t i = 0; i < n; i++)
		off[i] = x->e[i].off;
	off[n] = n ? x->e[n - 1].off + x->e[n - 1].size : vs_info(r)->nhead + 26 + vs_info(r)->layout.nfield;
	vs_close(r);
	return n;
}

static const char *const small[] = { "8", "4,8", "addr" };

static void
test_cut(void)
{
	struct text in = { 0 }, out = { 0 }, t = { 0 };
	struct vs_options o;
	uint64_t off[64];
	int copy = 1, index = 1, walk = 1;

	for (int i = 0; i < 6; i++) {
		size_t nblock, rec, whole;

		options(&o, small[i % 3]);
		o.level = i < 3 ? 0 : 9;
		o.method = -1;
		o.group = 0;
		o.block = o.first = 100;
		make(&in, 3100 + (size_t)i);
		pack(&out, &in, &o, 0);
		rec = vs_record_size(&o.layout);
		nblock = places(&out, off, 64);
		for (size_t n = 0; n < out.n; n++) {
			uint8_t *p = malloc(n + 1);
			struct vs_fault f;
			struct vs_reader *r;

			memcpy(p, out.p, n);
			r = vs_open_mem(p, n, &f);
			if (n >= off[0] ? !r : r != NULL)
				copy = 0;
			for (whole = 0; whole < nblock && off[whole + 1] <= n; whole++)
				;
			whole = whole == nblock ? in.n / rec : whole * o.block;
			t.n = 0;
			if (r) {
				const struct vs_index *x;

				copy &= vs_copy(r, 1, keep, &t, &f) == -1 && t.n == whole * rec && !memcmp(t.p, in.p, t.n);
				copy &= strstr(f.err, "cut off") != NULL || strstr(f.err, "end mark") != NULL;
				x = vs_index(r, &f);
				index &= x && !x->whole && x->nrec == whole && x->fault.err[0];
				t.n = 0;
				walk &= vs_walk(r, 0, whole, 0, 1, keep, &t, &f) == 0 && t.n == whole * rec && !memcmp(t.p, in.p, t.n);
			}
			vs_close(r);
			free(p);
		}
	}
	CHECK("cut off anywhere: the whole blocks before, and a fault", copy);
	CHECK("cut off anywhere: the blocks are found without an index", index);
	CHECK("and read", walk);
	free(in.p);
	free(out.p);
	free(t.p);
}

/* One bit of out is another: what vs_copy, vs_walk and the cursor say.  1 if all of them are right. */
static int
flipped(const struct text *in, struct text *out, const struct vs_options *o, const uint64_t *off, size_t nblock, size_t at,
	struct text *t)
{
	size_t rec = vs_record_size(&o->layout), no, before = 0;
	struct vs_fault f;
	struct vs_reader *r = vs_open_mem(out->p, out->n, &f);
	char name[32];
	int ok = 1;

	if (at < off[0]) {
		ok = !r;
		vs_close(r);
		return ok;
	}
	if (!r)
		return 0;
	for (no = 0; no < nblock && off[no + 1] <= at; no++)
		;
	before = no == nblock ? in->n / rec : no * o->block;
	t->n = 0;
	ok = vs_copy(r, at % 16 ? 1 : 2, keep, t, &f) == -1 && t->n == before * rec && !memcmp(t->p, in->p, t->n);
	if (no < nblock) {
		snprintf(name, sizeof(name), "block %zu ", no + 1);
		ok = ok && strstr(f.err, name) && f.rec == before && f.off >= off[no] && f.off < off[no + 1];
		/* the others can be read: those behind it if the first is good, backward too */
		t->n = 0;
		ok = ok && vs_walk(r, before + o->block, UINT64_MAX, 1, 1, keep, t, &f) == (no && no + 1 < nblock ? 0 : no ? 0 : -1);
		if (no && no + 1 < nblock)
			ok = ok && t->n == (in->n / rec - before - o->block) * rec;
		t->n = 0;
		ok = ok && vs_walk(r, 0, UINT64_MAX, 1, at % 16 == 1 ? 2 : 1, keep, t, &f) == -1 && strstr(f.err, name);
		ok = ok && (!no || t->n == (in->n / rec > before + o->block ? in->n / rec - before - o->block : 0) * rec);
	} else {
		ok = ok && (strstr(f.err, "index") || strstr(f.err, "end mark"));
		ok = ok && vs_index(r, &f) && !vs_index(r, &f)->whole && vs_index(r, &f)->nrec == in->n / rec;
	}
	if (!ok)
		printf("# bit of byte %zu, block %zu of %zu: %s\n", at, no + 1, nblock, f.err);
	vs_close(r);
	return ok;
}

static void
test_flip(void)
{
	struct text in = { 0 }, out = { 0 }, t = { 0 };
	struct vs_options o;
	uint64_t off[64];
	int good = 1;

	for (int i = 0; i < 6; i++) {
		size_t nblock;

		options(&o, small[i % 3]);
		o.level = i < 3 ? 0 : 9;
		o.method = -1;
		o.group = 0;
		o.block = o.first = 60;
		make(&in, i < 3 ? 1001 : 2001);
		pack(&out, &in, &o, 0);
		nblock = places(&out, off, 64);
		/* what is packed: one bit of each byte, another one each time */
		for (size_t k = 0; k < out.n * 8 && good; k += i < 3 ? 1 : 9) {
			out.p[k / 8] ^= (uint8_t)(1u << k % 8);
			good &= flipped(&in, &out, &o, off, nblock, k / 8, &t);
			out.p[k / 8] ^= (uint8_t)(1u << k % 8);
		}
	}
	CHECK("a flipped bit: found, the block named, all before delivered, the others there", good);
	free(in.p);
	free(out.p);
	free(t.p);
}

/* Seek to every value of a file, and read both of its neighbours */
static void
test_seek(void)
{
	struct text in = { 0 }, out = { 0 };
	struct vs_options o;
	struct vs_fault f;
	int good = 1;

	for (size_t i = 0; i < NLAYOUT; i++) {
		struct vs_reader *r;
		struct vs_cursor *c;
		size_t rec, n;
		uint64_t v[VS_FIELDS];

		options(&o, layouts[i]);
		o.block = 64;
		make(&in, 6000);
		pack(&out, &in, &o, 0);
		rec = vs_record_size(&o.layout);
		n = in.n / rec;
		r = vs_open_mem(out.p, out.n, &f);
		c = vs_cursor(r, &f);
		for (size_t j = 0; j <= n; j++) {
			size_t at = j * 7919 % (n + 1);

			good &= vs_seek(c, at) == 0;
			good &= vs_prev(c, v, 1) == (at > 0) && (!at || same_record(&o.layout, v, in.p + (at - 1) * rec));
			good &= vs_seek(c, at) == 0;
			good &= vs_next(c, v, 1) == (at < n) && (at == n || same_record(&o.layout, v, in.p + at * rec));
		}
		vs_cursor_free(c);
		vs_close(r);
	}
	CHECK("every place of a file", good);
	free(in.p);
	free(out.p);
}

static void
test_sink(void)
{
	struct text in = { 0 }, out = { 0 }, t = { .stop = 500 };
	struct vs_options o;
	struct vs_fault f;
	struct vs_reader *r;
	struct vs_writer *w;

	options(&o, "8");
	o.group = 0;
	o.block = o.first = 10;
	make(&in, 8000);
	pack(&out, &in, &o, 0);
	r = vs_open_mem(out.p, out.n, &f);
	CHECK("a sink that wants no more ends a copy", vs_copy(r, 3, keep, &t, &f) == -1 && !f.err[0] && t.n < 600);
	t.n = 0;
	CHECK("and a walk", vs_walk(r, 0, UINT64_MAX, 1, 2, keep, &t, &f) == -1 && !f.err[0] && t.n < 600);
	vs_close(r);
	t.n = 0;
	o.threads = 3;
	w = vs_create(keep, &t, &o, &f);
	CHECK("a sink that fails ends a writer", vs_write(w, in.p, in.n) == -1 && vs_finish(w) == -1 && vs_write_fault(w)->off < 600);
	vs_free(w);
	free(in.p);
	free(out.p);
	free(t.p);
}

static void
test_layout(void)
{
	static const char *const bad[] = { "", "3", "8,", ",8", "8:1", "8,8:2", "9", "16", "8 ", "-1", "8:", "1,1,1,1,1,1,1,1,1", "addr,8", "08:x" };
	struct vs_layout y;
	int good = 1;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		good &= vs_layout_parse(&y, bad[i]) == -1;
	CHECK("what is no layout", good);
	for (size_t i = 0; i < NLAYOUT; i++) {
		struct buf b = BUF_INIT;

		good &= vs_layout_parse(&y, layouts[i]) == 0;
		vs_layout_text(&y, &b);
		buf_u8(&b, 0);
		good &= !strcmp((char *)b.p, layouts[i]);
		buf_free(&b);
	}
	CHECK("layouts as text", good);
}

/* streamtest make BYTES SEED: a stream for tests of the tool */
static int
print_made(const char *n, const char *seed)
{
	struct text t = { 0 };

	state = strtoull(seed, NULL, 10) * 2 + 1;
	make(&t, strtoull(n, NULL, 10));
	fwrite(t.p, 1, t.n, stdout);
	free(t.p);
	return fflush(stdout) != 0;
}

/* streamtest part RECORD HEAD START COUNT BACKWARD <in: what `bifcm -d -s START -n COUNT [-R]` must give */
static int
print_part(char **a)
{
	size_t rec = strtoul(a[0], NULL, 10), head = strtoul(a[1], NULL, 10), from = strtoul(a[2], NULL, 10);
	size_t n = strtoul(a[3], NULL, 10), have;
	static uint8_t p[16u << 20];

	have = fread(p, 1, sizeof(p), stdin);
	if (head > have)
		head = have;
	fwrite(p, 1, head, stdout);
	have = (have - head) / rec;
	if (from > have)
		from = have;
	if (n > have - from)
		n = have - from;
	for (size_t i = 0; i < n; i++)
		fwrite(p + head + (a[4][0] == '1' ? from + n - 1 - i : from + i) * rec, 1, rec, stdout);
	return fflush(stdout) != 0;
}

/* streamtest hostile: a header, and a block that is as large as can be said, without its columns */
static int
print_hostile(void)
{
	struct vs_options o = { .block = VC_MAX };
	struct vs_info i = { .block = VC_MAX };
	struct vs_bhead h = { .n = VC_MAX };
	struct buf b = BUF_INIT;

	if (vs_layout_parse(&o.layout, "8,8,8,8,8,8,8,8") != 0)
		return 1;
	i.layout = o.layout;
	for (unsigned c = 0; c < 8; c++)
		h.col[c] = (struct vs_stat){ .n = VC_MAX, .size = 8ull * VC_MAX, .method = VC_STORED };
	vs_put_header(&b, &o);
	vs_put_bhead(&b, &i, &h);
	buf_le64(&b, 0);
	fwrite(b.p, 1, b.n, stdout);
	buf_free(&b);
	return fflush(stdout) != 0;
}

/* streamtest seeds FOLDER: small files by each method and of each layout */
static int
print_seeds(const char *folder)
{
	struct text in = { 0 }, out = { 0 };
	char path[4096];

	for (unsigned m = 0; m < 256; m++) {
		for (size_t i = 0; vc_name(m) && i < NLAYOUT; i++) {
			struct vs_options o;
			FILE *f;

			if (i && i != 4 && m % NLAYOUT != i)
				continue;
			options(&o, layouts[i]);
			o.group = 0;
		o.block = o.first = 100;
			o.method = (int)m;
			make(&in, 1200);
			pack(&out, &in, &o, i == 8 ? 16 : 0);
			snprintf(path, sizeof(path), "%s/%s.%zu", folder, vc_name(m), i);
			f = fopen(path, "wb");
			if (!f || fwrite(out.p, 1, out.n, f) != out.n || fclose(f) != 0)
				return 1;
		}
	}
	free(in.p);
	free(out.p);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "hostile"))
		return print_hostile();
	if (argc == 3 && !strcmp(argv[1], "seeds"))
		return print_seeds(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "make"))
		return print_made(argv[2], argv[3]);
	if (argc == 7 && !strcmp(argv[1], "part"))
		return print_part(argv + 2);
	test_layout();
	test_round();
	test_seek();
	test_cut();
	test_flip();
	test_sink();
	return check_end();
}
