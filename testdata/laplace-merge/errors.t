# Traces that are not in order: an error that says where, or left out and counted
. "$SRC/testdata/tap.sh"

cat >kernel <<'END'
A 0 1 1
m 0 1 1000 2000
S 0 1
F 5 2 1
A 5 2 2
m 5 2 1000 1000
S 6 2
S 9 1
e 10
END
cat >refs <<'END'
r 1 4 1 1000
w 2 4 1 2ffc
r 6 4 2 1000
i 9 4 1 2000
END
laplace-merge --basic refs kernel >whole
is "in order" "$? $(wc -l <whole | tr -d ' ')" "0 13"

# bad WHAT FILE:BYTE:RECORD MESSAGE: an error there, nothing under the final name, the stream up to it; --lenient leaves one out
bad() {
	f=${2%%:*} rest=${2#*:}
	gives "$1" 1 "laplace-merge: $f: byte ${rest%%:*} (record ${rest#*:}): $3" laplace-merge -o out r k
	is "$1: nothing is left" "$(find . -name 'out*')" ""
	laplace-merge -s r k >got 2>err
	laplace-merge -sl r k 2>err | head -c "$(wc -c <got)" >want
	same "$1: a stream goes up to it" got want
	gives "$1, lenient" 0 "laplace-merge: left out: 1 records: ${4-${3%: [0-9a-f]*}}" laplace-merge --lenient -o out r k
	is "$1: the manifest says it" "$(grep ^left out/manifest)" "left 1 ${4-${3%: [0-9a-f]*}}"
	rm -rf out
}
cp kernel k
{ cat refs; echo "i 8 4 1 1000"; } >r
bad "a reference back in time" r:52:4 "a time before that of an earlier record"
{ cat refs; echo "i 9 4 3 1000"; } >r
bad "an address space that nobody announced" r:52:4 "an address space that nobody announced: 1000"
{ cat refs; echo "i 9 4 2 1000"; } >r
bad "another task's address space" r:52:4 "an address space that is not that of the running task: 1000"
{ cat refs; echo "i 9 4 1 3000"; } >r
bad "a page that is not mapped" r:52:4 "a page that is not mapped: 3000"
{ cat refs; echo "i 9 4 1 2ffe"; } >r
bad "one that goes on where nothing is mapped" r:52:4 "a page that is not mapped: 2ffe"
{ echo "i 0 4 1 ffffffffffffffff"; cat refs; } >r
{ echo "A 0 1 1"; echo "m 0 1 fffffffffffff000 1000"; sed 1d kernel; } >k
bad "one that goes beyond memory" r:0:0 "beyond the end of memory: ffffffffffffffff"
{ echo "i 0 4 1 1000"; sed 1,2d refs; } >r
sed '/^S 0/d' kernel >k
bad "no task runs" r:0:0 "no task runs: 1000"
cp kernel k
{ cat refs; echo "x 9 4 1 3000"; } >r
bad "an unknown type" r:52:4 "an unknown type of reference"
{ cat refs; echo "i 9 4 1 300000000000000000000000000000000000000000000000000000000000"; } >r
bad "an overlong reference" r:52:4 "an overlong record"
{ cat refs; printf 'i 9 4 1 2000'; } >r
bad "a reference that is cut off" r:64:4 "truncated reference"
{ laplace-text -b refs; printf i; } >r
bad "a classic one" r:73:4 "truncated reference"
{ laplace-text -b refs; printf 'iiiiiiiii\0iiiiiiii'; } >r
bad "one of no bytes" r:72:4 "a reference of no bytes"
{ laplace-text -b -w refs; printf 'Xiiiiiiiiiiiiiiiiiiiiiiiii'; } >r
bad "a wide one of no type" r:120:4 "an unknown type of reference"

cp refs r
# kernel WHAT LINE-NUMBER LINE MESSAGE: with this line there
kernel() {
	awk -v n="$2" -v line="$3" 'NR == n { print line } { print }' kernel >k
	bad "$1" "k:$(head -n $(($2 - 1)) kernel | wc -c | tr -d ' '):$(($2 - 1))" "$4" "${5-${4%: [0-9a-f]*}}"
}
kernel "an unknown tag" 4 "Z 4 1" "an unknown tag"
{ sed 3q kernel; echo "S 4 1"; echo "S 3 1"; sed 1,3d kernel; } >k
bad "back in time" k:36:4 "a time before that of an earlier record"
kernel "a task that is there" 4 "F 4 1 1" "a new task that is there already: 1"
kernel "a task that is not" 4 "T 4 99" "a task that nobody announced: 99"
kernel "a map of no task" 4 "m 4 99 1000 1000" "a task that nobody announced: 99"
kernel "a map of no address space" 4 "m 5 2 1000 1000" "a task that nobody announced: 2"
kernel "no range" 4 "U 4 1 1000 0" "a range of no bytes"
kernel "a range beyond memory" 4 "m 4 1 1000 ffffffffffffffff" "a range beyond the end of memory: 1000"
kernel "a copy of nothing" 4 "C 4 1 9000" "a page that is not mapped: 9"
kernel "a move of nothing" 4 "@ 4 1 9000 1000 a000 1000" "a range that is not mapped: a000"
kernel "a move onto itself" 4 "@ 4 1 2000 2000 1000 2000" "a range that is moved onto itself"
kernel "a duplicate of nothing" 4 "D 4 7 8 0 1000" "an address space that nobody announced: 7"
kernel "a number too large" 4 "S 4 100000000" "a number that is too large"
kernel "a number not as short as it is" 4 "S 4 01" "not the fields that the record has, as hexadecimal numbers"
kernel "upper case" 4 "S 4 A" "not the fields that the record has, as hexadecimal numbers"
kernel "one field more" 4 "S 4 1 1" "more after the record's last field"
kernel "an overlong record" 4 "X 4 1 1 1 1 $(head -c 70000 /dev/zero | tr '\0' x)" "an overlong record"
kernel "an overlong name" 4 "X 4 1 1 1 1 $(head -c 17000 /dev/zero | tr '\0' x)" "an overlong name"
{ cat kernel; echo "S 11 1"; } >k
bad "something behind the end" "k:$(wc -c <kernel | tr -d ' '):9" "a record after the end of the trace"
sed '$d' kernel >k
bad "no end" "k:$(wc -c <k | tr -d ' '):8" "truncated: no record e at the end"
printf 'e 10' | cat k - >k2 && mv k2 k
gives "an end that is cut off" 1 "laplace-merge: k: byte $(wc -c <k | tr -d ' ') (record 8): truncated record" laplace-merge -s r k

# every byte at which a trace can end: an error, or (references have no end mark) the stream without the rest
cut() { # FILE NAME
	any=
	[ "$2" = k ] || any=-a
	is "cut off at every byte: $1" "$(damaged $any -s "$step" "$1" "$2" whole laplace-merge --basic r k)" ""
}
step=1
[ -z "$SAN" ] || step=5
cp refs r
cut kernel k
cp kernel k
cut refs r
laplace-text -b refs >classic
cut classic r
laplace-text -b -w refs >wide
cut wide r
: >r
ok "no references at all" laplace-merge -o out r k
gives "no kernel trace" 1 "laplace-merge: r: byte 0 (record 0): truncated: no record e at the end" laplace-merge -s r r
tap_end
