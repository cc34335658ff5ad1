# What the examples of pages take the reader to have: a program of his own, as source and compiled, and a run of it;
# files to work on; the C program of ae.h(3); somebody's project with a configure script
cp words.c prog.c
cp words.c words
cp words.c file
echo 'int a[9]; int main(void) { for (int i = 1; i < 9; i++) a[i] = a[i - 1] + i; return a[8] != 36; }' >p.c
gcc -g -O1 -static p.c -o p && wscap -o p.ws ./p && ws2wet --main -o trace.txt p.ws
echo 'int f(int x) { return x - 1; }' >part.c
aecc -O2 prog.c -o prog && AE_OUT=ae.out ./prog
ae2addr prog ae.out >other.ref
cp other.ref other.refs
zstd -q other.ref -o one.ref.zst
cp one.ref.zst two.ref.zst
wscap -o ls.ws ls
{ printf 'head'; head -c 12000 /dev/zero; } >trace.vpc
sed -n '/^#include <ae.h>/,/^\.Ed/p' "$SRC/man/ae.h.3" | sed '/^\.Ed/d; s/\\e/\\/g' >count.c
cat >configure <<'END'
#!/bin/sh
for a; do case $a in CC=*) CC=${a#CC=} ;; esac; done
printf 'all:\n\t%s -O2 prog.c -o prog\n' "${CC:-cc}" >Makefile
END
chmod +x configure
( . "$SRC/testdata/ws2wet/lib.sh" && foo1 )
ln -s "$BUILD" build
cat >main.c <<'END'
int f(int);
int main(void) { return f(1); }
END
echo 'int f(int x) { return x - 1; }' >f.c
mipsel-linux-gnu-gcc -O2 -mips32r2 -S f.c
cat >prog.cc <<'END'
#include <vector>
int main() { std::vector<int> v(9, 1); int n = 0; for (int i : v) n += i; return n != 9; }
END
echo 'int parse(int x) { return x - 1; }' >parser.c
echo 'extern "C" int parse(int); int main() { return parse(1); }' >main.cc
