/*
 * Captures of several processes: round trips, truncation at every length, flipped bits, lists that no
 * writer makes.  `wsrunstest seeds FOLDER` writes first inputs of wsfuzz.
 */
#include "../check.h"
#include "base/bytes.h"
#include "format/ws/runs_internal.h"
#include "wsmake.h"

#define NRUNS 4
#define NRECS 40

static struct ws_rec recs[NRUNS][NRECS];
static struct ws_run info[NRUNS] = {
	{ .began = WS_FIRST, .pid = 100 },
	{ .began = WS_FORK, .parent = 1, .pid = 101, .trigger = 3, .start = 5 },
	{ .began = WS_EXEC, .parent = 2, .pid = 101, .trigger = 9, .start = 5 },
	{ .began = WS_VFORK, .parent = 1, .pid = 1ull << 40, .trigger = 1ull << 50, .start = 1ull << 60 },
};

/* Records without gigabytes, keyframes and icounts. */
static void
make(void)
{
	for (int i = 0; i < NRUNS; i++) {
		struct ws_regs g = { .rip = 0 };

		rnd_rec(&recs[i][0], WS_START, &g);
		for (int k = 1; k < NRECS - 1; k++) {
			enum ws_kind kind = WS_MAP + rnd() % (WS_CPUID - WS_MAP + 1);

			rnd_rec(&recs[i][k], kind, &g);
			if (kind == WS_MEM)
				recs[i][k].u.mem.n = 1 + recs[i][k].u.mem.n % 200;
		}
		rnd_rec(&recs[i][NRECS - 1], WS_END, &g);
	}
}

/* The runs as one file, which changes between them; n runs. */
static int
write_runs(struct sink *s, int n, enum ws_level level)
{
	struct ws_runs_writer *t = ws_runs_create(sink_write, s);
	struct ws_run_writer *to[NRUNS] = { NULL };
	struct ws_writer *w[NRUNS] = { NULL };
	int next[NRUNS] = { 0 }, left = n * NRECS, begun = 0, good = t != NULL;
	struct fault f;

	while (good && left) {
		int i = (int)(rnd() % (unsigned)(begun < n ? begun + 1 : n));

		if (i == begun) {
			/* the first one must not be complete before the others begin */
			to[i] = ws_runs_begin(t, &info[i]);
			w[i] = to[i] ? ws_create(ws_run_write, to[i], &make_head, level, &f) : NULL;
			good = w[i] != NULL;
			begun++;
			continue;
		}
		if (next[i] == NRECS || (i == 0 && next[0] == NRECS - 1 && begun < n))
			continue;
		good = ws_put(w[i], &recs[i][next[i]]) == 0;
		left--;
		if (++next[i] == NRECS) {
			good &= ws_finish(w[i]) == 0 && ws_run_end(to[i], info[i].start + 1) == 0;
			ws_free(w[i]);
		} else if (rnd() % 9 == 0) {
			good &= ws_end_group(w[i]) == 0 && ws_run_flush(to[i]) == 0;
		}
	}
	good = good && ws_runs_finish(t) == 0;
	ws_runs_close(t);
	return good;
}

/* How many records of run n (from 1) are read, all as they were; -1: a wrong one. *end: ws_next's last result */
static int
read_run(const struct sink *s, size_t n, int *end)
{
	struct fault f;
	struct ws_reader *r = ws_open_mem_run(s->p, s->n, n, &f);
	struct ws_rec rec;
	int k = 0;

	*end = -1;
	while (r && (*end = ws_next(r, &rec)) == 1) {
		struct ws_rec_mem want = recs[n - 1][k].u.mem;

		if (k == NRECS || rec.kind != recs[n - 1][k].kind || (rec.kind == WS_MEM ?
			!take_mem(&want, &rec.u.mem) || want.n : !same_rec(&rec, &recs[n - 1][k])))
			k = -NRECS;
		k++;
	}
	if (*end < 0 && r && (!ws_fault(r)->err[0] || (ws_fault(r)->off > s->n)))
		k = -1;
	ws_close(r);
	return k;
}

static int
same_run(const struct ws_run *a, const struct ws_run *b)
{
	return a->began == b->began && a->parent == b->parent && a->pid == b->pid && a->trigger == b->trigger &&
	    a->start == b->start;
}

static int
round_trip(int n, enum ws_level level)
{
	struct sink s = { NULL, 0, 0 };
	struct fault f;
	int whole, good = write_runs(&s, n, level), end;
	struct ws_runs *t = ws_runs_read_mem(s.p, s.n, &whole, &f);

	good &= t && whole && ws_runs_count(t) == (size_t)n;
	for (size_t i = 1; good && i <= (size_t)n; i++) {
		if (n > 1)
			good &= same_run(ws_runs_get(t, i), &info[i - 1]) && ws_runs_get(t, i)->end == info[i - 1].start + 1;
		good &= read_run(&s, i, &end) == NRECS && end == 0;
	}
	ws_runs_free(t);
	free(s.p);
	return good;
}

/* A single run has the bytes that it has without a list. */
static int
single(void)
{
	struct sink s = { NULL, 0, 0 }, plain = { NULL, 0, 0 };
	struct fault f;
	struct ws_writer *w = ws_create(sink_write, &plain, &make_head, WS_PLAIN, &f);
	uint64_t state = rnd_state;
	int good = write_runs(&s, 1, WS_PLAIN);

	rnd_state = state;
	for (int i = 0; i < NRECS; i++) {
		(void)rnd();
		if (i == 0)
			(void)rnd();
		good &= ws_put(w, &recs[0][i]) == 0;
		if (i + 1 < NRECS && rnd() % 9 == 0)
			good &= ws_end_group(w) == 0;
	}
	good &= ws_finish(w) == 0;
	ws_free(w);
	good &= s.n == plain.n && !memcmp(s.p, plain.p, s.n);
	free(s.p);
	free(plain.p);
	return good;
}

/* Cut off at every length: what comes before is right, and it is never taken for the whole. */
static int
truncations(void)
{
	struct sink s = { NULL, 0, 0 }, cut;
	int good = write_runs(&s, NRUNS, WS_PLAIN), end, whole;
	struct fault f;

	for (size_t n = 0; good && n < s.n; n++) {
		struct ws_runs *t;

		cut = s;
		cut.p = malloc(n + 1);
		memcpy(cut.p, s.p, n);
		cut.n = n;
		t = ws_runs_read_mem(cut.p, n, &whole, &f);
		if (!t)
			good = 0;
		/* a header, or groups of the first run alone, are a capture of one run that is cut off */
		else if (ws_runs_count(t) == 1)
			good &= read_run(&cut, 1, &end) >= 0 && end < 0;
		else
			good &= !whole && f.err[0] && f.off <= n;
		for (size_t i = 1; good && ws_runs_count(t) > 1 && i <= ws_runs_count(t); i++) {
			int k = read_run(&cut, i, &end);

			/* a run may have come to its end before */
			good &= k >= 0 && (end < 0 || k == NRECS);
		}
		if (!good)
			printf("# at %zu of %zu\n", n, s.n);
		ws_runs_free(t);
		free(cut.p);
	}
	free(s.p);
	return good;
}

/* Every bit flipped: no run has other records, and somebody says so. */
static int
flips(void)
{
	struct sink s = { NULL, 0, 0 };
	int good = write_runs(&s, 3, WS_PLAIN), end, whole;
	struct fault f;

	for (size_t bit = 0; good && bit < 8 * s.n; bit++) {
		struct ws_runs *t;
		int told;

		s.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		t = ws_runs_read_mem(s.p, s.n, &whole, &f);
		told = !t || !whole || ws_runs_count(t) != 3;
		for (size_t i = 1; i <= 3; i++) {
			int k = read_run(&s, i, &end);

			good &= k >= 0;
			told |= end < 0;
		}
		good &= told;
		if (!good)
			printf("# bit %zu of %zu\n", bit, 8 * s.n);
		ws_runs_free(t);
		s.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	free(s.p);
	return good;
}

/* What is added after the header of a capture of one run: entries of the list, "numbers", and pieces, "@run bytes". */
static const struct wrong {
	const char *text, *err;
} wrongs[] = {
	{ "0 1 0 0 7 0 0;0 2 1 1 8 0 0;1 2 0;1 1 0;IX;2 2", NULL },
	{ "0 1 0 0 7 0 0;0 2 1 1 8 0 0;1 2 0;IX;1 1 0;2 2", NULL },
	{ "0 2 1 1 8 0 0", "a run with a wrong number" },
	{ "0 1 0 0 7 0 0;0 1 0 0 7 0 0", "a run with a wrong number" },
	{ "0 1 0 0 7 0 0;0 3 1 1 8 0 0", "a run with a wrong number" },
	{ "0 1 0 0 7 0 0;0 0 1 1 8 0 0", "a run with a wrong number" },
	{ "0 1 0 0 7 0 0;0 2 1 0 8 0 0", "a run that no other began" },
	{ "0 1 0 0 7 0 0;0 2 1 2 8 0 0", "a run that no other began" },
	{ "0 1 0 0 7 0 0;0 2 0 1 8 0 0", "a run that no other began" },
	{ "0 1 1 0 7 0 0", "a run that no other began" },
	{ "0 1 0 1 7 0 0", "a run that no other began" },
	{ "0 1 0 0 7 0 0;0 2 1 2000000 8 0 0", "a run with a wrong number" },
	{ "0 1 0 0 7 0 0;0 2 3 1 8 0 0", "a run of another process" },
	{ "0 1 0 0 7 0 0;0 2 4 1 8 0 0", "an unknown beginning of a run" },
	{ "0 1 0 0 7 1 0", "a first run that others precede" },
	{ "0 1 0 0 7 0 1", "a first run that others precede" },
	{ "0 1 0 0 7 0 0;0 2 1 1 8 0 5;0 3 1 1 8 0 4", "the list of runs goes back in time" },
	{ "0 1 0 0 7 0 0;0 2 1 1 8 0 5;1 2 4", "a run that ends before it begins" },
	{ "0 1 0 0 7 0 0;1 2 4", "the end of a run that is not there" },
	{ "0 1 0 0 7 0 0;1 0 4", "the end of a run that is not there" },
	{ "1 1 4", "the end of a run that is not there" },
	{ "0 1 0 0 7 0 0;0 2 1 1 8 0 0;1 2 0;1 2 0", "the end of a run that is not there" },
	{ "0 1 0 0 7 0 0;0 2 1 1 8 0 0;1 2 0;1 1 0;IX;2 3", "the end of a list of runs that is another one" },
	{ "0 1 0 0 7 0 0;1 1 0;IX;2 1", "the end of a list of runs that is another one" },
	{ "0 1 0 0 7 0 0;0 2 1 1 8 0 0;1 2 0;1 1 0;2 2", "the end of a list of runs that is another one" },
	{ "0 1 0 0 7 0 0;0 2 1 1 8 0 0;1 2 0;IX;2 2", "a run without an end" },
	{ "0 1 0 0 7 0 0;0 2 1 1 8 0 0;1 2 0;1 1 0;IX;2 2;2 2", "bytes after the end of the list of runs" },
	{ "0 1 0 0 7 0 0;0 2 1 1 8 0 0;IX;IX", "a group after the index" },
	{ "0 1 0 0 7 0 0 9", "bytes after an entry of the list of runs" },
	{ "0 1 0 0 7 0", "a number is cut off" },
	{ "3 1", "an unknown entry of the list of runs" },
	{ "0 1 0 0 7 0 0;@1 5", "a piece of a run that is not there" },
	{ "0 1 0 0 7 0 0;@2 5", "a piece of a run that is not there" },
	{ "0 1 0 0 7 0 0;0 2 1 1 8 0 0;1 2 0;@2 5", "a piece of a run that is not there" },
	{ "0 1 0 0 7 0 0;0 2 1 1 8 0 0;@2 0", "a piece with a wrong head" },
	{ "0 1 0 0 7 0 0;0 2 1 1 8 0 0;@2 67108865", "a piece with a wrong head" },
	{ "0 1 0 0 7 0 0;0 2 1 1 8 0 0;@2 9;1 1 0;XX", "neither a group nor a piece of a run" },
	{ "0 1 0 0 7 0 0;0 2 1 1 8 0 0", "cut off: not all processes have their end (the capture was interrupted)" },
};

/* One part of such a text. */
static void
craft(struct buf *b, const char *text, const struct sink *one, size_t head)
{
	struct buf e = BUF_INIT;
	char *end;

	if (text[0] == '@') {
		uint64_t run = strtoull(text + 1, &end, 10), n = strtoull(end, &end, 10);

		buf_add(&e, ws_magic_piece, 4);
		buf_le32(&e, (uint32_t)run);
		buf_le32(&e, (uint32_t)n);
		buf_le32(&e, 0);
		buf_le64(&e, ws_crc(e.p, 16, 0));
		for (uint64_t i = 0; i < n && i < 100; i++)
			buf_u8(&e, 0);
	} else if (text[0] == 'I') {
		buf_add(&e, one->p + head, one->n - head);
	} else if (text[0] == 'X') {
		buf_add(&e, "nonsense", 8);
	} else {
		struct buf v = BUF_INIT;

		while (*text) {
			buf_varint(&v, strtoull(text, &end, 10));
			text = end;
		}
		buf_add(&e, ws_magic_run, 4);
		buf_le32(&e, (uint32_t)v.n);
		buf_add(&e, v.p, v.n);
		buf_le64(&e, ws_crc(e.p, e.n, 0));
		buf_free(&v);
	}
	buf_add(b, e.p, e.n);
	buf_free(&e);
}

/* A run of which the file has nothing is not taken for all that the file has. */
static int
empty_run(void)
{
	static const char *const part[] = { "0 1 0 0 7 0 0", "0 2 1 1 8 0 0", "1 2 0", "1 1 0", "IX", "2 2" };
	struct sink one = { NULL, 0, 0 }, copy = { NULL, 0, 0 };
	int good = write_runs(&one, 1, WS_PLAIN);
	size_t head = WS_HEAD + get_le32(one.p + 12);
	FILE *file = tmpfile();
	struct buf b = BUF_INIT;
	struct ws_reader *r;
	struct ws_rec rec;
	struct fault f;

	buf_add(&b, one.p, head);
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		craft(&b, part[i], &one, head);
	good &= file && fwrite(b.p, 1, b.n, file) == b.n && fflush(file) == 0;
	r = good ? ws_open_run(fileno(file), 2, &f) : NULL;
	good &= !r || ws_next(r, &rec) < 0;
	ws_close(r);
	r = good ? ws_open_run(fileno(file), 1, &f) : NULL;
	good &= r && ws_next(r, &rec) == 1;
	ws_close(r);
	good = good && ws_run_copy(fileno(file), 2, sink_write, &copy, &f) == 0 && !copy.n;
	if (file)
		fclose(file);
	buf_free(&b);
	free(one.p);
	free(copy.p);
	return good;
}

static int
wrong_lists(void)
{
	struct sink one = { NULL, 0, 0 };
	int good = write_runs(&one, 1, WS_PLAIN), whole;
	size_t head = WS_HEAD + get_le32(one.p + 12);
	struct fault f;

	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		char *text = strdup(wrongs[i].text), *save, *part;
		struct buf b = BUF_INIT;
		struct ws_runs *t;
		const char *want = wrongs[i].err ? wrongs[i].err : "";

		buf_add(&b, one.p, head);
		for (part = strtok_r(text, ";", &save); part; part = strtok_r(NULL, ";", &save))
			craft(&b, part, &one, head);
		t = ws_runs_read_mem(b.p, b.n, &whole, &f);
		/* before its first entry it is no list, and the reader of the run finds the fault */
		if (t && ws_runs_count(t) == 1 && !f.err[0]) {
			struct ws_reader *r = ws_open_mem(b.p, b.n, &f);
			struct ws_rec rec;

			while (r && ws_next(r, &rec) == 1)
				;
			if (!r || !ws_fault(r)->err[0])
				good = 0;
			ws_close(r);
		} else if (!t || strcmp(f.err, want) || whole != !*want) {
			printf("# %s: \"%s\", not \"%s\"\n", wrongs[i].text, f.err, want);
			good = 0;
		}
		ws_runs_free(t);
		buf_free(&b);
		free(text);
	}
	free(one.p);
	return good;
}

static int
no_run(void)
{
	struct sink s = { NULL, 0, 0 };
	struct fault f;
	int good = write_runs(&s, 2, WS_QUICK);

	good &= !ws_open_mem_run(s.p, s.n, 3, &f) && !strcmp(f.err, "there is no run 3");
	free(s.p);
	return good;
}

static int
full(void *arg, const void *p, size_t n)
{
	size_t *left = arg;

	(void)p;
	if (n > *left)
		return 28;
	*left -= n;
	return 0;
}

/* A full disk at every length is an error, at the latest at the end. */
static int
disk_full(void)
{
	struct sink s = { NULL, 0, 0 };
	int good = write_runs(&s, 3, WS_PLAIN);

	for (size_t room = 0; good && room < s.n; room += 1 + s.n / 200) {
		size_t left = room;
		struct ws_runs_writer *t = ws_runs_create(full, &left);
		int e = 0;

		for (int i = 0; i < 3; i++) {
			struct ws_run_writer *r = ws_runs_begin(t, &info[i]);

			for (size_t k = 0; r && k + 64 <= s.n / 2; k += 64)
				e |= ws_run_write(r, s.p + k, 64);
			e |= r ? ws_run_end(r, info[i].start) : 1;
		}
		e |= ws_runs_finish(t);
		ws_runs_close(t);
		good &= e != 0;
	}
	free(s.p);
	return good;
}

static int
seeds(const char *folder)
{
	for (int i = 0; i < 9; i++) {
		struct sink s = { NULL, 0, 0 };
		char name[512];
		FILE *f;

		make();
		write_runs(&s, 2 + i % 3, (enum ws_level)(i / 3));
		snprintf(name, sizeof(name), "%s/runs%d.ws", folder, i);
		f = fopen(name, "wb");
		if (!f || fwrite(s.p, 1, s.n, f) != s.n || fclose(f))
			return 1;
		free(s.p);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	int good = 1;

	for (size_t i = 0; i < sizeof(rnd_bytes); i++)
		rnd_bytes[i] = (uint8_t)(rnd() % 16);
	if (argc > 2 && !strcmp(argv[1], "seeds"))
		return seeds(argv[2]);
	for (int i = 0; i < 60; i++) {
		make();
		good &= round_trip(1 + i % NRUNS, (enum ws_level)(i / 20));
	}
	CHECK("runs come back, however they are mixed", good);
	CHECK("a single run is as if there were no list", single());
	CHECK("cut off at every byte", truncations());
	CHECK("every bit flipped", flips());
	CHECK("lists that no writer makes are refused, each by name", wrong_lists());
	CHECK("a run of which the file has nothing is empty", empty_run());
	CHECK("a run that is not there", no_run());
	CHECK("a full disk", disk_full());
	return check_end();
}
