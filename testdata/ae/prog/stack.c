/*
 * Frames: alloca, variable-length arrays of one and two dimensions, frames of many pages, aligned locals, the red
 * zone of leaf functions.
 */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static unsigned long sum;

static void mix(unsigned long v) { sum = sum * 31 + v; }

NOINLINE static int
with_alloca(int n)
{
	char *p = alloca(n + 1);
	int *q = alloca(n * sizeof *q), s = 0;

	for (int i = 0; i < n; i++)
		p[i] = 'a' + i % 26, q[i] = i * i;
	p[n] = '\0';
	for (int i = 0; i < n; i++)
		s += p[i] * q[n - 1 - i];
	return s + (int)strlen(p);
}

NOINLINE static long
in_a_loop(int n)
{
	long s = 0;
	char *prev = NULL;

	for (int i = 1; i < n; i++) {
		char *p = alloca(16 * i);       /* stays until the function returns */

		memset(p, i, 16 * i);
		s += prev ? prev[15] + p[i] : 0;
		prev = p;
	}
	return s;
}

NOINLINE static long
vla(int n, int m)
{
	int a[n][m];
	long row[m], s = 0;

	for (int i = 0; i < n; i++)
		for (int k = 0; k < m; k++)
			a[i][k] = i * k + n;
	for (int k = 0; k < m; k++) {
		int copy[k + 1];

		row[k] = 0;
		for (int i = 0; i < n; i++)
			row[k] += a[i][k];
		copy[k] = (int)row[k];
		s += copy[k] * (long)sizeof copy;
	}
	return s;
}

NOINLINE static long
big_frame(int n)
{
	char big[70000];
	long other[3000];

	for (int i = 0; i < n; i++) {
		big[i * 311 % 70000] = i;
		other[i * 17 % 3000] = i;
	}
	return big[(n - 1) * 311 % 70000] + other[(n - 1) * 17 % 3000];
}

NOINLINE static long
aligned(int n)
{
	_Alignas(64) long v[16];
	_Alignas(32) int w[8];

	for (int i = 0; i < 16; i++)
		v[i] = n * i, w[i & 7] = i;
	return v[n & 15] + w[n & 7] + ((unsigned long)v % 64) + ((unsigned long)w % 32);
}

/* a leaf whose locals live below the stack pointer */
NOINLINE static int
leaf(int n)
{
	volatile int t[20];

	for (int i = 0; i < 20; i++)
		t[i] = n + i;
	for (int i = 1; i < 20; i++)
		t[i] += t[i - 1];
	return t[19];
}

NOINLINE static long
aligned_vla(int n)
{
	_Alignas(32) char head[32];
	char tail[n * 3];

	memset(head, n, sizeof head);
	memset(tail, 1, n * 3);
	return head[n & 31] + tail[n] + with_alloca(n);
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 20;

	for (int i = 1; i <= n; i++) {
		mix(with_alloca(i));
		mix(in_a_loop(i));
		mix(vla(i, 12 + i % 5));
		mix(big_frame(i * 3));
		mix(aligned(i));
		mix(leaf(i));
		mix(aligned_vla(i));
	}
	printf("%016lx\n", sum);
	return 0;
}
