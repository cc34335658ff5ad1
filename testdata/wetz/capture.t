# Captures to .wet and back: the text of ws2wet, byte for byte
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }

# both NAME CAPTURE OPTIONS...: both ways
both() {
	name=$1 ws=$2
	shift 2
	wetz "$@" -o both.wet "$ws" && wetz -d -o both.out both.wet
	same "$name" "${ws%.ws}.txt" both.out
}
for p in "$SRC"/testdata/ws2wet/*.c "$SRC"/testdata/wscap/mem.c "$SRC"/testdata/wscap/sig.c "$SRC"/testdata/wscap/kids.c; do
	turn 2 || continue
	name=$(basename "$p" .c)
	${CC:-gcc} -w -g -O2 $static "$p" -o "$name" -lpthread 2>/dev/null || continue
	timeout 120 wscap -o "$name.ws" "./$name" >"$name.out" 2>&1 </dev/null
	[ -s "$name.ws" ] && ws2wet -o "$name.txt" "$name.ws" 2>/dev/null || { rm -f "$name.ws"; continue; }
	[ "$(wc -c <"$name.txt")" -lt 40000000 ] || { rm -f "$name.ws"; continue; }
	both "$name" "$name.ws" -1
	both "$name, replay" "$name.ws" -1 -m replay
done
ok "there were some" test -s prog.ws
sorts
ws2wet -o sort.txt sort.ws
both "sort" sort.ws
both "in short segments" sort.ws -1 -s 3000
# the less memory, the more often the same is decoded
memory=300k
[ "${MATRIX-}" = full ] && memory=20k
wetz -d -b $memory both.wet >few.out
same "with little memory" sort.txt few.out
wetz <sort.ws | wetz -d >pipe.out
same "by pipes" sort.txt pipe.out
wetz -o text.wet sort.txt && wetz -d -o text.out text.wet
same "its text there and back" sort.txt text.out

# the file does not depend on the number of threads
threads() {
	name=$1 from=$2
	shift 2
	wetz -T 1 "$@" -o one.wet "$from" 2>one.err
	for n in 2 5; do
		wetz -T $n "$@" -o more.wet "$from" 2>more.err
		same "$name, $n threads" one.wet more.wet
		same "$name, $n threads, what is said" one.err more.err
	done
}
threads "sort" sort.ws -vv -a -s 3000
threads "small blocks" sort.ws -q -s 20000
threads "loads" sort.ws -vv -m loads -s 3000
threads "paper" sort.ws -v -m paper -s 20000
threads "its text" sort.txt -v

# dependences OPTIONS...: the bytes of the dependences, as -v says
dependences() { wetz -v "$@" -o part.wet sort.ws 2>&1 | awk '$2 == "dependences" { print $3 }'; }
fast=$(dependences -3) some=$(dependences) small=$(dependences -9)
ok "-q: dependences are those of level 3, $fast bytes" test "$(dependences -q)" = "$fast"
ok "and those of level 9 with it" test "$(dependences -9 -q)" = "$fast"
ok "without it they are smaller: $some bytes" test "$some" -lt "$fast"
ok "at level 9, smaller still: $small bytes" test "$small" -lt "$some"
ok "-q -1 is -1" test "$(dependences -1 -q)" = "$(dependences -1)"

gives "-T" 2 "wetz: -T 65: not a number from 0 to 64; see wetz --help" wetz -T 65 sort.ws

# a replay says where its statements come from when the files are gone
cat >main.c <<'C'
int main(int argc, char **argv) { return argc > 5; }
C
${CC:-gcc} -w -g main.c -o gone && wscap -o gone.ws ./gone
ws2wet -o gone.txt gone.ws
wetz -m replay -o gone.wet gone.ws
rm gone
wetz -d -o gone.out gone.wet
same "the program is gone" gone.txt gone.out
gives "-m" 2 "wetz: -m half: not a kind; there are full, loads, replay and paper; see wetz --help" wetz -m half gone.ws
tap_end
