/*
 * Before and after main: constructors and destructors with priorities in two files, atexit from a constructor, an
 * indirect function, weak and undefined symbols.
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

extern int order[20], norder;                   /* start.2.c */
extern long either(long);
extern long chosen(long);                       /* start.plain.c: fast or slow */
__attribute__((weak)) extern long nowhere(long);

static unsigned long sum;

static void mix(unsigned long v) { sum = sum * 31 + v; }

static void bye(void) { printf("bye %d\n", norder); }
static void note(int k) { order[norder++] = k; }

__attribute__((constructor(300))) static void third(void) { note(3); }
__attribute__((constructor(101))) static void first(void) { note(1); atexit(bye); }
__attribute__((constructor)) static void last(void) { note(9); mix(nowhere ? 1 : 2); }
__attribute__((destructor)) static void done(void) { printf("done %d\n", norder); }
__attribute__((destructor(102))) static void very_last(void) { note(99); printf("last %d\n", norder); }

extern long fast(long), slow(long);

long fast(long x) { return x * 2; }
long slow(long x) { return x + x; }

__attribute__((weak)) NOINLINE long either(long x) { return x - 1; }    /* start.2.c has the strong one */

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	static long (*const table[])(long) = { either, chosen, fast };

	for (int i = 0; i < norder; i++)
		mix(order[i]);
	for (int i = 0; i < n; i++) {
		mix(either(i) + chosen(i));
		mix(table[i % 3](i));
	}
	printf("%016lx %d\n", sum, norder);
	return 0;
}
