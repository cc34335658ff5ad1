/*
 * Traces in the formats of other tools: the first byte says which, the rest is a file. All words are good ones, and the
 * same however many are read at a time; of the formats that lose nothing, what is made of the words has them again.
 */
#include "base/buf.h"
#include "base/in.h"
#include "format/ref/ref.h"
#include "format/trace/trace.h"
#include "fuzz.h"

static int
words(enum trace_format f, const uint8_t *p, size_t n, size_t most, struct buf *out)
{
	struct in *in = in_mem(p, n, "memory");
	struct trace_reader r;
	static uint64_t w[TRACE_MARGIN + 512];
	long k = trace_open(&r, in, f, 0);

	while (k == 0 && (k = trace_read(&r, w, TRACE_MARGIN + fuzz_piece(p, n, r.nrec, most))) > 0) {
		for (long i = 0; i < k; i++)
			if (!ref_valid(w[i]))
				abort();
		buf_add(out, (const uint8_t *)w, (size_t)k * sizeof *w);
		k = 0;
	}
	in_close(in);
	return k < 0;
}

/* The words in format f, as a file, and back. */
static void
again(enum trace_format f, const uint64_t *w, size_t n)
{
	struct buf file = BUF_INIT, back = BUF_INIT;
	struct trace_writer t = { .line = 64 };
	uint8_t head[256], *p = malloc(n * trace_info[f].most);

	buf_add(&file, head, trace_put_head(f, head));
	if (f == TRACE_NPY)
		trace_put_npy_header(file.p, n);
	buf_add(&file, p, trace_put(&t, f, p, w, n));
	if (words(f, file.p, file.n, 512, &back) != 0 || back.n != n * sizeof *w || memcmp(back.p, w, back.n) != 0)
		abort();
	buf_free(&file);
	buf_free(&back);
	free(p);
}

/* The fetches, loads and stores in a trace of drmemtrace, and back; w is overwritten. */
static void
drmemtrace(uint64_t *w, size_t n)
{
	struct buf file = BUF_INIT, back = BUF_INIT;
	struct trace_writer t = { .line = 64 };
	uint8_t around[256], *p;
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (ref_kind(w[i]) <= REF_STORE)
			w[m++] = w[i];
	p = malloc(m * trace_info[TRACE_DRMEMREFS].most + 1);
	buf_add(&file, around, trace_put_head(TRACE_DRMEMREFS, around));
	buf_add(&file, p, trace_put(&t, TRACE_DRMEMREFS, p, w, m));
	buf_add(&file, around, trace_put_tail(TRACE_DRMEMREFS, around));
	if (trace_recognize(file.p, file.n) != TRACE_DRMEM || words(TRACE_DRMEM, file.p, file.n, 512, &back) != 0 ||
	    back.n != m * sizeof *w || (m && memcmp(back.p, w, back.n) != 0))
		abort();
	buf_free(&file);
	buf_free(&back);
	free(p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct buf a = BUF_INIT, b = BUF_INIT;
	enum trace_format f;
	uint64_t *w;

	if (!n)
		return 0;
	f = (enum trace_format)(data[0] % TRACE_NFORMATS);
	data++;
	n--;
	if (f == TRACE_ANY)
		f = trace_recognize(data, n < TRACE_PEEK ? n : TRACE_PEEK);
	/* a reference stream and lackey's log have readers, and targets, of their own */
	if (f == TRACE_ANY || f == TRACE_ADDR || f == TRACE_LACKEY || !trace_info[f].reads)
		return 0;
	if (words(f, data, n, 512, &a) != words(f, data, n, 1, &b) || a.n != b.n ||
	    (a.n && memcmp(a.p, b.p, a.n) != 0))
		abort();
	if (a.n) {
		w = malloc(a.n);
		memcpy(w, a.p, a.n);
		again(TRACE_TEXT, w, a.n / sizeof *w);
		again(TRACE_CSV, w, a.n / sizeof *w);
		again(TRACE_NPY, w, a.n / sizeof *w);
		drmemtrace(w, a.n / sizeof *w);
		free(w);
	}
	buf_free(&a);
	buf_free(&b);
	return 0;
}
