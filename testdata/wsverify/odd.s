# What is awkward to step: flags on the stack, repeated instructions of every end, x87 and vector state, cpuid, time, signals' frame
	.globl	_start, vec, idle
	.data
	.balign	64
vec:	.quad	1, 2, 3, 4
idle:	.byte	7
	.bss
	.balign	64
	.lcomm	area, 8192
	.text
_start:	pushf
	pop	%rax
	std
	pushf
	popf
	cld
	lea	vec(%rip), %rsi
	lea	area(%rip), %rdi
	xor	%ecx, %ecx
	rep movsb
	mov	$4, %ecx
	rep movsq
	lea	vec(%rip), %rdi
	mov	$32, %ecx
	xor	%eax, %eax
	repne scasb
	mov	$3, %ecx
	lea	vec(%rip), %rdi
	mov	$9, %al
	repne scasb
	lea	vec(%rip), %rsi
	lea	area(%rip), %rdi
	mov	$4, %ecx
	repe cmpsq
	xor	%eax, %eax
	cpuid
	rdtsc
	movdqu	vec(%rip), %xmm1
	paddq	%xmm1, %xmm1
	movdqu	%xmm1, area(%rip)
	fld1
	fldpi
	faddp
	fnstenv	area+64(%rip)
	fldenv	area+64(%rip)
	fstpt	area+128(%rip)
	fxsave	area+1024(%rip)
	fxrstor	area+1024(%rip)
	mov	$3, %eax
	xor	%edx, %edx
	xsave	area+2048(%rip)
	mov	$70, %eax
	bts	%rax, area(%rip)
	push	vec(%rip)
	pop	area+16(%rip)
	lock xaddl %eax, area(%rip)
	lock cmpxchg16b area(%rip)
	enter	$16, $0
	leave
	mov	$39, %eax
	syscall
	xor	%edi, %edi
	mov	$231, %eax
	syscall
