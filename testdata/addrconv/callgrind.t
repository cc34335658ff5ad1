# Profiles: callgrind's own counts, where valgrind is there; calls that do not return in the usual way
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
ok "a program" captured work "$HERE/work.c"
ok "a program with every kind of branch" captured flow "$HERE/flow.s"
total=$(ws2addr -c work.ws | sed -n 's/instructions //p')

addrconv -f callgrind -o work.cg work.ws || fail "converts"
is "the total is the number of instructions" "$(sed -n 's/^\(summary\|totals\): //p' work.cg | sort -u)" "$total"
# costs of functions themselves, without the line after calls=
is "and the sum of all lines" "$(awk '/^calls=/ { getline; next } /^[0-9]+ [0-9]+$/ { s += $2 } END { print s }' work.cg)" "$total"
addrconv -f folded work.ws >work.folded
is "and of folded stacks" "$(awk '{ s += $NF } END { print s }' work.folded)" "$total"
is "stacks" "$(sed 's/ .*//; s/\.[a-z]*\.[0-9]//g' work.folded | sort)" "_start
_start;run
_start;run;fib
_start;run;more
_start;run;sift
_start;run;twice"

# self FILE: a function and what it executed itself, calls FILE: caller, called function, calls, and what they cost
if command -v callgrind_annotate >/dev/null; then
	self() {
		callgrind_annotate --threshold=100 --auto=no "$1" | sed -n 's/^ *\([0-9,]*\) ([ 0-9.]*%)  .*work\.c:\([^ ]*\) .*/\2 \1/p' |
			tr -d , | sed "s/'2 / /; s/(below/_start/; s/_start main)/_start/" |
			awk '{ s[$1] += $2 } END { for (f in s) print f, s[f] }' | sort
	}
	self work.cg >ours
	ok "callgrind_annotate reads it" test "$(wc -l <ours)" -ge 6
	valgrind -q --tool=callgrind --callgrind-out-file=work.vg ./work >/dev/null 2>valgrind.err
	self work.vg | sed 's/^(below main)/_start/' >theirs
	grep -v '^_start' ours >a
	grep -v '^_start' theirs >b
	same "valgrind's callgrind counts the same for each function but the first" a b
	# the block of the last system call is never finished, which callgrind does not count
	diff=$(($(sed -n 's/^_start //p' ours) - $(sed -n 's/^_start //p' theirs)))
	ok "and for that up to the block that ends the program ($diff)" test "$diff" -ge 0 -a "$diff" -lt 20
	calls() {
		callgrind_annotate --threshold=100 --auto=no --inclusive=yes --tree=calling "$1" |
			sed -n 's/^ *\([0-9,]*\) ([ 0-9.]*%)  >  *.*work\.c:\([a-z.0-9]*\) (\([0-9,]*\)x).*/\2 \3 \1/p' | tr -d , | sort
	}
	calls work.cg | grep -v '^\(fib\|run\)' >a
	calls work.vg | grep -v '^\(fib\|run\)' >b
	same "calls and their costs" a b
	ok "and there are some" grep -q '^sift' a
else
	skip "no callgrind_annotate"
fi

# tail calls, longjmp, signals: with libc
$GCC -O1 -g -static -o calls "$HERE/calls.c" || exit 1
wscap -o calls.ws ./calls
addrconv -f folded calls.ws | sed -n 's/^.*;main/main/p' >calls.folded
stack() { grep -c "^main;$1 " calls.folded; }
is "a tail call" "$(stack 'jumps;tail;leaf')" 1
is "after longjmp, calls come from the function that has called setjmp" "$(stack 'caught;leaf')" 1
is "a handler" "$(grep -c '^main;raises;raise;.*;handler;leaf ' calls.folded)" 1
is "after its return" "$(stack 'raises;leaf')" 1
is "longjmp out of a handler on a stack of its own" "$(stack 'escapes;leaf')" 1
is "leaf is called 25 times in 5 places, each time as long" "$(awk -F'[; ]' '$(NF - 1) == "leaf" { n++; s += $NF } END { print n, s % 25 }' calls.folded)" "5 0"
addrconv -f callgrind calls.ws >calls.cg
is "no other calls of leaf" "$(grep -A 1 '^cfn=.*leaf\|^cfn=.*' calls.cg >all; awk '
	/^cfn=/ { n = $1; if ($2 == "leaf") leaf = n } /^calls=/ { c[n] += substr($1, 7) } END { print c[leaf] }' all)" 25

# code without names is shown by its file
cp work nameless
strip nameless
wscap -o nameless.ws ./nameless
is "no names" "$(addrconv -f folded nameless.ws)" "[nameless] $total"
addrconv -f callgrind nameless.ws >nameless.cg
is "no names: the total" "$(sed -n 's/^totals: //p' nameless.cg)" "$total"
# the first half
addrconv -f folded -n "0:$((total / 2))" work.ws | awk -v n=$((total / 2)) '{ s += $NF } END { exit s != n }'
is "a part" $? 0
head -c $(($(bytes flow.ws) * 2 / 3)) flow.ws >cut.ws
addrconv -f callgrind cut.ws >out 2>err
is "a capture that is cut off: status" $? 1
is "one line" "$(wc -l <err | tr -d ' ')" 1
is "a whole file" "$(grep -c '^totals:' out)" 1
addrconv -f folded "$SRC/README.md" >out 2>err
is "no capture: status" $? 1
is "no capture: one line" "$(wc -l <err | tr -d ' ')" 1
tap_end
