# Slices by type: thin ones against those of a script, which reads the text and the disassembler's; all kinds of files
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
command -v objdump >/dev/null || { skip "no objdump"; exit 0; }

every=47 all=0 data=0
[ "${MATRIX-}" = full ] && every=7
case $SAN in ?*) every=40 ;; esac
for o in -O0 -O1 -O2; do
	${CC:-gcc} -g $o -w -nostdlib -static -fno-pie -no-pie -fno-stack-protector -mno-sse -fcf-protection=none -fno-tree-vectorize "$HERE/thin/prog.c" -o prog &&
	    wscap -o prog.ws ./prog && ws2wet -o prog.txt prog.ws && objdump -d --no-show-raw-insn prog >prog.dis
	wetq list prog.ws >list
	points=$(awk -v e=$every 'NR % e == 3 { print $1 "#" $2 - 1, $1 "#" int($2 / 2) }' list)
	# one process for all, which begins none of them anew; each answer ends with an empty line
	for p in $points; do printf -- '-t thin slice %s\n-t control slice %s\n-t data slice %s\n' "$p" "$p" "$p"; done >questions
	wetq -i prog.ws <questions 2>&1 | awk -v RS= '{ print >("answer." NR); close("answer." NR) }'
	n=0 bad=''
	for p in $points; do
		awk -v want="${p%#*}" -v instance="${p#*#}" -f "$HERE/thin/thin.awk" prog.dis prog.txt 2>>err | sort >want
		cut -d' ' -f1 answer.$((3 * n + 1)) | sort >got
		cmp -s want got && [ -s want ] || bad="$bad $p"
		awk -v want="${p%#*}" -v instance="${p#*#}" -v control=1 -f "$HERE/thin/thin.awk" prog.dis prog.txt | sort >want.control
		cut -d' ' -f1 answer.$((3 * n + 2)) | sort >got
		cmp -s want.control got || bad="$bad control:$p"
		n=$((n + 1)) all=$((all + $(grep -c . want))) data=$((data + $(grep -c . answer.$((3 * n)))))
	done
	is "$o: $n thin slices and those by control are those of the script" "$bad" ""
	is "$o: it knows the ports of all instructions" "$(cat err)" ""
done
ok "thin ones are thinner: $all of $data instances" test "$all" -lt "$data"

# the same answers of all kinds of files
wetz -1 -s 3000 -o prog.full prog.ws && wetz -1 -s 3000 -m loads -o prog.loads prog.ws && wetz -1 -m replay -o prog.replay prog.ws && wetz -1 -m paper -o prog.paper prog.full
p=$(awk '$2 > 3 { i = $1 "#2" } END { print i }' list) end=$(awk 'END { print $1 "#0" }' list)
for t in thin data control full; do
	printf '%s\n' "-c -t $t slice $p" "-c -t $t --forward slice $p" "-t $t dot $p" "-t $t --forward dot $p" "-c -t $t slice $end" "-t $t annotate $p"
done >questions
for t in thin data control full; do echo "-t $t slice $p"; done >slices
ask() { wetq -i "$1" <"$2" 2>&1 | sed "s/^wetq: $1: /wetq: /"; }
ask prog.ws questions >want
ask prog.ws slices >want.slices
is "there are answers" "$(grep -c '^$' want) $(grep -c '^$' want.slices)" "24 4"
for k in full loads replay paper; do
	ask prog.$k questions >got
	same "$k: $(grep -c . questions) questions, $(grep -c . want) lines" want got
	[ $k != paper ] || continue
	ask prog.$k slices >got
	same "$k: slices, $(grep -c . want.slices) lines" want.slices got
done
is "-d is -t data" "$(wetq -d slice "$p" prog.ws)" "$(wetq -t data slice "$p" prog.ws)"
gives "no such type" 2 "wetq: -t thick: not a type of dependences; there are thin, data, control and full; see wetq --help" wetq -t thick slice "$p" prog.ws
wetz -1 -o prog.text prog.txt
gives "a text" 1 "wetq: prog.text: a text does not tell which registers only form addresses, for a thin slice: ask with -t data" wetq -r -t thin slice "$p" prog.text
tap_end
