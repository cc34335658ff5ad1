/* Writer of wettext(5): one function for each kind of line. */
#include <string.h>

#include "base/digits.h"
#include "format/wettext/wettext.h"

static size_t
wettext_str(uint8_t *p, const char *s)
{
	size_t n = strlen(s);

	memcpy(p, s, n);
	return n;
}

static size_t
wettext_put_keyed(uint8_t *p, const char *word, uint64_t n)
{
	size_t k = wettext_str(p, word);

	k += digits_dec(p + k, n);
	p[k++] = '\n';
	return k;
}

uint8_t *
wettext_room(struct buf *b)
{
	static uint8_t lost[WETTEXT_PUT];
	uint8_t *p = buf_reserve(b, WETTEXT_PUT);

	return p ? p : lost;
}

size_t
wettext_put_count(uint8_t *p, uint64_t n)
{
	return wettext_put_keyed(p, "", n);
}

size_t
wettext_put_size(uint8_t *p, uint64_t n)
{
	return wettext_put_keyed(p, "SIZE ", n);
}

size_t
wettext_put_values(uint8_t *p, uint64_t n)
{
	return wettext_put_keyed(p, "VALUES ", n);
}

size_t
wettext_put_novalues(uint8_t *p)
{
	return wettext_str(p, "NO VALUES\n");
}

size_t
wettext_put_order(uint8_t *p, uint64_t m)
{
	return wettext_put_keyed(p, "ORDER ", m);
}

size_t
wettext_put_step(uint8_t *p, uint64_t id, uint64_t count)
{
	size_t k = digits_dec(p, id);

	p[k++] = ' ';
	k += digits_dec(p + k, count);
	p[k++] = '\n';
	return k;
}

size_t
wettext_put_dep(uint8_t *p, uint64_t x, uint64_t id, uint64_t instance)
{
	size_t k = 4;

	memset(p, ' ', 4);
	k += digits_dec(p + k, x);
	p[k++] = ':';
	return k + wettext_put_step(p + k, id, instance);
}

size_t
wettext_put_value(uint8_t *p, uint64_t x, const uint64_t *word, unsigned nword)
{
	size_t k = 4;

	while (nword > 1 && !word[nword - 1])
		nword--;
	memset(p, ' ', 4);
	k += digits_dec(p + k, x);
	p[k++] = ':';
	k += digits_hex(p + k, word[nword - 1], 1);
	while (nword-- > 1)
		k += digits_hex(p + k, word[nword - 1], 16);
	p[k++] = '\n';
	return k;
}

size_t
wettext_put_name(uint8_t *p, size_t n, const char *name)
{
	size_t k = 0;

	for (; name && *name && k + 4 <= n; name++) {
		unsigned c = (unsigned char)*name;

		if (c > ' ' && c != 127 && c != '\\') {
			p[k++] = (uint8_t)c;
			continue;
		}
		p[k++] = '\\';
		p[k++] = (uint8_t)('0' + (c >> 6));
		p[k++] = (uint8_t)('0' + (c >> 3 & 7));
		p[k++] = (uint8_t)('0' + (c & 7));
	}
	if (k == 0)
		p[k++] = '?';
	return k;
}
