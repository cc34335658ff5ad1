# Kind loads: values that the reader computes again, of instructions of all kinds; what is cut off, changed and made up
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
broken=$BUILD/test/wetfuzz
for s in 1 2; do
	ok "made-up instructions, $s" "$BUILD/test/loadtest" $s $((120000 / (few + 1)))
done
why=$(able) || { skip "$why"; tap_end; exit; }

# both NAME CAPTURE OPTIONS...: both ways, and few statements that are not as executing them again gives them
both() {
	name=$1 ws=$2
	shift 2
	[ "$ws" = "$of" ] || ws2wet -o both.txt "$ws"
	of=$ws
	wetz -v "$@" -m loads -o both.wet "$ws" 2>both.err && wetz -d -o both.out both.wet
	same "$name" both.txt both.out
	n=$(sed -n 's/^wetz: \([0-9]*\) statements and registers were not .*/\1/p' both.err)
	ok "$name: most of it is executed" test "${n:-0}" -lt 400
}
for o in -O0 -O2; do
	of=
	${CC:-gcc} -w -g $o $static "$HERE/loads.c" -o loads -lm && wscap -o loads.ws ./loads >loads.out
	both "instructions of all kinds, $o" loads.ws -1
done
both "in short segments" loads.ws -1 -s 3000
both "in very short ones" loads.ws -0 -s 100
for p in ws2wet/signals wscap/sig wscap/kids wscap/mem; do
	name=$(basename $p)
	${CC:-gcc} -w -g -O2 $static "$SRC/testdata/$p.c" -o "$name" -lpthread && timeout 120 wscap -o "$name.ws" "./$name" >"$name.out" 2>&1 </dev/null
	both "$name" "$name.ws" -1 -s 20000
done
sorts
both "sort" sort.ws
values() { sed -n 's/^wetz: values  *\([0-9]*\) .*/\1/p' "$1"; }
wetz -v -o full.wet sort.ws 2>full.err
ok "values take less than half of what they take in full" test "$(($(values both.err) * 2))" -lt "$(values full.err)"
wetz -m loads <sort.ws | wetz -d >pipe.out
same "by pipes" both.txt pipe.out

${CC:-gcc} -nostdlib -static "$SRC/testdata/ws2addr/tiny.s" -o tiny && wscap -o tiny.ws ./tiny >tiny.out
# a file of some thirty segments: each place is tried on all that it has
wetz -0 -s 320 -m loads -o loads.wet tiny.ws
ok "cut off" "$broken" cut loads.wet $((29 * few))
ok "changed" "$broken" flip loads.wet $((31 * few))
ok "changed, with right checksums" "$broken" deep loads.wet $((11 * few))
grows loads.wet
wetz -0 -m loads -o loads.wet loads.ws
ok "more instructions that are changed, with right checksums" "$broken" deep loads.wet 40009
tap_end
