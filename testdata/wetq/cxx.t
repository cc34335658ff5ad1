# Names of C++: as c++filt has them in profiles and tables, without parameters in wetq; each of their forms is a point or a function
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
cp "$HERE/cart.cc" .
g++ -g -O0 $static -o cart cart.cc && wscap -o c.ws ./cart 3 4 5 >out || fail "a program"
nm cart | awk '/cart5total|5other5total|5twice|cart3add/ && $2 ~ /[TtWw]/ { print $3 }' >symbols
is "its functions" "$(wc -l <symbols)" 5

# the id of a function's entry, by its address; of a program that was moved to where 55 begins it, by the last digits
entry() {
	nm cart | awk -v name="$1" '$3 == name { sub(/^0*/, "", $1); print $1 }' >at
	awk -v fixed="$static" 'NR == FNR { at = fixed ? $1 : substr($1, length($1) - 2); next }
		fixed ? $3 == at : $3 ~ /^55/ && substr($3, length($3) - 2) == at { print $1 }' at list
}
wetq -o list list c.ws
total=$(entry "$(grep cart5total symbols)") twice=$(entry "$(grep 5twice symbols)") outside=$(entry "$(grep 5other symbols)")
is "entries" "$(echo "$total $twice $outside" | wc -w)" 3
point() { wetq -t control deps "$1" c.ws >got 2>err; sed -n 's/.*: its last instance, //p' err; }
while read -r id name; do
	is "a point: $name" "$(point "$name" | sed 's/#.*//')" "$id"
done <<END
$total shop::cart::total
$total cart::total
$total cart.cc:cart::total
$total $(grep cart5total symbols)
$twice twice
$twice shop::twice<int>
$twice $(grep 5twice symbols)
$outside other::total
END
gives "two of one name" 1 "wetq: c.ws: total: several functions: cart.cc:shop::cart::total, cart.cc:other::total" wetq deps total c.ws
gives "no end of a name" 1 "wetq: c.ws: art::total: no such function was executed, and there is no such variable; a local one is VARIABLE@POINT" wetq deps art::total c.ws
is "why: names" "$(wetq why out:0 c.ws 2>err | grep -c -E 'cart.cc:(27 shop::twice<int>|20 shop::cart::total|33 other::total) ')" 3
is "a frame" "$(wetq at cart.cc:20 c.ws 2>err | grep -c '^#0 shop::cart::total (this=0x[0-9a-f]*, discount=1)')" 1

# the instructions of each function in a profile are those that addrconv -s has for its symbol
addrconv -f folded c.ws >folded
while read -r symbol; do
	name=$(c++filt -r "$symbol" 2>/dev/null || c++filt "$symbol")
	name=${name#int }               # what a template returns
	addrconv -f text -s "$symbol" c.ws | grep -c '^inst' >want
	awk -v name="$(echo "$name" | tr ' ' _)" '{ n = $NF; sub(/ [0-9]*$/, ""); k = split($0, f, ";"); if (f[k] == name) sum += n } END { print sum + 0 }' folded >got
	same "a profile: $name" got want
	addrconv -f text -s "$name" c.ws | grep -c '^inst' >got
	same "-s: $name" got want
done <symbols
addrconv -f text -s cart::add c.ws | grep -c '^inst' >got
for s in $(grep cart3add symbols); do addrconv -f text -s "$s" c.ws; done | grep -c '^inst' >want
same "-s takes all that are overloaded" got want
is "callgrind" "$(addrconv -f callgrind c.ws | grep -c 'shop::cart::add(double)$')" 1

# an instruction that a region, and a call, begins with
ws2addr -f text -s other::total c.ws >got
ws2addr -f text -s "$(grep 5other symbols)" c.ws >want
same "ws2addr -s" got want
ok "wscap --from" wscap --from other::total --to shop::twice -o r.ws ./cart 1 2
ws2addr -f text r.ws | sed -n '1p' >got
sed -n 1p want >want1
same "begins there" got want1

# a symbol may stand for a name of any length, this one for gigabytes: it stays as it is
long=$(awk 'BEGIN { s = "1AIiiE"; for (i = 2; i < 35; i++) { k = substr("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", i, 1); s = s "S0_IS" k "_S" k "_E" } print "_Z1fI" s "Evv" }')
printf '.globl %s\n.type %s, @function\n%s: ret\n.size %s, 1\n.globl main\n.type main, @function\nmain: call %s\nxor %%eax, %%eax\nret\n.section .note.GNU-stack,"",@progbits\n' "$long" "$long" "$long" "$long" "$long" >long.s
${CC:-gcc} -o long long.s && wscap -o l.ws ./long
is "a name without end" "$(wetq list l.ws 2>err | awk -v name="$long" '$5 == name' | wc -l)" 1
tap_end
