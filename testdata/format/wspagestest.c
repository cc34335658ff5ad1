/*
 * Pages that captures have once: round trips in the file and in a store, truncation at every length, flipped
 * bits, heads of blocks that no writer makes.  `wspagestest seeds FOLDER` writes first inputs of wsfuzz.
 */
#include <stdio.h>
#include <unistd.h>

#include "../check.h"
#include "base/bytes.h"
#include "format/ws/store_internal.h"
#include "wsmake.h"

#define NPAGES 100      /* more than a block in the file has */
#define NRUNS  2
#define FROM   UINT64_C(0x10000)

static uint8_t pages[NPAGES][WS_PAGE];

/* Each is short when it is compressed, but every third is no other's. */
static void
make(void)
{
	for (unsigned i = 0; i < NPAGES; i++) {
		memset(pages[i], (int)(1 + i % 3), WS_PAGE);
		if (i % 3 == 0)
			put_le32(pages[i] + i, 1000 + i);
	}
}

static int
put_kind(struct ws_writer *w, enum ws_kind kind)
{
	struct ws_rec r = { .kind = kind };

	if (kind == WS_MAP)
		r.u.map = (struct ws_rec_map){ .addr = FROM, .len = NPAGES * WS_PAGE, .prot = 3 };
	return ws_put(w, &r) == 0;
}

/* The pages, in pieces that differ from run to run; those before `clean` are a file's. */
static int
put_pages(struct ws_writer *w, struct ws_pages_writer *t, size_t step, size_t clean)
{
	struct ws_pages_ref ref[WS_BLOCK_PAGES];
	uint64_t addr = FROM;
	int good = 1;

	for (size_t i = 0, k; i < NPAGES && good; i += k) {
		struct ws_pages_from from = { .dev = 1, .ino = 2, .offset = i * WS_PAGE, .clean = i < clean };
		size_t nref;

		k = NPAGES - i < step ? NPAGES - i : step;
		nref = ws_pages_add(t, pages[i], k, &from, ref);
		good = nref > 0;
		for (size_t j = 0; j < nref && good; j++) {
			struct ws_rec r = { .kind = WS_MEM, .u.mem = { .addr = addr, .n = ref[j].n * WS_PAGE,
			    .page = ref[j].page + 1 } };

			good = ws_put(w, &r) == 0;
			addr += r.u.mem.n;
		}
	}
	return good && addr == FROM + NPAGES * WS_PAGE;
}

static int
write_file(struct sink *s, int nruns, struct ws_store *store, size_t clean)
{
	static const struct ws_run info[NRUNS] = { { .began = WS_FIRST, .pid = 1 }, { .began = WS_FORK, .parent = 1, .pid = 2 } };
	struct ws_runs_writer *t = ws_runs_create(sink_write, s);
	struct ws_pages_writer *p = ws_pages_create(t, store);
	struct ws_run_writer *to[NRUNS];
	struct ws_writer *w[NRUNS];
	struct fault f;
	int good = p != NULL;

	for (int i = 0; i < nruns && good; i++) {
		to[i] = ws_runs_begin(t, &info[i]);
		w[i] = ws_create(ws_run_write, to[i], &make_head, WS_QUICK, &f);
		good = w[i] && put_kind(w[i], WS_START) && put_kind(w[i], WS_MAP);
	}
	for (int i = 0; i < nruns && good; i++) {
		good = put_pages(w[i], p, 16 + (size_t)i, clean) && put_kind(w[i], WS_SYS) && put_kind(w[i], WS_END);
		good = good && ws_pages_flush(p) == 0 && ws_finish(w[i]) == 0 && ws_run_end(to[i], 1) == 0;
		ws_free(w[i]);
	}
	good = good && ws_runs_finish(t) == 0 && !ws_pages_store_error(p);
	ws_pages_close(p);
	ws_runs_close(t);
	return good;
}

/* How many of a run's pages are read, all as they were; -1: a wrong one.  *end: the last result. */
static int
read_run(const struct sink *s, size_t n, int *end)
{
	struct fault f;
	struct ws_reader *r = ws_open_mem_run(s->p, s->n, n, &f);
	struct ws_rec rec;
	int sum = 0;

	*end = -1;
	while (r && (*end = ws_next(r, &rec)) == 1) {
		const struct ws_rec_mem *m = &rec.u.mem;

		if (rec.kind != WS_MEM)
			continue;
		if (m->page || !m->p || m->addr != FROM + (uint64_t)sum * WS_PAGE || m->n % WS_PAGE ||
		    m->n / WS_PAGE > (size_t)(NPAGES - sum) || memcmp(m->p, pages[sum], m->n))
			sum = -NPAGES * 2;
		sum += (int)(m->n / WS_PAGE);
	}
	ws_close(r);
	return sum;
}

static int
whole(const struct sink *s, size_t nruns)
{
	int end, good = 1;

	for (size_t i = 1; i <= nruns; i++)
		good &= read_run(s, i, &end) == NPAGES && end == 0;
	return good;
}

/* Pages in the file and in the store. */
static int
counted(const struct sink *s, size_t in_file, size_t stored)
{
	struct fault f;
	int all;
	struct ws_runs *t = ws_runs_read_mem(s->p, s->n, &all, &f);
	struct ws_block_info b;

	for (size_t i = 0; t && i < ws_blocks(t); i++) {
		ws_block_info(t, i, &b);
		*(b.stored ? &stored : &in_file) -= b.pages;
	}
	ws_runs_free(t);
	return !in_file && !stored;
}

static int
truncations(const struct sink *s, size_t nruns)
{
	int end, last = 0, good = 1;

	for (size_t n = 0; n < s->n; n++) {
		uint8_t *p = malloc(n + 1); /* so that a read beyond the end is found */
		struct sink cut = { p, n, n };

		memcpy(p, s->p, n);
		for (size_t i = 1; i <= nruns; i++) {
			int k = read_run(&cut, i, &end);

			good &= k >= 0 && end != 1;
			if (i == 1) {
				good &= k >= last;
				last = k;
			}
		}
		free(p);
	}
	return good;
}

static int
flips(struct sink *s, size_t nruns)
{
	int end, good = 1;

	for (size_t i = 0; i < s->n; i++)
		for (unsigned bit = 0; bit < 8; bit += i % 5 ? 7 : 1) {
			int found = 0;

			s->p[i] ^= (uint8_t)(1u << bit);
			for (size_t r = 1; r <= nruns; r++) {
				int k = read_run(s, r, &end);

				good &= k >= 0;
				found |= end < 0 || k != NPAGES;
			}
			/* one of them has it, or the list of runs */
			if (!found) {
				struct fault f;
				int all = 0;
				struct ws_runs *t = ws_runs_read_mem(s->p, s->n, &all, &f);

				good &= !t || !all;
				ws_runs_free(t);
			}
			s->p[i] ^= (uint8_t)(1u << bit);
		}
	return good;
}

/* Heads that are refused, though their checksum is right */
static int
wrong_heads(void)
{
	const struct ws_block bad[] = {
		{ .n = 0, .where = WS_BLOCK_PLAIN },
		{ .n = 0, .where = WS_BLOCK_ZSTD, .packed = 1 },
		{ .n = WS_BLOCK_PAGES + 1, .where = WS_BLOCK_STORED },
		{ .n = 1, .where = WS_BLOCK_STORED, .packed = 1 },
		{ .n = 1, .where = WS_BLOCK_STORED, .crc = 1 },
		{ .n = 1, .where = WS_BLOCK_PLAIN, .packed = WS_PAGE - 1 },
		{ .n = 1, .where = WS_BLOCK_ZSTD, .packed = WS_PAGE },
		{ .n = 1, .where = WS_BLOCK_ZSTD },
		{ .n = 1 << 20, .where = WS_BLOCK_PLAIN },
		{ .n = 1, .where = WS_NBLOCKS },
	};
	uint8_t h[WS_BLOCK_HEAD];
	struct ws_block b = { .n = 0, .where = WS_BLOCK_STORED };
	int good = 1;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ws_put_block(h, &bad[i]);
		good &= ws_get_block(h, &b, 1) != NULL;
	}
	b = (struct ws_block){ .n = 0, .where = WS_BLOCK_STORED };
	ws_put_block(h, &b);
	good &= ws_get_block(h, &b, 1) == NULL && ws_get_block(h, &b, 0) != NULL;
	h[16] = 1;
	put_le64(h + 56, ws_crc(h, 56, 0));
	return good && ws_get_block(h, &b, 1) != NULL;
}

/* A record's pages must be in a block of the file. */
static int
wrong_pages(uint64_t page, size_t n)
{
	struct sink s = { NULL, 0, 0 };
	struct ws_runs_writer *t = ws_runs_create(sink_write, &s);
	struct ws_pages_writer *p = ws_pages_create(t, NULL);
	struct ws_run_writer *to = ws_runs_begin(t, &(struct ws_run){ .began = WS_FIRST });
	struct ws_run_writer *other = ws_runs_begin(t, &(struct ws_run){ .began = WS_FORK, .parent = 1 });
	struct fault f;
	struct ws_writer *w = ws_create(ws_run_write, to, &make_head, WS_QUICK, &f);
	struct ws_rec r = { .kind = WS_MEM, .u.mem = { .addr = FROM, .n = n * WS_PAGE, .page = page + 1 } };
	struct ws_pages_ref ref[WS_BLOCK_PAGES];
	int end, good = other && put_kind(w, WS_START);

	/* of 100 pages 36 are different: two blocks of 18 */
	good = good && ws_pages_add(p, pages[0], 48, &(struct ws_pages_from){ .ino = 0 }, ref) && !ws_pages_flush(p) &&
	    ws_pages_add(p, pages[48], 52, &(struct ws_pages_from){ .ino = 0 }, ref) && !ws_pages_flush(p);
	good = good && ws_put(w, &r) == 0 && put_kind(w, WS_END) && ws_finish(w) == 0 && ws_run_end(to, 0) == 0;
	good = good && read_run(&s, 1, &end) == 0 && end < 0;
	ws_free(w);
	ws_pages_close(p);
	ws_runs_close(t);
	free(s.p);
	return good;
}

static int
stored(const char *path)
{
	struct sink a = { NULL, 0, 0 }, b = { NULL, 0, 0 }, c = { NULL, 0, 0 };
	struct ws_store *s = ws_store_open(path), *again = ws_store_open(path);
	FILE *f = tmpfile();
	struct fault fault;
	int good = s && again && f;

	setenv(WS_STORE_ENV, path, 1);
	good = good && write_file(&a, 1, s, NPAGES) && write_file(&b, NRUNS, again, 50);
	good = good && counted(&a, 0, NPAGES) && whole(&a, 1) && whole(&b, NRUNS) && a.n < 4000;
	good = good && truncations(&a, 1) && flips(&a, 1);
	good = good && fwrite(a.p, 1, a.n, f) == a.n && !fflush(f);
	good = good && ws_store_fetch(fileno(f), sink_write, &c, &fault) == 0;
	good = good && counted(&c, NPAGES, 0) && whole(&c, 1);
	if (f)
		fclose(f);
	ws_store_close(s);
	ws_store_close(again);
	free(a.p);
	free(b.p);
	free(c.p);
	return good;
}

/* The SHA-256 of 32 bytes, those of the SHA-256 of a page of zeros, as sha256sum(1) has them */
static int
hashes(void)
{
	static const uint8_t zero[WS_PAGE];
	uint8_t h[WS_HASH_BYTES];
	char text[WS_HASH_TEXT];

	ws_page_hash(zero, h);
	ws_hash_text(h, text);
	if (strcmp(text, "ad7facb2586fc6e966c004d7d1d16b024f5805ff7cb47c7a85dabd8b48892ca7"))
		return 0;
	ws_block_hash(zero, 1, h);
	ws_hash_text(h, text);
	return !strcmp(text, "bb9112be14e7f7bedba9636f28a83d12784188a1aca78da399c6e61e35f06144");
}

static int
seed(const char *folder, const struct sink *s, int i)
{
	char name[512];
	FILE *f;

	snprintf(name, sizeof(name), "%s/pages%d.ws", folder, i);
	f = fopen(name, "wb");
	return !f || fwrite(s->p, 1, s->n, f) != s->n || fclose(f);
}

int
main(int argc, char **argv)
{
	struct sink s = { NULL, 0, 0 };
	int bad;

	(void)rnd_rec;                  /* random records are not wanted here */
	(void)same_rec;
	(void)take_mem;
	make();
	if (!write_file(&s, NRUNS, NULL, 30))
		return 1;
	if (argc > 2 && !strcmp(argv[1], "seeds")) {
		bad = seed(argv[2], &s, 0);
		free(s.p);
		return bad;
	}
	CHECK("each page is written once, and comes back", counted(&s, 36, 0) && whole(&s, NRUNS));
	CHECK("cut off at every byte", truncations(&s, NRUNS));
	CHECK("flipped bits", flips(&s, NRUNS));
	CHECK("heads of blocks that no writer makes", wrong_heads());
	CHECK("pages that are not there", wrong_pages(36, 1) && wrong_pages(UINT64_MAX / 2 - 1, 1) && wrong_pages(35, 2));
	CHECK("pages of two blocks", wrong_pages(10, 20));
	CHECK("in a store", stored("pages.store"));
	CHECK("hashes", hashes());
	free(s.p);
	return check_end();
}
