# wetq who and whynot: who wrote a local variable, against the stores of its address; which branch did not lead to a line
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
cp "$SRC/examples/order.c" .
for o in -O0 -O1; do
	${CC:-gcc} -g $o $static order.c -o order && printf '100 2\n50 3\n' | wscap -o order.ws ./order >out
	is "$o: not that line" "$(wetq whynot order.c:13 order.ws 2>err | sed -n '1s/ (.*//p')" "order.c:13 was not executed: order.c:12 cost"
	is "$o: its causes" "$(wetq whynot order.c:13 order.ws 2>err | grep -c 'if (count >= 10)$')" 1
	is "$o: at most so many lines" "$(for n in 0 1 2; do wetq -n $n whynot order.c:13 order.ws 2>err | wc -l; done | tr -d '\n ')" 012
	is "$o: JSON" "$(wetq --json whynot order.c:13 order.ws | grep -c '"line": 12')" 1
	gives "$o: it was executed" 1 "wetq: order.ws: order.c:26 was executed, 2 times: why tells more" wetq whynot order.c:26 order.ws
	gives "$o: once" 1 "wetq: order.ws: order.c:20 was executed, once: why tells more" wetq whynot order.c:20 order.ws
done
gives "no code" 1 "wetq: order.ws: order.c:2: no code of this line is known" wetq whynot order.c:2 order.ws
gives "no line" 1 "wetq: order.ws: main: whynot takes FILE:LINE" wetq whynot main order.ws
${CC:-gcc} -g -O0 $static order.c -o order && wscap -o order.ws ./order <"$SRC/examples/order.txt" >out
# a local variable is where at says; the last store there before the point is by an instance of line 25
addr=$(wetq --json at order.c:25#2 order.ws 2>err | awk '/"name": "sum"/ { on = 1 } on && /"where"/ { gsub(/[",*]/, ""); print $2; exit }')
is "a local variable" "$(wetq who sum@order.c:25#2 order.ws)" "$(wetq who "*$addr:8@order.c:25#2" order.ws)"
id=$(wetq list order.ws | awk '$4 == "order.c" && $6 == 25 { print $1 }' | while read -r i; do wetq addrs "$i#1" order.ws | grep -q "[wm] ${addr#0x} " && echo "$i"; done)
is "by the line" "$(wetq who sum@order.c:25#2 order.ws | sed 's/ .*//')" "$id#1"
is "of a caller, too" "$(wetq who sum@order.c:14#2 order.ws | sed 's/ .*//')" "$id#1"
is "JSON" "$(wetq --json who percent order.ws | grep -c '"line": 13')" 1
# all that is known of an instance is in one answer: value and addresses as those that are asked for one by one
known=0
for i in $(wetq list order.ws | awk '$4 == "order.c" && NR % 9 == 1 { print $1 "#" $2 - 1 }'); do
	wetq --json deps "$i" order.ws >json 2>err
	v=$(sed -n 's/^  "value": "\(.*\)",$/\1/p' json)
	# of what only has flags as its value there is none
	[ -z "$v" ] || { known=$((known + 1)) && is "$i: its value" "$(printf '%x' "$v")" "$(wetq values "$i" order.ws | sed 's/.*: *//; s/^0x//')"; }
	awk '/^      "kind": "[rwm]"/ { gsub(/[",]/, ""); k = $2 } /^      "address"/ { gsub(/,/, ""); a = $2 } /^      "size"/ { print k, a, $2 }' json |
		while read -r k a n; do printf '%s %x %d\n' "$k" "$a" "$n"; done >got
	is "$i: its references" "$(cat got)" "$(wetq addrs "$i" order.ws | sed 's/^[0-9]*: *//; s/^\([rwm]\):*/\1 /; s/  */ /; s/0x//')"
done
is "some have values" "$((known > 2))" 1
gives "not a point" 1 "wetq: order.ws: order.c:3: who takes VARIABLE[@POINT] or *ADDRESS[:LENGTH][@POINT]" wetq who order.c:3 order.ws
tap_end
