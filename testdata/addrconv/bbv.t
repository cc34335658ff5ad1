# Basic-block vectors: those of valgrind's exp-bbv, where that is there
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
ok "a program" captured work "$HERE/work.c"
ok "a program with every kind of branch" captured flow "$HERE/flow.s"

addrconv -f bbv --interval 1000 flow.ws >flow.bb
is "an interval is one instruction more, then as long as it should be" "$(awk -F'[: ]+' '
	{ s = 0; for (i = 3; i <= NF; i += 2) s += $i; t = t " " s } END { print t }' flow.bb)" " 1001 1000 1000"
is "a vector looks like SimPoint's" "$(grep -vcE '^T(:[0-9]+:[0-9]+ {3})+$' flow.bb)" 0
addrconv -f bbv flow.ws >none
is "a run shorter than an interval has none" "$(bytes none)" 0
damaged_bbv() {
	head -c $(($(bytes work.ws) / 2)) work.ws >cut.ws
	addrconv -f bbv --interval 1000 work.ws >whole
	addrconv -f bbv --interval 1000 cut.ws >out 2>err
	is "a capture that is cut off: status" $? 1
	is "one line" "$(wc -l <err | tr -d ' ')" 1
	head -c "$(bytes out)" whole | cmp -s - out
	is "what comes before" $? 0
}
damaged_bbv

if ! command -v valgrind >/dev/null || ! valgrind --tool=exp-bbv --help >/dev/null 2>&1; then
	skip "no valgrind with exp-bbv"
	tap_end
	exit
fi
# valgrind cuts blocks of more instructions than that, and counts a repeated string instruction in the block after its own
for every in 1000 9999 100000; do
	valgrind -q --tool=exp-bbv --vex-guest-max-insns=100 --interval-size=$every --bb-out-file=bb --pc-out-file=pc ./work \
		>/dev/null 2>valgrind.err
	grep '^T' bb >want
	addrconv -f bbv --interval $every work.ws >got
	same "$every instructions: the same vectors as exp-bbv's" got want
	ok "$every instructions: there are some" test -s got
done
valgrind -q --tool=exp-bbv --interval-size=1000 --bb-out-file=bb --pc-out-file=pc ./flow >/dev/null 2>valgrind.err
is "with strings and signals: as many intervals" "$(wc -l <flow.bb)" "$(grep -c '^T' bb)"
tap_end
