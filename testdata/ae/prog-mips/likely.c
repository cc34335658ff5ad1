/*
 * Branch-likely instructions: the slot is executed only if the branch is taken.  Loads, stores and address arithmetic
 * in the slots, both ways, all kinds of condition; loops that turn on them.
 * targets: mipsel mips
 */
#include <stdio.h>
#include <stdlib.h>

static unsigned long sum;
unsigned cells[64];
struct node { struct node *next; int v; };
static struct node nodes[16];

static void mix(unsigned long v) { sum = sum * 31 + v; }

extern unsigned kinds(unsigned *p, int x, int y);
extern unsigned turns(unsigned *p, int n);
extern unsigned list(struct node *p);
extern unsigned floats(float a, float b, unsigned *p);
extern unsigned links(unsigned *p, int x);

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 20;

	for (int i = 0; i < 16; i++) {
		nodes[i].v = i * 3;
		nodes[i].next = i % 5 == 4 ? NULL : &nodes[(i + 1) % 16];
	}
	for (int i = 0; i < n; i++) {
		cells[i & 63] = (unsigned)i * 0x01030507u;
		mix(kinds(cells + (i & 7), i % 7 - 3, i % 3 - 1));
		mix(turns(cells, 1 + i % 9));
		mix(list(i % 6 == 5 ? NULL : &nodes[i & 15]));
		mix(floats(i * 0.5f, 4, cells + 3));
		mix(links(cells + (i & 3), i % 5 - 2));
	}
	printf("%08lx\n", sum);
	return 0;
}
