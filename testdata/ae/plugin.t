# The oracle for MIPS by itself: what the plugin makes of QEMU's pieces and of delay slots, against references by hand
. "$SRC/testdata/tap.sh"
${CC:-gcc} -std=gnu17 -O2 -fPIC -shared -fvisibility=hidden "$HERE/qemu/fetchmem.c" -o fetchmem.so || exit 1
awk '/# (I|-)/ {
	if (sub(/.*# I */, "")) {
		printf "I  %08x,4\n", 4198400 + 4 * n
		if ($0 != "") printf " %s %08x,%s\n", $1, 4259840 + 16 * index(hex, substr($2, 5, 1)) + index(hex, substr($2, 6, 1)), substr($2, 8)
	}
	n++
}' hex=123456789abcdef "$HERE/qemu/pieces.S" > want
for t in mipsel mips; do
	if ! command -v qemu-$t > /dev/null || ! command -v $t-linux-gnu-gcc > /dev/null; then
		skip "$t: no emulator or no compiler"
		continue
	fi
	$t-linux-gnu-gcc -nostdlib -static -no-pie -mno-abicalls -fno-pic -march=mips32r2 -mfp32 -Wa,-mno-fix-loongson3-llsc -Wl,-Ttext=0x401000,-Tdata=0x410000 \
	    "$HERE/qemu/pieces.S" -o prog || exit 1
	qemu-$t -plugin ./fetchmem.so,out=got,fmt=text ./prog
	is "$t: the program's status" $? 0
	if cmp -s got want; then pass "$t: the references"; else fail "$t: the references" "$(diff got want)"; fi
done
tap_end
