# What clang compiles, which has no register to reserve: programs at each level, against qemu; lent.s has each way to use r15.
. "$SRC/testdata/tap.sh"
. "$HERE/matrix.sh"
command -v clang > /dev/null || { skip "clang is not here"; exit 0; }
AE_CC=clang
export AE_CC
one_oracle
no_plain
rows=$(
	echo "lent -O2"
	few "sort calls interp" -O0
	few "interp hash tree" -O1
	few "callback jumps calls" -O2
	few "strings select odd" -O3
	few "calls tree interp" -Os
	few "switches dispatch interp" -O2 -fPIE
	few "switches tls copy" -O2 -fPIC
	few "cold dispatch callback" -O2 -pie
	few "tree sort calls" -O2 -g
)
if [ "$SAN" ]; then rows="lent -O2"; fi
check_rows
[ "$SAN" ] && { tap_end; exit; }
rows="handlers -O2
again -O0
again -O2"
check_rows -n
if command -v clang++ > /dev/null && command -v g++ > /dev/null; then
	AE_CXX=clang++
	export AE_CXX
	rows=$(echo "throw -O2"; few "foreign members" "-O2 -fPIC")
	check_rows
fi

# a program of both kinds of objects runs, untraced
cat > one.c <<'X'
long two(long);
int main(void) { return two(3) != 10; }
X
echo 'long two(long n) { return n * 3 + 1; }' > two.c
for c in gcc clang; do AE_CC=$c aecc -O2 -c one.c -o one.$c.o && AE_CC=$c aecc -O2 -c two.c -o two.$c.o || exit 1; done
for pair in one.gcc.o~two.clang.o one.clang.o~two.gcc.o; do
	aecc ${pair%~*} ${pair#*~} -o p || exit 1
	AE_OUT=evt ./p 2> err
	is "$pair: says" "$? $(cat err)" "0 ae: ./p: has objects of compilers that reserve a register for tracing, and of others: untraced"
done
aecc one.clang.o two.clang.o -o p
AE_OUT=evt ./p 2> err
is "objects of clang, linked by gcc: says" "$? $(cat err)" "0 "
ok "objects of clang, linked by gcc: traced" sh -c 'ae2addr -f text p evt | grep -q inst'
# a handler, which is not recorded here, changes a register of what it interrupted, which the trace cannot know
cat > change.c <<'X'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
static void change(int sig, siginfo_t *si, void *uc) { (void)si; ((ucontext_t *)uc)->uc_mcontext.gregs[REG_RCX] += sig - 1; }
int main(void)
{
	struct sigaction act = { .sa_sigaction = change, .sa_flags = SA_SIGINFO };
	static long a[16];
	long at = 3;
	sigaction(SIGTRAP, &act, NULL);
	__asm__ volatile("int3" : "+c"(at));
	a[at]++;
	return a[7] != 1;
}
X
aecc -O2 change.c -o p || exit 1
AE_OUT=evt ./p 2> err
is "a changed register: says" "$? $(cat err)" "0 ae: recording stopped: a signal handler changed registers of traced code"
gives "for MIPS" 1 "aerw: mips: the compiler has to reserve a register" aerw -u -m mips /dev/null
tap_end
