# The assembly of macros.c
	.module	fp=xx
	.module	nooddspreg
	.module	arch=mips32r2
	.text
	.set	push
	.option	pic0

# loops, compares with constants and registers, symbols as operands
	.align	2
	.globl	tour
	.type	tour, @function
	.ent	tour
tour:
	la	$8, cells
	li	$2, 0
	li	$9, 0x12345678
1:
	ble	$5, 2, 3f
	lw	$10, 0($4)
	and	$11, $10, 63
	sll	$11, 2
	addu	$11, $8
	lw	$11, ($11)
	addu	$2, $2, $11
	bgt	$10, $11, 2f
	xor	$2, $9
	sw	$2, cells+200
2:
	addiu	$4, 4
	subu	$5, 1
	bgeu	$5, 3, 1b
3:
	lw	$9, cells+4
	beq	$9, 0x10001, 4f
	bne	$9, -7, 5f
4:
	li	$2, -1
5:
	blt	$2, $9, 6f
	bltu	$2, 0x12345, 6f
	addu	$2, $2, 0x12345
6:
	j	$31
	.end	tour
	.size	tour, . - tour

# unaligned words and halves at every offset
	.align	2
	.globl	odd
	.type	odd, @function
	.ent	odd
odd:
	move	$2, $0
	move	$8, $4
1:
	beqz	$5, 2f
	ulw	$9, 1($8)
	usw	$9, 14($8)
	ulh	$10, 3($8)
	ulhu	$11, 5($8)
	ush	$11, 9($8)
	addu	$2, $9
	xor	$2, $10
	addu	$2, $11
	addiu	$8, 1
	subu	$5, 1
	b	1b
2:
	jr	$31
	.end	odd
	.size	odd, . - odd

# macros with jumps and traps inside
	.align	2
	.globl	arith
	.type	arith, @function
	.ent	arith
arith:
	abs	$8, $4
	abs	$9, $5
	div	$10, $4, $5
	rem	$11, $4, $5
	divu	$12, $8, 7
	remu	$13, $8, $9
	mul	$14, $8, 3
	mul	$15, $8, 100
	rol	$24, $8, 5
	ror	$25, $8, $9
	seq	$2, $10, $11
	sne	$3, $12, $13
	addu	$2, $3
	sge	$3, $14, $15
	addu	$2, $3
	sle	$3, $14, 44
	addu	$2, $3
	neg	$3, $24
	not	$7, $25
	xor	$3, $7
	addu	$2, $3
	addu	$2, $10
	addu	$2, $11
	addu	$2, $12
	addu	$2, $13
	addu	$2, $14
	addu	$2, $15
	and	$8, 31
	sll	$8, 2
	addu	$8, $6
	lw	$9, ($8)	# an address out of abs
	addu	$2, $9
	and	$12, 15
	sll	$12, 2
	addu	$12, $6
	sw	$2, ($12)	# and out of a division
	jr	$31
	.end	arith
	.size	arith, . - arith

# offsets that do not fit, indexed symbols: addresses through $1
	.align	2
	.globl	far
	.type	far, @function
	.ent	far
far:
	la	$8, bytes
	li	$2, 0
1:
	lbu	$9, 0x12345($8)
	sb	$4, 0x11111($8)
	lw	$10, cells($0)
	and	$11, $4, 0x3c
	lw	$12, cells+4($11)
	sw	$12, cells+64($11)
	sh	$12, bytes+0x11000($11)
	addu	$2, $9
	addu	$2, $10
	addu	$2, $12
	addu	$8, 1
	sub	$4, 1
	bgtz	$4, 1b
	sw	$2, 60($5)
	jr	$31
	.end	far
	.size	far, . - far

# calls with the slot left to the assembler
	.align	2
	.globl	twice
	.type	twice, @function
	.ent	twice
twice:
	subu	$29, 40
	sw	$31, 36($29)
	sw	$16, 32($29)
	move	$16, $4
	la	$5, cells
	jal	far
	addu	$16, $2
	la	$25, far
	li	$4, 3
	la	$5, cells+16
	jal	$25
	addu	$2, $16
	la	$4, bytes+7
	li	$5, 5
	bal	odd
	lw	$16, 32($29)
	lw	$31, 36($29)
	addu	$29, 40
	j	$31
	.end	twice
	.size	twice, . - twice

# pairs of registers
	.align	2
	.globl	pairs
	.type	pairs, @function
	.ent	pairs
pairs:
	li.d	$f0, 0.5
	li	$2, 0
1:
	l.d	$f2, 0($4)
	add.d	$f2, $f0
	s.d	$f2, 0($4)
	l.s	$f4, 4($4)
	c.lt.d	$f2, $f0
	bc1t	2f
	lw	$8, 0($4)
	addu	$2, $8
2:
	ld	$8, 0($4)
	xor	$2, $9
	sd	$8, 8($4)
	addu	$4, 8
	subu	$5, 1
	bgtz	$5, 1b
	j	$31
	.end	pairs
	.size	pairs, . - pairs
	.set	pop
