/*
 * A handler leaves traced code by a jump, which ends the recording, and does so again when nothing is recorded any more. The
 * program's r15 points to `guard` meanwhile, where nobody writes.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

extern volatile long guard[8];
long with_r15(long (*)(long), long, volatile long *);          /* not traced: calls with that in r15 */

static sigjmp_buf out;

static void
leave(int sig)
{
	siglongjmp(out, sig);
}

__attribute__((noinline)) static long
leaves(long n)
{
	volatile long sum = n;

	for (volatile int i = 0; i < 5; i++) {
		if (sigsetjmp(out, 1) == 0) {
			__asm__ volatile("int3");
			sum += 1000;
		}
		sum += i;
	}
	return sum;
}

int
main(void)
{
	long n;

	signal(SIGTRAP, leave);
	n = with_r15(leaves, 7, guard);
	printf("%ld", n);
	for (int i = 0; i < 8; i++)
		printf(" %ld", guard[i]);
	printf("\n");
	return 0;
}
