# libtracemill: what it gives is what the tools print, of each kind of file; places, faults, several handles
. "$SRC/testdata/tap.sh"
[ -e "$BUILD/lib/libtracemill.so" ] || { skip "libtracemill is left out"; exit 0; }
san=${SAN:+-fsanitize=$SAN -fno-sanitize-recover=all}
# shellcheck disable=SC2086     # they are words
build() { ${CC:-gcc} -g -O1 -Wall -Werror $san -I"$BUILD/include" "$1" -L"$BUILD/lib" -ltracemill -Wl,-rpath,"$BUILD/lib" -o "$2"; }
ok "a program is linked with it" build "$SRC/testdata/lib/dump.c" dump
ok "and the example" build "$SRC/examples/hotlines.c" hotlines
is "it has no other names" "$(nm -D --defined-only "$BUILD/lib/libtracemill.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | grep -v '^tracemill_')" ""
is "all that the header declares are there" "$(sed -n 's/^[a-z].*[ *]\(tracemill_[a-z_]*\)(.*;.*/\1/p' "$SRC/src/lib/tracemill.h" | sort)" \
	"$(nm -D --defined-only "$BUILD/lib/libtracemill.so" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort)"

cat >prog.c <<'X'
#include <stdio.h>
int table[64];
int main(void) {
	for (int i = 0; i < 2000; i++) table[i * 7 % 64] += i;
	printf("%d\n", table[3]);
}
X
${CC:-gcc} -g -O1 $static prog.c -o prog && wscap -o p.ws ./prog >out && ws2addr -o p.ref p.ws && ws2addr -f text -o text.p p.ws &&
	ws2addr -f lackey -o p.log p.ws && bifcm -k p.ref -r addr && aecc -O1 prog.c -o traced && ./traced >out && wetz -m full -o p.wet p.ws &&
	pass "traces" || fail "traces"
ok "references, $(grep -c . text.p)" test "$(grep -c . text.p)" -gt 60000

# references, of everything
for f in p.ws p.ref p.ref.bif; do
	./dump $f >got
	same "$f" got text.p
	./dump -w $f >got
	same "$f: words" got text.p
	for n in 1 7000 100000000; do
		./dump -n $n $f >got
		ws2addr -f text -n $n: p.ws >part
		same "$f: from $n" got part
	done
done
./dump - <p.ref >got
same "standard input" got text.p
gzip -k p.ref && ./dump p.ref.gz >got
same "compressed" got text.p
./dump p.log >got
addrconv -f text -o part p.log
same "a lackey log" got part
./dump -e ae.out traced >got
ae2addr -f text -o part traced ae.out
same "a program and its events" got part
./dump traced >got
same "which are ae.out if there is no name" got part
is "hottest lines" "$(./hotlines p.ws | head -n 3 | sort)" \
	"$(awk '$1 != "inst" {          # the line: a multiple of 64
			n = length($2)
			print substr($2, 1, n - 2) substr("048c", int((index("0123456789abcdef", substr($2, n - 1, 1)) - 1) / 4) + 1, 1) "0"
		}' text.p | sort | uniq -c | sort -k1,1nr -k2,2 |
		awk 'NR <= 3 { printf "%10d %s\n", $1, $2 }' | sort)"

# records
awk 'BEGIN { for (i = 0; i < 90000; i++) printf "%c%c%c%c", i % 251, i % 7, i % 3, i % 5 }' | LC_ALL=C tr '\376' '\377' >bytes
bifcm -k -r 2,1,1 bytes
od -An -v -tu1 -w4 bytes >raw
awk '{ print $1 + 256 * $2, $3, $4 }' raw >want
./dump bytes.bif >got
same "records of several fields" got want
./dump -n 80001 bytes.bif >got
tail -n +80002 want >part
same "from one in the middle" got part
is "and after the last" "$(./dump -n 99999999 bytes.bif)" ""

# executed instructions
./dump p.wet | cut -d' ' -f2 >got
wetq cf p.wet >want
same "control flow" got want
./dump -n 1234 p.wet | head -n 50 >got
wetq -f @1235 -n 50 cf p.wet | awk '{ print NR + 1234, $1 }' >want
cut -d' ' -f1,2 got >part
same "from position 1235" part want
n=0
for id in $(wetq list p.wet | awk '$2 > 20 && NR % 11 == 5 { print $1 }'); do
	./dump -s "$id" p.wet >got
	wetq values "$id" p.wet | sed 's/^ *//; s/:/ /' >want
	sed 's/ [rwm]:.*//' got | awk 'NF > 1 {         # wetq prints only those that have a value, as one number
		for (v = ""; NF > 1; NF--) v = v substr("0000000000000000", length($NF) + 1) $NF
		sub(/^0+/, "", v)
		print $1, v == "" ? 0 : v
	}' >part
	cmp -s part want || fail "values of $id" "$(diff part want | head -n 5)"
	wetq addrs "$id" p.wet | sed 's/^ *//' >want
	awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^[rwm]:/) { split($i, p, /[:,]/); print $1 ":" p[1], p[2], p[3] } }' got >part
	cmp -s part want || fail "references of $id" "$(diff part want | head -n 5)"
	n=$((n + 1))
done
ok "values and references of $n statements" test "$n" -gt 5
id=$(wetq list p.wet | sort -k2,2nr | awk 'NR == 1 { print $1 }')
./dump -s "$id" p.wet | tail -n +101 >want
./dump -s "$id" -n 100 p.wet >got
same "a statement from instance 100" got want
gives "no such statement" 1 "error: p.wet: no statement has that number" ./dump -s 99999999 p.wet

# nothing of an execution is left out without a word
cat >rep.c <<'X'
char a[100000], b[100000];
int main(void) { __asm__ volatile("rep movsb" :: "S"(a), "D"(b), "c"(100000L) : "memory"); return 0; }
X
${CC:-gcc} -O1 $static rep.c -o rep && wscap -o rep.ws ./rep && wetz -m full -o rep.wet rep.ws
pc=$(objdump -d rep | awk '/rep movsb/ { print substr($1, 1, length($1) - 1); exit }')
id=$(wetq list rep.wet | awk -v pc="${pc#"${pc%???}"}" '$2 == 1 && substr($3, length($3) - 2) == pc { print $1 }' | while read -r i; do
	[ "$(wetq addrs "$i" rep.wet | wc -c)" -lt 1000000 ] || echo "$i"; done)
gives "an execution with 200,000 references" 1 "error: rep.wet: an instruction has too many references" ./dump -s "$id" rep.wet

# what is wrong is said, after all that came before
gives "no file" 1 "error: nothing: No such file or directory" ./dump nothing
: >empty
gives "an empty file" 1 "error: empty: empty input" ./dump empty
gives "a folder" 1 "error: .: Is a directory" ./dump .
gives "standard input twice" 1 "error: standard input: it can be read once" sh -c './dump -n 5 - <p.ref'
echo "not a trace" >text
./dump text >got 2>err
is "no trace" "$? $(cut -c 1-28 err)" "1 error: text: no references: "
shorten() { head -c "$2" "$1" >cut.f; ./dump cut.f >got 2>err; cut_status=$?; }
./dump p.ref >whole
shorten p.ref 400012
is "a stream that is cut off" "$cut_status $(sed 's/:.*byte/: byte/' err | grep -c '^error: byte')" "1 1"
head -n "$(grep -c . got)" whole | cmp -s - got && [ "$(grep -c . got)" = 49999 ] && pass "gives what is there" || fail "gives what is there" "$(grep -c . got)"
shorten p.ref.bif 5000
is "a .bif that is cut off" "$cut_status $(grep -c '^error: cut.f: ' err)" "1 1"
shorten p.wet 5000
is "a .wet that is cut off" "$cut_status $(grep -c '^error: cut.f: ' err)" "1 1"
size=$(wc -c <p.ws)
for n in 1 7 8 9 100 $((size / 3)) $((size - 20)); do
	shorten p.ws "$n"
	[ $cut_status -le 1 ] || fail "a capture of $n bytes" "status $cut_status: $(cat err)"
done
is "a capture that is cut off" "$cut_status $(grep -c . err)" "1 1"
TRACEMILL_MEMORY=x ./dump p.ws >got 2>err
is "the environment of tools that replay" "$? $(grep -c '^error: p.ws: .*TRACEMILL_MEMORY is no number of bytes$' err)" "1 1"

# several handles; what the caller has is left alone
ok "several handles, a caller with handlers, atexit and a full stdio buffer" build "$SRC/testdata/lib/many.c" many
./many p.ws p.ref p.wet bytes.bif nothing >got 2>err
is "they do not meet" "$? $(cat got err)" "0 same references
end"
tap_end
