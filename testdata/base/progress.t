# Progress: on a terminal only, with a rate, gone when it is over; nothing in a file, in a pipe, or for short work
. "$SRC/testdata/tap.sh"
command -v script >/dev/null || { skip "no script(1)"; exit 0; }
export TERM=xterm
esc=$(printf '\033')

# on N COMMAND: runs it on a terminal of its own, whose text goes to tty.N; it reads in.N
on() {
	[ -p "in.$1" ] || mkfifo "in.$1"
	script -qefc "$2" "tty.$1" </dev/null >/dev/null 2>&1 &
}
# lines FILE: what was on a line of the terminal, one after the other
lines() {
	tr '\r' '\n' <"$1" | sed '1d; /^$/d; /^Script done/d'
}

awk 'BEGIN { for (i = 0; i < 200; i++) printf "r %x 1 1 1\n", i }' >block
# Short work shows nothing
on 0 'laplace-text -b -o out.0 block'
wait
is "short work" "$(lines tty.0)" ""

on 1 'laplace-text -b -o out.1 <in.1'
on 2 'laplace-text -b -o out.2 in.2 2>err'
on 3 'laplace-text -b in.3 | cat >out.3'
on 4 'TERM=dumb laplace-text -b -o out.4 in.4'
on 5 'set -m; laplace-text -b -o out.5 in.5 & wait'
on 6 'laplace-text -b -o out.6 in.6'
on 7 'laplace-text in.7'

laplace-text -b block >block.7
began=$(date +%s)
exec 3>in.1 4>in.2 5>in.3 6>in.4 7>in.5 8>in.6 9>in.7
# All of them get the same until those that are to show something do, and once more after that
n=0 more=2
while [ $more -gt 0 ] && [ $n -lt 900 ]; do
	for fd in 3 4 5 6 7 8; do
		cat block >&$fd
	done
	cat block.7 >&9
	n=$((n + 1))
	sleep 0.1
	grep -q 's)' tty.1 && grep -q 's)' tty.6 && grep -q 's)' tty.7 && more=$((more - 1))
done
echo nonsense >&8
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
wait
took=$(($(date +%s) - began))

# shown TTY NAME: one line after the other, with a rate
shown() {
	lines "$1" | grep "^.\[Klaplace-text" >shown
	is "$2: what is done, and the rate" "$(grep -cvxE ".\[Klaplace-text: $2: ([0-9.]+ k?B) \([0-9.]+ k?B/s\)" shown) $(grep -c . shown | sed 's/^[1-9].*/some/')" "0 some"
	grep -q '(0 B/s)' shown && fail "$2: the rate is never 0" "$(cat shown)" || pass "$2: the rate is never 0"
}
shown tty.1 'standard input'
n=$(grep -c . shown)
[ "$n" -le $((4 * took + 1)) ] && pass "at most four times a second" || fail "at most four times a second" "$n in $took s"
[ "$took" -ge 2 ] && pass "not in the first two seconds" || fail "not in the first two seconds" "$(lines tty.1)"
is "gone at the end" "$(lines tty.1 | tail -n 1)" "${esc}[K"
is "one line each time" "$(lines tty.1 | grep -cv "^.\[K")" 0
is "standard error is a file" "$(cat err)" ""
is "a pipe to another tool" "$(lines tty.3)" ""
is "a terminal that cannot" "$(lines tty.4)" ""
is "in the background" "$(lines tty.5 | grep -c "$esc")" 0
for i in 2 3 4 5; do
	same "what is written, $i" out.$i out.1
done
is "a message has the line to itself" "$(lines tty.6 | tail -n 1 | sed 's/byte [0-9]*.*: /byte N: /')" \
	"${esc}[Klaplace-text: in.6: byte N: an unknown type of reference"
shown tty.7 in.7
lines tty.7 | sed "/^.\[Klaplace-text: in.7: /d" >text
is "text on the terminal comes after it" "$(head -n 1 text) $(grep -c "$esc" text)" "${esc}[Kr 0 1 1 1 1"
tap_end
