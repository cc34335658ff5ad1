# ids, values, dependences and control dependences against an oracle that steps and follows every byte
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
# instructions that the oracle does not know, and vectors it would take long for
GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-AVX_Usable,-AVX2_Usable,-AVX512F_Usable,-ERMS,-FSRM,-XSAVE,-XSAVEC
LD_BIND_NOW=1
export GLIBC_TUNABLES LD_BIND_NOW

# compare WHAT PROGRAM [--main]: the same text?
compare() {
	wscap -o p.ws "./$2" 2 7 >out 2>err </dev/null
	"$BUILD/test/wetbench" -e p.ws >tables || { fail "$1: jump tables"; return; }
	"$BUILD/test/wetoracle" p.ws tables ${3-} >want 2>err || { fail "$1: the oracle" "$(cat err)"; return; }
	# shellcheck disable=SC2086
	ws2wet ${3-} p.ws 2>err | nameless >got
	n=$(wc -l <want)
	if cmp -s want got; then pass "$1: $n lines are the same"; else fail "$1: $n lines" "$(diff want got | head -n 20)"; fi
}

for o in -O0 -O2; do
	for p in prog signals; do
		turn 3 || continue
		if ${CC:-gcc} $o -static "$HERE/$p.c" -o $p 2>err; then compare "$p $o" $p; else skip "no static libc"; fi
	done
done
${CC:-gcc} -O1 "$HERE/prog.c" -o dynamic
compare "the program without its libraries" dynamic --main
tap_end
