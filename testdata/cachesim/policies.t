# Each policy: cases that were computed by hand; then random references, as a slow model (cachemodel) counts them
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
options=

# d1 WHAT CACHE WANT WORD...: what D1 says of these references: loads missed, stores missed, written back, stored past, prefetched, used
d1() {
	what=$1 want=$3
	options="--d1 $2 --l2 none --l3 none"
	shift 3
	log "$@" >hand.log
	is "$what" "$(flat hand.log | awk '$1 == "d1" { print $7, $10, $14, $15, $16, $17 }')" "$want"
}

# a set of four lines, A to F
lines='La000 Lb000 Lc000 Ld000 La000 Le000 La000 Lb000'
# E replaces B, and B replaces C
d1 "lru" 256,4,64,lru "6 0 0 0 0 0" $lines
# E replaces A, the first, which replaces B
d1 "fifo" 256,4,64,fifo "7 0 0 0 0 0" $lines
# after the hit of A, the tree points to the other half, and there to C, as D came last
d1 "plru" 256,4,64,plru "5 0 0 0 0 0" $lines
# A was used again: E and F replace B and C
d1 "srrip" 256,4,64,srrip "6 0 0 0 0 0" La000 La000 Lb000 Lc000 Ld000 Le000 Lf000 La000
d1 "where lru replaces A" 256,4,64,lru "7 0 0 0 0 0" La000 La000 Lb000 Lc000 Ld000 Le000 Lf000 La000
d1 "random: no more than the lines there are" 256,4,64,random "4 0 0 0 0 0" La000 Lb000 Lc000 Ld000 La000 Lb000 Lc000 Ld000
d1 "one way" 128,1,64 "3 0 0 0 0 0" L1000 L1040 L1080 L1040
d1 "full" 128,full,64 "4 0 0 0 0 0" L1000 L1040 L1080 L1000

# stores
d1 "a dirty line is written back" 64,1,64 "1 1 1 0 0 0" S1000 S1008 L2000
d1 "a modify is a load that makes it dirty" 64,1,64 "2 0 1 0 0 0" M1000 L2000
d1 "stores go through" 64,1,64,through "1 1 0 2 0 0" S1000 S1008 L2000
d1 "a store that misses goes around" 64,1,64,around "1 1 0 1 0 0" S1000 L1000 L1008
d1 "one that hits makes it dirty" 64,1,64,around "2 0 1 0 0 0" L1000 S1008 L2000

# accesses of two lines
d1 "an access of two lines misses once" 256,4,64 "1 0 0 0 0 0" L103c L1000 L1040
d1 "also if one of them is there" 256,4,64 "2 0 0 0 0 0" L1000 L103c L1040

# prefetching
d1 "next line" 256,4,64,next "1 0 0 0 2 1" L1000 L1040
d1 "only after a miss or a first use" 256,4,64,next "1 0 0 0 1 0" L1000 L1008 L1010
d1 "stride" 256,4,64,stride "3 0 0 0 2 1" I400 L1000 I400 L1100 I400 L1200 I400 L1300
d1 "of another instruction" 256,4,64,stride "4 0 0 0 0 0" I400 L1000 I408 L1100 I400 L1200 I408 L1300

# levels: the second gets what misses, and dirty lines without an access
log S1000 L2000 S1000 L2000 I400 >hand.log
options="--i1 64,1,64 --d1 64,1,64 --l2 1k,4,64 --l3 none"
is "levels" "$(flat hand.log | awk '{ print $1, $3, $4, $6, $7, $9, $10, $14 }' | sed 1d | grep -v memory | tr '\n' ';')" \
	"d1 0 0 2 2 2 2 2;l2 1 1 2 1 2 1 0;"
is "memory" "$(flat hand.log | tail -n 1)" "memory 3 0 walks 0"
# one entry for each; the fetch finds its page in the second TLB
log L1000 L2000 L1000 I1000 I1004 >hand.log
options="--itlb 1,1 --dtlb 1,1 --stlb 4,2"
is "TLBs" "$(flat hand.log | awk '/tlb/ { print $1, $4, $7 }' | tr '\n' ';') $(flat hand.log | tail -n 1)" "itlb 1 0;dtlb 0 3;stlb 0 2; memory 2 0 walks 2"

# the model; of five policies with five sets of caches, every second
model() {
	turn 2 || return 0
	a='' b="$*"
	for s; do a="$a --${s%%=*}=${s#*=}"; done
	case $b in *l3=*) ;; *) a="$a --l3=none" ;; esac
	case $b in *l2=*) ;; *) a="$a --l2=none" ;; esac
	options=$a
	# shellcheck disable=SC2086
	"$BUILD/test/cachemodel" $b <random.log >want
	flat random.log >got
	same "the model: $b" got want
}
awk -v seed=1 -v count=25000 -f "$HERE/random.awk" >random.log
for p in lru fifo random plru srrip; do
	model i1=2048,4,64,$p d1=1024,2,32,$p l2=8192,8,64,$p l3=32768,16,64,$p
	model l1=4096,8,16,$p l2=16384,2,64,$p
	model i1=2048,8,64,$p,next d1=1024,4,32,$p,stride l2=8192,8,64,$p,next l3=32768,16,64,$p,stride
	model i1=2048,4,64,$p,next d1=1024,2,32,$p,through l2=8192,8,64,$p,around l3=32768,16,128,$p
	model i1=2048,4,64,$p d1=1024,2,64,$p,around,next l2=8192,8,32,$p,through,stride
done
model i1=2304,9,64 d1=1536,3,32 l2=8192,8,64
model i1=4096,64,64,plru d1=4096,64,64 l3=65536,1,4096
is "there is something to count" "$(awk '$1 == "d1" && $7 > 1000 && $10 > 300 && $14 > 300' want | wc -l | tr -d ' ')" 1
options="--itlb 4,full,srrip --dtlb 8,2,fifo --stlb 16,4,plru --i1 2k,2 --d1 2k,2 --l2 none --l3 none"
flat random.log >got
"$BUILD/test/cachemodel" i1=2048,2,64 d1=2048,2,64 itlb=16384,4,4096,srrip dtlb=32768,2,4096,fifo stlb=65536,4,4096,plru <random.log >want
same "the model: TLBs" got want
options="--page 16k --dtlb 8,2 --i1 2k,2 --d1 2k,2 --l2 none --l3 none"
flat random.log >got
"$BUILD/test/cachemodel" i1=2048,2,64 d1=2048,2,64 dtlb=131072,2,16384 <random.log >want
same "the model: large pages" got want
tap_end
