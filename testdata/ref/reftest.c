/*
 * The reference stream: round trip, truncation at every byte, what a reader must reject, the text
 * formats, lackey logs.
 */
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "format/lackey/lackey.h"
#include "format/ref/ref.h"

/* A word of every kind, with small, large and negative addresses */
static size_t
samples(uint64_t *w)
{
	static const uint64_t addr[] = { 0, 0x401136, 0x7fffffffe000, 0xffffffffff600000, 0xffff800000000000,
	    0xdeadbeef };
	size_t n = 0, i;
	unsigned k;

	for (k = 0; k < REF_NKINDS; k++)
		for (i = 0; i < sizeof(addr) / sizeof(addr[0]); i++)
			w[n++] = ref_make(k, addr[i], k < REF_ENTER ? (unsigned)(1 + i * 50) : 0);
	return n;
}

/*
 * Read a whole stream of n bytes into got, at most 5 words a time; the last status, *n becomes the
 * number of words
 */
static long
read_all(struct ref_reader *r, const uint8_t *p, size_t *n, uint64_t *got)
{
	struct in *in = in_mem(p, *n, "test");
	long k;

	*n = 0;
	k = ref_open(r, in);
	while (!k && (k = ref_read(r, got + *n, 5)) > 0) {
		*n += (size_t)k;
		k = 0;
	}
	in_close(in);
	return k;
}

static void
round_trip(void)
{
	uint64_t w[64], got[64];
	uint8_t p[REF_HEADER + 64 * REF_PUT_MAX];
	struct ref_reader r;
	size_t n = samples(w), len, i, k;
	int good = 1, told = 1;

	for (i = 0; i < n; i++) {
		good &= ref_valid(w[i]);
		good &= ref_make(ref_kind(w[i]), ref_addr(w[i]), ref_size(w[i])) == w[i];
	}
	CHECK("make and take apart", good && ref_addr(w[3]) == 0xffffffffff600000);
	ref_put_header(p);
	len = REF_HEADER + ref_put(REF_ADDR, p + REF_HEADER, w, n);
	k = len;
	CHECK("decode(encode(x)) = x", read_all(&r, p, &k, got) == 0 && k == n &&
	    !memcmp(w, got, n * sizeof(*w)));

	good = 1;
	for (i = 0; i < len; i++) {
		uint8_t *copy = malloc(i ? i : 1);      /* exactly this long, for the sanitizers */
		long s;

		if (!copy)
			return;
		memcpy(copy, p, i);
		k = i;
		s = read_all(&r, copy, &k, got);
		if (i < REF_HEADER)
			good &= s == -1 && k == 0;
		else
			good &= s == (i % 8 ? -1 : 0) && k == (i - REF_HEADER) / 8 &&
			    !memcmp(w, got, k * sizeof(*w));
		if (s == -1)
			told &= r.off == i && r.err && *r.err;
		free(copy);
	}
	CHECK("cut at every byte: every whole reference before it, then the fault", good);
	CHECK("with its offset", told);
}

static void
vectors(void)
{
	static const uint8_t want[] = {
		0x89, 'T', 'M', 'R', 'E', 'F', 0x0d, 0x0a, 1, 0, 16, 0, 0, 0, 0, 0,
		0x36, 0x11, 0x40, 0, 0, 0, 4, 0,                        /* inst 0x401136 4 */
		0xf8, 0xdf, 0xff, 0xff, 0xff, 0x7f, 8, 2,               /* store 0x7fffffffdff8 8 */
		0x00, 0x00, 0x60, 0xff, 0xff, 0xff, 255, 1,             /* load 0xffffffffff600000 255 */
		0x36, 0x11, 0x40, 0, 0, 0, 0, 5,                        /* back 0x401136 */
	};
	uint64_t w[] = {
		ref_make(REF_INST, 0x401136, 4), ref_make(REF_STORE, 0x7fffffffdff8, 8),
		ref_make(REF_LOAD, 0xffffffffff600000, 255), ref_make(REF_BACK, 0x401136, 0),
		ref_make(REF_MODIFY, 0x10, 2),
	};
	uint8_t p[5 * REF_PUT_MAX];
	size_t n;

	ref_put_header(p);
	n = REF_HEADER + ref_put(REF_ADDR, p + REF_HEADER, w, 4);
	CHECK("bytes of ref(5)", n == sizeof(want) && !memcmp(p, want, n));
#define TEXT(f, s) (n = ref_put(f, p, w, 5), n == strlen(s) && !memcmp(p, s, n))
	CHECK("lackey", TEXT(REF_LACKEY, "I  00401136,4\n S 7fffffffdff8,8\n L ffffffffff600000,255\n M "
	    "00000010,2\n"));
	CHECK("din", TEXT(REF_DIN, "2 401136\n1 7fffffffdff8\n0 ffffffffff600000\n0 10\n1 10\n"));
	CHECK("text", TEXT(REF_TEXT, "inst 0x401136 4\nstore 0x7fffffffdff8 8\nload 0xffffffffff600000 255\n"
	    "back 0x401136\nmodify 0x10 2\n"));
	CHECK("names of formats", ref_format("lackey") == REF_LACKEY && ref_format("addr") == REF_ADDR &&
	    ref_format("din") == REF_DIN && ref_format("text") == REF_TEXT && ref_format("") == -1 &&
	    ref_format("Din") == -1);
}

/* The longest line of any format fits in what callers provide */
static void
longest(void)
{
	uint64_t w = ref_make(REF_MODIFY, 0xffff800000000000, 255);
	uint8_t p[256];
	size_t max = 0, n;
	int f;

	for (f = REF_ADDR; f <= REF_TEXT; f++) {
		n = ref_put((enum ref_format)f, p, &w, 1);
		max = n > max ? n : max;
	}
	CHECK("REF_PUT_MAX is enough", max <= REF_PUT_MAX);
}

static void
rejected(void)
{
	static const struct { uint64_t w; const char *what; } bad[] = {
		{ 0x0800000000001000, "kind 8" }, { 0x0f01000000001000, "kind 15" },
		{ 0x1004000000001000, "bit 60" },
		{ 0x8004000000001000, "bit 63" }, { 0x0000000000001000, "fetch of 0 bytes" },
		{ 0x0100000000001000, "load of 0 bytes" }, { 0x0408000000001000, "loop with a size" },
		{ 0x0701000000001000, "task with a size" },
	};
	uint64_t w[3] = { ref_make(REF_INST, 1, 1), 0, ref_make(REF_INST, 2, 1) }, got[8];
	uint8_t p[REF_HEADER + 24];
	struct ref_reader r;
	size_t i, n;
	long s;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		w[1] = bad[i].w;
		ref_put_header(p);
		ref_put(REF_ADDR, p + REF_HEADER, w, 3);
		n = sizeof(p);
		s = read_all(&r, p, &n, got);
		CHECK(bad[i].what, s == -1 && n == 1 && got[0] == w[0] && r.off == REF_HEADER + 8 &&
		    r.nrec == 1);
	}
	for (i = 0; i < REF_HEADER; i++) {
		ref_put_header(p);
		p[i] ^= 0x40;
		n = sizeof(p);
		if (read_all(&r, p, &n, got) != -1 || n)
			break;
	}
	CHECK("every bit of the header counts", i == REF_HEADER);
}

/* The log as one text, read with every room from LACKEY_MIN up; the words of the last time */
static long
lackey_all(const char *s, uint64_t *got, size_t *n, struct lackey *l)
{
	struct in *in = in_mem(s, strlen(s), "log");
	long k;

	*n = 0;
	lackey_open(l, in);
	while ((k = lackey_read(l, got + *n, LACKEY_MIN)) > 0)
		*n += (size_t)k;
	in_close(in);
	return k;
}

static void
lackey(void)
{
	static const char log[] =
		"==12== Lackey, an example Valgrind tool\n==12== \nI  04001090,3\n S 1ffefffe78,8\n"
		"the program says: I  am here\n\nI  00401136,4\n L 04222c60,8\n M 04222c60,8\nI  "
		    "00401140,4\n L 00001000,4\n"
		" M 00002000,4\nI  00401144,7\n L 0040a000,512\n S ffffffffff600000,16\n==12== Counted 1 "
		    "call to main()\n";
	uint64_t want[] = {
		ref_make(0, 0x4001090, 3), ref_make(2, 0x1ffefffe78, 8), ref_make(0, 0x401136, 4),
		    ref_make(3, 0x4222c60, 8),
		ref_make(0, 0x401140, 4), ref_make(1, 0x1000, 4), ref_make(3, 0x2000, 4),
		    ref_make(0, 0x401144, 7),
		ref_make(1, 0x40a000, 128), ref_make(1, 0x40a080, 128), ref_make(1, 0x40a100, 128),
		    ref_make(1, 0x40a180, 128),
		ref_make(2, 0xffffffffff600000, 16),
	};
	static const struct { const char *s; uint64_t off; size_t n; const char *what; } bad[] = {
		{ "I  04001090,3\n L 1fff00,\n", 14, 1, "no size" }, { " L 12,0\n", 0, 0, "size 0" },
		{ " S 12 8\n", 0, 0, "no comma" },
		{ " L 11111111111111111,8\n", 0, 0, "17 digits" }, { " L 800000000000,8\n", 0, 0, "49 bits" },
		{ " L 12,8 \n", 0, 0, "a trailing blank" },
		{ "I  04001090,3\n L 1fff00", 23, 1, "cut in the address" },
		{ "I  04001090,3\n L 1fff00,8", 25, 1, "no newline at the end" },
		{ " M 12,99999\n", 0, 0, "size 99999" },
	};
	uint64_t got[64];
	struct lackey l;
	size_t n, i;
	long k;

	k = lackey_all(log, got, &n, &l);
	CHECK("lackey log", k == 0 && n == sizeof(want) / sizeof(want[0]) &&
	    !memcmp(got, want, sizeof(want)));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		k = lackey_all(bad[i].s, got, &n, &l);
		CHECK(bad[i].what, k == -1 && n == bad[i].n && l.off == bad[i].off && l.err);
	}
	CHECK("a load at the end is not held back", lackey_all(" L 1000,8\n", got, &n, &l) == 0 && n == 1);
	CHECK("junk has no references", lackey_all("\x01\x02 junk\n\n I 12,4\n  L 12,4\nIII\n L\n", got, &n,
	    &l) == 0 && n == 0);
}

/* Logs of random references, with junk and long lines between: what goes in comes out */
static void
lackey_random(void)
{
	struct buf b = BUF_INIT;
	uint64_t seed = 1, *want = calloc(60000, 8), *got = calloc(60300, 8);
	struct lackey l;
	struct in *in;
	size_t i, n = 0, m = 0;
	long k = 1;

	if (!want || !got)
		return;
	for (i = 0; i < 60000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		want[i] = ref_make(seed >> 60 & 3, seed >> 20 & 0x7fffffffffff, 1 + (seed >> 12 & 63));
		buf_reserve(&b, 64);
		b.n += ref_put(REF_LACKEY, b.p + b.n, want + i, 1);
		if (seed >> 50 % 97 == 0)
			buf_str(&b, "==1== I  0,1\n");
		if (i == 30000) {
			for (m = 0; m < 3u << 20; m++)
				buf_u8(&b, (uint8_t)('a' + m % 26));
			buf_u8(&b, '\n');
		}
	}
	in = in_mem(b.p, b.n, "log");
	lackey_open(&l, in);
	while (k > 0 && n + 100 < 60300) {
		k = lackey_read(&l, got + n, 100);
		n += k > 0 ? (size_t)k : 0;
	}
	CHECK("random references among junk and a line of 3 MiB", k == 0 && n == 60000 &&
	    !memcmp(got, want, n * 8));
	in_close(in);
	buf_free(&b);
	free(want);
	free(got);
}

/* Counts of words with any bits, some of kinds that do not exist, against one by one */
static void
counts(void)
{
	static uint64_t w[5003];
	uint64_t x = 1;
	size_t bad = 0;

	for (size_t i = 0; i < 5003; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		w[i] = i < 2000 ? x : ref_make(x >> 60 & 1 ? REF_BACK : REF_LOAD, x, 8);
	}
	for (size_t n = 0; n <= 5003; n += n < 40 ? 1 : 331) {
		uint64_t got[REF_NKINDS] = { 7 }, want[REF_NKINDS] = { 7 };

		ref_count(got, w + 5003 - n, n);
		ref_count(got, w, n);
		for (size_t i = 0; i < 2 * n; i++) {
			unsigned k = ref_kind(i < n ? w[i] : w[5003 - 2 * n + i]);

			if (k < REF_NKINDS)
				want[k]++;
		}
		bad += memcmp(got, want, sizeof got) != 0;
	}
	CHECK("counts by kind", bad == 0);
}

int
main(void)
{
	counts();
	round_trip();
	vectors();
	longest();
	rejected();
	lackey();
	lackey_random();
	return check_end();
}
