# --sites: every byte of an event file has its place
. "$SRC/testdata/tap.sh"
prog=$SRC/testdata/ae/prog

# adds WHAT PROGRAM FILE: the table adds up to the file and to -c, is sorted, and names no place and kind twice
adds() {
	ae2addr --sites "$2" "$3" >table || fail "$1: status"
	is "$1: all bytes of the file" "$(awk '{ n += $1 } END { print n }' table)" "$(wc -c <"$3" | tr -d ' ')"
	is "$1: kinds as by -c" "$(awk '{ n[$3] += $1 } END {
		printf "branches %d block-numbers %d values %d entry-values %d run-items %d string-counts %d", n["branch"], n["block-number"],
		    n["value"], n["entry-value"], n["run-item"], n["string-count"] }' table)" \
	    "$(ae2addr -c "$2" "$3" | sed '1,/^event-bytes/d' | tr '\n' ' ' | sed 's/ $//')"
	ok "$1: sorted" sort -c -s -k 1,1nr table
	is "$1: each place once" "$(cut -d ' ' -f 3- table | sort | uniq -d)" ""
}

cat >prog.c <<'END_C'
#include <stdlib.h>
int a[1000], b[1000];
__attribute__((noipa)) int look(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++) {
		if (a[i] & 1)
			s += 3;
		else
			s ^= b[n - 1 - i];
	}
	return s;
}
__attribute__((noipa)) int pick(const int *p, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += b[p[i]];
	return s;
}
int cmp(const void *x, const void *y) { return *(const int *)x - *(const int *)y; }
int main(int argc, char **argv)
{
	unsigned x = 1;
	for (int i = 0; i < 1000; i++)
		a[i] = (int)(x = x * 1103515245 + 12345) >> 16 & 511;
	int r = look(700) + pick(a, 600);
	qsort(a, 9, sizeof *a, cmp);
	return r == 3 || argc > 5 || !argv;
}
END_C
aecc -O1 -g -fno-if-conversion -fno-if-conversion2 prog.c -o prog && AE_OUT=o.e ./prog && cp o.e o2.e || fail run
adds "a program" prog o.e
is "a branch, once for each iteration" "$(sed -n 's/ [^ ]*prog\.c:7$/ 7/p' table)" "700 700 branch look 7"
is "a loaded index" "$(sed -n 's/ [^ ]*prog\.c:18$/ 18/p' table)" "2400 600 value pick 18"
calls=$(ae2addr -f text prog o.e | grep -c "^inst 0x$(nm prog | sed -n 's/^0*\([0-9a-f]*\) T cmp$/\1/p') ")
ok "callbacks: how often they were" [ "$calls" -gt 8 ]
is "callbacks: a number, and where the stack is" "$(awk '$3 == "run-item" && $4 == "main" { print $1, $2 }' table | sort -nr | head -n 1)" \
    "$((calls * 11 + 1)) $((calls * 2 + 1))"
aecc -O1 -fno-if-conversion -fno-if-conversion2 prog.c -o plain && AE_OUT=o.e ./plain || fail "run plain"
adds "without -g" plain o.e
ae2addr --sites prog o2.e | sed 's/ [^ ]*prog\.c:[0-9]*$//' | awk '
	{ n[$3 " " $4] += $1; m[$3 " " $4] += $2 } END { for (k in n) print n[k], m[k], k }' | sort >want
is "without -g: one line for a function" "$(grep -c ' value pick$' table)" 1
is "the same sums" "$(cut -d ' ' -f 1-4 table | grep -v frame | sort)" "$(grep -v frame want)"

for p in callback strings recurse; do
	aecc -O2 -g "$prog/$p.c" -o prog && AE_OUT=o.e ./prog >/dev/null
	adds $p prog o.e
done
aecc --paper -O2 "$prog/lzw.c" -o prog && AE_OUT=o.e ./prog >/dev/null
adds "the paper's events" prog o.e
zstd -q -c o.e >o.zst && cp table want && ae2addr --sites prog o.zst >got
same "compressed" want got

# A child: what was read of its parent's file counts, too
cat >child.c <<'END_C'
#include <unistd.h>
#include <sys/wait.h>
int a[10];
__attribute__((noipa)) void work(int n) { for (int i = 0; i < n; i++) a[a[i % 10] & 7]++; }
int main(void) { work(20); if (fork() == 0) { work(30); _exit(0); } wait(0); return 0; }
END_C
aecc -O1 -g child.c -o prog && AE_OUT=p.e ./prog
ae2addr --sites prog p.e.[0-9]* >table
is "a child" "$(awk '$3 == "value" { print $1, $2, $4 }' table | head -n 1)" "50 50 work"
ae2addr --sites prog p.e >table
is "its parent" "$(awk '$3 == "value" { print $1, $2, $4 }' table | head -n 1)" "20 20 work"

gives "a part" 2 "ae2addr: --sites is of a whole trace, not of -n or -s; see ae2addr --help" ae2addr --sites -n 1:2 prog p.e
gives "no events" 1 "ae2addr: nosuch: No such file or directory" ae2addr --sites -o x prog nosuch
is "no file" "$(ls x 2>&1 | grep -c cannot)" 1
tap_end
