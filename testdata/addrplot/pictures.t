# The numbers in pictures of functions, working sets, strides, loops, curves and named regions, against other tools' and awk's
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"

# data NAME FILE: the lines of a block
data() { awk -v name="\$$1" '$1 == name { on = 1; next } /^EOD/ { on = 0 } on' "$2"; }

cat >prog.c <<'X'
#include <stdio.h>
int table[20000];
long __attribute__((noinline)) fill(int n)
{
	for (int i = 0; i < n; i++)
		table[i] = i * 3;
	return table[n - 1];
}
long __attribute__((noinline)) walk(int n)
{
	long sum = 0;
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < n; i++)
			sum += table[i * 7 % n];
	return sum;
}
int main(void)
{
	printf("%ld\n", fill(20000) + walk(20000));
	return 0;
}
X
aecc -O1 -g prog.c -o prog && ./prog >/dev/null || exit 1
ae2addr -o prog.ref prog ae.out
addrconv -f csv prog.ref | tr -d ' ' >prog.csv

# functions: the share of each in each column, by the symbols
addrplot -p functions prog ae.out >fun.gp 2>err
is "functions: status" "$? $(cat err)" "0 "
unit=$(sed -n 's/^plot \$functions matrix using (\$1 \* \([0-9]*\)).*/\1/p' fun.gp)
sed -n "s/^set ytics out nomirror (\\(.*\\))/\\1/p" fun.gp | tr , '\n' | sed "s/^ *'//; s/ .*//" >names
is "those that took a thousandth, in their order" "$(tr '\n' ' ' <names)" "fill walk 1 "
data functions fun.gp | awk '{ for (i = 1; i <= NF; i++) if ($i > 0) printf "%d %d %.3g\n", i - 1, NR - 1, $i }' | sort >got
nm prog | sort | awk -F '[ ,]' -v unit="$unit" '
	function number(s,  i, v) {
		for (i = 1; i <= length(s); i++)
			v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	FILENAME == "-" { if ($2 ~ /[tT]/) { at[++n] = number($1); name[n] = $3 } next }
	$1 != "inst" { next }
	{
		sub(/^0x/, "", $2)
		if (!($2 in of)) { a = number($2); for (i = 1; i < n && at[i + 1] <= a; i++); of[$2] = name[i] == "fill" ? 0 : name[i] == "walk" ? 1 : 2 }
		x = int(t / unit); t++; c[x " " of[$2]]++; all[x]++
	}
	END { for (k in c) { split(k, p, " "); printf "%d %d %.3g\n", p[1], p[2], 100 * c[k] / all[p[1]] } }' - prog.csv | sort >want
same "the share of each function in each part of the time" got want
ok "there are many parts" test "$(cut -d ' ' -f 1 want | sort -u | wc -l)" -gt 500
addrplot -p functions -e prog prog.ref | cmp -s - fun.gp && pass "a stream with -e" || fail "a stream with -e"
echo 'int main(void) { return 0; }' | gcc -pie -fPIE -x c -o other -
gives "-e of other addresses" 0 "addrplot: prog.ref: the executable of -e has other addresses: a position-independent one is loaded where the system likes; a capture has its names" \
	addrplot -p functions -e other prog.ref
addrplot -p functions prog.ref >fun2.gp 2>err
is "without names: one row" "$? $(cat err) $(grep -c "(.\[?\]  100.0%%. 0)" fun2.gp)" \
	"0 addrplot: prog.ref: has no names of functions; -e names the executable that has them 1"
ok "data of functions" sh -c 'addrplot -p functions -k data prog ae.out | grep -q "references (data)"'

# the working set: that of addrmrc, for windows of this length
addrplot -p workingset prog.ref >work.gp
length=$(sed -n "s/.*title 'in each \\([0-9]*\\) instructions.*/\\1/p" work.gp)
data working work.gp | awk '{ print $1, $2 }' >got
addrmrc --window "${length}i" -f csv prog.ref | awk -F , 'NR > 1 { print $1, $4 }' >want
same "the working set: addrmrc's, of windows of $length" got want
ok "of many windows" test "$(wc -l <want)" -gt 250
is "all that was accessed: addrmrc's lines" "$(data working work.gp | tail -n 1 | awk '{ print $3 / 64 }')" "$(addrmrc -f json prog.ref | awk -F '[:,]' '/"lines"/ { print $2 + 0; exit }')"
# lines that come back after all distances; without instructions, time is in accesses
awk 'BEGIN { srand(3); print "kind,address,size"; for (i = 0; i < 900000; i++) { n = int(exp(rand() * log(20000))); printf "load,0x%x,4\n", 64 * (i % 3 ? n : i / 9) } }' >back.csv
addrplot -p workingset back.csv >back.gp
length=$(sed -n "s/.*title 'in each \\([0-9]*\\) accesses.*/\\1/p" back.gp)
data working back.gp | awk '{ print $1, $2 }' >got
addrmrc --window "$length" -f csv back.csv | awk -F , 'NR > 1 { print $1, $4 }' >want
same "the same of accesses, windows of $length" got want

# strides: addrstat's
addrplot -p strides prog.ref >stride.gp
data strides stride.gp | awk '$1 >= 0 { printf "%d %.4f\n", $1, $2 }' >got
addrstat --strides --json prog.ref | awk -F '[:,]' '/"strides": [0-9]/ { all = $2 } /"from"/ { from = $2 + 0 } /"forward"/ { for (b = 0; from >= 1; b++) from = int(from / 2); n[b] = $2 }
	END { for (b = 0; b <= '"$(tail -n 1 got | cut -d ' ' -f 1)"'; b++) printf "%d %.4f\n", b, 100 * n[b] / all }' >want
same "strides: addrstat's" got want

# loops: pp's
addrplot -p loops prog ae.out >loops.gp
data loops loops.gp | awk '{ print $2, $3 }' | sort >got
pp --json prog ae.out | awk -F '[:,]' '/"loops"/ { on = 1 } /"dependences": \[/ { on = 0 } !on { next } /"instructions"/ { n = $2 } /"parallel time"/ { t = 1 }
	t && /"all"/ { all = $2 } t && /"renamed"/ { printf("%.4g %.4g\n", all ? n / all : 1, $2 + 0 ? n / $2 : 1); t = 0 }' | sort >want
is "loops: pp's" "$(comm -23 got want | wc -l | tr -d ' ') $(($(wc -l <got) >= 3))" "0 1"
ok "with their lines" grep -q "'walk  prog\.c:1[0-9]  [0-9.]*%%'" loops.gp
printf 'I  10,4\n' >line
gives "no loops" 1 "addrplot: line: has no loops, so there is nothing to draw" addrplot -p loops line

# curves: what addrmrc printed
addrmrc -f csv --points 4 prog.ref >exact.csv
addrmrc -r 0.2 -f csv prog.ref 2>/dev/null >sample.csv
addrplot -p curves exact.csv sample.csv >curves.gp
is "curves: status" $? 0
data curve0 curves.gp | awk '{ printf "%d %.6f\n", $1, $2 }' >got
awk -F , 'NR > 1 { printf "%d %.6f\n", $1, 100 * $4 }' exact.csv >want
same "exact" got want
data curve1 curves.gp | awk '{ printf "%d %.5f %.5f\n", $1, $2, $4 }' >got
awk -F , 'NR > 1 { printf "%d %.5f %.5f\n", $1, 100 * $4, 100 * ($4 + $5) }' sample.csv >want
same "a sample, with its error" got want
is "their names" "$(grep -o "title '[a-z]*'" curves.gp | tr '\n' ' ')" "title 'exact' title 'sample' "
ok "from a pipe" sh -c 'addrmrc -f csv prog.ref | addrplot -p curves | grep -q "standard input"'
s="; see addrplot --help"
gives "no curve" 1 "addrplot: prog.csv: line 1: no curve of addrmrc -f csv: it does not begin with bytes,lines,misses,ratio" addrplot -p curves prog.csv
i=0
for l in 64,1,9 64,1,9,0.5,0.1 x,1,9,0.5 0,1,9,0.5 64,1,9,-0.5 64,1,9,1.5 64,1,9,nan '64,1,9,' '64,1,9,0.5,'; do
	i=$((i + 1))
	printf 'bytes,lines,misses,ratio\n32,1,9,0.5\n%s\n' "$l" >bad.csv
	gives "a bad line: $l" 1 "addrplot: bad.csv: line 3: not a line of a curve: bytes,lines,misses,ratio" addrplot -p curves bad.csv
done
head -n 1 exact.csv >none.csv
gives "no points" 1 "addrplot: none.csv: line 2: a curve without points" addrplot -p curves none.csv
: >empty
gives "an empty curve" 1 "addrplot: empty: line 1: empty: no curve of addrmrc -f csv" addrplot -p curves empty
{ cat exact.csv; head -c 300 /dev/zero | tr '\0' 1; } >long.csv
head -c $(($(wc -c <exact.csv) - 3)) exact.csv >cut.csv
gives "a number that is cut off" 1 "addrplot: cut.csv: line $(wc -l <exact.csv | tr -d ' '): the line is cut off" addrplot -p curves cut.csv
gives "a folder" 1 "addrplot: .: Is a directory" addrplot -p curves .
gives "a long line" 1 "addrplot: long.csv: line $(($(wc -l <exact.csv) + 1)): too long: no curve of addrmrc -f csv" addrplot -p curves long.csv
gives "kinds of curves" 2 "addrplot: -k, -e and -n are not for curves$s" addrplot -p curves -k all exact.csv
gives "too many" 2 "addrplot: exact.csv: one operand too many$s" addrplot -p curves exact.csv exact.csv exact.csv exact.csv exact.csv exact.csv exact.csv exact.csv

draws() {
	command -v gnuplot >/dev/null || { skip "no gnuplot"; return; }
	for g; do
		gnuplot "$g" >"$g.png" 2>err
		is "$g: png" "$(head -c 8 "$g.png" | od -An -tx1 | tr -d ' \n') $(cat err)" "89504e470d0a1a0a "
		turn 3 || continue
		sed "1s/.*/set terminal svg noenhanced/" "$g" | gnuplot >"$g.svg" 2>err
		is "$g: svg" "$(grep -c '</svg>' "$g.svg") $(cat err)" "1 "
	done
}
draws fun.gp fun2.gp work.gp back.gp stride.gp loops.gp curves.gp

why=$(able) || { skip "captures: $why"; tap_end; exit; }
# a name with what is special to gnuplot
cat >areas.c <<'X'
#include <stdlib.h>
int main(void)
{
	volatile char *p = malloc(60000), deep[30000];
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < 60000; i += 4) p[i] = deep[i / 2] = 1;
	return 0;
}
X
${CC:-gcc} -O1 areas.c -o "it's 5%d.x" && wscap -o areas.ws "./it's 5%d.x" || exit 1
addrplot -k data areas.ws >areas.gp
ok "regions have names" grep -q "^set ytics.*'\[stack\]  [0-9]*k' .*" areas.gp
addrplot -k all areas.ws >all.gp
ok "a name is quoted" grep -q "'it''s 5%%d\.x  [0-9]" all.gp
# in rows of the heap there are as many references as addrstat counts in it
range=$(sed -n 's/^kind(y) = //p' areas.gp | awk '{ from = 0; for (i = 1; i <= NF; i++) { if ($i == "y") { to = $(i + 2); k = $(i + 4) } else if ($i == ":" || i == NF) { if (i == NF) { to = 99999; k = $i } if (k == 4) print from, to; from = to } } }' | sort -u)
got=$(data map areas.gp | awk -v range="$range" 'BEGIN { split(range, r, " ") } NR - 1 >= r[1] && NR - 1 < r[2] { for (i = 1; i <= NF; i++) n += $i } END { printf "%.0f\n", n / 500 }')
want=$(addrstat --regions areas.ws | awk '$NF == "[heap]" { printf "%.0f\n", ($3 + $4 + $5) / 500 }')
is "the heap has its references" "$got $((want >= 90))" "$want 1"
addrplot -p functions areas.ws >capture.gp 2>err
is "functions of a capture" "$? $(cat err) $(grep -c "'main  [0-9.]*%%'" capture.gp)" "0  1"
# gnuplot takes seconds for a whole map: all its rows, and the first of its columns
for g in areas all; do awk -v most="$([ "${MATRIX-}" = full ] && echo 5000 || echo 30)" '
	/^EOD/ { on = 0 } on && NF > most { NF = most } { print } /^\$map/ { on = 1 }' $g.gp >$g.drawn.gp; done
draws areas.drawn.gp all.drawn.gp capture.gp
tap_end
