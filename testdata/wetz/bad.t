# .wet files that are cut off anywhere, changed anywhere, with right checksums as well
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
small
broken=$BUILD/test/wetfuzz

# every KIND FILE STEP STEP: cut; changed, changed below the checksums
every() {
	ok "$1: cut off" "$broken" cut "$2" "$3"
	ok "$1: changed" "$broken" flip "$2" "$4"
	ok "$1: changed, with right checksums" "$broken" deep "$2" "$4"
}
wetz -1 -o text.wet order.txt
every text text.wet 1 7
sed 's/$/ /' small.txt | wetz -1 -o raw.wet
every raw raw.wet 1 7
head -c 60 text.wet >cut.wet
ok "one line about it" sh -c 'wetz -d -o cut.txt cut.wet 2>err; [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q "^wetz: cut.wet: byte 60 (record 0): the file ends" err && [ ! -e cut.txt ]'

why=$(able) || { skip "$why"; tap_end; exit; }
${CC:-gcc} -nostdlib -static "$SRC/testdata/ws2addr/tiny.s" -o tiny && wscap -o tiny.ws ./tiny >tiny.out
wetz -1 -s 40 -o full.wet tiny.ws
every full full.wet 173 211
ws2wet -o tiny.txt tiny.ws
grows full.wet
wetz -1 -a -m paper -s 40 -o paper.wet tiny.ws
wetz -d paper.wet >paper.txt
same "kind paper" tiny.txt paper.txt
every paper paper.wet 173 211
grows paper.wet
wetz -1 -m replay -s 40 -o replay.wet tiny.ws
every replay replay.wet 173 311
head -c 700 tiny.ws >cut.ws
ok "a capture that is cut off" sh -c 'wetz -o no.wet cut.ws 2>err; [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] && [ ! -e no.wet ]'
tap_end
