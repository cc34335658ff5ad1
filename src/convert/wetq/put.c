/* wetq: numbers and places as text. */
#include "format/wettext.h"
#include "wetq.h"

size_t
put_dec(uint8_t *p, uint64_t v)
{
	uint8_t b[20];
	size_t n = 0;

	do
		b[n++] = (uint8_t)('0' + v % 10);
	while (v /= 10);
	for (size_t i = 0; i < n; i++)
		p[i] = b[n - 1 - i];
	return n;
}

static size_t
digits(uint8_t *p, uint64_t v, unsigned least)
{
	unsigned n = v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;

	if (n < least)
		n = least;
	for (unsigned i = 0; i < n; i++)
		p[i] = (uint8_t)"0123456789abcdef"[v >> 4 * (n - 1 - i) & 15];
	return n;
}

size_t
put_hex(uint8_t *p, uint64_t v)
{
	return digits(p, v, 1);
}

size_t
put_value(uint8_t *p, const uint64_t *word, uint32_t n)
{
	size_t k;

	while (n > 1 && !word[n - 1])
		n--;
	k = digits(p, word[n - 1], 1);
	while (--n)
		k += digits(p + k, word[n - 1], 16);
	return k;
}

void
put_where(struct job *j, uint32_t id)
{
	const char *file, *func;
	uint8_t name[16384];
	size_t n = 0;
	int line;

	query_source(j->q, id, &file, &func, &line);
	name[n++] = ' ';
	n += wettext_put_name(name + n, sizeof name / 2 - 64, file);
	name[n++] = ' ';
	n += wettext_put_name(name + n, sizeof name / 2, func);
	name[n++] = ' ';
	n += put_dec(name + n, (uint64_t)line);
	name[n++] = '\n';
	out_write(j->out, name, n);
}
