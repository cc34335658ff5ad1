# wetq on .wet files: the answers of the capture, byte for byte; files that are broken
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
PATH=$BUILD/test:$PATH
# of which statements, which lines: fewer with a sanitizer
rows='NR == 40 || NR == 1500' step=19 short='-static -DROUNDS=20'
[ "${MATRIX-}" = full ] && rows='NR == 1 || NR == 40 || NR == 300 || NR == 1500' step=1 short=
case $SAN in *address* | *thread* | *memory*) rows='NR == 40' step=17 ;; esac

# ask WHAT FILE QUESTION...: the answers, to FILE.WHAT; each by a process of its own only in the full check
ask() {
	a=$1.$2 f=$2
	shift 2
	if [ "${MATRIX-}" != full ]; then
		printf '%s\n' "$@" | wetq -i "$f" >"$a" 2>&1
		return
	fi
	for q; do
		echo "# $q"
		# shellcheck disable=SC2086
		wetq $q "$f"
	done >"$a" 2>&1
}

# alike NAME QUESTION...: NAME.ws and the .wet files give the same answers
alike() {
	name=$1
	shift
	ask got "$name.ws" "$@"
	for kind in full rep loads; do
		turn 4 || continue
		ask got "$name.$kind" "$@"
		sed "s/$name\.$kind/$name.ws/" "got.$name.$kind" >got
		same "$name.$kind: $# questions, $(grep -c . <"got.$name.ws") lines" "got.$name.ws" got
	done
}

# made NAME COMMAND...: captured, and stored in segments of 30000 statements
made() {
	name=$1
	shift
	wscap -o "$name.ws" "$@" >out 2>&1 && wetz -1 -m replay -s 30000 -o "$name.rep" "$name.ws" && wetz -1 -q -s 90000 -o "$name.full" "$name.ws" &&
	    wetz -1 -m loads -s 30000 -o "$name.loads" "$name.ws" && wetz -1 -m paper -s 30000 -o "$name.paper" "$name.full" && pass "$name"
	wetq list "$name.full" | sort -k2,2nr >"$name.list"
}

# every NAME POINT: all kinds of questions
every() {
	set -- "$1" "$2" "$(awk "$rows"' { print $1 }' "$1.list" | tr '\n' ' ')"
	n=$1 at=$2 ids=$3
	set -- list "cf" "-b -n 70000 cf" "-f $at -n 70000 cf" "-b -f $at -n 300 cf" "slice $at" "-d slice $at" "-c -r slice $at" "-cd --forward slice $at" \
	    "-n 3000 --forward slice $at" "-n 7 slice $at" "dot $at" "-d --forward dot $at" "annotate $at"
	for id in $ids; do
		set -- "$@" "values $id" "addrs $id" "values $id#1" "addrs $id#0" "addrs $id#2-40" "-n 3 values $id#5-90000"
	done
	alike "$n" "$@"
}

cat >foo1.c <<'E'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int x, y, result;
char a[5000], b[5000];
int main(int argc, char **argv)
{
    if(argc >= 3)
    {
       x = atoi(argv[1]);
       y = atoi(argv[2]);
       result = x * 7;
       result = result + y;
       __asm__ volatile("rep movsb" : : "D"(a), "S"(b), "c"(1000) : "memory");
       __asm__ volatile("std; rep stosw; cld" : : "D"(a + 900), "a"(x), "c"(90) : "memory");
       printf("result is %d %d\n", result, a[7]);
    }
}
E
${CC:-gcc} -g -O0 $static foo1.c -o foo1 2>err
made foo1 ./foo1 2 7
first=$(awk '/ foo1.c main 13$/ { print $1; exit }' foo1.list)
every foo1 "$first#0"
id=$(wetq list foo1.ws | awk '/ foo1.c main 14$/ { i = $1 } END { print i }')
is "a repeated instruction's addresses" "$(wetq addrs "$id" foo1.full | awk '{ n[substr($1, 3)]++ } END { print n["r"], n["w"] }')" "1000 1000"
wetq list foo1.ws >want
rm -f foo1
for kind in rep full loads; do
	wetq list foo1.$kind >got
	same "the program is gone: $kind" want got
done
# shellcheck disable=SC2086
${CC:-gcc} -O3 $short "$SRC/testdata/engine/visit/prog.c" -o prog -lm
made prog ./prog
every prog "$(awk 'NR == 100 { print $1 }' prog.list)#3"
# shellcheck disable=SC2086
${CC:-gcc} $short "$SRC/testdata/wscap/sig.c" -o sig
made sig ./sig queue
every sig "$(awk 'NR == 200 { print $1 }' sig.list)#2"

# papers: all but addresses
for name in foo1 prog sig; do
	at=$(awk 'NR == 200 { print $1 }' $name.list)#2
	[ $name = sig ] || at=$(awk 'NR == 100 { print $1 }' $name.list)#3
	set -- list cf "-b cf" "-f $at -n 70000 cf" "-b -f $at -n 300 cf" "-c slice $at" "-cd slice $at" "-cr slice $at" "-c --forward slice $at" \
	    "-cdr --forward slice $at" "dot $at" "-r dot $at" "-d --forward dot $at" "annotate $at"
	for id in $(awk "$rows"' { print $1 }' $name.list); do
		set -- "$@" "values $id" "values $id#1" "-n 3 values $id#5-90000" "values $id#2-40"
	done
	ask want $name.full "$@"
	ask got $name.paper "$@"
	sed "s/$name.paper/$name.full/" got.$name.paper >got
	same "$name.paper: $# questions, $(grep -c . want.$name.full) lines" want.$name.full got
	set -- "slice $at" "-d slice $at" "-r slice $at" "-n 7 slice $at" "--forward slice $at" "-n 3000 -d --forward slice $at"
	ask want $name.full "$@"
	sed 's/ [rwm]:.*//' want.$name.full >want
	ask got $name.paper "$@"
	same "$name.paper: slices ($(grep -c . want)), without addresses" want got.$name.paper
done
# where paths are counted in steps of 1024, and the last step is whole: `$#` paths more than 1023
cat >loop.s <<'E'
	.globl _start
_start:	mov (%rsp), %rcx
	add $1023, %rcx
1:	dec %rcx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
E
${CC:-gcc} -nostdlib -static loop.s -o loop
for n in 1 2; do
	# shellcheck disable=SC2046
	wscap -o loop.ws ./loop $(seq 2 $n) >out 2>&1 && wetz -1 -o loop.full loop.ws && wetz -1 -v -m paper -o loop.paper loop.full 2>loop.says
	is "paths" "$(sed -n 's/.* statements \([0-9]*\) paths .*/\1/p' loop.says)" $((1023 + n))
	set -- cf "-b cf" "-f 7#0 cf" "-b -f 7#0 cf" "-f 3#$((1022 + n)) cf" "-b -n 3 -f 4#$((1022 + n)) cf" "-b -f 3#1023 -n 5 cf" "values 4" "-c slice 7#0"
	ask want loop.full "$@"
	ask got loop.paper "$@"
	same "$((1023 + n)) paths: $# questions" want.loop.full got.loop.paper
done
gives "no addresses" 1 "wetq: foo1.paper: a file of kind paper does not tell addresses" wetq addrs 7 foo1.paper

# texts: what they can tell
for name in foo1 sig; do
	ws2wet $name.ws | wetz -1 -o $name.text
	at=$(awk 'NR == 200 { print $1 }' $name.list)#2 id=$(awk 'NR == 1500 { print $1 }' $name.list)
	[ $name = sig ] || at=$first#0
	set -- list cf "-b cf" "-f $at -n 70000 cf" "-b -f $at -n 300 cf" "-cr slice $at" "-cdr slice $at" "-cr --forward slice $at" "-r dot $at" \
	    "-rd --forward dot $at" "values $id" "values $id#2" "values $id#2-7"
	for q; do
		case $name$q in foo1list | foo1-c*) continue ;; esac    # its file is gone
		echo "# $q"
		# shellcheck disable=SC2086
		wetq $q $name.ws >&3
		# shellcheck disable=SC2086
		wetq $q $name.text
	done >got 3>want
	sed '/^#/d' got >text
	[ -s want ] && same "$name.text: $(grep -c . want) lines" want text
	wetq -r slice "$at" $name.ws | sed 's/ [rwm]:.*//' >want
	wetq -r slice "$at" $name.text >got
	same "$name.text: a slice ($(grep -c . want)), without addresses" want got
done
gives "no addresses" 1 "wetq: foo1.text: a text does not tell addresses" wetq addrs 7 foo1.text
gives "no slice without rsp" 1 "wetq: foo1.text: a text does not tell which port is that of the stack pointer, to leave it out: ask with -r" wetq slice 7#0 foo1.text
ws2wet foo1.ws | sed '/^ORDER/,$d' | wetz -1 -o none.text
gives "no order" 1 "wetq: none.text: the text does not say in what order statements were executed" wetq cf none.text

# what is broken has a fault
${CC:-gcc} -nostdlib -static "$SRC/testdata/ws2addr/tiny.s" -o tiny; wscap -o tiny.ws ./tiny >out; wetz -1 -s 40 -o tiny.full tiny.ws
ws2wet tiny.ws | wetz -1 -o tiny.text; wetz -1 -m paper -s 40 -o tiny.paper tiny.ws
# broken FILE STEP STEP STEP
broken() {
	set -- "$1" $(($2 * few)) $(($3 * few)) $(($4 * few))
	ok "$1: cut" wetqfuzz cut "$1" "$2"
	ok "$1: changed" wetqfuzz flip "$1" "$3"
	ok "$1: changed, with right checksums" wetqfuzz deep "$1" "$4"
}
broken tiny.full 3999 1811 599
broken tiny.text 61 53 7
broken tiny.paper 1999 907 307

# many questions to one file
printf 'values %s\n\n-d slice %s#0\nvalues 1000000\nnonsense\n-o x list\naddrs 3 too many\naddrs %s#0' "$first" "$first" "$first" >lines
for f in foo1.ws foo1.full; do
	wetq -i $f <lines >got 2>err
	{ wetq values "$first" $f; echo; wetq -d slice "$first#0" $f; echo; echo; echo; echo; echo; wetq addrs "$first#0" $f; echo; } >want
	same "$f: -i" got want
	is "$f: and what is wrong" "$(sed "s/$f/f/" err)" "wetq: f: no statement 1000000
wetq: no question: nonsense; see wetq --help
wetq: no question: -o x list; see wetq --help
wetq: no question: addrs 3 too many; see wetq --help"
done
# instances here and there, in many segments: what is kept of them for the next question is what there is
wetz -1 -s 30000 -o prog.solid prog.ws
awk '$2 > 2 && NR % 3 == 0 { for (i = 0; i < 6; i++) print (n++ * 7919) % 104729, $1 "#" int(($2 - 1) * i / 5) } NR % 50 == 0 { print n * 7919 % 104729, $1 }' \
    prog.list | sort -n | awk '{ print "values", $2 } NR % 40 == 0 { print "addrs", $2; print "slice -n 5", $2 }' |
    grep -v 'slice.*[^0-9][0-9]*$' | awk -v step=$step 'NR % step == 0' >lines
wetq -i prog.ws <lines >want 2>err
for f in prog.full prog.solid; do
	wetq -i $f <lines >got 2>err
	same "$f: $(grep -c . lines) questions here and there, $(grep -c . want) lines" got want
done

gives "-i takes no question" 2 "wetq: -i takes one operand, the file; see wetq --help" wetq -i list foo1.full
gives "no instance" 1 "wetq: foo1.full: no instance $first#1" wetq values "$first#1" foo1.full
gives "no instance of a slice" 1 "wetq: foo1.full: no instance $first#1" wetq slice "$first#1" foo1.full
gives "no range" 1 "wetq: foo1.full: no instances $first#3-2" wetq addrs "$first#3-2" foo1.full

# cut off: what is before it can be told, and no more
for kind in rep full paper loads; do
	size=$(bytes foo1.$kind) bad=
	for i in 1 3 5 7 9; do
		turn 3 || continue
		head -c $((size * i / 10)) foo1.$kind >cut.wet
		for q in list cf "values $first" "addrs $first" "slice $first#0"; do
			# shellcheck disable=SC2086
			wetq $q cut.wet >got 2>err
			[ "$?.$(grep -c . err).$(grep -c '^wetq: cut.wet: ' err)" = 1.1.1 ] || bad="$bad $i:$q"
		done
	done
	is "cut off: $kind" "$bad" ""
done
wetq cf cut.wet 2>err >got
wetq cf foo1.full | head -c "$(bytes got)" | cmp -s - got && [ -s got ] && pass "what came before is there"
tap_end
