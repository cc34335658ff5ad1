/*
 * Addresses of data: macros that are one instruction in position-independent code only, in a delay slot; tables of
 * constants that a load through the GOT finds.
 * targets: mipsel mips
 */
#include <stdio.h>

static int glob_local = 7;
int glob = 5;
static const int tab[] = { 3, 1, 4, 1, 5, 9, 2, 6 };
static int a[10];

__attribute__((noinline)) static int
slot(int i)
{
	int *r;

	__asm__ volatile(".set push\n.set noreorder\n	b	1f\n	la	%0, glob\n1:\n.set pop" : "=r"(r));
	a[tab[i & 7]] += *r + glob_local++;
	return a[tab[(i + 1) & 7]];
}

int
main(void)
{
	int s = 0;

	for (int i = 0; i < 20; i++)
		s += slot(i);
	printf("%d\n", s);
	return 0;
}
