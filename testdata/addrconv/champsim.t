# ChampSim's records, as an independent reader understands them: every instruction, every address, every branch
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
$GCC -O2 -o champsimread "$HERE/champsimread.c" || exit 1
ok "a program with every kind of branch" captured flow "$HERE/flow.s"

# compared NAME [HANDLER]: the records of NAME.ws are its references
compared() {
	ws2addr -f text -o "$1.txt" "$1.ws"
	addrconv -f champsim -o "$1.trace" "$1.ws" || fail "$1: converts"
	./champsimread "$1.trace" "$1.txt" ${2:+"$2"} >"$1.out"
	is "$1: what the reader says" "$? $(grep -v '^[a-z-]* [0-9]*$' "$1.out")" "0 "
	is "$1: as many instructions as references" "$(sed -n 's/^instructions //p' "$1.out")" "$(grep -c '^inst' "$1.txt")"
}
compared flow "$(nm flow | sed -n 's/ t handler//p')"
count() { sed -n "s/^$1 //p" flow.out; }
# 100 rounds; 3 times loop, and 4 conditional branches a round; the two before the faults
is "conditional branches" "$(count conditional)" $((100 * 6 + 2))
is "jumps" "$(count jump)" 100
is "indirect jumps, two of them through memory without a register" "$(count indirect-jump)" 300
is "calls" "$(count call)" 200
is "indirect calls" "$(count indirect-call)" 300
is "returns" "$(count return)" 502
is "no other branches" "$(count other)" 0
./champsimread flow.trace >flow.list
at() { nm flow | sed -n "s/^0*\([0-9a-f]*\) . $1\$/\1/p"; }
branch() { grep "^$(at "$1") " flow.list | cut -d, -f1 | cut -d' ' -f2-; }
is "a branch that is not taken, before a fault" "$(branch branch1)" "conditional 0"
is "a branch that is taken, before a fault" "$(branch branch2)" "conditional 1"

# what a disassembler says that each instruction is
objdump -d --no-show-raw-insn flow | awk '
	$1 ~ /^[0-9a-f]+:$/ {
		k = "none"
		if ($2 ~ /^(j|loop)/) k = "conditional"
		if ($2 == "jmp") k = "jump"
		if ($2 == "call") k = "call"
		if ($2 == "ret") k = "return"
		if ($3 ~ /^\*/) k = "indirect-" k
		print substr($1, 1, length($1) - 1), k
	}' | sort >want.kinds
cut -d' ' -f1,2 flow.list | sort -u >got.kinds
is "the same kinds as objdump" "$(comm -23 got.kinds want.kinds)" ""

# registers: those of Pin
is "a constant" "$(grep "^$(at restore) " flow.list | head -n 1 | cut -d' ' -f4-)" "10 0, 0 0 0 0"
is "a loop" "$(grep "^$(at again) " flow.list | head -n 1 | cut -d' ' -f2,4-)" "conditional 26 9, 26 9 0 0"

# a program with libraries, more references than a record has room for, and a pipe to xz
wscap -o ls.ws sh -c 'echo /*' >/dev/null
compared ls
is "its records are whole" "$(($(bytes ls.trace) % 64))" 0
addrconv -f champsim ls.ws | xz -0 | xz -d | cmp -s - ls.trace
is "through a pipe, compressed" $? 0
pieces champsim
addrconv -f champsim -n 3:10 flow.ws >part
head -c 640 flow.trace | tail -c 448 >want
same "a part" part want
broken champsim
tap_end
