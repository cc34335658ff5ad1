# Instructions with an address-size prefix (67): what they push and pop has 64 bits of address, their operands have 32.
# GNU ld writes `67 e8` where it relaxes a call.
	.globl	_start
	.data
here:	.quad	there
table:	.byte	1, 2, 3, 4
	.text
_start:	.byte	0x67
	call	there
	.byte	0x67
	push	%rax
	.byte	0x67
	pushf
	.byte	0x67
	popf
	.byte	0x67
	pop	%rax
	mov	$here, %ebx
	.byte	0x67, 0xff, 0x13	# call *(%ebx)
	.byte	0x67, 0xff, 0x33	# push (%ebx)
	.byte	0x67, 0x8f, 0x03	# pop (%ebx)
	mov	$table, %edi
	bts	$40, %rdi
	.byte	0x67, 0xaa		# stosb
	push	%rbp
	mov	%rsp, %rbp
	push	%rax
	.byte	0x67
	leave
	xor	%edi, %edi
	mov	$231, %eax
	syscall
there:	.byte	0x67
	ret
