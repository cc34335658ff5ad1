# wetq --json: every answer says the same as without it
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
command -v python3 >/dev/null || { skip "no python3"; exit 0; }

# alike QUESTION FILE: the JSON as text is the text
alike() {
	# shellcheck disable=SC2086
	wetq $1 $2 >want 2>err
	case $1 in *annotate*) awk '!/^         -:/' want >some && mv some want ;; esac
	# shellcheck disable=SC2086
	wetq --json $1 $2 >json 2>errors && python3 "$HERE/json/text.py" "$1 " json >got 2>&1
	same "$2: $1, $(grep -c . <want) lines" want got
	same "$2: $1: the same messages" err errors
}

cp "$SRC/examples/order.c" .
${CC:-gcc} -g -O1 $static order.c -o order && wscap -o order.ws ./order <"$SRC/examples/order.txt" >out
wetz -1 -a -o order.full order.ws
for f in order.ws order.full; do
	for q in list "-n 3 list" "-n 2000 cf" "-b -n 2000 cf" "-b -f order.c:25#2 -n 300 cf" "values order.c:14" "values order.c:25#1" \
		"addrs order.c:22" "slice order.c:25#2" "-t thin slice order.c:25#2" "-n 7 slice order.c:25#2" "--forward slice order.c:25#1" \
		"-c slice order.c:25#2" "-d dot order.c:25#2" "-n 5 dot order.c:25#2" "annotate order.c:25#2" "-n 0 list" \
		"dice order.c:25#2 order.c:25#0" "dice order.c:25#2 order.c:25#2"; do
		alike "$q" $f
	done
	wetq list $f | awk '$4 == "order.c"' >own
	for id in $(awk 'NR % 9 == 3 { print $1 }' own); do
		alike "values $id" $f
		alike "addrs $id" $f
	done
done
ok "something has values" grep -q . own
is "a slice: places" "$(wetq --json slice order.c:25#2 order.ws 2>err | grep -c '"function": "cost"')" \
	"$(wetq slice order.c:25#2 order.ws 2>err | awk 'NR == FNR { if ($5 == "cost") pc[$3] = 1; next } $2 in pc { n++ } END { print n + 0 }' own -)"
alike arch order.full
alike "arch $(wetq arch order.full | awk '$4 != "-" && $2 > 1 { print $1; exit }')" order.full

id=$(wetq values order.c:14 order.ws 2>&1 | sed -n 's,.*: statement \([0-9]*\).*,\1,p')
gives "no such instance" 1 "wetq: order.ws: no instance $id#999" wetq --json values "$id#999" order.ws
is "no such instance: a line of -i has an empty answer" "$(echo "--json values $id#999" | wetq -i order.ws 2>err)" ""
printf -- '--json -n 2 list\n--json values order.c:14\n' | wetq -i order.ws | awk '!$0 { f = "b"; next } { print >(f ? "second" : "first") }'
ok "-i: objects, and an empty line after each" python3 -c 'import json; json.load(open("first")); json.load(open("second"))'
