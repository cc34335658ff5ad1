# cpuid in a replay is cpuid in the run; --cpu: of a processor that has less
. "$HERE/lib.sh"

${CC:-cc} -O2 -o linked "$HERE/cpu.c"
${CC:-cc} -O2 -static -o static "$HERE/cpu.c"

# replays WHAT OUTPUT: what the program printed is what its replay prints
replays() {
	ws2addr -w 1 c.ws >again 2>err || fail "$1: replayed: $(cat err)"
	same "$1: the same answers" again "$2"
}

for program in ./linked ./static; do
	wscap -o c.ws "$program" >out
	replays "${program#./}, on each processor" out
	for level in baseline v2; do
		wscap --cpu $level -o c.ws "$program" >out
		replays "${program#./}, $level" out
	done
	is "${program#./}: a baseline processor" "$(wscap --cpu baseline -o c.ws "$program" features)" " sse2"
	# only what the processor has
	has=$("$program" features)
	want=$(for f in sse2 sse3 sse4.2; do case " $has " in *" $f "*) printf ' %s' $f ;; esac; done)
	is "${program#./}: v2" "$(wscap --cpu v2 -o c.ws "$program" features)" "$want"
	is "${program#./}: this one" "$(wscap --cpu native -o c.ws "$program" features)" "$has"
done

wscap --cpu baseline -o c.ws ./static >out
ok "the processor does the same, given such answers" wsverify -n :20000 c.ws

# what the C library chooses, also in children and programs that they execute, is for such a processor
seq 3000 >in
sort -rn in >want
wscap --cpu baseline -o c.ws sort -rn in >out
same "sort" out want
replays "sort, baseline" want
is "no state of avx is needed" "$(wsinfo c.ws | sed -n 's/^state *\(xcr0 0x[0-9a-f]*\),.*/\1/p')" "xcr0 0x3"
wscap --cpu baseline -o c.ws sh -c "./static features; sort -rn in | tail -n 1; ./static features | cat" >out
is "a tree" "$(cat out)" " sse2
1
 sse2"
ok "a tree: replayed" ws2addr -o /dev/null c.ws
wscap --cpu baseline -o c.ws ./static features >/dev/null
addrconv -f callgrind c.ws >functions
is "functions for newer processors" "$(grep -c 'fn=.*\(avx\|evex\|sse4\)' functions)" 0
is "functions for this one" "$(grep -o 'fn=.*_sse2' functions | sed -n '1s/.*_//p')" sse2

# without symbols and tables of functions, as tools of Go: which core of the processor it runs on stays in a register
cat >core.s <<-EOF
	.globl _start
	_start:
		mov \$1, %eax
		cpuid
		mov \$39, %eax
		syscall
		mov %ebx, %edi
		shr \$24, %edi
		mov \$231, %eax
		syscall
		ret
EOF
${CC:-cc} -nostdlib -static -s -Wl,--build-id=none -o core core.s || exit 1
cores=$(taskset -c -p $$ | sed 's/.*: //' | tr ',-' '\n\n')
for on in $(echo "$cores" | sed -n '1p;$p'); do
	wscap -o c.ws taskset -c "$on" ./core
	is "on core $on: what it was told when it was captured" "$(ws2addr -c c.ws:2 2>&1 | head -n 1)" "instructions 8"
done
gives "no level" 125 "wscap: --cpu x: neither native, baseline nor v2; see wscap --help" wscap --cpu x true
gives "a run that has begun" 125 "wscap: --cpu is for runs from their beginning, not with -p or --from; see wscap --help" \
	wscap --cpu v2 -p $$
tap_end
