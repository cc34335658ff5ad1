# Jumps to the end of a function, as clang writes them without optimization where control cannot come, and as assembly has them that goes
# on in what comes next.
# shellcheck shell=sh source=/dev/null
. "$SRC/testdata/tap.sh"
. "$HERE/exact.sh"
why=$(captures ws2addr) || { skip "$why"; exit 0; }

cat >next.s <<'E'
	.text
	.globl	a
	.type	a, @function
a:	movq	(%rsi), %rax
	testq	%rdi, %rdi
	je	.Lend_a
	addq	$3, %rax
	cmpq	$7, %rdi
	je	1f
	ret
1:	jmp	.Lend_a
.Lend_a:
	.size	a, .-a
	.globl	b
	.type	b, @function
b:	addq	8(%rsi), %rax
	ret
	.size	b, .-b
	.globl	c
	.type	c, @function
c:	movq	(%rsi), %rax
	testb	$1, %dil
	jne	.Lend_c
	addq	16(%rsi), %rax
	ret
	.p2align 4
.Lend_c:
	.size	c, .-c
	nop
	addq	(%rsi), %rax
	ret
	.globl	calls
	.type	calls, @function
calls:	movq	%rdi, %rax
	call	a
	addq	%rdi, %rax
	call	c
	ret
	.size	calls, .-calls
	.section .note.GNU-stack,"",@progbits
E
cat >next.c <<'E'
#include <stdio.h>
long a(long, long *), b(long, long *), c(long, long *), calls(long, long *);
int main(void)
{
	long d[4] = { 1, 2, 3, 4 }, s = 0;

	for (int i = 0; i < 50; i++)
		s += a(i % 9, d) + c(i, d) + calls(i % 3, d);
	printf("%ld\n", s);
	return 0;
}
E
is 'assembly: nothing untraced' "$(aerw -v -o next.ae.s next.s 2>&1)" 'aerw: next.s: 4 functions, 0 left untraced'
gcc -c next.ae.s
aecc -O1 next.c next.ae.o -o prog
exact assembly ./prog

if command -v clang >/dev/null; then
	cat >never.c <<'E'
#include <stdio.h>
int f(int), g(int), h(int);
int f(int x) { if (x) return x + 1; __builtin_unreachable(); }
int g(int x) { while (x < 10) { if (x == 5) return 2; x++; } __builtin_unreachable(); }
int h(int x) { if (x > 3 && x < 10) return 1; if (x == 20) return 3; __builtin_unreachable(); }
int main(void)
{
	long s = 0;

	for (int i = 1; i < 30; i++)
		s += f(i) + g(i % 6) + h(i % 6 + 4);
	printf("%ld\n", s);
	return 0;
}
E
	AE_CC=clang aecc -O0 never.c -o prog 2>err
	is 'clang: nothing untraced' "$(cat err)" ''
	exact clang ./prog
fi
tap_end
