/* Calls that do not return in the usual way: tail calls, longjmp, signals on both stacks; all counts are known. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FAR __attribute__((noinline, noclone, noipa))

static jmp_buf back;
static volatile unsigned sink;

static FAR void leaf(void) { sink++; }
FAR void tail(void);
FAR void tail(void) { sink += 2; leaf(); sink++; }
FAR void jumps(void);
__asm__(".text\n.type jumps, @function\njumps: nop\n jmp tail\n.size jumps, . - jumps\n");
static FAR void deep(int n) { if (n == 0) longjmp(back, 1); deep(n - 1); sink++; }
static FAR void caught(void) { if (setjmp(back) == 0) deep(10); leaf(); }
static void handler(int s) { (void)s; sink += 3; leaf(); }
static void leaves(int s) { (void)s; longjmp(back, 2); }
static FAR void raises(void) { raise(SIGUSR1); leaf(); }
static FAR void escapes(void) { if (setjmp(back) == 0) raise(SIGUSR2); leaf(); }

int
main(void)
{
	static char room[65536];
	stack_t stack = { .ss_sp = room, .ss_size = sizeof room };
	struct sigaction a = { .sa_handler = handler };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &a, NULL);
	a.sa_flags = SA_ONSTACK | SA_NODEFER;
	a.sa_handler = leaves;
	sigaction(SIGUSR2, &a, NULL);
	for (int i = 0; i < 5; i++) {
		jumps();
		caught();
		raises();
		escapes();
	}
	return 0;
}
