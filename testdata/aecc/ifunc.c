/*
 * Indirect functions, whose resolvers the loader calls before tracing begins, or later: of the program (-DPROG), of a library
 * (-DLIB), or both in one; -DOPEN: a program that opens the library
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define PAIR(name) \
	NOINLINE static long name##_slow(long x) { return x + data[x & 7]; } \
	NOINLINE static long name##_fast(long x) { return x * 2 + data[x & 3]; }

extern int shared[8];
long chosen(long), late(long), work(int), total(const int *, int);

#ifdef LIB
static int data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
int shared[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
NOINLINE static int helper(int n) { int s = 0; for (int i = 0; i < n; i++) s += data[i & 7]; return s; }
PAIR(chosen)
PAIR(own)
PAIR(late)

/* calls a function, reads data */
static long (*pick_chosen(void))(long) { return helper(5) > 3 ? chosen_fast : chosen_slow; }
static long (*pick_own(void))(long) { return data[1] == 2 ? own_slow : own_fast; }
static long (*pick_late(void))(long)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("sse2") ? late_fast : late_slow;
}

long chosen(long) __attribute__((ifunc("pick_chosen")));
static long own(long) __attribute__((ifunc("pick_own")));
long late(long) __attribute__((ifunc("pick_late")));

__attribute__((target_clones("avx2", "sse4.2", "default"))) long total(const int *p, int n)
{
	long s = 0;

	for (int i = 0; i < n; i++)
		s += p[i];
	return s;
}
__attribute__((target_clones("avx2", "default"))) static long totals(const int *p, int n)
{
	long s = 0;

	for (int i = 0; i < n; i++)
		s += total(p, i) ^ p[i];
	return s;
}

NOINLINE static long tail(long x) { return chosen(x + 1); }

long work(int n)
{
	static long (*const table[])(long) = { chosen, own, late, own_slow };
	long (*f)(long) = chosen, s = 0;

	for (int i = 0; i < n; i++)
		s += own(i) + chosen(i) + f(i) + table[i % 4](i) + totals(shared, i & 7) + tail(i);
	return s;
}
#endif

#ifdef PROG
int main(void)
{
	long (*g)(long) = late, s = 0;

	for (int i = 0; i < 20; i++)
		s += work(i) + chosen(i) + late(i) + g(i) + total(shared, i & 7);
	printf("%ld\n", s);
	return 0;
}
#endif

#ifdef OPEN
void opened(void *);

/* The loader calls resolvers in dlopen, too, before what they call is traced. */
NOINLINE void opened(void *so)
{
	long (*w)(int) = (long (*)(int))dlsym(so, "work"), (*c)(long) = (long (*)(long))dlsym(so, "chosen");
	long (*l)(long) = (long (*)(long))dlsym(so, "late"), s = 0;

	for (int i = 0; i < 20; i++)
		s += w(i) + c(i) + l(i);
	printf("%ld\n", s);
	exit(0);
}

int main(void)
{
	void *so = dlopen("./libif.so", RTLD_LAZY);
	Dl_info at;

	if (!so || !dladdr(dlsym(so, "work"), &at))
		return 1;
	printf("at %p\n", at.dli_fbase);
	opened(so);
	return 1;
}
#endif
