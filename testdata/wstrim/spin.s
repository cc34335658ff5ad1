	# Half a second of a processor, a hundred times that to trim
	.globl	_start
_start:	mov	$2000000000, %rax
1:	dec	%rax
	jnz	1b
	mov	$60, %eax
	xor	%edi, %edi
	syscall
