/*
 * The part of the runtime through which rewritten code enters and leaves. It is in section aetext,
 * so a signal that arrives in it counts as one in traced code.
 *
 * gs points to the thread's state (struct ae_thread), or, until a thread has its own, to that of the thread that
 * made it.
 *
 * Invariant at each instruction of aetext on a recorded thread: all events before (PTR ?
 * PTR : r15) are complete.
 *
 * The side stack has an entry for each traced function that untraced code called: return address,
 * rsp at entry, caller's r15. At its bottom is a sentinel with rsp ~0. A marker with rsp 0 stands
 * for frames that a longjmp abandoned and that are not in the event stream yet.
 *
 * Where the compiler has not reserved r15, LENT is the program's value of it while traced code runs; outside, r15 itself
 * is. Traced code that needs it sets PTR for a moment. The functions here keep LENT for any program.
 *
 * CB is set once untraced code has called back since it was entered: if it then jumps (not
 * calls) to a traced function, r15 is old and rsp unknown.
 *
 * LIVE is 2 while a handler runs that interrupted traced code, and has a stream of its own (core/handler.c). If the stack
 * pointer is not on the handler's stack then, it has left by a jump.
 */
#include "machine.h"

	.macro	global name
	.globl	\name
	.hidden	\name
	.endm

#define TOP     %gs:AE_T_TOP
#define FS      %gs:AE_T_FS
#define PTR     %gs:AE_T_PTR
#define SEND    %gs:AE_T_SEND
#define CB      %gs:AE_T_CB
#define LIVE    %gs:AE_T_LIVE
#define KEPT    %gs:AE_T_KEPT
#define PENDING %gs:AE_T_PENDING
#define DEPTH   %gs:AE_T_DEPTH
#define BUF     %gs:AE_T_BUF
#define BELOW   %gs:AE_T_BELOW
#define LOW     %gs:AE_T_LOW
#define SPAN    %gs:AE_T_SPAN
#define LENT    %gs:AE_T_LENT

/* The next number of the order of synchronisation, as an item of a run sequence at r15; PTR is to be set to r15. Changes rax and flags. */
	.macro	order
	mov	$1, %eax
	lock xadd %rax, ae_order(%rip)
	bts	$63, %rax
	movb	$0xfd, (%r15)
	mov	%rax, 1(%r15)
	lea	9(%r15), %r15
	.endm

	.macro	var name, size, align=8
	global	\name
	.type	\name, @object
	.size	\name, \size
	.balign	\align
\name:	.zero	\size
	.endm

#define RET -24
#define RSP -16
#define R15 -8

	.bss
	var	ae_rec, 4, 4
	var	ae_open, 4, 4
	var	ae_armed, 4, 4
	var	ae_first_thunk, 8
	var	ae_shard, 4096, 64
	var	__ae_length, 8          /* bytes of aetext in this file */

	.section aetext,"ax",@progbits
	.balign	16
	global	__ae_enter
	.type	__ae_enter, @function
/* r11 = F.fast; only r11 and flags may change.  The words below rsp are free: no call is pending. */
__ae_enter:
	push	%rax
	cmpq	$0, ae_range_end(%rip)
	jne	.Lrange
.Lenter:
	mov	%fs:0, %rax
	cmp	FS, %rax
	jne	.Lthread
	cmpl	$1, LIVE
	jne	.Lnormally
.Llive:
	cmpq	$0, PTR
	je	.Lplain
	mov	TOP, %rax
	push	%rcx
	lea	16(%rsp), %rcx          /* rsp at entry */
	cmp	RSP(%rax), %rcx
	jae	.Ldead
.Lpush:
	cmp	SEND, %rax
	jae	.Lfull
	mov	(%rcx), %rcx
	mov	%rcx, RET+24(%rax)
	lea	16(%rsp), %rcx
	mov	%rcx, RSP+24(%rax)
	mov	%r15, R15+24(%rax)
	mov	%r15, LENT
	lea	__ae_leave(%rip), %r15
	mov	%r15, (%rcx)
	add	$24, %rax
	mov	%rax, TOP
	mov	PTR, %r15
	cmpq	$0, ae_order(%rip)
	jne	.Lorder
.Lordered:
	movb	$0xfe, (%r15)
	mov	%rcx, 1(%r15)
	lea	9(%r15), %r15
	mov	%r15, PTR
	pop	%rcx
	pop	%rax
	jmp	*%r11

/* There are several threads. The outermost traced function: what was waited for outside has happened before it. */
.Lorder:
	mov	RSP-24(%rax), %rax
	inc	%rax
	cmp	$1, %rax                /* the sentinel, or a marker */
	ja	.Lordered
	order
	mov	%r15, PTR
	jmp	.Lordered

/* The top entries are below this frame: a longjmp abandoned them. A marker replaces them. */
.Ldead:
	cmpq	$0, RSP(%rax)           /* a marker is kept */
	je	.Lmarked
	sub	$24, %rax
	cmp	RSP(%rax), %rcx
	jae	.Ldead
	movq	$0, RSP+24(%rax)
	add	$24, %rax
.Lmarked:
	jmp	.Lpush

.Lnormally:
	jb	.Loff
	lea	8(%rsp), %rax
	sub	LOW, %rax
	cmp	SPAN, %rax
	jb	.Llive
	push	%r11
	push	%r15
	call	.Lsave_lost
	mov	%r15, PTR
	pop	%r15
	pop	%r11
	jmp	.Lplain

/*
 * There are shared libraries: is the return address in traced code of another file? (The thunk has looked in its
 * own, and __ae_leave is in the executable's.) Then this is what the thunk does at a call from its file.
 */
.Lrange:
	push	%rcx
	push	%rdx
	mov	24(%rsp), %rax
	lea	ae_range(%rip), %rcx
1:	mov	%rax, %rdx
	sub	(%rcx), %rdx
	cmp	8(%rcx), %rdx
	jb	2f
	add	$16, %rcx
	cmp	ae_range_end(%rip), %rcx
	jb	1b
	pop	%rdx
	pop	%rcx
	jmp	.Lenter
2:	pop	%rdx
	pop	%rcx
	pop	%rax
	cmpb	$0, CB
	jne	__ae_again
	jmp	*%r11

.Lfull:
	pop	%rcx
	mov	%fs:0, %rax
	jmp	.Lcount

/* A thread without a block of its own: gets one, and enters again. */
.Lthread:
	cmpl	$0, ae_rec(%rip)
	je	.Lplain
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbp
	mov	%rsp, %rbp
	and	$-16, %rsp
	cld
	call	ae_thread_enter
	mov	%rbp, %rsp
	pop	%rbp
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	test	%eax, %eax
	mov	%fs:0, %rax
	je	.Lcount
	pop	%rax
	jmp	__ae_enter

.Lcount:
	shr	$12, %rax
	and	$63, %eax
	shl	$6, %eax
	push	%rcx
	lea	ae_shard(%rip), %rcx
	lock incq (%rcx,%rax)
	pop	%rcx
.Lplain:
	movslq	-4(%r11), %rax
	add	%rax, %r11
	pop	%rax
	jmp	*%r11

/* Outside a region. One that is wanted begins here, unless functions are running that were traced when the last one ended. */
.Loff:
	cmpl	$0, PENDING
	je	.Lplain
	cmpq	$0, PTR
	je	.Lplain
	mov	TOP, %rax
	push	%rcx
	lea	16(%rsp), %rcx
1:	cmp	RSP(%rax), %rcx
	jb	2f
	sub	$24, %rax
	jmp	1b
2:	cmpq	$-1, RSP(%rax)
	jne	3f
	movl	$0, PENDING
	movl	$1, LIVE
	mov	%rax, TOP
	cmpl	$0, KEPT
	jne	.Lpush
	mov	BUF, %rcx
	mov	%rcx, PTR
	lea	16(%rsp), %rcx
	jmp	.Lpush
3:	pop	%rcx
	jmp	.Lplain
	.size	__ae_enter, .-__ae_enter

	.balign	16
	global	ae_first
	.type	ae_first, @function
/* The entry of AE_FROM's function; r11 and flags are free. */
ae_first:
	cmpl	$0, ae_armed(%rip)
	je	1f
	movl	$0, ae_armed(%rip)
	mov	ae_rec(%rip), %r11d
	mov	%r11d, ae_open(%rip)    /* for a thread that begins with it */
	mov	%fs:0, %r11
	cmp	FS, %r11
	jne	1f
	mov	ae_rec(%rip), %r11d
	mov	%r11d, PENDING
1:	jmp	*ae_first_thunk(%rip)
	.size	ae_first, .-ae_first

	.balign	16
	nop                             /* an unwinder looks for the byte before a return address */
	global	__ae_leave
	.type	__ae_leave, @function
/*
 * Reached by the ret of a function that __ae_enter entered; the results (rax, rdx, xmm, st) and
 * callee-saved registers are preserved.
 */
__ae_leave:
	cmpq	$0, PTR
	jne	1f
	mov	%r15, PTR
1:	movb	$1, CB
	mov	TOP, %rcx
	lea	-8(%rsp), %r11
	cmp	RSP(%rcx), %r11
	jne	.Lsearch
	mov	RET(%rcx), %r11
	mov	R15(%rcx), %r15
	sub	$24, %rcx
	mov	%rcx, TOP
	jmp	*%r11

/*
 * Entries after ours: dead ones if they are lower on the stack; others belong to another stack (a
 * coroutine) and are kept.
 */
.Lsearch:
	mov	%rcx, %rdi
2:	sub	$24, %rdi
	cmpq	$-1, RSP(%rdi)
	je	.Llost
	cmp	RSP(%rdi), %r11
	jne	2b
	mov	RET(%rdi), %rsi         /* return address */
	mov	R15(%rdi), %r15
	lea	-24(%rdi), %r8          /* where the kept ones are copied to */
3:	cmp	%rcx, %rdi
	je	4f
	add	$24, %rdi
	cmp	RSP(%rdi), %r11
	jae	3b
	mov	RET(%rdi), %r9
	mov	%r9, RET+24(%r8)
	mov	RSP(%rdi), %r9
	mov	%r9, RSP+24(%r8)
	mov	R15(%rdi), %r9
	mov	%r9, R15+24(%r8)
	add	$24, %r8
	jmp	3b
4:	movq	$0, RSP+24(%r8)         /* the marker */
	add	$24, %r8
	mov	%r8, TOP
	jmp	*%rsi
.Llost:
	cmpq	$0, BELOW
	je	5f
	mov	%rsp, %r9
	sub	LOW, %r9
	cmp	SPAN, %r9
	jb	5f
	call	.Lsave_lost             /* a handler left by a jump, to where it was not noticed */
	mov	%r15, PTR
	jmp	__ae_leave
5:	ud2                             /* the stack was overwritten: there is no return address */
	.size	__ae_leave, .-__ae_leave

	.balign	16
	global	__ae_again
	.type	__ae_again, @function
/*
 * A thunk entered from traced code's return address, but after callbacks (__ae_cb): r11 = F.fast.
 * Changes r15. Nobody else clears CB when F returns to traced code.
 */
__ae_again:
	movb	$0, CB
	mov	%r15, LENT
	mov	PTR, %r15
	movb	$0xfe, (%r15)
	mov	%rsp, 1(%r15)
	lea	9(%r15), %r15
	mov	%r15, PTR
	jmp	*%r11
	.size	__ae_again, .-__ae_again

	.balign	16
	global	ae_sync
	.type	ae_sync, @function
/*
 * Untraced code has waited for another thread, or got memory that another one may have given back. Changes rax, r11 and
 * flags. If a handler has left by a jump, that is noticed elsewhere.
 */
ae_sync:
	cmpq	$0, ae_order(%rip)
	je	2f
	mov	%fs:0, %rax
	cmp	FS, %rax
	jne	2f
	cmpl	$1, LIVE
	jne	3f
1:	cmpq	$0, PTR
	je	2f
	mov	%r15, %r11
	mov	PTR, %r15
	order
	mov	%r15, PTR
	mov	%r11, %r15
	movb	$1, CB                  /* who has r15 from before has an old one */
2:	ret
3:	jb	2b
	mov	%rsp, %rax
	sub	LOW, %rax
	cmp	SPAN, %rax
	jb	1b
	ret
	.size	ae_sync, .-ae_sync

	.balign	16
	global	__ae_back
	.type	__ae_back, @function
/*
 * After the call of an unknown callee, if PTR or DEPTH is not 0; what comes then writes the 0. Changes r11, flags
 * and r15.
 */
__ae_back:
	mov	%r15, LENT
	cmpq	$0, PTR
	je	1f
	cmpl	$1, LIVE
	ja	3f
4:	mov	PTR, %r15
	movq	$0, PTR
	mov	TOP, %r11
	cmp	%rsp, RSP(%r11)         /* entry < rsp + 8 of our caller */
	jbe	.Lunwind
2:	movb	$0, CB
	ret
/* traced code runs, so no handler that interrupted it can: it left by a jump */
1:	call	.Lsave_lost
	jmp	2b
3:	mov	%rsp, %r11
	sub	LOW, %r11
	cmp	SPAN, %r11
	jb	4b
	jmp	1b
.Lunwind:
	sub	$24, %r11
	cmp	%rsp, RSP(%r11)
	jbe	.Lunwind
	mov	%r11, TOP
	movb	$0xfd, (%r15)
	lea	8(%rsp), %r11
	mov	%r11, 1(%r15)
	lea	9(%r15), %r15
	jmp	2b
	.size	__ae_back, .-__ae_back

	.balign	16
	global	__ae_land
	.type	__ae_land, @function
/* After a call of setjmp and the like: r11d = site.  Changes r11, flags and r15. */
__ae_land:
	push	%rax
	cmpq	$0, PTR
	je	.Lland_lost             /* as above; or it made the interrupted code go on elsewhere, which jumped */
	cmpl	$1, LIVE
	ja	.Lland_normally
.Lland_here:
	mov	%r15, LENT
	mov	PTR, %r15
	movq	$0, PTR
1:	mov	TOP, %rax
2:	cmp	%rsp, RSP(%rax)
	ja	3f
	sub	$24, %rax
	mov	%rax, TOP
	jmp	2b
3:	movb	$0, CB
	movb	$0xff, (%r15)
	lea	16(%rsp), %rax
	mov	%rax, 1(%r15)
	mov	%r11w, 9(%r15)
	lea	11(%r15), %r15
	pop	%rax
	ret
.Lland_normally:
	mov	%rsp, %rax
	sub	LOW, %rax
	cmp	SPAN, %rax
	jb	.Lland_here
	jmp	.Lland_lost
.Lland_lost:
	mov	%r15, LENT
	push	%r11
	call	.Lsave_lost
	pop	%r11
	jmp	1b
	.size	__ae_land, .-__ae_land

/*
 * Call ae_lost with every register kept, then start over at the beginning of the buffer.  ae_lost
 * uses general registers only.
 */
.Lsave_lost:
	push	%rbp
	mov	%rsp, %rbp
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	and	$-16, %rsp
	cld
	call	ae_lost
	lea	-64(%rbp), %rsp
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	pop	%rbp
	mov	BUF, %r15
	ret

	.balign	16
	global	ae_tramp
	.type	ae_tramp, @function
/*
 * All handlers are entered here.  A handler that interrupted untraced code finds the stack exactly
 * as the kernel made it.
 */
ae_tramp:
	push	%rdi
	push	%rsi
	push	%rdx
	sub	$16, %rsp
	mov	%rsp, %rcx
	call	ae_dispatch
	pop	%r10
	pop	%r9
	pop	%rdx
	pop	%rsi
	pop	%rdi
	test	%rax, %rax
	je	1f
	test	$1, %r10b
	jne	2f
	mov	%rax, %r11
	xor	%eax, %eax
	jmp	*%r11
1:	ret
2:	push	%r9                     /* r15 of the interrupted code, whose frame shows the program's */
	incl	DEPTH
	push	PTR
	movq	$0, PTR
	sub	$8, %rsp
	mov	%rax, %r11
	xor	%eax, %eax
	jmp	.Lplain_call
.Lplain_back:
	lea	32(%rsp), %rdi          /* its context, while DEPTH says that the handler runs */
	lea	8(%rsp), %rsi
	call	ae_plain_handled
	add	$8, %rsp
	pop	PTR
	decl	DEPTH
	pop	%r9
	mov	%r9, 8+AE_UC_R15(%rsp)
	ret
	.size	ae_tramp, .-ae_tramp

	.balign	16
	.type	.Lhandled, @function
/* In aetext, because gs may already be what it was before the handler. r15 is the interrupted code's, as it is in the handler's end. */
.Lhandled:
	mov	%rsp, %rdi
	call	ae_handled
	mov	$15, %eax
	syscall
	.size	.Lhandled, .-.Lhandled

	.balign	16
	global	ae_thread_main
	.type	ae_thread_main, @function
/* The thread's own function finds the stack as libc made it. */
ae_thread_main:
	push	%rdi
	call	ae_thread_begin
	pop	%rdi
	mov	AE_T_START(%rdi), %rax
	mov	AE_T_ARG(%rdi), %rdi
	jmp	*%rax
	.size	ae_thread_main, .-ae_thread_main

/*
 * Unwinders and debuggers know a signal frame by these bytes: they are those of libc.  The nop
 * keeps pc-1 out of other functions.
 */
	.text
/* not in aetext: a thunk takes a return address there for a call from traced code */
.Lplain_call:
	.cfi_startproc
	.cfi_def_cfa_offset 32          /* ae_tramp has pushed three words above the frame of the signal */
	call	*%r11
	jmp	.Lplain_back
	.cfi_endproc

/*
 * Where a handler returns to that interrupted traced code and is recorded: the signal frame is at rsp, as at the one of
 * libc. It is not in aetext either.
 */
	nop
	.balign	16
	nop
	global	ae_handled_return
	.type	ae_handled_return, @function
ae_handled_return:
	jmp	.Lhandled
	.size	ae_handled_return, .-ae_handled_return

	nop
	.balign	16
	nop
	global	ae_restorer
	.type	ae_restorer, @function
ae_restorer:
	mov	$15, %rax
	syscall
	.size	ae_restorer, .-ae_restorer
.Lrestorers_end:

/*
 * For unwinders, what returns to __ae_leave returns to where untraced code called. Its frame has no bytes. The entry of
 * the side stack is searched as __ae_leave does, but it stays. A frame of a signal ("S") is not taken for its caller,
 * which would have the same address; therefore the place in the caller is one byte before the return address.
 */
	.macro	entry field             /* the address of that field: the literal of its distance */
	.byte	0x12, 0x38, 0x1c        /* rsp at entry: 8 below what it was before the call; DW_OP_pick wants more below that */
	/* whose side stack has it? r15 may be the program's, so all threads' are searched, the newest one's first */
	.byte	0x0e
	.quad	AE_NEWEST
	.byte	0x06
0:	.byte	0x12, 0x06              /* TOP */
1:	.byte	0x12, 0x40, 0x1c, 0x06  /* RSP of the entry */
	.byte	0x12, 0x15, 4, 0x29, 0x28       /* the same? */
	.short	5f-2f
2:	.byte	0x30, 0x20, 0x29, 0x28  /* the sentinel? */
	.short	4f-3f
3:	.byte	0x48, 0x1c, 0x2f        /* the entry before it */
	.short	1b-4f
4:	.byte	0x13, 0x23              /* the next thread */
	.uleb128 AE_T_NEXT
	.byte	0x06, 0x2f
	.short	0b-5f
5:	.byte	0x13, \field, 0x1c
	.endm

	.section .eh_frame,"a",@progbits
.Lcie:	.long	.Lcie_end-.Lcie_id
.Lcie_id:
	.long	0
	.byte	1
	.string	"zRS"
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.uleb128 1
	.byte	0x1b
	.byte	0x0c, 7, 0              /* CFA: rsp */
	.balign	8, 0
.Lcie_end:
	.long	.Lfde_end-.Lfde
.Lfde:	.long	.Lfde-.Lcie
	.long	__ae_leave-1-.
	.long	2
	.uleb128 0
	.byte	0x16, 16                /* the return address is the value */
	.uleb128 .Lret_end-.Lret
.Lret:	entry	0x48            /* at -24 */
	.byte	0x06, 0x31, 0x1c
.Lret_end:
	.byte	0x10, 15                /* r15 is saved at */
	.uleb128 .Lr15_end-.Lr15
.Lr15:	entry	0x38            /* at -8 */
.Lr15_end:
	.balign	8, 0
.Lfde_end:

/* Where handlers return to: what was interrupted is in the ucontext at rsp, its registers from 40 on. */
	.macro	saved reg, at
	.byte	0x10, \reg             /* it is saved at */
	.uleb128 2f-1f
1:	.byte	0x77                    /* rsp and ... */
	.sleb128 40+8*\at
2:
	.endm
	.long	.Lsig_end-.Lsig
.Lsig:	.long	.Lsig-.Lcie
	.long	ae_handled_return-1-.
	.long	.Lrestorers_end-ae_handled_return+1
	.uleb128 0
	.byte	0x0f                    /* the CFA is the rsp of then */
	.uleb128 2f-1f
1:	.byte	0x77
	.sleb128 40+8*15
	.byte	0x06
2:	saved	0, 13
	saved	1, 12
	saved	2, 14
	saved	3, 11
	saved	4, 9
	saved	5, 8
	saved	6, 10
	saved	7, 15
	saved	8, 0
	saved	9, 1
	saved	10, 2
	saved	11, 3
	saved	12, 4
	saved	13, 5
	saved	14, 6
	saved	15, 7
	saved	16, 16
	.balign	8, 0
.Lsig_end:

	.section .note.GNU-stack,"",@progbits
