# The driver does with every command line what gcc does: status, messages, files made, dependencies, what the program prints.
# shellcheck shell=sh source=/dev/null
. "$SRC/testdata/tap.sh"

# The runtime's header is found where the tools are
echo '#include <tracemill.h>' >header.c
ok "tracemill.h is found" aecc -c -o header.o header.c
ok "tracemill.h is found by the preprocessor alone" aecc -E -o header.i header.c
rm header.*

mkdir src
cat >src/main.c <<'E'
#include <stddef.h>
#include "val.h"
int printf(const char *, ...);
int twice(int);
#ifndef X
#define X "none"
#endif
int main(void) { printf("%d %s\n", twice(VAL), X); return 7; }
E
echo '#define VAL 21' >src/val.h
echo 'int twice(int x) { return x * 2; }' >src/twice.c
echo 'int twice(int x) { return x ** 2' >src/bad.c
echo 'int twice(int x) { __asm__("nonsense %eax"); return x; }' >src/badasm.c
echo 'int twice(int x) { int unused; return x * 2; }' >src/warned.c
printf '.globl twice\ntwice: lea (%%rdi,%%rdi), %%eax\n ret\n .section .note.GNU-stack,"",@progbits\n' >src/asm.s
printf '#define T twice\n.globl T\nT: lea (%%rdi,%%rdi), %%eax\n ret\n .section .note.GNU-stack,"",@progbits\n' >src/asmpp.S
cp src/twice.c same.c
ln same.c again.c
for o in '' -c; do
	gives "the output in the place of the source $o" 1 "aecc: again.c: is the input, which the output would replace" aecc $o same.c -o again.c
done
same "which stays" src/twice.c same.c
rm same.c again.c
cp src/twice.c src/odd.name
cp src/twice.c 'src/a b'"'"'$c.c'
echo '-DX="\"from a\\ file\"" src/main.c '"'src/a b\\'\$c.c'" >src/args
mkdir src/sub
cp src/twice.c src/sub
mkdir new
cp -R src new
cp src/* new 2>/dev/null
export AE_OUT=off

# alike WHAT STREAM: that of both is the same; temporary names and times differ between any two runs
alike() {
	if cmp -s "a.$2" "g.$2"; then pass "$1"; return; fi
	for f in a g; do sed 's|/tmp/[^ :]*|TMP|g' "$f.$2" >$f.same; done
	same "$1" a.same g.same
}

# like WHAT gcc-arguments: both compilers in equal folders; $says: what aecc alone says
like() {
	what=$1
	shift
	rm -rf g a
	cp -R new g
	cp -R new a
	(cd g && gcc "$@" >../g.out 2>../g.err)
	gst=$?
	(cd a && aecc "$@" >../a.out 2>../a.err)
	ast=$?
	is "$what: status" $ast $gst
	is "$what: files" "$(cd a && ls -AR)" "$(cd g && ls -AR)"
	alike "$what: standard output" out
	if [ -n "$says" ]; then is "$what: says" "$(cat a.err)" "$says"; else alike "$what: standard error" err; fi
	differ=
	for f in g/*.d g/*.su g/*.i g/src/*.d g/src/*.su g/src/*.i; do
		[ ! -f "$f" ] || cmp -s "a/${f#g/}" "$f" || differ="$differ ${f#g/}"
	done
	is "$what: dependencies and the like" "$differ" ''
	for p in prog a.out; do
		[ -x g/$p ] || continue
		is "$what: runs" "$(a/$p; echo $?)" "$(g/$p; echo $?)"
	done
}
says=''

like 'compile' -c src/twice.c
like 'compile, -o' -c src/twice.c -o src/x.o
like 'compile, -o joined' -osrc/x.o -c src/twice.c
like 'compile, -o without suffix' -MD -c src/twice.c -o src/x
like 'compile two' -c main.c twice.c
like 'compile two, one bad' -c bad.c twice.c
like 'compile two with one -o' -c main.c twice.c -o x.o
like 'compile with a library named' -c twice.c -lm -o x.o
like 'link one step' src/main.c src/twice.c -o prog
like 'link one step, a.out' src/main.c src/twice.c
like 'a library, options last' -o prog main.c twice.c -lm -O2 -g
like 'strings' -DX='"a  b"' -c main.c
like 'quotes' -O1 '-DX="it'"'"'s $HOME `x` \\"' main.c twice.c -o prog
like 'file names' 'a b'"'"'$c.c' main.c -o prog
like 'response file' @src/args -o prog
like 'standard input' -x c - -c -o x.o
like '-x c' -x c odd.name -x none main.c -o prog
like '-xc joined' -xc -c odd.name
like 'assembly' main.c asm.s -o prog
like 'assembly with cpp' -O2 main.c asmpp.S -o prog
like 'compile assembly' -c asm.s asmpp.S
like 'compile C and assembly' -c asm.s twice.c
like '-x assembler' main.c -x assembler asm.s -o prog
like '-MD' -MD -c src/main.c
like '-MMD -o' -MMD -c src/main.c -o src/y.o
like '-MD -MP -MF' -MD -MP -MF q.d -c src/main.c
like '-MF joined, -MT' -MMD -MFq.d -MT 'a b' -MQ '$(c)' -c src/main.c -o y.o
like '-MMD -MF -' -MMD -MF - -c src/main.c
like '-MD, link' -MD src/main.c src/twice.c -o prog
like '-MD, link, a.out' -MD src/main.c src/twice.c
like '-Wp,-MD' -Wp,-MMD,q.d -c src/main.c -o y.o
like '-M' -M main.c
like '-MM' -MM main.c
like '-E' -E main.c
like '-E -o' -E main.c -o main.i
like '-S' -S main.c
like '-fsyntax-only' -fsyntax-only main.c
like '--version' --version
like '-v' -v
like '-dumpmachine' -dumpmachine
like '-dumpversion' -dumpversion
like '-print-prog-name' -print-prog-name=ld
like '-print-search-dirs' -print-search-dirs
like 'nothing' -O2
like 'no arguments at all'
like 'no such file' -c none.c
like 'no such file, link' main.c none.c -o prog
like 'unknown option' -fno-such-thing -c twice.c
like 'error in C' -c bad.c
like 'error in C, link' main.c bad.c -o prog
like 'error in assembly' -c badasm.c
like 'warning' -Wall -c warned.c
like 'warning as error' -Wall -Werror -c warned.c
like 'undefined' main.c -o prog
like '-pipe' -pipe -O3 -c main.c
like '-g3' -g3 -gdwarf-4 -c main.c
like '-include -I' -include val.h -I src -iquote src -c src/main.c
like '-Wa' -Wa,--fatal-warnings,-I,src -Xassembler --noexecstack -c main.c
like '-Wl' -Wl,-O1,--as-needed -Xlinker -z -Xlinker now main.c twice.c -o prog
like '-static' -static main.c twice.c -o prog
like '-no-pie' -no-pie main.c twice.c -o prog
like '-fPIC' -fPIC main.c twice.c -o prog
like '-r' -r -nostdlib main.c twice.c -o both.o
like '-fstack-usage' -fstack-usage -c main.c -o src/z.o
like '-fstack-usage, link' -fstack-usage main.c twice.c -o prog
like '-save-temps -E' -save-temps -E main.c
like '--coverage' --coverage -c twice.c -o src/z.o
like '-masm=intel' -masm=intel -O2 main.c twice.c -o prog
like '-std' -std=c99 -pedantic -Wextra -c main.c
like '-S and -c' -c -S main.c

like '-pie' -pie -fPIE main.c twice.c -o prog
like '-shared' -shared -fPIC twice.c -o lib.so
says='aecc: -pg: compiled untraced'
like '-pg' -pg -c main.c
says='aecc: -flto: ignored, because traced functions are compiled file by file'
like '-flto' -flto -O2 -c main.c
tap_end
