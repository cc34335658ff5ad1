# Programs made by hand, compiled: what regentest checks of the interpreter, said by both
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/aec/lib.sh"
"$BUILD/test/regentest" dump || exit 1
printf '.globl _start\n_start: ret\n.section .rodata\n.byte 0xfe,0xff,0xff,0x80,1,2,3,4\n' >x.s
gcc -nostdlib -static -Wl,--build-id=none,--section-start=.rodata=0x5000,-z,max-page-size=4096 x.s -o x || exit 1
for s in u*.schema; do
	u=${s%.schema}
	objcopy --add-section .aeschema="$s" --add-section aefn="$u.fn" x "$u" || exit 1
	ok "$u: compiles" aec -b "$u"
	for e in "$u".*.ae; do
		if both "$u" "$e"; then pass "$e: $(cat a.err)"; else fail "$e" "$(cat a.err b.err)"; fi
	done
done
tap_end
