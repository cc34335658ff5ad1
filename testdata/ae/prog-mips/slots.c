/*
 * Delay slots by hand: loads whose value is an address behind the branch, arguments set in the slot of a call, slots
 * that change what the branch just compared or jumped through, stores, the stack pointer, a slot that is a target itself.
 * targets: mipsel mips
 */
#include <stdio.h>
#include <stdlib.h>

static unsigned long sum;
unsigned cells[64];
unsigned *ptrs[16];

static void mix(unsigned long v) { sum = sum * 31 + v; }

extern unsigned follow(unsigned **pp, int n);
extern unsigned compared(unsigned *p, int x);
extern unsigned caller(unsigned *p, int x);
extern unsigned through(unsigned *p, int x);
extern unsigned table(unsigned *p, unsigned k);
extern unsigned shared(unsigned *p, int x);
extern unsigned at(unsigned *p, int x);
extern unsigned frames(unsigned *p, int x);

#define FUNC(name, body) \
    "	.align	2\n	.globl	" #name "\n	.type	" #name ", @function\n	.ent	" #name "\n" \
    #name ":\n" body "	.end	" #name "\n	.size	" #name ", . - " #name "\n"

__asm__(
    "	.text\n	.set	push\n	.option	pic0\n	.set	noreorder\n	.set	nomacro\n"
    /* a pointer loaded in the slot, used behind it on either side */
    FUNC(follow,
	"	move	$2, $0\n"
	"1:	beq	$5, $0, 3f\n"
	"	lw	$8, 0($4)\n"
	"	andi	$9, $5, 1\n"
	"	bne	$9, $0, 2f\n"
	"	addiu	$5, $5, -1\n"
	"	lw	$9, 4($8)\n"
	"	b	1b\n"
	"	addiu	$4, $4, 4\n"
	"2:	lw	$9, 8($8)\n"
	"	addu	$2, $2, $9\n"
	"	j	1b\n"
	"	lw	$4, 64($4)\n"            /* the list of pointers again */
	"3:	jr	$31\n"
	"	lw	$3, 0($8)\n")
    /* the branch looks before its slot changes the register */
    FUNC(compared,
	"	move	$2, $0\n"
	"1:	bgtz	$5, 1b\n"
	"	addiu	$5, $5, -1\n"
	"	beq	$5, $0, 1f\n"
	"	addiu	$5, $5, 4\n"
	"	sll	$8, $5, 2\n"
	"	addu	$8, $4, $8\n"
	"	lw	$2, 0($8)\n"
	"1:	slt	$9, $5, $2\n"
	"	bne	$9, $0, 1f\n"
	"	lw	$9, 4($4)\n"
	"	sw	$9, 8($4)\n"
	"1:	jr	$31\n"
	"	addu	$2, $2, $9\n")
    /* arguments and results of calls in slots */
    FUNC(callee,
	"	sll	$8, $5, 2\n"
	"	addu	$4, $4, $8\n"
	"	lw	$2, 0($4)\n"
	"	jr	$31\n"
	"	addiu	$4, $4, 8\n")
    FUNC(caller,
	"	addiu	$29, $29, -32\n"
	"	sw	$31, 28($29)\n"
	"	andi	$5, $5, 7\n"
	"	sw	$5, 4($29)\n"
	"	jal	callee\n"
	"	addiu	$4, $4, 4\n"
	"	lw	$6, 0($4)\n"             /* what the callee's slot made */
	"	jal	callee\n"
	"	li	$5, 3\n"
	"	bal	callee\n"
	"	lw	$5, 4($29)\n"
	"	lw	$31, 28($29)\n"
	"	addu	$2, $2, $6\n"
	"	jr	$31\n"
	"	addiu	$29, $29, 32\n")
    /* the slot changes the register that the jump goes through, and the one with the link */
    FUNC(through,
	"	addiu	$29, $29, -32\n"
	"	sw	$31, 28($29)\n"
	"	sw	$0, 4($29)\n"
	"	lui	$25, %hi(callee)\n"
	"	addiu	$25, $25, %lo(callee)\n"
	"	andi	$5, $5, 3\n"
	"	jalr	$25\n"
	"	move	$25, $4\n"
	"	sw	$2, 12($25)\n"
	"	lui	$8, %hi(callee)\n"
	"	addiu	$8, $8, %lo(callee)\n"
	"	jalr	$8\n"
	"	sw	$8, 8($29)\n"
	"	lw	$31, 28($29)\n"
	"	lw	$8, 8($29)\n"
	"	addiu	$29, $29, 32\n"
	"	jr	$31\n"
	"	xor	$31, $31, $31\n")
    /* a table of labels; the slot has a load of its own */
    FUNC(table,
	"	andi	$5, $5, 3\n"
	"	sll	$8, $5, 2\n"
	"	lui	$9, %hi(places)\n"
	"	addiu	$9, $9, %lo(places)\n"
	"	addu	$9, $9, $8\n"
	"	lw	$9, 0($9)\n"
	"	jr	$9\n"
	"	lw	$2, 0($4)\n"
	"$P0:	b	$P3\n"
	"	addiu	$2, $2, 10\n"
	"$P1:	lw	$8, 4($4)\n"
	"	addu	$2, $2, $8\n"
	"$P2:	sw	$2, 8($4)\n"
	"$P3:	jr	$31\n"
	"	addiu	$2, $2, 1\n")
    /* the slot of one branch is the target of another */
    FUNC(shared,
	"	beq	$5, $0, 1f\n"
	"	li	$2, 1\n"
	"	blez	$5, 2f\n"
	"1:	addiu	$4, $4, 4\n"
	"	lw	$8, 0($4)\n"
	"	addu	$2, $2, $8\n"
	"2:	sw	$2, 16($4)\n"
	"	jr	$31\n"
	"	lw	$3, 0($4)\n")
    /* $1 is a register like any other, and lives across branches */
    FUNC(at,
	"	.set	noat\n"
	"	move	$1, $4\n"
	"	move	$2, $0\n"
	"1:	lw	$8, 0($1)\n"
	"	beq	$8, $5, 2f\n"
	"	addiu	$1, $1, 4\n"
	"	addu	$2, $2, $8\n"
	"	sltiu	$9, $2, 5000\n"
	"	bne	$9, $0, 1b\n"
	"	addiu	$2, $2, 1000\n"
	"2:	lw	$3, -4($1)\n"
	"	jr	$31\n"
	"	addu	$2, $2, $3\n"
	"	.set	at\n")
    /* frames made and unmade in slots */
    FUNC(frames,
	"	beq	$5, $0, 1f\n"
	"	addiu	$29, $29, -40\n"
	"	sw	$31, 36($29)\n"
	"	sw	$16, 32($29)\n"
	"	move	$16, $4\n"
	"	addiu	$4, $4, 4\n"
	"	jal	frames\n"
	"	addiu	$5, $5, -1\n"
	"	lw	$8, 0($16)\n"
	"	lw	$31, 36($29)\n"
	"	lw	$16, 32($29)\n"
	"	addu	$2, $2, $8\n"
	"	jr	$31\n"
	"	addiu	$29, $29, 40\n"
	"1:	sw	$4, 0($29)\n"
	"	lw	$2, 0($29)\n"
	"	lw	$2, 0($2)\n"
	"	jr	$31\n"
	"	addiu	$29, $29, 40\n")
    "	.option	pic2\n	.set	pop\n"
    "	.section .rodata\n	.align	2\n"
    "places:	.word	$P0, $P1, $P2, $P3\n"
    "	.text\n");

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 20;
	static unsigned *list[40];

	for (int i = 0; i < 40; i++)
		list[i] = i < 16 ? cells + i * 2 : (unsigned *)(void *)list;
	for (int i = 0; i < n; i++) {
		cells[i & 63] = (unsigned)i * 0x0107u;
		mix(follow(list, i % 8 + 1));
		mix(compared(cells, i % 9 - 3));
		mix(caller(cells, i));
		mix(through(cells, i));
		mix(table(cells + i % 8, (unsigned)i * 3));
		mix(shared(cells, i % 3 - 1));
		mix(at(cells, i % 4 ? i * 0x107 / 2 : 0x107 * 3));
		mix(frames(cells, i % 6));
	}
	printf("%08lx\n", sum);
	return 0;
}
