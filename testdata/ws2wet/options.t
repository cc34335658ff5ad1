# Options: regions, budgets, strictness, input from a pipe; trimmed captures; files that are gone; bad captures
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
ok "foo1 is captured" foo1
ws2wet foo1.ws >all.wet

ok "with a small budget" ws2wet -m 50k -o small.wet foo1.ws
same "the text is the same" all.wet small.wet
ws2wet -m 1 -n 100:400 foo1.ws >one.wet
ws2wet -n 100:400 foo1.ws >few.wet
same "list by list, too" few.wet one.wet
ws2wet - <foo1.ws >pipe.wet
same "from standard input" all.wet pipe.wet
"$BUILD/test/trimtest" foo1.ws again.ws 100000 100 >out
ws2wet again.ws >again.wet
same "of a capture with keyframes" all.wet again.wet

# statements in the order
total() { awk '/^ORDER/ { on = 1; next } on { n += $2 } END { print n + 0 }' "$1"; }
n=$(total all.wet)
for at in 1 77 5000 $((n - 1)); do
	ws2wet -n ":$at" foo1.ws >a.wet
	ws2wet -n "$at:" foo1.ws >b.wet
	is "regions cut at $at add up" "$(total a.wet) $(total b.wet)" "$at $((n - at))"
done
is "an empty region" "$(ws2wet -n 50:50 foo1.ws | tr '\n' ' ')" "0 ORDER 0 "
is "a region behind the end" "$(ws2wet -n 99999999: foo1.ws | tr '\n' ' ')" "0 ORDER 0 "
is "a region that begins amid a block" "$(ws2wet -n 3:9 foo1.ws | head -n 1)" 6

ws2wet -s main foo1.ws >main.wet
is "a function begins with its first statement" "$(sed -n 2p main.wet | cut -d ' ' -f 5,6)" "main 3"
is "and ends with its last one" "$(awk '/^[0-9]+ [0-9]+ [0-9a-f]+ [^ ]+ main / { last = $6 } END { print last }' main.wet)" 12
is "what it calls is in it" "$(($(head -n 1 main.wet) > 200))" 1
gives "no such function" 1 "ws2wet: foo1.ws: no function thrice in the files that the program mapped" ws2wet -s thrice foo1.ws
gives "both regions" 2 "ws2wet: only one of -n and -s can be given; see ws2wet --help" ws2wet -s main -n 1:2 foo1.ws

ws2wet --strict foo1.ws >strict.wet
is "strict: no order" "$(grep -c ORDER strict.wet)" 0
is "strict: nothing twice in a list" "$(awk -F: '/^SIZE|^VALUES/ { last = "" } /^    / { if ($1 == last) print NR; last = $1 }' strict.wet)" ""
is "otherwise there is" "$(awk -F: '/^SIZE|^VALUES/ { last = "" } /^    / { if ($1 == last) n++; last = $1 } END { print (n > 0) }' all.wet)" 1

# names are those of the very file
mv foo1 gone
is "the program is gone" "$(ws2wet --main foo1.ws | grep -c '? ? 0$')" "$(ws2wet --main foo1.ws | head -n 1)"
${CC:-gcc} -w -g -O2 $static foo1.c -o foo1
is "or another one" "$(ws2wet --main foo1.ws | grep -c 'foo1.c main')" 0
mkdir 'a b' && cp foo1.c 'a b/x y.c' && ${CC:-gcc} -w -g $static 'a b/x y.c' -o blank && wscap -o blank.ws ./blank
is "a name with blanks" "$(ws2wet --main blank.ws | awk '$5 == "main" { print $4 }' | sort -u)" 'a\040b/x\040y.c'

# bad captures
size=$(wc -c <foo1.ws)
head -c $((size / 2)) foo1.ws >cut.ws
is "no function in what is there" "$(ws2wet -s main cut.ws 2>&1 | sed 's/[ (].* cut off.*//')" "ws2wet:"
bad='' i=0
while [ $i -lt "$size" ]; do
	head -c $i foo1.ws >cut.ws
	timeout 120 ws2wet -o cut.wet cut.ws >out 2>err
	status=$?
	[ $status = 1 ] && [ "$(wc -l <err)" = 1 ] && [ ! -e cut.wet ] || bad="$bad $i:$status"
	i=$((i + 1 + size / 30))
done
is "truncated anywhere" "$bad" ""
if [ -e /dev/full ]; then
	ws2wet foo1.ws >/dev/full 2>err
	is "a full disk" "$? $(grep -c "No space left" err)" "1 1"
fi
tap_end
