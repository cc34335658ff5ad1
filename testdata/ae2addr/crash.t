# A fatal access to memory: the trace ends before the instruction that made it, as a replay of a capture does, and as the kernel says
# shellcheck disable=SC3045    # ulimit -c and -s: not in POSIX, but in every sh here
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/aec/lib.sh"
ulimit -c 0
for o in -O2 -O0; do
	aecc $o "$HERE/crash.c" -o prog || exit 1
	# at -O0, memcpy is libc's
	case $o in -O0) ways='w r m c f d' ;; *) ways='w r m c f d s' ;; esac
	for way in $ways; do
		rm -f a.o
		(ulimit -s 512; AE_OUT=a.o; export AE_OUT; exec ./prog $way) 2>/dev/null
		is "$o $way: status" $? 139
		ae2addr prog a.o >ref 2>err
		is "$o $way: said" "$? $(cat err)" "0 ae2addr: a.o: signal 11 ended the program in traced code, at the instruction after the last reference"
		case $way in f | d) continue ;; esac            # in a loop, the instruction before may be elsewhere
		pc=$(AE_OUT=off ./prog $way say)
		is "$o $way: the last instruction" "$(ae2addr -f text prog a.o 2>/dev/null | awk '$1 == "inst" { pc = $2 } END { print pc }')" \
		    "0x$(objdump -d --no-show-raw-insn prog | awk -v pc="$pc" '$1 == pc ":" { print before } { before = $1 }' | tr -d :)"
	done
	for way in c f; do
		(ulimit -s 512; AE_OUT=a.o; export AE_OUT; exec ./prog $way) 2>/dev/null
		(ulimit -s 512; AE_OUT=off; export AE_OUT; exec wscap -o p.ws ./prog $way) 2>/dev/null
		ae2addr -l prog a.o >ref 2>/dev/null
		ws2addr p.ws >want
		ok "$o $way: as the replay of a capture" addrdiff -s -e prog ref want
		[ "$(wc -c <ref)" -gt 200 ] || fail "$o $way: references"
	done
done
aec -b -o regen prog && ./regen -l a.o >ref2 2>err
is "a regenerator says the same" "$(unwarned <err)" "regen: a.o: signal 11 ended the program in traced code, at the instruction after the last reference"
same "and gives the same" ref2 ref
AE_OUT=c.o ./prog c 2>/dev/null
ae2addr -f text prog c.o >all 2>/dev/null
ae2addr -f text -s chase prog c.o >part 2>/dev/null
is "-s of the function that it ended in" "$(tail -n 1 part) $(grep -c . part)" "$(tail -n 1 all) $(awk -v at="$(nm prog | awk '$3 == "chase" { print $1 }' | sed 's/^0*/0x/')" '
	$1 == "inst" && $2 == at { on = 1 } on { n++ } END { print n }' all)"
tap_end
