# The examples of wetq(1) and ws2wet(1), as they are printed: what their answers say
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2wet/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
cp "$SRC"/examples/order.* .

# examples PAGE: its commands, those that go on in the next lines as well
examples() {
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$SRC/man/$1" | sed -n '/^\.Bd -literal/,/^\.Ed/p' | sed '/^\./d; s/^\$ //'
}
examples wetq.1 >q.sh
is "wetq(1) has some" "$(grep -c wetq q.sh)" 8
sh -e q.sh >out 2>err
is "they run" "$? $(cat err)" "0 "
is "why: line 25, and the line with the bug" "$(sed -n 's/^ *order[.]c:\([0-9]*\) .*(\([0-9]*\)#.*/\1/p' out | sed -n '1,3p' | tr '\n' ' ')" "25 14 13 "
is "dice: that alone" "$(grep -c -x 'order.c:13:		percent = 90;' out)" 1
is "a slice, the source, a graph" "$(($(grep -c '^[0-9]*#[0-9]* [0-9a-f]* =' out) > 0)) $(grep -c 'sum += item' out) $(grep -c '^digraph' order.dot)" "1 2 1"
is "the line with the bug is in it" "$(grep -c '^ *[1-9][0-9]*: *13:.*percent = 90' out)" 1
is "a thousand statements" "$(tail -n 1000 out | grep -c -x '[0-9]*')" 1000

examples ws2wet.1 >w.sh
sh -e w.sh >out 2>err
is "those of ws2wet(1)" "$? $(cat err)" "0 "
is "the last dependences" "$(grep -c '^0x[0-9a-f]*#[0-9]* --> 0x[0-9a-f]*#[0-9]*$' out)" 10
is "lines, and how often" "$(sed -n 's/^order\.c:\([0-9]* \)/\1/p' out | grep -x -E '13 1|14 3|22 4|28 1' | tr '\n' ,)" "13 1,14 3,22 4,28 1,"
tap_end
