# DynamoRIO's drmemtrace: a decoder written from its description, and references that come back
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"

# bytes that are known: printf of octal numbers, 12 bytes a record
record() { # TYPE SIZE VALUE, each of one byte
	printf "\\$(printf %o "$1")\\0\\$(printf %o "$2")\\0\\$(printf %o "$3")\\0\\0\\0\\0\\0\\0\\0"
}
printf 'inst 0x10 4\nload 0x20 8\nmodify 0x30 2\nenter 0x10\n' >text
{
	record 25 0 4           # header: version 4
	record 28 12 4          # version
	record 28 9 0           # type of the file: none
	record 22 4 1           # thread
	record 24 4 1           # process
	record 28 10 64         # cache line
	record 28 20 0          # no chunks
	printf '\034\0\022\0\0\020\0\0\0\0\0\0'         # page: 4096
	printf '\034\0\002\0\000\100\206\110\226\136\051\000' # 1970 in microseconds since 1601
	printf '\034\0\003\0\377\377\377\377\377\377\377\377' # processor: not known
	record 10 4 16
	record 0 8 32
	record 0 2 48
	record 1 2 48
	record 23 4 1           # the thread ends
	record 26 0 0           # footer
} >want
addrconv -f drmemtrace-refs text >got
same "the bytes of a short stream" got want
printf 'inst 0x10 4\nload 0x20 8\nload 0x30 2\nstore 0x30 2\n' >back
addrconv -f text want >got
same "and back, by its content" got back
addrconv -F drmemtrace -f text <want >got
same "and back, by its name" got back
gzip -c want | addrconv -f text >got
same "compressed" got back
cat want want | addrconv -f text >got
cat back back >two
same "two traces, one after the other" got two
printf 'inst 0x10 4\ninst 0x14 4\nload 0x20 8\nload 0x24 8\ninst 0x18 4\n' | addrconv -i -f drmemtrace-refs >got
{ head -c 120 want; record 10 0 20; record 0 8 32; record 0 8 36; tail -c 24 want; } >want2
same "without fetches, an access has its instruction" got want2
printf 'load 0x20 8\nload 0x24 8\n' >back
addrconv -f text got >got2
same "which is no fetch" got2 back
addrconv -f drmemtrace-refs -n 0:0 text >got
{ head -c 120 want; tail -c 24 want; } >want2
same "nothing" got want2
is "nothing, read" "$(addrconv -f text got; echo $?)" 0

# what other writers write: every type of record, threads, bundles, large accesses, accesses without a size
{
	record 25 0 7
	record 22 4 1
	record 24 4 1
	record 47 4 144         # code
	for t in 10 11 12 13 14 15 16 29 30 31 48 49; do record $t 4 $t; done
	printf '\021\0\002\0\001\003\0\0\0\0\0\0'       # two that follow: 1 and 3 bytes
	for t in 2 3 4 5 6 7 8 9 18 19 20 21 27 32 46; do record $t 8 64; done
	record 0 0 80
	printf '\001\0\0\002\0\001\0\0\0\0\0\0'         # a write of 512 bytes at 0x100
	record 22 4 1           # the same thread
	record 22 4 2
	record 24 4 1
	record 1 8 96
	record 28 0 7
	record 23 4 2
	record 26 0 0
} >other
{
	for t in a b c d e f 10 1d 1e 1f 30 31; do echo "inst 0x$t 4"; done
	echo inst 0x35 1
	echo inst 0x36 3
	echo load 0x50 4
	echo store 0x100 128
	echo store 0x180 128
	echo store 0x200 128
	echo store 0x280 128
	echo task 0x2
	echo store 0x60 8
} >want2
addrconv -f text other >got
same "every type of record" got want2

# what is wrong: one line, status 1, and what comes before it
bad() { { record 25 0 7; record 22 4 1; record 24 4 1; record 10 4 10; "$@"; } >bad; }
wrong() { # NAME BYTE TEXT
	addrconv -f text bad >out 2>err
	is "$1" "$? $(cat out) $(cat err)" "1 inst 0xa 4 addrconv: bad: byte $2: $3"
}
bad record 50 4 1
wrong "an unknown type" 48 "a record of an unknown type"
bad printf '\0\001\0\0\1\0\0\0\0\0\0\0'
wrong "another unknown type" 48 "a record of an unknown type"
bad record 25 0 8
wrong "an unknown version" 48 "a trace of an unknown version"
bad record 17 9 1
wrong "a bundle that is too large" 48 "a bundle of too many instructions"
bad record 17 2 1
wrong "a bundle with nothing in it" 48 "an instruction without bytes"
bad printf '\012\0\0\001\1\0\0\0\0\0\0\0'
wrong "an instruction that is too long" 48 "an instruction of too many bytes"
bad printf '\0\0\1\100\1\0\0\0\0\0\0\0'
wrong "an access that is too large" 48 "an access of too many bytes"
bad printf '\0\0\1\0\1\0\0\0\0\0\1\0'
wrong "an address beyond 48 bits" 48 "address out of range"
bad printf '\026\0\4\0\1\0\0\0\0\0\1\0'
wrong "a thread beyond 47 bits" 48 "number of a thread out of range"
bad true
wrong "no footer" 48 "truncated: no footer"
{ cat bad; record 26 0 0; record 10 4 1; } >bad2
mv bad2 bad
wrong "something after the footer" 60 "records after the footer"
addrconv -f text want >whole 2>/dev/null
step=5
[ $few = 1 ] && step=1
is "cut off anywhere" "$(damaged -o 1 -s $step want cut whole addrconv -F drmemtrace -f text cut)" ""

# captures
why=$(able) || { skip "$why"; tap_end; exit 0; }
$GCC -O2 -o drmemread "$HERE/drmemread.c" || exit 1
ok "a program with every kind of branch" captured flow "$HERE/flow.s"
# compared NAME: the trace of NAME.ws has its references, and a control flow
compared() {
	ws2addr -f text -o "$1.txt" "$1.ws"
	addrconv -f drmemtrace -o "$1.trace" "$1.ws" || fail "$1: converts"
	./drmemread "$1.trace" "$1.txt" >"$1.out"
	is "$1: what the decoder says" "$? $(grep -v -e '^[a-z-]* [0-9]*$' "$1.out")" "0 "
	addrconv -f text "$1.trace" >"$1.back" || fail "$1: read again"
	is "$1: as many instructions are read again" "$(grep -c '^inst' "$1.back")" \
		"$(awk '$1 ~ /^(plain|jump|indirect-jump|call|indirect-call|return|no-fetch|taken|untaken)$/ { n += $2 } END { print n }' "$1.out")"
	is "$1: as many loads and stores" "$(grep -c '^load' "$1.back") $(grep -c '^store' "$1.back")" \
		"$(sed -n 's/^load //p' "$1.out") $(sed -n 's/^store //p' "$1.out")"
}
compared flow
count() { sed -n "s/^$1 //p" flow.out | tr '\n' ' '; }
# 100 rounds; 3 times loop, and 4 conditional branches a round; the two before the faults
is "conditional branches" $(($(count taken) + $(count untaken))) $((100 * 6 + 2))
is "jumps, calls and returns" "$(count jump)$(count indirect-jump)$(count call)$(count indirect-call)$(count return)" "100 300 200 300 502 "
# rep movsb of 37, repe cmpsb of 8, rep stosq of 0: the first of each is a fetch
is "iterations of string instructions" "$(count no-fetch)" "$((36 + 7)) "
is "system calls and signals" "$(count syscall)$(count signal)" "13 15 15 231 11 11 "
./drmemread -c flow.trace | sort >got
objdump -d flow | awk -F '\t' '$1 ~ /^ *[0-9a-f]+:$/ { gsub(/[ :]/, "", $1); gsub(/ /, "", $2); if ($3 == "") at = last; else at = $1; last = at; b[at] = b[at] $2 } END { for (a in b) print a, b[a] }' | sort >all
is "the code is that of objdump" "$(comm -23 got all)" ""
cat flow.ws | addrconv -f drmemtrace >got
same "from a pipe" got flow.trace
broken drmemtrace
# the first record of a part is an instruction, whatever came before it
for n in 0:1 3:10 100:2000 1000:; do
	addrconv -f drmemtrace -n $n flow.ws >part || fail "-n $n"
	./drmemread part >part.out
	is "a part, $n: the decoder finds nothing wrong" "$(grep '^record' part.out)" ""
done
addrconv -f drmemtrace -n 0:0 flow.ws | ./drmemread /dev/stdin | grep -v ' 0$' >got
is "an empty part" "$(cat got)" ""

# code that changes
cat >change.s <<'EOF'
	.globl	_start
	.text
_start:	mov	$10, %ebp
again:	test	$1, %ebp
	mov	$0x90, %al
	jz	put
	mov	$0xf8, %al
put:	movb	%al, place(%rip)
	jmp	place
place:	nop
	dec	%ebp
	jnz	again
	mov	$231, %eax
	mov	$7, %edi
	syscall
EOF
ok "a program that changes its code" captured change change.s -Wl,-N
compared change
# the other instruction 10 times, as the first is not executed
is "its code is there each time it is another" "$(sed -n 's/^code //p' change.out)" "$(($(./drmemread -c change.trace | wc -l) + 9))"

# a program with libraries
wscap -o ls.ws sh -c 'echo /*' >/dev/null
compared ls
./drmemread ls.trace | sed -n 's/^syscall //p' >got
is "as many system calls as in the capture" "$(wc -l <got)" "$(wsinfo -l ls.ws | grep -c ' sys ')"
tap_end
