/* Logs of lackey: all words are good ones; the log made of them has the same words. */
#include "base/buf.h"
#include "base/in.h"
#include "format/lackey/lackey.h"
#include "format/ref/ref.h"
#include "fuzz.h"

static int
words(const uint8_t *p, size_t n, size_t most, struct buf *out)
{
	struct in *in = in_mem(p, n, "memory");
	struct lackey l;
	uint64_t w[64];
	long k;

	lackey_open(&l, in);
	while ((k = lackey_read(&l, w, LACKEY_MIN + fuzz_piece(p, n, l.nrec, most))) > 0) {
		for (long i = 0; i < k; i++)
			if (!ref_valid(w[i]) || ref_kind(w[i]) >= REF_ENTER)
				abort();
		buf_add(out, (const uint8_t *)w, (size_t)k * sizeof *w);
	}
	in_close(in);
	return k < 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct buf a = BUF_INIT, b = BUF_INIT;

	if (words(data, n, 48, &a) != words(data, n, 1, &b) || a.n != b.n ||
	    (a.n && memcmp(a.p, b.p, a.n) != 0))
		abort();
	buf_free(&a);
	buf_free(&b);
	return 0;
}
