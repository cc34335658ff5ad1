# Each way to use r15, where r12 to r14 are used more: so r15 is the one whose value is in memory (aerw -u).
	.text
	.globl	moves
	.type	moves, @function
moves:
	.cfi_startproc
	pushq	%r15
	.cfi_def_cfa_offset 16
	.cfi_offset %r15, -16
	pushq	%r14
	.cfi_def_cfa_offset 24
	.cfi_offset %r14, -24
	pushq	%r13
	.cfi_def_cfa_offset 32
	.cfi_offset %r13, -32
	pushq	%r12
	.cfi_def_cfa_offset 40
	.cfi_offset %r12, -40
	pushq	%rbx
	.cfi_def_cfa_offset 48
	.cfi_offset %rbx, -48
	movq	%rdi, %r12
	movq	%rdi, %r13
	movq	%rdi, %r14
	movq	%rdi, %r15
	movq	%r15, %rax
	movq	8(%r15), %rcx
	movl	%ecx, %r15d
	movl	%r15d, %edx
	leaq	3(%r15,%rcx,2), %r15
	addq	%r15, %rcx
	addl	$5, %r15d
	movb	%r15b, %dl
	movw	%r15w, 16(%rdi)
	xorq	%r15, %rdx
	testq	%r15, %r15
	cmovne	%r15, %rdx
	sete	%r15b
	imulq	%r15, %rdx
	movq	%rdx, 24(%rdi)
	movq	$-7, %r15
	xchgq	%r15, %rdx
	cmpq	%rdx, %r15
	setl	%r15b
	movzbl	%r15b, %r15d
	leaq	(%rcx,%rdx), %rax
	addq	%r15, %rax
	movq	%rdi, %rcx
	subq	%rcx, %rax
	subq	%rcx, %rax
	xorl	%eax, %eax
	movq	24(%rdi), %rax
	movq	%rax, %xmm0
	movq	%r15, %xmm1
	movq	%xmm0, %r15
	addq	%r15, %rax
	movq	%rdi, %r12
	xorl	%r12d, %r12d
	movl	%r12d, %r13d
	movl	%r12d, %r14d
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	popq	%rbx
	.cfi_def_cfa_offset 40
	popq	%r12
	.cfi_def_cfa_offset 32
	popq	%r13
	.cfi_def_cfa_offset 24
	popq	%r14
	.cfi_def_cfa_offset 16
	popq	%r15
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	moves, .-moves

	.globl	memory
	.type	memory, @function
memory:
	.cfi_startproc
	pushq	%r15
	.cfi_def_cfa_offset 16
	.cfi_offset %r15, -16
	pushq	%r14
	.cfi_def_cfa_offset 24
	.cfi_offset %r14, -24
	pushq	%r13
	.cfi_def_cfa_offset 32
	.cfi_offset %r13, -32
	pushq	%r12
	.cfi_def_cfa_offset 40
	.cfi_offset %r12, -40
	pushq	%rbx
	.cfi_def_cfa_offset 48
	.cfi_offset %rbx, -48
	movq	%rdi, %r12
	movq	%rdi, %r13
	movq	%rdi, %r14
	movq	%rdi, %r15
	movq	(%r15), %rax
	movq	%rax, 40(%r15)
	addq	$8, (%r15)
	lock xaddq	%rax, (%r15)
	movq	8(%r15), %rax
	lock cmpxchgq	%rsi, 8(%r15)
	pushq	16(%r15)
	popq	48(%r15)
	pushq	%r15
	popq	%r15
	movq	%rsi, %rcx
	andl	$7, %ecx
	movq	(%r15,%rcx,8), %rcx
	movq	%rcx, %r15
	andl	$7, %r15d
	movq	(%rdi,%r15,8), %r15
	andl	$7, %r15d
	addq	$1, (%rdi,%r15,8)
	leaq	(%rdi,%r15,8), %r15
	movq	(%r15), %xmm0
	movups	(%r15), %xmm1
	movups	%xmm1, (%r15)
	xorl	%eax, %eax
	movl	%eax, %r12d
	movl	%eax, %r13d
	movl	%eax, %r14d
	movzwl	(%r15), %eax
	movzwl	(%r15), %r15d
	addq	%r15, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	popq	%rbx
	.cfi_def_cfa_offset 40
	popq	%r12
	.cfi_def_cfa_offset 32
	popq	%r13
	.cfi_def_cfa_offset 24
	popq	%r14
	.cfi_def_cfa_offset 16
	popq	%r15
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	memory, .-memory

	.globl	full
	.type	full, @function
full:
	.cfi_startproc
	pushq	%r15
	.cfi_def_cfa_offset 16
	.cfi_offset %r15, -16
	pushq	%r14
	.cfi_def_cfa_offset 24
	.cfi_offset %r14, -24
	pushq	%r13
	.cfi_def_cfa_offset 32
	.cfi_offset %r13, -32
	pushq	%r12
	.cfi_def_cfa_offset 40
	.cfi_offset %r12, -40
	pushq	%rbx
	.cfi_def_cfa_offset 48
	.cfi_offset %rbx, -48
	movq	%rdi, %r12
	movq	%rdi, %r13
	movq	%rdi, %r14
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	movq	%rdi, %rbp
	movl	$1, %eax
	movl	$2, %ecx
	movl	$3, %edx
	movl	$4, %ebx
	movl	$6, %edi
	movl	$8, %r8d
	movl	$9, %r9d
	movl	$10, %r10d
	movl	$11, %r11d
	movl	$12, %r12d
	movl	$13, %r13d
	movl	$14, %r14d
	andl	$3, %esi
	movq	8(%rbp), %r15
	andl	$3, %r15d
	cmpq	%r15, %rsi
	movq	(%rbp,%r15,8), %r15
	movq	%r15, 32(%rbp)
	movl	%r15d, 40(%rbp)
	leaq	0(%rbp,%rsi,8), %r15
	movq	%rsi, 16(%r15)
	movb	%r15b, 48(%rbp)
	jb	1f
	incq	(%r15)
	xchgq	%rax, 8(%r15)
	lock xaddq	%rcx, 16(%r15)
1:	adcq	%rcx, %rax
	addq	%rdx, %rax
	addq	%rbx, %rax
	addq	%rdi, %rax
	addq	%r8, %rax
	addq	%r9, %rax
	addq	%r10, %rax
	addq	%r11, %rax
	addq	%rsi, %rax
	subq	%rbp, %r15
	addq	%r15, %rax
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	popq	%rbx
	.cfi_def_cfa_offset 40
	popq	%r12
	.cfi_def_cfa_offset 32
	popq	%r13
	.cfi_def_cfa_offset 24
	popq	%r14
	.cfi_def_cfa_offset 16
	popq	%r15
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	full, .-full

	.globl	calls
	.type	calls, @function
calls:
	.cfi_startproc
	pushq	%r15
	.cfi_def_cfa_offset 16
	.cfi_offset %r15, -16
	pushq	%r14
	.cfi_def_cfa_offset 24
	.cfi_offset %r14, -24
	pushq	%r13
	.cfi_def_cfa_offset 32
	.cfi_offset %r13, -32
	pushq	%r12
	.cfi_def_cfa_offset 40
	.cfi_offset %r12, -40
	pushq	%rbx
	.cfi_def_cfa_offset 48
	.cfi_offset %rbx, -48
	movq	%rdi, %r12
	movq	%rdi, %r13
	movq	%rdi, %r14
	movq	%rsi, %rbx
	leaq	leaf(%rip), %r15
	movq	%rbx, %rdi
	call	*%r15
	movq	%rax, %rbx
	leaq	table_of(%rip), %r15
	movq	%rbx, %rdi
	call	*8(%r15)
	movq	%rax, %rbx
	movl	$1, %r15d
	movq	%rbx, %rdi
	call	*table_of(,%r15,8)
	xorl	%r12d, %r12d
	movl	%r12d, %r13d
	movl	%r12d, %r14d
	addq	%r15, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	popq	%rbx
	.cfi_def_cfa_offset 40
	popq	%r12
	.cfi_def_cfa_offset 32
	popq	%r13
	.cfi_def_cfa_offset 24
	popq	%r14
	.cfi_def_cfa_offset 16
	popq	%r15
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	calls, .-calls

	.globl	jumps
	.type	jumps, @function
jumps:
	.cfi_startproc
	pushq	%r15
	.cfi_def_cfa_offset 16
	.cfi_offset %r15, -16
	pushq	%r14
	.cfi_def_cfa_offset 24
	.cfi_offset %r14, -24
	pushq	%r13
	.cfi_def_cfa_offset 32
	.cfi_offset %r13, -32
	pushq	%r12
	.cfi_def_cfa_offset 40
	.cfi_offset %r12, -40
	pushq	%rbx
	.cfi_def_cfa_offset 48
	.cfi_offset %rbx, -48
	movq	%rdi, %r12
	movq	%rdi, %r13
	movq	%rdi, %r14
	movq	%rsi, %r15
	andl	$3, %r15d
	xorl	%r12d, %r12d
	movl	%r12d, %r13d
	movl	%r12d, %r14d
	movl	$0, %eax
	jmpq	*.Ljumps(,%r15,8)
.La:	addq	%r15, %rax
	leaq	100(%r15), %rax
	jmp	.Lend
.Lb:	leaq	200(%r15), %rax
	addq	$1, (%rdi,%r15,8)
	jmp	.Lend
.Lc:	leaq	300(%r15), %rax
.Lend:
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	popq	%rbx
	.cfi_def_cfa_offset 40
	popq	%r12
	.cfi_def_cfa_offset 32
	popq	%r13
	.cfi_def_cfa_offset 24
	popq	%r14
	.cfi_def_cfa_offset 16
	popq	%r15
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	jumps, .-jumps

	.globl	gotos
	.type	gotos, @function
gotos:
	.cfi_startproc
	pushq	%r15
	.cfi_def_cfa_offset 16
	.cfi_offset %r15, -16
	pushq	%r14
	.cfi_def_cfa_offset 24
	.cfi_offset %r14, -24
	pushq	%r13
	.cfi_def_cfa_offset 32
	.cfi_offset %r13, -32
	pushq	%r12
	.cfi_def_cfa_offset 40
	.cfi_offset %r12, -40
	pushq	%rbx
	.cfi_def_cfa_offset 48
	.cfi_offset %rbx, -48
	movq	%rdi, %r12
	movq	%rdi, %r13
	movq	%rdi, %r14
	movq	%rsi, %r15
	andl	$1, %r15d
	xorl	%r12d, %r12d
	movl	%r12d, %r13d
	movl	%r12d, %r14d
	movq	.Lgotos(,%r15,8), %r15
	xorl	%eax, %eax
	jmpq	*%r15
.Lx:	addq	$1, (%rdi)
	leaq	7(%rsi), %r15
	jmp	.Ly
.Ly:	addq	%rsi, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	popq	%rbx
	.cfi_def_cfa_offset 40
	popq	%r12
	.cfi_def_cfa_offset 32
	popq	%r13
	.cfi_def_cfa_offset 24
	popq	%r14
	.cfi_def_cfa_offset 16
	popq	%r15
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	gotos, .-gotos

	.globl	pic
	.type	pic, @function
pic:
	.cfi_startproc
	pushq	%r15
	.cfi_def_cfa_offset 16
	.cfi_offset %r15, -16
	pushq	%r14
	.cfi_def_cfa_offset 24
	.cfi_offset %r14, -24
	pushq	%r13
	.cfi_def_cfa_offset 32
	.cfi_offset %r13, -32
	pushq	%r12
	.cfi_def_cfa_offset 40
	.cfi_offset %r12, -40
	pushq	%rbx
	.cfi_def_cfa_offset 48
	.cfi_offset %rbx, -48
	movq	%rdi, %r12
	movq	%rdi, %r13
	movq	%rdi, %r14
	movq	%rsi, %r15
	andl	$3, %r15d
	xorl	%r12d, %r12d
	movl	%r12d, %r13d
	movl	%r12d, %r14d
	xorl	%eax, %eax
	leaq	.Lpic(%rip), %rcx
	movslq	(%rcx,%r15,4), %r15
	addq	%rcx, %r15
	jmpq	*%r15
.Lp:	addq	$1, (%rdi)
.Lq:	addq	$1, 8(%rdi)
.Lr:	addq	%rsi, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	popq	%rbx
	.cfi_def_cfa_offset 40
	popq	%r12
	.cfi_def_cfa_offset 32
	popq	%r13
	.cfi_def_cfa_offset 24
	popq	%r14
	.cfi_def_cfa_offset 16
	popq	%r15
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	pic, .-pic

	.globl	base
	.type	base, @function
base:
	.cfi_startproc
	pushq	%r15
	.cfi_def_cfa_offset 16
	.cfi_offset %r15, -16
	pushq	%r14
	.cfi_def_cfa_offset 24
	.cfi_offset %r14, -24
	pushq	%r13
	.cfi_def_cfa_offset 32
	.cfi_offset %r13, -32
	pushq	%r12
	.cfi_def_cfa_offset 40
	.cfi_offset %r12, -40
	pushq	%rbx
	.cfi_def_cfa_offset 48
	.cfi_offset %rbx, -48
	movq	%rdi, %r12
	movq	%rdi, %r13
	movq	%rdi, %r14
	movl	%esi, %ecx
	andl	$3, %ecx
	xorl	%r12d, %r12d
	movl	%r12d, %r13d
	movl	%r12d, %r14d
	xorl	%eax, %eax
	leaq	.Lbase(%rip), %r15
	movslq	(%r15,%rcx,4), %rcx
	addq	%r15, %rcx
	jmpq	*%rcx
.Ls:	addq	$1, (%rdi)
.Lt:	addq	$1, 8(%rdi)
.Lu:	addq	%rsi, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	popq	%rbx
	.cfi_def_cfa_offset 40
	popq	%r12
	.cfi_def_cfa_offset 32
	popq	%r13
	.cfi_def_cfa_offset 24
	popq	%r14
	.cfi_def_cfa_offset 16
	popq	%r15
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	base, .-base

	.globl	leaf
	.type	leaf, @function
leaf:
	.cfi_startproc
	leaq	1(%rdi,%rdi,2), %rax
	ret
	.cfi_endproc
	.size	leaf, .-leaf

	.globl	tail
	.type	tail, @function
tail:
	.cfi_startproc
	pushq	%r15
	.cfi_def_cfa_offset 16
	.cfi_offset %r15, -16
	pushq	%r14
	.cfi_def_cfa_offset 24
	.cfi_offset %r14, -24
	pushq	%r13
	.cfi_def_cfa_offset 32
	.cfi_offset %r13, -32
	pushq	%r12
	.cfi_def_cfa_offset 40
	.cfi_offset %r12, -40
	pushq	%rbx
	.cfi_def_cfa_offset 48
	.cfi_offset %rbx, -48
	movq	%rdi, %r12
	movq	%rdi, %r13
	movq	%rdi, %r14
	movq	%rsi, %r15
	leaq	(%r15,%r15), %rdi
	xorl	%r12d, %r12d
	movl	%r12d, %r13d
	movl	%r12d, %r14d
	movq	%r15, %rax
	call	outside
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	addq	%r12, %rax
	addq	%r13, %rax
	addq	%r14, %rax
	popq	%rbx
	.cfi_def_cfa_offset 40
	popq	%r12
	.cfi_def_cfa_offset 32
	popq	%r13
	.cfi_def_cfa_offset 24
	popq	%r14
	.cfi_def_cfa_offset 16
	popq	%r15
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	tail, .-tail

	.globl	leaves
	.type	leaves, @function
leaves:
	.cfi_startproc
	pushq	%r15
	.cfi_def_cfa_offset 16
	.cfi_offset %r15, -16
	movq	%rdi, %r15
	movq	(%r15), %rdi
	movq	8(%r15), %rax
	popq	%r15
	.cfi_def_cfa_offset 8
	jmpq	*%rax
	.cfi_endproc
	.size	leaves, .-leaves

	.section	.rodata,"a",@progbits
	.p2align 3
table_of:
	.quad	leaf
	.quad	outside
.Ljumps:
	.quad	.La
	.quad	.Lb
	.quad	.Lc
	.quad	.La
.Lgotos:
	.quad	.Lx
	.quad	.Ly
.Lpic:
	.long	.Lp-.Lpic
	.long	.Lq-.Lpic
	.long	.Lr-.Lpic
	.long	.Lp-.Lpic
.Lbase:
	.long	.Ls-.Lbase
	.long	.Lt-.Lbase
	.long	.Lu-.Lbase
	.long	.Ls-.Lbase
	.section	.note.GNU-stack,"",@progbits
