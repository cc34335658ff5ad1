# --strides against awk over text; --regions against the mappings that wsinfo lists; --functions against nm
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"

# strides: what addrstat --strides --json has of text "kind address size", slowly
strides() {
	awk '
	function number(s,  i, v) {
		for (i = 1; i <= length(s); i++)
			v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	{ sub(/^0x/, "", $2) }
	$1 == "inst" { pc = $2; next }
	$1 != "load" && $1 != "store" && $1 != "modify" { next }
	pc == "" { next }
	{
		k = pc " " $1; a = number($2)
		n["accesses"]++
		if (k in last) {
			d = a - last[k]
			n["strides"]++
			n["same_address"] += d == 0
			n["same_line"] += int(a / 64) == int(last[k] / 64)
			constant = k in stride && stride[k] == d
			n["constant"] += constant
			bits = 0
			for (x = d < 0 ? -d : d; x >= 1; x /= 2) bits++
			width[bits " " (d >= 0)]++
			steady[bits] += constant
			if (d >= -4096 && d <= 4096) near[d]++
			stride[k] = d
			seen[bits]
		}
		last[k] = a
	}
	END {
		split("accesses strides same_address same_line constant", order)
		for (i = 1; i <= 5; i++) print order[i], n[order[i]] + 0
		for (b in seen) printf "%.0f %d %d %d\n", b ? 2 ^ (b - 1) : 0, width[b " 1"], width[b " 0"], steady[b]
		for (d in near) print "near", d, near[d]
	}' | sort
}
# plain FILE: the same of JSON
plain() {
	awk -F '[:,]' '/"strides": \{/ { on = 1; next } !on { next }
		{ gsub(/[ "]/, "") }
		/^(accesses|strides|same_address|same_line|constant):/ && !deep { print $1, $2 }
		/sizes/ { deep = 1 }
		/^from:/ { from = $2 } /^forward:/ { f = $2 } /^backward:/ { b = $2 } /^constant:/ && deep { print from, f, b, $2 }
		/^stride:/ { s = $2 } /^accesses:/ && deep { print "near", s, $2 }' "$1" | sort
}

cp "$SRC/examples/matrix.c" .
aecc -O1 matrix.c -o matrix && AE_OUT=matrix.out ./matrix >/dev/null || exit 1
ae2addr matrix matrix.out | head -c $((16 + 8 * 200000)) >m.ref
aecc -O1 -g -fno-inline "$SRC/examples/words.c" -o words && AE_OUT=w.out ./words <"$SRC/examples/words.c" >/dev/null || exit 1
ae2addr words w.out >w.ref
# runs of different lengths, some of which are alike, forward, backward, and across everything
awk 'BEGIN { srand(7); for (i = 0; i < 20000; i++) {
	printf "I  %x,4\n", 4194304 + i % 50 * 4
	a[i % 50] = rand() < 0.7 ? a[i % 50] + i % 50 - 25 : int(exp(rand() * 20))
	printf " %s %x,4\n", i % 3 ? "L" : "S", 1073741824 + a[i % 50] } }' | addrconv -o r.ref
for f in m w r; do
	addrconv -f csv $f.ref | awk -F , 'NR > 1 { print $1, $2, $3 }' | strides >want
	addrstat --strides --json $f.ref >json
	plain json >got
	same "$f.ref: strides, widths, short ones" got want
done
ok "there are many" test "$(grep -c near want)" -gt 99
# a load of two in turn, one of which is alone after a while: known by hand
printf 'I  10,4\n L 100,4\nI  10,4\n L 108,4\nI  14,4\n M 200,8\nI  10,4\n L 110,4\nI  10,4\n L 110,4\n S 0,1\n' >hand
addrstat --strides hand >out
is "by hand: 3 strides, all in line but one, one constant" "$(awk '/^strides/ { s = $2 "/" $7 } /same line/ { l = $1 } /constant$/ { c = $1 } END { print s, l, c }' out)" "3/3 3 1"
printf ' L 100,4\n L 108,4\n' >none
is "without instructions there are none" "$(addrstat --strides none | awk '/^strides/ { print $2, $7 }')" "0 0"
# far apart, from one end of memory to the other
printf 'I  10,4\n L ffff800000000000,1\nI  10,4\n L 7fffffffffff,1\nI  10,4\n L ffff800000000000,1\n' >far
is "the longest strides" "$(addrstat --strides far | awk '/^32T/ { print $4, $5, $6 }')" "1 1 0"

# functions: by the symbols
addrstat --functions --json --top 99 words w.out >json
awk -F '"' '/"functions"/ { on = 1 } !on { next } /"others"/ { exit }
	/"function"/ { f = $4 } { v = $0; gsub(/[^0-9]/, "", v) } /"inst"/ { i = v } /"load"/ { l = v } /"store"/ { s = v } /"modify"/ { print f, i, l, s, v }' json | sort >got
addrconv -f csv w.ref >w.csv
nm words | sort | awk -F '[ ,]' '
	function number(s,  i, v) {
		for (i = 1; i <= length(s); i++)
			v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	FILENAME == "-" { if ($2 ~ /[tT]/) { at[++n] = number($1); name[n] = $3 } next }
	{ sub(/^0x/, "", $2) }
	$1 == "inst" {
		if (!($2 in of)) { a = number($2); for (i = 1; i < n && at[i + 1] <= a; i++); of[$2] = name[i] }
		f = of[$2]; seen[f]
	}
	{ count[f " " $1]++ }
	END { for (f in seen) print f, count[f " inst"] + 0, count[f " load"] + 0, count[f " store"] + 0, count[f " modify"] + 0 }' - w.csv | sort >want
same "functions: those of nm" got want
ok "there are several" test "$(grep -c . want)" -gt 1
addrstat --functions --lines -e words w.ref >got
addrstat --functions --lines words w.out >want
same "a stream with -e" got want
ok "lines are of the source" grep -q 'words\.c:[0-9]' got
is "the lines' total" "$(awk '$NF == "total" { print $1, $2, $3, $4 }' got | sort -u | wc -l | tr -d ' ')" 1
addrstat --functions w.ref >got 2>err
is "a stream without names: a warning" "$? $(cat err)" "0 addrstat: w.ref: has no names of functions and lines; -e names the executable that has them"
gives "no such number" 2 "addrstat: --top 0: not a number of at least 1; see addrstat --help" addrstat --top=0 w.ref

# regions without names: gaps of a mebibyte divide them
printf ' L 1000,4\n L 1ffe,4\n S 101000,4\n S 202fff,1\nI  7000000,4\n' >gaps
is "gaps" "$(addrstat --regions gaps | awk '$NF == "?" { print $1, $2, $3, $4, $5, $6 }' | tr '\n' ';')" \
	"3 0 2 1 0 000000001000;1 0 0 1 0 000000202000;1 1 0 0 0 000007000000;"
is "at most N" "$(addrstat --regions --top 1 gaps | awk '/others/ || /total/ { print $1, $2, $3, $4, $5, $6 }' | tr '\n' ';')" "2 1 0 1 0 2;5 1 2 2 0 total;"

why=$(able) || { skip "captures: $why"; tap_end; exit; }
cat >areas.c <<'X'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
static volatile char bss[1 << 16];
int main(void)
{
	char *p = malloc(50000), *m = mmap(NULL, 1 << 22, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile char deep[30000];
	for (int i = 0; i < 50000; i += 8) bss[i] = p[i] = m[i + (1 << 21)] = 1;
	for (int i = 0; i < 30000; i += 16) deep[i] = 1;
	m = mremap(m, 1 << 22, 1 << 23, MREMAP_MAYMOVE);
	for (int i = 0; i < 50000; i += 8) m[i + (1 << 22)] = m[i + (1 << 21)];
	return p[8] + deep[16] + m[8] == 99;
}
X
${CC:-gcc} -O1 areas.c -o areas && wscap -o areas.ws ./areas || exit 1
addrstat --regions --json areas.ws >json
# of those with a name: its last part, and references by kind
awk -F '"' '/"regions"/ { on = 1 } !on { next } /"name"/ { n = $4; sub(/.*\//, "", n); if (n == "") n = "?" }
	{ v = $0; gsub(/[^0-9]/, "", v) } /"inst"/ { i[n] += v } /"load"/ { l[n] += v } /"store"/ { s[n] += v } /"modify"/ { m[n] += v }
	END { for (n in i) print n, i[n], l[n], s[n], m[n] }' json | sort >got
# an address has the name that was mapped last; one without a name that of a file with code right before it
wsinfo -l areas.ws >list
awk '$2 == "map" || $2 == "move"' list >maps
ws2addr areas.ws | addrconv -f csv | awk -F '[ ,]' '
	function number(s,  i, v) {
		sub(/^0x/, "", s)
		for (i = 1; i <= length(s); i++)
			v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	function code(name) { return name ~ /\/areas$|\.so|^\[vdso/ }
	function name_of(a,  i) {
		for (i = n; i && !(from[i] <= a && a < end[i]); i--);
		return i ? name[i] : "?"
	}
	FILENAME == "maps" {
		if ($2 == "move") { x = name_of(number($3)); from[++n] = number($6); end[n] = from[n] + number($7); name[n] = x; next }
		a = number($3); b = a + number($4); x = $6 == "anon" ? "[anonymous]" : ""
		for (i = 7; x == "" && i <= NF; i++) if ($i ~ /^[\/\047]/) x = $i
		gsub(/\047/, "", x)
		if (x == "[anonymous]" && code(y = name_of(a - 1))) x = y
		from[++n] = a; end[n] = b; name[n] = x
		next
	}
	$1 == "kind" { next }
	{ sub(/...$/, "", $2); p = $2; if (!(p in of)) { of[p] = name_of(number(p "000")); sub(/.*\//, "", of[p]) } seen[of[p]]; c[of[p] " " $1]++ }
	END { for (f in seen) print f, c[f " inst"] + 0, c[f " load"] + 0, c[f " store"] + 0, c[f " modify"] + 0 }' maps - | sort >want
same "regions of a capture: the mappings of wsinfo" got want
ok "heap and stack have their stores" awk '$1 == "[heap]" || $1 == "[stack]" { n += $4 > 1800 } END { exit n != 2 }' got
ok "static data are the program's" awk '$1 == "areas" { n = $4 } END { exit !(n > 6000) }' got
addrstat -a areas.ws >got 2>err
is "all of these" "$? $(cat err) $(grep -c -E ' region, |^strides|references by (function|line)' got)" "0  4"
cat areas.ws | addrstat -a - | cmp -s - got && pass "from a pipe" || fail "from a pipe"
tap_end
