# Names of variables in why, deps and uses: they are what gdb says is at these addresses and in these registers, in the same
# run by wsgdb, at -O0 to -O2; nothing else has a name
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
command -v gdb >/dev/null && gdb -nx -batch -ex 'python print(1)' 2>&1 | grep -qx 1 || { skip "no gdb with Python"; exit 0; }

cp "$HERE"/name/*.c .
cat >head <<'X'
set confirm off
set width 0
set print symbol off
set print elements 32
set print repeats unlimited
set print null-stop on
set remotetimeout 600
target remote | wsgdb prog.ws
source check.py
X
cp "$HERE/name/check.py" .

# names JSON: POINT PART NAME<tab>VALUE of the instances in it that have a name
names() {
	awk '/"point"/ { gsub(/[",]/, ""); p = $2 }
		/"statement"/ { gsub(/,/, ""); id = $2 } /"instance"/ { gsub(/,/, ""); p = id "#" $2 }
		/"variable(_part)?": "/ { part = /_part/; sub(/^[^:]*: "/, ""); sub(/",?$/, ""); name = $0 }
		/"variable(_part)?": null/ { name = "" }
		/"variable_value"/ && name != "" {
			v = ""; if (/: "/) { v = $0; sub(/^[^:]*: "/, "", v); sub(/",?$/, "", v); gsub(/\\"/, "\"", v); gsub(/\\\\/, "\\", v) }
			print p, part, name "\t" v }' "$1"
}

for o in 0 1 2; do
	${CC:-gcc} -g -O$o -w -nostdlib -static -fno-pie -no-pie -fno-stack-protector -fcf-protection=none -mno-avx \
	    -mstringop-strategy=unrolled_loop -fno-tree-loop-distribute-patterns prog.c more.c -o prog && wscap -o prog.ws ./prog >out || { fail "-O$o: a capture"; continue; }
	wetq list prog.ws | awk '$4 ~ /(prog|more)\.c$/' >own
	# what uses the stack pointer, or the frame pointer, of each function is most of what it does in memory
	{
		awk '!f[$5]++ { n = 0; name = $5 } $5 == name && ++n <= 3 { print "-r --json uses " $1 "#" int($2 / 2) }' own
		awk -v every=$((o ? 7 : 13)) 'NR % every == 5 { print "-n 1 --json why " $1 "#" int($2 / 2) }' own
	} | wetq -i prog.ws >answers 2>err
	names answers | sort -u >named
	# where instances are: main's first one, and from there by the control flow
	at=$(wetq at main#0 prog.ws | sed -n 's/^before instruction \([0-9]*\) .*/\1/p')
	wetq -f main#0 cf prog.ws >flow
	awk '{ print $1 }' named | sort -u >points
	sort -u points | while read -r p; do echo "addrs $p"; done | wetq -i prog.ws 2>err | awk 'NR == FNR { p[NR] = $0; next }
		!$0 { k++; print p[k], (ref == "" ? "-" : ref), n; ref = ""; n = 0; next } { split($0, x, /[: ]/); ref = x[2] ":" x[3] "/" x[4]; n++ }' points - >pairs
	awk -v at="$at" 'FILENAME == "flow" { w[$1 "#" c[$1]++] = at + FNR - 1; next } FILENAME == "own" { pc[$1] = $3; next }
		FILENAME == "pairs" { ref[$1] = $2; next }
		{ split($1, x, "#"); i = index($0, " "); p = $1; if (p in w) print w[p], "0x" pc[x[1]], ref[p], substr($0, i + 1) }' flow own pairs named >list
	DEBUGINFOD_URLS='' timeout 300 gdb -nx -q -batch -x head prog >said 2>err </dev/null
	n=$(grep -c . list)
	is "-O$o: some have names" "$((n > (o ? 20 : 60)))" 1
	is "-O$o: right of $n" "$(grep -c '^right$' said)" "$n"
	is "-O$o: wrong" "$(grep -v '^right$' said | grep -E '^(wrong|another)')" ""
done
tap_end
