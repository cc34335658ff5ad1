# The room refs: every source gives the same references as the tools that write them; names; ranges; faults (refscat)
. "$SRC/testdata/tap.sh"
cat="$BUILD/test/refscat"
cp "$HERE/prog.c" .
line=$(grep -n 'the line' prog.c | cut -d: -f1)

# a program made by aecc, and the events of its run
aecc -g -O1 prog.c -o aeprog && ./aeprog >/dev/null || fail "aecc makes a program"
ae2addr -f text aeprog ae.out >want
ok "there are references" test "$(wc -l <want)" -gt 10000
"$cat" aeprog ae.out >got
same "a program and its event file" got want
"$cat" aeprog >got
same "a program alone means ae.out" got want
ae2addr aeprog ae.out >g.ref
"$cat" g.ref >got
same "a stream" got want
"$cat" <g.ref >got
same "from standard input" got want
(head -c 4001; cat) <g.ref | "$cat" - >got
same "in pieces that are not words" got want
xz -k g.ref
"$cat" g.ref.xz >got
same "compressed" got want
ae2addr -f lackey aeprog ae.out >g.log
grep -v -e ^enter -e ^back -e ^exit want >events
"$cat" g.log >got
same "a log" got events

# ranges: by counting fetches, here done once more by awk
for r in 0:1 100:2000 7: :333 2000:2001 1000000000:; do
	awk -v from="${r%:*}" -v to="${r#*:}" 'BEGIN { if (to == "") to = 1e18 }
		/^inst/ { n++ } (n ? n - 1 : 0) >= from + 0 && n - 1 < to' events >cut
	"$cat" -n $r g.log >got
	same "instructions $r" got cut
done
"$cat" -m 100 g.ref >got
is "the taker ends the run" "$?" 7
head -n 100 want >cut
same "after what it took" got cut
"$cat" -m 100 aeprog >got
is "of a program, too" "$?" 7
same "after what it took" got cut

"$cat" -p aeprog >places
ok "function and line of a program" grep -q " sum prog.c:$line\$" places
ok "and of its others" grep -q " compare prog.c:" places
"$cat" -p -e aeprog g.ref | sed 's/ ? / &/' >got
is "of a stream, by the executable that is named" "$(awk '{ print $1, $3, $4 }' got)" "$(awk '{ print $1, $3, $4 }' places)"
is "of a stream alone, none" "$("$cat" -p g.ref | awk '$3 != "?" || $4 != "?:0"')" ""

# faults: all that is before them, then a line
head -c 40003 g.ref >cut.ref
gives "a stream that is cut off" 1 "refscat: cut.ref: byte 40003 (record 4999): truncated reference" "$cat" cut.ref
head -n 4998 want >cut
same "gives what is before" tap.out cut
{ cat cut.ref; head -c 500 /dev/zero | tr '\0' '\377'; } >cut2.ref
gives "a word that is none" 1 "refscat: cut2.ref: byte 40000 (record 4999): not a reference: unknown kind, or a size that the kind does not have" \
	"$cat" cut2.ref
same "gives what is before" tap.out cut
gives "a log with a wrong line" 1 "refscat: standard input: byte 0 (record 1): damaged line: no address" \
	sh -c "printf 'I  00401000\n' | '$cat'"
none="no references: neither a reference stream, a lackey log, a capture, a program compiled by aecc, nor another format that addrconv reads"
gives "something else" 1 "refscat: prog.c: $none" "$cat" prog.c
gives "events without their program" 1 "refscat: ae.out: events of a run, not references: their program is named first" "$cat" ae.out
gives "a stream as a program" 1 "ae2addr: g.ref: a reference stream, not a program: cachesim, addrconv and others read it" ae2addr g.ref ae.out
gives "a stream as a capture" 1 "ws2addr: g.ref: byte 0: a reference stream, not a capture: cachesim, addrconv and others read it" ws2addr g.ref
bifcm -r addr -o g.bif g.ref
gives "what bifcm made" 1 "refscat: g.bif: compressed by bifcm, not references: bifcm -d gives the stream back" "$cat" g.bif
gives "nothing" 1 "refscat: standard input: empty input" "$cat"
gives "no file" 1 "refscat: nosuch: No such file or directory" "$cat" nosuch
gives "no event file" 1 "refscat: nosuch: No such file or directory" "$cat" aeprog nosuch
gives "events of a stream" 1 "refscat: g.ref: is no program, so an event file cannot belong to it" "$cat" g.ref ae.out
gives "a program from a pipe" 1 "refscat: standard input: a program must be named, not be standard input" \
	sh -c "'$cat' <aeprog"
$GCC -O1 -o plain prog.c
gives "a program that is not traced" 1 "refscat: plain: no schemas in it: not built by aecc, or nothing in it is traced; wscap captures any program" "$cat" plain
size=$(wc -c <ae.out)
head -c $((size - 20)) ae.out >cut.out
"$cat" aeprog cut.out >got 2>err
is "events that are cut off" "$?" 1
ok "name their file" grep -q '^refscat: cut.out: byte ' err
head -n "$(wc -l <got)" want >cut
same "gives what is before" got cut
ok "which is not nothing" test -s got

# captures
. "$SRC/testdata/ws2addr/lib.sh"
if why=$(able); then
	$GCC -g -O1 -o prog prog.c
	wscap --names no -o g.ws ./prog >/dev/null
	ws2addr -f text g.ws >want
	"$cat" g.ws >got
	same "a capture" got want
	"$cat" - <g.ws >got
	same "from standard input" got want
	xz -kc g.ws | "$cat" >got
	same "compressed, through a pipe" got want
	ws2addr -f text -n 5000:9000 g.ws >want
	"$cat" -n 5000:9000 g.ws >got
	same "a range of it" got want
	ws2addr g.ws | "$cat" -n 5000:9000 >got
	same "is counted as in the stream" got want
	"$cat" -p g.ws >got
	ok "function and line" grep -q "/prog sum prog.c:$line\$" got
	ok "and the files of libraries" grep -q "/libc" got
	cp prog kept
	$GCC -g -O2 -o prog prog.c
	"$cat" -p g.ws >got 2>err
	is "another program of that name has no names" "$(grep -c ' sum ' got)" 0
	ok "and a line says so" grep -q "/prog: is not the file that was captured" err
	mv kept prog
	head -c "$(($(wc -c <g.ws) - 30))" g.ws >cut.ws
	"$cat" cut.ws >got 2>err
	is "a capture that is cut off" "$?" 1
	ok "has one line" grep -q '^refscat: cut.ws: byte ' err
else
	skip "$why"
fi
tap_end
