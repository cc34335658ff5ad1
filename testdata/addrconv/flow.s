# Branches of every kind, a known number of times, without libraries; strings, a gather, a fault after a branch; status 7
	.set	N, 100
	.globl	_start
	.data
target:	.quad	callee
there:	.quad	back2
words:	.quad	1, 2, 3, 4, 5, 6, 7, 8
act:	.quad	handler, 0x44000000, restore, 0
count:	.quad	0
	.bss
	.lcomm	from, 64
	.lcomm	to, 64
	.text
callee:	ret
callee2: ret	$8
handler: mov	168(%rdx), %rax		# the program counter of the interrupted instruction
	add	$3, %rax
	mov	%rax, 168(%rdx)
	ret
restore: mov	$15, %eax
	syscall
_start:	mov	$N, %ebp
loop:	call	callee
	lea	callee(%rip), %rax
	call	*%rax
	call	*target(%rip)
	push	%rax
	call	callee2
	push	$0
	lea	(%rsp), %rbx
	mov	%rax, (%rbx)
	call	*(%rsp)
	pop	%rax
	jmp	over
over:	lea	back1(%rip), %rdx
	jmp	*%rdx
back1:	jmp	*there(%rip)
back2:	lea	back3(%rip), %rdx
	push	%rdx
	jmp	*(%rsp)
back3:	pop	%rdx
	test	$1, %ebp
	jz	even
	nop
even:	mov	$3, %ecx
again:	loop	again
	jrcxz	zero
	nop
zero:	addq	$1, count(%rip)
	xchg	%rax, count(%rip)
	mov	%rax, count(%rip)
	dec	%ebp
	jnz	loop
	lea	from(%rip), %rsi
	lea	to(%rip), %rdi
	mov	$37, %ecx
	rep movsb
	lea	from(%rip), %rsi
	lea	to(%rip), %rdi
	mov	$8, %ecx
	repe cmpsb
	xor	%ecx, %ecx
	rep stosq
	movsq
# a fault after a branch that is not taken, and after one that is: neither is changed by the handler
	mov	$13, %eax
	mov	$11, %edi
	lea	act(%rip), %rsi
	xor	%edx, %edx
	mov	$8, %r10d
	syscall
	xor	%ebx, %ebx
	cmp	$1, %ebx
branch1: je	hit
miss:	mov	(%rbx), %rax
hit:	cmp	$0, %ebx
branch2: je	down
	nop
down:	mov	(%rbx), %rax
	mov	$231, %eax
	mov	$7, %edi
	syscall
