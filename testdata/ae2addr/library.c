/*
 * A program whose parts are in shared libraries: -DPROG the program, -DLIB the library that it is linked with, -DPLUG
 * one that it opens
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int visitor(void *arg, int i);

extern int lib_data[16], lib_count;
extern __thread int tls_shared;
int lib_add(int a, int b);
int lib_chain(int n);
int lib_each(visitor *f, void *arg, int n);
int lib_tail(int a);
int lib_tail_to(int (*f)(int), int a);
int lib_switch(int n);
int lib_try(void (*f)(int));
int lib_swapped(int a);
int lib_fork(void);
void lib_throw(int n);
void lib_sort(int *p, int n);
void *lib_thread(void *arg);
const char *lib_name(int i);
void *lib_where(void);

#ifdef LIB
int lib_data[16] = { 1, 2, 3 };
int lib_count;
__thread int tls_shared = 7;                                    /* general dynamic */
static __thread int tls_own = 5, tls_more[4];                   /* local dynamic, if there are several */
static __thread int tls_early __attribute__((tls_model("initial-exec"))) = 3;
static jmp_buf back;
static const char *const names[] = { "one", "three", "fifteen" };

static __attribute__((constructor)) void begin(void)
{
	for (int i = 0; i < 5; i++)
		lib_data[i] += lib_add(i, 1);
}

static __attribute__((destructor)) void end(void)
{
	for (int i = 0; i < 5; i++)
		lib_data[i] = lib_chain(i);
}

int lib_add(int a, int b)
{
	lib_count++;
	tls_own += a;
	tls_more[a & 3] += b;
	tls_shared += tls_early++;
	return a + b + lib_data[a & 15];
}

int lib_chain(int n) { return n <= 0 ? 0 : lib_add(n, lib_chain(n - 1)); }
int lib_tail(int a) { return lib_add(a, 3); }
int lib_tail_to(int (*f)(int), int a) { return f(a + 1); }
/* another one, that the program has, takes its place */
int lib_swapped(int a) { return a + 1000; }
int lib_calls_swapped(int a) { return lib_swapped(a) + 1; }

int lib_each(visitor *f, void *arg, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += f(arg, i);
	return sum;
}

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
void lib_sort(int *p, int n) { qsort(p, (size_t)n, sizeof *p, by_value); }

int lib_switch(int n)
{
	switch (n) {
	case 0: return 5;
	case 1: return lib_count;
	case 2: return tls_early;
	case 3: return tls_own;
	case 4: return lib_data[3];
	case 5: return tls_shared;
	case 6: return tls_more[1];
	default: return -1;
	}
}

const char *lib_name(int i) { return names[i % 3]; }

int lib_try(void (*f)(int))
{
	int r = setjmp(back);

	if (r)
		return r;
	f(3);
	return 0;
}

void lib_throw(int n) { longjmp(back, n); }
void *lib_thread(void *arg) { return (void *)(long)lib_chain((int)(long)arg); }
void *lib_where(void) { return (void *)by_value; }

int lib_fork(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	if ((pid = fork()) == 0)
		exit(lib_chain(4) & 63);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}
#endif

#ifdef PLUG
static int calls[8] = { 3 };
static __attribute__((noinline)) int own(int n) { return calls[n & 7]++; }
int plug_call(int (*f)(int, int), int n) { return own(n) + f(n, n) + lib_chain(3); }
void *plug_where(void) { return (void *)own; }
#endif

#ifdef PROG
int lib_swapped(int a) { return a + 2; }
int lib_calls_swapped(int a);
static int leaf(int a) { return a * 2 + lib_data[1]; }
static void jump(int n) { lib_throw(n + 1); }

static int visit(void *arg, int i)
{
	int *q = arg;

	q[i & 3] += i;
	return lib_add(i, q[i & 3]);
}

static int threads(void)
{
	pthread_t t[2];
	void *got;
	long sum = 0;

	for (long i = 0; i < 2; i++)
		pthread_create(t + i, NULL, lib_thread, (void *)(i + 5));
	for (int i = 0; i < 2; i++) {
		pthread_join(t[i], &got);
		sum += (long)got;
	}
	return (int)sum;
}

/* Opens a library, calls it, and closes it. */
static int plug(const char *name, int n)
{
	void *so = dlopen(name, RTLD_NOW), *(*where)(void);
	int (*call)(int (*)(int, int), int), sum;

	if (!so) {
		puts(dlerror());
		return 0;
	}
	call = (int (*)(int (*)(int, int), int))dlsym(so, "plug_call");
	where = (void *(*)(void))dlsym(so, "plug_where");
	sum = call(lib_add, n) + call(lib_add, n);
	printf("plug %p\n", where());
	dlclose(so);
	return sum;
}

int main(int argc, char **argv)
{
	int v[4] = { 4, 3, 2, 1 }, s = 0;

	s += lib_add(1, 2) + lib_chain(10) + lib_each(visit, v, 20) + lib_tail(5) + lib_tail_to(leaf, 4);
	s += lib_calls_swapped(1);
	lib_sort(v, 4);
	for (int i = 0; i < 8; i++)
		s += lib_switch(i) + (int)strlen(lib_name(i));
	s += lib_try(jump);
	lib_data[2] = s;
	lib_count += 3;
	tls_shared += 2;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "fork") == 0)
			s += lib_fork();
		else if (strcmp(argv[i], "thread") == 0)
			s += threads();
		else
			s += plug(argv[i], i);
	printf("%d %d %d\n", s, lib_count, tls_shared);
	printf("lib %p\n", lib_where());
	return 0;
}
#endif
