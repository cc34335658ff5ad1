# Threads and the recorder, which all of them use: what a program can notice of it, and what a replay must not
. "$HERE/lib.sh"
gcc -O1 -pthread $static -o team "$HERE/team.c" || exit 1

for i in calls team spinning fifo piped seccomp limit none shows maps interrupted handled yields appended; do
	captured "$i" -- ./team $i
	is "$i: right" "$(cat got.out)" "$i: right"
done
# with several runs
for i in children exec; do
	./team $i >want.out
	wscap -o c.ws ./team $i >got.out 2>got.err
	is "$i: status, errors" "$? $(cat got.err)" "0 "
	same "$i: output" got.out want.out
	ok "$i: all runs" ws2addr -o /dev/null c.ws
done
wscap -o c.ws ./team team >/dev/null
wsverify -n 0:3000 -e 200000 -l 2000 c.ws >verified 2>&1
is "verified" "$? $(grep -vc ' 0 differences$' verified)" "0 0"

# killed at any place: the capture replays up to there
in=0
for i in 1 2 3 4 5 6; do
	: >out
	wscap -o c.ws ./team forever >out &
	until grep -q ready out; do sleep 0.05; done
	read -r pid <"/proc/$!/task/$!/children"
	[ $i = 1 ] && in=$(grep -c memfd:recorder "/proc/$pid/maps")
	sleep 0.0$i
	kill -9 "$pid"
	wait $!
	is "killed: status" $? 137
	ok "killed: replayed" ws2addr -o /dev/null c.ws
done
is "the recorder is in the process" "$((in > 0))" 1

# the capture ends, the program goes on without it
for i in 0.1 0.15 0.2 0.25 0.3; do
	wscap --time $i -o c.ws ./team long >out 2>err
	is "the capture ended before, $i: the program's status, output" "$? $(cat out)" "0 long: right"
	ok "that capture, $i: replayed" ws2addr -o /dev/null c.ws
done
(
	ulimit -f 200
	trap '' XFSZ
	exec wscap -o c.ws ./team long >out 2>err
)
is "there was no room for it: the program's output" "$(cat out)" "long: right"
tap_end
