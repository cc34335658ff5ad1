/*
 * Functions too large for a branch: a loop around more code than 128 KiB, once instrumented, and a switch with some
 * thousand cases; calls and branches from one end to the other.
 * targets: mipsel mips
 * levels: -O1 -O2
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static unsigned long sum;
static unsigned cell[512];

static void mix(unsigned long v) { sum = sum * 31 + v; }
NOINLINE static unsigned pick(unsigned x) { return cell[x & 511]; }

#define S1(k) if (x & 1u << ((k) & 15)) { cell[((k) * 7 + x) & 511] += x; x = x * 5 + 1; } else x ^= pick(x + (k));
#define S4(k) S1(k) S1(k + 1) S1(k + 2) S1(k + 3)
#define S16(k) S4(k) S4(k + 4) S4(k + 8) S4(k + 12)
#define S64(k) S16(k) S16(k + 16) S16(k + 32) S16(k + 48)
#define S256(k) S64(k) S64(k + 64) S64(k + 128) S64(k + 192)

NOINLINE static unsigned
loop(unsigned x, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (x % 11 == 3)
			continue;
		S256(0) S256(256) S256(512) S256(768)
		if (x % 7 == 2)
			break;
	}
	return x;
}

#define C1(k) case k: x += k * 3; cell[x & 511]++; break;
#define C4(k) C1(k) C1(k + 1) C1(k + 2) C1(k + 3)
#define C16(k) C4(k) C4(k + 4) C4(k + 8) C4(k + 12)
#define C64(k) C16(k) C16(k + 16) C16(k + 32) C16(k + 48)

NOINLINE static unsigned
cases(unsigned x, unsigned n)
{
	while (n-- > 0) {
		switch (x & 1023) {
		C64(0) C64(64) C64(128) C64(192) C64(256) C64(320) C64(384) C64(448)
		default: x = x * 3 + pick(n); break;
		case 1023: return x;
		}
	}
	return x + 1;
}

int
main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 3;

	mix(loop(12345, n));
	mix(cases(77, n * 50));
	mix(loop(777, n));
	for (int i = 0; i < 512; i++)
		mix(cell[i]);
	printf("%08lx\n", sum);
	return 0;
}
