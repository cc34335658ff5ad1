# Building where something is missing: make names it before it compiles; what does not need Zydis or elfutils builds without
. "$SRC/testdata/tap.sh"
[ -z "$SAN" ] || { skip "same with sanitizers"; exit 0; }
cd "$SRC" || exit 1
# Its own log, so that no options of the make that runs this one are taken
m() { MAKEFLAGS='' ${MAKE:-make} --no-print-directory "$@" >"$TMPDIR/log" 2>&1; }
says() { grep -v '^make' "$TMPDIR/log" | tr '\n' ';'; }

all="libarchive-dev zlib1g-dev libbz2-dev liblzma-dev libzstd-dev nettle-dev"
m O="$TMPDIR/a" CC=no-such-compiler
is "no compiler: status" $? 2
is "no compiler" "$(says)" \
	"missing: a C compiler that works (CC=no-such-compiler) and the headers of libc;On Debian: apt-get install gcc libc6-dev $all libzydis-dev libdw-dev libiberty-dev;"

mkdir "$TMPDIR/bad"
for h in zstd.h bzlib.h; do echo '#error' >"$TMPDIR/bad/$h"; done
m O="$TMPDIR/b" CPPFLAGS="-I$TMPDIR/bad"
is "two libraries: status" $? 2
is "two libraries" "$(says)" \
	"missing: libbz2 and its header bzlib.h;missing: libzstd and its header zstd.h;On Debian: apt-get install libbz2-dev libzstd-dev;"
m O="$TMPDIR/c" -n CPPFLAGS="-DNONE"
is "the user's CPPFLAGS hide none of ours" "$(grep -c -e '-DNONE .*-DTM_VERSION=' "$TMPDIR/log")" "$(m -n O="$TMPDIR/c"; grep -c -e -DTM_VERSION= "$TMPDIR/log")"

# no completions, which come from what the tools print, nor what is for gdb
short='COMPLETE= LDFLAGS=-s'
[ "${MATRIX-}" = full ] && short=
# Without a library: the objects that would be compiled, and the tools that are linked, from copies of ours
without() { # WITHOUT HAVE HEADERS TOOLS
	m -n O="$TMPDIR/d" HAVE="$2" all
	sed -n "s,.* -o $TMPDIR/d/\(obj/src/[^ ]*\)\.o .*,$BUILD/\1.d,p" "$TMPDIR/log" | xargs grep -l -E "$3" >"$TMPDIR/wrong"
	ok "without $1: something is compiled" grep -q 'obj/src/base/in\.o' "$TMPDIR/log"
	is "without $1: nothing that needs it" "$(cat "$TMPDIR/wrong")" ""
	rm -rf "$TMPDIR/e"
	mkdir "$TMPDIR/e"
	cp -a "$BUILD/obj" "$BUILD/gen" "$BUILD/rt" "$TMPDIR/e/"
	# shellcheck disable=SC2086     # they are arguments
	m O="$TMPDIR/e" HAVE="$2" $short all
	is "without $1: the others are linked" $? 0
	is "without $1: these are left out" "$(sed -n 's/^left out: \(.*\) needs .*/\1/p' "$TMPDIR/log" | grep -v ' ' | tr '\n' ' ')" "$4 "
	for t in bifcm wsinfo laplace-merge; do "$TMPDIR/e/bin/$t" --version; done >"$TMPDIR/run" 2>&1
	is "without $1: and run" "$(grep -c '(tracemill)' "$TMPDIR/run")" 3
}
without Zydis dw /Zydis/ "addrconv addrdiff addrmrc addrplot addrstat ae2addr aec aepack aerw cachesim pp wetq wetz ws2addr ws2laplace ws2wet wscap wsgdb wstrim wsverify"
without elfutils zydis '/elfutils/|/(gelf|libelf|dwarf)[.]h' "addrconv addrdiff addrmrc addrplot addrstat ae2addr aec aepack aerw cachesim pp wetq wetz ws2addr ws2wet wscap"
tap_end
