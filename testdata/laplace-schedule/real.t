# Real programs: one by itself, as ws2addr has it; two that one parent forked, and their cache misses by schedule
. "$SRC/testdata/tap.sh"
wscap -o a.ws true 2>err || { skip "no captures here: $(cat err)"; exit 0; }
wscap -o b.ws echo hello world >out.b
ws2laplace -k k a.ws | laplace-merge -b --offsets -o one - k
laplace-schedule -r recorded -a virtual -f text one | sed 1d >got
# a modify is a load and a store, and what crosses the end of a page is two
ws2addr -f text a.ws | awk '
	function hex(s,  i, v) {
		for (i = 3; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	function put(kind, addr, size,  room) {
		room = 4096 - hex("0x" substr(addr, length(addr) - 2))
		if (size <= room) { print kind, addr, size; return }
		print kind, addr, room
		printf "%s 0x%s %d\n", kind, text(hex(addr) + room), size - room
	}
	function text(v,  s, d) {
		do { d = v % 16; s = substr("0123456789abcdef", d + 1, 1) s; v = (v - d) / 16 } while (v)
		return s
	}
	$1 == "modify" { put("load", $2, $3); put("store", $2, $3); next }
	{ put($1, $2, $3) }' >want
is "there are references" "$(awk 'END { print (NR > 100000) }' want)" 1
same "the trace of one task is that of ws2addr" got want
laplace-schedule -q 1000i -a virtual -f text one | sed 1d >got
same "whatever its quantum" got want
is "a task runs on one processor at a time" "$(laplace-schedule -c -p 2 -m -q 100i -g 1000i one | awk '/^1 / { print $2 }')" 0

cat >prelude <<'E2'
X 0 1 1 8 1 /bin/parent
A 0 1 1
m 0 1 10000000 4000
S 0 1
w 2 8 1 10000000
F 4 2 1
A 4 2 2
D 4 1 2 0 100000000
F 5 3 1
A 5 3 3
D 5 1 3 0 100000000
S 6 1
w 7 8 1 10000008
T 8 1
E2
ws2laplace -p 2 -a 2 -k a.k -f text -o a.r a.ws
ws2laplace -p 3 -a 3 -k b.k -f text -o b.r b.ws
awk -f "$SRC/testdata/laplace-merge/join.awk" -v slice=7000 prelude a.k a.r b.k b.r
laplace-text -b -w refs >refs.wide
ok "merges" laplace-merge -b --offsets -o two refs.wide kernel
laplace-schedule -c -q 7000i two >got
is "three tasks" "$(awk '/^task/ { on = 1; next } on { print $1 }' got | tr '\n' ' ')" "p1/t1 p2/t2 p3/t3 "
n=$(awk '/^0 / { print $2 }' got)
for q in 100i 10000i 100000000i; do
	is "$q: all references" "$(laplace-schedule -q $q -f text two | grep -vc '^task')" "$n"
	laplace-schedule -q $q two | cachesim | awk '$1 == "D1" && $2 ~ /^[0-9]+$/ { print $3 }' >$q.misses
done
# they share the pages of libraries, so short quanta may miss less, too
is "the schedule matters" "$(cat ./*.misses | sort -u | grep -c '^[1-9]')" 3
# on two processors each of the children has one to itself
laplace-schedule -c -q 1000i -p 3 two | awk '/^[0-2] / { print $4 }' | sort -n >got
is "three processors, three tasks: nobody is replaced" "$(tr '\n' ' ' <got)" "1 1 1 "
for p in 0 1 2; do laplace-schedule -p 3 --processor $p -f text two | grep -vc task; done | awk '{ n += $1 } END { print n }' >got
is "the processors have all of it" "$(cat got)" "$n"
tap_end
