# wetq and wet2circ on texts by chance: the answers that follow from the tables they were made of
. "$SRC/testdata/tap.sh"
PATH=$BUILD/test:$PATH

n=40
case $SAN in ?*) n=15 ;; esac
bad='' circ='' lines=0
for i in $(seq 1 $n); do
	wettextgen small "$i" >t.txt
	wettextgen ask "$i" >ask
	wettextgen answer "$i" >want
	wetz -1 -o t.wet t.txt && wetq -i t.wet <ask >got 2>err
	cmp -s want got && [ ! -s err ] || bad="$bad $i"
	lines=$((lines + $(wc -l <want)))
	for k in 3 100000; do
		wettextgen circ "$i" $k >want
		wet2circ -n $k t.txt | cmp -s want - || circ="$circ $i"
	done
done
is "$n texts, questions to them" "$bad" ""
is "there were answers" "$((lines > n * 100))" 1
is "$n texts, the last of their dependences" "$circ" ""

# the text that the format's authors print: its statements keep their numbers
text=$SRC/testdata/wetz/page.txt
wetz -o page.wet "$text"
is "list" "$(wetq list page.wet)" "1873 1 8048210 foo1.c main 4
2113 1 8048225 foo1.c main 6
2118 1 8048242 foo1.c main 8"
is "a value" "$(wetq values 2118 page.wet)" "    0:2"
is "by its address" "$(wetq values 0x8048225 page.wet)" "    0:2"
is "a slice" "$(wetq -r slice 2118#0 page.wet)" "2118#0 8048242 =2
2113#0 8048225 =2
1873#0 8048210"
is "its data only" "$(wetq -rd slice 2118#0 page.wet)" "2118#0 8048242 =2
2113#0 8048225 =2"
is "forward" "$(wetq -rc --forward slice 1873#0 page.wet)" "1873 1 1 8048210 foo1.c main 4
2113 1 1 8048225 foo1.c main 6
2118 1 1 8048242 foo1.c main 8"
is "a graph" "$(wetq -r dot 2118#0 page.wet | grep -c -e '->')" 3
is "the two dependences of the page" "$(wet2circ "$text" | tail -n 2)" "0x8048242#0 --> 0x8048210#0
0x8048242#0 --> 0x8048225#0"
gives "other numbers are none" 1 "wetq: page.wet: no statement 1" wetq values 1 page.wet
gives "without an order no control flow" 1 "wetq: page.wet: the text does not say in what order statements were executed" wetq cf page.wet
tap_end
