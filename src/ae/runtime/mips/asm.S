/*
 * The part of the runtime through which rewritten code enters and leaves, for MIPS o32. It is in
 * section aetext, so a signal that arrives in it counts as one in traced code.
 *
 * Invariant at each instruction of aetext on the traced thread: all events before (__ae_ptr ?
 * __ae_ptr : $23) are complete. No store of an event is in a delay slot: it may fault, and is then
 * repeated.
 *
 * The side stack has an entry for each traced function that untraced code called: return address,
 * sp at entry, caller's $23. At its bottom is a sentinel with sp ~0. A marker with sp 0 stands for
 * frames that a longjmp abandoned and that are not in the event stream yet. A call leaves sp
 * unchanged, but a caller has a frame: a live entry is strictly below, in memory, the entry before
 * it.
 *
 * __ae_cb is set once untraced code has called back since it was entered: if it then jumps (not
 * calls) to a traced function, $23 is old and sp unknown.
 *
 * The contract with rewritten code is stated at each routine; $1 is not the assembler's temporary
 * here.
 */
#include "machine.h"

	.set	noreorder
	.set	noat
	.set	nomacro
	.set	mips32r2
	.abicalls
	.option	pic0            /* j and jal go directly to their targets */

	.macro	global name
	.globl	\name
	.hidden	\name
	.endm

	.macro	var name, size, align=4
	global	\name
	.type	\name, @object
	.size	\name, \size
	.balign	\align
\name:	.zero	\size
	.endm

	.macro	routine name
	.balign	16
	global	\name
	.type	\name, @function
	.ent	\name
\name:
	.endm

	.macro	endroutine name
	.end	\name
	.size	\name, .-\name
	.endm

/* reg = the word at sym; sym = reg, by way of tmp */
	.macro	get reg, sym
	lui	\reg, %hi(\sym)
	lw	\reg, %lo(\sym)(\reg)
	.endm
	.macro	put reg, sym, tmp
	lui	\tmp, %hi(\sym)
	sw	\reg, %lo(\sym)(\tmp)
	.endm

/* A word of an event, unaligned. */
	.macro	event reg, at
#ifdef __MIPSEB__
	swr	\reg, \at+3($23)
	swl	\reg, \at($23)
#else
	swl	\reg, \at+3($23)
	swr	\reg, \at($23)
#endif
	.endm

#define SIZE 12
#define RET -12
#define SP -8
#define S7 -4

	.bss
/* struct ae_thread of the only thread that is recorded */
	global	ae_only
	.type	ae_only, @object
	.size	ae_only, 1024
	.balign	8
ae_only:
	var	ae_side_top, 4
	var	ae_fs, 4
	var	__ae_ptr, 4
	var	ae_side_end, 4
	var	__ae_s, 16
	var	__ae_cb, 4
	var	ae_live, 4
	var	ae_kept, 4
	var	ae_pending, 4
	var	ae_depth, 4
	.zero	1024-52
	var	ae_rec, 4
	var	ae_open, 4
	var	ae_armed, 4
	var	ae_first_thunk, 4
	var	ae_shard, 4096, 64

	.section aetext,"ax",@progbits
/*
 * $14 = F.fast, the plain copy's address in the word before; $31, $29 as at F's entry.  Changes
 * $1-$3, $8-$13, $24.
 */
routine	__ae_enter
	get	$10, ae_live
	rdhwr	$3, $29
	beq	$10, $0, .Loff
	 nop
	get	$8, ae_fs
	bne	$8, $3, .Lthread
	 nop
	get	$9, __ae_ptr
	beq	$9, $0, .Lplain
	 nop
	get	$11, ae_side_top
	lw	$12, SP($11)
	sltu	$12, $29, $12           /* the top entry is higher: it is live */
	beq	$12, $0, .Ldead
	 nop
.Lpush:
	get	$12, ae_side_end
	sltu	$12, $11, $12
	beq	$12, $0, .Lthread       /* full */
	 nop
	sw	$31, RET+SIZE($11)
	sw	$29, SP+SIZE($11)
	sw	$23, S7+SIZE($11)
	addiu	$11, $11, SIZE
	put	$11, ae_side_top, $12
	lui	$31, %hi(__ae_leave)
	addiu	$31, $31, %lo(__ae_leave)
	b	.Lentered
	 move	$23, $9

/* The top entries are not above this frame: a longjmp abandoned them. A marker replaces them. */
.Ldead:
	lw	$12, SP($11)
	beq	$12, $0, .Lpush         /* a marker is kept */
	 nop
1:	addiu	$11, $11, -SIZE
	lw	$12, SP($11)
	sltu	$12, $29, $12
	beq	$12, $0, 1b
	 nop
	addiu	$11, $11, SIZE
	b	.Lpush
	 sw	$0, SP($11)

.Lthread:
	srl	$8, $3, 12
	andi	$8, $8, 63
	sll	$8, $8, 6
	lui	$9, %hi(ae_shard)
	addiu	$9, $9, %lo(ae_shard)
	addu	$8, $8, $9
1:	ll	$9, 0($8)
	addiu	$9, $9, 1
	sc	$9, 0($8)
	beq	$9, $0, 1b
	 nop
.Lplain:
	lw	$8, -4($14)
	jr	$8
	 nop

/* Outside a region. One that is wanted begins here, unless functions are running that were traced when the last one ended. */
.Loff:
	get	$10, ae_pending
	beq	$10, $0, .Lplain
	 nop
	get	$8, ae_fs
	bne	$8, $3, .Lplain
	 nop
	get	$9, __ae_ptr
	beq	$9, $0, .Lplain
	 nop
	get	$11, ae_side_top
1:	lw	$12, SP($11)
	sltu	$13, $29, $12
	bne	$13, $0, 2f
	 nop
	b	1b
	 addiu	$11, $11, -SIZE
2:	li	$13, -1
	bne	$12, $13, .Lplain
	 nop
	put	$0, ae_pending, $12
	li	$13, 1
	put	$13, ae_live, $12
	put	$11, ae_side_top, $12
	get	$13, ae_kept
	bne	$13, $0, .Lpush
	 nop
	lui	$9, (AE_MAP + 16) >> 16         /* AE_BUF */
	ori	$9, $9, (AE_MAP + 16) & 0xffff
	b	.Lpush
	 nop
endroutine __ae_enter

/* The entry of AE_FROM's function.  Changes $1-$3, $8. */
routine	ae_first
	get	$8, ae_armed
	beq	$8, $0, 1f
	 nop
	rdhwr	$3, $29
	get	$8, ae_fs
	bne	$8, $3, 1f
	 nop
	put	$0, ae_armed, $8
	get	$8, ae_rec
	put	$8, ae_pending, $1
1:	get	$8, ae_first_thunk
	jr	$8
	 nop
endroutine ae_first

/*
 * A thunk entered from traced code's return address, but after callbacks (__ae_cb): $14 = F.fast.
 * Changes $23 and $24. The event says that a function entered with this sp follows.
 */
routine	__ae_again
	get	$23, __ae_ptr
.Lentered:
	li	$24, 0xfe
	sb	$24, 0($23)
	event	$29, 1
	addiu	$23, $23, 5
	jr	$14
	 nop
endroutine __ae_again

/*
 * Reached by the return of a function that __ae_enter entered. Changes $1, $8-$15, $24, $25, $31;
 * restores $23.
 */
routine	__ae_leave
	get	$8, __ae_ptr
	bne	$8, $0, 1f
	 nop
	put	$23, __ae_ptr, $8
1:	li	$8, 1
	put	$8, __ae_cb, $9
	get	$11, ae_side_top
	lw	$12, SP($11)
	bne	$12, $29, .Lsearch
	 nop
	lw	$31, RET($11)
	lw	$23, S7($11)
	addiu	$11, $11, -SIZE
	lui	$12, %hi(ae_side_top)
	jr	$31
	 sw	$11, %lo(ae_side_top)($12)

/*
 * Entries after ours: dead ones if they are not higher on the stack; others belong to another stack
 * (a coroutine) and are kept.
 */
.Lsearch:
	li	$13, -1
	move	$9, $11
2:	addiu	$9, $9, -SIZE
	lw	$12, SP($9)
	beq	$12, $13, .Llost
	 nop
	bne	$12, $29, 2b
	 nop
	lw	$31, RET($9)
	lw	$23, S7($9)
	addiu	$10, $9, -SIZE          /* where the kept ones are copied to */
3:	beq	$9, $11, 4f
	 nop
	addiu	$9, $9, SIZE
	lw	$12, SP($9)
	sltu	$13, $29, $12
	beq	$13, $0, 3b
	 nop
	lw	$14, RET($9)
	lw	$15, S7($9)
	sw	$14, RET+SIZE($10)
	sw	$12, SP+SIZE($10)
	sw	$15, S7+SIZE($10)
	b	3b
	 addiu	$10, $10, SIZE
4:	sw	$0, SP+SIZE($10)        /* the marker */
	addiu	$10, $10, SIZE
	lui	$12, %hi(ae_side_top)
	jr	$31
	 sw	$10, %lo(ae_side_top)($12)
.Llost:
	break                           /* the stack was overwritten: there is no return address */
endroutine __ae_leave

/* After the call of an unknown callee.  Changes $1, $8-$15, $24, $25, $31 and $23. */
routine	__ae_back
	lui	$8, %hi(__ae_ptr)
	lw	$9, %lo(__ae_ptr)($8)
	beq	$9, $0, .Lback_noptr
	 nop
	move	$23, $9
	sw	$0, %lo(__ae_ptr)($8)
	lui	$10, %hi(ae_side_top)
	lw	$11, %lo(ae_side_top)($10)
	lw	$12, SP($11)
	sltu	$12, $12, $29
	bne	$12, $0, .Lunwind
	 nop
2:	put	$0, __ae_cb, $8
	sb	$0, 0($23)
	jr	$31
	 addiu	$23, $23, 1
.Lunwind:
	addiu	$11, $11, -SIZE
	lw	$12, SP($11)
	sltu	$12, $12, $29
	bne	$12, $0, .Lunwind
	 nop
	sw	$11, %lo(ae_side_top)($10)
	li	$8, 0xfd
	sb	$8, 0($23)
	event	$29, 1
	b	2b
	 addiu	$23, $23, 5
/* Traced code runs, so no handler that interrupted it does: it left by a jump. */
.Lback_noptr:
	get	$9, ae_depth
	beq	$9, $0, 2b
	 nop
	move	$15, $31
	jal	.Lsave_lost
	 nop
	b	2b
	 move	$31, $15
endroutine __ae_back

/* After a call of setjmp and the like: $8 = site.  Changes $1, $8-$15, $24, $25, $31 and $23. */
routine	__ae_land
	lui	$13, %hi(__ae_ptr)
	lw	$9, %lo(__ae_ptr)($13)
	beq	$9, $0, .Lland_noptr
	 nop
	move	$23, $9
	sw	$0, %lo(__ae_ptr)($13)
1:	lui	$10, %hi(ae_side_top)
	lw	$11, %lo(ae_side_top)($10)
2:	lw	$12, SP($11)
	sltu	$12, $12, $29
	beq	$12, $0, 3f
	 nop
	b	2b
	 addiu	$11, $11, -SIZE
3:	sw	$11, %lo(ae_side_top)($10)
	put	$0, __ae_cb, $9
	li	$9, 0xff
	sb	$9, 0($23)
	event	$29, 1
	srl	$9, $8, 8
#ifdef __MIPSEB__
	sb	$9, 5($23)
	sb	$8, 6($23)
#else
	sb	$8, 5($23)
	sb	$9, 6($23)
#endif
	jr	$31
	 addiu	$23, $23, 7
.Lland_noptr:
	get	$9, ae_depth
	beq	$9, $0, 1b
	 nop
	move	$15, $31
	jal	.Lsave_lost
	 nop
	b	1b
	 move	$31, $15
endroutine __ae_land

/*
 * Calls ae_lost, which uses no floating point, and continues at the beginning of the buffer.
 * Preserves what __ae_back does, $8 and $15.
 */
	.ent	.Lsave_lost
.Lsave_lost:
	addiu	$29, $29, -72
	sw	$31, 64($29)
	sw	$2, 60($29)
	sw	$3, 56($29)
	sw	$4, 52($29)
	sw	$5, 48($29)
	sw	$6, 44($29)
	sw	$7, 40($29)
	sw	$8, 36($29)
	sw	$15, 32($29)
	sw	$28, 28($29)
	mfhi	$8
	mflo	$9
	sw	$8, 24($29)
	sw	$9, 20($29)
	jal	ae_lost
	 nop
	lw	$8, 24($29)
	lw	$9, 20($29)
	mthi	$8
	mtlo	$9
	lw	$28, 28($29)
	lw	$15, 32($29)
	lw	$8, 36($29)
	lw	$7, 40($29)
	lw	$6, 44($29)
	lw	$5, 48($29)
	lw	$4, 52($29)
	lw	$3, 56($29)
	lw	$2, 60($29)
	lw	$31, 64($29)
	lui	$23, AE_MAP >> 16
	addiu	$23, $23, 16            /* AE_BUF */
	jr	$31
	 addiu	$29, $29, 72
	.end	.Lsave_lost

/*
 * All handlers are entered here.  One that interrupted untraced code finds the stack exactly as the
 * kernel made it.
 */
routine	ae_tramp
	addiu	$29, $29, -48
	bne	$5, $0, 1f
	 sw	$31, 44($29)
	/* a frame without siginfo: struct sigcontext, which would be a ucontext's uc_mcontext */
	addiu	$6, $6, -24
1:	sw	$4, 40($29)
	sw	$5, 36($29)
	sw	$6, 32($29)
	jal	ae_dispatch
	 addiu	$7, $29, 24
	lw	$31, 44($29)
	lw	$4, 40($29)
	lw	$5, 36($29)
	lw	$6, 32($29)
	lw	$8, 24($29)
	move	$25, $2                 /* the handler, which expects its own address there */
	beq	$25, $0, 1f
	 addiu	$29, $29, 48
	andi	$9, $8, 2               /* AE_OLD: 0 and a struct sigcontext, which uc_mcontext is */
	beq	$9, $0, 3f
	 andi	$8, $8, 1
	move	$5, $0
	addiu	$6, $6, 24
3:	bne	$8, $0, 2f
	 nop
	jr	$25
	 nop
1:	jr	$31
	 nop
2:	addiu	$29, $29, -32
	sw	$31, 28($29)
	get	$9, ae_depth
	addiu	$9, $9, 1
	put	$9, ae_depth, $10
	get	$9, __ae_ptr
	sw	$9, 24($29)
	put	$0, __ae_ptr, $10
	j	.Lplain_call
	 nop
.Lplain_back:
	lw	$9, 24($29)
	put	$9, __ae_ptr, $10
	get	$9, ae_depth
	addiu	$9, $9, -1
	put	$9, ae_depth, $10
	lw	$31, 28($29)
	jr	$31
	 addiu	$29, $29, 32
endroutine ae_tramp

	.text
/* not in aetext: a thunk would take a return address there for a call from traced code */
	.ent	.Lplain_call
.Lplain_call:
	jalr	$25
	 nop
	j	.Lplain_back
	 nop
	.end	.Lplain_call

	.section .note.GNU-stack,"",@progbits
