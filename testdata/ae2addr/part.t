# Parts of a trace: ranges of instructions, and one call of a function, as valgrind's lackey saw it
. "$SRC/testdata/tap.sh"
ae=$SRC/testdata/ae
. "$ae/oracle.sh"
target x86-64
prepare || exit 1
cat >prog.c <<'END_C'
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
int a[100];
jmp_buf env;
__attribute__((noinline)) int leaf(int i) { return a[i % 100] += i; }
__attribute__((noinline)) int work(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += leaf(i);
	return n > 5 ? s + work(n / 2) : s;
}
int cmp(const void *x, const void *y) { return work(*(const int *)x & 3) - *(const int *)y; }
__attribute__((noinline)) int tail(int n) { a[3] = n; return work(n + 1); }
__attribute__((noinline)) int far(int n, int (*f)(int)) { a[4] = n; return f(n + 1); }
__attribute__((noinline)) int out(int n) { a[5] = n; return putchar(n); }
__attribute__((noinline)) int away(int n) { a[6] = leaf(n); longjmp(env, 1); }
__attribute__((noinline)) int jumps(int n) { if (setjmp(env) == 0) a[7] = away(n); return a[7]; }
__attribute__((noinline)) int never(int n) { return leaf(n); }
int main(int argc, char **argv)
{
	int (*volatile f)(int) = work, v[5] = { 3, 1, 2, 5, 4 }, r = work(10);

	r += tail(3);
	r += far(2, f);
	r += out('x');
	r += jumps(4);
	qsort(v, 5, sizeof *v, cmp);
	printf("%d %d %p\n", r, v[0], (void *)argv);
	return argc > 1 ? never(2) : 0;
}
END_C
aecc -O2 prog.c -o prog || exit 1
run a.o "" ./prog >/dev/null
ae2addr -f text prog a.o >all

# Ranges
for r in :1 1:100 100:101 101:; do ae2addr -f text -n $r prog a.o; done >b
same "ranges, one after the other" b all
is "-n of nothing" "$(ae2addr -f text -n 1000000: prog a.o | wc -l)" 0
is "the first instruction of a range" "$(ae2addr -f text -n 100:200 prog a.o | head -n 1)" "$(grep '^inst' all | sed -n 101p)"
is "-c of a range" "$(ae2addr -c -n 100:200 prog a.o | tr '\n' ' ')" "$(ae2addr -f text -n 100:200 prog a.o | awk '
	{ n[$1]++ }
	END { printf "instructions %d loads %d stores %d modifies %d loop-events %d ", n["inst"], n["load"], n["store"], n["modify"], n["enter"] + n["back"] + n["exit"] }')"

# One call: what lackey saw from the first fetch of the function to the instruction that loads the return address from where the
# call had stored it
at() { nm prog | awk -v f="$1" '$3 == f { print substr($1, length($1) - 7) }'; }
if [ "$valgrind" ]; then
	lackey log "$lpad" ./prog >/dev/null
	for f in work leaf tail far out cmp jumps; do
		ae2addr -s $f prog a.o >ref
		awk -v at="$(at $f)" '
			/^I / && over { exit }
			/^I / && !on && index($2, at ",") == 1 { on = 1; slot = last }
			/^ S / { last = $2 }
			on { print }
			on && /^ L / && $2 == slot { over = 1 }' log >cut
		ok "-s $f" addrdiff -s -e prog ref cut
		[ "$(wc -l <cut)" -gt 3 ] || fail "-s $f: lackey saw the call" "$(cat cut)"
	done
else
	skip "no valgrind"
fi
is "-s away: longjmp ends it" "$(ae2addr -f text -s away prog a.o | grep '^inst' | tail -n 1)" \
    "inst 0x$(objdump -d --no-show-raw-insn prog | sed -n '/<away>:/,/^$/s/^ *\([0-9a-f]*\):.*call.*longjmp.*/\1/p') 5"
gives "-s never" 1 "ae2addr: a.o: never is never called" ae2addr -s never prog a.o
gives "-s of no function" 1 "ae2addr: prog: no traced function nothing" ae2addr -s nothing prog a.o
gives "-s and -n" 2 "ae2addr: only one of -n and -s can be given; see ae2addr --help" ae2addr -s work -n 1:2 prog a.o
ae2addr -o x -s never prog a.o 2>/dev/null
is "never called: no file" "$(ls x 2>&1 | grep -c cannot)" 1
tap_end
