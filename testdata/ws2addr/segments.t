# --segments: ranges that divide the run
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
ok "a program is captured" tiny
ok "and trimmed" wstrim tiny.ws
ws2addr -f text tiny.ws >all.txt

# parts FILE [RANGE]: the references of the ranges in FILE
parts() {
	while read -r range; do
		ws2addr -f text -n "$range" tiny.ws || return
	done <"$1"
}

for n in 1 2 3 7 100; do
	ws2addr --segments $n tiny.ws >ranges
	k=$(wc -l <ranges)
	# without keyframes, a process that begins too late has no time to do anything
	ok "$n segments" test "$k" -le $n -a "$k" -ge $((n < 8 ? n : 8))
	parts ranges >parts.txt
	same "are the whole run" all.txt parts.txt
	is "each begins where the one before ends" "$(awk -F: 'NR > 1 && $1 != last { print "bad" } { last = $2 } END { print last }' ranges)" ""
done
ws2addr --segments 3 -n 1000:5000 tiny.ws >ranges
is "segments of a range" "$(sed -n '1s/:.*//p' ranges) $(sed -n '$s/.*://p' ranges)" "1000 5000"
parts ranges >parts.txt
ws2addr -f text -n 1000:5000 tiny.ws >all.txt
same "are the range" all.txt parts.txt
is "more segments than instructions" "$(ws2addr --segments 50 -n 10:13 tiny.ws | tr '\n' ' ')" "10:11 11:12 12:13 "
is "a pipe is one segment" "$(cat tiny.ws | ws2addr --segments 4)" "0:"
size=$(($(bytes tiny.ws) - 1))
head -c $size tiny.ws >cut.ws
gives "segments of what is cut off after the run" 1 "ws2addr: cut.ws: byte $size: cut off in a kept file" ws2addr --segments 3 cut.ws
is "are those of the whole" "$(cat tap.out)" "$(ws2addr --segments 3 tiny.ws)"
gives "a range before that" 0 "" ws2addr --segments 3 -n 10:4000 cut.ws
gives "with -o, too" 1 "ws2addr: cut.ws: byte $size: cut off in a kept file" ws2addr --segments 3 -o made cut.ws
ok "which leaves nothing" test ! -e made
gives "not with counts" 2 "ws2addr: --segments comes without -c, -s and -w; see ws2addr --help" ws2addr -c --segments 2 tiny.ws
gives "no number" 2 "ws2addr: --segments 0: not a number from 1 to 4096; see ws2addr --help" ws2addr --segments 0 tiny.ws
tap_end
