# -r auto finds the layout of records, and what comes before them
. "$SRC/testdata/tap.sh"
size() { wc -c | tr -d ' '; }
layout() { bifcm -lv "$1" | sed -n 's/^layout //p; s/^head-bytes //p' | tr '\n' ' '; }

# finds INPUT NAME "LAYOUT HEAD": and comes back
finds() {
	bifcm -r auto -o got.bif "$1"
	is "$2" "$(layout got.bif)" "$3 "
	bifcm -d got.bif -o out
	same "$2: comes back" "$1" out
	# a pipe gives the same, whatever the level, so a fast one
	bifcm -1 -r auto -c "$1" >got.bif
	bifcm -1 -r auto <"$1" | cmp -s - got.bif && pass "$2: from a pipe" || fail "$2: from a pipe"
	bifcm -d <got.bif >out
	same "$2: -1" "$1" out
}

# the layout is guessed by the first 32 KB, and tried on twice as many
most=$((few == 1 ? 1000000 : 84000))
"$BUILD/test/hard" decimals | head -c $most >in
finds in "doubles" "8 0"
"$BUILD/test/hard" ids | head -c $most >in
finds in "values of 4 bytes" "4 0"
"$BUILD/test/hard" wide | head -c $most >in
a=$(bifcm -r auto -c in | size) b=$(bifcm -r 8,4,8,4,2,2 -c in | size)
[ "$a" -le $((b + b / 50)) ] && pass "as small as by its layout" || fail "as small as by its layout" "$a, not $b"
{ printf 'HEADER'; cat in; } >with
bifcm -r auto -o got.bif with
bifcm -d got.bif -o out
same "after a header" with out
a=$(size <got.bif)
[ "$a" -le $((b + b / 50)) ] && pass "it is found" || fail "it is found" "$a, not $b: $(layout got.bif)"
bifcm -1 -r auto -H 6 -c with | bifcm -lv | grep -qx 'head-bytes 6' && pass "-H is kept" || fail "-H is kept"
wscap -o ws true
ws2addr -n 0:$((few == 1 ? 1000000 : 8000)) -o in ws
finds in "references" "addr 16"
for n in 0 1 7 60 100 300; do
	head -c $n with >in
	bifcm -r auto -c in | bifcm -d >out
	same "$n bytes" in out
done
gives "only once" 2 "bifcm: only one of -r and -w can be given, once; see bifcm --help" bifcm -r auto -w 8 </dev/null
tap_end
