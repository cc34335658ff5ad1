# Memory at 0x20000, at both ends of the stack and high up, none of it executable, all of it with the bytes of `syscall`
	.globl	_start
	.text
map:	mov	$9, %eax		# mmap(rdi, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED, -1, 0)
	mov	$4096, %esi
	mov	$3, %edx
	mov	$0x32, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	syscall
	movw	$0x050f, (%rax)
	ret
_start:	mov	$0x20000, %edi
	call	map
	movabs	$0x13000030000, %rdi
	call	map
	movabs	$0x7f0000000000, %rdi
	call	map
	mov	$11, %eax		# munmap
	mov	$0x20000, %edi
	mov	$4096, %esi
	syscall
	mov	$0x10000, %edi
	call	map
	mov	$11, %eax		# all that is low, in one piece: there is more in it than the program's own
	mov	$0x10000, %edi
	mov	$0x100000, %esi
	syscall
	xor	%edi, %edi
	mov	$231, %eax
	syscall
