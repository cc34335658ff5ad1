# Visits of captures: references, values, uses and last writers of each instruction against a walk by single steps
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
case $SAN in *thread* | *memory*) skip "the sanitizer has the place of the writers"; exit 0 ;; esac
why=$(able) || { skip "$why"; exit 0; }

# few instructions of the loader, and few rounds of the program that has all kinds
part=8 short='-static -DROUNDS=20'
[ "${MATRIX-}" = full ] && part=1 short=
# visit WHAT INSTRUCTIONS COMMAND ...: captured, visited and followed
visit() {
	what=$1 most=$(($2 / part))
	shift 2
	"$BUILD/bin/wscap" -o v.ws "$@" >out 2>err </dev/null || { fail "$what is captured" "$(cat err)"; return; }
	if "$BUILD/test/visitcheck" v.ws "$most" >got 2>&1; then pass "$(sed -n 's/^ok - v.ws/'"$what"'/p' got)"; else fail "$what" "$(cat got)"; fi
}

if [ -z "$SAN" ] && setarch "$(uname -m)" -R true 2>/dev/null; then
	n=300
	[ "${MATRIX-}" = full ] && n=6000
	ok "random instructions" "$BUILD/test/cpufuzz" -v -n $n -s 9
	ok "random instructions: vptest" "$BUILD/test/cpufuzz" -v -n $((n / 10)) -m vptest
else
	skip "no ptrace or personality here, or a sanitizer"
fi
seq 1 3000 >numbers
visit true 200000 true
[ $part != 1 ] || visit echo 300000 echo hello world
[ -n "$SAN" ] || [ $part != 1 ] || visit sort 300000 sort -r numbers
[ -n "$SAN" ] || visit gzip 300000 gzip -9c numbers
${CC:-gcc} -O2 "$SRC/testdata/ae/prog/gauss.c" -o gauss && visit gauss 400000 ./gauss 20
for f in "-O1" "-O3" "-O3 -march=native"; do
	case $SAN:$f in :* | *native) ;; *) continue ;; esac
	# shellcheck disable=SC2086
	${CC:-gcc} $f $short "$SRC/testdata/engine/visit/prog.c" -o prog -lm && visit "parts of registers, strings and vectors, $f" 800000 ./prog
done
# shellcheck disable=SC2086
${CC:-gcc} $short "$SRC/testdata/wscap/sig.c" -o sig && for s in raise queue altstack restart; do visit "signals: $s" 200000 ./sig $s; done

# modes DESCRIPTION CAPTURE: every mode, segment and place agrees with a visit from the start
modes() { if "$BUILD/test/visitmodes" "$2" >got 2>&1; then pass "$1"; else fail "$1" "$(cat got)"; fi; }
# keys CAPTURE EVERY: k.ws with keyframes
keys() { "$BUILD/test/trimtest" "$1" k.ws "$2" 500 >got 2>&1 && ! grep -q '^0 ' got && pass "keyframes: $(cat got)"; }
wscap -o p.ws ./prog >out 2>err </dev/null && wscap -o s.ws ./sig queue >out 2>err </dev/null && pass "captured"
[ -n "$SAN" ] || { keys p.ws 3001 && modes "many segments, amid string instructions also" k.ws; }
keys p.ws 20000 && modes "modes, segments, instances" k.ws
ok "a capture that does not say instances" "$BUILD/test/wschange" k.ws n.ws none
modes "modes, segments, instances: found by running" n.ws
keys s.ws 5000 && modes "signals: modes, segments, instances" k.ws
ok "one that says them wrongly" "$BUILD/test/wschange" k.ws w.ws one
if "$BUILD/test/visitmodes" w.ws >got 2>&1; then fail "is found out"; else grep -q 'instances, where the keyframe has' got && pass "is found out"; fi

# a trimmed capture has the same instructions
wscap -o t.ws true
if "$BUILD/test/visitcheck" t.ws 50000 >got 2>&1; then pass "trimmed"; else fail "trimmed" "$(cat got)"; fi
[ $part != 1 ] || { "$BUILD/test/visitbench" v.ws >got && pass "speeds" && sed 's/^/# /' got; }
tap_end
