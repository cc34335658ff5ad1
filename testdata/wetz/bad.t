# .wet files that are cut off anywhere, changed anywhere, with right checksums as well
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
small
broken=$BUILD/test/wetfuzz

# every KIND FILE STEP STEP: cut; changed, changed below the checksums
every() {
	set -- "$1" "$2" $(($3 * (few / 3 + 1))) $(($4 * (few / 3 + 1)))
	ok "$1: cut off" "$broken" cut "$2" "$3"
	ok "$1: changed" "$broken" flip "$2" "$4"
	ok "$1: changed, with right checksums" "$broken" deep "$2" "$4"
}
wetz -1 -o text.wet order.txt
every text text.wet 1 7
sed 's/$/ /' small.txt | wetz -1 -o raw.wet
every raw raw.wet 1 7
{ head -c 8 text.wet; printf '\001'; tail -c +10 text.wet | head -c 3; } >head
{ cat head; gzip -c <head | tail -c 8 | head -c 4; tail -c +17 text.wet; } >old.wet
gives "the version before" 1 "wetz: old.wet: byte 8: version 1, which only the older wetz that made it can read" wetz -d old.wet
head -c 60 text.wet >cut.wet
ok "one line about it" sh -c 'wetz -d -o cut.txt cut.wet 2>err; [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q "^wetz: cut.wet: byte 60 (record 0): the file ends" err && [ ! -e cut.txt ]'

# small files that claim much: refused before there is room for it
PATH=$BUILD/test:$PATH
wetbomb text >raw.wet
gives "a text of 2^25 bytes" 1 "wetz: raw.wet: byte 40 (record 0): a column has more values than there can be" wetz -d raw.wet
awk 'BEGIN { n = 200000; print 1; print "5 1 7 x y 1"; print "SIZE 0"; print "VALUES", n; for (i = 0; i < n; i++) print "    " i ":" i }' | wetz -1 -o large.wet
case $SAN in
*address* | *thread* | *memory*) ;;
*)	gives "-M" 1 "wetz: large.wet: byte 40 (record 0): no memory" wetz -d -M 4M large.wet
	ok "and more" sh -c 'wetz -d -M 64M large.wet >out' ;;
esac
gives "-M is for -d" 2 "wetz: -M is for -d; see wetz --help" wetz -M 64M large.wet

why=$(able) || { skip "$why"; tap_end; exit; }
${CC:-gcc} -nostdlib -static "$SRC/testdata/ws2addr/tiny.s" -o tiny && wscap -o tiny.ws ./tiny >tiny.out
# files of some thirty segments: each place is tried on all that they have
wetz -1 -s 320 -o full.wet tiny.ws
every full full.wet 29 37
wetbomb full full.wet >bomb.wet
ok "exceptions that there cannot be" sh -c 'wetz -d bomb.wet >out 2>err; [ $? = 1 ] && grep -q "a column has more values than there can be" err'
# statements that are never executed, each with many lists, are in the budget too
wetbomb stmts full.wet 16384 >bomb.wet
case $SAN in
*address* | *thread* | *memory*) ;;
*)	ok "many statements: memory" sh -c 'wetz -d -b 8M -M 48M bomb.wet | head -n 1 >got && wetz -d -b 8M -M 48M bomb.wet >out'
	is "their number" "$(cat got)" "$(($(wetz -d full.wet | head -n 1) + 16384))" ;;
esac
# cut off before the first segment ends: no text of no statements
for kind in full loads paper replay; do
	wetz -1 -m $kind -s 40 -o kind.wet tiny.ws
	got=
	for n in 40 200 400; do
		head -c $n kind.wet >cut.wet
		wetz -d cut.wet >out 2>err
		got="$got $? $(grep -c . err) $(grep -c . out)"
	done
	is "$kind: cut off before anything" "$got" " 1 1 0 1 1 0 1 1 0"
done
wetz -1 -v -m replay -s 40 -o kind.wet tiny.ws 2>err
is "-v of kind replay: of what it counts" "$(grep -c ratio err) $(grep -c 'bits a statement, of' err)" "0 1"
ws2wet -o tiny.txt tiny.ws
grows full.wet
wetz -1 -a -m paper -s 320 -o paper.wet tiny.ws
wetz -d paper.wet >paper.txt
same "kind paper" tiny.txt paper.txt
every paper paper.wet 29 37
grows paper.wet
wetz -1 -m replay -s 320 -o replay.wet tiny.ws
every replay replay.wet 29 51
gzip -c tiny.ws >tiny.ws.gz
gives "a capture that is compressed" 1 "wetz: tiny.ws.gz: compressed (gzip): decompress it first, as it is read at any place" wetz -o no.wet tiny.ws.gz
head -c 700 tiny.ws >cut.ws
ok "a capture that is cut off" sh -c 'wetz -o no.wet cut.ws 2>err; [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] && [ ! -e no.wet ]'
tap_end
