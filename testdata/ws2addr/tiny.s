# A program without libraries: a loop, a repeated copy, a call, output, and a status that comes from memory
	.globl	_start
	.section .rodata
text:	.ascii	"hello, replay\n"
	.set	len, . - text
	.data
	.globl	answer
answer:	.byte	42
	.bss
	.lcomm	copy, 64
	.text
	.type	twice, @function
	.globl	twice
twice:	lea	(%rdi,%rdi), %rax
	push	%rax
	pop	%rdx
	ret
_start:	mov	$1000, %ebx
1:	mov	%rbx, %rdi
	call	twice
	add	%rax, %r12
	dec	%ebx
	jnz	1b
	lea	text(%rip), %rsi
	lea	copy(%rip), %rdi
	mov	$len, %ecx
	rep movsb
	mov	$1, %eax
	mov	$1, %edi
	lea	copy(%rip), %rsi
	mov	$len, %edx
	syscall
	movzbl	answer(%rip), %edi
	mov	$231, %eax
	syscall
