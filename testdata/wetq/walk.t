# wetq walk: by commands on standard input from the wrong sum to the faulty line; each step is what why, deps and uses say
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
cp "$SRC/examples/order.c" .
${CC:-gcc} -g -O1 $static order.c -o order && wscap -o order.ws ./order <"$SRC/examples/order.txt" >out

# walk COMMAND...: the walk from the sum, each answer's first line in `steps`
walk() {
	for c do echo "$c"; done | wetq walk order.c:25#2 order.ws >got 2>err
	awk 'BEGIN { first = 1 } first { print } { first = $0 == "" }' got >steps
}

walk
is "where it begins" "$(sed 's/ (.*//' steps)" "order.c:25 main sum = 3846"
is "its source" "$(grep -c '^  >    25  		sum += item;$' got)" 1
is "two lines around it" "$(grep -c '^   *2[3467]  ' got)" 4
walk 2 2 b p n n q
is "causes, back, instances" "$(sed 's/ (.*//' steps | tr '\n' ';')" "order.c:25 main sum = 3846;order.c:25 main sum = 2046;order.c:25 main sum = 750;order.c:25 main sum = 2046;order.c:25 main sum = 750;order.c:25 main sum = 2046;order.c:25 main sum = 3846;"
walk n b
is "the ends" "$(sed -n '2,3p' steps)" "this is the last instance
this is where the walk began"

# the first causes until a line is the faulty one: the number of the cause on line 13 or 14 each time
wetq walk order.c:25#2 order.ws </dev/null >got 2>err
say='' n=0
while [ $n -lt 12 ] && ! grep -q '^order.c:13 ' got; do
	k=$(awk '/^ *[0-9]+ order.c:13 /{ print $1; f = 1; exit } END { if (!f) exit 1 }' got) || k=$(awk '/^ *[0-9]+ order.c:14 /{ print $1; exit }' got)
	[ "$k" ] || break
	say="$say $k" n=$((n + 1))
	# shellcheck disable=SC2086
	walk $say
	awk '{ if (fresh) { text = "" } fresh = 0; text = text $0 "\n" } $0 == "" { fresh = 1 } END { printf "%s", text }' got >last
	cp last got
done
is "from cause to cause, the faulty line" "$(sed -n 's/^\(order.c:13 cost percent = 90\) .*/\1/p' got)" "order.c:13 cost percent = 90"
is "and the branch that it was executed for" "$(sed -n 's/^  c //p' got)" "if order.c:12"
# shellcheck disable=SC2086
walk $say c
is "go there" "$(sed -n '$s/ (.*//p' steps)" "order.c:12 cost"

# uses are those of the question, each once
p=$(wetq -n 1 slice order.c:14#2 order.ws 2>err | sed 's/ .*//')
printf 'u\n1\n' | wetq walk "$p" order.ws >got 2>err
wetq uses "$p" order.ws | awk '!seen[$2]++ { print $2 }' >want
awk 'part == 1 && $1 ~ /^[0-9]+$/ { print } $0 == "" { part++ }' got | sed 's/.*(\([0-9#]*\)).*/\1/' >used
same "uses" used want
is "a number is one of them then" "$(awk 'part == 2 { print; exit } $0 == "" { part++ }' got | sed 's/.*(\([0-9#]*\)).*/\1/')" "$(sed -n 1p want)"

walk nonsense 99 0 '' '  q  ' 2
is "what is not a command" "$(sed -n '2,4p' steps | sed 's/: NUMBER.*//' | tr '\n' ';')" "not a command: nonsense;no 99;no 0;"
is "an empty line shows it again; after q there is nothing" "$(sed -n '5,$p' steps)" "$(sed -n 1p steps)"
gives "not in a session" 0 "wetq: order.ws: walk reads commands itself: not with -i" sh -c 'echo walk main | wetq -i order.ws >got'
wetq walk order.c:25#2 <order.ws >got 2>err
is "not from standard input" "$? $(sed -n '1s/^wetq: //p' err)" "2 walk reads commands from standard input: the file must be another; see wetq --help"
wetq walk order.c:25#2 order.ws <. >got 2>err
is "commands that cannot be read" "$? $(cat err)" "1 wetq: standard input: Is a directory"
gives "no such point" 1 "wetq: order.ws: no instance order.c:25#3: there are 3" wetq walk order.c:25#3 order.ws

# all kinds of files: the same but for names
wetz -1 -o order.full order.ws && wetz -1 -m replay -o order.replay order.ws
for f in order.full order.replay order.ws; do
	printf '2\np\nc\nb\nu\n1\n' | wetq walk order.c:25#2 $f 2>err | sed 's/^\( *[0-9]* *order.c:[0-9]* [a-z]*\) .*(\([0-9#]*\)).*/\1 \2/' >"$f.got"
done
same "kind replay" order.replay.got order.ws.got
same "kind full" order.full.got order.ws.got
tap_end
