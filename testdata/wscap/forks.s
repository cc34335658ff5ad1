# Two processes whose instructions can be counted by hand.  fork: the child counts to 1000 and ends with 7.
# With one argument vfork instead: the child writes to the parent's memory, which ends with what it finds there.
	.globl	_start
_start:
	mov	(%rsp), %rbx		# 1: number of arguments
	mov	$57, %eax		# 2
	cmp	$1, %rbx		# 3
	je	1f			# 4
	mov	$58, %eax		# (5)
1:	syscall				# 5 (6): fork or vfork
	test	%eax, %eax		# 6 (7)
	jz	child			# 7 (8)
	mov	%eax, %edi		# 8
	xor	%esi, %esi
	xor	%edx, %edx
	xor	%r10d, %r10d
	mov	$61, %eax
	syscall				# 13 (14): wait4
	movzbl	word(%rip), %edi
	mov	$231, %eax
	syscall				# 16 (17)
child:
	mov	$1000, %ecx		# test, jz, this: 3
2:	dec	%ecx
	jnz	2b			# 2003
	movb	$42, word(%rip)
	mov	$7, %edi
	mov	$231, %eax
	syscall				# 2007
	.data
word:	.byte	5
