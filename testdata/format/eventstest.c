/* Event files: fixed bytes, every truncation, every changed byte. */
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "base/bytes.h"
#include "format/ae/events.h"

struct src { const uint8_t *p; size_t n; };

static size_t
from(void *arg, void *buf, size_t n)
{
	struct src *s = arg;

	if (n > s->n)
		n = s->n;
	memcpy(buf, s->p, n);
	s->p += n;
	s->n -= n;
	return n;
}

static size_t
put(uint8_t *p, const char *magic, const uint8_t *body, uint32_t n)
{
	memcpy(p, magic, 4);
	put_le32(p + 4, n);
	put_le64(p + 8, ev_checksum(body, n));
	memcpy(p + 16, body, n);
	return 16 + n;
}

/* Two chunks, of 5 and 40 bytes; returns the length */
static size_t
make(uint8_t *p)
{
	uint8_t body[40], end[EV_ENDLEN] = {0};
	size_t n = 112;

	memset(p, 0, 112);
	memcpy(p, EV_MAGIC, 8);
	put_le32(p + 8, EV_VERSION);
	put_le32(p + 12, 112);
	p[16] = 3;
	memcpy(p + 17, "id!", 3);
	put_le16(p + 49, 62);
	put_le64(p + 56, 0x7ffff7d8a740);
	put_le64(p + 64, EV_CHILD);
	put_le64(p + 72, 123456789012);
	put_le64(p + 80, 0x555555554000);
	put_le32(p + 88, 6);
	memcpy(p + 92, "ae.out", 6);
	put_le64(p + 104, ev_checksum(p, 104));
	for (int i = 0; i < 40; i++)
		body[i] = (uint8_t)(i * 7);
	n += put(p + n, "AEch", body, 5);
	n += put(p + n, "AEch", body, 40);
	put_le32(end, EV_SIGNAL);
	put_le32(end + 4, 11);
	put_le64(end + 8, 45);
	put_le64(end + 32, 0x20010);
	return n + put(p + n, "AEnd", end, EV_ENDLEN);
}

/* All payload bytes handed over; *err as the reader's */
static long
read_all(const uint8_t *p, size_t n, const char **err, uint64_t *off)
{
	uint8_t *q = malloc(n ? n : 1);
	struct src s = {q, n};
	struct ev_reader r;
	const uint8_t *b;
	long k, sum = 0;

	memcpy(q, p, n);
	if (ev_open(&r, from, &s) == 0)
		while ((k = ev_next(&r, &b)) > 0)
			for (long i = 0; i < k; i++, sum++)
				if (sum < 5 ? b[i] != sum * 7 : b[i] != (uint8_t)((sum - 5) * 7))
					sum = 1000000;
	*err = r.err;
	*off = r.erroff;
	ev_close(&r);
	free(q);
	return sum;
}

/* A record of a thread; b: two words, or n bytes of events (kind 1) */
static size_t
put_thread(uint8_t *p, uint32_t task, uint32_t kind, const void *b, uint32_t n)
{
	uint8_t body[64];

	put_le32(body, task);
	put_le32(body + 4, kind);
	memcpy(body + 8, b, n);
	return put(p, "AEth", body, 8 + n);
}

static size_t
put_words(uint8_t *p, uint32_t task, uint32_t kind, uint64_t a, uint64_t b)
{
	uint8_t w[16];

	put_le64(w, a);
	put_le64(w + 8, b);
	return put_thread(p, task, kind, w, 16);
}

/*
 * A file of threads as the letters of `what` say. Capitals and the next letter are about thread 2: Begin, Events (2 bytes),
 * Left, Outside, Running, gone (X); small letters about thread 4: b, e (3 bytes), l, x; of thread 1: 1 (1 byte), o, r; and
 * the end: z of thread 1, y of thread 4, s stopped, n of no thread.
 */
static uint32_t below;         /* of thread 4: the number of what it interrupts */

static size_t
make_threads(uint8_t *p, const char *what)
{
	uint64_t sum[5] = {0};
	uint8_t end[EV_ENDLEN] = {0};
	size_t n = EV_HEADMIN;

	memset(p, 0, n);
	memcpy(p, EV_MAGIC, 8);
	put_le32(p + 8, EV_VERSION);
	put_le32(p + 12, EV_HEADMIN);
	put_le16(p + 49, 62);
	put_le64(p + 56, 0x1000);
	put_le64(p + n - 8, ev_checksum(p, n - 8));
	for (; *what; what++) {
		uint32_t task = strchr("BELORX", *what) ? 2 : strchr("belx", *what) ? 4 : 1;
		const char *kind = strchr("LORXloxr", *what) ? "loxr" : "";

		if (strchr("Bb", *what))
			n += put_words(p + n, task, EV_BEGINS, 0x1000 * task, 77 | (uint64_t)(task == 4 ? below : 0) << 32);
		else if (strchr("Ee1", *what)) {
			sum[task] += task == 1 ? 1 : task == 2 ? 2 : 3;
			n += task == 1 ? put(p + n, "AEch", (const uint8_t *)"a", 1) :
			    put_thread(p + n, task, EV_CHUNK, task == 2 ? "bb" : "ddd", task == 2 ? 2 : 3);
		} else if (*kind)
			n += put_words(p + n, task, EV_ENDS, sum[task],
			    strchr("Ll", *what) ? 0 : strchr("Oo", *what) ? 1 : strchr("Rr", *what) ? 2 : 3);
		else {
			put_le32(end, *what == 's' ? EV_STOPPED : EV_EXIT);
			put_le64(end + 8, sum[1] + sum[2] + sum[4]);
			put_le32(end + 56, *what == 'y' ? 4 : *what == 'z' ? 1 : 0);
			put_le32(end + 60, 4);
			n += put(p + n, "AEnd", end, EV_ENDLEN);
		}
	}
	return n;
}

/* How many bytes of events the thread has, all of its letter; *end how it ended, or -1 */
static long
read_thread(const uint8_t *p, size_t n, uint32_t task, int *end, uint32_t *next)
{
	struct src s = {p, n};
	struct ev_reader r;
	const uint8_t *b;
	long k, sum = 0;

	if (ev_open(&r, from, &s) == 0 && ev_task(&r, task) == 0)
		while ((k = ev_next(&r, &b)) > 0)
			for (long i = 0; i < k; i++)
				sum += b[i] == 'a' + task - 1 && r.fs == 0x1000 * task ? 1 : 1000;
	*end = r.ended ? (int)r.end.reason : -1;
	*next = r.next;
	ev_close(&r);
	return sum;
}

static int
thread_is(const char *what, uint32_t task, long bytes, int end)
{
	uint8_t p[2048];
	size_t n = make_threads(p, what);
	int got_end;
	uint32_t next;
	long got = read_thread(p, n, task, &got_end, &next);

	if (got == bytes && got_end == end)
		return 1;
	printf("# %s, thread %u: %ld bytes, end %d\n", what, task, got, got_end);
	return 0;
}

/* What thread 4 interrupts in a file of this version, whose begin says n; -1: it is refused */
static long
interrupts(uint32_t version, uint32_t n)
{
	static uint8_t p[4096];
	const uint8_t *q;
	struct src s = {p, 0};
	struct ev_reader r;
	long got;

	below = n;
	s.n = make_threads(p, "1BE1bEee1Olz");
	below = 0;
	put_le32(p + 8, version);
	put_le64(p + EV_HEADMIN - 8, ev_checksum(p, EV_HEADMIN - 8));
	got = ev_open(&r, from, &s) == 0 && ev_task(&r, 4) == 0 ? (long)r.interrupts : -1;
	while (got >= 0 && ev_next(&r, &q) > 0)
		;
	got = r.err ? -1 : got;
	ev_close(&r);
	return got;
}

static void
check_handlers(void)
{
	CHECK("handlers: of a stream before theirs", interrupts(6, 0) == 0 && interrupts(6, 1) == 1 && interrupts(6, 2) == 2);
	CHECK("handlers: of their own or a later one are refused", interrupts(6, 4) == -1 && interrupts(6, 5) == -1);
	CHECK("handlers: none in version 5", interrupts(5, 1) == 0 && interrupts(5, 9) == 0);
}

static void
check_threads(void)
{
	static const char *const bad[] = { "1Ez", "1EBLz", "1BELEz", "1BBLz", "1BELLz", "1BEz", "1beBEl", "1BEbeLlo1n", "" };
	static const uint32_t tasks[] = { 1, 2, 4 };
	uint8_t p[2048], q[2048];
	size_t n = make_threads(p, "1BE1bEee1Elz"), wrong = 0;
	unsigned flip = 1;
	uint32_t next;
	int end;

	CHECK("threads: each its own", thread_is("1BEE1bEee1ELloy", 1, 3, EV_EXIT) && thread_is("1BE1bEee1ELlz", 1, 3, EV_EXIT) &&
	    thread_is("1BE1bEee1ELlz", 2, 6, EV_EXIT) && thread_is("1BE1bEee1ELlz", 4, 6, EV_EXIT));
	CHECK("threads: ends", thread_is("1BEbeRoy", 2, 2, EV_RUNNING) && thread_is("1BEbeRoy", 1, 1, EV_EXIT) &&
	    thread_is("1BEbeRry", 1, 1, EV_RUNNING) && thread_is("1BEbeRoy", 4, 3, EV_EXIT) &&
	    thread_is("1BEbeOxz", 4, 3, EV_LOST) && thread_is("1BEbes", 2, 2, EV_STOPPED) &&
	    thread_is("1BEbes", 1, 1, EV_STOPPED) && thread_is("1BEbeLlon", 1, 1, EV_EXIT));
	CHECK("threads: the next number", read_thread(p, n, 1, &end, &next) == 3 && next == 2 &&
	    read_thread(p, n, 2, &end, &next) == 6 && next == 4 && read_thread(p, n, 4, &end, &next) == 6 && next == 0);
	CHECK("threads: there is none of this number", thread_is("1BEbeRoy", 3, 0, -1) && thread_is("1BEbeRoy", 5, 0, -1));
	for (size_t i = 0; *bad[i]; i++) {
		n = make_threads(p, bad[i]);
		read_thread(p, n, 1, &end, &next);
		if (end < 0)
			continue;
		read_thread(p, n, 2, &end, &next);
		if (end >= 0) {
			printf("# taken: %s\n", bad[i]);
			wrong++;
		}
	}
	CHECK("threads: what is in no order is refused", wrong == 0);
	n = make_threads(p, "1BE1bEee1ELlz");
	for (size_t i = 0; i < n * 8; i++) {
		int all = 1;

		memcpy(q, p, n);
		q[i / 8] ^= (uint8_t)(1u << i % 8);
		for (int k = 0; k < 3; k++) {
			read_thread(q, n, tasks[k], &end, &next);
			all &= end >= 0;
		}
		flip &= !all;
	}
	CHECK("threads: a changed bit anywhere is an error of one of them", flip);
	put_le32(p + 8, 2);
	put_le64(p + EV_HEADMIN - 8, ev_checksum(p, EV_HEADMIN - 8));
	read_thread(p, n, 1, &end, &next);
	CHECK("threads: none in version 2", end == -1);
}

/* The record of a library: numbers first .. first+n-1, and what is wrong with it */
enum module_fault { MODULE_RIGHT, MODULE_ZEROS, MODULE_NAMELESS, MODULE_BASE, MODULE_ID, MODULE_NUL };

static size_t
put_module(uint8_t *p, uint32_t first, uint32_t n, enum module_fault wrong)
{
	uint8_t b[EV_MODPATH + 16] = {0};

	put_le32(b, first);
	put_le32(b + 4, n);
	put_le64(b + 8, wrong == MODULE_BASE ? 0x7ffff7fb9010 : 0x7ffff7fb9000);
	b[16] = wrong == MODULE_ID ? 33 : 2;
	memcpy(b + 17, "id", 2);
	put_le32(b + 52, wrong == MODULE_NAMELESS ? 0 : 10);
	memcpy(b + EV_MODPATH, wrong == MODULE_NUL ? "/lib\0so.so" : "/lib/a.so.", 10);
	b[EV_MODPATH + 12] = wrong == MODULE_ZEROS;
	return put(p, "AEmo", b, sizeof b);
}

/* A file of one chunk, before and after which are libraries; returns how many bytes of events are read, -1: a fault */
static long
read_modules(uint32_t version, uint32_t second, enum module_fault wrong, uint32_t number, uint32_t *first)
{
	uint8_t p[1024], end[EV_ENDLEN] = {0};
	size_t n = EV_HEADMIN;
	const struct ev_module *m;
	struct ev_reader r;
	const uint8_t *b;
	struct src s;
	long k, sum = 0;

	memset(p, 0, n);
	memcpy(p, EV_MAGIC, 8);
	put_le32(p + 8, version);
	put_le32(p + 12, EV_HEADMIN);
	put_le64(p + n - 8, ev_checksum(p, n - 8));
	n += put_module(p + n, 7, 3, MODULE_RIGHT);
	n += put(p + n, "AEch", (const uint8_t *)"abc", 3);
	n += put_module(p + n, second, 2, wrong);
	put_le64(end + 8, 3);
	n += put(p + n, "AEnd", end, EV_ENDLEN);
	s = (struct src){p, n};
	if (ev_open(&r, from, &s) == 0)
		while ((k = ev_next(&r, &b)) > 0)
			sum += k;
	m = ev_module(&r, number);
	*first = m && m->base == 0x7ffff7fb9000 && m->idlen == 2 && strcmp(m->path, "/lib/a.so.") == 0 ? m->first : 0;
	if (r.err)
		sum = -1;
	ev_close(&r);
	return sum;
}

static void
check_modules(void)
{
	uint32_t a, b, c;
	int refused = 1;

	CHECK("libraries: by the numbers of their functions", read_modules(5, 10, MODULE_RIGHT, 9, &a) == 3 && a == 7 &&
	    read_modules(5, 20, MODULE_RIGHT, 21, &b) == 3 && b == 20 && read_modules(5, 20, MODULE_RIGHT, 22, &c) == 3 && c == 0);
	CHECK("libraries: numbers of others", read_modules(5, 9, MODULE_RIGHT, 9, &a) == -1 &&
	    read_modules(5, 3, MODULE_RIGHT, 9, &a) == -1 && read_modules(5, EV_NFUNCS, MODULE_RIGHT, 9, &a) == -1);
	for (enum module_fault w = MODULE_ZEROS; w <= MODULE_NUL; w++)
		refused &= read_modules(5, 20, w, 9, &a) == -1;
	CHECK("libraries: what differs from the page is refused", refused);
	CHECK("libraries: none in version 4", read_modules(4, 20, MODULE_RIGHT, 9, &a) == -1);
}

/* The same file of one thread in version 2 or 3, which have no load address */
static int
old_version(const uint8_t *p, size_t n, uint32_t version)
{
	uint8_t q[512];
	const char *err;
	uint64_t off;
	long sum, again;

	memcpy(q, p, 80);
	memcpy(q + 80, p + 88, n - 88);
	n -= 8;
	put_le32(q + 8, version);
	put_le32(q + 12, 104);
	put_le64(q + 96, ev_checksum(q, 96));
	sum = read_all(q, n, &err, &off);
	if (sum != 45 || err)
		return 0;
	put_le32(q + 52, 1);
	put_le64(q + 96, ev_checksum(q, 96));
	again = read_all(q, n, &err, &off);
	return version == 2 ? again == 0 && err && off == 51 : again == 45 && !err;
}

/* Short values: every one comes back, and no other bytes are accepted for it. */
static void
shorts(void)
{
	static const struct { uint64_t v; unsigned n; } is[] = {
		{0, 4}, {0x7fffffff, 4}, {0x80000000, 8}, {0xffffffff, 8}, {0x100000000, 8}, {0x7ffff7d8a740, 8},
		{0x7ffffffeffffffff, 8}, {0x7fffffff00000000, 12}, {0x8000000000000000, 12}, {UINT64_MAX, 12}
	};
	static const uint8_t nine[] = {0x02, 0, 0, 0x80, 9, 0, 0, 0};
	uint8_t b[EV_SHORTMAX];
	unsigned good = 1, bad = 0;
	uint64_t v;

	for (size_t i = 0; i < sizeof is / sizeof *is; i++)
		good &= ev_putshort(b, is[i].v) == is[i].n && ev_shortlen(get_le32(b)) == is[i].n &&
		    ev_short(b, &v) == is[i].n && v == is[i].v;
	CHECK("short values: each comes back", good);
	CHECK("short values: the bytes", ev_short(nine, &v) == 8 && v == 0x200000009);
	put_le32(b, UINT32_C(1) << 31);
	put_le32(b + 4, INT32_MAX);
	bad |= ev_short(b, &v);
	put_le32(b, UINT32_MAX);
	put_le64(b + 4, 0x7ffffffeffffffff);
	bad |= ev_short(b, &v);
	CHECK("short values: longer than they need be", bad == 0);
}

int
main(int argc, char **argv)
{
	static const char abc[] = "abc";
	uint8_t p[512], q[512];
	size_t n = make(p);
	unsigned cut = 1, flip = 1, zero = 1;
	const char *err;
	uint64_t off;
	struct src s = {p, n};
	struct ev_reader r;
	const uint8_t *b;

	if (argc > 1 && strcmp(argv[1], "example") == 0)
		return fwrite(p, 1, n, stdout) != n;    /* what ae.out(5) shows */
	CHECK("checksum of nothing", ev_checksum(p, 0) == UINT64_C(0x8e2f5955fbc6275d));
	CHECK("checksum of 3 bytes", ev_checksum((const uint8_t *)abc, 3) == UINT64_C(0xca80b825251d1b4));
	shorts();
	CHECK("header", ev_open(&r, from, &s) == 0 && r.head.idlen == 3 && memcmp(r.head.id, "id!", 3) == 0 &&
	    r.head.machine == 62 && r.head.fs == 0x7ffff7d8a740 && r.head.parent_pos == 123456789012 &&
	    r.head.base == 0x555555554000 && strcmp(r.head.parent, "ae.out") == 0);
	CHECK("first chunk", ev_next(&r, &b) == 5 && r.payload_off == 128 && !r.last);
	CHECK("second chunk", ev_next(&r, &b) == 40 && r.payload_off == 149 && r.last);
	CHECK("end", ev_next(&r, &b) == 0 && r.ended && r.end.reason == EV_SIGNAL && r.end.sig == 11 &&
	    r.end.rip == 0x20010);
	ev_close(&r);
	for (size_t i = 0; i < n; i++) {
		long sum = read_all(p, i, &err, &off);
		long want = i < 128 ? 0 : i < 133 ? (long)i - 128 : i < 149 ? 5 : i < 189 ? (long)i - 144 :
		    45;

		if (sum != want || !err || off != i) {
			printf("# %zu: %ld bytes, %s at %llu\n", i, sum, err ? err :
			    "no error", (unsigned long long)off);
			cut = 0;
		}
	}
	CHECK("cut off anywhere: all bytes before, then an error there", cut);
	for (size_t i = 0; i < n; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			memcpy(q, p, n);
			q[i] ^= (uint8_t)(1u << bit);
			read_all(q, n, &err, &off);
			flip &= err != NULL;
		}
	}
	CHECK("a changed bit anywhere is an error", flip);
	for (size_t i = 16; i < 56; i++) {
		memcpy(q, p, n);
		q[i] |= 0x80;
		put_le64(q + 104, ev_checksum(q, 104));
		read_all(q, n, &err, &off);
		zero &= err != NULL || (i >= 17 && i < 20) || i == 49 || i == 50 || i >= 52;
	}
	CHECK("a byte that should be 0, behind the build id and the machine", zero);
	memcpy(q, p, n);
	q[n] = 0;
	CHECK("a byte behind the end", read_all(q, n + 1, &err, &off) == 45 && err && off == n);
	CHECK("version 2", old_version(p, n, 2));
	CHECK("version 3", old_version(p, n, 3));
	memcpy(q, p, n);
	q[80] = 16;
	put_le64(q + 104, ev_checksum(q, 104));
	CHECK("a load address amid a page", read_all(q, n, &err, &off) == 0 && err && off == 80);
	memcpy(q, p, n);
	put_le32(q + 8, 4);
	put_le64(q + 104, ev_checksum(q, 104));
	CHECK("version 4", read_all(q, n, &err, &off) == 45 && !err);
	check_threads();
	check_handlers();
	check_modules();
	CHECK("numbers of functions", ev_funcno(0) == 1 && ev_funcno(251) == 252 &&
	    ev_funcno(252) == (1 << 8 | 1) &&
	    ev_funcno(256 * 252 - 1) == (255 << 8 | 252));
	return check_end();
}
