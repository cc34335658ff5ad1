# What wsinfo says of the capture in ws(5), and of broken ones
. "$SRC/testdata/tap.sh"
"$BUILD/test/wstest" example >hi.ws

cat >want <<'EOF'
program       /bin/hi
arguments     hi
started       1970-01-01 00:00:00 UTC
captured by   tm
processor     cpu
state         xcr0 0x7, 1 entries of cpuid
kernel        6
kind          trimmed
ended         exit status 0
instructions  3
size          266 bytes, 88666667 per million instructions
records       5 in 1 groups, 0 keyframes
memory        9 bytes, and 0 that are zero

records        number    bytes     packed
start               1       14         14
map                 1       19         19
mem                 1       15         15
sys                 1       12         12
end                 1        4          4

streams        bytes     packed  method
control           51         51  none
code               9          9  none
hash               4          4  none

calls          number   failed  bytes in memory
exit_group          1        0            0
EOF
wsinfo hi.ws >got 2>err
is "status" $? 0
same "summary" got want
wsinfo <hi.ws | cmp -s - want && pass "from standard input" || fail "from standard input"
cat hi.ws | wsinfo - | cmp -s - want && pass "from a pipe" || fail "from a pipe"

cat >want <<'EOF'
0 start rip=0x401000 rsp=0x7000 rflags=0x200 state=0
1 map 0x401000 0x1000 r-x exe /bin/hi offset=0x1000
2 mem 0x401000 9 code b8e700000031ff0f05
3 sys 0x401007 exit_group(0x0, 0x0, 0x0, 0x0, 0x0, 0x0) = 0x0 hash=820912f5
4 end exited 0 icount=3
EOF
wsinfo -l hi.ws >got
same "-l" got want

# of many kinds of records; a fault says where, behind what came before it
mkdir seeds && "$BUILD/test/wstest" seeds seeds
for f in seeds/*.ws; do
	wsinfo "$f" >sum && wsinfo -l "$f" >list || fail "$f"
	[ "$(wc -l <list)" = "$(awk '/^records/ && $2 ~ /^[0-9]+$/ { print $2 }' sum)" ] || fail "$f: lines of -l"
done
pass "random captures"
head -c 200 hi.ws >cut.ws
gives "cut off" 1 "wsinfo: cut.ws: byte 200 (record 0): the group is cut off: 141 of 168 bytes are there" wsinfo cut.ws
grep -q '^ended *unknown' tap.out && pass "and what there is" || fail "and what there is"
head -c 227 hi.ws >noindex.ws
gives "no index" 1 "wsinfo: noindex.ws: byte 227 (record 5): cut off: no index (the capture was interrupted)" wsinfo -l noindex.ws
same "and all records" tap.out want
printf 'nothing' >bad.ws
gives "no capture" 1 "wsinfo: bad.ws: byte 0: not a capture" wsinfo bad.ws
: >empty.ws
gives "empty" 1 "wsinfo: empty.ws: byte 0: empty input" wsinfo empty.ws
gives "no file" 1 "wsinfo: none.ws: No such file or directory" wsinfo none.ws
gives "two files" 2 "wsinfo: b: one operand too many; see wsinfo --help" wsinfo a b
wsinfo hi.ws >/dev/full 2>err
is "a full disk" $? 1
tap_end
