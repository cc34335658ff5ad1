/*
 * Assembly as people write it: the assembler expands macros through $1 and fills the delay slots.
 * targets: mipsel mips
 */
#include <stdio.h>
#include <stdlib.h>

static unsigned long sum;
unsigned cells[64] = { 3, 1, 4, 1, 5, 9, 2, 6 };
unsigned char bytes[0x12400];

static void mix(unsigned long v) { sum = sum * 31 + v; }

extern unsigned tour(unsigned *p, unsigned n);
extern unsigned odd(unsigned char *p, unsigned n);
extern unsigned arith(int a, int b, unsigned *p);
extern unsigned far(unsigned n, unsigned *p);
extern unsigned twice(unsigned n);
extern unsigned pairs(double *p, int n);

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 12;
	static double d[20] = { 1.5, -3, 2, 0.25, 7 };

	for (int i = 0; i < (int)sizeof bytes; i++)
		bytes[i] = (unsigned char)(i * 7 + (i >> 8));
	for (int i = 0; i < n; i++) {
		mix(tour(cells + i % 5, (unsigned)n - i));
		mix(odd(bytes + i, (unsigned)i % 9));
		mix(arith(i * 77 - 300, i * 5 - 31, cells));
		mix(far(1 + (unsigned)i % 6, cells));
		mix(twice((unsigned)i % 4 + 1));
		mix(pairs(d, 1 + i % 8));
	}
	printf("%08lx\n", sum);
	return 0;
}
