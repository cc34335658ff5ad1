# The exactness matrix of MIPS: other ways to compile, the paper's encoding, and every way to end a program.
. "$SRC/testdata/tap.sh"
machine=mipsel
. "$HERE/matrix.sh"
no_plain
[ "$SAN" ] && { rows=$(some "calls" -O2 -fPIC); check_rows; tap_end; exit; }
rows=$(
	few "calls dispatch start tls cold" -O2 -fPIC
	few "dispatch tls calls" -O0 -fPIC
	few "calls jumps fork" -O2 -static
	few "calls real cold" -O2 -g
	few "calls cold callback data" -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections
	few "stack varargs strings" -O2 -fstack-protector-strong
	few "hash dispatch sort interp" -O2 -mbranch-likely
	few "lzw hash real moves" -O2 -mips1 -mfp32
	few "lzw recurse interp" -O2 -mips2
	few "calls dispatch" -O2 -mno-shared -mno-plt
	few "calls dispatch data" -O1 -mno-explicit-relocs
	few "recurse tree sort" -O3 -funroll-loops -fno-inline
	few "interp dispatch" -O2 -fno-jump-tables
	few "callback calls" -O2 -fno-optimize-sibling-calls
	few "calls jumps" -O2 -fno-delayed-branch
	few "lzw calls" -O2 -mno-abicalls -fno-pic -static
	# more than a buffer of events, words across its end
	echo "edge -O2 -- 6 1"
	echo "edge -O2 -- 6 2"
	echo "recurse -O2 -- 20000"
	echo "args -O2 --"
	# rows of the same program that follow each other have one build
	for e in return exit _exit abort quick term; do turn 4 && echo "endings -O0 -- $e callback"; done
	for e in return exit _exit abort quick term; do echo "endings -O2 -- $e"; done
)
check_rows
# qemu's plugin writes nothing when a fault, a trap or SIGKILL ends it, but the program must end as it would
rows=$(for e in segv kill trap div; do echo "-n endings -O2 -- $e"; done)
check_rows
# the paper's encoding
rows=$(third "calls jumps dispatch lzw callback recurse slots likely macros tls strings tree" -O2; third "gauss data" -O0)
check_rows -p
machine=mips
target mips
rows=$(half "calls dispatch" -O2)
check_rows -p
rows="edge -O2 -- 6 1"
check_rows
tap_end
