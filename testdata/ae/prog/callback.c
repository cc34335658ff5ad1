/*
 * Callbacks from libc: qsort, bsearch, atexit, on_exit, tsearch and twalk, a qsort in a callback of qsort.
 */
#define _GNU_SOURCE
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long sum;
static unsigned seed = 1;

static void mix(unsigned long v) { sum = sum * 31 + v; }
static unsigned rnd(void) { return (seed = seed * 1103515245u + 12345u) >> 16 & 0x7fff; }

struct item { int key; char name[12]; };

static int by_key(const void *a, const void *b) { return ((const struct item *)a)->key - ((const struct item *)b)->key; }
static int by_name(const void *a, const void *b) { return strcmp(((const struct item *)a)->name, ((const struct item *)b)->name); }
static int by_int(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int by_int_r(const void *a, const void *b, void *x) { ++*(int *)x; return *(const int *)b - *(const int *)a; }

/* Compares rows by their medians, which it finds by sorting copies */
static int
by_median(const void *a, const void *b)
{
	int x[5], y[5];

	memcpy(x, a, sizeof x);
	memcpy(y, b, sizeof y);
	qsort(x, 5, sizeof *x, by_int);
	qsort(y, 5, sizeof *y, by_int);
	return x[2] != y[2] ? x[2] - y[2] : x[0] - y[0];
}

static void
visit(const void *node, VISIT v, int depth)
{
	if (v == postorder || v == leaf)
		mix(**(int *const *)node * 7 + depth);
}

static void at_exit1(void) { puts("atexit"); }
static void at_exit2(void) { mix(3); printf("%016lx\n", sum); }
static void on_leave(int status, void *arg) { printf("on_exit %d %s\n", status, (char *)arg); }

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 40;
	struct item *it = calloc(n, sizeof *it), want;
	int *v = malloc(n * sizeof *v), count = 0, rows[12][5];
	void *root = NULL;

	atexit(at_exit1);
	atexit(at_exit2);
	on_exit(on_leave, "bye");
	for (int i = 0; i < n; i++) {
		it[i].key = rnd() % 1000;
		snprintf(it[i].name, sizeof it[i].name, "n%u", rnd() % 5000);
		v[i] = rnd();
	}
	qsort(it, n, sizeof *it, by_key);
	for (int i = 0; i < n; i += 3) {
		struct item *p;

		want.key = it[i].key + i % 2;
		p = bsearch(&want, it, n, sizeof *it, by_key);
		mix(p ? p->key : 1);
	}
	qsort(it, n, sizeof *it, by_name);
	mix(it[0].key);
	for (int i = 0; i < n; i++)
		tsearch(&v[i], &root, by_int);
	twalk(root, visit);
	for (int i = 0; i < n; i++)
		tdelete(&v[i], &root, by_int);
	qsort_r(v, n, sizeof *v, by_int_r, &count);
	mix(count);
	for (int i = 0; i < 60; i++)
		rows[i / 5][i % 5] = rnd() % 50;
	qsort(rows, 12, sizeof *rows, by_median);
	mix(rows[0][0] + rows[11][4] * 100);
	free(it);
	free(v);
	return 3;
}
