/*
 * What a shared library calls of the runtime, which is in the program: jumps through a table that __ae_join fills.
 * They are in aetext, where a signal finds the state that it would find at the function itself.
 */
	.macro	stub name
	.data
	.quad	ae_away
	.section aetext,"ax",@progbits
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.size	\name, 6
\name:	jmp	*ae_core+8*nstub(%rip)
	.set	nstub, nstub+1
	.endm

	.set	nstub, 0
	.data
	.balign	8
	.globl	ae_core
	.hidden	ae_core
	.type	ae_core, @object
ae_core:

#define CORE(name) stub name
#include "ae/runtime/core.def"

	.bss
	.balign	8
	.globl	__ae_length
	.hidden	__ae_length
	.type	__ae_length, @object
	.size	__ae_length, 8
__ae_length:
	.zero	8

/* How many threads there are is known in the program: ae_sync looks there. */
	.data
	.balign	8
	.globl	ae_order
	.hidden	ae_order
	.type	ae_order, @object
	.size	ae_order, 8
ae_order:
	.quad	1

	.text
/* Where the program is not recorded, nothing is to be done; ae_mask_strip gives the mask that it gets. */
ae_away:
	mov	%rdi, %rax
	ret

	.section .note.GNU-stack,"",@progbits
