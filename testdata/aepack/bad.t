# Damaged and wrong files: one line with file and offset, status 1, and everything before the damage
# shellcheck shell=sh
. "$SRC/testdata/tap.sh"
each=$BUILD/test/each
aecc -O1 "$SRC/testdata/aec/matrix.c" -o matrix && ./matrix || exit 1
aepack -o packed matrix ae.out || exit 1
if "$each" cut packed ae.out aepack -d matrix cut >said; then pass 'cut off at each byte'; else fail 'cut off at each byte' "$(cat said)"; fi
ok 'a bit changed in each byte' "$each" flip packed aepack -d matrix flip
[ $few -gt 1 ] || ok 'read by ae2addr: a bit changed in each byte' "$each" flip packed ae2addr matrix flip
ae2addr -o whole matrix ae.out
"$each" cut packed whole ae2addr matrix cut >said
is 'read by ae2addr: cut off at each byte' "$(grep -v -e '^[0-9]*$' -e '^[1-7]: status 256: ae2addr: cut: byte 0: not an event file$' said)" ''

# several blocks: those before the damage are there
aecc -O2 "$SRC/testdata/aepack/lists.c" -o lists
AE_OUT=l.ae ./lists 1500 >/dev/null
aepack -o l.pk lists l.ae
ok 'several blocks' [ "$(grep -c AEpb l.pk)" -gt 1 ]
n=$(wc -c <l.pk)
head -c $((n - 100)) l.pk >cut
aepack -d -o none lists cut 2>err
is 'cut in a later block' "$? $(cat err)" "1 aepack: cut: byte $((n - 100)): the packed file is truncated"
is '-o: no half output' "$(ls none* 2>&1 | grep -c cannot)" 1
aepack -d lists cut >part 2>/dev/null
ok 'what is before it' [ "$(wc -c <part)" -gt 1000000 ]
head -c "$(wc -c <part)" l.ae >want
same 'is right' part want

# what is packed need not be whole: cut off at many places, and with any byte damaged
bad=
i=0 n=$(wc -c <ae.out)
while [ $i -lt "$n" ]; do
	i=$((i + few * 101))
	[ $i -lt 200 ] && continue
	head -c $i ae.out >cut.ae
	{ aepack matrix cut.ae | aepack -d matrix | cmp -s - cut.ae; } || bad="$bad $i"
	{ head -c $i ae.out; printf '\377'; tail -c +$((i + 2)) ae.out; } >hurt.ae
	{ aepack matrix hurt.ae | aepack -d matrix | cmp -s - hurt.ae; } || bad="$bad hurt:$i"
done
is 'event files that are cut off or damaged' "$bad" ''
{ cat ae.out; echo more; } >long.ae
ok 'bytes after the end' sh -c 'aepack matrix long.ae | aepack -d matrix | cmp - long.ae'

: >empty
gives 'empty' 1 'aepack: empty: byte 0: empty, not an event file' aepack -o none matrix empty
gives 'something else' 1 'aepack: matrix: byte 0: not an event file' aepack -o none matrix matrix
gives 'packed twice' 1 'aepack: packed: byte 0: it is packed already' aepack -o none matrix packed
gives 'not packed' 1 'aepack: ae.out: byte 0: not a packed event file' aepack -d -o none matrix ae.out
gives 'not there' 1 'aepack: none: No such file or directory' aepack -o out matrix none
gives 'no schemas' 1 'aepack: /bin/true: no schemas in it: not built by aecc, or nothing in it is traced; wscap captures any program' aepack /bin/true ae.out
aecc -O2 "$SRC/testdata/aec/matrix.c" -o other
gives 'another build' 1 'aepack: ae.out: byte 0: written by another build of the program' aepack -o none other ae.out
gives 'unpacked for another build' 1 'aepack: packed: byte 16: written by another build of the program' aepack -d -o none other packed
gives 'ae2addr: another build' 1 'ae2addr: packed: byte 16: written by another build of the program' ae2addr -o none other packed
# the same build id, but other code
aecc -O1 -Wl,--build-id=0x12345678 "$SRC/testdata/aepack/lists.c" -o one && aecc -O2 -Wl,--build-id=0x12345678 "$SRC/testdata/aepack/lists.c" -o two
AE_OUT=one.ae ./one >/dev/null
aepack -o one.pk one one.ae
aepack -d -o none two one.pk 2>err
is 'the same build id, but another program' "$? $(cat err)" \
    '1 aepack: one.pk: byte 16: the program does not have these events: it is not the one that they were packed with'
printf '\002' | dd of=packed bs=1 seek=8 conv=notrunc 2>/dev/null
gives 'another version' 1 'aepack: packed: byte 8: packed event file of an unknown version' aepack -d -o none matrix packed
aepack -o packed matrix ae.out
printf '\000' | dd of=packed bs=1 seek=12 conv=notrunc 2>/dev/null
gives 'another model' 1 'aepack: packed: byte 12: packed by a version of aepack that foresees other events' aepack -d -o none matrix packed
is 'a full disk' "$(aepack matrix ae.out 2>&1 >/dev/full)" 'aepack: standard output: No space left on device'
gives 'usage' 2 "aepack: -x: no such option; see aepack --help" aepack -x matrix
tap_end
