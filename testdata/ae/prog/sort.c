/*
 * Five sorts of the same numbers, by a comparison that is inline or behind a pointer.
 * big: 2500000
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int less(const int *, const int *);

static long compared;

static int up(const int *a, const int *b) { compared++; return *a < *b; }
static int down(const int *a, const int *b) { compared++; return *a > *b; }

static void
quick(int *v, int n)
{
	while (n > 12) {
		int p = v[n / 2], i = 0, k = n - 1;

		for (;;) {
			while (v[i] < p)
				i++;
			while (v[k] > p)
				k--;
			if (i >= k)
				break;
			int t = v[i];
			v[i++] = v[k], v[k--] = t;
		}
		quick(v, i);
		v += i;
		n -= i;
	}
	for (int i = 1; i < n; i++) {
		int x = v[i], k = i;

		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

static void
sift(int *v, int i, int n, less *f)
{
	for (int k; (k = 2 * i + 1) < n; i = k) {
		if (k + 1 < n && f(&v[k], &v[k + 1]))
			k++;
		if (!f(&v[i], &v[k]))
			return;
		int t = v[i];
		v[i] = v[k], v[k] = t;
	}
}

static void
heap(int *v, int n, less *f)
{
	for (int i = n / 2; i-- > 0; )
		sift(v, i, n, f);
	while (n-- > 1) {
		int t = v[0];

		v[0] = v[n], v[n] = t;
		sift(v, 0, n, f);
	}
}

static void
merge(int *v, int *w, int n, less *f)
{
	int h = n / 2, i = 0, k = h, o = 0;

	if (n < 2)
		return;
	merge(v, w, h, f);
	merge(v + h, w, n - h, f);
	memcpy(w, v, n * sizeof *v);
	while (i < h && k < n)
		v[o++] = f(&w[k], &w[i]) ? w[k++] : w[i++];
	while (i < h)
		v[o++] = w[i++];
}

static void
shell(int *v, int n)
{
	int gap = 1;

	while (gap < n / 3)
		gap = gap * 3 + 1;
	for (; gap > 0; gap /= 3)
		for (int i = gap; i < n; i++) {
			int x = v[i], k = i;

			for (; k >= gap && v[k - gap] > x; k -= gap)
				v[k] = v[k - gap];
			v[k] = x;
		}
}

static void
radix(unsigned *v, unsigned *w, int n)
{
	for (int shift = 0; shift < 32; shift += 8) {
		unsigned count[257] = { 0 }, *t;

		for (int i = 0; i < n; i++)
			count[(v[i] >> shift & 255) + 1]++;
		for (int i = 0; i < 256; i++)
			count[i + 1] += count[i];
		for (int i = 0; i < n; i++)
			w[count[v[i] >> shift & 255]++] = v[i];
		t = v, v = w, w = t;
	}
}

static void
fill(int *v, int n)
{
	unsigned r = 99;

	for (int i = 0; i < n; i++) {
		r = r * 1664525u + 1013904223u;
		v[i] = (int)(r >> 4);
	}
}

static unsigned long
digest(const int *v, int n)
{
	unsigned long s = 0;

	for (int i = 0; i < n; i++)
		s = s * 31 + v[i];
	return s;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 90;
	int *v = malloc(n * sizeof *v), *w = malloc(n * sizeof *w);

	for (int k = 0; k < 6; k++) {
		fill(v, n);
		switch (k) {
		case 0: quick(v, n); break;
		case 1: heap(v, n, up); break;
		case 2: merge(v, w, n, up); break;
		case 3: shell(v, n); break;
		case 4: radix((unsigned *)v, (unsigned *)w, n); break;
		case 5: heap(v, n, down); break;
		}
		printf("%016lx\n", digest(v, n));
	}
	printf("%ld\n", compared);
	free(v);
	free(w);
	return 0;
}
