# Static code, post-dominators, and that trimmed captures have what they need
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"

ok "random code: descent, successors, post-dominators" "$BUILD/test/wettest"
why=$(able) || { skip "$why"; tap_end; exit; }

cat >switch.c <<'C'
#include <stdlib.h>
int f(int a, int b) { switch (a) { case 0: return b; case 1: b += 3; break; case 2: b *= 5; break; case 3: b ^= 77; break; case 4: return 9 * b; case 5: b -= a; break; case 9: return 1; } return b + 1; }
int main(int argc, char **argv) { int s = 0; for (int i = 0; i < 20; i++) s += f(argc > 1 ? i % atoi(argv[1]) : i, s); return s & 1; }
C
# gcc's -O1 and clang's -O2 compute the table's address before the loop
for flags in "-O0" "-O1" "-O2" "-O0 -no-pie -fno-pie" "-O2 -no-pie -fno-pie" "-O3 -fno-inline"; do
	# shellcheck disable=SC2086
	${CC:-gcc} $flags switch.c -o switch
	wscap -o s.ws ./switch 3
	"$BUILD/test/wetbench" -s s.ws >got
	is "the switch's table is found, $flags" "$(cut -d ' ' -f 2 got)" 8
done

# the same parents in a trimmed capture
seq 1 3000 >numbers
wscap -o s.ws sort -r numbers >out
"$BUILD/test/trimtest" s.ws t.ws 50000000 0 >out
is "a trimmed capture gives the same control dependences" "$("$BUILD/test/wetbench" -p t.ws)" "$("$BUILD/test/wetbench" -p s.ws)"
is "the state can be saved and restored" "$("$BUILD/test/wetbench" -k t.ws)" "$("$BUILD/test/wetbench" -p t.ws)"
for f in s.ws t.ws; do "$BUILD/test/wetbench" $f; done | sed 's/^/# /'
tap_end
