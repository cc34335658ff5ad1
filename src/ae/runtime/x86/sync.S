/*
 * A function of a library that waits for other threads, or that returns memory which another one may have given back: what
 * stands in front of it tells ae_sync when it has returned. For each function of $syncs in aecc.conf this file makes an object of
 * libaert.a; NAME is the function. It must get all its arguments in registers.
 */
#define PASTE(a, b) a##b
#define SYMBOL(a, b) PASTE(a, b)
#define WRAP SYMBOL(__wrap_, NAME)
#define REAL SYMBOL(__real_, NAME)

	.text
	.balign	16
	.globl	WRAP
	.hidden	WRAP
	.type	WRAP, @function
WRAP:
	.cfi_startproc
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	REAL@PLT
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
