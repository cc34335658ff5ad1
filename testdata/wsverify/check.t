# Captures are replayed as the processor runs them; windows; what is said
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }

ok "a small program" tiny
n=$(ws2addr -c tiny.ws | sed -n 's/^instructions //p')
all=$(ws2addr -c tiny.ws | awk '{ n += $2 } END { print n }')
is "all of it" "$(wsverify -x tiny.ws)" "$n instructions, $all references checked, 0 differences"
is "from standard input" "$(wsverify - <tiny.ws)" "$n instructions, $all references checked, 0 differences"
is "a region" "$(wsverify -n 100:300 tiny.ws | sed 's/,.*//')" "200 instructions"
is "amid a repeated instruction" "$(wsverify -v -n 9008:9012 tiny.ws | sed -n 's/,.*, /, /; 2p')" "4 instructions, 0 differences"
is "windows" "$(wsverify -e 1000 -l 50 tiny.ws | sed 's/,.* in / in /')" "$((9 * 50 + n - 9000)) instructions in 10 windows, 0 differences"
gives "behind the end" 2 "wsverify: tiny.ws: no instruction was checked" wsverify -n 99999999: tiny.ws
# shellcheck disable=SC2002
gives "a pipe" 2 "wsverify: standard input: not a regular file, which is read at several places at once" sh -c 'cat tiny.ws | wsverify'

ok "instructions that differ by nature" made odd
is "they do not" "$(wsverify -x odd.ws 2>&1 | sed 's/^.*checked, //')" "0 differences"
wscap -o c.ws true
is "a program with libraries" "$(wsverify c.ws 2>&1 | sed 's/^.*checked, //')" "0 differences"
wstrim c.ws
is "a program with libraries, trimmed" "$(wsverify c.ws 2>&1 | sed 's/^.*checked, //')" "0 differences"

head -c 300 tiny.ws >cut.ws
wsverify cut.ws >out 2>err
is "a capture that is cut off" "$? $(wc -l <err | tr -d ' ')" "2 1"
size=$(wc -c <tiny.ws | tr -d ' ')
head -c $((size - 9)) tiny.ws >cut.ws
is "where" "$(wsverify cut.ws 2>&1 | grep -c "^wsverify: cut.ws: byte $((size - 9)).*: .*cut off.* (checked: [1-9][0-9]* instructions, without a difference)")" 1
tap_end
