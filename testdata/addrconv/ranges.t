# -n: the outputs of ranges, one after the other, are that of the whole
. "$SRC/testdata/tap.sh"
command -v wscap >/dev/null && wscap -o run.ws expr 1 + 2 >sum 2>err || { skip "nothing can be captured here: $(head -n 1 err)"; exit 0; }
for f in text lackey din pinatrace ramulator champsim csv addr; do
	addrconv -f $f -o want run.ws && addrconv -f $f -n 0:3333 -o a run.ws && addrconv -f $f -n 3333:50000 -o b run.ws &&
		addrconv -f $f -n 50000: -o c run.ws || fail "$f is written"
	case $f in
	csv) { cat a; tail -n +2 b; tail -n +2 c; } >got ;;
	addr) { cat a; tail -c +17 b; tail -c +17 c; } >got ;;
	*) cat a b c >got ;;
	esac
	same "$f" want got
done

# a function is called and clears memory: formats of control alone have the address of the return before the elements
cat >clear.s <<'EOF'
	.globl _start
_start:	mov $50, %ebx
	sub $4096, %rsp
1:	call 2f
	dec %ebx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
2:	lea 8(%rsp), %rdi
	mov $100, %ecx
	xor %eax, %eax
	rep stosq
	ret
EOF
$GCC -nostdlib -static -o clear clear.s && wscap -o clear.ws ./clear
is "instructions" "$(ws2addr -c clear.ws | sed -n 's/^instructions *//p')" 5405
addrconv -f branches -o want clear.ws
for n in 0:2000 2000:4000 4000:; do addrconv -f branches -n $n clear.ws | tail -n +2; done >got
is "branches of ranges" "$(tail -n +2 want | diff - got) $(wc -l <got | tr -d ' ')" " 150"
is "and none behind the end" "$(addrconv -f branches -n 60000: clear.ws 2>err | wc -l | tr -d ' ')" 1
for f in branches bbv champsim; do
	gives "behind the end, $f" 0 "addrconv: clear.ws: nothing is in this range: the run has 5405 instructions" addrconv -f $f -n 60000: -o got clear.ws
done
tap_end
