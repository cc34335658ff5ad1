# What runs while the replayed program's vector registers are in the hardware has no instruction that uses them, and calls no libc
. "$SRC/testdata/tap.sh"
[ -z "$SAN" ] || { skip "sanitizers put calls into it"; exit 0; }
for f in helpers helpers_refs; do
	o=$BUILD/obj/src/replay/cpu/$f.o
	is "$f: vector registers" "$(objdump -d "$o" | grep -c '%[xyz]mm\|%st')" 0
	is "$f: calls of libc" "$(nm -u "$o" | grep -c ' \(mem\|str\)')" 0
done
tap_end
