# --partial and --merge: segments give what the whole gives
. "$SRC/testdata/tap.sh"
"$BUILD/test/segmenttest" || exit 1
tap_n=100       # the number of segmenttest comes first
command -v wscap >/dev/null && wscap -o run.ws sort --parallel=1 "$SRC/NEWS" >sorted 2>err ||
	{ skip "nothing can be captured here: $(head -n 1 err)"; exit 0; }
wstrim run.ws

# merged OPTION...: cachesim of the whole, in want; of cuts, in got. Words of $tables are more options
# shellcheck disable=SC2086
merged() {
	turn 2 || return 0
	cachesim --json $tables "$@" run.ws >want
	n=100
	for r in 0:1 1:77 77:1000 1000:20000 20000:20000 20000:20001 20001:150000 150000:; do
		n=$((n + 1))
		cachesim --partial $tables "$@" -n $r -o p$n run.ws || return
	done
	cachesim --merge --json $tables p1* >got
	same "the same: $*" want got
}

tables=
merged
merged --i1 1k,1,32 --d1 4k,2,64 --l2 16k,4,64 --l3 none
merged --l1 2k,4,64 --l2 8k,2,64,random --l3 32k,8,128,plru,next
merged --itlb 16,4 --dtlb 16,4 --stlb 64,4,fifo
merged --d1 1k,full --l2 4k,4,32,through --l3 16k,4,64,around,srrip
merged --d1 256k,16 --l2 none --l3 none

# all functions and lines; one part asks for the one table, another for the other, which makes no difference
tables='--functions --lines --top 100000'
merged
merged --l1 2k,4,64 --l2 8k,2,64,random --l3 32k,8,128,plru,next
merged --itlb 16,4 --dtlb 16,4 --stlb 64,4,fifo --l3 none
is "there are many" "$(python3 -c "import json; j = json.load(open('got')); print(len(j['functions']['top']) > 50, len(j['lines']['top']) > 50, any(f['function'] for f in j['functions']['top']))")" "True True True"
cachesim --partial --functions -n 0:5000 -o pa run.ws
cachesim --partial --lines -n 5000:9000 -o pb run.ws
cachesim --partial -n 5000:9000 -o pc run.ws
cachesim --functions -n 0:9000 run.ws >want
cachesim --merge --functions pa pb >got
same "functions of parts that were asked for either" want got
gives "a part without" 1 "cachesim: pc: one of it and the file before has functions and lines" cachesim --merge pa pc
gives "parts without" 1 "cachesim: pc: has no functions and lines: --partial was without --functions and --lines" cachesim --merge --lines pc
bad=0
for at in $(awk -v n="$(wc -c <pb)" 'BEGIN { for (i = n - 1; i > n - 4000; i -= 611) print i; for (i = 100; i < n; i += int(n / 6)) print i }'); do
	{ head -c "$at" pb; head -c $((at + 1)) pb | tail -c 1 | tr '\000-\377' '\001-\377\000'; tail -c +$((at + 2)) pb; } >hit
	cachesim --merge --lines pa hit >out 2>err
	[ $? = 1 ] && [ ! -s out ] && [ "$(grep -c '^cachesim: hit: byte [0-9]*: ' err)" = 1 ] && [ "$(wc -l <err)" -eq 1 ] ||
		{ fail "damage of functions at byte $at" "$(cat err)"; bad=1; }
done
is "each damage is found, of functions, too" $bad 0
head -c -9 pb >cut
gives "functions that are cut off" 1 "cachesim: cut: byte $(wc -c <cut): truncated partial result of cachesim" cachesim --merge pa cut

# what is not known in a part depends on the lines that the caches have: those of 20 times the instructions are no more
cachesim --partial --l2 16k,4 --l3 none -n 100000:200000 -o short run.ws
cachesim --partial --l2 16k,4 --l3 none -n 100000:2100000 -o long run.ws
[ "$(wc -c <long)" -lt $((2 * $(wc -c <short))) ]
is "a longer part is no larger" $? 0

# recipes
cachesim run.ws >want
ok "make -j" make -s -j 2 -f "$SRC/examples/segments.mk" CAPTURE=run.ws SEGMENTS=3
same "gives the same" want result
ws2addr --segments 3 run.ws >ranges
if command -v parallel >/dev/null; then
	ok "GNU parallel" parallel --will-cite -j 2 cachesim --partial -n '{}' -o 'p.{#}' run.ws :::: ranges
	# shellcheck disable=SC2046
	cachesim --merge $(awk '{ print "p." NR }' ranges) >got
	same "gives the same" want got
else
	skip "no parallel"
fi
for SLURM_ARRAY_TASK_ID in $(awk '{ print NR }' ranges); do
	export SLURM_ARRAY_TASK_ID
	sh "$SRC/examples/segments.slurm" run.ws --l3 none || fail "task $SLURM_ARRAY_TASK_ID"
done
# shellcheck disable=SC2046
cachesim --merge $(awk '{ print "part." NR }' ranges) >got
cachesim --l3 none run.ws >want
same "the tasks of a Slurm array give the same" want got

# what is wrong
s="; see cachesim --help"
gives "not LRU" 2 "cachesim: --partial: the first levels must be lru, without other words$s" cachesim --partial --d1 4k,2,64,random run.ws
gives "stride" 2 "cachesim: --partial: no cache can have stride, which depends on instructions$s" cachesim --partial --l2 64k,4,64,stride run.ws
gives "both" 2 "cachesim: --partial and --merge exclude each other$s" cachesim --partial --merge run.ws
gives "caches" 2 "cachesim: --merge comes without caches, which are in the partial results$s" cachesim --merge --l3 none part.1
cachesim --partial --l3 none -n 0:5000 -o a run.ws
cachesim --partial --l3 none -n 5000:9000 -o b run.ws
cachesim --partial --l2 none -n 5000:9000 -o c run.ws
gives "the wrong order" 1 "cachesim: a: begins at instruction 0, and the file before ends before 9000" cachesim --merge b a
gives "other caches" 1 "cachesim: c: other caches than in the file before" cachesim --merge a c
gives "no partial result" 1 "cachesim: run.ws: byte 0: not a partial result of this version of cachesim" cachesim --merge run.ws
head -c 1001 b >cut
gives "cut off" 1 "cachesim: cut: byte 1001: truncated partial result of cachesim" cachesim --merge a cut
{ cat b; echo; } >long
gives "too long" 1 "cachesim: long: byte $(wc -c <b): something follows the end" cachesim --merge a long
bad=0
for at in 3 20 130 247 260 264 1000 $(($(wc -c <b) - 50)) $(($(wc -c <b) - 12)) $(($(wc -c <b) - 3)); do
	{ head -c $at b; head -c $((at + 1)) b | tail -c 1 | tr '\000-\377' '\001-\377\000'; tail -c +$((at + 2)) b; } >hit
	cachesim --merge a hit >out 2>err
	[ $? = 1 ] && [ ! -s out ] && [ "$(grep -c '^cachesim: hit: byte [0-9]*: ' err)" = 1 ] && [ "$(wc -l <err)" -eq 1 ] ||
		{ fail "damage at byte $at" "$(cat err)"; bad=1; }
done
is "each damage is found" $bad 0
tap_end
