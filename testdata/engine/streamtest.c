/*
 * Value streams as a library: what is written comes back, forward, backward,
 * by cursor from anywhere, whatever the layout.
 * With arguments: see the functions before main.
 */
#include "../check.h"
#include "streams.h"

/* Everything that in says, from out, in all ways; 1 if so */
static int
agrees(const struct text *in, const struct text *out, const struct vs_options *o, size_t head)
{
	unsigned rec = vs_record_size(&o->layout);
	struct fault f;
	struct vs_reader *r = vs_open_mem(out->p, out->n, &f);
	const struct vs_index *x;
	struct text t = { 0 };
	size_t nrec, from, n, ok;

	if (!r)
		return 0;
	if (head > in->n)
		head = in->n;
	nrec = (in->n - head) / rec;
	ok = vs_info(r)->nhead == head && same(vs_info(r)->head, in->p, head);
	ok = ok && vs_copy(r, 1 + (unsigned)rnd(3), keep, &t, &f) == 0 && t.n == in->n - head &&
	    same(t.p, in->p + head, t.n);
	x = vs_index(r, &f);
	ok = ok && x && x->whole && x->nrec == nrec && x->ntail == in->n - head - nrec * rec &&
	    x->size == out->n;
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
			ok = same(t.p + k * rec, in->p + head + (back ? from + n - 1 - k : from + k) * rec,
			    rec);
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
	struct fault f;
	struct vs_reader *r = vs_open_mem(out->p, out->n, &f);
	struct vs_cursor *c = r ? vs_cursor(r, &f) : NULL;
	int ok = c && v && vs_count(c) == nrec;

	while (ok && steps--) {
		size_t n = 1 + rnd(rnd(2) ? 3 : max);
		int back = (int)rnd(2);
		long got;

		/* a walk beside it takes nothing from it */
		if (!rnd(20)) {
			struct text t = { 0 };

			ok = vs_walk(r, rnd(nrec + 1), rnd(nrec + 1), back, 1, keep, &t, &f) == 0;
			free(t.p);
		}
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

	for (int i = 0; i < 60; i++) {
		struct fault f;
		size_t head = rnd(3) ? 0 : rnd(40);
		unsigned rec;

		options(&o, layouts[rnd(NLAYOUT)]);
		make(&in, rnd(10) ? rnd(3000) : rnd(100000));
		pack(&out, &in, &o, head);
		copies &= agrees(&in, &out, &o, head);
		o.threads = o.threads % 3 + 1;
		pack(&again, &in, &o, head);
		threads &= out.n == again.n && same(out.p, again.p, out.n);
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
			puts &= vs_put(w, v, k) == 0 && vs_put(w, v + k * o.layout.nfield, n - k) == 0 &&
			    vs_finish(w) == 0;
			vs_free(w);
			puts &= out.n == again.n && same(out.p, again.p, out.n);
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

/* Seek to every value of a file, and read both of its neighbours */
static void
test_seek(void)
{
	struct text in = { 0 }, out = { 0 };
	struct vs_options o;
	struct fault f;
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
			good &= vs_prev(c, v, 1) == (at > 0) &&
			    (!at || same_record(&o.layout, v, in.p + (at - 1) * rec));
			good &= vs_seek(c, at) == 0;
			good &= vs_next(c, v, 1) == (at < n) &&
			    (at == n || same_record(&o.layout, v, in.p + at * rec));
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
	struct fault f;
	struct vs_reader *r;
	struct vs_writer *w;

	options(&o, "8");
	o.group = o.unit = 0;
	o.block = o.first = 10;
	make(&in, 8000);
	pack(&out, &in, &o, 0);
	r = vs_open_mem(out.p, out.n, &f);
	CHECK("a sink that wants no more ends a copy", vs_copy(r, 3, keep, &t, &f) == -1 && !f.err[0] &&
	    t.n < 600);
	t.n = 0;
	CHECK("and a walk", vs_walk(r, 0, UINT64_MAX, 1, 2, keep, &t, &f) == -1 && !f.err[0] && t.n < 600);
	vs_close(r);
	t.n = 0;
	o.threads = 3;
	w = vs_create(keep, &t, &o, &f);
	CHECK("a sink that fails ends a writer", vs_write(w, in.p, in.n) == -1 && vs_finish(w) == -1 &&
	    vs_write_fault(w)->off < 600);
	vs_free(w);
	free(in.p);
	free(out.p);
	free(t.p);
}

/* `out`, of `in` by one thread, comes back, and is the same by three; both are no more */
static void
comes_back(struct text *in, struct text *out, struct vs_options *o, int steps)
{
	struct text again = { 0 };

	CHECK("that come back", agrees(in, out, o, 0) && wanders(in, out, o, steps));
	o->threads = 3;
	pack(&again, in, o, 0);
	CHECK("the threads do not show", out->n == again.n && same(out->p, again.p, out->n));
	free(in->p);
	free(out->p);
	free(again.p);
}

/* Where LZ is best: lines of few words, in large groups of small blocks that become one */
static void
test_group(void)
{
	struct text in = { 0 }, out = { 0 };
	struct vs_options o;
	struct fault f;
	struct vs_reader *r;
	const struct vs_index *x;
	static uint8_t words[500][40];
	int good;

	options(&o, "1");
	o = (struct vs_options){ .layout = o.layout, .first = 20000, .group = VS_GROUP, .level = 9,
	    .method = -1, .threads = 1 };
	for (size_t i = 0; i < sizeof(words); i++)
		words[i / 40][i % 40] = (uint8_t)rnd(256);
	while (in.n < 1200000)
		keep(&in, words[rnd(500)], 30 + rnd(11));
	pack(&out, &in, &o, 0);
	r = vs_open_mem(out.p, out.n, &f);
	x = vs_index(r, &f);
	good = x && x->n > 1;
	for (size_t i = 1; good && i < 3 && i < x->n; i++) {
		struct vs_stat s[VS_COLUMNS];

		/*
		 * longer than a block that is predicted may be, no longer than LZMA does in the time of a
		 * seek
		 */
		good = vs_stat(r, i, s, &f) == 0 && s[0].method == VC_LZ && s[0].n > 131072 &&
		    s[0].size < 250000;
	}
	vs_close(r);
	CHECK("groups become blocks of LZMA", good);
	comes_back(&in, &out, &o, 100);
}

/* n values of 8 bytes that are easy */
static void
loop(struct text *t, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		keep(t, &(uint64_t){ i & 63 }, 8);
}

/* n values of 8 bytes with that many random bits. */
static void
noise(struct text *t, size_t n, unsigned bits)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t v = (uint64_t)rnd(UINT32_MAX) << 32 | rnd(UINT32_MAX);

		keep(t, &(uint64_t){ v >> (64 - bits) }, 8);
	}
}

/* Units of bytes that repeat over long distances become whole blocks, units of values do not; text, too */
static void
test_whole(unsigned from)
{
	struct text in = { 0 }, out = { 0 };
	struct vs_options o;
	struct fault f;
	struct vs_reader *r;
	const struct vs_index *x;
	uint8_t far[16000];
	unsigned found = 0;

	options(&o, from == 1 ? "4,2,2" : "8");
	o = (struct vs_options){ .layout = o.layout, .first = 5000, .block = 500, .unit = 100000, .level = 9,
	    .method = -1, .threads = 1 };
	for (size_t i = 0; i < sizeof(far); i++)
		far[i] = (uint8_t)rnd(256);
	for (unsigned unit = from; unit < from + 3; unit++) {
		for (uint64_t i = 0; i < 12500 && unit % 2; i++)
			keep(&in, &(uint64_t){ i * 0x9e3779b97f4a7c15 }, 8);
		for (unsigned i = 0; i < 6 && unit % 2 == 0; i++)
			keep(&in, far, sizeof(far) - i * 101);
		while (in.n % 100000)
			keep(&in, "all the words", 1);
	}
	keep(&in, "abc", 3);
	pack(&out, &in, &o, 0);
	r = vs_open_mem(out.p, out.n, &f);
	x = vs_index(r, &f);
	for (size_t i = 0; x && i < x->n; i++) {
		struct vs_stat s[VS_COLUMNS];

		found |= vs_stat(r, i, s, &f) > 0 ? 1u << (i > 0) : 4;
	}
	vs_close(r);
	CHECK("whole blocks where they are smaller", found == (from ? 6 : 7));
	comes_back(&in, &out, &o, 40);
}

/* What comes again from farther than LZMA may look, but not zstd */
static void
test_wide(void)
{
	enum { LONG = 190000 };
	struct text in = { 0 }, out = { 0 };
	struct vs_options o;
	struct fault f;
	struct vs_reader *r;
	const struct vs_index *x;
	uint64_t *first = malloc(LONG * sizeof(*first));
	int wide = 0;

	options(&o, "8");
	o = (struct vs_options){ .layout = o.layout, .first = 20000, .group = VS_GROUP, .level = 9,
	    .method = -1, .threads = 1 };
	loop(&in, 20000);
	noise(&in, LONG, 64);
	memcpy(first, in.p + 20000 * 8, LONG * sizeof(*first));
	for (unsigned i = 0; i < 3; i++)
		keep(&in, first, LONG * sizeof(*first));
	pack(&out, &in, &o, 0);
	r = vs_open_mem(out.p, out.n, &f);
	x = vs_index(r, &f);
	for (size_t i = 1; x && i < x->n; i++) {
		struct vs_stat s[VS_COLUMNS];

		wide |= vs_stat(r, i, s, &f) == 0 && s[0].method == VC_FAST && s[0].n > 2 * LONG &&
		    s[0].size < 9 * LONG;
	}
	vs_close(r);
	CHECK("wide groups become blocks of zstd", wide && out.n < 19 * LONG);
	comes_back(&in, &out, &o, 20);
	free(first);
}

/* Blocks that are much harder than the first one are made shorter */
static void
test_slow(void)
{
	struct text in = { 0 }, out = { 0 };
	struct vs_options o;
	struct fault f;
	struct vs_reader *r;
	const struct vs_index *x;
	uint32_t longest = 0, hardest = 0;
	int good = 1;

	options(&o, "8");
	o = (struct vs_options){ .layout = o.layout, .first = 30000, .level = 6, .method = -1, .threads = 1 };
	loop(&in, 350000);
	noise(&in, 100000, 7);
	pack(&out, &in, &o, 0);
	r = vs_open_mem(out.p, out.n, &f);
	x = vs_index(r, &f);
	for (size_t i = 1; x && i + 1 < x->n; i++) {
		struct vs_stat s[VS_COLUMNS];

		good &= vs_stat(r, i, s, &f) == 0
		    && vc_decode_ns(&(struct vc_coded){ (enum vc_method)s[0].method, s[0].n, s[0].size,
		    8, 1 }) < 1.1 * VC_SLOW;
		if (s[0].size < s[0].n / 8)
			longest = x->e[i].n > longest ? x->e[i].n : longest;
		else if (s[0].size > s[0].n * 3 / 4)
			hardest = x->e[i].n > hardest ? x->e[i].n : hardest;
	}
	vs_close(r);
	CHECK("no block takes much longer than it may", x && good && hardest && longest > 2 * hardest);
	comes_back(&in, &out, &o, 50);
}

static void
test_layout(void)
{
	static const char *const bad[] = { "", "3", "8,", ",8", "8:1", "8,8:2", "9", "16", "8 ", "-1", "8:",
	    "addr,8", "08:x" };
	char many[2 * (VS_FIELDS + 1)];
	struct vs_layout y;
	struct fault f;
	int good = 1;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		good &= vs_layout_parse(&y, bad[i], &f) == -1;
	memset(many, ',', sizeof(many));
	for (size_t i = 0; i < sizeof(many); i += 2)
		many[i] = '1';
	many[sizeof(many) - 1] = '\0';
	good &= vs_layout_parse(&y, many, &f) == -1;
	many[sizeof(many) - 3] = '\0';
	good &= vs_layout_parse(&y, many, &f) == 0 && y.nfield == VS_FIELDS;
	CHECK("what is no layout", good);
	for (size_t i = 0; i < NLAYOUT; i++) {
		struct buf b = BUF_INIT;

		good &= vs_layout_parse(&y, layouts[i], &f) == 0;
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
	struct fault f;

	if (vs_layout_parse(&o.layout, "8,8,8,8,8,8,8,8", &f) != 0)
		return 1;
	i.layout = o.layout;
	for (unsigned c = 0; c < 8; c++)
		h.col[c] = (struct vs_stat){ .n = VC_MAX, .size = 8ull * VC_MAX, .method = VC_STORED };
	vs_put_header(&b, &o);
	vs_encode_block_head(&b, &i, &h);
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
			o.unit = m % 3 ? 0 : 600;
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
	test_sink();
	test_group();
	test_wide();
	test_whole(0);
	test_whole(1);
	test_slow();
	return check_end();
}
