# Schemas that a real linker made: constants, function addresses and headers of MIPS executables in both byte orders
. "$SRC/testdata/tap.sh"
"$BUILD/test/regentest" dump || exit 1
for u in u9:mipsel u11:mipsel u12:mipsel u13:mips u15:mips u16:mips; do
	t=${u#*:} u=${u%:*}
	if ! command -v "$t-linux-gnu-gcc" >/dev/null; then
		skip "$t: no cross compiler"
		continue
	fi
	"$t-linux-gnu-objcopy" -O binary --only-section=.aeschema --set-section-flags .aeschema=alloc "$u" schema || exit 1
	cat >x.s <<-'END'
		.globl __start
		.text
	__start:
		.space 0x300
		.section .aeschema,"",@progbits
		.incbin "schema", 0, 20
		.4byte __start, 0, __start, 0   # .word would align itself, and pad the unit
		.incbin "schema", 36
		.section aefn,"aw",@progbits
		.word __start, 0, 0, __start+0x100, 0, 0, __start+0x200, 0, 0
	END
	ok "$u: links" "$t-linux-gnu-gcc" -nostdlib -static -Wl,--build-id=none,-Ttext=0x1000,-N x.s -o x
	ae2addr -f text "$u" "$u.1.ae" >a
	ae2addr -f text x "$u.1.ae" >b
	[ -s a ] && same "$u: regenerates" a b
done
tap_end
