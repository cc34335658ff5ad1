# What QEMU does in pieces on MIPS, and what it says of delay slots.  The comment of an instruction has its references as
# fetchmem must write them, `-` if it is not executed; execution goes only forward.
	.set	noreorder
	.set	noat
	.text
	.globl	__start
__start:
	lui	$8, 0x41		# I
	lwl	$9, 3($8)		# I L 410000,4
	lwr	$9, 0($8)		# I L 410000,4
	lwl	$9, 4($8)		# I L 410004,4
	lwr	$9, 1($8)		# I L 410000,4
	lwl	$9, 6($8)		# I L 410004,4
	lwr	$9, 7($8)		# I L 410004,4
	swl	$9, 11($8)		# I S 410008,4
	swr	$9, 8($8)		# I S 410008,4
	swl	$9, 12($8)		# I S 41000c,4
	swr	$9, 13($8)		# I S 41000c,4
	swl	$9, 14($8)		# I S 41000c,4
	swr	$9, 15($8)		# I S 41000c,4
	ll	$9, 16($8)		# I L 410010,4
	sc	$9, 16($8)		# I S 410010,4
	li	$9, 4			# I
	ll	$10, 16($8)		# I L 410010,4
	sw	$9, 16($8)		# I S 410010,4
	sc	$10, 16($8)		# I S 410010,4
	ldc1	$f0, 32($8)		# I L 410020,8
	sdc1	$f0, 40($8)		# I S 410028,8
	lwc1	$f2, 44($8)		# I L 41002c,4
	swc1	$f2, 32($8)		# I S 410020,4
	ldxc1	$f0, $0($8)		# I L 410000,8
	sdxc1	$f0, $0($8)		# I S 410000,8
	lwxc1	$f2, $9($8)		# I L 410004,4
	swxc1	$f2, $9($8)		# I S 410004,4
	lb	$10, 1($8)		# I L 410001,1
	lbu	$10, 3($8)		# I L 410003,1
	lh	$10, 2($8)		# I L 410002,2
	lhu	$10, 6($8)		# I L 410006,2
	sh	$10, 6($8)		# I S 410006,2
	sb	$10, 5($8)		# I S 410005,1
	pref	0, 0($8)		# I
	sync				# I
	# branch and slot, taken and not
	beq	$9, $0, 1f		# I
	lw	$10, 4($8)		# I L 410004,4
	bne	$9, $0, 1f		# I
	lw	$10, 8($8)		# I L 410008,4
	sw	$10, 0($8)		# -
	# branch-likely: the slot of one not taken is not there
1:	beql	$9, $0, 1f		# I
	lw	$10, 4($8)		# -
	nop				# I
	beql	$9, $0, 1f		# I
	nop				# -
	bnel	$9, $0, 1f		# I
	lw	$10, 8($8)		# I L 410008,4
	sw	$10, 0($8)		# -
1:	bnel	$9, $9, 1f		# I
	sw	$10, 0($8)		# -
	bltzl	$9, 1f			# I
	sw	$10, 0($8)		# -
	blezl	$9, 1f			# I
	nop				# -
	bgtzl	$9, 1f			# I
	nop				# I
	nop				# -
1:	bgezl	$9, 1f			# I
	sw	$10, 4($8)		# I S 410004,4
	nop				# -
	# to behind the slot, either way
1:	bnel	$9, $0, 1f		# I
	sw	$10, 4($8)		# I S 410004,4
1:	beql	$9, $0, 1f		# I
	sw	$10, 4($8)		# -
1:	mtc1	$0, $f0			# I
	mtc1	$0, $f1			# I
	c.eq.s	$f0, $f1		# I
	bc1fl	1f			# I
	lw	$10, 4($8)		# -
	bc1tl	1f			# I
	lw	$10, 4($8)		# I L 410004,4
	nop				# -
1:	bc1t	1f			# I
	lw	$10, 4($8)		# I L 410004,4
	nop				# -
	# calls
1:	bal	1f			# I
	sw	$10, 8($8)		# I S 410008,4
	nop				# -
1:	bgezall	$9, 1f			# I
	sw	$10, 8($8)		# I S 410008,4
	nop				# -
1:	bltzall	$9, 1f			# I
	sw	$10, 8($8)		# -
	addiu	$31, $31, 16		# I
	jr	$31			# I
	lwr	$10, 9($8)		# I L 410008,4
	nop				# -
1:	nop				# I
	li	$4, 0			# I
	li	$2, 4001		# I
	syscall				# I
	.data
	.space	64
