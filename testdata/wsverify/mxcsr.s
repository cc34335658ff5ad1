# All xmm registers are zero, mxcsr is not as it is at the start: the processor's state may say that they are not in use
	.globl	_start
	.data
mode:	.long	0x1920
back:	.long	0
	.text
_start:	ldmxcsr	mode(%rip)
	pxor	%xmm0, %xmm0
	mov	$1000, %ecx
1:	dec	%ecx
	jnz	1b
	stmxcsr	back(%rip)
	mov	back(%rip), %edi
	sub	mode(%rip), %edi
	mov	$231, %eax
	syscall
