/*
 * A function of a library that waits for other threads, or that returns memory which another one may have given back: what
 * stands in front of it tells ae_sync when it has returned. For each function of $syncs in aecc.conf this file makes an object of
 * libaert.a; NAME is the function. It must get all its arguments in registers, or be one of those below.
 */
#define PASTE(a, b) a##b
#define SYMBOL(a, b) PASTE(a, b)
#define WRAP SYMBOL(__wrap_, NAME)
#define REAL SYMBOL(__real_, NAME)

/* Functions that get one argument or two on the stack */
#define STACK_GOMP_parallel_loop_static 1
#define STACK_GOMP_parallel_loop_dynamic 1
#define STACK_GOMP_parallel_loop_guided 1
#define STACK_GOMP_parallel_loop_runtime 1
#define STACK_GOMP_parallel_loop_nonmonotonic_dynamic 1
#define STACK_GOMP_parallel_loop_nonmonotonic_guided 1
#define STACK_GOMP_parallel_loop_nonmonotonic_runtime 1
#define STACK_GOMP_parallel_loop_maybe_nonmonotonic_runtime 1

	.text
	.balign	16
	.globl	WRAP
	.hidden	WRAP
	.type	WRAP, @function
WRAP:
	.cfi_startproc
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
#if SYMBOL(STACK_, NAME)
	push	24(%rsp)
	.cfi_adjust_cfa_offset 8
	push	24(%rsp)
	.cfi_adjust_cfa_offset 8
#endif
	call	REAL@PLT
#if SYMBOL(STACK_, NAME)
	add	$16, %rsp
	.cfi_adjust_cfa_offset -16
#endif
	cmpq	$0, ae_order(%rip)
	jne	1f
	add	$8, %rsp
	.cfi_remember_state
	.cfi_adjust_cfa_offset -8
	ret
1:	.cfi_restore_state
	mov	%rax, (%rsp)
	call	ae_sync
	pop	%rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	WRAP, .-WRAP

	.section .note.GNU-stack,"",@progbits
