# The hex dumps in ae.out(5), ae-schema(5) and ws(5) are what the tests of the library make; those in wet(5) and aepack(5) are what
# wetz and aepack make
. "$SRC/testdata/tap.sh"
for page in ae.out:eventstest ae-schema:schematest; do
	sed -n '/^00000000 /,/^\.Ed/p' "$SRC/man/${page%:*}.5" | sed '/^\./d; s/^[0-9a-f]\{8\}//' | tr -s ' \n' '\n\n' | sed '/^$/d' >page.hex
	"$BUILD/test/${page#*:}" example | od -An -v -tx1 | tr -s ' \n' '\n\n' | sed '/^$/d' >real.hex
	[ -s page.hex ] && same "${page%:*}(5)" page.hex real.hex
done
# several dumps, one after the other
grep -E '^[0-9a-f]{8}  ' "$SRC/man/ws.5" | sed 's/^[0-9a-f]*//' | tr -s ' \n' '\n\n' | sed '/^$/d' >page.hex
"$BUILD/test/wstest" example | od -An -v -tx1 | tr -s ' \n' '\n\n' | sed '/^$/d' >real.hex
[ -s page.hex ] && same "ws(5)" page.hex real.hex
grep -E '^[0-9a-f]{8}  ' "$SRC/man/wet.5" | sed 's/^[0-9a-f]*//' | tr -s ' \n' '\n\n' | sed '/^$/d' >page.hex
printf '0\n' | wetz -0 | od -An -v -tx1 | tr -s ' \n' '\n\n' | sed '/^$/d' >real.hex
[ -s page.hex ] && same "wet(5)" page.hex real.hex
"$BUILD/test/regentest" dump || exit 1
grep -E '^[0-9a-f]{8}  ' "$SRC/man/aepack.5" | sed 's/^[0-9a-f]*//' | tr -s ' \n' '\n\n' | sed '/^$/d' >page.hex
aepack u1 u1.10.ae | od -An -v -tx1 | tr -s ' \n' '\n\n' | sed '/^$/d' >real.hex
[ -s page.hex ] && same "aepack(5)" page.hex real.hex
tap_end
