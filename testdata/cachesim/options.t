# Sources, ranges, the screen, wrong options and wrong input
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
options=

cp "$HERE/walk.c" .
aecc -O1 -o walk walk.c && ./walk >/dev/null || fail "aecc makes a program"
ae2addr walk ae.out >g.ref
flat g.ref >want
ok "there are misses" test "$(awk '$1 == "d1" { print $7 }' want)" -gt 100
flat walk ae.out >got
same "a program and its events" got want
flat walk >got
same "a program alone" got want
flat - <g.ref >got
same "standard input" got want
ae2addr -f lackey walk ae.out | flat >got
same "a log" got want
ae2addr -f lackey walk ae.out | awk '/^I/ { n++ } n > 1000 && n <= 50000' | flat >want.range
options='-n 1000:50000'
flat walk >got
same "a range" got want.range
is "has so many instructions" "$(awk '$1 == "i1" { print $3 }' got)" 49000
options=
cachesim -o screen g.ref
is "the screen's first line" "$(head -n 1 screen)" "$(awk -v m="$(ae2addr -c walk ae.out | sed -n 's/^modifies //p')" '
	$1 == "i1" { i = $3 } $1 == "d1" { printf "%d instructions, %d loads, %d stores", i, $6, $9; if (m > 0) printf "; %d of the loads also store", m; print "" }' want)"
awk '$1 == "d1" { print $7, $10 }' want >numbers
is "has the same misses" "$(awk '/^D1 *[0-9]+ +[0-9]+ / { on = 1 } on && /loads/ { l = $3 } on && /stores/ { print l, $3; exit }' screen)" "$(cat numbers)"
is "and what was simulated" "$(sed -n 3,6p screen)" "I1    32k, 8 ways, 64-byte lines, lru
D1    32k, 8 ways, 64-byte lines, lru
L2    256k, 4 ways, 64-byte lines, lru
L3    8M, 16 ways, 64-byte lines, lru"
cachesim --l1 16k,4,plru --l2 none --l3 none --dtlb 64,4 --page 2M g.ref >screen
is "or is" "$(sed -n 3,4p screen)" "L1    16k, 4 ways, 64-byte lines, plru
DTLB  64 entries, 4 ways, 2M pages, lru"
ok "JSON is JSON" python3 -c 'import json; json.load(open("flat.json"))'

# wrong options
for v in '' 0 32k 32k,0 32k,9 32k,3,64 33k,8,64 32k,8,48 32k,8,4 32k,8,8192 32k,8,64,mru 32k,,64 '32k,8,64,' 2G,8 32k,128,64,plru 24k,3,64,plru 1M,full,8; do
	cachesim --d1 "$v" g.ref >out 2>err
	is "--d1 '$v'" "$? $(wc -c <out | tr -d ' ') $(grep -c '^cachesim: --d1' err)" "2 0 1"
done
gives "says why" 2 "cachesim: --l2 96k,8,64: the number of sets is not a power of 2; see cachesim --help" cachesim --l2 96k,8,64 g.ref
gives "a policy" 2 "cachesim: --dtlb 64,4,next: next is no policy; there are lru, fifo, plru, random and srrip; see cachesim --help" \
	cachesim --dtlb 64,4,next g.ref
gives "no first level" 2 "cachesim: --d1 none: the first level cannot be left out; see cachesim --help" cachesim --d1 none g.ref
gives "two first levels" 2 "cachesim: --l1 is instead of --i1 and --d1; see cachesim --help" cachesim --l1 1k,1 --d1 1k,1 g.ref
gives "a second TLB alone" 2 "cachesim: --stlb comes after a TLB: --itlb, --dtlb or both; see cachesim --help" cachesim --stlb 64,4 g.ref
gives "instructions by stride" 2 "cachesim: --i1 1k,1,stride: only data are prefetched by stride; see cachesim --help" cachesim --i1 1k,1,stride g.ref

# wrong input: what is before the fault is simulated, and a line
head -c 80011 g.ref >cut.ref
gives "cut off" 1 "cachesim: cut.ref: byte 80011 (record 10000): truncated reference" cachesim cut.ref
is "the rest is counted" "$(awk 'NR == 1 { print $1 + $3 + $5 }' tap.out)" \
	"$(head -c 80008 g.ref | cachesim | awk 'NR == 1 { print $1 + $3 + $5 }')"
gives "nothing" 1 "cachesim: standard input: empty input" sh -c 'cachesim </dev/null'
is "says nothing else" "$(wc -c <tap.out | tr -d ' ')" 0
gives "no events" 1 "cachesim: nosuch: No such file or directory" cachesim walk nosuch
is "says nothing else" "$(wc -c <tap.out | tr -d ' ')" 0
# the size of a line is that of all caches that have no other, wherever it is given
cachesim --i1 32k,8,128 --d1 8k,2,128,plru --l2 256k,4,128 --l3 1M,16,32 g.ref >want
cachesim --d1 8k,2,plru --l3 1M,16,32 g.ref -l 128 >got
same "one size of a line" got want
cachesim --l1 16k,full,128 --l2 none --l3 none g.ref >want
cachesim --l1 16k,full --l2 none --line 128 --l3 none g.ref >got
same "and of all ways" got want
gives "no power of 2" 2 "cachesim: -l 96: not a power of 2; see cachesim --help" cachesim -l 96 g.ref

echo text >text
cachesim -o kept text 2>err
is "no file is left" "$? $(ls kept 2>/dev/null)" "1 "

# the size of a line may come after what needs it
gives "-l after a cache: one that all lines fill" 2 "cachesim: --d1 64k,full: a set has from 1 to 4096 ways; see cachesim --help" cachesim --d1 64k,full text -l 8
gives "-l after a cache" 2 "cachesim: --d1 32k,3: the number of sets is not a power of 2; see cachesim --help" cachesim --d1 32k,3 -l 32 text

. "$SRC/testdata/ws2addr/lib.sh"
if why=$(able); then
	$GCC -O1 -o plain walk.c
	wscap -o g.ws ./plain >/dev/null
	flat g.ws >got
	ws2addr g.ws | flat >want
	same "a capture" got want
	options='-n 2000:9000'
	flat g.ws >got
	ws2addr -n 2000:9000 g.ws | (options=; flat) >want
	same "a range of it" got want
	n=$(ws2addr -c g.ws | sed -n 's/^instructions *//p')
	ws2addr -o g.ref g.ws
	for of in g.ws g.ref; do
		gives "a range behind its end, $of" 0 "cachesim: $of: nothing is in this range: the run has $n instructions" cachesim -n 99999999: $of
	done
else
	skip "$why"
fi
tap_end
