/*
 * bifcm -r auto: the layout of the records is guessed, and each guess is tried on the beginning of the
 * input; the one that makes it smallest is kept.
 */
#include <string.h>

#include "base/diag.h"
#include "compress/bifcm/bifcm.h"
#include "format/ref/ref.h"

#define LEVEL   6               /* of trials, at most */
#define TRIED   (64u << 10)     /* bytes, at most */
#define BETTER  0.995           /* a guess makes this of values of 8 bytes, at most; or those are taken */

static int
guess_count(void *arg, const void *p, size_t n)
{
	(void)p;
	*(size_t *)arg += n;
	return 0;
}

/* Bytes that n bytes at p become by that guess. */
static size_t
guess_size(const struct vs_options *o, const struct vs_guess *g, const uint8_t *p, size_t n)
{
	struct vs_options trial = { .layout = g->layout, .level = o->level < LEVEL ? o->level : LEVEL,
	    .method = o->method, .threads = 1 };
	size_t size = g->head;
	struct vs_writer *w;
	struct fault f;

	bifcm_sizes(&trial);
	w = vs_create(guess_count, &size, &trial, &f);
	if (!w || vs_write(w, p + g->head, n - g->head) != 0 || vs_finish(w) != 0)
		die("%s", w ? vs_write_fault(w)->err : f.err);
	vs_free(w);
	return size;
}

/* The best of k guesses; with the keys that it has, with none, and with those that -r gives to fields. */
static struct vs_guess
guess_best(const struct vs_options *o, const struct vs_guess *guess, unsigned k, const uint8_t *p, size_t n)
{
	struct vs_guess best = guess[0], keyed;
	size_t least = guess_size(o, &best, p, n), size;

	for (unsigned i = 1; i < k; i++) {
		size = guess_size(o, &guess[i], p, n);
		if ((double)size < (best.layout.nfield > 1 ? 1 : BETTER) * (double)least) {
			least = size;
			best = guess[i];
		}
	}
	keyed = best;
	for (uint8_t key = 0; best.layout.nfield > 1 && key < 2; key++) {
		memset(keyed.layout.key + 1, key, best.layout.nfield - 1);
		size = guess_size(o, &keyed, p, n);
		if (size < least) {
			least = size;
			best = keyed;
		}
	}
	return best;
}

void
guess_options(const struct args *a, struct vs_options *o, const uint8_t *p, size_t n, size_t *more)
{
	struct vs_guess guess[VS_GUESSES];
	unsigned k;

	*more = 0;
	if (!a->headed && n >= REF_HEADER && ref_is_stream(p, REF_HEADER)) {
		o->layout = (struct vs_layout){ .ref = 1, .nfield = 1, .width = { 8 } };
		*more = REF_HEADER;
	} else {
		k = vs_layout_guess(guess, p, n, a->headed ? 0 : n);
		if (!k)
			die("out of memory");
		if (k > 1)
			guess[0] = guess_best(o, guess, k, p, n < TRIED ? n : TRIED);
		o->layout = guess[0].layout;
		*more = guess[0].head;
	}
	if (!a->sizes)
		bifcm_sizes(o);
}
