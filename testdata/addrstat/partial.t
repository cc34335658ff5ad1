# --partial and --merge: segments give what the whole gives, byte for byte
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"

# a deterministic run of 30000 instructions; some load and store, some access memory that others do; references cross lines
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
	addrstat $opts "$@" s.ref >want
	n=100
	for r in 0:1 1:77 77:1000 1000:12000 12000:12000 12000:12001 12001:29000 29000:; do
		n=$((n + 1))
		# shellcheck disable=SC2086
		addrstat --partial $opts -n $r -o p$n s.ref || return
	done
	# shellcheck disable=SC2086
	addrstat --merge $opts "$@" p1* >got
	same "the same: $all" want got
}

merged --
merged -- --regions --top 1
merged --strides -- --regions
merged --strides -- --regions --json
addrstat --merge --json p1* >got
addrstat --json s.ref >want
same "strides need not be printed" want got
addrstat --partial --strides -o one s.ref
addrstat --merge --regions --strides --json one >got
addrstat --regions --strides --json s.ref >want
same "one part" want got

why=$(able) && {
	wscap -o run.ws sort "$SRC/NEWS" >/dev/null
	addrstat -a --top 100000 run.ws >want
	ws2addr --segments 3 run.ws | xargs -P 2 -I {} addrstat --partial --strides --lines -n {} -o {}.part run.ws
	# shellcheck disable=SC2046
	addrstat --merge -a --top 100000 $(ws2addr --segments 3 run.ws | sed 's/$/.part/') >got
	same "segments of a capture" want got
	ok "they have names" grep -q ' \[stack\]$' got
	is "and functions" "$(awk '/by function$/ { on = 1 } /by line$/ { on = 0 } on { n++ } END { print (n > 50) }' got)" 1
	ok "make -j" make -s -j 2 -f "$SRC/examples/segments.mk" TOOL=addrstat OPTIONS=--strides CAPTURE=run.ws SEGMENTS=3
	addrstat run.ws >want && same "gives the same" want result
	wscap -o other.ws true
	addrstat --partial -n 0:100 -o o1 run.ws
	addrstat --partial -n 100:200 -o o2 other.ws
	gives "another run" 1 "addrstat: o2: other areas of memory than in the file before: it is of another run" addrstat --merge o1 o2
} || skip "captures: $why"

s="; see addrstat --help"
gives "both" 2 "addrstat: --partial and --merge exclude each other$s" addrstat --partial --merge s.ref
gives "what is printed" 2 "addrstat: --json and --regions come with --merge, not with --partial$s" addrstat --partial --json s.ref
gives "a range" 2 "addrstat: --merge comes without -n, which is in the partial results$s" addrstat --merge -n 4: one
gives "nothing to merge" 2 "addrstat: no operand is given$s" addrstat --merge
addrstat --partial -n 0:900 -o a s.ref
addrstat --partial -n 900:2000 -o b s.ref
addrstat --partial --strides -n 900:2000 -o c s.ref
gives "the wrong order" 1 "addrstat: a: begins at instruction 0, and the file before ends before 2000" addrstat --merge b a
gives "one with strides" 1 "addrstat: c: one of it and the file before has strides" addrstat --merge a c
gives "none with strides" 1 "addrstat: a: has no strides: --partial was without --strides" addrstat --merge --strides a b
gives "none with functions" 1 "addrstat: a: has no functions and lines: --partial was without --functions and --lines" addrstat --merge --lines a b
addrstat --partial --lines -n 900:2000 -o d s.ref
gives "one with functions" 1 "addrstat: d: one of it and the file before has functions and lines" addrstat --merge a d
gives "no partial result" 1 "addrstat: s.ref: byte 0: not a partial result of this version of addrstat" addrstat --merge s.ref
{ cat b; echo; } >long
gives "too long" 1 "addrstat: long: byte $(wc -c <b): something follows the end" addrstat --merge a long
head -c 200 s.ref | addrstat --partial --strides -o few -
bad=0
for at in $(awk -v n="$(wc -c <few)" 'BEGIN { for (i = 0; i < n; i += 7 * '$few') print i }'); do
	{ head -c "$at" few; head -c $((at + 1)) few | tail -c 1 | tr '\000-\377' '\001-\377\000'; tail -c +$((at + 2)) few; } >hit
	head -c "$at" few >cut
	for f in hit cut; do
		addrstat --merge $f >out 2>err
		[ $? = 1 ] && [ ! -s out ] && [ "$(grep -c "^addrstat: $f: byte [0-9]*: " err)" = 1 ] && [ "$(wc -l <err)" -eq 1 ] ||
			{ fail "$f at byte $at" "$(cat err)"; bad=1; }
	done
done
is "each damage is found, and each end that is missing" $bad 0

# Files whose sums are right, and nothing else need be: an area; 2 loads of 8 bytes and their digest; a page with both
head="0x3174726170747364 0 0 sum"
area="1 0x5000 0x5fff 4 6 0x5d706165685b sum"
page="1 5 0 3 0 0 0 2 0 0 sum"
word() { "$BUILD/test/wordfile" "$@" >made; }
wrong() { gives "$1" 1 "addrstat: made: byte $2: $3" addrstat --merge made; }
# shellcheck disable=SC2086
{
word $head $area 1 264 2 77 sum $page
is "one that is right" "$(addrstat --merge --regions made | awk '$1 == "load" || $NF == "[heap]" || $1 == "digest"' | tr -s ' \n' ' ')" \
	"load 2 16 load 8 2 load 2 1 digest 000000000000004d 1 0 2 0 0 000000005000 [heap] "
word $head 1 0x5000 0x4fff 4 0 sum
wrong "an area that ends before it begins" 40 "no such area"
word $head 2 0x5000 0x5fff 4 0 0x5800 0x6fff 4 0 sum
wrong "areas that overlap" 72 "no such area"
word $head 1 0x5000 0x5fff 99 0 sum
wrong "an area of no kind" 40 "no such area"
word $head 1 0x5000 0x5fff 4 65536
wrong "a name without end" 64 "no such name"
word $head 0 sum 1 256 2 77 sum
wrong "a reference without a size" 64 "references without a size, or events with one"
word $head 0 sum 1 2048 2 77 sum
wrong "no such kind" 56 "no such number"
word $head 0 sum 1 264 0x1000000000001 77 sum
wrong "too many references" 56 "no such number"
word $head 0 sum 1 264 2 77 sum 1 5 0 3 0 0 0 3 0 0 sum
wrong "more references in a page" 144 "more references than there are"
word $head 0 sum 1 264 2 77 sum 1 5 0 3 0 0 0 1 0 0 sum
wrong "fewer" 160 "fewer references than there are"
word $head 0 sum 1 264 2 77 sum 2 5 0 3 0 0 0 1 0 0 5 0 3 0 0 0 1 0 0 sum
wrong "a page twice" 168 "no such page"
word $head 0 sum 1 264 2 77 sum 1 0x10000000000000 0 3 0 0 0 2 0 0 sum
wrong "a page above all" 96 "no such page"
word $head 0 sum 1 264 2 77 sum 0xffffffffffffffff 5
gives "pages that are not there" 1 "addrstat: made: byte 104: truncated partial result of addrstat" addrstat --merge made
strides="0x3174726170747364 1 0 sum 0 sum 1 264 2 77 sum $page"
one="1 52 1"
word $strides $one 0 1 4104 1 1 1 0x1000000000040 2 0 8 8 8 sum
is "strides that are right" "$(addrstat --merge --strides made | awk '$1 == "strides" || $1 ~ /^[+]8$/' | tr -s ' \n' ' ')" \
	"strides 1 accesses have one, and 1 are the first of an instruction +8 1 100.0% "
word $strides $one 1 52 2 0 0 0 sum
wrong "more constant ones" 208 "no such number"
word $strides $one 0 0 2 0 sum
wrong "more in a line" 216 "more strides than there are"
word $strides $one 0 0 1 1 64 2 0 8 8 8 sum
wrong "an instruction of no kind" 232 "no such strides of an instruction"
word $strides $one 0 0 1 1 0x1000000000040 2 0 8 8 9 sum
wrong "two strides that are one" 232 "no such strides of an instruction"
word $strides $one 0 0 1 1 0x1000000000040 2 0 0x800000000000 8 8 sum
wrong "no such address" 256 "no such address or stride"
word $strides $one 0 0 1 1 0x1000000000040 1 8 8 0 0 sum
wrong "a stride without an instruction" 272 "strides of no instruction"
}
gives "a full disk" 1 "addrstat: standard output: No space left on device" sh -c 'addrstat --partial s.ref >/dev/full'
gives "damaged references" 1 "addrstat: cut.ref: byte 4004 (record 499): truncated reference" sh -c 'head -c 4004 s.ref >cut.ref; addrstat --partial -o no cut.ref'
ok "leave no partial result" test ! -e no
tap_end
