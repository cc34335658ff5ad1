# Programs made by hand, compiled: what regentest checks of the interpreter, said by both
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/aec/lib.sh"
"$BUILD/test/regentest" dump || exit 1
for first in u*.1.ae; do
	u=${first%.1.ae}
	ok "$u: compiles" aec -b "$u"
	for e in "$u".*.ae; do
		if both "$u" "$e"; then pass "$e: $(cat a.err)"; else fail "$e" "$(cat a.err b.err)"; fi
	done
done
# Events changed at random, cut off and stopped
bad=
for u in u9 u10 u11 u12 u13 u14 u15 u16; do
	for seed in $(seq 12); do
		turn 11 || continue
		"$BUILD/test/evmut" $u.1.ae "$seed" $((seed % 3 + 1)) >m.ae
		both $u m.ae || bad="$bad $u:$seed"
		"$BUILD/test/evmut" $u.1.ae "$([ $((seed % 2)) = 0 ] && echo cut || echo stop)" $((seed * 2)) >m.ae
		both $u m.ae || bad="$bad $u:cut$seed"
	done
done
is "changed events" "$bad" ""
"./u9.regen" u1.1.ae >b.ref 2>b.out
is "events of another machine" "$(quiet <b.out)" \
    "u1.1.ae: byte 49: events of an x86-64 program, but the executable is for MIPS"
# The paper's figure 4
aec -o fig u11 || exit 1
sed -n '/Start of block 1/,/End of block 2/p' fig/t.sma.c >b
cat >a <<'END'
	/* Start of block 1 */
L1:
	PC = in_pc + 8;
	ROOM(4);
	ISSUE_INST(4);
	WRITE_MEM(R8 + 0, 4);
	R8 = ZX4(R8 + 4);
	ISSUE_INST(4);
	LOOP_CONT(in_pc + 16);
	/* End of block 1 */

	/* Start of block 2 */
L2:
	PC = in_pc + 16;
	ROOM(2);
	ISSUE_INST(4);
	GET_BYTE(temp); /* Read from trace file */
	switch (temp) {
	case 1:
		goto L1;
	case 3:
		LOOP_END(in_pc + 16);
		goto L3;
	default:
		cjump_err();
	}
	/* End of block 2 */
END
same "figure 4" a b
tap_end
