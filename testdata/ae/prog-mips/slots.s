# The assembly of slots.c
	.module	fp=xx
	.module	nooddspreg
	.module	arch=mips32r2
	.text
	.set	push
	.option	pic0
	.set	noreorder
	.set	nomacro

# a pointer loaded in the slot, used behind it on either side
	.align	2
	.globl	follow
	.type	follow, @function
	.ent	follow
follow:
	move	$2, $0
1:	beq	$5, $0, 3f
	lw	$8, 0($4)
	andi	$9, $5, 1
	bne	$9, $0, 2f
	addiu	$5, $5, -1
	lw	$9, 4($8)
	b	1b
	addiu	$4, $4, 4
2:	lw	$9, 8($8)
	addu	$2, $2, $9
	j	1b
	lw	$4, 64($4)	# the list of pointers again
3:	jr	$31
	lw	$3, 0($8)
	.end	follow
	.size	follow, . - follow

# the branch looks before its slot changes the register
	.align	2
	.globl	compared
	.type	compared, @function
	.ent	compared
compared:
	move	$2, $0
1:	bgtz	$5, 1b
	addiu	$5, $5, -1
	beq	$5, $0, 1f
	addiu	$5, $5, 4
	sll	$8, $5, 2
	addu	$8, $4, $8
	lw	$2, 0($8)
1:	slt	$9, $5, $2
	bne	$9, $0, 1f
	lw	$9, 4($4)
	sw	$9, 8($4)
1:	jr	$31
	addu	$2, $2, $9
	.end	compared
	.size	compared, . - compared

# arguments and results of calls in slots
	.align	2
	.globl	callee
	.type	callee, @function
	.ent	callee
callee:
	sll	$8, $5, 2
	addu	$4, $4, $8
	lw	$2, 0($4)
	jr	$31
	addiu	$4, $4, 8
	.end	callee
	.size	callee, . - callee

	.align	2
	.globl	caller
	.type	caller, @function
	.ent	caller
caller:
	addiu	$29, $29, -32
	sw	$31, 28($29)
	andi	$5, $5, 7
	sw	$5, 4($29)
	jal	callee
	addiu	$4, $4, 4
	lw	$6, 0($4)	# what the callee's slot made
	jal	callee
	li	$5, 3
	bal	callee
	lw	$5, 4($29)
	lw	$31, 28($29)
	addu	$2, $2, $6
	jr	$31
	addiu	$29, $29, 32
	.end	caller
	.size	caller, . - caller

# the slot changes the register that the jump goes through, and the one with the link
	.align	2
	.globl	through
	.type	through, @function
	.ent	through
through:
	addiu	$29, $29, -32
	sw	$31, 28($29)
	sw	$0, 4($29)
	lui	$25, %hi(callee)
	addiu	$25, $25, %lo(callee)
	andi	$5, $5, 3
	jalr	$25
	move	$25, $4
	sw	$2, 12($25)
	lui	$8, %hi(callee)
	addiu	$8, $8, %lo(callee)
	jalr	$8
	sw	$8, 8($29)
	lw	$31, 28($29)
	lw	$8, 8($29)
	addiu	$29, $29, 32
	jr	$31
	xor	$31, $31, $31
	.end	through
	.size	through, . - through

# a table of labels; the slot has a load of its own
	.align	2
	.globl	table
	.type	table, @function
	.ent	table
table:
	andi	$5, $5, 3
	sll	$8, $5, 2
	lui	$9, %hi(places)
	addiu	$9, $9, %lo(places)
	addu	$9, $9, $8
	lw	$9, 0($9)
	jr	$9
	lw	$2, 0($4)
$L0:	b	$L3
	addiu	$2, $2, 10
$L1:	lw	$8, 4($4)
	addu	$2, $2, $8
$L2:	sw	$2, 8($4)
$L3:	jr	$31
	addiu	$2, $2, 1
	.end	table
	.size	table, . - table

# the slot of one branch is the target of another
	.align	2
	.globl	shared
	.type	shared, @function
	.ent	shared
shared:
	beq	$5, $0, 1f
	li	$2, 1
	blez	$5, 2f
1:	addiu	$4, $4, 4
	lw	$8, 0($4)
	addu	$2, $2, $8
2:	sw	$2, 16($4)
	jr	$31
	lw	$3, 0($4)
	.end	shared
	.size	shared, . - shared

# $1 is a register like any other, and lives across branches
	.align	2
	.globl	at
	.type	at, @function
	.ent	at
at:
	.set	noat
	move	$1, $4
	move	$2, $0
1:	lw	$8, 0($1)
	beq	$8, $5, 2f
	addiu	$1, $1, 4
	addu	$2, $2, $8
	sltiu	$9, $2, 5000
	bne	$9, $0, 1b
	addiu	$2, $2, 1000
2:	lw	$3, -4($1)
	jr	$31
	addu	$2, $2, $3
	.set	at
	.end	at
	.size	at, . - at

# frames made and unmade in slots
	.align	2
	.globl	frames
	.type	frames, @function
	.ent	frames
frames:
	beq	$5, $0, 1f
	addiu	$29, $29, -40
	sw	$31, 36($29)
	sw	$16, 32($29)
	move	$16, $4
	addiu	$4, $4, 4
	jal	frames
	addiu	$5, $5, -1
	lw	$8, 0($16)
	lw	$31, 36($29)
	lw	$16, 32($29)
	addu	$2, $2, $8
	jr	$31
	addiu	$29, $29, 40
1:	sw	$4, 0($29)
	lw	$2, 0($29)
	lw	$2, 0($2)
	jr	$31
	addiu	$29, $29, 40
	.end	frames
	.size	frames, . - frames
	.set	pop
	.section .rodata
	.align	2
places:	.word	$L0, $L1, $L2, $L3
	.text
