# --functions, --lines: where misses come from, computed again by another way; the sum is the total
. "$SRC/testdata/tap.sh"
cp "$HERE/walk.c" .
column=$(grep -n 'matrix\[i\]\[j\] +=' walk.c | cut -d: -f1)

aecc -g -O1 -o walk walk.c && ./walk >/dev/null || fail "aecc makes a program"
small="--i1 128,1,64 --d1 512,2,64 --l2 1k,2,64 --l3 none"
# shellcheck disable=SC2086
cachesim $small --functions --lines --json walk >got.json
cat >check.py <<'E'
import json, sys
j = json.load(open('got.json'))
cache = {c['name']: c['misses'] for c in j['caches']}
for what in 'functions', 'lines':
    t = j[what]
    print(what, t['total']['misses'] == cache, {k: sum(r['misses'][k] for r in t['top']) + t['others']['misses'][k] for k in cache} == cache)
    cost = [10 * (r['misses']['I1'] + r['misses']['D1']) + 100 * r['misses']['L2'] for r in t['top']]
    print(cost == sorted(cost, reverse=True), len(t['top']))
E
is "the sums are the totals, the costliest come first" "$(python3 check.py | sed 's/ [0-9]*$/ N/' | tr '\n' ';')" \
	"functions True True;True N;lines True True;True N;"
# shellcheck disable=SC2086
cachesim $small --functions --lines walk >screen
awk '/misses by function$/ { on = 1; next } /misses by line$/ { on = 2 } on == 1 && $4 ~ /^(main|compare)$/ { print $4 }' screen >names
is "functions" "$(sort names | tr '\n' ' ')" "compare main "
ok "lines" grep -q " walk.c:$column  main\$" screen
is "the total of a column" "$(awk '/misses by function$/ { on = 1; next } on && $NF == "total" { print $2; exit } on { n += $2 } END { print n }' screen | uniq | wc -l | tr -d ' ')" 1

# from the first call of compare on: its misses, counted by a few lines of Python
address=$(nm walk | awk '$3 == "compare" { print $1 }')
ae2addr -f lackey walk ae.out | grep -A 3000 -m 1 "^I  0*$(echo "$address" | sed 's/^0*//')," >short.log
n=$(grep -c '^I' short.log)
end=$(nm -S walk | awk '$4 == "compare" { print $2 }')
# shellcheck disable=SC2086
cachesim $small --json --functions -e walk short.log >got.json
got=$(python3 -c "import json; print(sum(sum(r['misses'].values()) for r in json.load(open('got.json'))['functions']['top'] if r['function'] == 'compare'))")
cat >trace.py <<'E'
# a direct-mapped and two 2-way LRU caches, plainly; misses of instructions of [lo, hi)
import sys
lo, n = int(sys.argv[1], 16), int(sys.argv[2], 16)
class Cache:
    def __init__(c, sets, ways): c.sets = [[] for i in range(sets)]; c.ways = ways
    def miss(c, addr, size):
        miss = 0
        for line in range(addr // 64, (addr + size - 1) // 64 + 1):
            s = c.sets[line % len(c.sets)]
            if line in s: s.remove(line)
            else: miss = 1
            s.append(line)
            if len(s) > c.ways: s.pop(0)
        return miss
i1, d1, l2 = Cache(2, 1), Cache(4, 2), Cache(8, 2)
total = pc = 0
for line in open('short.log'):
    kind, ref = line.split()
    addr, size = int(ref.split(',')[0], 16), int(ref.split(',')[1])
    if kind == 'I': pc = addr
    if (i1 if kind == 'I' else d1).miss(addr, size):
        misses = 1 + l2.miss(addr, size)
        total += misses if lo <= pc < lo + n else 0
print(total)
E
is "a function's misses, counted plainly, of $n instructions" "$got" "$(python3 trace.py "$address" "$end")"
ok "which are some" test "$got" -gt 5

# without names
ae2addr walk ae.out >g.ref
gives "a stream has none" 0 "cachesim: g.ref: has no names of functions and lines; -e names the executable that has them" \
	cachesim --functions g.ref
ok "and one row of them" grep -q '[0-9]  ?$' tap.out
cachesim -e walk --functions g.ref >got
cachesim --functions walk >want
same "-e" got want
$GCC -pie -fPIE -o elsewhere walk.c
gives "-e of other addresses" 0 "cachesim: g.ref: the executable of -e has other addresses: a position-independent one is loaded where the system likes; a capture has its names" \
	cachesim -e elsewhere --functions g.ref
gives "-e nosuch" 1 "cachesim: nosuch: No such file or directory" cachesim -e nosuch --lines g.ref
gives "-e nosuch, where no names are asked for" 1 "cachesim: nosuch: No such file or directory" cachesim -e nosuch g.ref
gives "-e nosuch, where the source has names" 1 "cachesim: nosuch: No such file or directory" cachesim -e nosuch --lines walk
cachesim -e walk g.ref >got
cachesim g.ref >want
same "-e changes nothing without tables" got want
cachesim --functions -o want g.ref 2>/dev/null
cachesim --functions -o got g.ref 2>&-
same "a message does not go into the output, where standard error is closed" got want
is "--top" "$(cachesim --lines --top 2 walk | sed '1,/misses by line/d' | awk '{ print ($NF == "others" ? "others" : "") ($NF == "total" ? "total" : "") }' | tr '\n' ' ')" \
	"  others total "
printf ' L 1000,8\nI  2000,4\n L 3000,8\n' | cachesim --functions 2>/dev/null >got
is "what comes before any fetch is in the total" "$(awk 'on && $NF == "total" { print $1, $2 } /by function/ { on = 1 }' got)" "1 2"

. "$SRC/testdata/ws2addr/lib.sh"
if why=$(able); then
	$GCC -g -O1 -o plain walk.c
	wscap --names no -o g.ws ./plain >/dev/null
	# shellcheck disable=SC2086
	cachesim $small --functions --lines --top 100 g.ws >screen
	ok "a capture: functions" grep -q '[0-9]  main  plain$' screen
	ok "lines" grep -q " walk.c:$column  main\$" screen
	ok "and exported functions of libraries" grep -q '  qsort[a-z_]*  libc' screen
	rm plain
	gives "whose program is gone" 0 "cachesim: g.ws: $PWD/plain: No such file or directory: its functions and lines are not known" \
		cachesim --functions g.ws
	ok "has the name of the file only" grep -q '[0-9]  ?  plain$' tap.out
else
	skip "$why"
fi
tap_end
