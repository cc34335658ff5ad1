# Slices by type: thin ones against those of a script, which reads the text and the disassembler's; all kinds of files
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
command -v objdump >/dev/null || { skip "no objdump"; exit 0; }

every=29 all=0 data=0
[ "${MATRIX-}" = full ] && every=7
case $SAN in ?*) every=40 ;; esac
for o in -O0 -O1 -O2; do
	${CC:-gcc} -g $o -w -nostdlib -static -fno-pie -no-pie -fno-stack-protector -mno-sse -fcf-protection=none -fno-tree-vectorize "$HERE/thin/prog.c" -o prog &&
	    wscap -o prog.ws ./prog && ws2wet -o prog.txt prog.ws && objdump -d --no-show-raw-insn prog >prog.dis
	wetq list prog.ws >list
	n=0 bad=''
	for p in $(awk -v e=$every 'NR % e == 3 { print $1 "#" $2 - 1, $1 "#" int($2 / 2) }' list); do
		awk -v want="${p%#*}" -v instance="${p#*#}" -f "$HERE/thin/thin.awk" prog.dis prog.txt 2>>err | sort >want
		wetq -t thin slice "$p" prog.ws | cut -d' ' -f1 | sort >got
		cmp -s want got && [ -s want ] || bad="$bad $p"
		awk -v want="${p%#*}" -v instance="${p#*#}" -v control=1 -f "$HERE/thin/thin.awk" prog.dis prog.txt | sort >want.control
		wetq -t control slice "$p" prog.ws | cut -d' ' -f1 | sort >got
		cmp -s want.control got || bad="$bad control:$p"
		n=$((n + 1)) all=$((all + $(grep -c . want))) data=$((data + $(wetq -t data slice "$p" prog.ws | grep -c .)))
	done
	is "$o: $n thin slices and those by control are those of the script" "$bad" ""
	is "$o: it knows the ports of all instructions" "$(cat err)" ""
done
ok "thin ones are thinner: $all of $data instances" test "$all" -lt "$data"

# the same answers of all kinds of files
wetz -1 -s 3000 -o prog.full prog.ws && wetz -1 -s 3000 -m loads -o prog.loads prog.ws && wetz -1 -m replay -o prog.replay prog.ws && wetz -1 -m paper -o prog.paper prog.full
p=$(awk '$2 > 3 { i = $1 "#2" } END { print i }' list) end=$(awk 'END { print $1 "#0" }' list)
for t in thin data control full; do
	for q in "-c -t $t slice $p" "-c -t $t --forward slice $p" "-t $t dot $p" "-t $t --forward dot $p" "-c -t $t slice $end" "-t $t annotate $p"; do
		# shellcheck disable=SC2086
		wetq $q prog.ws >want 2>err
		for k in full loads replay paper; do
			turn 5 || continue
			# shellcheck disable=SC2086
			wetq $q prog.$k >got 2>err
			same "$k: $q ($(grep -c . want))" want got
		done
	done
	wetq -t $t slice "$p" prog.ws >want
	for k in full loads replay; do
		turn 2 || continue
		wetq -t $t slice "$p" prog.$k >got
		same "$k: -t $t slice $p ($(grep -c . want))" want got
	done
done
is "-d is -t data" "$(wetq -d slice "$p" prog.ws)" "$(wetq -t data slice "$p" prog.ws)"
gives "no such type" 2 "wetq: -t thick: not a type of dependences; there are thin, data, control and full; see wetq --help" wetq -t thick slice "$p" prog.ws
wetz -1 -o prog.text prog.txt
gives "a text" 1 "wetq: prog.text: a text does not tell which registers only form addresses, for a thin slice: ask with -t data" wetq -r -t thin slice "$p" prog.text
tap_end
