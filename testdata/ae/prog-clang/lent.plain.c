/* Not traced: a callback runs while each register that functions keep has another value; a handler. */
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>

volatile long seen;

void look(int sig, siginfo_t *si, void *uc);
long plain_calls(long (*f)(long), long n);

long
plain_calls(long (*f)(long), long n)
{
	register long r12 __asm__("r12"), r13 __asm__("r13"), r14 __asm__("r14"), r15 __asm__("r15");

	__asm__ volatile("movq\t$12, %0\n\tmovq\t$13, %1\n\tmovq\t$14, %2\n\tmovq\t$15, %3" : "=r"(r12), "=r"(r13), "=r"(r14), "=r"(r15));
	n = f(n);
	__asm__ volatile("" : "+r"(r12), "+r"(r13), "+r"(r14), "+r"(r15));
	return n + r12 + r13 + r14 + r15;
}

void
look(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)si;
	seen = ((ucontext_t *)uc)->uc_mcontext.gregs[REG_R15];
}
