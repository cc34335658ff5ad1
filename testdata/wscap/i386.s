# A program for i386: writes a line and exits with 3
	.globl _start
_start:
	movl $4, %eax
	movl $1, %ebx
	movl $line, %ecx
	movl $3, %edx
	int $0x80
	movl $1, %eax
	movl $3, %ebx
	int $0x80
	.data
line:
	.ascii "ok\n"
