/* A region: calls of work, between markers and outside */
#include <string.h>
#include <unistd.h>

#include "lib/tracemill.h"

static char a[4096], b[4096];

__attribute__((noinline)) int
work(int k)
{
	int s = 0;

	for (int i = 0; i < 1000; i++)
		s = s * 31 + i * k;
	memcpy(a, b, (size_t)(100 + k));
	return s;
}

int
main(int argc, char **argv)
{
	int s = argc;

	(void)argv;
	for (int i = 0; i < 10; i++)
		s += work(i);
	TRACEMILL_BEGIN();
	for (int i = 0; i < 3; i++)
		s += work(i);
	TRACEMILL_END();
	return write(1, s ? "done\n" : "none\n", 5) == 5 ? 4 : 5;
}
