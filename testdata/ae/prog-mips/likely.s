# The assembly of likely.c
	.module	fp=xx
	.module	nooddspreg
	.module	arch=mips32r2
	.text
	.set	push
	.set	noreorder
	.set	nomacro

	.align	2
	.globl	kinds
	.type	kinds, @function
	.ent	kinds
kinds:
	move	$2, $0
	move	$8, $4
	beql	$5, $6, 1f
	lw	$2, 4($4)
	sw	$5, 8($4)
1:	bnel	$5, $6, 1f
	addiu	$8, $4, 16	# the address depends on whether it ran
	addiu	$2, $2, 1
1:	lw	$9, 0($8)
	addu	$2, $2, $9
	blezl	$5, 1f
	sw	$2, 12($4)
	addiu	$2, $2, 3
1:	bgtzl	$5, 1f
	lbu	$9, 13($4)
	addiu	$9, $9, 5
1:	bltzl	$6, 1f
	sb	$9, 1($8)
	lh	$9, 2($8)
1:	bgezl	$6, 1f
	sh	$9, 18($8)
	nop
1:	addu	$2, $2, $9
	beql	$2, $0, 1f	# to behind the slot
	lw	$2, 0($4)
1:	bnel	$2, $2, 1f	# never taken
	sw	$2, 0($0)
	beql	$2, $2, 1f	# always
	sw	$2, 40($4)
	break
1:	jr	$31
	nop
	.end	kinds
	.size	kinds, . - kinds

	.align	2
	.globl	turns
	.type	turns, @function
	.ent	turns
turns:
	move	$2, $0
	lw	$8, 0($4)
1:	addu	$2, $2, $8
	addiu	$5, $5, -1
	addiu	$4, $4, 4
	bgtzl	$5, 1b
	lw	$8, 0($4)	# the next turn's load
	jr	$31
	sw	$2, 0($4)
	.end	turns
	.size	turns, . - turns

	.align	2
	.globl	list
	.type	list, @function
	.ent	list
list:
	beql	$4, $0, 2f
	li	$2, -1
	move	$2, $0
1:	lw	$8, 4($4)
	lw	$4, 0($4)
	bnel	$4, $0, 1b
	addu	$2, $2, $8
2:	jr	$31
	nop
	.end	list
	.size	list, . - list

	.align	2
	.globl	floats
	.type	floats, @function
	.ent	floats
floats:
	move	$2, $0
	c.lt.s	$f12, $f14
	bc1tl	1f
	lwc1	$f12, 0($6)
	swc1	$f14, 4($6)
1:	c.eq.s	$f12, $f12
	bc1fl	1f
	swc1	$f12, 8($6)
	lw	$2, 4($6)
1:	jr	$31
	lw	$3, 8($6)
	.end	floats
	.size	floats, . - floats

	.align	2
	.globl	links
	.type	links, @function
	.ent	links
links:
	move	$6, $0
	addiu	$29, $29, -32
	sw	$31, 28($29)
	move	$7, $0
	bgezall	$5, leaf
	lw	$6, 0($4)
	addu	$3, $7, $6
	sw	$3, 20($29)
	bltzall	$5, leaf
	lw	$6, 8($4)
	bal	leaf
	lw	$6, 20($29)
	lw	$31, 28($29)
	jr	$31
	addiu	$29, $29, 32
	.end	links
	.size	links, . - links

	.align	2
	.globl	leaf
	.type	leaf, @function
	.ent	leaf
leaf:
	sw	$6, 12($4)
	addu	$2, $7, $6
	jr	$31
	move	$7, $2
	.end	leaf
	.size	leaf, . - leaf
	.set	pop
