/*
 * Ways to end: return, exit from deep inside, _exit, abort, quick_exit, a signal from outside and one of its own
 * making, falling off a callback.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static unsigned long sum;
static const char *how = "return";

static void mix(unsigned long v) { sum = sum * 31 + v; }
static void at_quick(void) { write(1, "quick\n", 6); }

NOINLINE static int
end(int depth)
{
	mix(depth);
	if (depth > 0)
		return end(depth - 1) + 1;
	fflush(stdout);
	if (!strcmp(how, "exit"))
		exit(11);
	if (!strcmp(how, "_exit"))
		_exit(12);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "quick")) {
		at_quick_exit(at_quick);
		quick_exit(13);
	}
	if (!strcmp(how, "term"))
		raise(SIGTERM);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "segv"))
		*(volatile int *)8 = 1;
	if (!strcmp(how, "trap"))
		__builtin_trap();
	if (!strcmp(how, "div"))
		mix(1 / (volatile int){ 0 });
	return depth;
}

static int
cmp(const void *a, const void *b)
{
	mix(end(3));
	return *(const int *)a - *(const int *)b;
}

int
main(int argc, char **argv)
{
	int v[] = { 3, 1, 2 };

	if (argc > 1)
		how = argv[1];
	puts(how);
	if (argc > 2)
		qsort(v, 3, sizeof *v, cmp);
	mix(end(5));
	printf("%016lx\n", sum);
	return 10;
}
