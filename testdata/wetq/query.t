# wetq on captures: every answer against the comprehensive text, by a plain program
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
PATH=$BUILD/test:$PATH
# a tenth of the instructions of the loader, and of the rounds
short="$static -DROUNDS=20"
[ "${MATRIX-}" = full ] && short=
case $SAN in *address* | *thread* | *memory*) san=1 ;; *) san= ;; esac

# sorted: members of a slice as the plain program gives them
sorted() { cut -d' ' -f1 | sort -t'#' -n -k1,1 -k2,2; }

# slices CAPTURE TEXT ID INSTANCE [option ...]: both ways, with and without control and rsp
slices() {
	c=$1 x=$2 id=$3 n=$4
	shift 4
	for way in back forward; do
		for how in - d r dr; do
			o=
			turn 5 || continue
			[ $how = - ] || o=-$how
			[ $way = back ] || o="$o --forward"
			wetqtext "$x" "$c" $way $how "$id" "$n" >want
			# shellcheck disable=SC2086
			wetq "$@" $o slice "$id#$n" "$c" | sorted >got
			[ -s want ] && same "$c, $id#$n: slice $o $* ($(grep -c . want))" got want
			# shellcheck disable=SC2086
			[ $how != - ] || is "$c, $id#$n: -c $o $*" "$(wetq "$@" -c $o slice "$id#$n" "$c" | awk '{ n += $2 } END { print n }')" "$(grep -c . want)"
		done
	done
}

# graphs CAPTURE TEXT ID INSTANCE
graphs() {
	for way in back forward; do
		for how in - d r; do
			o=
			turn 2 || continue
			[ $how = - ] || o=-$how
			[ $way = back ] || o="$o --forward"
			wetqtext "$2" "$1" $way "e$how" "$3" "$4" | sort | uniq -c | awk '{ print $2, $3, $4, $1 }' >want
			# shellcheck disable=SC2086
			wetq $o dot "$3#$4" "$1" | sed -n 's/^	s\([0-9]*\) -> s\([0-9]*\) \[label="\([0-9]*\)"\(.*\)\]$/\1 \2 \4 \3/p' |
			    sed 's/ style=dashed/1/; s/  / 0 /' | sort >got
			sort want >want.s
			[ -s want ] && same "$1, $3#$4: dot $o ($(grep -c . want))" got want.s
		done
	done
}

# lists CAPTURE TEXT: control flow, values, addresses
lists() {
	wetqtext "$2" flow >want
	wetq cf "$1" >flow
	same "$1: control flow" flow want
	wetq -b -w 40k cf "$1" >got
	awk '{ l[NR] = $0 } END { for (i = NR; i; i--) print l[i] }' want >back
	same "$1: backward" got back
	at=$(sed -n 30001p want)
	k=$(sed 30000q want | grep -cx "$at")
	[ "$(wetq -f "$at#$k" -n 500 cf "$1")" = "$(sed -n '30001,30500p' want)" ] && pass "$1: from a point on"
	[ "$(wetq -b -f "$at#$k" -n 40 cf "$1")" = "$(sed -n '29962,30001p' want | awk '{ l[NR] = $0 } END { for (i = NR; i; i--) print l[i] }')" ] &&
	    pass "$1: back from a point"
	wetq list "$1" >list
	sort want | uniq -c | awk '{ print $2, $1 }' | sort >count
	cut -d' ' -f1,2 list | sort | cmp -s - count && pass "$1: counts"
	grep -E '^[0-9]+ [0-9]+ [0-9a-f]+ ' "$2" | cut -d' ' -f1,3- >want
	cut -d' ' -f1,3- list >got
	same "$1: places" got want
	for id in $(sort -nr -k2,2 list | awk 'NR % 900 == 1 && NR < 4000 { print $1 }'); do
		turn 2 || continue
		wetqtext "$2" values "$id" >want
		wetq values "$id" "$1" >got
		same "$1: values of $id ($(grep -c . want))" got want
		wetqtext "$1" addrs "$(awk -v i="$id" '$1 == i { print $3 }' list)" >want
		wetq addrs "$id" "$1" >got
		same "$1: addresses of $id ($(grep -c . want))" got want
	done
}

# point N: the Nth instance of the run in `flow`
point() {
	id=$(sed -n "$1p" flow)
	n=$(sed "$1q" flow | grep -cx "$id")
	n=$((n - 1))
}

cat >foo1.c <<'X'
#include <stdio.h>
#include <stdlib.h>
int x, y, result;
int main(int argc, char **argv)
{
    if(argc >= 3)
    {
       x = atoi(argv[1]);
       y = atoi(argv[2]);
       result = x * 7;
       result = result + y;
       printf("result is %d\n", result);
    }
}
X
${CC:-gcc} -g -O0 $static foo1.c -o foo1 2>err && wscap --names no -o foo1.ws ./foo1 2 7 >out && pass "captured"
first=$(wetq list foo1.ws | awk '/ foo1.c main 10$/ { print $1; exit }')
wetq annotate "$first#0" foo1.ws >got
is "the seed's example: line 10 depends on 6 and 8, not on 9" "$(sed -n 's/^ *\([0-9]*\): *\([0-9]*\):.*/\2 \1/p' got | awk '{ print $1, ($2 > 0) }' | tr '\n' ' ')" \
    "5 1 6 1 8 1 9 0 10 1 11 0 12 0 14 0 "
# clang multiplies x where it is
ok "and its value is 2, or 2 * 7" grep -qxE ' +0:[2e]' <<-X
	$(wetq values "$first" foo1.ws)
X
if [ ! "$san" ]; then
	ws2wet -o foo1.wet foo1.ws
	lists foo1.ws foo1.wet
	slices foo1.ws foo1.wet "$first" 0
	slices foo1.ws foo1.wet "$first" 0 -w 30k
	graphs foo1.ws foo1.wet "$first" 0
	# shellcheck disable=SC2086
	${CC:-gcc} -O3 $short "$SRC/testdata/engine/visit/prog.c" -o prog -lm && wscap -o prog.ws ./prog >out && ws2wet -o prog.wet prog.ws && pass "strings and vectors"
	lists prog.ws prog.wet
	point 40000
	slices prog.ws prog.wet "$id" "$n" -w 150k
	graphs prog.ws prog.wet "$id" "$n"
	point "$(grep -c . flow)"
	slices prog.ws prog.wet "$id" "$n"
	# shellcheck disable=SC2086
	${CC:-gcc} $short "$SRC/testdata/wscap/sig.c" -o sig && wscap -o sig.ws ./sig queue >out && ws2wet -o sig.wet sig.ws && pass "signals"
	lists sig.ws sig.wet
	point $(($(grep -c . flow) * 3 / 4))
	slices sig.ws sig.wet "$id" "$n"
	graphs sig.ws sig.wet "$id" "$n"
fi

# with keyframes, in the windows of which they are not the beginning
wscap -o raw.ws ./foo1 2 7 >out && ok "keyframes" trimtest raw.ws keys.ws 10000 500
is "there are some" "$(wsinfo keys.ws | grep -c ' 0 keyframes')" 0
for q in "-b cf" "-w 30k slice $first#0" "--forward slice $first#0" "values $first"; do
	# shellcheck disable=SC2086
	wetq $q raw.ws >want
	# shellcheck disable=SC2086
	wetq $q keys.ws >got
	[ -s want ] && same "the same with keyframes: $q" got want
done

# what is not there, and what is broken
gives "no statement" 1 "wetq: foo1.ws: no statement 1000000" wetq values 1000000 foo1.ws
gives "no instance" 1 "wetq: foo1.ws: no instance $first#1" wetq slice "$first#1" foo1.ws
gives "nor that" 1 "wetq: foo1.ws: no instance 5#x" wetq slice "5#x" foo1.ws
gives "usage" 2 "wetq: slice: no question, or not with that many words; see wetq --help" wetq slice
gives "usage: nothing" 2 "wetq: no question is asked; see wetq --help" wetq
gives "usage: options" 2 "wetq: -w 3: not a number of at least 16; see wetq --help" wetq -w 3 list foo1.ws
gives "no file" 1 "wetq: nowhere.ws: No such file or directory" wetq list nowhere.ws
wetq list foo1.ws >want
wetq list <foo1.ws >got
same "standard input" got want
size=$(bytes foo1.ws)
head -c $((size * 2 / 3)) foo1.ws >cut.ws
for q in list cf "-b cf" "values 5" "slice 1000#0" "dot 1000#0"; do
	case $san$q in 1dot*) continue ;; esac
	# shellcheck disable=SC2086
	wetq $q cut.ws >got 2>err
	is "cut off: $q" "$? $(grep -c . err) $(grep -c '^wetq: cut.ws: byte [0-9]* (record [0-9]*): ' err)" "1 1 1"
done
wetq cf cut.ws 2>err >got
wetq cf foo1.ws | head -c "$(bytes got)" | cmp -s - got && [ -s got ] && pass "what came before is there"
if [ -w /dev/full ]; then
	wetq cf foo1.ws >/dev/full 2>err
	is "a full disk" "$? $(grep -c . err)" "1 1"
fi
(wetq cf foo1.ws; echo $? >status) 2>err | head -n 1 >got
is "a closed pipe" "$(cat err)" ""
tap_end
