/*
 * Captures: converts displacements of x86-64 code to absolute addresses, so that calls of one
 * function and uses of one variable look alike wherever they are.
 *
 * The bytes before a displacement, counted from here, are never part of another one. So the inverse
 * makes the same decisions, although it sees later displacements in their converted form. That is
 * why e8, e9 and 0f 8x are excluded below.
 */
#include "base/bytes.h"
#include "format/ws/ws_internal.h"

#define RANGE (1u << 25)        /* displacements from -2^24 to 2^24 - 1 are converted, modulo this range */

/* Is it an opcode whose operand is often relative to rip? */
static int
ws_x86_common(uint8_t op)
{
	return op == 0x80 || op == 0x83 || op == 0x89 || op == 0x8b || op == 0x8d || op == 0xff;
}

/* How many of the n bytes at p precede a 32-bit displacement; 0: none follows. */
static size_t
ws_x86_opcode(const uint8_t *p, size_t n)
{
	size_t rex = (p[0] & 0xf0) == 0x40;

	if ((p[0] & 0xfe) == 0xe8)
		return 1;
	if (n < rex + 3)
		return 0;
	if (p[0] == 0x0f && (p[1] & 0xf0) == 0x80)
		return 2;
	p += rex;
	if (p[0] == 0x0f)
		return (p[2] & 0xc7) == 5 && (p[1] & 0xf0) != 0x80 && (p[1] & 0xfe) != 0xe8 ? rex + 3 : 0;
	return (p[1] & 0xc7) == 5 && (p[0] & 0xfe) != 0xe8 && (rex || ws_x86_common(p[0])) ? rex + 2 : 0;
}

static uint32_t
in_range(uint32_t v)
{
	return v + RANGE / 2 < RANGE;
}

static uint32_t
ws_x86_wrap(uint32_t v)
{
	return ((v + RANGE / 2) & (RANGE - 1)) - RANGE / 2;
}

static void
ws_x86_convert(uint8_t *p, size_t n, uint64_t addr, int back)
{
	size_t i = 0;

	while (i + 5 <= n) {
		size_t k = ws_x86_opcode(p + i, n - i);
		uint32_t v, next;

		if (!k || i + k + 4 > n) {
			i++;
			continue;
		}
		i += k;
		next = (uint32_t)addr + (uint32_t)i + 4;
		v = back ? get_be32(p + i) : get_le32(p + i);
		if (in_range(v))
			v = ws_x86_wrap(back ? v - next : v + next);
		if (back)
			put_le32(p + i, v);
		else
			put_be32(p + i, v);
		i += 4;
	}
}

void
ws_x86_absolute(uint8_t *p, size_t n, uint64_t addr)
{
	ws_x86_convert(p, n, addr, 0);
}

void
ws_x86_relative(uint8_t *p, size_t n, uint64_t addr)
{
	ws_x86_convert(p, n, addr, 1);
}
