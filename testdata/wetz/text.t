# Text to .wet and back, byte for byte, in any way that texts may be written; bad texts
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
small

# there FILE WHAT
there() {
	wetz -o there.wet "$1" && wetz -d -o there.out there.wet
	same "$2" "$1" there.out
}
there small.txt "a text"
there order.txt "with its order"
wetz <order.txt | wetz -d >pipe.out
same "from and to pipes" order.txt pipe.out
echo 0 >none.txt
there none.txt "of no statements"
printf '0\nORDER 0\n' >none2.txt
there none2.txt "nor steps"
for level in 0 1 9; do
	wetz -$level order.txt | wetz -d >level.out
	same "level $level" order.txt level.out
done

# as others write it
sed 's/$/ /' order.txt >blank.txt
there blank.txt "blanks at the ends of lines"
sed 's/$/\r/' small.txt >cr.txt
there cr.txt "carriage returns"
printf '%s' "$(cat small.txt)" >noend.txt
there noend.txt "no end of the last line"
sed 's/aa$/0AA/' small.txt >upper.txt
there upper.txt "upper case, zeros in front"
sed 's/^    / /' small.txt >indent.txt
there indent.txt "less indented"
awk 'BEGIN { print 1; print "5 2 7 x y 1"; print "SIZE 200000"; for (i = 0; i < 200000; i++) print "    " i ":5 " int(i * 7919 % 200000); print "SIZE 0"
	print "VALUES 200000"; for (i = 0; i < 200000; i++) printf "    %d:%x\n", i, i * 31 + 7 }' >long.txt
there long.txt "lists of several sections"
is "which are smaller then" "$(($(wc -c <there.wet) * 8 < $(wc -c <long.txt)))" 1
gzip -c order.txt >order.gz
wetz order.gz | wetz -d >gz.out
same "a text that gzip made small" order.txt gz.out

gives "a list that ends early" 1 "wetz: bad.txt: line 5: no entry \`X:id instance'" sh -c 'sed 5,6d small.txt >bad.txt; sed -i "s/^SIZE 4/SIZE 9/" bad.txt; sed -n 1,4p small.txt >bad.txt; echo "VALUES 1" >>bad.txt; wetz -o bad.wet bad.txt'
is "leaves no file" "$(ls bad.wet 2>/dev/null)" ""
head -c 100 small.txt >cut.txt
ok "cut off" sh -c 'wetz -o bad.wet cut.txt 2>err; [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q "^wetz: cut.txt: line [0-9]*: " err'
sed 's/3:3 0/3:9 0/' small.txt >unknown.txt
ok "an unknown statement" sh -c 'wetz unknown.txt >out 2>err; [ $? = 1 ] && grep -q "no statement 9" err'
: >empty.txt
ok "nothing at all" sh -c 'wetz empty.txt >out 2>err; [ $? = 1 ] && [ "$(wc -l <err)" = 1 ]'
gives "what is compressed" 1 "wetz: there.wet: is compressed" wetz there.wet
gives "what is not" 1 "wetz: small.txt: byte 0: not a .wet file" wetz -d small.txt
gives "-m of a text" 1 "wetz: small.txt: no capture: -m is of no use" wetz -m full small.txt
ok "a full disk" sh -c 'wetz small.txt >/dev/full 2>err; [ $? = 1 ] && [ "$(wc -l <err)" = 1 ]'
ok "a full disk, back" sh -c 'wetz -d there.wet >/dev/full 2>err; [ $? = 1 ] && [ "$(wc -l <err)" = 1 ]'
tap_end
