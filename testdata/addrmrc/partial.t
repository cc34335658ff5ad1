# --partial and --merge: segments give what the whole gives, byte for byte
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"

# a deterministic run of 30000 instructions: near lines, a loop, lines that return after long
awk 'BEGIN { srand(5); for (i = 0; i < 30000; i++) {
	printf "I  %x,4\n", 4194304 + i % 3000 * 4
	if (i % 3) printf " %s %x,8\n", i % 7 ? "L" : "M", 268435456 + 32 * int(exp(rand() * log(9000)))
	if (i % 4 == 0) printf " S %x,8\n", 536870912 + 64 * (i % 2500) + 60 } }' | addrconv -o s.ref

# merged OPTION... -- [OPTION]...: the whole, and cuts of it, some without anything
merged() {
	all=$*
	opts=
	while [ "$1" != -- ]; do opts="$opts $1"; shift; done
	shift
	# shellcheck disable=SC2086
	addrmrc $opts "$@" s.ref >want 2>/dev/null
	n=100
	for r in 0:1 1:77 77:1000 1000:12000 12000:12000 12000:12001 12001:29000 29000:; do
		n=$((n + 1))
		# shellcheck disable=SC2086
		addrmrc --partial $opts -n $r -o p$n s.ref || return
	done
	addrmrc --merge "$@" p1* >got 2>/dev/null
	same "the same: $all" want got
}

merged -- --histogram
merged -k all -- --json --histogram
merged -l 4 -k all -- -f csv --points 7
merged -l 4k -k instructions -- --histogram
merged -r 0.1 -- --json --histogram
merged -l 16 -k all -r 0.5 -- --points 3
addrmrc --histogram s.ref >want
addrmrc --partial -o one s.ref
addrmrc --merge --histogram one >got && same "one part" want got

why=$(able) && {
	wscap -o run.ws sort "$SRC/NEWS" >/dev/null
	addrmrc --histogram -k all run.ws >want
	ws2addr --segments 3 run.ws | xargs -P 2 -I {} addrmrc --partial -k all -n {} -o {}.part run.ws
	# shellcheck disable=SC2046
	addrmrc --merge --histogram $(ws2addr --segments 3 run.ws | sed 's/$/.part/') >got
	same "segments of a capture" want got
	ok "make -j" make -s -j 2 -f "$SRC/examples/segments.mk" TOOL=addrmrc OPTIONS='-k all' CAPTURE=run.ws SEGMENTS=3
	addrmrc -k all run.ws >want && same "gives the same" want result
} || skip "captures: $why"

s="; see addrmrc --help"
gives "both" 2 "addrmrc: --partial and --merge exclude each other$s" addrmrc --partial --merge s.ref
gives "a size of sample" 2 "addrmrc: --sample-size is not for partial results$s" addrmrc --partial --sample-size 99 s.ref
gives "what is printed" 2 "addrmrc: --points, --histogram and -f come with --merge, not with --partial$s" addrmrc --partial --json s.ref
gives "what is analysed" 2 "addrmrc: --merge comes without -l, -k, -r and --sample-size, which are in the partial results$s" addrmrc --merge -l 4 one
gives "nothing to merge" 2 "addrmrc: no operand is given$s" addrmrc --merge
addrmrc --partial -n 0:900 -o a s.ref
addrmrc --partial -n 900:2000 -o b s.ref
addrmrc --partial -r 0.5 -n 900:2000 -o c s.ref
gives "the wrong order" 1 "addrmrc: a: begins at instruction 0, and the file before ends before 2000" addrmrc --merge b a
gives "another sample" 1 "addrmrc: c: other lines, kinds or sample than in the file before" addrmrc --merge a c
gives "no partial result" 1 "addrmrc: s.ref: byte 0: not a partial result of this version of addrmrc" addrmrc --merge s.ref
{ cat b; echo; } >long
gives "too long" 1 "addrmrc: long: byte $(wc -c <b): something follows the end" addrmrc --merge a long
head -c 200 s.ref | addrmrc --partial -o few -
bad=0
for at in $(awk -v n="$(wc -c <few)" 'BEGIN { for (i = 0; i < n; i += 5 * '$few') print i }'); do
	{ head -c "$at" few; head -c $((at + 1)) few | tail -c 1 | tr '\000-\377' '\001-\377\000'; tail -c +$((at + 2)) few; } >hit
	head -c "$at" few >cut
	for f in hit cut; do
		addrmrc --merge $f >out 2>err
		[ $? = 1 ] && [ ! -s out ] && [ "$(grep -c "^addrmrc: $f: byte [0-9]*: " err)" = 1 ] && [ "$(wc -l <err)" -eq 1 ] ||
			{ fail "$f at byte $at" "$(cat err)"; bad=1; }
	done
done
is "each damage is found, and each end that is missing" $bad 0

# Files whose sums are right, and nothing else need be: lines 5 and 9; their order at the end; one distance; the end
head="0x317472617063726d 64 14 0 0 sum"
word() { "$BUILD/test/wordfile" "$@" >made; }
# shellcheck disable=SC2086
{
word $head 2 5 9 9 5 1 1 7 sum 100 9 sum
is "one that is right: 7 accesses hit in 2 lines" "$(addrmrc --merge -f csv made | tail -n 1)" "128,2,2,0.222222222"
word $head 2 5 5 9 5 0 sum 1 2 sum
gives "a line twice" 1 "addrmrc: made: byte 64: the same line twice" addrmrc --merge made
word $head 2 5 9 9 9 0 sum 1 2 sum
gives "twice at the end" 1 "addrmrc: made: byte 80: not a line of this part, or the same one twice" addrmrc --merge made
word $head 2 5 9 9 7 0 sum 1 2 sum
gives "another line at the end" 1 "addrmrc: made: byte 80: not a line of this part, or the same one twice" addrmrc --merge made
word $head 1 0x40000000000 0 sum 1 2 sum
gives "a line above all addresses" 1 "addrmrc: made: byte 56: no such line" addrmrc --merge made
word $head 2 5 9 9 5 1 2 7 sum 100 9 sum
gives "a distance that there cannot be" 1 "addrmrc: made: byte 96: no such distance" addrmrc --merge made
word $head 2 5 9 9 5 2 1 7 0 7 sum 100 9 sum
gives "distances that descend" 1 "addrmrc: made: byte 112: no such distance" addrmrc --merge made
word $head 2 5 9 9 5 1 1 0xffffffffffffffff sum 100 9 sum
gives "too many accesses" 1 "addrmrc: made: byte 96: no such distance" addrmrc --merge made
word $head 2 5 9 9 5 1 1 7 sum 100 8 sum
gives "another number of accesses" 1 "addrmrc: made: byte 128: no such number of accesses" addrmrc --merge made
word $head 0xffffffffffffffff 5
gives "more lines than there are" 1 "addrmrc: made: byte 64: truncated partial result of addrmrc" addrmrc --merge made
word 0x317472617063726d 48 14 0 0 sum
gives "no power of 2" 1 "addrmrc: made: byte 0: no such lines or kinds" addrmrc --merge made
word 0x317472617063726d 64 0x10000000e 0 0 sum
gives "no such kinds" 1 "addrmrc: made: byte 0: no such lines or kinds" addrmrc --merge made
}
gives "a full disk" 1 "addrmrc: standard output: No space left on device" sh -c 'addrmrc --partial s.ref >/dev/full'
gives "damaged references" 1 "addrmrc: cut.ref: byte 4004 (record 499): truncated reference" sh -c 'head -c 4004 s.ref >cut.ref; addrmrc --partial -o no cut.ref'
ok "leave no partial result" test ! -e no
tap_end
