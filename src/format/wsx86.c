/*
 * Captures: branch targets of x86 code as absolute addresses, so that calls of
 * one function look alike wherever they are.
 *
 * A displacement of 32 bits behind e8, e9 or 0f 80 ... 0f 8f that is between
 * -2^24 and 2^24 - 1 is added to the address behind it, modulo 2^25, which
 * gives a number of the same range: so the way back sees the same ones.  The
 * opcode stays, and what follows it is skipped, converted or not.
 */
#include "base/bytes.h"
#include "wspriv.h"

#define RANGE (1u << 25)

static void
convert(uint8_t *p, size_t n, uint64_t addr, int back)
{
	size_t i = 0;

	while (i + 5 <= n) {
		size_t op = p[i] == 0x0f && (p[i + 1] & 0xf0) == 0x80 ? 2 : 1;
		uint32_t v, next;

		if ((op == 1 && (p[i] & 0xfe) != 0xe8) || i + op + 4 > n) {
			i++;
			continue;
		}
		i += op;
		v = get_le32(p + i) + RANGE / 2;
		next = (uint32_t)addr + (uint32_t)i + 4;
		if (v < RANGE)
			put_le32(p + i, ((back ? v - next : v + next) & (RANGE - 1)) - RANGE / 2);
		i += 4;
	}
}

void
ws_x86_absolute(uint8_t *p, size_t n, uint64_t addr)
{
	convert(p, n, addr, 0);
}

void
ws_x86_relative(uint8_t *p, size_t n, uint64_t addr)
{
	convert(p, n, addr, 1);
}
