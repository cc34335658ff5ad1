# pp: the analysis against a slow one; loops of captures and of aecc's programs are the same; what it prints; bad input
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
"$BUILD/test/nesttest" || exit 1
tap_n=100       # the numbers of nesttest come first

cp "$SRC/examples/relax.c" .
aecc -O1 -g relax.c -o relax && AE_OUT=relax.out ./relax >/dev/null || exit 1
pp relax relax.out >out 2>err
is "a program and its events" "$? $(cat err)" "0 "
# every point waits for the one before it, in all but the first iteration; points do not wait for differences
is "the loop that cannot be parallel" "$(awk '$1 == "relax.c:14" { print $2, $4, $5, $6, $9 }' out)" "main 100 19800 99.5% 99.5%"
is "why: 197 times in each of 100 runs" "$(grep -c '^ *flow *relax.c:14 -> relax.c:14: 19700 times, 1 iteration apart; delays 19700$' out)" 1
is "the loop that can" "$(awk '$1 == "relax.c:16" { print $2, $4, $5, $6, $7, $9, $10 }' out)" "main 100 19900 0.0% 199.00 0.0% 199.00"
ae2addr relax relax.out >r.ref
pp <r.ref >out2
is "a stream: the same without names" "$(sed 's/relax.c:[0-9]*/N/g; s/main/?/; s/  *//g' out)" "$(sed 's/0x[0-9a-f]*/N/g; s/  *//g' out2)"
pp -o out3 r.ref && same "-o" out2 out3
pp --loops 1 --dependences 1 relax relax.out >out4
is "--loops, --dependences" "$(grep -c '^relax' out4) $(grep -c '^ .*apart' out4)" "1 1"
pp --json relax relax.out >json
is "--json: the same" "$(sed -n 's/.*"times": //p' json | tr -d , | sort -n | tail -n 1) $(grep -c '"header"' json)" "19701 3"

# numbers LOG: of each loop of the functions of v.c: function, how often entered, iterations
numbers() { awk '$1 ~ /^v\.c:/ { print $2, $4, $5 }' "$1" | sort; }
cat >v.c <<'X'
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static jmp_buf env;
static int a[64], n;
static int compare(const void *x, const void *y)
{
	const char *p = x, *q = y;
	int i = 3;
	while (i > 0 && p[i] == q[i])
		i--;
	return p[i] - q[i];
}
static __attribute__((noinline)) void deep(int d)
{
	for (int i = 0; i < 2 + n % 2; i++) {
		a[i + d]++;
		if (d < 4)
			deep(d + 1);
	}
}
static __attribute__((noinline)) void thrower(int k)
{
	for (int i = 0; i < 60; i++) {
		a[i & 63] += k;
		for (int j = 0; j < 5; j++)
			if (n += a[j], i > 2 && i * j >= k) {
				if (k == 2)
					return;
				longjmp(env, 1);
			}
	}
}
static __attribute__((noinline)) int states(const char *s)
{
	int r = 0;
	while (*s)
		switch (*s++) {
		case 'a': r++; break;
		case 'b': continue;
		case 'c': do r += 2; while (r % 3); break;
		case 'd': if (r > 40) goto out; break;
		case 'e': while (r > 0) if ((r -= 4) == 2) break; break;
		default: return r;
		}
out:
	return r;
}
int main(void)
{
	for (volatile int k = 0; k < 5; k++)
		if (setjmp(env) == 0)
			thrower(k);
	deep(0);
	qsort(a, 64, sizeof *a, compare);
	for (int i = 0; i < 9; i++)
		n += states(i & 1 ? "aabbcacdcce" : "cbacedddccaz");
	memset(a, 0, sizeof a);
	printf("%d\n", n);
	return 0;
}
X
aecc -O1 -g v.c -o v && timeout 60 ./v >log1 || exit 1
pp --loops 1000 v >out
is "aecc: loops of every function" "$(numbers out | cut -d' ' -f1 | uniq | tr '\n' ' ')" "compare deep main states thrower "
why=$(able) && {
	gcc -O1 -g v.c -o vg && wscap -o v.ws ./vg >log2
	same "the run is the same" log1 log2
	pp --loops 1000 v.ws >outws 2>err
	is "a capture" "$? $(cat err)" "0 "
	numbers out >want
	numbers outws >got
	same "a capture has the same loops, as often" got want
	is "longjmp goes back into the loop around setjmp" "$(awk '$2 == "main" && $4 > 1' outws)" ""
	pp --loops 1000 - <v.ws >got && same "a capture from standard input" got outws
	head -c $(($(wc -c <v.ws) * 3 / 4)) v.ws >cut.ws
	pp cut.ws >got 2>err
	is "a capture that is cut off" "$? $(grep -c '^pp: cut.ws: byte' err) $(wc -l <err | tr -d ' ') $(head -n 1 got | grep -c ' instructions, ')" "1 1 1 1"
} || skip "captures: $why"

head -c 40004 r.ref >cut.ref
pp cut.ref >got 2>err
is "a stream that is cut off" "$? $(cat err)" "1 pp: cut.ref: byte 40004 (record 4999): truncated reference"
is "what came before" "$(head -n 1 got | grep -c ' instructions, ')" 1
ae2addr -l relax relax.out | pp >got 2>err
is "no loop events" "$? $(cat err)" "0 pp: standard input: no loops: these references have no loop events"
: >empty
gives "nothing" 1 "pp: empty: empty input" pp empty
gives "no references" 1 "pp: v.c: no references: neither a reference stream, a lackey log, a capture, a program compiled by aecc, nor another format that addrconv reads" pp v.c
gives "a full disk" 1 "pp: standard output: No space left on device" sh -c 'pp r.ref >/dev/full'
gives "a number that is none" 2 "pp: --loops x: not a number from 0 to 18446744073709551615; k, M and G after it are 1024, 1024k and 1024M; see pp --help" pp --loops x r.ref
tap_end
