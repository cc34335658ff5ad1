/* Words with check sums: writing, and reading them back. */
#include <string.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/words.h"

/* Any change of one word changes the sum. */
static uint64_t
words_sum(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 29;
}

void
words_put(struct words *w, uint64_t word)
{
	uint8_t b[8];

	w->sum = words_sum(w->sum, word);
	put_le64(b, word);
	out_write(w->out, b, sizeof b);
}

void
words_put_sum(struct words *w)
{
	words_put(w, w->sum);
}

_Noreturn void
words_bad(const struct words *w, uint64_t back, const char *why)
{
	die_at(in_name(w->in), in_off(w->in) - back, DIAG_NOREC, "%s", why);
}

uint64_t
words_get(struct words *w)
{
	uint8_t b[8];
	size_t n = in_read(w->in, b, sizeof b);
	uint64_t word;

	if (n < sizeof b && in_error(w->in))
		words_bad(w, 0, in_error(w->in));
	if (n < sizeof b)
		die_at(in_name(w->in), in_off(w->in), DIAG_NOREC, "truncated %s", w->what);
	word = get_le64(b);
	w->sum = words_sum(w->sum, word);
	return word;
}

void
words_put_text(struct words *w, const char *s)
{
	size_t len = strlen(s);

	len = len < WORDS_TEXT ? len : WORDS_TEXT;
	words_put(w, len);
	for (size_t k = 0; k < len; k += 8) {
		uint64_t word = 0;

		for (size_t b = 0; b < 8 && k + b < len; b++)
			word |= (uint64_t)(unsigned char)s[k + b] << 8 * b;
		words_put(w, word);
	}
}

void
words_get_text(struct words *w, char *s)
{
	uint64_t len = words_get(w);

	if (len > WORDS_TEXT)
		words_bad(w, 8, "no such name");
	for (size_t k = 0; k < len; k += 8) {
		uint64_t word = words_get(w);

		for (size_t b = 0; b < 8 && k + b < len; b++)
			s[k + b] = (char)(word >> 8 * b & 255);
	}
	s[len] = '\0';
}

void
words_check(struct words *w)
{
	uint64_t want = w->sum;

	if (words_get(w) != want)
		words_bad(w, in_off(w->in) - w->begin, "damaged: the check sum of what follows differs");
	w->begin = in_off(w->in);
}

void
words_end(struct words *w)
{
	uint8_t more;

	if (in_read(w->in, &more, 1) != 0)
		words_bad(w, 1, "something follows the end");
	if (in_error(w->in))
		words_bad(w, 0, in_error(w->in));
}
