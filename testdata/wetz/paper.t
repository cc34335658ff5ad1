# Captures to .wet files of kind paper and back: the text of ws2wet, byte for byte; sizes as the paper counts them
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }

# both NAME CAPTURE OPTIONS...: both ways
both() {
	name=$1 ws=$2
	shift 2
	wetz "$@" -m paper -o both.wet "$ws" && wetz -d -o both.out both.wet
	same "$name" "${ws%.ws}.txt" both.out
}
for p in "$SRC"/testdata/ws2wet/*.c "$SRC"/testdata/wscap/mem.c "$SRC"/testdata/wscap/sig.c "$SRC"/testdata/wscap/kids.c; do
	turn 2 || continue
	name=$(basename "$p" .c)
	${CC:-gcc} -w -g -O2 $static "$p" -o "$name" -lpthread 2>/dev/null || continue
	timeout 120 wscap -o "$name.ws" "./$name" >"$name.out" 2>&1 </dev/null
	[ -s "$name.ws" ] && ws2wet -o "$name.txt" "$name.ws" 2>/dev/null || { rm -f "$name.ws"; continue; }
	[ "$(wc -c <"$name.txt")" -lt 40000000 ] || { rm -f "$name.ws"; continue; }
	both "$name" "$name.ws" -1
done
ok "there were some" test -s prog.ws
sorts
ws2wet -o sort.txt sort.ws
both "in short segments" sort.ws -1 -s 3000
is "several of them" "$(($(wetz -1 -m paper -s 3000 -v sort.ws 2>&1 >/dev/null | sed -n 's/.* nodes \([0-9]*\) segments/\1/p') > 10))" 1
both "nothing squeezed" sort.ws -0
both "sort" sort.ws
wetz -d -b 3M both.wet >few.out
same "with little memory" sort.txt few.out
wetz -m paper <sort.ws | wetz -d >pipe.out
same "by pipes" sort.txt pipe.out

wetz -1 -o full.wet sort.ws && wetz -m paper -o both2.wet full.wet
same "out of a file of kind full" both.wet both2.wet
gives "only of that" 1 "wetz: both.wet: is compressed, and not of kind full" wetz -m paper -o no.wet both.wet
head -c "$(($(wc -c <full.wet) / 2))" full.wet >cut.wet
ok "which is cut off" sh -c 'wetz -m paper -o no.wet cut.wet 2>err; [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] && [ ! -e no.wet ]'

# what -v says, against the text: 4 bytes a statement executed, 8 a word of a value and a dependence
wetz -m paper -v -o both.wet sort.ws 2>said
want=$(awk '/^SIZE/ { dep += $2 } /^ORDER/ { on = 1; next } on { n += $2 } END { print 4 * n, 8 * dep }' sort.txt)
is "at first: times and pairs" "$(awk '$2 == "timestamps" { t = $3 } $2 == "edges" { e = $3 } END { print t, e }' said)" "$want"
is "each tier takes away from each" "$(awk '$2 ~ /^(timestamps|values|edges|wet)$/ { n += $3 > $4 && $4 > $5 && $5 > 0 } END { print n }' said)" 4
is "they add up" "$(awk '$2 ~ /^(timestamps|values|edges)$/ { a += $3; b += $4; c += $5 } $2 == "wet" { print $3 - a, $4 - b, $5 - c }' said)" "0 0 0"
is "all compressors are used" "$(awk '$2 == "method" && $4 + $5 + $6 > 0 { n++ } END { print (n > 10) }' said)" 1
is "the file is as long as it says" "$(sed -n 's/^wetz: file \([0-9]*\) .*/\1/p' said)" "$(wc -c <both.wet | tr -d ' ')"
tap_end
