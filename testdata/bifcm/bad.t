# What is wrong is said, and what came before it is there
. "$SRC/testdata/tap.sh"
test=$BUILD/test/streamtest

while IFS='|' read -r options why; do
	# shellcheck disable=SC2086
	gives "usage: $options" 2 "bifcm: $why; see bifcm --help" bifcm $options </dev/null
done <<-'X'
	-w 3|-w 3: not a width; there are 1, 2, 4 and 8
	-w 4,8|-w 4,8: not a width; there are 1, 2, 4 and 8
	-r 8,3|-r 8,3: field 2, character 3 ("3"): a width is 1, 2, 4 or 8
	-r refs|-r refs: field 1, character 1 ("refs"): a width is 1, 2, 4 or 8; or the layout is addr or auto, and nothing else
	-r addr,8|-r addr,8: field 1, character 1 ("addr"): a width is 1, 2, 4 or 8; or the layout is addr or auto, and nothing else
	-r 4,8,|-r 4,8,: field 3, character 5 (the end): a width is 1, 2, 4 or 8
	-r 4,,8|-r 4,,8: field 2, character 3 (","): a width is 1, 2, 4 or 8
	-r 4,8x|-r 4,8x: field 2, character 3 ("8x"): a width is 1, 2, 4 or 8
	-r 8:1|-r 8:1: field 1, character 3 ("1"): the first field can only have key 0, no key
	-r 4,8:2|-r 4,8:2: field 2, character 5 ("2"): its key is 1, the field before it, or 0, no key
	-r 4,8,8:3|-r 4,8,8:3: field 3, character 7 ("3"): its key is a field before it, 1 to 2, or 0, no key
	-r 4,8:|-r 4,8:: field 2, character 5 (the end): its key is 1, the field before it, or 0, no key
	-r 4,8:1:1|-r 4,8:1:1: field 2, character 6 (":"): a comma and another field may follow
	-w 4 -r 8|only one of -r and -w can be given, once
	-b 0|-b 0: not a number from 1 to 4194304; k, M and G after it are 1024, 1024k and 1024M
	--block=4194305|--block 4194305: not a number from 1 to 4194304; k, M and G after it are 1024, 1024k and 1024M
	-b 5,0|-b 5,0: not a number from 1 to 4194304; k, M and G after it are 1024, 1024k and 1024M
	-b 1,2,3|-b 1,2,3: not a number from 1 to 4194304; k, M and G after it are 1024, 1024k and 1024M
	-H 1048577|-H 1048577: not a number from 0 to 1048576; k, M and G after it are 1024, 1024k and 1024M
	-T 65|-T 65: not a number from 0 to 64
	-T x|-T x: not a number from 0 to 64
	-d -l|only one of -d, -l and -t can be given
	-d -t|only one of -d, -l and -t can be given
	-d -9|levels, -b, -H, -m, -r and -w cannot be used with -d, -l and -t
	-d -w 4|levels, -b, -H, -m, -r and -w cannot be used with -d, -l and -t
	-10|-1 and -0: only one level can be given, from -0 to -9; there is no -10
	-9k -1|-9 and -1: only one level can be given, from -0 to -9; there is no -10
	-s 1|-n, -s and -R can only be used with -d
	-R|-n, -s and -R can only be used with -d
	-n 1|-n, -s and -R can only be used with -d
	-l -s 1|-n, -s and -R can only be used with -d
	-t -o x|-o cannot be used with -t, which writes nothing
	-c -o x|only one of -c and -o can be given
	-o x a b|-o: one output for 2 files; without -o each has its own
	-c a b c|-c: 3 compressed files in one output could not be told apart; without -c each has its own
	-S a/b|-S a/b: not a suffix of file names: it is empty or contains /
	-s 1x -d|-s 1x: not a number from 0 to 18446744073709551615; k, M and G after it are 1024, 1024k and 1024M
	--lis=x|--lis: it has no value
	--re|--re: more than one option begins so
	--nothing|--nothing: no such option
	-d --count|--count: its value is missing
X
bifcm -r "$(i=0; while [ $i -lt 65 ]; do printf '1,'; i=$((i + 1)); done)1" </dev/null 2>err
is "too many fields" "$? $(sed 's/.*: field/field/' err)" '2 field 65, character 129 ("1"): a record has at most 64 fields; see bifcm --help'
gives "no such file" 1 "bifcm: none: No such file or directory" bifcm none
gives "no such file, -d" 1 "bifcm: none: No such file or directory" bifcm -d none
gives "a folder" 1 "bifcm: .: Is a directory" bifcm .
bifcm -m none </dev/null >out 2>err
is "no such method" "$? $(cut -d ';' -f 1 err)" "2 bifcm: -m none: not a method"
bifcm -m '?' </dev/null >out 2>err
is "their names" "$? $(cat err) $(tr -d ',' <out | tr ' ' '\n' | grep -c -x -e stored -e fast)" "0  2"

"$test" make 80003 2 >in
bifcm -b 1000 <in >in.bif
: >empty
gives "an empty file" 1 "bifcm: empty: byte 0: empty, not a value stream of bifcm(5)" bifcm -dc empty
gives "another file" 1 "bifcm: in: byte 0: not a value stream of bifcm(5)" bifcm -dc in
{ head -c 8 in.bif; printf '\001'; tail -c +10 in.bif; } >old.bif
gives "the version before" 1 "bifcm: old.bif: byte 0: a value stream of version 1, which only the older bifcm that made it can read" bifcm -t old.bif
{ head -c 8 in.bif; printf '\006'; tail -c +10 in.bif; } >new.bif
gives "another version" 1 "bifcm: new.bif: byte 0: a value stream of an unknown version" bifcm -t new.bif
head -c 20 in.bif >cut.bif
gives "cut off in the header" 1 "bifcm: cut.bif: byte 20: the file was cut off in its header" bifcm -l cut.bif

# offset, first record and records of a block, from 1
block() { bifcm -lvv in.bif | awk -v n="$1" '$1 == "block" && $2 == n { split($6, r, "+"); print $4, r[1], r[2] }'; }
read -r off3 rec3 n3 <<END
$(block 3)
END
head -c $((off3 + 3)) in.bif >cut.bif
for from in "" "-T 2"; do
	# shellcheck disable=SC2086
	gives "cut off $from" 1 "bifcm: cut.bif: byte $off3 (record 2000): the file was cut off here, after 2 whole blocks" bifcm -dc $from cut.bif
	head -c 16000 in | cmp -s - tap.out && pass "what came before" || fail "what came before"
done
head -c $((off3 + 100)) in.bif >cut.bif
cat cut.bif | bifcm -d >out 2>err
is "a pipe cut off" "$? $(cat err)" "1 bifcm: standard input: byte $((off3 + 100)) (record 2000): the file was cut off in block 3 (records 2000 to 2999)"
head -c 16000 in | cmp -s - out && pass "what came before" || fail "what came before"
gives "cut off, backward" 1 "bifcm: cut.bif: byte $((off3 + 100)): the file was cut off: it has no end mark" bifcm -d -R cut.bif
"$test" part 8 0 0 2000 1 <in | cmp -s - tap.out && pass "the whole blocks" || fail "the whole blocks"
bifcm -lv cut.bif >out 2>err
is "cut off, listed" "$? $(sed -n 's/^records //p' out) $(cat err)" \
	"1 2000 bifcm: cut.bif: byte $((off3 + 100)): the file was cut off: it has no end mark"

# a byte of block 3 is another
{ head -c $((off3 + 40)) in.bif; printf 'x'; tail -c +$((off3 + 42)) in.bif; } >bad.bif
cmp -s in.bif bad.bif && fail "it is another"
damaged="bifcm: bad.bif: byte $off3 (record 2000): block 3 (records 2000 to 2999) is damaged: its checksum is another"
for t in 1 3; do
	gives "damaged, -T $t" 1 "$damaged" bifcm -dc -T $t bad.bif
	head -c 16000 in | cmp -s - tap.out && pass "what came before" || fail "what came before"
	gives "damaged, backward -T $t" 1 "$damaged" bifcm -d -R -T $t bad.bif
	"$test" part 8 0 3000 99999 1 <in | cmp -s - tap.out && pass "what came behind" || fail "what came behind"
done
gives "damaged, -t" 1 "$damaged" bifcm -t bad.bif
ok "another part" bifcm -d -s 3000 -n 2500 -o out bad.bif
"$test" part 8 0 3000 2500 0 <in | cmp -s - out && pass "is right" || fail "is right"
gives "-o" 1 "$damaged" bifcm -d -o none bad.bif
[ -e none ] && fail "leaves no file" || pass "leaves no file"
{ cat in.bif; echo; } >long.bif
end=$(($(wc -c <in.bif) + 1))
bifcm -dc long.bif >out 2>err
is "bytes behind the end" "$? $(sed 's/byte [0-9]*/byte N/' err)" "1 bifcm: long.bif: byte N: something follows the end of the stream"
head -c 80000 in | cmp -s - out && pass "all values came before" || fail "all values came before"
cat in.bif in.bif >twice.bif
bifcm -t twice.bif 2>err
is "two in one" "$? $(sed 's/byte [0-9]*/byte N/' err)" "1 bifcm: twice.bif: byte N: something follows the end of the stream"

if [ -c /dev/full ]; then
	is "a full disk" "$(bifcm -c in 2>&1 >/dev/full; echo $?)" "bifcm: standard output: No space left on device
1"
	is "a full disk, -d" "$(bifcm -dc -T 2 in.bif 2>&1 >/dev/full; echo $?)" "bifcm: standard output: No space left on device
1"
	is "a full disk, -R" "$(bifcm -d -R in.bif 2>&1 >/dev/full; echo $?)" "bifcm: standard output: No space left on device
1"
else
	skip "no /dev/full"
fi
is "a reader that goes away" "$( (bifcm -dc -T 2 in.bif; echo $? >status) 2>&1 | head -c 1 >/dev/null; cat status)" 141
is "and one of compressed values" "$( (cat in in in in in in in in | bifcm -0; echo $? >status) 2>&1 | head -c 1 >/dev/null; cat status)" 141
gives "no folder for a pipe" 1 "bifcm: temporary file in /none: No such file or directory" sh -c 'cat in.bif | TMPDIR=/none bifcm -d -R'
tap_end
