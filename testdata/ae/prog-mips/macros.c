/*
 * Assembly as people write it: the assembler expands macros through $1 and fills the delay slots.
 * targets: mipsel mips
 */
#include <stdio.h>
#include <stdlib.h>

static unsigned long sum;
unsigned cells[64] = { 3, 1, 4, 1, 5, 9, 2, 6 };
unsigned char bytes[0x12400];

static void mix(unsigned long v) { sum = sum * 31 + v; }

extern unsigned tour(unsigned *p, unsigned n);
extern unsigned odd(unsigned char *p, unsigned n);
extern unsigned arith(int a, int b, unsigned *p);
extern unsigned far(unsigned n, unsigned *p);
extern unsigned twice(unsigned n);
extern unsigned pairs(double *p, int n);

__asm__(
    "	.text\n	.set	push\n	.option	pic0\n"
    /* loops, compares with constants and registers, symbols as operands */
    "	.align	2\n	.globl	tour\n	.type	tour, @function\n	.ent	tour\n"
    "tour:	la	$8, cells\n"
    "	li	$2, 0\n"
    "	li	$9, 0x12345678\n"
    "1:	ble	$5, 2, 3f\n"
    "	lw	$10, 0($4)\n"
    "	and	$11, $10, 63\n"
    "	sll	$11, 2\n"
    "	addu	$11, $8\n"
    "	lw	$11, ($11)\n"
    "	addu	$2, $2, $11\n"
    "	bgt	$10, $11, 2f\n"
    "	xor	$2, $9\n"
    "	sw	$2, cells+200\n"
    "2:	addiu	$4, 4\n"
    "	subu	$5, 1\n"
    "	bgeu	$5, 3, 1b\n"
    "3:	lw	$9, cells+4\n"
    "	beq	$9, 0x10001, 4f\n"
    "	bne	$9, -7, 5f\n"
    "4:	li	$2, -1\n"
    "5:	blt	$2, $9, 6f\n"
    "	bltu	$2, 0x12345, 6f\n"
    "	addu	$2, $2, 0x12345\n"
    "6:	j	$31\n"
    "	.end	tour\n	.size	tour, . - tour\n"
    /* unaligned words and halves at every offset */
    "	.align	2\n	.globl	odd\n	.type	odd, @function\n	.ent	odd\n"
    "odd:	move	$2, $0\n"
    "	move	$8, $4\n"
    "1:	beqz	$5, 2f\n"
    "	ulw	$9, 1($8)\n"
    "	usw	$9, 14($8)\n"
    "	ulh	$10, 3($8)\n"
    "	ulhu	$11, 5($8)\n"
    "	ush	$11, 9($8)\n"
    "	addu	$2, $9\n"
    "	xor	$2, $10\n"
    "	addu	$2, $11\n"
    "	addiu	$8, 1\n"
    "	subu	$5, 1\n"
    "	b	1b\n"
    "2:	jr	$31\n"
    "	.end	odd\n	.size	odd, . - odd\n"
    /* macros with jumps and traps inside */
    "	.align	2\n	.globl	arith\n	.type	arith, @function\n	.ent	arith\n"
    "arith:	abs	$8, $4\n"
    "	abs	$9, $5\n"
    "	div	$10, $4, $5\n"
    "	rem	$11, $4, $5\n"
    "	divu	$12, $8, 7\n"
    "	remu	$13, $8, $9\n"
    "	mulo	$14, $8, 3\n"
    "	mul	$15, $8, 100\n"
    "	rol	$24, $8, 5\n"
    "	ror	$25, $8, $9\n"
    "	seq	$2, $10, $11\n"
    "	sne	$3, $12, $13\n"
    "	addu	$2, $3\n"
    "	sge	$3, $14, $15\n"
    "	addu	$2, $3\n"
    "	sle	$3, $14, 44\n"
    "	addu	$2, $3\n"
    "	neg	$3, $24\n"
    "	not	$7, $25\n"
    "	xor	$3, $7\n"
    "	addu	$2, $3\n"
    "	addu	$2, $10\n	addu	$2, $11\n	addu	$2, $12\n	addu	$2, $13\n	addu	$2, $14\n	addu	$2, $15\n"
    "	and	$8, 31\n"
    "	sll	$8, 2\n"
    "	addu	$8, $6\n"
    "	lw	$9, ($8)\n"         /* an address out of abs */
    "	addu	$2, $9\n"
    "	and	$12, 15\n"
    "	sll	$12, 2\n"
    "	addu	$12, $6\n"
    "	sw	$2, ($12)\n"        /* and out of a division */
    "	jr	$31\n"
    "	.end	arith\n	.size	arith, . - arith\n"
    /* offsets that do not fit, indexed symbols: addresses through $1 */
    "	.align	2\n	.globl	far\n	.type	far, @function\n	.ent	far\n"
    "far:	la	$8, bytes\n"
    "	li	$2, 0\n"
    "1:	lbu	$9, 0x12345($8)\n"
    "	sb	$4, 0x11111($8)\n"
    "	lw	$10, cells($0)\n"
    "	and	$11, $4, 0x3c\n"
    "	lw	$12, cells+4($11)\n"
    "	sw	$12, cells+64($11)\n"
    "	sh	$12, bytes+0x11000($11)\n"
    "	addu	$2, $9\n	addu	$2, $10\n	addu	$2, $12\n"
    "	addu	$8, 1\n"
    "	sub	$4, 1\n"
    "	bgtz	$4, 1b\n"
    "	sw	$2, 60($5)\n"
    "	jr	$31\n"
    "	.end	far\n	.size	far, . - far\n"
    /* calls with the slot left to the assembler */
    "	.align	2\n	.globl	twice\n	.type	twice, @function\n	.ent	twice\n"
    "twice:	subu	$29, 40\n"
    "	sw	$31, 36($29)\n"
    "	sw	$16, 32($29)\n"
    "	move	$16, $4\n"
    "	la	$5, cells\n"
    "	jal	far\n"
    "	addu	$16, $2\n"
    "	la	$25, far\n"
    "	li	$4, 3\n"
    "	la	$5, cells+16\n"
    "	jal	$25\n"
    "	addu	$2, $16\n"
    "	la	$4, bytes+7\n"
    "	li	$5, 5\n"
    "	bal	odd\n"
    "	lw	$16, 32($29)\n"
    "	lw	$31, 36($29)\n"
    "	addu	$29, 40\n"
    "	j	$31\n"
    "	.end	twice\n	.size	twice, . - twice\n"
    /* pairs of registers */
    "	.align	2\n	.globl	pairs\n	.type	pairs, @function\n	.ent	pairs\n"
    "pairs:	li.d	$f0, 0.5\n"
    "	li	$2, 0\n"
    "1:	l.d	$f2, 0($4)\n"
    "	add.d	$f2, $f0\n"
    "	s.d	$f2, 0($4)\n"
    "	l.s	$f4, 4($4)\n"
    "	c.lt.d	$f2, $f0\n"
    "	bc1t	2f\n"
    "	lw	$8, 0($4)\n"
    "	addu	$2, $8\n"
    "2:	ld	$8, 0($4)\n"
    "	xor	$2, $9\n"
    "	sd	$8, 8($4)\n"
    "	addu	$4, 8\n"
    "	subu	$5, 1\n"
    "	bgtz	$5, 1b\n"
    "	j	$31\n"
    "	.end	pairs\n	.size	pairs, . - pairs\n"
    "	.option	pic2\n	.set	pop\n");

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 12;
	static double d[20] = { 1.5, -3, 2, 0.25, 7 };

	for (int i = 0; i < (int)sizeof bytes; i++)
		bytes[i] = (unsigned char)(i * 7 + (i >> 8));
	for (int i = 0; i < n; i++) {
		mix(tour(cells + i % 5, (unsigned)n - i));
		mix(odd(bytes + i, (unsigned)i % 9));
		mix(arith(i * 77 - 300, i * 5 - 31, cells));
		mix(far(1 + (unsigned)i % 6, cells));
		mix(twice((unsigned)i % 4 + 1));
		mix(pairs(d, 1 + i % 8));
	}
	printf("%08lx\n", sum);
	return 0;
}
