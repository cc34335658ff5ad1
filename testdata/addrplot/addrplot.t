# Pictures: the numbers in them against awk's and addrmrc's; gnuplot makes them; nothing of a title is a command
. "$SRC/testdata/tap.sh"

# grid FILE: the cells of the map that are not empty: column, row, references
grid() { awk '/^\$map/ { on = 1; next } /^EOD/ { on = 0 } on { for (i = 1; i <= NF; i++) if ($i > 0) print i - 1, n + 0, $i; n++ }' "$1" | sort; }

# 640 lines of one region, so that each has a row; the first and the last are used. A column is an access
awk 'BEGIN { print "kind,address,size"
	for (i = 0; i < 1000; i++) printf "load,0x%x,8\n", 65536 + 64 * (i < 2 ? i * 639 : i * 37 % 640) }' >one.csv
addrplot one.csv >one.gp
is "status" $? 0
grid one.gp >got
awk 'BEGIN { for (i = 0; i < 1000; i++) print i, (i < 2 ? i * 639 : i * 37 % 640), 1 }' | sort >want
same "a cell for each access" got want
is "the region" "$(sed -n 's/^set ytics.*(//p' one.gp)" "'10000 + 40k' -0.5)"

# longer: columns of 8 accesses
awk 'BEGIN { print "kind,address,size"
	for (i = 0; i < 7000; i++) printf "store,0x%x,8\n", 65536 + 64 * (i < 2 ? i * 639 : i * i % 640) }' >long.csv
addrplot long.csv >long.gp
grid long.gp >got
awk 'BEGIN { for (i = 0; i < 7000; i++) n[int(i / 8) " " (i < 2 ? i * 639 : i * i % 640)]++; for (k in n) print k, n[k] }' | sort >want
same "columns of several" got want

# more cells than there may be, in regions of which some are left out
awk 'BEGIN { print "kind,address,size"
	for (i = 0; i < 1400000; i++) {
		x = (x * 1103515245 + 12345) % 2147483648
		printf "load,0x%x,4\n", (i % 100 == 0 ? i / 100 % 20 * 4194304 + 1073741824 : x % 268435456)
	} }' >many.csv
addrplot many.csv >many.gp
left=$(sed -n 's/.*(\([0-9]*\) references to other regions.*/\1/p' many.gp)
is "no reference is lost" "$(grid many.gp | awk -v left="$left" '{ n += $3 } END { print (n + left > 1399000 && n + left < 1401000), (left == 3500) }')" "1 1"
ok "at most 16 regions" test "$(sed -n 's/^set ytics.*(//p' many.gp | tr , '\n' | grep -c .)" = 16

# a program: by instructions; misses and distances are those of addrmrc
cat >prog.c <<'X'
int table[5000];
int main(void) { for (int j = 0; j < 20; j++) for (int i = 0; i < 5000; i++) table[i * 7 % 5000] += i; return 0; }
X
aecc -O1 prog.c -o prog && ./prog
ae2addr -o prog.ref prog ae.out
addrplot -k all prog ae.out >prog.gp
addrplot -k all <prog.ref | cmp -s - prog.gp && pass "the same of a stream" || fail "the same of a stream"
n=$(ae2addr -c prog ae.out | awk '$1 == "instructions" { print $2 }')
is "time is in instructions" "$(awk '/^set xrange/ { sub(/.*:/, ""); print ($1 + 0 >= '"$n"' && $1 + 0 < 1.01 * '"$n"') }' prog.gp) $(grep -c "instructions so far" prog.gp)" "1 1"
addrplot -p misses prog.ref | awk '/^\$curve/ { on = 1; next } /^EOD/ { on = 0 } on { printf "%d %.4f\n", $1, $2 }' >curve
addrmrc -f csv --points=8 prog.ref | awk -F , 'NR > 1 { printf "%d %.4f\n", $1, 100 * $4 }' >want
sort curve >got
ok "addrmrc has sizes" test "$(grep -c . want)" -gt 20
is "misses: each of addrmrc's" "$(sort want | comm -13 got - | head -n 3)" ""
addrplot -p distances prog.ref | awk '/^\$distances/ { on = 1; next } /^EOD/ { on = 0 } on && $2 > 0 { print $3, $2 }' >got
addrmrc --histogram -f csv prog.ref | awk -F , '/^[0-9]/ { for (b = 0; b <= $1; b = b ? 2 * b : 1) from = b; n[from] += $2 }
	END { for (b in n) print b, n[b] }' | sort -n >want
same "distances: addrmrc's" got want
addrplot -n 100:200 prog.ref >part.gp
is "-n" "$(sed -n 's/^set xrange .*:\(.*\)]/\1/p' part.gp)" 100
n=$(ae2addr -c prog ae.out | sed -n 's/^instructions *//p')
gives "-n behind the end" 1 "addrplot: prog.ref: nothing is in this range: the run has $n instructions
addrplot: prog.ref: has no such references (data), so there is nothing to draw" addrplot -n 99999999: prog.ref

# gnuplot; it takes seconds for a whole map, so that has all its rows and the first of its columns
few_columns() { awk '/^EOD/ { on = 0 } on && NF > 30 { NF = 30 } { print } /^\$map/ { on = 1 }'; }
[ "${MATRIX-}" != full ] || few_columns() { cat; }
if command -v gnuplot >/dev/null; then
	title="it's; system 'touch made' \`touch made\` %s @x {/Bold y} \"$(printf '\n')system('touch made')"
	for p in map misses distances; do
		addrplot -p $p --title "$title" prog.ref | few_columns | gnuplot >$p.png 2>err
		is "$p: png" "$(head -c 8 $p.png | od -An -tx1 | tr -d ' \n') $(cat err)" "89504e470d0a1a0a "
		addrplot -p $p -f svg --title "$title" prog.ref | few_columns | gnuplot >$p.svg 2>err
		is "$p: svg, with the title" "$(grep -c "it's; system 'touch made' \`touch made\` %s @x {/Bold y} \"system('touch made')" $p.svg) $(cat err)" "1 "
	done
	ok "the title is no command" test ! -e made
else
	skip "no gnuplot"
fi

: >empty
gives "an empty file" 1 "addrplot: empty: empty input" addrplot empty
gives "nothing to draw" 1 "addrplot: one.csv: has no such references (instructions), so there is nothing to draw" addrplot -k instructions one.csv
head -n 3 one.csv >two.csv
gives "no distances" 1 "addrplot: two.csv: uses no line twice, so there is nothing to draw" addrplot -p distances two.csv
gives "a picture that there is not" 2 "addrplot: -p x: not a picture; there are map, functions, misses, distances, workingset, strides, loops and curves; see addrplot --help" addrplot -p x one.csv
for size in 600 600x 600x100 x400 600x400x 600,400; do
	gives "a size: $size" 2 "addrplot: --size $size: not WIDTHxHEIGHT, from 200 to 10000 pixels each; see addrplot --help" addrplot --size $size one.csv
done
is "a size" "$(addrplot --size 640x400 one.csv | grep -c '^set terminal pngcairo size 640,400 ')" 1
head -c 3003 prog.ref >cut.ref
addrplot -k all cut.ref >got 2>err
is "cut off: status, a message, and a picture of what is there" "$? $(grep -c '^addrplot: cut.ref: byte' err) $(tail -n 1 got | cut -c 1-9)" "1 1 plot \$map"
tap_end
