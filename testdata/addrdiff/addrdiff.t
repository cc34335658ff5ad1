# addrdiff over fixtures written as text
. "$SRC/testdata/tap.sh"
mk() { "$BUILD/test/mkref" "$@"; }

cat >base.txt <<'X'
inst 0x401000 4
load 0x404010 8
store 0x7ffe00001000 8
inst 0x401004 3
modify 0x405000 4
enter 0x401007
inst 0x401007 5
load 0x7f0000001000 16
store 0x7ffe00000ff0 8
back 0x401007
inst 0x401007 5
load 0x7f0000001010 16
store 0x7ffe00000fe8 8
exit 0x401007
inst 0x40100c 1
X
mk <base.txt >a
cp a b
gives "the same" 0 "" addrdiff a b
is "in silence" "$(cat tap.out)" ""
addrdiff -v a b >out
is "-v counts" "$(cat out)" "a b are the same: 15 references, 5 instructions"
gzip -c a | addrdiff -v - b >out
is "compressed, from standard input" "$(cat out)" "standard input b are the same: 15 references, 5 instructions"

sed '9s/0xff0/0xff8/; 9s/ff0 8/ff4 8/' base.txt | mk >b
gives "another address" 1 "" addrdiff -n 2 a b
cat >want <<'X'
a b differ: reference 9, instruction 3
  a: reference 9, instruction 3 at 0x401007
  b: reference 9, instruction 3 at 0x401007
  inst   0x401007 5                inst   0x401007 5
  load   0x7f0000001000 16         load   0x7f0000001000 16
> store  0x7ffe00000ff0 8          store  0x7ffe00000ff4 8
  back   0x401007                  back   0x401007
  inst   0x401007 5                inst   0x401007 5
X
same "is told with its neighbours" tap.out want
gives "-q tells nothing" 1 "" addrdiff -q a b
is "-q tells nothing" "$(cat tap.out)" ""
gives "-n 0" 1 "" addrdiff -n 0 a b
is "-n 0 shows the difference only" "$(wc -l <tap.out)" 4

head -n 12 base.txt | mk >b
gives "one is shorter" 1 "" addrdiff -n 1 a b
cat >want <<'X'
a b differ: reference 13, instruction 4
  a: reference 13, instruction 4 at 0x401007
  b: reference 13, instruction 4 at 0x401007
  load   0x7f0000001010 16         load   0x7f0000001010 16
> store  0x7ffe00000fe8 8          (end)
  exit   0x401007                  
X
same "and its end is shown" tap.out want
: | mk >b
gives "an empty stream" 1 "" addrdiff a b
gives "two empty streams" 0 "" addrdiff b b

for edit in '1s/ 4/ 5/' '2s/load/store/' '5s/modify/load/' '2s/ 8/ 4/' '6s/1007/1008/' '6d' '10s/back/enter/' '$d' '15s/40100c/40100d/'; do
	sed "$edit" base.txt | mk >b
	gives "differs: $edit" 1 "" addrdiff -q a b
	gives "differs the other way: $edit" 1 "" addrdiff -q b a
done

grep -v -E '^(enter|back|exit)' base.txt | mk >noloops
gives "without loop events it differs" 1 "" addrdiff -q a noloops
gives "-l leaves them out" 0 "" addrdiff -l a noloops
{ echo "==7== Lackey"; mk lackey <base.txt; echo "==7== Exit code: 0"; } >log
gives "a log has none" 0 "" addrdiff a log
gives "from either side" 0 "" addrdiff log a
gives "two logs" 0 "" addrdiff log log
sed 's/^I  0040100c,1/I  0040100c,2/' log >log2
gives "a log that differs" 1 "" addrdiff -q a log2

# Conventions: the same instruction cut differently
cat >qemu.txt <<'X'
inst 0x401000 4
load 0x404010 8
store 0x7ffe00001000 8
inst 0x401004 3
load 0x405000 4
store 0x405000 4
inst 0x401007 5
load 0x7f0000001000 8
load 0x7f0000001008 8
store 0x7ffe00000ff0 8
inst 0x401007 5
load 0x7f0000001010 8
load 0x7f0000001018 8
store 0x7ffe00000fe8 8
inst 0x40100c 1
X
mk <qemu.txt >q
gives "pieces differ" 1 "" addrdiff -q noloops q
gives "-c takes them together" 0 "" addrdiff -c noloops q
gives "from either side" 0 "" addrdiff -c q noloops
mk lackey <qemu.txt >qlog
addrdiff -v noloops qlog >out
is "a log implies -c" "$?: $(cat out)" "0: noloops qlog are the same: 12 references, 5 instructions
same by convention only: 3 instructions"
for edit in '5d' '6d' '8d' '9d' '9s/1008/1010/' '9s/load/store/' '8s/ 8/ 4/' '5s/load/store/' '10d'; do
	sed "$edit" qemu.txt | mk >b
	gives "-c finds: $edit" 1 "" addrdiff -q -c noloops b
done
# lackey prints the load of a locked instruction twice
sed 's/^ M 00405000,4/ L 00405000,4\n M 00405000,4/' log >log2
gives "locked instructions" 0 "" addrdiff a log2
# a load that the log lacks
grep -v '^ L 00404010' log >log2
gives "a dead load" 1 "" addrdiff -q a log2
addrdiff -d -v a log2 >out
is "-d lets it pass, and counts it" "$?: $(tail -n 1 out)" "0: loads that the log lacks: 1"
grep -v '^ S 7ffe00001000' log >log2
gives "-d does not let a store pass" 1 "" addrdiff -d -q a log2
gives "nor a load that only the log has" 1 "" addrdiff -d -q noloops "$(sed 's/^ S 7ffe00001000,8/ L 00404018,8\n&/' log >log3; echo log3)"

# Shifts
sed 's/0x7ffe0000/0x1fff0000/; s/0x7f0000001/0x48b001/' base.txt >s.txt
mk <s.txt >s
gives "elsewhere" 1 "" addrdiff -q a s
gives "-s: the stack and a mapping elsewhere" 0 "" addrdiff -s a s
gives "from either side" 0 "" addrdiff -s s a
sed '13s/fe8/fe0/' s.txt | mk >b
gives "one address in the region is off" 1 "" addrdiff -s a b
is "-s says why" "$(sed -n 4p tap.out)" "  shifted by -0x5fff00000008, which is not a multiple of 16"
sed '12s/48b001010/48b001018/' s.txt | mk >b
gives "a mapping is off by 8" 1 "" addrdiff -q -s a b
sed '12s/load 0x[0-9a-f]*/load 0x404010/' base.txt | mk >b
# a stack that is not shifted by whole pages; strings above it have a constant of their own
cat >str.txt <<'X'
inst 0x401000 4
store 0x7ffe00001ff8 8
load 0x7ffe00002008 8
load 0x7ffe00002450 1
store 0x7ffe00000ff8 8
load 0x7ffe00002451 1
X
mk <str.txt >a1
sed 's/7ffe00001ff8/1fff001f38/; s/7ffe00002008/1fff001f48/; s/7ffe0000245/1fff00236/; s/7ffe00000ff8/1fff000f38/' str.txt >str2.txt
mk <str2.txt >b
gives "the strings above the stack have their own constant" 0 "" addrdiff -s a1 b
addrdiff -v -s a1 b | sed 's/ by .*//' >out
is "both are told" "$(cat out)" "a1 b are the same: 6 references, 1 instructions
shift: stack 0x7ffe00000ff8-0x7ffe00002008
shift: arguments 0x7ffe00002450-0x7ffe00002451"
sed 's/1fff002361/1fff002362/' str2.txt | mk >b
gives "which holds" 1 "" addrdiff -q -s a1 b
sed 's/1fff000f38/1fff000f30/' str2.txt | mk >b
gives "the stack's holds below" 1 "" addrdiff -q -s a1 b
sed 's/1fff000f38/1ffefff38/' str2.txt | mk >b
gives "even by whole pages" 1 "" addrdiff -q -s a1 b

# mappings that have moved as the stack has are no stack, and others beside them may have moved otherwise
cat >map.txt <<'X'
inst 0x401000 4
store 0x7fffffffe008 8
load 0x7ffff7d80008 8
load 0x7ffff7f01008 8
load 0x7ffff7f81008 8
load 0x7ffff7c01008 8
X
mk <map.txt >a1
sed 's/7ffff7f01008/7ffff7f02008/; s/7ffff7f81008/7ffff7f83008/; s/7ffff7c01008/7ffff7bf1008/' map.txt | mk >b
addrdiff -v -s a1 b >out
is "mappings that have moved as the stack has" "$? $(sed 1d out)" "0 shift: mapping 0x7ffff7c01008-0x7ffff7c01008 by -0x10000
shift: mapping 0x7ffff7d80008-0x7ffff7d80008 by +0x0
shift: mapping 0x7ffff7f01008-0x7ffff7f01008 by +0x1000
shift: mapping 0x7ffff7f81008-0x7ffff7f81008 by +0x2000
shift: stack 0x7fffffffe008-0x7fffffffe008 by +0x0"

# a region that is shifted by a multiple of 16: thread-local storage; one more with -a
cat >odd.txt <<'X'
inst 0x401000 4
load 0x7ffff7d80740 8
store 0x7fffffffe008 8
load 0x7ffff7d80768 8
load 0x7ffff7f01000 8
store 0x7ffff7e11008 8
X
mk <odd.txt >a1
cat >odd2.txt <<'X'
inst 0x401000 4
load 0x4a29690 8
store 0x1ffefffe38 8
load 0x4a296b8 8
load 0x4b01000 8
store 0x4c11008 8
X
mk <odd2.txt >b
addrdiff -v -s a1 b >out
is "thread-local storage" "$? $(sed 1d out)" "0 shift: odd 0x7ffff7d80740-0x7ffff7d80768 by -0x7ffff33570b0
shift: mapping 0x7ffff7e11008-0x7ffff7e11008 by -0x7ffff3200000
shift: mapping 0x7ffff7f01000-0x7ffff7f01000 by -0x7ffff3400000
shift: stack 0x7fffffffe008-0x7fffffffe008 by -0x7fe000ffe1d0"
sed 's/4c11008/4c11018/' odd2.txt | mk >b
gives "a second one" 1 "" addrdiff -q -s a1 b
gives "is allowed by -a 1" 0 "" addrdiff -a 1 -s a1 b
sed 's/4c11008/4c11010/' odd2.txt | mk >b
gives "but not by 8" 1 "" addrdiff -q -a 1 -s a1 b
gives "a load of the data instead of the mapping" 1 "" addrdiff -q -s a b
sed '1s/401000/402000/' base.txt | mk >b
gives "instructions are never shifted" 1 "" addrdiff -q -s a b

# Trouble is 2, and never looks like a difference
head -c 100 a >cut
gives "truncated" 2 "addrdiff: cut: byte 100 (record 11): truncated reference" addrdiff -q a cut
gzip -c a | head -c 60 >cut.gz
addrdiff a cut.gz >out 2>err
is "truncated gzip" "$?: $(cat out)$(sed 's/byte [0-9]* (record [0-9]*)/byte N (record M)/' err)" \
	"2: addrdiff: cut.gz: byte N (record M): truncated compressed data"
{ cat a; printf '\377\377\377\377\377\377\377\377'; } >bad
gives "a word that is none" 2 \
	"addrdiff: bad: byte 136 (record 16): not a reference: unknown kind, or a size that the kind does not have" addrdiff a bad
head -c 118 log >cutlog
addrdiff -q a cutlog 2>err
is "truncated log" "$?: $(sed 's/byte [0-9]* (record [0-9]*)/byte N (record M)/' err)" \
	"2: addrdiff: cutlog: byte N (record M): truncated line"
gives "no such file" 2 "addrdiff: none: No such file or directory" addrdiff a none
: >empty
gives "empty" 2 "addrdiff: empty: empty input" addrdiff a empty
echo hello >text
gives "neither stream nor log" 2 "addrdiff: text: neither a reference stream nor a lackey log" addrdiff a text
gives "usage" 2 "addrdiff: an operand is missing; see addrdiff --help" addrdiff a
gives "two standard inputs" 2 "addrdiff: only one of the two can be standard input" addrdiff - -
gives "-n that is no number" 2 "addrdiff: -n -1: not a number from 0 to 1000; see addrdiff --help" addrdiff -n -1 a a
err=$(addrdiff a noloops 2>&1 >/dev/full)
is "a full disk is no difference" "$?: $err" "2: addrdiff: standard output: No space left on device"

# Long: a difference far behind, and windows that must slide
awk 'BEGIN { for (i = 0; i < 300000; i++) { print "inst", "0x401000", 4; print "load", "0x404010", 8 } }' | mk >long
awk 'BEGIN { for (i = 0; i < 300000; i++) { print "inst", "0x401000", 4; print "load", i == 299990 ? "0x404018" : "0x404010", 8 } }' |
	mk lackey >long2
addrdiff -n 1 long long2 >out
is "a late difference" "$?: $(sed -n 1p out)" "1: long long2 differ: reference 599982, instruction 299991"
is "with what surrounds it" "$(sed -n '4,$p' out)" "  inst   0x401000 4                inst   0x401000 4
> load   0x404010 8                load   0x404018 8
  inst   0x401000 4                inst   0x401000 4"
# Mappings that moved, between a heap and a stack that did not, whichever is seen first
cat >mm.c <<'END'
#include <stdlib.h>
int main(int c, char **v)
{
	volatile char st[64];
	volatile char *h = malloc(10), *m = malloc(1000000);
	if (c > 1)
		m[5] = 1;
	h[0] = 1;
	st[3] = 1;
	h[1] = 2;
	for (int i = 0; i < 5; i++)
		m[i * 100] = i;
	st[4] = 2;
	return st[3] - 1 + !v;
}
END
if aecc -O1 mm.c -o mm && prlimit --stack=307200000 true 2>/dev/null && setarch -R true 2>/dev/null; then
	for arg in '' x; do
		# shellcheck disable=SC2086
		env -i AE_OUT=a1 setarch -R ./mm $arg
		# shellcheck disable=SC2086
		prlimit --stack=307200000 env -i AE_OUT=a2 setarch -R ./mm $arg
		ae2addr mm a1 >r1 && ae2addr mm a2 >r2
		ok "they differ without -s${arg:+, mapping first}" sh -c '! addrdiff -q r1 r2'
		ok "mappings that moved${arg:+, mapping first}" addrdiff -s -e mm r1 r2
	done
else
	skip "no other stack limit or no setarch -R here"
fi

# parts: the first difference has the same numbers
for i in 0 1 2 3 4 5 6 7 8 9; do echo inst 0x40100$i 1; echo load 0x40400$i 1; done >lines
mk <lines >parts.a
sed 's/0x404007/0x404107/; s/0x404009/0x404109/' lines | mk >parts.b
addrdiff -n 0 parts.a parts.b >want
for r in 0:10 5:8 7:8 7:; do
	addrdiff -n 0 --range $r parts.a parts.b >got
	same "a range with the difference: $r" want got
done
gives "before the difference" 0 "" addrdiff --range 0:7 parts.a parts.b
gives "between two" 0 "" addrdiff --range 8:9 parts.a parts.b
gives "after the first" 1 "" addrdiff -q --range 8: parts.a parts.b
addrdiff -v --range 2:5 parts.a parts.b >out
is "-v counts what is compared" "$(cat out)" "parts.a parts.b are the same: 6 references, 3 instructions"
gives "behind the end: said" 0 "addrdiff: nothing is in this range: parts.a has 10 instructions, parts.b 10" addrdiff --range 99999: parts.a parts.b
gives "but not with -q, which prints nothing" 0 "" addrdiff -q -v --range 99999: parts.a parts.b
is "nor with -v" "$(wc -c <tap.out | tr -d ' ')" 0
gives "no range" 2 "addrdiff: --range 5: not a range FROM:TO, of which one may be left out, with FROM before TO; see addrdiff --help" addrdiff --range 5 parts.a parts.b

# a difference that is damage: status 2, as of every other damage, wherever the bit is
{ echo inst 0x401000 4; seq 40 | sed 's/.*/load 0x4040&0 8/; s/0x4040\([0-9]\)0/0x40400\10/'; } | mk >whole
gzip -9nc <whole >whole.gz
size=$(wc -c <whole.gz)
i=20
: >said
while [ $i -lt $((size - 8)) ]; do
	python3 -c "
import sys
d = bytearray(open('whole.gz', 'rb').read()); d[$i] ^= 4; open('bad.gz', 'wb').write(d)"
	addrdiff -q whole bad.gz 2>/dev/null
	echo $? >>said
	i=$((i + 9))
done
is "damage is no difference" "$(sort -u said | tr '\n' ' ')" "2 "
printf '\211TMCAP\r\n\001\000\000\000\000\000\000\000' >other.ws
gives "a capture that is none" 2 "addrdiff: other.ws: byte 16: truncated header" addrdiff other.ws a
printf '\211AEOUT\r\n\001\000\000\000\000\000\000\000' >ae.out
gives "events" 2 "addrdiff: ae.out: byte 0: events, not a reference stream: ae2addr makes one of them" addrdiff a ae.out
printf '\211TMBIF\r\n\001\000\000\000\000\000\000\000' >a.bif
gives "a compressed stream" 2 "addrdiff: a.bif: byte 0: compressed by bifcm: bifcm -d gives the stream back" addrdiff a a.bif
tap_end
