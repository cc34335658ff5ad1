# addrmrc --window: the lines of each window against a list of them
. "$SRC/testdata/tap.sh"

awk 'BEGIN { srand(3); for (i = 0; i < 5000; i++) {
	printf "I  %x,4\n", 4194304 + i % 3000 * 4
	for (k = i % 3; k; k--) printf " %s %x,8\n", i % 7 ? "L" : "M", 268435456 + 20 * int(rand() * 900) } }' >log
addrconv -o s.ref log

# listed LINE SIZE BY: begin,accesses,lines,bytes by the log; BY: a for accesses, i for instructions
listed() {
	awk -v line="$1" -v size="$2" -v by="$3" '
		function hex(s, i, n) { for (i = 1; i <= length(s); i++) n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
			return n }
		function row(l) { print begin "," accesses "," lines "," lines * line
			begin += size; accesses = lines = inst = 0; split("", seen) }
		BEGIN { print "begin,accesses,lines,bytes"; begin = accesses = lines = inst = 0 }
		$1 == "I" { if (by == "i" && inst == size) row(); inst++; next }
		{ split($2, a, ","); from = hex(a[1])
			for (l = int(from / line); l <= int((from + a[2] - 1) / line); l++) {
				if (by == "a" && accesses == size) row()
				accesses++
				if (!(l in seen)) { seen[l] = 1; lines++ } } }
		END { if (accesses || inst && by == "i") row() }' log
}

listed 64 100 a >want
addrmrc --window 100 -f csv s.ref >got && same "100 accesses" want got
listed 16 1024 a >want
addrmrc --window 1k -l 16 -f csv s.ref >got && same "1k accesses, lines of 16 bytes" want got
listed 64 7 i >want
addrmrc --window 7i -f csv s.ref >got && same "7 instructions" want got
listed 4096 1000000 i >want
addrmrc --window 1000000i -l 4k -f csv s.ref >got && same "more than there are" want got
listed 64 1 a >want
addrmrc --window 1 -f csv <s.ref >got && same "one access" want got
listed 64 500 i >want
addrmrc --window 500i s.ref | awk 'BEGIN { print "begin,accesses,lines,bytes" } NR > 3 { print $1 "," $2 "," $3 "," $4 }' >got &&
	same "text" want got
addrmrc --window 500i --json s.ref | tr -d ' ,' | awk -F: 'BEGIN { print "begin,accesses,lines,bytes" }
	/"begin"|"accesses"|"lines"/ { printf "%s,", $2 } /"bytes"/ { print $2 }' >got && same "JSON" want got
is "instructions are lines, too" "$(addrmrc --window 3000i -k instructions -f csv s.ref | tail -n +2 | tr '\n' ' ')" "0,3000,188,12032 3000,2000,125,8000 "

head -c 4004 s.ref >cut.ref
addrmrc --window 100i --json cut.ref >got 2>err
is "a stream that is cut off" "$? $(cat err) $(tail -n 1 got)" "1 addrmrc: cut.ref: byte 4004 (record 499): truncated reference }"
: >empty
gives "nothing" 1 "addrmrc: empty: empty input" addrmrc --window 9 empty
s="; see addrmrc --help"
for v in 0 i -1i 5x 99999999999999999999999999999999999; do
	gives "a window of $v" 2 "addrmrc: --window $v: not a number of at least 1, which may end in k, M or G, and then in i for instructions$s" addrmrc --window "$v" s.ref
done
gives "with others" 2 "addrmrc: --window comes without --histogram, -r, --sample-size, --partial and --merge$s" addrmrc --window 5 -r 0.1 s.ref
tap_end
