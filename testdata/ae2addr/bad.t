# Bad input: one line with file and offset, status 1, all references before the fault
. "$SRC/testdata/tap.sh"
aecc -O1 "$SRC/testdata/aec/matrix.c" -o matrix && ./matrix || exit 1
ae2addr matrix ae.out >whole
# damaged in many places: the program goes through them (its comment says what of each is looked at)
each=$BUILD/test/each
if "$each" cut ae.out whole ae2addr matrix cut >said; then pass "cut off at each byte"; else fail "cut off at each byte" "$(cat said)"; fi
is "all references from all events" "$(tail -n 1 said)" "$(wc -c <whole)"
ok "a bit changed in each byte" "$each" flip ae.out ae2addr matrix flip

: >empty
gives "empty" 1 "ae2addr: empty: byte 0: empty, not an event file" ae2addr matrix empty
gives "not there" 1 "ae2addr: none: No such file or directory" ae2addr matrix none
gives "something else" 1 "ae2addr: whole: byte 0: not an event file" ae2addr matrix whole
aecc -O2 "$SRC/testdata/aec/matrix.c" -o other || exit 1
gives "another build" 1 "ae2addr: ae.out: byte 16: written by another build of the program" ae2addr other ae.out
# Programs of other machines, made by hand: MIPS of both byte orders, values, numbers of blocks
"$BUILD/test/regentest" dump || exit 1
gives "events of an x86-64 program" 1 "ae2addr: ae.out: byte 49: events of an x86-64 program, but the executable is for MIPS" ae2addr u9 ae.out
gives "events of a MIPS program" 1 "ae2addr: u9.1.ae: byte 49: events of a MIPS program, but the executable is for x86-64" ae2addr matrix u9.1.ae
bad=
others="u8 u9 u10 u11 u12 u13 u15 u16" step=29
[ "${MATRIX-}" = full ] && step=7
[ "$SAN" ] && others="u9 u12" step=61   # with sanitizers each process takes some times as long
for u in $others; do
	ae2addr $u $u.1.ae >mips || bad="$bad whole:$u"
	"$each" cut $u.1.ae mips ae2addr $u cut >said || bad="$bad $u: $(cat said)"
done
is "other machines: cut off at each byte" "$bad" ""
cp u1 other.exe && printf '\010' | dd of=other.exe bs=1 seek=18 conv=notrunc 2>/dev/null
ae2addr other.exe u1.1.ae >part 2>err
is "the schemas of another machine" "$(sed 's/byte [0-9]*/byte N/' err)" \
    "ae2addr: other.exe: byte N: bad schema: schemas for another machine than the executable's"

gives "no schemas" 1 "ae2addr: /bin/true: no schemas in it: not built by aecc, or nothing in it is traced; wscap captures any program" ae2addr /bin/true ae.out
size=$(wc -c <matrix | tr -d ' ')
for n in 100 $((size / 2)) $((size - 1)); do
	head -c $n matrix >half.exe
	gives "a program that is cut off: $n" 1 "ae2addr: half.exe: byte $n: cut off: its section headers end at byte $size" ae2addr half.exe ae.out
done
gives "no program" 1 "ae2addr: none: No such file or directory" ae2addr none ae.out
gives "usage" 2 "ae2addr: -f x: not a format; there are addr, lackey, din and text; addrconv(1) writes others; see ae2addr --help" ae2addr -f x matrix

# A schema with a changed byte: refused or not, never worse
objcopy -O binary --only-section=.aeschema --set-section-flags .aeschema=alloc matrix schema
n=$(wc -c <schema)
at=$(readelf -SW matrix | sed -n 's/.* \.aeschema  *[A-Z]*  *[0-9a-f]*  *\([0-9a-f]*\) .*/0x\1/p')
cmp -s -n "$n" -i "$((at)):0" matrix schema || fail "the place of the schema in the executable"
ok "changed schemas" "$each" set matrix "$at" "$n" $step ae2addr hurt ae.out
head -c $((n - 1)) schema >s
objcopy --update-section .aeschema=s matrix hurt
ae2addr hurt ae.out >part 2>err
is "a schema cut off: status" $? 1
ok "a schema cut off: said" grep -q '^ae2addr: hurt: byte [0-9]*: bad schema: ' err

is "a full disk" "$(ae2addr matrix ae.out 2>&1 >/dev/full)" "ae2addr: standard output: No space left on device"
ae2addr -o out matrix cut 2>err
is "-o: no half output" "$(ls out* 2>&1 | grep -c cannot)" 1
tap_end
