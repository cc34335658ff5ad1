# With bit 3 of its second byte flipped, this system call (its bytes are 0f 05) is prefetchw (%rax)
	.globl	_start, hidden
	.text
_start:	mov	$39, %eax
hidden:	syscall
	.byte	0, 0xc0			# add %al, %al
	xor	%edi, %edi
	mov	$231, %eax
	syscall
