/*
 * wsfault capture what [number [bits]]: the verifier with a replay that goes wrong,
 * to see that it is noticed.  what: none; address, size, kind, drop, double of
 * the reference of that number; register of the replay in blocks, behind it;
 * memory, these bits (the lowest) of that byte in the first replay, where it begins.
 * Says `instruction N: what` or `no difference`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/verify/verify.h"
#include "format/ref/ref.h"

struct wrong {
	const char *what;
	uint64_t number;
	uint8_t bits;
	uint64_t seen;          /* words before the batch */
	int done;
};

static int
is(const struct wrong *f, const char *what)
{
	return !strcmp(f->what, what);
}

static void
word(const struct wrong *f, struct verify_batch *b, size_t i)
{
	uint64_t *w = b->w + i, x = *w;

	if (is(f, "address")) {
		*w = ref_make(ref_kind(x), ref_addr(x) ^ 1, ref_size(x));
	} else if (is(f, "size")) {
		*w = ref_make(ref_kind(x), ref_addr(x), ref_size(x) + 1);
	} else if (is(f, "kind")) {
		*w = ref_make((ref_kind(x) + 1) & 3, ref_addr(x), ref_size(x));
	} else if (is(f, "drop")) {
		memmove(w, w + 1, (b->n - i - 1) * sizeof(*w));
		b->n--;
	} else if (is(f, "double") && i + 1 < b->n) {
		w[1] = x;
	}
}

static void
on_batch(void *arg, struct verify_batch *b, struct replay *r)
{
	struct wrong *f = arg;
	uint8_t *p = is(f, "memory") ? replay_memory(r, f->number) : NULL;

	if (p && !f->done)
		*p ^= f->bits;
	if (is(f, "register") && !f->done)
		b->regs.r[f->number & 15] ^= 1;
	f->done |= p || is(f, "register");
	if (!p && !f->done && f->number >= f->seen && f->number < f->seen + b->n) {
		word(f, b, (size_t)(f->number - f->seen));
		f->done = 1;
	}
	f->seen += b->n;
}

int
main(int argc, char **argv)
{
	struct wrong fault = {.what = argc > 2 ? argv[2] : "none", .number = argc > 3 ?
	    strtoull(argv[3], NULL, 0) : 0,
		.bits = argc > 4 ? (uint8_t)strtoul(argv[4], NULL, 0) : 1};
	struct verify_opts o = {.vectors = 1, .batch = on_batch, .arg = &fault};
	struct fault f;
	struct verify *v;
	uint64_t at;

	if (argc < 3)
		return 2;
	v = verify_open(argv[1], &o, &f);
	if (!v) {
		printf("%s\n", f.err);
		return 2;
	}
	switch (verify_window(v, 0, WS_UNKNOWN, &at)) {
	case VERIFY_OK:
		printf("no difference in %llu\n", (unsigned long long)verify_counts(v)->ninst);
		break;
	case VERIFY_DIFFERS:
		printf("instruction %llu: %s\n", (unsigned long long)verify_diff(v)->icount,
		    verify_diff(v)->what);
		break;
	default:
		printf("%s\n", verify_err(v));
	}
	verify_close(v);
	return 0;
}
