/*
 * Delay slots by hand: loads whose value is an address behind the branch, arguments set in the slot of a call, slots
 * that change what the branch just compared or jumped through, stores, the stack pointer, a slot that is a target itself.
 * targets: mipsel mips
 */
#include <stdio.h>
#include <stdlib.h>

static unsigned long sum;
unsigned cells[64];
unsigned *ptrs[16];

static void mix(unsigned long v) { sum = sum * 31 + v; }

extern unsigned follow(unsigned **pp, int n);
extern unsigned compared(unsigned *p, int x);
extern unsigned caller(unsigned *p, int x);
extern unsigned through(unsigned *p, int x);
extern unsigned table(unsigned *p, unsigned k);
extern unsigned shared(unsigned *p, int x);
extern unsigned at(unsigned *p, int x);
extern unsigned frames(unsigned *p, int x);

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 20;
	static unsigned *list[40];

	for (int i = 0; i < 40; i++)
		list[i] = i < 16 ? cells + i * 2 : (unsigned *)(void *)list;
	for (int i = 0; i < n; i++) {
		cells[i & 63] = (unsigned)i * 0x0107u;
		mix(follow(list, i % 8 + 1));
		mix(compared(cells, i % 9 - 3));
		mix(caller(cells, i));
		mix(through(cells, i));
		mix(table(cells + i % 8, (unsigned)i * 3));
		mix(shared(cells, i % 3 - 1));
		mix(at(cells, i % 4 ? i * 0x107 / 2 : 0x107 * 3));
		mix(frames(cells, i % 6));
	}
	printf("%08lx\n", sum);
	return 0;
}
