/* Strict conversion of numbers. See num.h. */
#include "base/num.h"

#include <string.h>

static int
num_hexdigit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

size_t
num_hex(const char *s, size_t n, uint64_t *v)
{
	uint64_t x = 0;
	size_t i;
	int d;

	for (i = 0; i < n && (d = num_hexdigit(s[i])) >= 0; i++) {
		if (i == 16)
			return 0;
		x = x << 4 | (uint64_t)d;
	}
	if (i)
		*v = x;
	return i;
}

size_t
num_dec(const char *s, size_t n, uint64_t *v)
{
	uint64_t x = 0;
	size_t i;

	for (i = 0; i < n && s[i] >= '0' && s[i] <= '9'; i++) {
		unsigned d = (unsigned)(s[i] - '0');

		if (x > (UINT64_MAX - d) / 10)
			return 0;
		x = x * 10 + d;
	}
	if (i)
		*v = x;
	return i;
}

static size_t
num_parse(const char *s, size_t n, uint64_t *v)
{
	size_t k;

	if (n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		k = num_hex(s + 2, n - 2, v);
		return k ? k + 2 : 0;
	}
	return num_dec(s, n, v);
}

int
num_u64(const char *s, uint64_t min, uint64_t max, uint64_t *v)
{
	size_t n = strlen(s);
	uint64_t x;

	if (!n || num_parse(s, n, &x) != n || x < min || x > max)
		return -1;
	*v = x;
	return 0;
}

int
num_size(const char *s, uint64_t min, uint64_t max, uint64_t *v)
{
	size_t n = strlen(s), k;
	unsigned shift = 0;
	uint64_t x;

	k = n ? num_parse(s, n, &x) : 0;
	if (!k)
		return -1;
	if (k + 1 == n) {
		if (s[k] == 'k' || s[k] == 'K')
			shift = 10;
		else if (s[k] == 'M')
			shift = 20;
		else if (s[k] == 'G')
			shift = 30;
		else
			return -1;
	} else if (k != n) {
		return -1;
	}
	if (x > UINT64_MAX >> shift)
		return -1;
	x <<= shift;
	if (x < min || x > max)
		return -1;
	*v = x;
	return 0;
}

int
num_range(const char *s, uint64_t max, uint64_t *from, uint64_t *to)
{
	const char *colon = strchr(s, ':');
	char first[32];

	if (!colon || (size_t)(colon - s) >= sizeof first)
		return -1;
	memcpy(first, s, (size_t)(colon - s));
	first[colon - s] = '\0';
	if (first[0] && num_u64(first, 0, max - 1, from) != 0)
		return -1;
	if (colon[1] && num_u64(colon + 1, 0, max - 1, to) != 0)
		return -1;
	return *from <= *to ? 0 : -1;
}
