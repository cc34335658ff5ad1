# The value of push and pop: none, or what was popped; not rsp, which they move, unless rsp is what was popped
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }

cat >p.s <<'E'
	.globl _start
_start:
	lea	buf(%rip), %rbp
	pushq	0x5c(%rbp)              # ends with the byte that is pop %rsp
	popq	0x5c(%rbp)
	push	$77
	pop	%r12                    # 41 5c
	push	%rbp
	pop	%rsp                    # 5c
	lea	64(%rbp), %rsp
	push	%rbp
	.byte	0x8f, 0xc4              # pop %rsp, the long form
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.bss
buf:	.skip	256
E
gcc -nostdlib -static p.s -o p && wscap -o p.ws ./p
buf=$(nm p | sed -n 's/^0*\([0-9a-f]*\) b buf$/\1/p')
wetz -1 -o p.wet p.ws
for f in p.ws p.wet; do
	is "$f" "$(for id in 1 2 3 4 5 6 7 9 10; do echo "$id$(wetq values $id $f)"; done | tr -s ' \n' ' ')" \
		"1 0:$buf 2 3 4 5 0:4d 6 7 0:$buf 9 10 0:$buf "
done
tap_end
