# What a link makes: traced programs of objects, archives and mixtures; the rewriter's failures; temporary files.
# shellcheck shell=sh source=/dev/null
. "$SRC/testdata/tap.sh"

cat >main.c <<'E'
#include <stdio.h>
int twice(int), thrice(int);
int main(void) { printf("%d\n", twice(2) + thrice(3)); return 0; }
E
echo 'int twice(int x) { return x * 2; }' >twice.c
echo 'int thrice(int x) { return x * 3; }' >thrice.c

# traced WHAT PROG FUNCTIONS: PROG works, and so many functions of it are traced
traced() {
	rm -f ae.out
	is "$1: output" "$("$2")" 13
	is "$1: traced functions" "$(readelf -SW "$2" | awk '{ for (i = 1; i < NF; i++) if ($i == "aefn") n = $(i + 4) } END { print n }')" \
		"$(printf '%06x' $(($3 * 24)))"
	if [ -n "${4-}" ]; then
		ok "$1: no recording" [ ! -e ae.out ]
	else
		ok "$1: regenerates" sh -c 'ae2addr "$1" <ae.out >/dev/null' - "$2"
	fi
}

aecc -O2 main.c twice.c thrice.c -o p1
traced 'three sources' ./p1 3
aecc -O2 -c twice.c
gcc -O2 -c thrice.c
aecc main.c twice.o thrice.o -o p2
traced 'an object of gcc' ./p2 2
aecc -c thrice.c
rm -f lib.a
ar rc lib.a twice.o thrice.o
aecc -c main.c
aecc main.o lib.a -o p3
traced 'an archive' ./p3 3
aecc -r twice.o thrice.o -o both.o
aecc main.o both.o -o p4
traced 'a partial link' ./p4 3
aecc -r -Wl,--gc-sections,-u,thrice twice.o thrice.o -o both.o
aecc main.o both.o -o p4
traced 'a partial link with --gc-sections' ./p4 3
aecc -static main.o lib.a -o p5
traced 'static' ./p5 3
aecc -fPIC -c twice.c -o pic.o
aecc main.o pic.o thrice.o -o p6
traced 'PIC object' ./p6 3
gcc -no-pie main.o lib.a -o p7
traced 'linked by gcc' ./p7 3 untraced
aecc -pie -fPIE main.c twice.c thrice.c -o p8 2>err
is 'pie: says' "$(cat err)" ''
traced 'pie' ./p8 3
# a table of functions whose addresses are added by the loader without entries for each
if aecc -pie -Wl,-z,pack-relative-relocs main.o lib.a -o p8r 2>/dev/null; then
	traced 'pie: relative relocations in short' ./p8r 3
fi
aecc -O2 -fPIC -shared twice.c -o libtwice.so 2>err
is '-shared: says' "$(cat err)" ''
aecc main.c thrice.c -L. -ltwice -Wl,-rpath,"$PWD" -o p8s
traced 'a shared library' ./p8s 2
is 'a shared library: it is traced' "$(ae2addr -c p8s ae.out | grep -c '^library')" 1
# as libtool links a library of C++
rm -f libtwice.so
aecc -O2 -fPIC -shared -nostdlib twice.c -lc -o libtwice.so 2>err
is '-shared -nostdlib -lc: says' "$(cat err)" ''
traced '-shared -nostdlib -lc' ./p8s 2
is '-shared -nostdlib -lc: it is traced' "$(ae2addr -c p8s ae.out | grep -c '^library')" 1
aecc -O2 -fPIC -shared -nostdlib twice.c -o libtwice.so 2>err
is '-shared -nostdlib: says' "$(cat err)" 'aecc: libtwice.so: -nostdlib: linked without the runtime: untraced'
traced '-shared -nostdlib' ./p8s 2
is '-shared -nostdlib: it is not traced' "$(ae2addr -c p8s ae.out | grep -c '^library')" 0
cat >older <<'E'
#!/bin/sh
# aerw of another version
"${REAL_AERW:?}" "$@" | sed '/^\.Lae_n[0-9]*:/{ n; s/, [0-9]*$/, 0/; }'
E
chmod +x older
REAL_AERW=$BUILD/bin/aerw AERW=./older aecc -O2 -c twice.c -o older.o
aecc main.o older.o thrice.o -o p14
traced 'an object of another version' ./p14 3 untraced 2>err
is 'an object of another version: says' "$(cat err)" \
	'ae: ./p14: has objects of another version of aecc, which must be compiled again: untraced'
aecc -O2 -ffunction-sections -Wl,--gc-sections main.c twice.c thrice.c -o p9
traced '--gc-sections' ./p9 3
echo '--gc-sections' >ld.args
for how in '-Xlinker --gc-sections' '-Wl,-gc-sections' '-Wl,@ld.args'; do
	# shellcheck disable=SC2086
	aecc -O2 -ffunction-sections $how main.c twice.c thrice.c -o p9w
	traced "$how" ./p9w 3
done
# unused functions refer to what is nowhere: ld throws them away, and so forgives that; a used one is no such thing
echo 'int nowhere(int); extern int nodata[]; int gone(int n) { return nowhere(n) + nodata[n]; }' >gone.c
for how in '-no-pie -Wl,--gc-sections' '-pie -Wl,--gc-sections' '-no-pie -Wl,@ld.args'; do
	# shellcheck disable=SC2086
	aecc -O2 -fPIE -ffunction-sections $how main.c twice.c thrice.c gone.c -o p9u 2>err
	is "$how: unused functions refer to what is nowhere" "$? $(cat err)" "0 "
	traced "... traced" ./p9u 4
done
echo 'int nowhere(int); int twice(int n) { return nowhere(n); }' >used.c
aecc -O2 -ffunction-sections -Wl,--gc-sections main.c used.c thrice.c gone.c -o p9v 2>err
is "--gc-sections: a used one does" "$?" 1
ok "... which is said" grep -q "undefined reference to .nowhere" err
ok "... and nothing is linked" [ ! -e p9v ]
aecc -s main.c twice.c thrice.c -o p10
traced '-s' ./p10 3
aecc -Wl,--build-id=none main.c twice.c thrice.c -o p11
traced '--build-id=none' ./p11 3
aecc -Wl,--build-id=md5 main.c twice.c thrice.c -o p12
is 'a build id of the user' "$(readelf -n p12 | sed -n 's/.*Build ID: //p' | tr -d '\n' | wc -c)" 32
traced 'a build id of the user' ./p12 3
aecc -g -O1 main.c twice.c thrice.c -o p13
is '-g: line of main' "$(addr2line -e p13 "0x$(nm p13 | sed -n 's/ T main$//p')" | sed 's|.*/||')" main.c:3

# the ELF header is no page at 0, where no user may map
for o in -Wl,-z,max-page-size=2097152 '-z max-page-size=0x20000' '-Xlinker -zmax-page-size=0x400000'; do
	# shellcheck disable=SC2086
	aecc $o main.c twice.c thrice.c -o p15
	traced "$o" ./p15 3
	is "$o: where it begins" "$(readelf -lW p15 | awk '$1 == "LOAD" { print $3 == "0x0000000000000000"; exit }')" 0
done

# of functions that are defined twice, ld takes one for all files
printf '#include <stdio.h>\nint f(int);\nint g(void);\nint main(void) { printf("%%d %%d\\n", f(3), g()); return 0; }\n%s\n' \
	'int f(int x) { return x + 1; }' >multi.c
echo '__attribute__((noipa)) int f(int x) { return x * 100; } int g(void) { return f(7) + 1; }' >multi2.c
for o in -Wl,-z,muldefs '-z muldefs' -Wl,--as-needed,--allow-multiple-definition '-Xlinker -z -Xlinker muldefs'; do
	# shellcheck disable=SC2086
	aecc -fno-inline $o multi.c multi2.c -o p16 2>err
	is "$o: output" "$(AE_OUT=multi.ae ./p16)" '4 9'
	is "$o: says" "$(cat err)" \
		'aecc: p16: -z muldefs: functions are defined more than once: linked without the runtime: untraced'
	aecc $o main.c twice.c thrice.c -o p17
	traced "$o, not needed" ./p17 3
done
echo 'int z = 4;' >data.c
echo 'int z = 5;' >data2.c
aecc -Wl,-z,muldefs main.c twice.c thrice.c data.c data2.c -o p17
traced 'data are defined twice' ./p17 3

# what one file says of the program holds whichever file comes first
cat >starts.c <<'E'
#include <stdio.h>
#include <tracemill.h>
int twice(int), thrice(int);
int main(void) { int s = twice(2); ae_start(); s += thrice(3); ae_stop(); printf("%d\n", s); return 0; }
E
cat >jumps.c <<'E'
#include <stdio.h>
#include <ucontext.h>
int twice(int), thrice(int);
int main(void) { ucontext_t u; if (twice(0)) setcontext(&u); printf("%d\n", twice(2) + thrice(3)); return 0; }
E
for files in 'starts.c twice.c thrice.c' 'twice.c starts.c thrice.c' 'twice.c thrice.c starts.c'; do
	# shellcheck disable=SC2086
	aecc $files -o p18
	traced "$files" ./p18 3
	is "$files: the region" "$(addrstat --functions p18 ae.out | sed -n 's/.* \(main\|twice\|thrice\)$/\1/p')" thrice
done
for files in 'jumps.c twice.c thrice.c' 'twice.c thrice.c jumps.c'; do
	# shellcheck disable=SC2086
	aecc $files -o p18
	traced "$files" ./p18 3 untraced 2>err
	is "$files: says" "$(cat err)" 'ae: ./p18: uses makecontext or swapcontext: untraced'
done

# weak references to functions that the runtime replaces: there, if they are there without it
cat >weak.c <<'E'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#define WEAK __attribute__((weak))
extern int pthread_mutex_lock(pthread_mutex_t *) WEAK, pthread_barrier_wait(pthread_barrier_t *) WEAK;
extern ssize_t read(int, void *, size_t) WEAK;
extern void GOMP_barrier(void) WEAK;
extern int sighold(int) WEAK, nowhere(void) WEAK;
static int (*own)(int);
void shown(void);
void shown(void)
{
	own = sighold;
	printf("%d %d %d %d %d %d\n", pthread_mutex_lock != NULL, pthread_barrier_wait != NULL, read != NULL, GOMP_barrier != NULL,
	    own != NULL, nowhere != NULL);
	if (own)
		own(SIGUSR1);
}
E
echo 'void shown(void); int main(void) { shown(); return 0; }' >strong.c
for o in -no-pie '-pie -O2 -fPIE' -static -static-pie '-O1 -s'; do
	# shellcheck disable=SC2086
	gcc $o weak.c strong.c -o p19g
	# shellcheck disable=SC2086
	aecc $o weak.c strong.c -o p19 2>err
	is "weak references, $o: says" "$(cat err)" ''
	is "weak references, $o" "$(AE_OUT=weak.ae ./p19)" "$(./p19g)"
done
gcc -shared -fPIC weak.c -o libweak.so && gcc strong.c -L. -lweak -Wl,-rpath,"$PWD" -o p19
want=$(./p19)
aecc -shared -fPIC weak.c -o libweak.so 2>err && aecc strong.c -L. -lweak -Wl,-rpath,"$PWD" -o p19 2>>err
is 'weak references, a library: says' "$(cat err)" ''
is 'weak references, a library' "$(AE_OUT=weak.ae ./p19)" "$want"
is 'weak references: one that nothing has' "$want" '1 1 1 0 1 0'

# the same addresses as without tracing: twin and original print them
cat >addr.c <<'E'
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
static int data;
int main(int argc, char **argv)
{
	int local;

	(void)argv;
	printf("%p %p %p %p %p\n", (void *)main, (void *)&data, (void *)&local, malloc(100),
	    mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	return argc - 1;
}
E
for flag in -no-pie -static; do
	aecc -O2 $flag addr.c -o addr
	is "addresses $flag" "$(env -i AE_OUT=abc setarch -R ./addr)" "$(env -i AE_OUT=off setarch -R ./addr)"
done

# more code than fits below the usual image base
cat >huge.c <<'E'
__asm__(".section aetext,\"ax\",@progbits\n.skip 6000000, 0x90\n.text");
E
gcc -c huge.c
aecc main.c twice.c thrice.c huge.o -o big
is 'moved image: status' $? 0
traced 'moved image' ./big 3

# the rewriter fails, or writes nonsense
cat >fails <<'E'
#!/bin/sh
cat >/dev/null
exit 1
E
cat >nonsense <<'E'
#!/bin/sh
cat
echo '	nonsense here'
E
chmod +x fails nonsense
AERW=$PWD/fails aecc main.c twice.c thrice.c -o p20 2>err
is 'aerw fails: status' $? 0
is 'aerw fails: says' "$(cat err)" 'aecc: main.c: aerw failed: compiled untraced
aecc: twice.c: aerw failed: compiled untraced
aecc: thrice.c: aerw failed: compiled untraced'
is 'aerw fails: output' "$(./p20)" 13
AERW=$PWD/nonsense aecc -c twice.c -o n.o 2>err
is 'aerw writes nonsense: status' $? 0
is 'aerw writes nonsense: says' "$(head -n 1 err)" 'aecc: twice.c: the output of aerw does not assemble: compiled untraced'
aecc main.o n.o thrice.o -o p21
is 'aerw writes nonsense: output' "$(./p21)" 13
AE_LIB=$PWD/none aecc main.o twice.o thrice.o -o p22 2>err
is 'no runtime: says' "$(cat err)" "aecc: $PWD/none/x86-64/aert.o: not found; p22 is linked without the runtime: untraced"
is 'no runtime: output' "$(./p22)" 13
AE_CC='gcc -DX=1' aecc -c main.c -o x.o
is 'AE_CC with options' $? 0

# C and C++ in one program: objects link as those of gcc do, wherever
echo 'const char *f(void) { return "x"; }' >f.c
echo 'extern "C" const char *f(); int main() { return *f() != 120; }' >m.cc
echo 'const char *f(void); int main(void) { return *f() != 120; }' >m.c
if command -v g++ >/dev/null; then
	rm -f ae.out
	aecc -O2 -c f.c
	ok 'C++: linked by g++' g++ f.o m.cc -o mixed
	ok 'C++: runs' ./mixed
	ok 'C++: untraced' [ ! -e ae.out ]
	aecc -O2 -c m.cc
	ok 'C++: linked by ae++' ae++ f.o m.o -o mixed
	ok 'C++: runs' ./mixed
	ok 'C++: regenerates' sh -c 'ae2addr mixed <ae.out >/dev/null'

	# of an inline function that two files have, the linker keeps the first copy: both ways to compile it, and none of aerw
	cat >i1.cc <<-'E2'
	#include "i.h"
	int other(int);
	int main() { try { printf("%d\n", once(2) + other(3)); } catch (int i) { printf("%d\n", i); } return 0; }
	E2
	cat >i2.cc <<-'E2'
	#include "i.h"
	int other(int n) { return once(n) + 1; }
	E2
	cat >i.h <<-'E2'
	#include <cstdio>
	template <typename T> [[gnu::noinline]] inline T once(T n) { static T seen[4]; if (n == 3) throw 13; return seen[n & 3] += n; }
	E2
	ae++ -O2 -c i1.cc
	ae++ -O0 -c i2.cc
	g++ -O2 -c i2.cc -o i3.o
	gives 'C++: no compiler for the machine' 1 'ae++: none-g++: not found: no compiler of C++ for x86-64' env AE_CXX=none-g++ ae++ -c i1.cc
	ae++ i1.o i2.o -o q1
	traced 'C++: the copy of the first file' ./q1 3
	ae++ i2.o i1.o -o q2
	traced 'C++: the copy of the other file' ./q2 3
	ae++ i3.o i1.o -o q3
	traced 'C++: an untraced copy' ./q3 1
	ae++ i1.o i3.o -o q4
	traced 'C++: a traced copy for an untraced file' ./q4 2
	g++ -no-pie i2.o i1.o -o q5
	traced 'C++: linked by g++' ./q5 3 untraced
else
	skip 'no g++'
fi
for o in -pie -static-pie; do
	aecc $o f.c m.c -o p 2>err
	is "$o without -fPIE: says" "$?: $(cat err)" "0: "
	is "$o: is that" "$(readelf -hW p | sed -n 's/.*Type: *\([A-Z]*\).*/\1/p')" DYN
	ok "$o: runs" ./p
	rm -f ae.out
	ok "$o: again" ./p
	ok "$o: regenerates" sh -c 'ae2addr -f text p ae.out | grep -q "^inst 0x[57f]"'
done
# gcc makes these at a fixed address
for o in '-static -pie' '-pie -static'; do
	aecc $o f.c m.c -o p 2>err
	is "$o: says" "$?: $(cat err)" "0: "
	is "$o: is at a fixed address" "$(readelf -hW p | sed -n 's/.*Type: *\([A-Z]*\).*/\1/p')" EXEC
	rm -f ae.out
	ok "$o: runs" ./p
	ok "$o: regenerates" sh -c 'ae2addr -f text p ae.out | grep -q "^inst 0x"'
done
aecc -fsplit-stack m.c f.c -o p 2>err
is '-fsplit-stack: says' "$?: $(cat err)" '0: aecc: -fsplit-stack: compiled untraced
aecc: p: -fsplit-stack: linked without the runtime: untraced'
ok '-fsplit-stack: runs' ./p
(exec >&-; aecc m.c f.c -o p)
is 'without standard output' $? 0
if command -v clang >/dev/null; then
	gives 'clang' 0 '' env AE_CC=clang aecc m.c f.c -o p
	gives 'clang for MIPS' 1 'aecc: clang: does not accept -ffixed-23, which reserves a register for tracing; use gcc' \
	    env AE_CC=clang aecc --target=mips m.c f.c -o p
else
	skip 'no clang'
fi

# nothing is left behind
mkdir tmp
TMPDIR=$PWD/tmp aecc main.c twice.c thrice.c -o p23
TMPDIR=$PWD/tmp aecc -c none.c 2>/dev/null
is 'no temporary file left' "$(ls tmp)" ''
cat >slow <<'E'
#!/bin/sh
: >started
exec sleep 2
E
chmod +x slow
AERW=$PWD/slow TMPDIR=$PWD/tmp aecc -c main.c -o y.o 2>/dev/null &
pid=$!
while [ ! -e started ]; do sleep 0.01; done
kill -s TERM $pid
wait $pid
is 'killed: status' $? 143
is 'killed: no temporary file left' "$(ls tmp)" ''

# found through a link, and by name alone
ln -s "$BUILD/bin/aecc" cc
is 'through a symbolic link' "$(./cc main.c twice.c thrice.c -o p24 2>&1 && ./p24)" 13
traced 'through a symbolic link' ./p24 3

# the list in aecc and the library agree
for lib in "$BUILD"/lib/tracemill/*/libaert.a; do
	machine=${lib%/libaert.a}
	core=$machine/aert.o more=$(. "$machine/aecc.conf" && echo "$morewraps $syncs")
	machine=${machine##*/}
	case $machine in x86-64) nm='nm' ;; *) nm=$machine-linux-gnu-nm ;; esac
	is "$machine: every wrapper is asked for" \
		"$({ sed -n "/^wrapped='/,/'\$/p" "$BUILD/bin/aecc" | sed "s/^wrapped='//; s/'\$//"; echo "$more"; } | tr ' ' '\n' | grep . | sort)" \
		"$($nm -g --defined-only "$core" "$lib" 2>/dev/null | sed -n 's/.* __wrap_//p' | sort)"
	is "$machine: the core needs no library" \
		"$($nm -u "$core" | awk '{ print $2 }' | grep -v -E '^(__(start|stop)_ae|__ae_(uses_context|waits)$|__ehdr_start|_GLOBAL_OFFSET)')" ''
done
tap_end
