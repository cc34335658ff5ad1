/* limit N: works, forks if N is 2, and executes itself with N - 1 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned sum, x = 1;

__attribute__((noinline)) static void
work(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		x = x * 1103515245 + 12345;
		if (x & 0x10000)
			sum += i;
	}
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	char less[20];

	work(3000u * (unsigned)(n + 1));
	if (n == 2 && fork() == 0) {
		work(10);
		_exit(0);
	}
	while (wait(NULL) > 0)
		continue;
	snprintf(less, sizeof less, "%d", n - 1);
	if (n)
		execl(argv[0], argv[0], less, (char *)NULL);
	return 0;
}
