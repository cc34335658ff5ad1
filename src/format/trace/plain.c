/*
 * Lines as trace_put writes them, which are most of those that are read: the name of the kind, a separator,
 * the address as 0x and up to 16 digits, the letters small, the separator, the size, and a newline. 8 bytes
 * are looked at at once. Any other line is left to the parsers of line.c.
 */
#include "base/bytes.h"
#include "base/digits.h"
#include "format/ref/ref.h"
#include "format/trace/trace_internal.h"

#define ROOM 64u                /* more bytes than such a line has */
#define ONES UINT64_C(0x0101010101010101)

/* The number that a line is which begins with these bytes, the first one lowest */
#define WORD4(a, b, c, d) ((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24)

/* The kind that the line begins with, and how long its name is; -1. */
static inline int
plain_kind(uint64_t x, unsigned *n)
{
	uint32_t first = (uint32_t)x;

	*n = 4;
	if (first == WORD4('l', 'o', 'a', 'd'))
		return REF_LOAD;
	if (first == WORD4('i', 'n', 's', 't'))
		return REF_INST;
	if (first == WORD4('s', 't', 'o', 'r') && (x >> 32 & 0xff) == 'e') {
		*n = 5;
		return REF_STORE;
	}
	if (first == WORD4('m', 'o', 'd', 'i') && (x >> 32 & 0xffff) == ('f' | 'y' << 8)) {
		*n = 6;
		return REF_MODIFY;
	}
	return -1;
}

/* In which of the 8 bytes the separator is first; 8: in none. */
static inline unsigned
plain_find(uint64_t x, uint8_t separator)
{
	uint64_t y = x ^ ONES * separator;

	y = (y - ONES) & ~y & ONES * 0x80;
	return y ? (unsigned)__builtin_ctzll(y) / 8 : 8;
}

/* The number of which the n hexadecimal digits, 1 to 8, are in x; -1: there is something else among them. */
static inline int64_t
plain_hex(uint64_t x, unsigned n)
{
	uint64_t zeros = n < 8 ? ONES * '0' >> 8 * n : 0, v;

	/* zeros before them, so that there are 8 */
	x = (n < 8 ? x << (64 - 8 * n) : x) | zeros;
	v = __builtin_bswap64((x & ONES * 15) + (x >> 6 & ONES) * 9);
	v = (v | v >> 4) & UINT64_C(0x00ff00ff00ff00ff);
	v = (v | v >> 8) & UINT64_C(0x0000ffff0000ffff);
	v = (v | v >> 16) & UINT32_MAX;
	return digits_hex8((uint32_t)v) == x ? (int64_t)v : -1;
}

/* The address at p, which ends with the separator: its end, or NULL. */
static inline const uint8_t *
plain_address(const uint8_t *p, uint8_t separator, uint64_t *addr)
{
	uint64_t x = get_le64(p), y;
	unsigned n = plain_find(x, separator), m;
	int64_t high, low;

	if (n == 0)
		return NULL;
	high = plain_hex(x, n);
	if (high < 0)
		return NULL;
	if (n < 8) {
		*addr = (uint64_t)high;
		return p + n;
	}
	y = get_le64(p + 8);
	m = plain_find(y, separator);
	low = m ? plain_hex(y, m) : 0;
	if (low < 0 || (m == 8 && p[16] != separator))
		return NULL;
	*addr = (m < 8 ? (uint64_t)high << 4 * m : (uint64_t)high << 32) | (uint64_t)low;
	return p + 8 + m;
}

/* The size at p, which ends with the line: its end, or NULL. */
static inline const uint8_t *
plain_size(const uint8_t *p, unsigned *size)
{
	unsigned v = 0, n;

	for (n = 0; n < 3 && p[n] >= '0' && p[n] <= '9'; n++)
		v = v * 10 + (unsigned)(p[n] - '0');
	*size = v;
	return v && v <= REF_SIZEMAX && p[n] == '\n' ? p + n + 1 : NULL;
}

size_t
trace_plain(const uint8_t **at, const uint8_t *end, uint8_t separator, uint64_t *w, size_t max)
{
	const uint8_t *p = *at, *q;
	size_t i;

	for (i = 0; i < max && end - p >= (ptrdiff_t)ROOM; i++, p = q) {
		unsigned n, size;
		int kind = plain_kind(get_le64(p), &n);
		uint64_t addr;

		if (kind < 0 || p[n] != separator || p[n + 1] != '0' || p[n + 2] != 'x')
			break;
		q = plain_address(p + n + 3, separator, &addr);
		if (!q || addr + (UINT64_C(1) << 47) >= UINT64_C(1) << 48 || !(q = plain_size(q + 1, &size)))
			break;
		w[i] = ref_make((unsigned)kind, addr, size);
	}
	*at = p;
	return i;
}
