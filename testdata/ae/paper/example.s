# Figure 2 of the abstract-execution paper (Larus 1990): example.c as GCC compiled it for the MIPS R2000.  The figure
# leaves the procedures' entries and exits out; these here follow from figure 4 (sub's exit, the size of its entry) and
# from the paper's counts: 62,325 instructions without the return jumps, 10,412 data references.
# Delay slots are the assembler's, as then.
	.set	reorder
	.option	pic0
	.text
	.align	2
	.globl	main
	.type	main, @function
	.ent	main
main:
	addu	$8, $29, $0
	addiu	$29, $29, -32
	sw	$31, -32($8)
	sw	$30, -28($8)
	sw	$19, -24($8)
	sw	$18, -20($8)
	sw	$17, -16($8)
	sw	$16, -12($8)
	addu	$30, $8, $0

	ori	$16, $0, 0
	ori	$19, $0, 99
	la	$18, sub
	la	$17, a
	j	$L2
$L5:
	addiu	$29, $29, -16
	addu	$4, $0, $17
	addu	$5, $0, $16
	jal	$31, $18
	addiu	$29, $29, 16
	addiu	$17, $17, 400
	addiu	$16, $16, 1
$L2:
	ble	$16, $19, $L5

	lw	$31, -32($30)
	lw	$19, -24($30)
	lw	$18, -20($30)
	lw	$17, -16($30)
	lw	$16, -12($30)
	addu	$29, $30, $0
	lw	$30, -28($30)
	j	$31
	.end	main
	.size	main, . - main

	.align	2
	.globl	sub
	.type	sub, @function
	.ent	sub
sub:
	addu	$8, $29, $0
	addiu	$29, $29, -16
	sw	$30, -16($8)
	sw	$31, -12($8)
	addu	$30, $8, $0

	ori	$3, $0, 0
	ori	$6, $0, 99
	j	$L7
$L10:
	addu	$2, $5, $3
	sw	$2, 0($4)
	addiu	$4, $4, 4
	addiu	$3, $3, 1
$L7:
	ble	$3, $6, $L10

	addu	$8, $30, $0
	lw	$30, -16($8)
	lw	$31, -12($8)
	addu	$29, $8, $0
	j	$31
	.end	sub
	.size	sub, . - sub

	.comm	a, 40000, 4
