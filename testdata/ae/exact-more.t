# The exactness matrix: other ways to compile, and every way to end a program.
. "$SRC/testdata/tap.sh"
. "$HERE/matrix.sh"
one_oracle
no_plain
has() { grep -q -w "$1" /proc/cpuinfo; }
has avx512vl || skip "the processor has no AVX-512"
if [ "$SAN" ]; then
	rows=$(some "calls jumps link" -O2 -fPIC)
else
	rows=$(
		echo "link -O2 -Wl,--wrap=far_wrapped"
		few "link" -O0 -fPIC
		few "link" -O3 -pie
		few "calls dispatch start tls cold" -O2 -fPIC
		few "dispatch tls" -O0 -fPIC
		few "tls" -O2 -fPIC -mtls-dialect=gnu2
		few "calls dispatch start tls cold data jumps interp callback" -O2 -fPIE
		few "calls jumps fork start" -O2 -static
		few "dispatch jumps data callback fork cold select" -O2 -pie
		few "tls interp start" -O0 -pie
		few "-o~qemu~calls -o~qemu~dispatch -o~qemu~data" -O2 -static-pie | tr '~' ' '
		echo "switches -O2 -fPIE"
		few "switches" -O0 -fPIC
		few "switches" -O3 -pie
		# jumps through a table that the program changes name it only here
		echo "dispatch -O1 -fno-pie -no-pie"
		# computed goto by a call of a thunk, which goes on in the code that is not traced
		echo "dispatch -O2 -mindirect-branch=thunk"
		# under valgrind a static program's thread data lies in the heap, so that has two constants
		echo "-o qemu callback -O2 -static"
		few "calls real cold" -O2 -g
		few "calls dispatch" -O0 -g3
		# assembly in Intel syntax
		few "jumps dispatch link tls signals strings real threads" -O2 -masm=intel
		few "tree stack switches data" -O0 -masm=intel
		few "calls cold callback data" -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections
		few "calls dispatch jumps asm" -O2 -fcf-protection
		few "dispatch jumps" -O2 -fcf-protection=none
		few "stack varargs copy strings" -O2 -fstack-protector-strong
		few "stack vector" -O1 -fstack-protector-all -fno-omit-frame-pointer
		# qemu 7.2 takes the 8-byte operand of a scalar vfmadd for 16 bytes
		few "vector real stack gauss select" -O3 -march=x86-64-v3 -mno-fma
		few "-o~lackey~real -o~lackey~gauss" -O3 -march=x86-64-v3 | tr '~' ' '
		few "vector copy" -O2 -march=x86-64-v2
		few "calls select" -O2 -fno-plt -z now
		# setjmp by its address in a register
		few "jumps odd" -O2 -mforce-indirect-call
		echo "jumps -O0 -mforce-indirect-call"
		few "calls start" -O2 -Wl,-z,max-page-size=2097152
		few "recurse tree sort" -O3 -funroll-loops -fno-inline
		few "interp dispatch" -O2 -fno-jump-tables
		few "copy data" -O2 -mstringop-strategy=rep_byte -minline-all-stringops
		few "callback calls" -O2 -fno-asynchronous-unwind-tables -fno-optimize-sibling-calls
		few "varargs stack" -O2 -mno-red-zone -maccumulate-outgoing-args
		echo "recurse -O2 -- 100000"
		echo "args -O2 --"
		echo "args -O1 -- -x"
		# rows of the same program that follow each other have one build
		for e in return exit _exit abort quick term div; do turn 4 && echo "endings -O0 -- $e callback"; done
		# accesses through masks, gathers and scatters, which qemu 7.2 and valgrind do not know: the oracle is a capture
		has avx2 && echo "-r masked -O3 -march=x86-64-v3"
		if has avx512bw && has avx512vl; then
			echo "-r masked -O2 -march=x86-64-v4 -mprefer-vector-width=512"
			few "-O3 -Os" "-march=x86-64-v4 -masm=intel" | sed 's/^/masked /'
		fi
		# qemu's plugin writes nothing when SIGILL ends it
		echo "-o lackey endings -O0 -- trap callback"
		echo "-o lackey endings -O2 -- trap"
		for e in return exit _exit abort quick term div; do echo "endings -O2 -- $e"; done
	)
fi
check_rows
# what a fault or SIGKILL leaves is not compared, but the program must end as it would
rows=$(for e in segv kill; do echo "-n endings -O2 -- $e"; done)
check_rows
# the paper's encoding
rows=$(third "calls jumps dispatch lzw callback recurse tls strings tree asm" -O2; third "gauss data select" -O0)
[ "$SAN" ] && rows=$(some "calls jumps" -O2)
check_rows -p
tap_end
