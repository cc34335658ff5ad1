# Texts by chance to .wet and back; the text that the format's authors print; texts that fill sections
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
. "$SRC/testdata/ws2wet/lib.sh"
PATH=$BUILD/test:$PATH

n=300
case $SAN in ?*) n=60 ;; esac
is "texts 1 to $n, any ids, sizes, orders and lists" "$(wettextgen check 1 $n 2>&1)" ""
bad=
for i in 1 2 3 4 5 6; do
	wettextgen loose $((n + i)) >loose.txt
	wetz loose.txt | wetz -d | cmp -s - loose.txt || bad="$bad $i"
done
is "by the tools, as others write them" "$bad" ""

wetz -o page.wet "$HERE/page.txt" && wetz -d -o page.out page.wet
same "statements with the authors' own numbers" "$HERE/page.txt" page.out

# the longest column full just when the text ends: no section is behind it
awk 'BEGIN { n = 1048576; print 1; print "5 1 7 x y 1"; print "SIZE 0"; print "NO VALUES"; print "ORDER", n; while (n--) print "5 1" }' >full.txt
wetz -1 -o full.wet full.txt && wetz -d -o full.out full.wet
same "an order as long as a section" full.txt full.out
awk 'BEGIN { n = 1048576; print 1; print "5 1 7 x y 1"; print "SIZE 0"; print "VALUES", n; for (i = 0; i < n; i++) print "    " i ":1" }' >full.txt
wetz -1 -o full.wet full.txt && wetz -d -o full.out full.wet
same "values, and no order" full.txt full.out

# the last statement has no values, and there is an order
printf '1\n5 1 7 x y 1\nSIZE 0\nNO VALUES\nORDER 1\n5 1\n' >last.txt
wetz last.txt | wetz -d >last.out
same "no values, but an order" last.txt last.out
why=$(able) || { skip "$why"; tap_end; exit; }
foo1 -fno-pie -no-pie
ws2wet --main foo1.ws >main.txt
wetz main.txt | wetz -d >main.out
same "the authors' example, --main" main.txt main.out
tap_end
