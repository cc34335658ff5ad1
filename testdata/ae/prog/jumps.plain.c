/* The part of jumps.c that is not traced */
#include <setjmp.h>
#include <string.h>

extern long plain_call(long (*)(long), long);
extern int plain_try(void (*)(int), int);
extern void plain_throw(jmp_buf, int);

static jmp_buf own;
static int use_own;

long
plain_call(long (*f)(long), long x)
{
	return f(x) + 1;
}

/* f ends in plain_throw, which comes back here: the traced frames between are abandoned */
int
plain_try(void (*f)(int), int k)
{
	volatile int tries = 0;
	int r = setjmp(own);

	if (tries++ < 2) {
		use_own = 1;
		f(k + tries);
	}
	use_own = 0;
	return r;
}

void
plain_throw(jmp_buf env, int k)
{
	longjmp(use_own ? own : env, k);
}
