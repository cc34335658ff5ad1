/*
 * Laplace's formats: what is written is read, what is not the one encoding is refused, truncation
 * at every byte.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "../random.h"
#include "base/bytes.h"
#include "format/laplace/laplace.h"


/* Numbers of all lengths */
static uint64_t
some(unsigned bits)
{
	unsigned n = (unsigned)(rnd() % (bits + 1));

	return n ? rnd() >> (64 - n) : 0;
}

static struct lap_ref
some_ref(uint64_t *time, enum lap_form f)
{
	unsigned bits = f == LAP_CLASSIC ? 32 : 64;

	*time += some(20);
	return (struct lap_ref){ *time, some(bits), some(bits), (uint8_t)(rnd() % LAP_NTYPES),
	    (uint8_t)(1 + rnd() % 255) };
}

static int
same_ref(const struct lap_ref *a, const struct lap_ref *b)
{
	return a->time == b->time && a->space == b->space && a->addr == b->addr && a->type == b->type &&
	    a->len == b->len;
}

#define NREF 3000

/*
 * How many of the references that n bytes say are those at v; *whole: the end came without a fault,
 * at a fault: where
 */
static size_t
refs_in(const uint8_t *p, size_t n, const struct lap_ref *v, int *whole, uint64_t *off)
{
	struct in *in = in_mem(p, n, "memory");
	struct lap_refs r;
	struct lap_ref got[64];
	size_t good = 0;
	long k = lap_refs_open(&r, in);

	while (k >= 0 && (k = lap_refs_read(&r, got, 64)) > 0)
		for (long i = 0; i < k; i++)
			good += same_ref(&got[i], &v[good]);
	*whole = k == 0;
	*off = r.off;
	in_close(in);
	return good;
}

static void
references(enum lap_form f, const char *name)
{
	static struct lap_ref v[NREF];
	static uint8_t b[NREF * LAP_REF_MAX];
	static size_t ends[NREF + 1];
	char what[100];
	uint64_t time = 0, off;
	size_t n = 0, good = 0, i, bad = 0;
	int whole;

	if (f == LAP_WIDE) {
		lap_put_header(b, 0);
		n = LAP_HEADER;
	}
	for (i = 0; i < NREF; i++) {
		ends[i] = n;
		v[i] = some_ref(&time, f);
		n += lap_put_ref(f, b + n, &v[i]);
	}
	ends[NREF] = n;
	good = refs_in(b, n, v, &whole, &off);
	snprintf(what, sizeof what, "%s: what is written is read", name);
	CHECK(what, good == NREF && whole);
	for (size_t cut = 0; cut < ends[40]; cut++) {
		size_t want = 0;

		while (want < 40 && ends[want + 1] <= cut)
			want++;
		good = refs_in(b, cut, v, &whole, &off);
		bad += good != want || whole != (cut == ends[want] || cut == 0) || (!whole && off != cut);
	}
	snprintf(what, sizeof what, "%s: cut off at every byte", name);
	CHECK(what, !bad);
}

static struct lap_event
some_event(uint64_t *time, char *name)
{
	struct lap_event e = { .kind = (enum lap_kind)(rnd() % LAP_NKINDS), .name = "" };

	*time += some(20);
	e.time = *time;
	for (const char *f = lap_kind_fields(e.kind); *f; f++)
		if (*f == 't') {
			e.type = "fpds"[rnd() % 4];
		} else if (*f == 'n') {
			e.nname = rnd() % (rnd() % 20 ? 30 : LAP_NAME_MAX + 1);
			for (size_t i = 0; i < e.nname; i++)
				name[i] = (char)(1 + rnd() % 255);
			e.name = name;
		} else {
			e.f[lap_letter_field(*f)] = some(lap_field_bits(lap_letter_field(*f)));
		}
	return e;
}

static int
same_event(const struct lap_event *a, const struct lap_event *b)
{
	return a->kind == b->kind && a->time == b->time && !memcmp(a->f, b->f, sizeof a->f) &&
	    a->type == b->type &&
	    a->nname == b->nname && !memcmp(a->name, b->name, a->nname);
}

static void
events(void)
{
	static struct lap_events r;
	static char name[LAP_NAME_MAX];
	uint64_t time = 0;
	int good = 0, line = 0, cut = 0;

	for (int i = 0; i < 3000; i++) {
		struct lap_event e = some_event(&time, name), got;
		struct buf b = BUF_INIT;
		struct in *in;

		lap_print_event(&b, &e);
		in = in_mem(b.p, b.n, "memory");
		lap_events_open(&r, in);
		good += lap_events_read(&r, &got) == 1 && same_event(&e, &got) && b.n <= LAP_LINE_MAX;
		line += r.nline == b.n && !memcmp(r.line, b.p, b.n) && lap_events_read(&r, &got) == 0;
		in_close(in);
		for (size_t k = 1; k < b.n && i < 60; k++) {
			in = in_mem(b.p, k, "memory");
			lap_events_open(&r, in);
			cut += lap_events_read(&r, &got) != -1 || r.off != k;
			in_close(in);
		}
		buf_free(&b);
	}
	CHECK("kernel records: what is written is read", good == 3000);
	CHECK("and handed over as it is written", line == 3000);
	CHECK("cut off at every byte", cut == 0);
}

static struct lap_touch
some_touch(uint64_t *time, const struct lap_touch *last, int offsets)
{
	struct lap_touch t = *last;

	*time += rnd() % 3 ? rnd() % 3 : some(rnd() % 2 ? 9 : 40);
	t.time = *time;
	if (rnd() % 2) {
		t.page = some(52);
		t.canon = some(64);
	} else if (rnd() % 2) {
		t.page = (t.page + rnd() % 5) % LAP_PAGES;
		t.canon += rnd() % 3;
	}
	if (rnd() % 3 == 0)
		t.len = (uint8_t)(1 + rnd() % 255);
	t.type = (uint8_t)(rnd() % LAP_NTYPES);
	if (offsets)    /* often where the last one ended */
		t.at = (uint16_t)(1 + (rnd() % 2 && last->at ? last->at - 1u + last->len : rnd()) % (4097 - t.len));
	return t;
}

#define NITEM 2000

/* Items in n bytes that are those at v (NULL: any), and whether it ends without a fault */
static size_t
items_in(const uint8_t *p, size_t n, const struct lap_item *v, int *whole, uint64_t *off)
{
	static char name[LAP_NAME_MAX];
	struct lap_merged r;
	struct in *in = in_mem(p, n, "memory");
	struct lap_item it;
	size_t good = 0;
	int got = lap_merged_open(&r, in, name);

	while (got >= 0 && (got = lap_merged_read(&r, &it)) > 0) {
		if (v && (it.isevent != v[good].isevent ||
		    (it.isevent ? !same_event(&it.event, &v[good].event) :
		    memcmp(&it.touch.time, &v[good].touch.time, 24) != 0 ||
		    it.touch.type != v[good].touch.type || it.touch.at != v[good].touch.at ||
		    it.touch.len != v[good].touch.len)))
			break;
		good++;
	}
	*whole = got == 0;
	*off = r.off;
	in_close(in);
	return good;
}

/* The first n bytes with an end, and every bit of it flipped, or bytes left out of its end or added */
static void
damaged(struct buf *b, size_t n, const struct lap_item *v)
{
	uint8_t *p = malloc(n + LAP_TRAILER + 1);
	size_t all = n + LAP_TRAILER, taken = 0;
	uint64_t off;
	int whole;

	memcpy(p, b->p, n);
	lap_pack_end(p + n, lap_sum(0, p, n));
	p[all] = 'S';
	CHECK("packed: a beginning with an end of its own", items_in(p, all, v, &whole, &off) == 40 && whole);
	for (size_t i = LAP_HEADER; i <= all + 1; i++) {
		items_in(p, i, NULL, &whole, &off);
		taken += whole && i != all;
	}
	CHECK("packed: every other length is refused", !taken);
	for (size_t i = 0; i < 8 * all; i++) {
		p[i / 8] ^= (uint8_t)(1 << i % 8);
		items_in(p, all, NULL, &whole, &off);
		taken += whole;
		p[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	CHECK("packed: every flipped bit is refused", !taken);
	put_le16(p + 8, 1);
	CHECK("packed: version 1 had no end", items_in(p, n, v, &whole, &off) == 40 && whole);
	free(p);
}

static void
merged(int packed, int offsets)
{
	static struct lap_item v[NITEM];
	static size_t ends[NITEM + 1];
	static char name[LAP_NAME_MAX];
	struct lap_touch last = { .page = 1, .canon = 1, .len = 4 };
	struct lap_last l = { .offsets = offsets };
	struct buf b = BUF_INIT;
	uint64_t time = 0, off;
	size_t bad = 0, good;
	int whole;

	if (packed) {
		lap_put_header(buf_reserve(&b, LAP_HEADER), offsets ? LAP_H_OFFSETS : LAP_H_MERGED);
		b.n = LAP_HEADER;
	}
	for (size_t i = 0; i < NITEM; i++) {
		ends[i] = b.n;
		v[i].isevent = rnd() % 8 == 0;
		if (v[i].isevent) {
			v[i].event = some_event(&time, name);
			if (v[i].event.nname)
				v[i].event.name = memcpy(malloc(v[i].event.nname), name, v[i].event.nname);
			(packed ? lap_pack_event(&l, &b, &v[i].event) : lap_print_event(&b, &v[i].event));
		} else {
			uint8_t *p = buf_reserve(&b, LAP_REF_MAX);

			v[i].touch = last = some_touch(&time, &last, offsets);
			b.n += packed ? lap_pack_touch(&l, p, &last) : lap_print_touch(p, &last);
		}
	}
	ends[NITEM] = b.n;
	if (packed) {
		uint32_t sum = lap_sum(0, b.p, b.n);

		lap_pack_end(buf_reserve(&b, LAP_TRAILER), sum);
		b.n += LAP_TRAILER;
	}
	CHECK(packed ? "packed: what is written is read" : "merged text: what is written is read",
	    items_in(b.p, b.n, v, &whole, &off) == NITEM && whole);
	for (size_t cut = 0; cut < ends[100]; cut += 1 + (cut > 4000) * 37) {
		size_t want = 0;

		while (want < 100 && ends[want + 1] <= cut)
			want++;
		good = items_in(b.p, cut, v, &whole, &off);
		bad += good != want || whole != ((!packed && cut == ends[want]) || cut == 0) ||
		    (!whole && off != cut);
	}
	CHECK("cut off at every byte", !bad);
	if (packed && !offsets)
		damaged(&b, ends[40], v);
	for (size_t i = 0; i < NITEM; i++)
		if (v[i].isevent && v[i].event.nname)
			free((void *)(uintptr_t)v[i].event.name);
	buf_free(&b);
}

/* Each of these lines is refused, or taken as it is */
static void
lines(void)
{
	static const char *const bad[] = {
		"", " ", "x 1 2", "S", "S 1", "S 1 ", "S 1 2 ", "S 1 2 3", "S  1 2", "S 01 2", "S 1 02",
		"S 1 A", "S 1 0x2", "S 1 -2", "S 1 2\r",
		"S 1 100000000", "S 11111111111111111 2", "s 1 2 3 4", "F 1 2", "e", "e 1 2",
		"M 1 2 3 4 5 6 7 8", "M 1 2 3 4 5 6 7 8 ", "M 1 2 3 4 5 6 7 8 a b",
		"M 1 2 3 4 5 6 7 8 a\\2", "M 1 2 3 4 5 6 7 8 a\\41", "M 1 2 3 4 5 6 7 8 a\\5C",
		"M 1 2 3 4 5 6 7 8 a\\00", "M 1 2 3 4 5 6 7 8 \\a", "M 1 2 3 4 5 6 7 8 a\\",
		"M 1 2 3 4 5 6 7 8 a\tb", "( 1 2 3 4 5 6 x n", "( 1 2 3 4 5 6 f", "( 1 2 3 4 5 6 ff n",
		"( 1 2 3 4 5 6  n", "r 1 2 3 4"
	};
	static const char *const good[] = {
		"S 1 2", "S 0 0", "S ffffffffffffffff ffffffff", "F 123456789abcdef7 100 77", "e 0", "u 1 0",
		"- 1 2 3 4", "( 1 2 3 4 5 6 f n",
		"M 123456789abcdefe 100 1a2b3c4d 9000 8efa5567 35 5 1029384756afbecd foobar.so",
		"X 1 2 3 4 5 \\", "X 1 2 3 4 5 a\\20b\\0a\\5c\\7f\xc3\xa4",
		"@ 1 2 3 4 5 6", "s 1 2 3 4 5", "/ 1 2 3", "< 1 2 3 4 5 6 7", "a 1 2", "t 1 2 3 4 5",
		"D 1 2 3 4 5", "C 1 2 3"
	};
	static char name[LAP_NAME_MAX];
	size_t nbad = 0, ngood = 0;
	struct lap_event e;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		int no = lap_parse_event(&e, (const uint8_t *)bad[i], strlen(bad[i]), name) != NULL;

		nbad += (size_t)no;
		if (!no)
			printf("# taken: %s\n", bad[i]);
	}
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct buf b = BUF_INIT;
		const char *err = lap_parse_event(&e, (const uint8_t *)good[i], strlen(good[i]), name);

		if (err)
			printf("# %s: %s\n", err, good[i]);
		else
			lap_print_event(&b, &e);
		ngood += !err && b.n == strlen(good[i]) + 1 && !memcmp(b.p, good[i], b.n - 1);
		buf_free(&b);
	}
	CHECK("lines that are no kernel records", nbad == sizeof bad / sizeof *bad);
	CHECK("lines that are", ngood == sizeof good / sizeof *good);
}

/* References that are not canonical, as text and packed */
static void
refused(void)
{
	static const char *const text[] = {
		"x 1 4 5 6\n", "r 1 4 5\n", "r 1 4 5 6 7\n", "r 01 4 5 6\n", "r 1 0 5 6\n", "r 1 100 5 6\n",
		"r 1 4 5 6 \n", "r 1 4  5 6\n", "r 1 4 F 6\n",
		"r 1 4 5 11111111111111111\n", "r 1 4 5 6\r\n", "r\n"
	};
	static const struct { size_t n; uint8_t b[14]; } packed[] = {
		{ 1, { 0x46 } },                                        /* no type */
		{ 5, { 6 } },                                           /* an end with another check sum */
		{ 1, { 0 } },                                           /* no length yet */
		{ 2, { 0x80 | 0x40, 4 } },                              /* bit 7 */
		{ 3, { 0x50, 1, 4 } },                                  /* a difference of 1 in a byte */
		{ 4, { 0x58, 0xff, 1, 4 } },                            /* of 255 in a long one */
		/* a long one with a zero at its end */
		{ 5, { 0x58, 0x80, 0x80, 0, 4 } },
		{ 4, { 0x60, 0, 0, 4 } },                               /* the same page, said again */
		{ 4, { 0x40, 4, 0x40, 4 } },                            /* the same length */
		{ 4, { 0x60, 1, 0, 4 } },                               /* page -1 */
		{ 3, { 7, 0, 22 } },                                    /* no kind */
		{ 8, { 7, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x10 } },       /* a pid of 33 bits */
		{ 4, { 0xc0, 4, 1, 0 } },                               /* an offset, where there are none */
		{ 12, { 0x58, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 4 } }
	};
	static char name[LAP_NAME_MAX];
	struct lap_merged r;
	struct lap_item it;
	size_t n = 0, k = 0;

	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct lap_refs refs;
		struct lap_ref v[2];
		struct buf b = BUF_INIT;
		struct in *in;

		buf_str(&b, "r 1 4 5 6\n");
		buf_str(&b, text[i]);
		in = in_mem(b.p, b.n, "memory");
		n += lap_refs_open(&refs, in) == 0 && lap_refs_read(&refs, v, 2) == 1 &&
		    lap_refs_read(&refs, v, 2) == -1 && refs.off == 10 &&
		    lap_refs_skip(&refs) == 0 && lap_refs_read(&refs, v, 2) == 0;
		in_close(in);
		buf_free(&b);
	}
	CHECK("references as text that are refused, and left out", n == sizeof text / sizeof *text);
	for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
		uint8_t b[LAP_HEADER + 14];
		struct in *in;
		int got;

		lap_put_header(b, 1);
		memcpy(b + LAP_HEADER, packed[i].b, packed[i].n);
		in = in_mem(b, LAP_HEADER + packed[i].n, "memory");
		got = lap_merged_open(&r, in, name);
		while (got >= 0 && (got = lap_merged_read(&r, &it)) > 0)
			;
		k += got == -1 && !strstr(r.err, "truncated");
		if (got != -1 || strstr(r.err, "truncated"))
			printf("# %zu: %s\n", i, got == -1 ? r.err : "taken");
		in_close(in);
	}
	CHECK("packed records that are refused", k == sizeof packed / sizeof *packed);
}

/* The same of references with offsets */
static void
refused_offsets(void)
{
	static const char *const text[] = {
		"r 1 4 5 6 1000\n", "r 1 4 5 6 ffd\n", "r 1 4 5 6 0 0\n", "r 1 4 5 6 01\n", "r 1 4 5 6 \n",
		"r 1 4 5 6\n"
	};
	static const struct { size_t n; uint8_t b[6]; } packed[] = {
		{ 4, { 0xc0, 4, 0, 0 } },                               /* an offset that is clear */
		{ 4, { 0xc0, 4, 0xfd, 0x0f } },                         /* beyond the end */
		{ 4, { 0xc0, 4, 0, 0x10 } },
		{ 5, { 0xc0, 1, 0xff, 0x0f, 0x86 } },                   /* no type */
	};
	static char name[LAP_NAME_MAX];
	struct lap_merged r;
	struct lap_item it;
	size_t n = 0, k = 0;

	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct buf b = BUF_INIT;
		struct in *in;

		buf_str(&b, "S 1 2\nr 1 4 5 6 ffc\n");
		buf_str(&b, text[i]);
		in = in_mem(b.p, b.n, "memory");
		n += lap_merged_open(&r, in, name) == 0 && lap_merged_read(&r, &it) == 1 &&
		    lap_merged_read(&r, &it) == 1 && it.touch.at == 0xffd && lap_merged_read(&r, &it) == -1 &&
		    r.off == 20;
		in_close(in);
		buf_free(&b);
	}
	CHECK("text with offsets that is refused", n == sizeof text / sizeof *text);
	for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
		uint8_t b[LAP_HEADER + 6];
		struct in *in;
		int got;

		lap_put_header(b, LAP_H_OFFSETS);
		memcpy(b + LAP_HEADER, packed[i].b, packed[i].n);
		in = in_mem(b, LAP_HEADER + packed[i].n, "memory");
		got = lap_merged_open(&r, in, name);
		while (got >= 0 && (got = lap_merged_read(&r, &it)) > 0)
			;
		k += got == -1 && !strstr(r.err, "truncated");
		in_close(in);
	}
	CHECK("packed records with offsets that are refused", k == sizeof packed / sizeof *packed);
}

static void
vectors(void)
{
	static const uint8_t classic[] = { 'r', 0xf0, 0xde, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12, 4, 0xe8, 0xf7,
	    0x09, 0, 0x7d, 0x6c, 0x8b, 0x9a };
	struct lap_ref v = { 0x123456789abcdef0, 0x9f7e8, 0x9a8b6c7d, 0, 4 };
	struct lap_touch t = { 0x123456789abcdef0, 0x9a8b7, 0x8888ffff3e456a21, 0, 4, 0 };
	uint8_t b[LAP_REF_MAX];

	CHECK("a classic reference has 18 bytes", lap_put_ref(LAP_CLASSIC, b, &v) == 18 &&
	    !memcmp(b, classic, 18));
	CHECK("the same as text", lap_put_ref(LAP_TEXT, b, &v) == 36 &&
	    !memcmp(b, "r 123456789abcdef0 4 9f7e8 9a8b6c7d\n", 36));
	CHECK("a merged reference", lap_print_touch(b, &t) == 44 &&
	    !memcmp(b, "r 123456789abcdef0 4 9a8b7 8888ffff3e456a21\n", 44));
	v.space = UINT64_C(1) << 32;
	CHECK("what does not fit a classic one", !lap_fits_classic(&v));
}

int
main(void)
{
	vectors();
	references(LAP_CLASSIC, "classic");
	references(LAP_WIDE, "wide");
	references(LAP_TEXT, "text");
	events();
	lines();
	refused();
	refused_offsets();
	for (int i = 0; i < 4; i++)
		merged(i & 1, i >> 1);
	return check_end();
}
