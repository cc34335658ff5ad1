/*
 * Traced functions for MIPS by hand, as aerw would write them: what a function
 * does is a macro with an argument t, 1 in the twin and 0 in the original and
 * in its plain copy.  Each notes the stack pointer that it is entered with in
 * sps[], for mips_use.c to know what the events must be.
 */
	.set	noreorder
	.set	nomacro
	.set	noat
	.abicalls
	.option	pic0

#ifdef __MIPSEB__
#define USW(r, at, b) swl r, at(b); swr r, at+3(b)
#else
#define USW(r, at, b) swr r, at(b); swl r, at+3(b)
#endif

	.macro	note
	lui	$8, %hi(nsps)
	lw	$9, %lo(nsps)($8)
	addiu	$10, $9, 4
	andi	$10, $10, 0xfff         /* of 1024 */
	sw	$10, %lo(nsps)($8)
	lui	$8, %hi(sps)
	addu	$8, $8, $9
	sw	$29, %lo(sps)($8)
	.endm

	.macro	away t
	.if	\t
	lui	$8, %hi(__ae_ptr)
	sw	$23, %lo(__ae_ptr)($8)
	.endif
	.endm

	.macro	back t
	.if	\t
	jal	__ae_back
	 nop
	.endif
	.endm

/* int leaf(int a): a + 1 */
	.macro	leaf_body t
	note
	jr	$31
	 addiu	$2, $4, 1
	.endm

/* int take(int a, int b): needs both, and sp; a - b */
	.macro	take_body t
	note
	jr	$31
	 subu	$2, $4, $5
	.endm

/* int call(int (*f)(int), int a): f(a) + 2.  What the ABI keeps is looked at by the caller. */
	.macro	call_body t
	note
	addiu	$29, $29, -32
	sw	$31, 28($29)
	sw	$16, 24($29)
	move	$25, $4
	move	$4, $5
	away	\t
	jalr	$25
	 addiu	$16, $5, 2
	move	$3, $2
	mtlo	$2
	mthi	$3
	back	\t
	mflo	$8                      /* __ae_back keeps these */
	subu	$8, $8, $2
	mfhi	$9
	subu	$9, $9, $3
	or	$8, $8, $9
	addu	$2, $2, $8
	addiu	$16, $16, -2
	lw	$16, 24($29)
	lw	$31, 28($29)
	addiu	$2, $2, 2
	jr	$31
	 addiu	$29, $29, 32
	.endm

/* int pair(int (*f)(int), int (*g)(int), int a): f(a) + g(a) */
	.macro	pair_body t
	note
	addiu	$29, $29, -32
	sw	$31, 28($29)
	sw	$16, 24($29)
	sw	$5, 36($29)
	sw	$6, 40($29)
	move	$25, $4
	away	\t
	jalr	$25
	 move	$4, $6
	back	\t
	move	$16, $2
	lw	$25, 36($29)
	lw	$4, 40($29)
	away	\t
	jalr	$25
	 nop
	back	\t
	addu	$2, $2, $16
	lw	$16, 24($29)
	lw	$31, 28($29)
	jr	$31
	 addiu	$29, $29, 32
	.endm

/* int tail(int (*f)(int), int a): jumps to f */
	.macro	tail_body t
	note
	move	$25, $4
	away	\t
	jr	$25
	 move	$4, $5
	.endm

/* int jump(int (*setjmp)(jmp_buf), jmp_buf b, int (*f)(int), int a): site 0x1234; f(a), or what longjmp brings + 100 */
	.macro	jump_body t
	note
	addiu	$29, $29, -40
	sw	$31, 36($29)
	sw	$28, 24($29)
	sw	$6, 32($29)
	sw	$7, 28($29)
	move	$25, $4
	away	\t
	jalr	$25
	 move	$4, $5
	li	$3, 0x30
	li	$4, 0x40
	li	$5, 0x50
	li	$6, 0x60
	li	$7, 0x70
	li	$28, 0x280
	mthi	$3
	mtlo	$4
	.if	\t
	li	$8, 0x1234
	jal	__ae_land
	 nop
	.endif
	mfhi	$8                      /* all of that stays: the sum tells */
	mflo	$9
	addu	$9, $9, $8
	addu	$9, $9, $3
	addu	$9, $9, $4
	addu	$9, $9, $5
	addu	$9, $9, $6
	addu	$9, $9, $7
	addu	$9, $9, $28
	lui	$8, %hi(kept)
	sw	$9, %lo(kept)($8)
	lw	$28, 24($29)
	bne	$2, $0, 1f
	 nop
	lw	$25, 32($29)
	lw	$4, 28($29)
	away	\t
	jalr	$25
	 nop
	back	\t
	b	2f
	 nop
1:	addiu	$2, $2, 100
2:	lw	$31, 36($29)
	jr	$31
	 addiu	$29, $29, 40
	.endm

/* void pad(unsigned n): n bytes of events, in words of 5a 5b 5c 5d and bytes of 5e */
	.macro	pad_body t
	note
	lui	$8, 0x5a5b
	ori	$8, $8, 0x5c5d
	li	$9, 0x5e
1:	sltiu	$10, $4, 4
	bne	$10, $0, 2f
	 nop
	.if	\t
	USW($8, 0, $23)
	addiu	$23, $23, 4
	.endif
	b	1b
	 addiu	$4, $4, -4
2:	beq	$4, $0, 3f
	 nop
	.if	\t
	sb	$9, 0($23)
	addiu	$23, $23, 1
	.endif
	b	2b
	 addiu	$4, $4, -1
3:	jr	$31
	 nop
	.endm

/* void spin(volatile int *p): until *p is not 0, without an event */
	.macro	spin_body t
	note
1:	lw	$8, 0($4)
	beq	$8, $0, 1b
	 nop
	jr	$31
	 nop
	.endm

/* int load(int *p) */
	.macro	load_body t
	note
	lw	$2, 0($4)
	jr	$31
	 nop
	.endm

/* all that a caller may hand over: $2 = the four arguments and the one on the stack, $3 = static chain + own address, $f0 = $f12 + $f14 */
	.macro	abi_body t
	note
	addu	$2, $4, $5
	addu	$2, $2, $6
	addu	$2, $2, $7
	lw	$3, 16($29)
	addu	$2, $2, $3
	addu	$3, $15, $25
	jr	$31
	 add.d	$f0, $f12, $f14
	.endm

	.macro	func f, needs=0
	.text
	.align	2
	.globl	\f
	.type	\f, @function
	.ent	\f
\f:
	\f\()_body 0
	.end	\f
	.size	\f, .-\f
	.section aeplain,"ax",@progbits
.Lp\f:	\f\()_body 0
	.section aefn,"aw",@progbits
.Ln\f:	.word	\f, .Lh\f, 3
	.section aetext,"ax",@progbits
.Lh\f:	lui	$24, %hi(__stop_aetext)
	addiu	$24, $24, %lo(__stop_aetext)
	lui	$14, %hi(.Lx\f)
	addiu	$14, $14, %lo(.Lx\f)
	sltu	$24, $31, $24
	beq	$24, $0, 1f
	 nop
	lui	$24, %hi(__ae_cb)
	lw	$24, %lo(__ae_cb)($24)
	beq	$24, $0, .Lx\f
	 nop
	j	__ae_again
	 nop
1:	j	__ae_enter
	 nop
	.word	.Lp\f
.Lx\f:	lui	$24, %hi(__ae_ptr)
	sw	$0, %lo(__ae_ptr)($24)
	lui	$24, %hi(.Ln\f + 8)
	lhu	$24, %lo(.Ln\f + 8)($24)
	sb	$24, 0($23)
	srl	$24, $24, 8
	sb	$24, 1($23)
	.if	\needs
	USW($4, 2, $23)
	USW($5, 6, $23)
	USW($29, 10, $23)
	addiu	$23, $23, 14
	.else
	addiu	$23, $23, 2
	.endif
	j	.Lf\f
	 nop
.Lf\f:	\f\()_body 1
	.endm

	func	leaf
	func	take, 1
	func	call
	func	tail
	func	jump
	func	pad
	func	spin
	func	load
	func	abi
	func	pair

	.section .note.GNU-stack,"",@progbits
