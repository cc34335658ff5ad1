# Points by name, why, deps, dice
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
command -v objdump >/dev/null && command -v nm >/dev/null || { skip "no objdump or nm"; exit 0; }

# kinds NAME: NAME.ws as all kinds of files
kinds() {
	wetz -1 -s 40000 -o "$1.full" "$1.ws" && wetz -1 -s 40000 -m loads -o "$1.loads" "$1.ws" &&
	    wetz -1 -m replay -o "$1.replay" "$1.ws" && wetz -1 -m paper -o "$1.paper" "$1.full"
}

# ask FILE: the answers to the lines of `questions`, by one process
ask() { wetq -i "$1" <questions 2>&1 | sed "s/^wetq: $1: /wetq: /"; }

# alike NAME: all kinds of files give the answers of the capture; only it and kind replay know variables, which JSON has on lines apart
alike() {
	n="$(grep -c . questions) questions"
	ask "$1.ws" >want
	is "$1: $n have answers" "$(grep -c '^$' want)" "$(grep -c . questions)"
	ask "$1.replay" >got
	same "replay: $n, $(grep -c . want) lines" want got
	grep -v '"variable' want >bare
	for k in full loads; do
		ask "$1.$k" | grep -v '"variable' >got
		same "$k: $n, $(grep -c . want) lines" bare got
	done
	# which has no addresses of references
	no='/^  "references": / { on = !/]/; next } on { on = !/^  ]/; next } { print }'
	awk "$no" bare >bare2
	ask "$1.paper" | grep -v '"variable' | awk "$no" >got
	same "paper: $n, $(grep -c . want) lines" bare2 got
}

# the bug of the example: a screen has the line with it
for o in -O0 -O1 -O2; do
	# shellcheck disable=SC2086
	${CC:-gcc} -g $o $static "$SRC/examples/order.c" -o order && wscap -o order.ws ./order <"$SRC/examples/order.txt" >out
	wetq -I "$SRC/examples" why order.c:25#2 order.ws >got 2>err
	is "$o: why: the line" "$(grep -c 'order.c:13 .*percent = 90;$' got)" 1
	is "$o: on a screen" "$(($(grep -c . got) <= 24))" 1
	is "$o: what the line is for" "$(sed -n '1s/.*  //p' got)" "sum += item;"
	# where sum is in memory, the instruction adds to that and has no value
	[ $o = -O0 ] || is "$o: its value" "$(sed -n '1s/.* = \([0-9]*\) .*/\1/p' got)" 3846
	is "$o: what the branch is that it depends on" "$(sed -n 's/.*order.c:13 .*, if .*order.c:\([0-9]*\) .*/\1/p' got)" 12
	is "$o: the other line is not in it" "$(grep -c 'order.c:26' got)" 0
	# from a digit of what was printed: the digits are from a table of the C library
	at=$(grep -b -o 1800 out | cut -d: -f1)
	is "$o: why: a byte of the output" "$(wetq -I "$SRC/examples" why "out:$at" order.ws 2>err | grep -c 'order.c:13 .*percent = 90;$')" 1
	is "$o: dice: only that line" "$(wetq -I "$SRC/examples" dice order.c:25#2 order.c:25#0 order.ws | sed 's/.*order.c:\([0-9]*\):/\1/')" "13		percent = 90;"
done
# shellcheck disable=SC2086
cp "$SRC/examples/order.c" "$SRC/examples/order.txt" . && ${CC:-gcc} -g -O1 $static order.c -o order && wscap -o order.ws ./order <order.txt >out
gives "dice: nothing in one alone" 0 "wetq: order.ws: all lines of the first slice are in the second one, too" \
    wetq dice order.c:25#0 order.c:25#2 order.ws
kinds order
digit=$(wetq -n 1 slice "out:$(grep -b -o 1800 out | cut -d: -f1)" order.ws 2>err | sed 's/ .*//')
for q in "why $digit" "-a -n 500 why $digit" "why order.c:25#2" "-a why order.c:25#2" "-t data -n 1000 why order.c:25#1" "-t full -n 1000 why order.c:26#first" "-t control why order.c:13" "-n 3 why order.c:25" \
    "why order.c:25#2" "deps order.c:25#2" "-r deps main" "deps order.c:14#1" "dice order.c:25#2 order.c:25#0" "-t data dice order.c:25#2 order.c:25#0"; do
	case $q in *dice*) echo "$q" ;; *) echo "--json $q" ;; esac
done >questions
alike order
is "JSON" "$(wetq --json why order.c:25#2 order.ws | awk '/"line": 13,/ { n++ } /"source": "percent = 90;"/ { n++ } /"value": "3846"/ { n++ } END { print n }')" 3
is "more than fits" "$(wetq -n 2 why order.c:25#2 order.ws | tail -n 1 | sed 's/[0-9][0-9]*/N/g')" "and N more: -n N"
is "of which there is nothing else in one line" "$(wetq -n 1 why order.c:25#2 order.ws | wc -l | tr -d ' ')" 1
all=$(wetq -n 1000 why order.c:25#2 order.ws | wc -l | tr -d ' ')
most=$(wetq -n 2 why order.c:25#2 order.ws | sed -n 's/.*more: -n //p')
is "as many lines as that says are all" "$most $(wetq -n "$most" why order.c:25#2 order.ws | wc -l | tr -d ' ')" "$all $all"
# why whynot annotate: lines; dot: nodes and its frame of three lines
cat >limits <<'EOF'
-n 0 why order.c:25#2
-n 3 why order.c:25#2
-n 0 annotate order.c:25#2
-n 5 annotate order.c:25#2
EOF
wetq annotate order.c:25#2 order.ws | head -n 5 >five
wetq -i order.ws <limits | awk '/^$/ { printf "%d ", n; n = 0; next } { n++ }' >lengths
is "-n of why and annotate" "$(cat lengths)" "0 3 0 5 "
is "these are the first lines" "$(wetq -n 5 annotate order.c:25#2 order.ws | diff - five)" ""
wetq dot order.c:25#2 order.ws | sed -n 's/^.\(s[0-9]*\) \[label.*/\1/p' | head -n 4 >want
wetq -n 4 dot order.c:25#2 order.ws >graph
is "-n of dot: the first statements" "$(sed -n 's/^.\(s[0-9]*\) \[label.*/\1/p' graph | diff - want)" ""
is "and edges of these only" "$(awk '/->/ { print $1; print $3 }' graph | sort -u | grep -v -x -F -f want)" ""
is "a whole graph" "$(tail -n 1 graph)" "}"

# the same instance by all its names
id=$(wetq list order.ws | awk '$4 == "order.c" && $6 == 25 { print $1 }')
is "line 25 is one statement" "$(echo "$id" | wc -l)" 1
want=$(wetq -n 1 slice "$id#2" order.ws)
for p in order.c:25#2 order.c:25#last order.c:25 "$id#last" "$id"; do
	is "$p" "$(wetq -n 1 slice "$p" order.ws 2>err)" "$want"
done
is "what was chosen is said" "$(wetq -n 1 slice order.c:25 order.ws 2>&1 >out)" "wetq: order.ws: order.c:25: its last instance, $id#2"
is "first" "$(wetq -n 1 slice order.c:25#first order.ws)" "$(wetq -n 1 slice "$id#0" order.ws)"
at=$(nm order | awk '$3 == "main" { print $1 }' | sed 's/^0*//')
is "a function is its entry, an address of a file" "$(wetq -n 1 slice main#0 order.ws)" "$(wetq -n 1 slice "order+0x$at#0" order.ws)"
is "of a file" "$(wetq -n 1 slice order.c:main#0 order.ws)" "$(wetq -n 1 slice main#0 order.ws)"
is "by a longer path" "$(wetq -n 1 slice "$(pwd)/order+0x$at#0" order.ws)" "$(wetq -n 1 slice main#0 order.ws)"
is "values of a line" "$(wetq values order.c:25 order.ws)" "$(wetq values "$id" order.ws)"
is "addresses of a function's entry, one instance" "$(wetq addrs main#0 order.ws)" "$(wetq addrs "$(wetq list order.ws | awk '$5 == "main" { print $1; exit }')#0" order.ws)"
is "cf from a line" "$(wetq -n 5 -f order.c:25#1 cf order.ws)" "$(wetq -n 5 -f "$id#1" cf order.ws)"
is "the end" "$(wetq -n 1 slice end order.full)" "$(wetq -n 1 slice "@$(wetq cf order.full | wc -l)" order.full)"
set13=$(wetq list order.ws | awk '$4 == "order.c" && $6 == 13 { print $1 }')
for p in percent percent@order.c:25#2 percent@end; do
	wetq -n 1 slice $p order.ws >got 2>err
	ok "$p: line 13 set it" grep -qx "$(sed 's/#.*//' got)" <<X
$set13
X
done
is "before that, nobody" "$(wetq -n 1 slice percent@order.c:25#0 order.ws 2>&1)" "wetq: order.ws: percent@order.c:25#0: nobody wrote that before: it was there when the program began or mapped it"
addr=$(wetq -n 1 slice percent order.ws 2>err | sed 's/.* w:\([0-9a-f]*\).*/\1/')
for f in order.ws order.replay; do
	is "$f: an address" "$(wetq -n 1 slice "*0x$addr:8@order.c:25#2" $f 2>err)" "$(wetq -n 1 slice percent $f 2>err)"
done
for f in full loads paper; do
	gives "$f: not of a variable" 1 "wetq: order.$f: only captures and files of kind replay tell where a variable is" wetq slice percent order.$f
	gives "$f: not of the output" 1 "wetq: order.$f: only captures and files of kind replay tell what was written" wetq slice out:0 order.$f
	gives "$f: not of an address" 1 "wetq: order.$f: only captures and files of kind replay tell who wrote an address" wetq slice '*0x1000' order.$f
done
gives "a line with nothing" 1 "wetq: order.ws: nothing of order.c:27 was executed; of lines 26 and 28 something was" wetq why order.c:27 order.ws
gives "no such file" 1 "wetq: order.ws: no statement of a file other.c was executed, or its lines are not known" wetq why other.c:3 order.ws
gives "no such name" 1 "wetq: order.ws: frob: no such function was executed, and there is no such variable; a local one is VARIABLE@POINT" wetq why frob order.ws
id=$(wetq list order.ws | awk '$4 == "order.c" && $6 == 12 { id = $1 } END { print id }')
gives "a line that is a branch has no references" 0 "wetq: order.ws: order.c:12: statement $id, of 2
wetq: order.ws: order.c:12: statement $id refers to no memory; list prints the others" wetq addrs order.c:12 order.ws
gives "and no values" 0 "wetq: order.ws: order.c:12: statement $id, of 2
wetq: order.ws: order.c:12: statement $id computes no value; list prints the others" wetq values order.c:12 order.ws
gives "no such instance" 1 "wetq: order.ws: no instance order.c:25#3: there are 3" wetq why order.c:25#3 order.ws
gives "nor that" 1 "wetq: order.ws: no instance order.c:25#x" wetq why order.c:25#x order.ws
gives "not so many bytes" 1 "wetq: order.ws: out:100000: so many bytes were not written there" wetq why out:100000 order.ws
gives "nothing was killed" 1 "wetq: order.ws: crash: the program was not killed by a signal" wetq why crash order.ws
gives "no such address of a file" 1 "wetq: order.ws: order+0x1: no mapped file has this name and this address" wetq why order+0x1#0 order.ws
is "in a session" "$(printf 'why order.c:25#2\nwhy percent\n-n 1 slice main\n' | wetq -i order.ws 2>err | grep -c -e 'percent = 90')" 2

# two files and functions of one name
mkdir -p one two
echo 'static int part(int x) { return x * 2; } int one(int x) { return part(x); }' >one/part.c
echo 'static int part(int x) { return x * 3; } int two(int x) { return part(x); }' >two/part.c
echo 'int one(int), two(int); int main(void) { return one(1) + two(2) != 8; }' >both.c
# shellcheck disable=SC2086
${CC:-gcc} -g -O0 $static both.c one/part.c two/part.c -o both && wscap -o both.ws ./both
gives "which function?" 1 "wetq: both.ws: part: several functions: one/part.c:part, two/part.c:part" wetq why part both.ws
gives "which file?" 1 "wetq: both.ws: part.c:1: several files: one/part.c:1, two/part.c:1" wetq why part.c:1#0 both.ws
is "that one" "$(wetq why two/part.c:part#0 both.ws 2>err | sed -n '1s/ .*//p')" "two/part.c:1"

# bytes of the output: by write, by writev, of another descriptor; a constant; a crash
cat >out.c <<'X'
#include <sys/uio.h>
#include <unistd.h>
char buf[64], other[8];
const char fixed[] = "end\n";
int *nowhere;
int main(void)
{
	for (int i = 0; i < 26; i++)
		buf[i] = (char)('a' + i);
	write(1, buf, 10);
	write(1, buf + 10, 5);
	other[3] = '3';
	struct iovec v[2] = { { buf + 15, 5 }, { other, 4 } };
	writev(1, v, 2);
	buf[1] = 'x';
	dup2(1, 7);
	write(7, buf, 3);
	write(1, fixed, 4);
	*nowhere = 1;
	return 0;
}
X
# shellcheck disable=SC2086
${CC:-gcc} -g -O0 -w $static out.c -o out && { wscap -o out.ws ./out >printed 2>err; pass "a program that crashes"; }
id=$(wetq -n 1 slice out.c:9#0 out.ws 2>err | sed 's/#.*//')
for b in 0 4 9 10 14 15 19; do
	is "out:$b" "$(wetq -n 1 slice out:$b out.ws 2>err | sed 's/ .*//')" "$id#$b"
done
is "a second vector" "$(wetq why out:23 out.ws 2>err | sed -n '1s/ .*//p')" "out.c:12"
is "another descriptor" "$(wetq why fd7:1 out.ws 2>err | sed -n '1s/ .*//p')" "out.c:15"
is "its third byte" "$(wetq -n 1 slice fd7:2 out.ws 2>err | sed 's/ .*//')" "$id#2"
wetq -n 1 slice out:24 out.ws >got 2>err
ok "a constant: said" grep -q '^wetq: out.ws: out:24: written by @[0-9]* from 0x[0-9a-f]*, where it was when the program began or mapped it$' err
is "the crash: before what failed" "$(wetq why crash out.ws | sed -n '1s/ .*//p')" "out.c:19"
gives "a byte that is no number" 1 "wetq: out.ws: out:x: no number of a byte" wetq why out:x out.ws
is "in a pipe" "$(wetq why out:4 <out.ws 2>err | sed -n '1s/ .*//p')" "out.c:9"

# deps: those of the text, of a program without libraries
every=45
[ "${MATRIX-}" = full ] && every=9
${CC:-gcc} -g -O1 -w -nostdlib -static -fno-pie -no-pie -fno-stack-protector -mno-sse -fcf-protection=none "$HERE/thin/prog.c" -o prog &&
    wscap -o prog.ws ./prog && ws2wet -o prog.txt prog.ws
kinds prog
# answers QUESTION POINT...: the question of each, by one process, in answer.1, answer.2, ...
answers() {
	for p in $2; do echo "$1 $p"; done | wetq -i prog.ws 2>&1 | awk 'BEGIN { n = 1 } { if ($0 == "") { close("answer." n); n++ } else print >("answer." n) }'
}
bad='' n=0
points=$(wetq list prog.ws | awk -v every=$((every / 3)) 'NR % every == 1 { print $1 "#" int($2 / 2) }')
answers "-r deps" "$points"
for p in $points; do
	n=$((n + 1))
	awk -v want="${p%#*}" -v instance="${p#*#}" 'NF == 6 && /^[0-9]+ / { id = $1; port = -1; next }
		$1 == "SIZE" { port++; next } $1 == "VALUES" || $1 == "NO" { port = -1 } $1 == "ORDER" { exit }
		port >= 0 && id == want { split($1, x, ":"); if (x[1] == instance) print x[2] "#" $2 }' prog.txt | sort >want
	cat answer.$n 2>err | awk '{ print $2 }' | sort >got
	cmp -s want got || bad="$bad $p"
done
is "deps are those of the text" "$bad" ""
# uses: the same the other way
bad='' some=0 n=0
points=$(wetq list prog.ws | awk -v every=$((every / 3)) 'NR % every == 2 { print $1 "#" int($2 / 3) } NR == 2 { print $1 "#0" }')
rm -f answer.*
answers "-r uses" "$points"
for p in $points; do
	n=$((n + 1))
	awk -v want="${p%#*}" -v instance="${p#*#}" 'NF == 6 && /^[0-9]+ / { id = $1; port = -1; next }
		$1 == "SIZE" { port++; next } $1 == "VALUES" || $1 == "NO" { port = -1 } $1 == "ORDER" { exit }
		port >= 0 && $2 == instance { split($1, x, ":"); if (x[2] == want) print id "#" x[1] (port ? "" : " control") }' prog.txt | sort >want
	cat answer.$n 2>err | awk '{ print $2 ($1 == "control" ? " control" : "") }' | sort >got
	cmp -s want got || bad="$bad $p"
	some=$((some + $(grep -c . want)))
done
is "uses are those of the text" "$bad" ""
is "there are some" "$((some > 10))" 1
is "uses: JSON" "$(wetq -r --json uses "$p" prog.ws | grep -c '"kind": ')" "$(wetq -r uses "$p" prog.ws | grep -c .)"
for p in $(wetq list prog.ws | awk -v every=$every 'NR % every == 2 { print $1 "#" $2 - 1 }'); do
	for t in thin data full control; do echo "--json -a -t $t -n 10000 why $p"; done
	printf -- '--json %s\n' "-r deps $p" "-r uses $p" "-t thin uses $p"
done >questions
alike prog
tap_end
