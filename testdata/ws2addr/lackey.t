# Inside a program's own text every reference is what valgrind's lackey sees
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
ae=$SRC/testdata/ae
. "$ae/oracle.sh"
target x86-64
why=$(can) || { skip "$why"; exit 0; }
# shellcheck disable=SC2119
prepare || { skip "no oracle"; exit 0; }

# one PROGRAM [argument ...]
one() {
	name=$1
	shift
	aecc -O2 "$ae/prog/$name.c" -o prog -lm || { fail "$name: compiles"; return; }
	# shellcheck disable=SC2086
	env -i $noaslr env AE_OUT=off PAD="" "$bin/wscap" -o prog.ws ./prog "$@" >cap.out 2>cap.err </dev/null
	lackey prog.log "${lpad?}" ./prog "$@" >log.out 2>log.err </dev/null
	same "$name: output" cap.out log.out
	ws2addr -o prog.ref prog.ws || { fail "$name: replays"; return; }
	addrdiff -lsv -e prog prog.ref prog.log >diff.out 2>&1
	is "$name: the same references" "$?" 0
	sed 's/^/# /' diff.out
	n=$(sed -n 's/.* are the same: \([0-9]*\) references.*/\1/p' diff.out)
	if [ "${n:-0}" -gt 10000 ]; then pass "$name: many of them"; else fail "$name: many of them" "$n"; fi
	rm -f prog.log prog.ref
}
one gauss 24
one strings 40
tap_end
