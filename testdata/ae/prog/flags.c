/*
 * Flags that are set before an indirect jump and used at its targets, as gcc does where all cases of a switch begin
 * with the same comparison: each kind of jump, with rax free, live, read by the jump, and its target.
 * targets: x86-64
 */
#include <stdio.h>

/*
 * fn(which, a, b) compares a with b before the jump. Each of its five targets asks for another flag, and puts the answer in rdx;
 * `end` puts it in rax.
 */
#define BEGIN(fn)						\
    "	.text\n	.globl	" fn "\n	.type	" fn ", @function\n"	\
    fn ":\n"
#define END(fn, end)						\
    ".L" fn "0:	jo	.L" fn "y\n	jmp	.L" fn "n\n"	\
    ".L" fn "1:	jb	.L" fn "y\n	jmp	.L" fn "n\n"	\
    ".L" fn "2:	jg	.L" fn "y\n	jmp	.L" fn "n\n"	\
    ".L" fn "3:	jp	.L" fn "y\n	jmp	.L" fn "n\n"	\
    ".L" fn "4:	js	.L" fn "y\n"				\
    ".L" fn "n:	incq	no(,%rdi,8)\n"				\
    "	movl	$0, %edx\n	jmp	.L" fn "e\n"		\
    ".L" fn "y:	incq	yes(,%rdi,8)\n"				\
    "	movl	$1, %edx\n"					\
    ".L" fn "e:" end "	ret\n	.size	" fn ", .-" fn "\n"
#define ABSOLUTE(fn, section)					\
    "	.section	" section "\n	.align 8\n"		\
    ".L" fn "t:\n	.quad	.L" fn "0\n	.quad	.L" fn "1\n"	\
    "	.quad	.L" fn "2\n	.quad	.L" fn "3\n	.quad	.L" fn "4\n"
#define RELATIVE(fn)						\
    "	.section	.rodata\n	.align 4\n.L" fn "t:\n"		\
    "	.long	.L" fn "0-.L" fn "t\n	.long	.L" fn "1-.L" fn "t\n"	\
    "	.long	.L" fn "2-.L" fn "t\n	.long	.L" fn "3-.L" fn "t\n"	\
    "	.long	.L" fn "4-.L" fn "t\n"
#define LOAD(fn)						\
    "	leaq	.L" fn "t(%rip), %r8\n"				\
    "	movslq	(%r8,%rdi,4), %rcx\n	addq	%r8, %rcx\n"

#define COMPARE "	cmpq	%rdx, %rsi\n"
#define ADD "	addq	%rdx, %rax\n"
#define ALONE "	movq	%rdx, %rax\n"

__asm__(
/* through tables that the copy has too */
    BEGIN("table") "	movl	$0, %eax\n" COMPARE "	jmp	*.Ltablet(,%rdi,8)\n"
    END("table", ADD) ABSOLUTE("table", ".rodata")
    BEGIN("differences") LOAD("differences") "	movl	$0, %eax\n" COMPARE "	jmp	*%rcx\n"
    END("differences", ADD) RELATIVE("differences")
/* the same, but an entry of the table is seen elsewhere, too */
    BEGIN("seen") LOAD("seen") "	movq	%rcx, %rax\n" COMPARE "	jmp	*%rcx\n"
    END("seen", "	leaq	.Lseent(%rip), %r8\n	subq	%r8, %rax\n	movslq	(%r8,%rdi,4), %rcx\n	subq	%rcx, %rax\n" ADD)
    RELATIVE("seen")
/* through addresses that the program might have changed: rax is the target, live or not, is something else, is read */
    BEGIN("dead") "	movq	.Ldeadt(,%rdi,8), %rax\n" COMPARE "	jmp	*%rax\n"
    END("dead", ALONE) ABSOLUTE("dead", ".data")
    BEGIN("target") "	movq	.Ltargett(,%rdi,8), %rax\n" COMPARE "	jmp	*%rax\n"
    END("target", "	subq	.Ltargett(,%rdi,8), %rax\n" ADD) ABSOLUTE("target", ".data")
    BEGIN("other") "	movq	.Lothert(,%rdi,8), %rcx\n	movl	$0, %eax\n" COMPARE "	jmp	*%rcx\n"
    END("other", ADD) ABSOLUTE("other", ".data")
    BEGIN("reads") "	leaq	.Lreadst(%rip), %rax\n" COMPARE "	jmp	*(%rax,%rdi,8)\n"
    END("reads", "	leaq	.Lreadst(%rip), %rcx\n	subq	%rcx, %rax\n" ADD) ABSOLUTE("reads", ".data")
    "	.text\n");

typedef unsigned long function(unsigned long, long, long);
function table, differences, seen, dead, target, other, reads;

long yes[5], no[5];

int
main(void)
{
	static const struct { const char *name; function *f; } way[] = {
		{ "table", table }, { "differences", differences }, { "seen", seen },
		{ "dead", dead }, { "target", target }, { "other", other }, { "reads", reads },
	};
	static const long some[] = { 0, 1, -1, 2, 255, 0x7fffffffffffffff, -0x7fffffffffffffff - 1, 77, -300 };
	unsigned n = sizeof some / sizeof *some, w, i, k, c, bad = 0;

	for (w = 0; w < sizeof way / sizeof *way; w++)
		for (i = 0; i < n; i++)
			for (k = 0; k < n; k++) {
				long a = some[i], b = some[k], d;
				int over = __builtin_sub_overflow(a, b, &d);
				int want[5] = { over, (unsigned long)a < (unsigned long)b, a > b,
				    !__builtin_parity((unsigned)d & 255), d < 0 };

				for (c = 0; c < 5; c++) {
					if (way[w].f(c, a, b) != (unsigned long)want[c]) {
						printf("%s %u %ld %ld: wrong\n", way[w].name, c, a, b);
						bad = 1;
					}
				}
			}
	return (int)bad;
}
