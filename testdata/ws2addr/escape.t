# A program that tries to run a command in whoever replays it (escape.c) leaves no trace of that; memory without end is an error
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }

cat >fill.s <<'S'
# All of 64 GB is written to, a page at a time
	.globl	_start
_start:	mov	$9, %eax
	xor	%edi, %edi
	mov	$0x1000000000, %rsi
	mov	$3, %edx
	mov	$0x4022, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	syscall
	mov	$200000, %ecx
1:	movb	$1, (%rax)
	add	$4096, %rax
	dec	%ecx
	jnz	1b
	xor	%edi, %edi
	mov	$231, %eax
	syscall
S
${CC:-gcc} -nostdlib -static fill.s -o fill && wscap -o fill.ws ./fill || exit 1
for k in "ws2addr -c" "ws2addr -n 300000:300001"; do
	# shellcheck disable=SC2086
	TRACEMILL_MEMORY=128M timeout 100 $k fill.ws >out 2>err
	status=$?
	# the sanitizer remarks that it is left on a stack of the replay's
	[ -z "$SAN" ] || { grep '^ws2addr: ' err >own; mv own err; }
	is "$k: memory has a bound" "$status $(wc -l <err | tr -d ' ') $(grep -c '134217728 bytes of memory are filled' err)" "1 1 1"
done

grep -q '^flags.* clzero' /proc/cpuinfo || { skip "the processor has no clzero"; tap_end; exit; }
ok "a program that breaks out" ${CC:-gcc} -O1 -static -o escape "$HERE/escape.c"
# which of the lines is the right one depends on the tool's build; experiments/escape/run does more of them
for line in 3 10 11 12 13 14; do
	wscap -o e.ws ./escape $line >native.out
	for k in "ws2addr -c" "ws2laplace -k k -o r"; do
		# shellcheck disable=SC2086
		timeout 100 $k e.ws >out 2>err
	done
done
timeout 100 wetq list e.ws >out 2>err
is "natively it is an ordinary one" "$(cat native.out)" native
is "it leaves no trace" "$(find . -name ESCAPED)" ""
wscap -o e.ws ./escape 3 >out
is "nor where it is trimmed" "$(find . -name ESCAPED)" ""
tap_end
