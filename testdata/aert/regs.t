# A traced function called from untraced code: registers, stack and results are as the ABI wants.
# shellcheck shell=sh source=/dev/null
. "$HERE/lib.sh"

for o in -O0 -O2; do
	gcc -O1 -fno-pie -c "$HERE/regs_u.c" -o u.o
	aecc $o -c "$HERE/regs_t.c" -o t.o
	aecc u.o t.o -o regs
	is "$o: results" "$(./regs)" '5 10 10.5 0.25'
	is "$o: untraced" "$(AE_OUT=off ./regs)" '5 10 10.5 0.25'
	ok "$o: more than a buffer" [ "$(wc -c <ae.out)" -gt 2000000 ]
	ok "$o: regenerates" whole ./regs ae.out
done
tap_end
