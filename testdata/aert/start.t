# A program whose instrumented copy changes in each page when it starts has these pages made at once; one in which little changes does not
# shellcheck shell=sh source=/dev/null
. "$SRC/testdata/tap.sh"
command -v qemu-x86_64 >/dev/null || { skip "no qemu-x86_64"; tap_end; exit 0; }

# program NAME WHAT: 600 functions, each of which returns WHAT
program() {
	awk -v what="$2" 'BEGIN {
		print "int far(int);"
		for (i = 0; i < 600; i++)
			printf "int near%d(int x) { return %s + %d; }\n", i, what, i
		print "int main(int n, char **v) { int s = n;"
		for (i = 0; i < 600; i++)
			printf "s = near%d(s & 7);\n", i
		print "return s & 1; }"
	}' >"$1.c"
	AE_OUT=off aecc -O2 "$1.c" far.c -o "$1" || exit 1
}
echo 'int far(int x) { return x & 1; }' >far.c
program calls 'far(x) + far(x + 1)'
program alone 'x * x'

# the copies begin at 20000 (hexadecimal); advice 23 is MADV_POPULATE_WRITE, by number or by name
for p in calls alone; do
	AE_OUT=off ./$p
	want=$?
	AE_OUT=$p.evt qemu-x86_64 -strace -D $p.log ./$p
	is "$p: status" $? $want
done
is "calls in each page" "$(grep -c 'madvise(0x0*20000,[0-9]*,\(23\|MADV_POPULATE_WRITE\))' calls.log)" 1
is "no calls" "$(grep -c 'madvise(0x0*20000,' alone.log)" 0
is "calls of far in the trace" "$(ae2addr -f text calls calls.evt | grep -c "inst 0x$(nm calls | sed -n 's/^0*\(.*\) T far$/\1/p') ")" 1200
tap_end
