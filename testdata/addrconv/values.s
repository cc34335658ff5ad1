# Instructions of every shape, with results that are known; status 7
	.globl	_start
	.data
a:	.quad	0x1122334455667788, 0x99aabbccddeeff00
b:	.quad	0, 0
	.text
_start:	mov	$0x123, %eax
	mov	a(%rip), %rbx
	movzbl	a+1(%rip), %ecx
	mov	a(%rip), %ch
	mov	%rbx, b(%rip)
	movq	$5, b+8(%rip)
	lea	b(%rip), %rsi
	xor	%edx, %edx
	mov	%rsi, (%rsi)
	movb	$9, 8(%rsi,%rdx,8)
	add	8(%rsi), %rax
	add	%eax, (%rsi,%rdx)
	mov	$0x100000000, %r8
	mov	%r8, %rax
	mul	%r8
	push	%rax
	push	b(%rip)
	pop	%r9
	pop	b(%rip)
	movdqa	a(%rip), %xmm1
	paddq	a(%rip), %xmm1
	movaps	%xmm1, b(%rip)
	movsd	a(%rip), %xmm2
	mov	$3, %eax
	cvtsi2sd %eax, %xmm1
	cmp	%eax, %eax
	setz	b(%rip)
	stc
	adc	$0, %eax
	lea	a(%rip), %rsi
	lea	b(%rip), %rdi
	mov	$2, %ecx
	rep movsq
	lodsl
	fldl	a(%rip)
	fstpl	b(%rip)
	nop
	call	1f
1:	add	$8, %rsp
	jz	2f
2:	call	3f
	mov	$231, %eax
	mov	$7, %edi
	syscall
3:	ret
