/*
 * What cpuid, rdtsc and rdtscp give, done for a process that is stepped: a host
 * that stands below the kernel does them itself, and a step over one is then a
 * step over the next instruction too.
 */
#ifndef TM_TESTDATA_ENGINE_ANSWER_H
#define TM_TESTDATA_ENGINE_ANSWER_H

#include <cpuid.h>
#include <stdint.h>
#include <sys/user.h>

/* b: three bytes at g's rip.  Is it one of them?  Then g becomes what it is after it. */
static inline int
answer(struct user_regs_struct *g, const uint8_t *b)
{
	unsigned a, c, d, bx;

	if (b[0] != 0x0f)
		return 0;
	if (b[1] == 0xa2) {
		__cpuid_count((unsigned)g->rax, (unsigned)g->rcx, a, bx, c, d);
		g->rbx = bx;
		g->rcx = c;
	} else if (b[1] == 0x31 || (b[1] == 0x01 && b[2] == 0xf9)) {
		__asm__ volatile("rdtscp" : "=a"(a), "=d"(d), "=c"(c));
		if (b[1] == 0x01)
			g->rcx = c;
	} else {
		return 0;
	}
	g->rax = a;
	g->rdx = d;
	g->rip += b[1] == 0x01 ? 3 : 2;
	g->orig_rax = (unsigned long long)-1;
	return 1;
}

#endif
