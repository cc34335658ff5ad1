/*
 * .wet files for a fuzzer, and broken ones for tests.
 *
 * libFuzzer: the input is a file whose checksums are made right before it is
 * read; changes are to one section, whose length is made right.  First inputs
 * are best made by wetz -0, whose columns are not coded; COL_MAX is small there.
 * wetfuzz FILE ...                  reads files as a fuzzer's inputs (AFL: wetfuzz @@)
 * wetfuzz cut FILE STEP             every STEP-th prefix: a fault each, and text that is the beginning of
 * the whole's wetfuzz flip FILE STEP            every STEP-th byte with a bit changed: a fault each
 * wetfuzz deep FILE STEP            the same, with checksums that are right: a fault or not, nothing else
 */
#include <sys/mman.h>
#include <unistd.h>

#define FUZZ_OWN_MAIN
#include "../fuzz/fuzz.h"
#include "sim/predictor.h"
#include "wet/file/paper/paper.h"
#include "wet/file/file.h"
#include "wet/file/full/code.h"
#include "wet/print/print.h"
#include "wetmend.h"

static int
keep(void *arg, const void *p, size_t n)
{
	buf_add(arg, p, n);
	return ((struct buf *)arg)->n > 64u << 20;
}

static int
replay(const struct wetfile *w, struct buf *text, struct fault *f)
{
	struct store_code c;
	int e = store_replay_code(w, &c, f) != 0 || store_replay_capture(w, keep, text, f) != 0;

	for (size_t k = 0; !e && k < store_replay_segments(w); k++) {
		struct store_state s;

		e = store_replay_state(w, &c, k, &s, f) != 0;
		if (!e)
			store_state_free(&s);
	}
	store_code_free(&c);
	if (!e && !w->whole)
		*f = w->fault;
	return e || !w->whole;
}

/* A file of kind full as one of kind paper: whatever comes out of it */
static void
paper(const struct wetfile *w)
{
	struct store_opts o = { .level = 1, .segment = 1 << 20 };
	struct paper_stats stats;
	struct fault wf;
	struct fault f;
	struct buf b = BUF_INIT;
	struct wetfile_writer *to = wetfile_create(keep, &b, WETFILE_PAPER, &wf);

	if (to)
		store_paper(w, to, &o, &stats, &f);
	wetfile_free(to);
	buf_free(&b);
}

/* What a file holds: 0, or -1 and a fault */
static int
read_all(const uint8_t *p, size_t n, struct buf *text, struct fault *f)
{
	int fd = memfd_create("wet", 0), e;
	struct wetfile w;

	f->err[0] = 0;
	text->n = 0;
	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		exit(2);
	e = wetfile_open(&w, fd, f);
	if (!e) {
		struct arch_labels l;

		if (arch_read(&w, &l, f) != 0)
			e = -1;
		arch_labels_free(&l);
		if (w.kind == WETFILE_FULL)
			paper(&w);
		e |= w.kind == WETFILE_REPLAY ? replay(&w, text, f) : w.kind == WETFILE_TEXT ?
		    store_print_text(&w, keep, text, f) :
		    w.kind == WETFILE_PAPER ? paper_print(&w, 1 << 20, keep, text, f) :
		    store_print(&w, 1 << 20, keep, text, f);
		wetfile_close(&w);
	}
	close(fd);
	return e;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint8_t *p = malloc(n + 1);
	struct buf text = BUF_INIT;
	struct fault f;

	memcpy(p, data, n);
	mend(p, n);
	read_all(p, n, &text, &f);
	buf_free(&text);
	free(p);
	return 0;
}

#ifdef LIBFUZZER
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed);

/* One of the file's sections is changed, or taken away, or all is as other bytes are */
size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed)
{
	size_t at[64], len[64], k = 0, off = WETFILE_HEADER, more;

	for (; k < 64 && n >= off + WETFILE_SECTION; k++) {
		at[k] = off + WETFILE_SECTION;
		len[k] = get_le64(data + off + 8);
		if (len[k] > n - at[k])
			break;
		off = at[k] + len[k];
	}
	if (!k || seed % 16 == 0 || n > max)
		return LLVMFuzzerMutate(data, n, max);
	seed = seed / 16 % 65536;
	k = seed % k;
	if (max == n && !len[k])
		return LLVMFuzzerMutate(data, n, max);
	more = n - at[k] - len[k];
	if (seed % 61 == 0) {
		memmove(data + at[k] - WETFILE_SECTION, data + at[k] + len[k], more);
		return n - len[k] - WETFILE_SECTION;
	} else {
		uint8_t *rest = malloc(more + 1);
		size_t now;

		memcpy(rest, data + at[k] + len[k], more);
		now = LLVMFuzzerMutate(data + at[k], len[k], max - n + len[k]);
		memcpy(data + at[k] + now, rest, more);
		put_le64(data + at[k] - WETFILE_SECTION + 8, now);
		free(rest);
		return at[k] + now + more;
	}
}
#else
static uint8_t *
slurp(const char *name, size_t *n)
{
	FILE *f = fopen(name, "rb");
	uint8_t *p = malloc(1 << 20);

	*n = f ? fread(p, 1, 1 << 20, f) : 0;
	if (f)
		fclose(f);
	return p;
}

static size_t
cut(const uint8_t *p, size_t n, size_t step, const struct buf *whole, int text)
{
	struct buf t = BUF_INIT;
	struct fault f;
	size_t bad = 0;

	for (size_t i = 0; i < n; i += step)
		if (read_all(p, i, &t, &f) == 0 || !f.err[0] ||
		    (text && t.n && (t.n > whole->n || memcmp(t.p, whole->p, t.n) != 0))) {
			printf("cut at %zu: %s\n", i, f.err);
			bad++;
		}
	buf_free(&t);
	return bad;
}

static size_t
flip(uint8_t *p, size_t n, size_t step, int deep)
{
	struct buf t = BUF_INIT;
	struct fault f;
	uint8_t *q = malloc(n);
	size_t bad = 0;

	for (size_t i = 0; i < n; i += step) {
		memcpy(q, p, n);
		q[i] ^= (uint8_t)(1u << (i * 7 + i / 8) % 8);
		if (deep)
			mend(q, n);
		if ((read_all(q, n, &t, &f) == 0 && !deep) ||
		    (deep && f.err[0] && !memchr(f.err, 0, sizeof f.err))) {
			printf("byte %zu changed: not noticed\n", i);
			bad++;
		}
	}
	buf_free(&t);
	free(q);
	return bad;
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int broken = strcmp(how, "cut") == 0 || strcmp(how, "flip") == 0 || strcmp(how, "deep") == 0;
	size_t n, step = argc > 3 ? (size_t)atoi(argv[3]) : 1, bad;
	struct buf whole = BUF_INIT;
	struct fault f;
	uint8_t *p;

	if (!broken)
		return fuzz_files(argc, argv);
	p = argc > 2 ? slurp(argv[2], &n) : NULL;
	if (!p || step == 0 || read_all(p, n, &whole, &f) != 0) {
		printf("no good file: %s\n", p ? f.err : "");
		return 2;
	}
	bad = *how == 'c' ? cut(p, n, step, &whole, p[10] == WETFILE_TEXT) : flip(p, n, step, *how == 'd');
	printf("%zu bytes, %zu bad\n", n, bad);
	buf_free(&whole);
	free(p);
	return bad != 0;
}
#endif
