# One-bit labels: what wetz -a keeps and wetq arch says, against a plain simulation of the references of the same run
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
command -v objdump >/dev/null && command -v wetq >/dev/null && command -v ws2addr >/dev/null || { skip "no objdump, wetq or ws2addr"; exit 0; }

${CC:-gcc} -O2 -w "$HERE/archplain.c" -o plain || exit 1
${CC:-gcc} -O1 -g -w -nostdlib -static -fno-stack-protector -fno-pie -no-pie "$HERE/archprog.c" -o prog || exit 1
wscap -o prog.ws ./prog >prog.out 2>&1
objdump -d prog | awk '$NF ~ />$/ && /\tj[a-z]+ / && !/\tjmp/ { sub(/:/, "", $1); print $1 }' >jumps
ok "the program has branches" test -s jumps
ws2addr -f lackey -o prog.log prog.ws
ws2wet -o prog.txt prog.ws

# check NAME OPTIONS HISTORY COUNTERS SIZE WAYS LINE: against the simulation
check() {
	name=$1 how=$2
	shift 2
	# shellcheck disable=SC2086
	wetz -1 $how -o got.wet prog.ws
	wetq arch got.wet >got
	./plain jumps "$@" <prog.log >want
	same "$name" want got
	for id in $(awk '$3 > 0 || $4 > 0 || $5 > 0 { print $1 }' want); do
		wetq arch "$id" got.wet >got.id
		./plain jumps "$@" "$id" <prog.log >want.id
		same "$name: statement $id" want.id got.id
	done
	wetz -d -o got.txt got.wet
	same "$name: the text" prog.txt got.txt
}
check "as it is by itself" -a 12 4096 16384 4 32
is "there are some of each kind" "$(awk '{ b += $3; l += $4; s += $5 } END { print (b > 1000), (l > 1000), (s > 1000) }' got)" "1 1 1"
check "another processor" "-A history=3,counters=16,size=2k,ways=1,line=64 -s 20000" 3 16 2048 1 64
check "kind paper" "-a -m paper -s 20000" 12 4096 16384 4 32
wetz -a -v -o got.wet prog.ws 2>said
is "-v says the same" "$(awk '$2 == "label" { print $3, $4, $5, $6 }' said)" "$(wetq arch got.wet | awk '{ for (k = 0; k < 3; k++) if ($(3 + k) != "-") { n[k] += $2; one[k] += $(3 + k) } }
	END { split("branch load store", name); for (k = 0; k < 3; k++) print name[k + 1], n[k], one[k], int((n[k] + 7) / 8) }')"

# with signals, strings and libraries: no simulation, but a label for each instance, and the same text
${CC:-gcc} -w -g -O2 $static "$SRC/testdata/ws2wet/signals.c" -o signals
wscap -o signals.ws ./signals >signals.out 2>&1 </dev/null
wetz -1 -a -o signals.wet signals.ws
ws2wet -o signals.txt signals.ws
wetz -d -o signals.out signals.wet
same "signals: the text" signals.txt signals.out
wetq arch signals.wet | awk '{ print $1, $2 }' >got
wetq list signals.ws | awk 'NR == FNR { n[$1] = $2; next } $1 in n { print $1, $2 }' got - >want
same "signals: as many labels as instances" want got

gives "no such statement" 1 "wetq: got.wet: no labels of a statement 99999" wetq arch 99999 got.wet
wetz -1 -o none.wet prog.ws
gives "no labels" 1 "wetq: none.wet: no labels in it (wetz -a makes them)" wetq arch none.wet
gives "-a of a text" 1 "wetz: prog.txt: no capture: -a is of no use" wetz -a prog.txt
for wrong in size=3000 ways=0 history=33 what=1 size=16,line=32 line; do
	ok "wrong: $wrong" sh -c 'wetz -A "$1" prog.ws >out 2>err; [ $? = 2 ] && grep -q "^wetz: -A $1: not a list of history, " err' sh "$wrong"
done
tap_end
