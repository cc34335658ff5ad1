# addrmrc: distances against a list; misses against cachesim's fully associative LRU caches; sources, formats, bad input
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
"$BUILD/test/reusetest" || exit 1
tap_n=100       # the numbers of reusetest come first

cp "$SRC/examples/matrix.c" .
aecc -O1 matrix.c -o matrix && AE_OUT=matrix.out ./matrix >/dev/null || exit 1
ae2addr matrix matrix.out >m.ref
addrmrc matrix matrix.out >out 2>err
is "a program and its events" "$? $(cat err)" "0 "
addrmrc <m.ref >out2 && same "a stream gives the same" out out2
is "as many accesses as there are loads and stores that stay in a line" "$(awk 'NR == 1 { print $1 }' out)" \
	"$(ae2addr -f text matrix matrix.out | awk '$1 == "load" || $1 == "store" || $1 == "modify"' | wc -l | tr -d ' ')"

# at FILE LINES: misses of a cache of that many lines
at() { awk -v n="$2" '$2 == n { print $3; exit }' "$1"; }
# The sizes here are those of whole caches; cachesim is another program, with another way to keep the order
addrmrc -k all m.ref >all
for lines in 4 64 1024; do
	cachesim --l1 $((lines * 64)),full,64 --l2 none --l3 none m.ref >cache
	is "$lines lines: cachesim's misses" "$(at all $lines)" "$(awk '$1 == "L1" { n = $3 } END { print n }' cache)"
done
addrmrc --histogram m.ref >hist
is "--histogram: all accesses" "$(awk '/distance/ { on = 1; next } on { n += $2 } END { print n }' hist)" "$(awk 'NR == 1 { print $1 }' out)"
addrmrc -f csv --points 4 m.ref >csv
is "csv: the same misses" "$(awk -F, 'NR > 1 && $2 == 64 { print $3 }' csv)" "$(at out 64)"
is "--points 4: between 64 and 128" "$(awk -F, '$2 > 64 && $2 < 128 { printf "%s ", $2 }' csv)" "80 96 112 "
addrmrc --json m.ref >json
is "json: the same misses" "$(awk '/"lines": 64,/ { getline; gsub(/[^0-9]/, ""); print }' json)" "$(at out 64)"
addrmrc -l 4k m.ref >pages
is "-l 4k: pages" "$(awk 'NR == 1 { print $5 }' pages)" \
	"$(ae2addr -f text matrix matrix.out | awk '$1 == "load" || $1 == "store" || $1 == "modify" { print substr($2, 1, length($2) - 3) }' | sort -u | wc -l | tr -d ' ')"
ae2addr matrix matrix.out | head -c 800016 >part.ref
n=$(ae2addr -f text matrix matrix.out | head -n 100000 | grep -c '^inst')
addrmrc -n 0:"$n" m.ref >range
addrmrc part.ref >part
is "-n" "$(($(awk 'NR == 1 { print $1 }' range) - $(awk 'NR == 1 { print $1 }' part) < 3))" 1
why=$(able) && {
	wscap -o l.ws ls / >/dev/null
	addrmrc l.ws >got 2>err
	is "a capture" "$? $(cat err)" "0 "
	ws2addr l.ws | addrmrc >want && same "as its references" got want
	head -c $(($(wc -c <l.ws) * 3 / 4)) l.ws >cut.ws
	addrmrc cut.ws >got 2>err
	is "a capture that is cut off" "$? $(grep -c '^addrmrc: cut.ws: byte' err) $(wc -l <err | tr -d ' ') $(grep -c '^ *64 ' got)" "1 1 1 1"
} || skip "captures: $why"
head -c 40004 m.ref >cut.ref
addrmrc cut.ref >got 2>err
is "a stream that is cut off" "$? $(cat err) $(grep -c '^ *64 ' got)" "1 addrmrc: cut.ref: byte 40004 (record 4999): truncated reference 1"
: >empty
gives "nothing" 1 "addrmrc: empty: empty input" addrmrc empty
gives "a line that is no power of 2" 2 "addrmrc: -l 48: not a power of 2; see addrmrc --help" addrmrc -l 48 m.ref
gives "a full disk" 1 "addrmrc: standard output: No space left on device" sh -c 'addrmrc m.ref >/dev/full'
tap_end
