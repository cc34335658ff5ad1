# A wait for a futex that is over before the others had their turn goes on until the turn comes, so that it can be woken
. "$HERE/lib.sh"
gcc -O1 -pthread $static -o overdue "$HERE/overdue.c" || exit 1

# waits WHAT STATUS OUTPUT OPTIONS -- ARGUMENTS: so ends, and says, the program
waits() {
	what=$1 want=$2 says=$3 opts=
	shift 3
	while [ "$1" != -- ]; do opts="$opts $1"; shift; done
	shift
	# shellcheck disable=SC2086
	wscap $opts -o c.ws ./overdue "$@" >got.out 2>got.err
	is "$what $opts: status, output, errors" "$? $(tr '\n' ' ' <got.out)$(cat got.err)" "$want $says"
	ok "$what $opts: replayed" ws2addr -o /dev/null c.ws
}

for o in on off; do
	waits threads 0 "plain 12 few " --recorder $o -- threads plain
	is "threads: output replayed" "$(ws2addr -w 1 c.ws)" "plain 12 few"
	waits processes 0 "0 plain 12 few " --recorder $o -- processes plain
	is "processes: output replayed" "$(ws2addr -w 1 c.ws:1)" "$(cat got.out)"
done
ok "verified" wsverify -n 0:3000 c.ws
# a signal comes when the turn does; some end the wait
waits "signals, threads" 0 "signals 12 few " -- threads signals
waits "signals, processes" 0 "0 signals 12 few " -- processes signals
waits "stopped" 0 "0 stop 12 few " -- processes stop first
waits "killed" 0 "9 kill 12 few " -- processes kill first
for i in '' first; do
	waits "all threads end $i" 3 "" -- threads exit $i
	waits "another thread executes a program $i" 0 "executed " -- threads exec $i
done
# the capture ends while it waits: it is let go
for i in 400 2000; do
	waits "threads" 0 "plain 12 few " --calls $i -- threads plain
	waits "processes" 0 "0 plain 12 few " --calls $i -- processes plain
done
tap_end
