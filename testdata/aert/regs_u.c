/*
 * Untraced side: calls a traced function with every callee-saved register set, and looks at them
 * and at the results after.
 */
#include <stdio.h>
#include <string.h>

struct pair { unsigned long a, b; };
unsigned long ints(unsigned long, unsigned long, unsigned long, unsigned long, unsigned long, unsigned long,
    unsigned long);
double dbl(double, float, double);
long double ld(long double);
struct pair two(unsigned long);
unsigned long all(void *fn, unsigned long *out);

/*
 * rbx rbp r12 r13 r14 r15 hold 1..6 during the call; out[]: them afterwards, rax, rdx, the words
 * around the return address, flags DF
 */
__asm__(
"	.text\n"
"	.globl all\n"
"all:	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
"	push %rsi\n"
"	mov %rdi, %rax\n"
"	mov $1, %ebx\n	mov $2, %ebp\n	mov $3, %r12d\n	mov $4, %r13d\n	mov $5, %r14d\n	mov $6, %r15d\n"
"	mov $11, %edi\n	mov $12, %esi\n	mov $13, %edx\n	mov $14, %ecx\n	mov $15, %r8d\n	mov $16, %r9d\n"
/* the seventh argument, then what must stay */
"	push $17\n	push $18\n	push $17\n"
"	call *%rax\n"
"	pop %r10\n	pop %r11\n	add $8, %rsp\n"
"	pop %rsi\n"
"	mov %rbx, (%rsi)\n	mov %rbp, 8(%rsi)\n	mov %r12, 16(%rsi)\n	mov %r13, 24(%rsi)\n"
"	mov %r14, 32(%rsi)\n	mov %r15, 40(%rsi)\n	mov %rax, 48(%rsi)\n	mov %rdx, 56(%rsi)\n"
"	mov %r11, 64(%rsi)\n"
"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbp\n	pop %rbx\n"
"	ret\n");

int main(void)
{
	unsigned long o[9];
	struct pair p;
	int i, k;

	for (k = 0; k < 300000; k++) {          /* so often that the buffer fills in the thunk too */
		memset(o, 0, sizeof o);
		all((void *)ints, o);
		for (i = 0; i < 6; i++)
			if (o[i] != (unsigned long)i + 1)
				return printf("register %d changed\n", i), 1;
		if (o[6] != 11 + 12 + 13 + 14 + 15 + 16 + 17 || o[8] != 18)
			return printf("result %lu, word %lu\n", o[6], o[8]), 1;
		all((void *)two, o);
		if (o[6] != 11 || o[7] != 22)
			return printf("pair %lu %lu\n", o[6], o[7]), 1;
	}
	p = two(5);
	printf("%lu %lu %g %Lg\n", p.a, p.b, dbl(1.5, 2.25f, 4), ld(0.125L));
	return 0;
}
