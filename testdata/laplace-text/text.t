# Binary and text, both ways; what fits and what does not; damage
. "$SRC/testdata/tap.sh"

awk 'BEGIN {
	srand(5)
	split("r w i R W I", t, " ")
	for (i = 0; i < 4000; i++)
		printf "%s %x %x %x %x\n", t[int(rand() * 6) + 1], i * 3, 1 + int(rand() * 255), int(rand() * 65536), int(rand() * 2000000000)
}' >refs
laplace-text -b refs >classic
is "classic: 18 bytes a reference" "$(wc -c <classic)" 72000
laplace-text -b -w refs >wide
is "wide: 26 bytes, and a header" "$(wc -c <wide)" 104016
for f in classic wide; do
	laplace-text $f >got
	same "$f to text" got refs
	laplace-text -o got.file <$f
	same "$f from standard input, to a file" got.file refs
	zstd -q -c $f | laplace-text >got
	same "$f compressed" got refs
done
laplace-text wide | laplace-text -b >got
same "wide to classic" got classic
echo "r ffffffffffffffff ff ffffffffffffffff ffffffffffffffff" >large
laplace-text -b -w large | laplace-text >got
same "the largest numbers" got large
{ head -n 3 refs; cat large; } >some
gives "that do not fit classic ones" 1 "laplace-text: some: byte $(head -n 3 refs | wc -c | tr -d ' ') (record 3): more than 32 bits, which need the wide form (-w)" laplace-text -b some
is "what came before is written" "$(laplace-text -b some 2>/dev/null | wc -c)" 54
gives "and no file" 1 "laplace-text: some: byte $(head -n 3 refs | wc -c | tr -d ' ') (record 3): more than 32 bits, which need the wide form (-w)" laplace-text -b -o file some
is "none" "$(ls file* 2>/dev/null)" ""
: >empty
laplace-text empty >got
same "nothing is an empty classic trace" got empty
laplace-text -b -w empty | laplace-text >got
same "an empty wide one" got empty

# merged traces
cat >merged <<'END'
X 0 1 3c94b fe 0 /bin/a\20b
( 1 1 3c94b fe 0 0 d \
r 2 4 9a8b7 8888ffff3e456a21
r 2 4 9a8b7 8888ffff3e456a21
w 3 10 9a8b7 8888ffff3e456a21
r 103 ff fffffffffffff ffffffffffffffff
I 10000000000 1 0 0
e 10000000001
END
laplace-text -b -m merged >packed
laplace-text packed >got
same "a merged trace, packed and back" got merged
is "a reference like the last one takes a byte" "$(sed 4q merged | laplace-text -b -m | wc -c)" "$(($(sed 3q merged | laplace-text -b -m | wc -c) + 1))"
{ cat merged; echo "S 5 1"; } >back
head -c $(($(wc -c <packed) - 5)) packed >cut
gives "a packed trace without its end" 1 "laplace-text: cut: byte $(wc -c <cut | tr -d ' ') (record $(wc -l <merged | tr -d ' ')): the end of the trace is missing" \
	laplace-text cut
same "what came before is written" tap.out merged
gives "packed traces do not go back in time" 1 "laplace-text: back: byte $(wc -c <back | tr -d ' ') (record 8): a time before that of the record before it" laplace-text -b -m back

gives "text as it is" 1 "laplace-text: refs: byte 0: text already (-b makes binary of it)" laplace-text refs
gives "a merged trace as it is" 1 "laplace-text: merged: byte 0: text already, of a merged trace (-b -m makes binary of it)" laplace-text merged
gives "binary as it is" 1 "laplace-text: wide: byte 0: not references as text" laplace-text -b wide
gives "no classic one as text" 1 "laplace-text: classic: byte 0: not references as text" laplace-text -b classic
gives "no packed one as text" 1 "laplace-text: packed: byte 0: not a merged trace as text" laplace-text -b -m packed
gives "no raw references" 1 "laplace-merge: packed: byte 12: a merged trace, where raw references are wanted" laplace-merge -s packed merged
head -c 40 classic >short
gives "cut off" 1 "laplace-text: short: byte 40 (record 2): truncated reference" laplace-text short
is "what came before is written" "$(laplace-text short 2>/dev/null)" "$(head -n 2 refs)"
printf '\211TMLAP\r\n\2\0\20\0\0\0\0\0' >v2
gives "another version" 1 "laplace-text: v2: byte 8: unknown version of Laplace traces" laplace-text v2
printf '\211TMLAP\r\n\1\0\20\0\7\0\0\0' >kind
gives "another kind" 1 "laplace-text: kind: byte 12: unknown kind of trace" laplace-text kind
printf '\211TMREF\r\n\1\0\20\0\0\0\0\0' >ref
gives "a reference stream" 1 "laplace-text: ref: byte 0: a reference stream, not a Laplace trace" laplace-text ref
printf '\211TMCAP\r\n\1\0\20\0\0\0\0\0' >a.ws
gives "a capture" 1 "laplace-merge: a.ws: byte 0: a capture, not a Laplace trace: ws2laplace makes one of it" laplace-merge -s a.ws merged
gives "a capture, made binary as a merged trace" 1 "laplace-text: a.ws: byte 0: a capture, not a Laplace trace: ws2laplace makes one of it" laplace-text -bm a.ws
printf '\211PNG\r\n\032\n\0\0\0\0\0\0\0\0' >picture
gives "another file that begins so" 1 "laplace-text: picture: byte 0: no Laplace trace" laplace-text picture
gives "a full disk" 1 "laplace-text: standard output: No space left on device" sh -c 'laplace-text classic >/dev/full'
gives "-w is for references" 2 "laplace-text: only one of -m and -w can be given; see laplace-text --help" laplace-text -b -m -w refs
gives "-w needs -b" 2 "laplace-text: -w is for -b; see laplace-text --help" laplace-text -w refs
tap_end
