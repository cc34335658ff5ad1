# What clang compiles, which has no register to reserve: programs at each level, against qemu; lent.s has each way to use r15.
# Of other versions that are here, each compiles a few programs.
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

# others VAR NAME: sets VAR to those of NAME-11 to NAME-40 that are here and are not NAME
others() {
	_n=11 _found='' _self=$(readlink -f "$(command -v "$2")")
	while [ $_n -le 40 ]; do
		_path=$(command -v "$2-$_n") && [ "$(readlink -f "$_path")" != "$_self" ] && _found="$_found $2-$_n"
		_n=$((_n + 1))
	done
	eval "$1=\$_found"
}
others versions clang
_turn=0
for AE_CC in $versions; do
	label="$AE_CC: " _turn=$((_turn + 1))
	rows=$(
		echo "tails -O2"
		few "switches strings dispatch interp" -O2
		few "calls lzw tls select" "-O3 -march=x86-64-v3 -g -fcf-protection"
		few "varargs jumps hash" "-O1 -fPIC"
	)
	check_rows
done
others versions clang++
command -v g++ > /dev/null || versions=''
for AE_CXX in $versions; do
	label="$AE_CXX: " _turn=$((_turn + 1))
	rows=$(few "throw members foreign" "-O0"; few "members throw" "-O2")
	check_rows
done
AE_CC=clang label=''

# clang's C++ jumps to the very end of a function where control does not come: it is traced for all that
cat > end.cc <<'X'
int main(int argc, char **) { try { throw argc; } catch (int n) { return n - 1; } }
X
if command -v clang++ > /dev/null && command -v g++ > /dev/null; then
	is "a jump to the end of a function" "$(clang++ -O0 -fno-integrated-as -S end.cc && aerw -u -v end.s 2>&1 > end.ae.s)" "aerw: end.s: 1 functions, 0 left untraced"
fi

# with -g, the lines of the source are known
printf 'int f(int x)\n{\n\tx++;\n\t__asm__("std" : "+r"(x));\n\treturn x;\n}\n' > line.c
is "a line" "$(aecc -O1 -g -c line.c 2>&1)" "aerw: line.c: line 4: 'std': instruction not supported: function f left untraced"

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
# a handler changes a register of what it interrupted, which the trace cannot know
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
