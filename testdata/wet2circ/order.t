# The order of a limited history: by the text's order, and by instances without one
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2wet/lib.sh"

# three rounds of statements 1 2 2 3
cat >small.wet <<'T'
3
1 2 a0 t.c main 1
SIZE 2
    1:3 0
    2:3 1
SIZE 0
VALUES 3
    0:1
    1:2
    2:ff
2 2 a4 t.c main 2
SIZE 6
    0:1 0
    1:1 0
    2:1 1
    3:1 1
    4:1 2
    5:1 2
SIZE 4
    1:2 0
    1:1 0
    3:2 2
    5:2 4
NO VALUES
3 1 a8 t.c main 3
SIZE 0
NO VALUES
T
cp small.wet plain.wet
cat >>small.wet <<'T'
ORDER 6
1 2
2 2
1 2
2 2
1 2
2 2
T
cat >want <<'T'
0xa4#0 --> 0xa0#0
0xa4#1 --> 0xa0#0
0xa4#1 --> 0xa4#0
0xa4#1 --> 0xa0#0
0xa0#1 --> 0xa8#0
0xa4#2 --> 0xa0#1
0xa4#3 --> 0xa0#1
0xa4#3 --> 0xa4#2
0xa0#2 --> 0xa8#1
0xa4#4 --> 0xa0#2
0xa4#5 --> 0xa0#2
0xa4#5 --> 0xa4#4
T
wet2circ small.wet >got
same "in the order of the run" want got
for n in 1 2 3 5 11 12; do
	tail -n $n want >w
	wet2circ -n $n <small.wet >got
	same "the last $n" w got
done
cat >want <<'T'
0xa4#0 --> 0xa0#0
0xa0#1 --> 0xa8#0
0xa4#1 --> 0xa0#0
0xa4#1 --> 0xa4#0
0xa4#1 --> 0xa0#0
0xa0#2 --> 0xa8#1
0xa4#2 --> 0xa0#1
0xa4#3 --> 0xa0#1
0xa4#3 --> 0xa4#2
0xa4#4 --> 0xa0#2
0xa4#5 --> 0xa0#2
0xa4#5 --> 0xa4#4
T
for n in 1 2 4 7 12 100; do
	tail -n $n want >w
	wet2circ -n $n plain.wet >got
	same "by instances, the last $n" w got
done

# statements without dependences: it has to look further back
awk 'BEGIN { print 2; print "1 1 a ? ? 0"; print "SIZE 3\n    0:1 0\n    1:1 0\n    2:1 1\nNO VALUES"; print "2 1 b ? ? 0\nSIZE 0\nNO VALUES"
	print "ORDER 1003"; for (i = 0; i < 3; i++) print "1 1"; for (i = 0; i < 1000; i++) print "2 1" }' >far.wet
is "far back" "$(wet2circ -n 2 far.wet | tr '\n' ' ')" "0xa#1 --> 0xa#0 0xa#2 --> 0xa#1 "
is "no dependence at all" "$(printf '1\n1 1 a ? ? 0\nSIZE 0\nNO VALUES\nORDER 1\n1 1\n' | wet2circ)" ""

why=$(able) || { skip "$why"; tap_end; exit; }
# a real one, sorted out by awk
foo1
ws2wet --main foo1.ws >m.wet
ws2wet -s main foo1.ws >r.wet
for t in m r; do
	awk '/^ORDER/ { on = 1; next }
		on { for (i = $1; i < $1 + $2; i++) printf "%s", dep[i, count[i]++ + 0]; next }
		/^[0-9]+ [0-9]+ [0-9a-f]+ [^ ]+ [^ ]+ [0-9]+$/ { id = $1; addr[id] = $3; next }
		/^SIZE/ { list = 1; next } /VALUES/ { list = 0; next }
		/^    / && list { split($1, x, ":"); dep[id, x[1]] = dep[id, x[1]] id " " x[1] " " x[2] " " $2 "\n" }' $t.wet >steps
	awk 'FNR == NR { if (/^[0-9]+ [0-9]+ [0-9a-f]+ [^ ]+ [^ ]+ [0-9]+$/) addr[$1] = $3; next }
		{ print "0x" addr[$1] "#" $2 " --> 0x" addr[$3] "#" $4 }' $t.wet steps >want
	for n in 10 500 100000; do
		tail -n $n want >w
		wet2circ -n $n $t.wet >got
		same "$t: the last $n of $(wc -l <want | tr -d ' ')" w got
	done
done
gzip -9c r.wet >r.wet.gz
wet2circ r.wet >w
wet2circ r.wet.gz >got
same "compressed input" w got
tap_end
