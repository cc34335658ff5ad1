# Other machines: which compiler, rewriter, assembler and runtime --target and the name choose, and with which options.
# shellcheck shell=sh source=/dev/null
. "$SRC/testdata/tap.sh"
export AE_OUT=off
for m in mipsel mips; do
	[ -f "$BUILD/lib/tracemill/$m/aert.o" ] || { skip "no runtime for $m"; exit 0; }
done

cat >main.c <<'E2'
#include <stdio.h>
#ifndef X
#define X 1
#endif
int main(void) { printf("%d %d\n", X, (int)sizeof(void *)); return 7; }
E2
# a rewriter that changes nothing and says what it was asked
cat >says <<'E2'
#!/bin/sh
{
	echo "as ${AERW_AS##*/}"
	[ -z "$AERW_AS" ] || "$AERW_AS" --version | sed -n 's/.*target of .\(.*\)-linux-gnu.*/for \1/p'
	for a; do printf '%s ' "$a"; done
	echo
} >>asked
exec cat
E2
chmod +x says
export AERW="$PWD/says"
ln -s "$BUILD/bin/aecc" mipsel-linux-gnu-aecc
ln -s "$BUILD/bin/aecc" mips-linux-gnu-aecc
ln -s "$BUILD/bin/aecc" x86_64-linux-gnu-aecc
ln -s "$BUILD/bin/aecc" pdp11-aecc

# made FILE: word size, byte order and machine of an ELF file
made() {
	readelf -h "$1" | sed -n 's/^  \(Class\|Data\|Machine\): *//p' | tr '\n' ' '
}
el="ELF32 2's complement, little endian MIPS R3000 "
eb="ELF32 2's complement, big endian MIPS R3000 "

for m in mipsel mips; do
	case $m in mipsel) want=$el order=-EL ;; *) want=$eb order=-EB ;; esac
	for how in "aecc --target=$m" "./$m-linux-gnu-aecc"; do
		rm -f asked x.o
		$how -O2 -c main.c -o x.o
		is "$how: object" "$(made x.o)" "$want"
		is "$how: assembler of aerw" "$(sed -n 2p asked)" "for $m"
		is "$how: aerw" "$(sed -n 's/^\(-m [a-z]* \).*/\1/p' asked)" "-m $m "
		grep -q -e "-a $order .*-a -mabi=32 .*-a -mno-shared -a -KPIC" asked && pass "$how: options" || fail "$how: options" "$(cat asked)"
		$how main.c -DX=5 -o prog
		is "$how: program" "$(made prog)" "$want"
		is "$how: runs" "$(qemu-$m -L /usr/$m-linux-gnu ./prog; echo $?)" '5 4
7'
		is "$how: the runtime is linked" "$(readelf -sW prog | grep -c -w ae_dispatch)" 1
		is "$how: static" "$($how -static main.c -o prog && qemu-$m ./prog)" '1 4'
	done
	is "$m: the compiler answers" "$(aecc --target=$m -dumpmachine)" "$m-linux-gnu"
	is "$m: with AE_CC" "$(AE_CC="$m-linux-gnu-gcc -DX=9" aecc --target=$m main.c -o prog && qemu-$m -L /usr/$m-linux-gnu ./prog)" '9 4'
done

rm -f asked
aecc --target=mipsel -O0 -mxgot -Wa,-I,sub,-adn=list -I 'a b' -c main.c -o x.o
grep -q -e '^-m mipsel -a -I -a a b -a -EL .*-a -xgot .*-a -I -a sub .*' asked && pass "options for the assembler" || fail "options for the assembler" "$(cat asked)"
rm -f asked
AERW_AS=/bin/true aecc --target=mips -c main.c -o x.o
is "AERW_AS stays" "$(head -n 1 asked)" "as true"
rm -f asked
echo '--target=mips -c main.c -o x.o' >args
aecc @args
is "in a response file" "$(made x.o)" "$eb"

rm -f asked
aecc -c main.c -o x.o
is "no target" "$(tail -n 1 asked)" "-m x86-64 -a -mrelax-relocations=no "
rm -f asked
./x86_64-linux-gnu-aecc main.c -o prog
is "x86_64: aerw" "$(tail -n 1 asked)" "-m x86-64 -a -mrelax-relocations=no "
is "x86_64: runs" "$(./prog)" '1 8'
rm -f asked
aecc --paper -c main.c -o x.o
is "--paper" "$(tail -n 1 asked)" "-m x86-64 -p -a -mrelax-relocations=no "

gives "no such machine" 1 "aecc: vax: no such machine; there are: mips mipsel x86-64" aecc --target=vax -c main.c
gives "no such machine by name" 1 "aecc: pdp11: no such machine; there are: mips mipsel x86-64" ./pdp11-aecc -c main.c
gives "a machine that is a path" 1 "aecc: ../x: no such machine; there are: mips mipsel x86-64" aecc --target=../x -c main.c
for o in -mips16 -mmicromips; do
	gives "$o" 0 "aecc: $o: compiled untraced" aecc --target=mipsel $o -c main.c -o x.o
done
aecc --target=mips -EL main.c -c -o x.o 2>err
is "the other byte order: says" "$(cat err)" "aecc: -EL: compiled untraced"
is "the other byte order: object" "$(made x.o)" "$el"

# more code than fits below the usual image base: all of it is still in reach of a jump
printf '.section aetext,"ax",@progbits\n.skip 6000000\n' >huge.s
for m in mipsel mips; do
	aecc --target=$m main.c huge.s -o prog
	is "$m: moved image: runs" "$(qemu-$m -L /usr/$m-linux-gnu ./prog)" '1 4'
	is "$m: moved image: where" "$(readelf -SW prog | awk '{ for (i = 1; i < NF; i++) if ($i == "aetext" || $i == ".text") printf "%s %s ", $i, substr($(i + 2), 1, 3) }')" \
		'aetext 000 .text 008 '
done
tap_end
