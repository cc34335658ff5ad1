# Merged traces with the offset in the page of each reference
. "$SRC/testdata/tap.sh"

cat >kernel <<'END'
A 0 1 1
m 0 1 10000 4000
S 0 1
e 9
END
cat >refs <<'END'
i 1 4 1 10000
i 2 4 1 10004
r 3 8 1 11ffc
w 4 ff 1 12f01
R 5 4 1 c0000ffc
i 6 2 1 10008
END
laplace-merge --offsets -s refs kernel >stream
is "each reference has its offset; one over the end of a page has two" "$(grep '^[rwiRWI]' stream)" \
"i 1 4 10 10000000000000 0
i 2 4 10 10000000000000 4
r 3 4 11 10000000000001 ffc
r 3 4 12 10000000000002 0
w 4 ff 12 10000000000002 f01
R 5 4 c0000 c0000 ffc
i 6 2 10 10000000000000 8"
laplace-text -b -m --offsets stream >packed
# 16 of the header, 5 of the end, 2 of the first reference
printf 'i 0 4 0 0 %s\n' 0 4 8 c | laplace-text -b -m --offsets >next
is "a fetch where the last one ended takes a byte" "$(od -An -tx1 -j 12 -N 4 next | tr -d ' ') $(wc -c <next)" "02000000 26"
laplace-text packed >got
same "packed, and back" got stream
laplace-merge -b -s --offsets refs kernel >got
same "laplace-merge packs the same" got packed
n=$(($(wc -c <packed)))
bad=
k=16
while [ $k -lt $n ]; do
	head -c $k packed | laplace-text >got 2>err
	[ $? = 1 ] && grep -q "byte $k" err || bad="$bad $k"
	k=$((k + 1))
done
is "cut off at every byte" "$bad" ""
echo "i 0 4 0 0 0" >has
echo "i 0 4 0 0" >hasnot
gives "an offset that was not announced" 1 "laplace-text: has: byte 12 (record 0): a reference with an offset, which needs --offsets" laplace-text -b -m has
gives "one that is not there" 1 "laplace-text: hasnot: byte 10 (record 0): a reference without an offset" laplace-text -b -m --offsets hasnot
gives "only with -b -m" 2 "laplace-text: --offsets is for -b -m; see laplace-text --help" laplace-text --offsets -b packed
gives "what reads raw references says what it is" 1 "laplace-merge: packed: byte 12: a merged trace, where raw references are wanted" laplace-merge -s packed kernel

# a large one: the offsets are those of the addresses, and all else is as without them
${CC:-gcc} -O1 "$SRC/experiments/laplacegen.c" -o gen || fail "laplacegen compiles"
./gen 200000 kernel >kernel && ./gen 200000 classic >refs
laplace-merge --offsets -o with refs kernel
laplace-merge -o without refs kernel
same "the same manifest" with/manifest without/manifest
(cd with && cat p*/t* kernel) | awk '/^[rwiRWI]/ { NF = 5 } { print }' >got
(cd without && cat p*/t* kernel) >want
same "without the offsets, the same traces" got want
(cd with && cat p*/t* kernel) | awk '/^[rwiRWI]/ { print $1, $2, $4 substr("000" $6, length($6) + 1) }' | sort >got
laplace-text refs | awk '{ print $1, $2, $5 }' | sort >want
is "every address is there" "$(comm -13 got want)" ""
is "what else is there begins a page" "$(comm -23 got want | grep -v '000$')" ""
./gen 200000 wide >wide
laplace-merge --offsets -o wider wide kernel
diff -r with wider >err && pass "wide references: the same" || fail "wide references: the same" "$(head -n 5 err)"
laplace-merge -b --offsets -o folder refs kernel
(cd folder && for f in p*/t* kernel; do laplace-text "$f"; done) >got
(cd with && cat p*/t* kernel) >want
same "packed folders" got want
tap_end
