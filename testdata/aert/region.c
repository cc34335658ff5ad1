/* region CASE: regions by ae_start() and ae_stop(). Nothing calls main, and no case traces it. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/tracemill.h"

#define FAR __attribute__((noipa))

static int a[100];
static jmp_buf env, inner;
static volatile int sink;

FAR int leaf(int i) { return a[i % 100] += i; }

FAR int
work(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += leaf(i);
	return n > 5 ? s + work(n / 2) : s;
}

/* A region that begins on the way down a recursion and ends on the way up */
FAR int
recurse(int n)
{
	int s = leaf(n);

	if (n == 4)
		ae_start();
	if (n > 0)
		s += recurse(n - 1);
	s += work(n);
	if (n == 5)
		ae_stop();
	return s + leaf(n + 1);
}

/* Ends the region in traced code; what begins before outer has returned has to wait for that */
FAR int
stops(int n)
{
	int s = leaf(n);

	ae_stop();
	s += work(n);
	ae_start();
	return s + work(n + 1);
}

FAR int
outer(int n)
{
	int s = leaf(n) + stops(n);

	for (int i = 0; i < n; i++)
		s += leaf(s & 7);
	return s;
}

FAR int begins(int n) { ae_start(); return leaf(n); }
FAR int away(int n) { leaf(n); longjmp(env, n); }

FAR int
catches(int n)
{
	volatile int s = leaf(n);

	if (setjmp(inner) == 0) {
		if (n == 7)
			ae_stop();
		s += leaf(n);
		longjmp(inner, 1);
	}
	return s + leaf(n + 2);
}

FAR int
lost(int n)
{
	a[n] = leaf(n);
	if (n == 3)
		ae_stop();
	leaf(n);
	return away(n);
}

static int ncmp, stopat, startat;

static int
cmp(const void *x, const void *y)
{
	ncmp++;
	if (ncmp == startat)
		ae_start();
	if (ncmp == stopat)
		ae_stop();
	return leaf(*(const int *)x) % 7 - *(const int *)y % 7;
}

FAR int
sorts(int n)
{
	int v[10];

	for (int i = 0; i < 10; i++)
		v[i] = (i * 7 + n) % 10;
	ncmp = 0;
	qsort(v, 10, sizeof *v, cmp);
	return v[3];
}

/* More events than the buffer holds */
FAR int
much(int n)
{
	unsigned s = 1;

	for (int i = 0; i < n; i++) {
		s = s * 1103515245 + 12345;
		if (s & 0x10000)
			a[s % 100]++;
	}
	return leaf((int)(s & 31));
}

FAR int
floods(int n)
{
	int s = much(100);

	ae_stop();
	return s + much(n);
}

FAR int
ends(char how)
{
	leaf(1);
	if (how == 'b' || how == 'e')
		ae_stop();
	leaf(2);
	if (how == 'b')
		*(volatile char *)NULL = 1;
	exit(how == 'e' ? 5 : 6);
}

static int
jumps(void)
{
	int r = 0;

	ae_start();
	if (setjmp(env) == 0)
		r += away(4);
	r += leaf(5);
	ae_stop();
	r += leaf(6);
	ae_start();
	if (setjmp(env) == 0)
		r += lost(2);
	r += work(2);
	if (setjmp(env) == 0)
		r += lost(3);
	r += leaf(8);
	ae_start();
	r += leaf(9);
	r += catches(6);
	r += catches(7);
	r += leaf(10);
	ae_start();
	return r + leaf(11);
}

static int
forks(void)
{
	int r = work(2);

	ae_start();
	r += work(3);
	if (fork() == 0)
		_exit(work(4) & 1);
	wait(NULL);
	ae_stop();
	if (fork() == 0) {
		work(5);
		ae_start();
		_exit(work(6) & 1);
	}
	wait(NULL);
	return r + work(7);
}

int
main(int argc, char **argv)
{
	char how = argc > 1 ? argv[1][0] : 'n';
	int r = work(3);

	if (how == 'n') {
		ae_stop();
		ae_start();
		r += work(10);
		ae_start();
		ae_stop();
		ae_stop();
		r += work(4);
		ae_start();
		r += work(2);
		r += leaf(3);
		ae_stop();
		r += work(7);
	} else if (how == 'r') {
		r += recurse(7) + leaf(2);
		r += recurse(3);
	} else if (how == 'd') {
		ae_start();
		r += outer(3) + leaf(1);
		ae_stop();
		r += begins(2) + leaf(2);
		r += outer(4) + work(2);
	} else if (how == 'j') {
		r += jumps();
	} else if (how == 'q') {
		stopat = 5;
		startat = 9;
		ae_start();
		r += sorts(1) + leaf(1) + sorts(2);
		ae_stop();
		stopat = 0;
		startat = 3;
		r += sorts(3);
		ae_stop();
		stopat = 6;
		startat = 2;
		qsort(a, 10, sizeof *a, cmp);
	} else if (how == 'f') {
		r += forks();
	} else if (how == 'l') {
		ae_start();
		r += floods(argc > 2 ? atoi(argv[2]) : 10) + leaf(1);
		ae_start();
		r += much(100) + leaf(2);
	} else if (how != 'z') {
		ae_start();
		r += ends(how);
	}
	sink = r;
	return r & 15;
}
