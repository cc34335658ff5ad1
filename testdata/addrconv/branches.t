# Branches as comma-separated values: those of ChampSim's records, in order, with their targets
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
$GCC -O2 -o champsimread "$HERE/champsimread.c" || exit 1
ok "a program with every kind of branch" captured flow "$HERE/flow.s"

# what the references say: a branch is taken if the next instruction is not the one after it, and its target is the next
wanted() {
	addrconv -f champsim "$1.ws" | ./champsimread - | cut -d' ' -f1,2 | sort -u >"$1.kinds"
	ws2addr -f text "$1.ws" | awk '
		NR == FNR { if ($2 != "none") kind["0x" $1] = $2; next }
		$1 == "inst" {
			if (pc in kind) print pc, $2, kind[pc], kind[pc] != "conditional" || $2 != after
			pc = $2
			after = sprintf("0x%s", sum(substr($2, 3), $3))
		}
		# hexadecimal, of more digits than a number has
		function sum(hex, n,  i, d, s) {
			for (i = length(hex); i > 0; i--) {
				d = index("0123456789abcdef", substr(hex, i, 1)) - 1 + n
				n = d >= 16 ? 1 : 0
				s = substr("0123456789abcdef", d % 16 + 1, 1) s
			}
			return s
		}' "$1.kinds" -
}
addrconv -f branches flow.ws >flow.csv
is "the names of the columns" "$(head -n 1 flow.csv)" "pc,target,kind,taken"
wanted flow >want
tail -n +2 flow.csv | tr , ' ' >got
is "as many" "$(wc -l <got)" "$(wc -l <want)"
# the handler comes after a branch that is not taken
paste -d' ' want got | awk '$1 != $5 || $3 != $7 || $4 != $8' >bad
is "addresses, kinds, directions" "$(wc -l <bad | tr -d ' ') $(cut -d' ' -f4,8 bad)" "1 1 0"
paste -d' ' want got | awk '$8 == 1 && $2 != $6' >bad
is "targets of those that are taken, but for the one before a fault" "$(wc -l <bad | tr -d ' ')" 1
# a branch that is not taken has its own target
hit=$(nm flow | sed -n 's/^0*\([0-9a-f]*\) t hit/\1/p') down=$(nm flow | sed -n 's/^0*\([0-9a-f]*\) t down/\1/p')
is "the one that is not taken before a fault" "$(grep -c ",0x$hit,conditional,0" flow.csv)" 1
is "the one that is taken before a fault" "$(grep -c ",0x$down,conditional,1" flow.csv)" 1

wscap -o ls.ws sh -c 'echo /*' >/dev/null
wanted ls | awk '$4 == 1 { print $1 "," $2 "," $3 "," $4 }' >want
addrconv -f branches ls.ws | tail -n +2 | grep ',1$' >got
same "a program with libraries: all that are taken" got want
ok "and there are many" test "$(wc -l <got)" -gt 10000
pieces_csv() {
	n=$(ws2addr -c flow.ws | sed -n 's/instructions //p')
	echo pc,target,kind,taken >parts
	at=0
	for end in 1 3 50 51 $((n / 3)) $((n - 20)) ''; do
		addrconv -f branches -n "$at:$end" flow.ws | tail -n +2 >>parts
		at=$end
	done
	same "parts of the run are the whole" parts flow.csv
}
pieces_csv
broken branches
tap_end
