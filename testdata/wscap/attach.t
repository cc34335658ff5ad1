# wscap -p: a running process is captured from where it is, and goes on unharmed
. "$HERE/lib.sh"
gcc -O1 $static -o attach "$HERE/attach.c" -lpthread && gcc -O1 $static -o crowd "$HERE/crowd.c" -lpthread || exit 1

# waits until FILE has a line that matches
until_has() { while ! grep "$2" "$1" >/dev/null 2>&1; do sleep 0.1; done; }

# begin KIND [COMMAND...]: runs ./attach KIND, or what runs it, up to its first line; its input is the pipe `in`
begin() {
	kind=$1
	shift
	rm -f in out c.ws; mkfifo in
	: >out
	"$@" ./attach "$kind" <in >out 2>&1 &
	pid=$!
	exec 8>in
	until_has out ready
}

# attached: wscap has the process, in the background
attached() {
	rm -f c.ws
	wscap -p $pid -o c.ws >err 2>&1 &
	cap=$!
	while [ ! -s c.ws ]; do kill -0 $cap 2>/dev/null || break; sleep 0.1; done
}

# how many threads are traced
traced() { cat /proc/$pid/task/*/status | awk '/^TracerPid/ && $2 { n++ } END { print n + 0 }'; }

# It need not compute while its capture is looked at
paused() { case $kind in busy | large | crowd) kill -STOP $pid 2>/dev/null ;; esac; }
on() { case $kind in busy | large | crowd) kill -CONT $pid 2>/dev/null ;; esac; }

# exact WHAT: every run replays, by the emulator and by the processor
exact() {
	paused
	n=$(wsinfo c.ws 2>/dev/null | awk '$1 == "runs" { n = $2 + 0 } END { print n ? n : 1 }')
	bad=
	for i in $(seq "$n"); do
		ws2addr -o /dev/null c.ws:$i >e 2>&1 && ! grep -v 'the capture ends before the program' e >/dev/null ||
			bad="$bad $i: $(cat e)"
	done
	is "$1: replayed" "$bad" ""
	replays=$((${replays:--1} + 1))
	[ "${MATRIX-}" = full ] || [ $((replays % 3)) = 0 ] || { on; return; }
	wsverify -n 0:300 c.ws >verified 2>e
	checked=$?
	# it may be told to end before the process has executed anything
	if [ $checked = 2 ] && grep -q 'no instruction was checked$' e; then checked=0; fi
	is "$1: verified" "$checked $(grep -vc ' 0 differences$' verified)" "0 0"
	on
}

# Computing: for some calls, for a time, until it is told; each leaves the process as it was
begin busy
for o in '--calls 300' '--calls 40 --first-touch' '--calls 100 -1' '--calls 20 --audit' '--time 0.3'; do
	# shellcheck disable=SC2086
	wscap -p $pid -o c.ws $o >err 2>&1
	is "busy $o" "$? $(cat err)" "0 "
	is "busy $o: not traced any more" "$(awk '/TracerPid/ { print $2 }' /proc/$pid/status)" 0
	exact "busy $o"
done
wscap -p $pid -o c.ws --calls 77 -1
is "the number of calls" "$(wsinfo -l c.ws 2>/dev/null | grep -c ' sys ')" 77
attached
kill -INT $cap; kill -TERM $cap
wait $cap
is "told to end" "$? $(cat err)" "0 "
exact "told to end"
kill -USR2 $pid
wait $pid
is "busy: its end" "$? $(sed -n 2p out)" "3 done, the clock went back 0 times, the same code"

# The process ends before wscap: by itself, by a signal
begin busy
attached
kill -USR2 $pid
wait $pid
is "ended: status" "$? $(sed -n 2p out)" "3 done, the clock went back 0 times, other code"
wait $cap
is "ended: wscap" "$? $(cat err)" "0 "
is "ended: recorded" "$(wsinfo c.ws:1 | awk '/^ended/ { print $2, $3, $4 }')" "exit status 3"
exact ended
begin busy
attached
kill -KILL $pid
wait $cap
is "killed: wscap" "$? $(cat err)" "0 "
is "killed: recorded" "$(wsinfo c.ws:1 | awk '/^ended/ { print $2, $3, $4, $5 }')" "killed by signal 9"
wait $pid 2>/dev/null

# In a call that waits: it goes on waiting, and gives what it gives without us
event() {
	case $1 in
	read | poll | select | epoll) printf A >&8 ;;
	pause | suspend | sigwait) kill -USR1 $pid ;;
	esac
}
for k in read sleep polltime epoll pause suspend sigwait; do
	turn 2 || continue
	begin $k
	sleep 0.2
	event $k
	wait $pid
	is "$k: status" $? 4
	mv out want
	# the event comes after the capture, and amid it
	for when in after amid; do
		begin $k
		sleep 0.2
		attached
		sleep 0.2
		[ $when = amid ] && { event $k; wait $pid; status=$?; }
		[ $when = after ] && kill -TERM $cap
		wait $cap
		is "$k, $when: wscap" "$? $(cat err)" "0 "
		[ $when = after ] && { event $k; wait $pid; status=$?; }
		is "$k, $when: status" $status 4
		same "$k, $when" out want
		exact "$k, $when"
	done
done

# Stopped
begin busy
kill -STOP $pid
attached
kill -TERM $cap
wait $cap
is "stopped: wscap" "$? $(cat err)" "0 "
is "stopped: still" "$(awk '/^State/ { print $2 }' /proc/$pid/status)" T
attached
kill -CONT $pid
sleep 0.3
kill -TERM $cap
wait $cap
exact "continued"
kill -USR2 $pid
wait $pid
is "stopped and continued: its end" "$? $(sed -n 2p out)" "3 done, the clock went back 0 times, the same code"

# 16 GB of memory, of which hardly anything was touched, here and in a child: only that is read
if [ "$(cat /proc/sys/vm/overcommit_memory)" = 2 ]; then
	skip "memory cannot be reserved without being counted"
else
	begin sparse
	printf A >&8
	wait $pid
	status=$?
	mv out want
	begin sparse
	attached
	printf A >&8
	wait $pid
	is "sparse: status" $? $status
	wait $cap
	is "sparse: wscap" "$? $(cat err)" "0 "
	same "sparse" out want
	is "sparse: runs" "$(wsinfo c.ws | awk '$1 == "runs" { print $2 + 0 }')" 2
	exact "sparse"
fi

# Much memory is read from a copy of the process, while it runs on: nothing of the copy is left
begin large
for o in '--calls 1' '--time 1 -1' '--calls 10 --audit'; do
	# shellcheck disable=SC2086
	wscap -p $pid -o c.ws $o >err 2>&1
	is "large $o" "$? $(cat err)" "0 "
	is "large $o: not traced any more" "$(traced)" 0
	paused
	ok "large $o: replayed" ws2addr -o /dev/null c.ws
	wsverify -n 0:6000 c.ws >verified 2>e
	is "large $o: verified" "$? $(grep -vc ' 0 differences$' verified)" "0 0"
	on
	is "large $o: its memory is there" "$(wsinfo c.ws 2>/dev/null | awk '$1 == "memory" { print ($2 > 25000000) }')" 1
done
attached
kill -USR2 $pid
wait $pid
is "large: its end" "$? $(sed -n 2p out)" "2 it went wrong 0 times, no child"
wait $cap
is "large: wscap" "$? $(cat err)" "0 "
exact "large: to its end"

# Told to end directly after the breakpoint at an rdtsc
begin clock
for i in 1 2 3 4 5 6 7 8 9 10; do
	turn 3 || continue
	attached
	sleep 0.0$i
	kill -TERM $cap
	wait $cap
	is "clock: wscap" "$? $(cat err)" "0 "
	ok "clock: replayed" ws2addr -o /dev/null c.ws
done
kill -USR2 $pid
wait $pid
is "clock: its end" "$? $(sed -n 2p out)" "3 done"

# Signals are neither lost nor added: each one is sent when the one before has been counted, so none merge
cat >send.c <<'E'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* send PID N: waits after each signal until it is no longer pending */
int main(int argc, char **argv)
{
	char path[64], line[256];
	pid_t pid = atoi(argv[argc - 2]);
	int n = atoi(argv[argc - 1]);

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	for (int i = 0; i < n; i++) {
		if (kill(pid, SIGUSR1))
			return 1;
		for (int pending = 1; pending;) {
			FILE *f = fopen(path, "r");

			pending = 0;
			while (f && fgets(line, sizeof(line), f))
				if (!strncmp(line, "SigPnd", 6) || !strncmp(line, "ShdPnd", 6))
					pending |= strtoull(line + 7, NULL, 16) >> (SIGUSR1 - 1) & 1;
			if (f)
				fclose(f);
		}
		usleep(20000);
	}
	return 0;
}
E
gcc -O1 -o send send.c || exit 1
begin signals
./send $pid 60 &
sender=$!
for i in 1 2 3 4; do wscap -p $pid -o c.ws --time 0.1 || fail "signals: wscap $i"; done
wait $sender
kill -USR2 $pid
wait $pid
is "signals" "$? $(sed -n 2p out)" "5 60 signals"

# Threads that begin during the capture go on after it
for o in '' --audit; do
	begin spawn
	# shellcheck disable=SC2086
	attached $o
	printf A >&8
	until_has out threads
	sleep 0.2
	kill -TERM $cap
	wait $cap
	is "spawn $o: wscap" "$? $(cat err)" "0 "
	is "spawn $o: not traced any more" "$(awk '/TracerPid/ { print $2 }' /proc/$pid/task/*/status | sort -u)" 0
	kill -USR2 $pid
	wait $pid
	is "spawn $o: its end" "$? $(sed -n 3p out)" "8 the clocks went back 0 times, the same code"
	ok "spawn $o: they are in the capture" grep -q '^[0-9]* sig thread' - <<-EOF
		$(wsinfo -l c.ws)
	EOF
	ok "spawn $o: replayed" ws2addr -o /dev/null c.ws
done

# Threads that were there before, in the middle of all that they do: each capture replays, and they go on
crowd() { kind=crowd; : >out; ./crowd >out & pid=$!; until_has out ready; }
crowd
tids=$(ls /proc/$pid/task | tr '\n' ' ')
for o in '--time 0.1' '--time 0.05 -1' '--calls 30 --audit' '--calls 1'; do
	# shellcheck disable=SC2086
	wscap -p $pid -o c.ws $o >err 2>&1
	is "threads $o" "$? $(cat err)" "0 "
	is "threads $o: none is traced any more" "$(traced)" 0
	exact "threads $o"
done
# one begins in the capture, sooner or later
n=0 began=0
while [ $began = 0 ] && [ $((n += 1)) -lt 40 ]; do
	wscap -p $pid -o c.ws --time 0.3
	began=$(wsinfo -l c.ws 2>/dev/null | awk '/ sys .* clone/ { n = 1 } END { print n + 0 }')
done
is "threads: some began" "$began" 1
is "threads: several ran" "$(wsinfo -l c.ws 2>/dev/null | awk '/ sig thread/ { n++ } END { print (n > 2) }')" 1
exact "threads: some began"
gives "threads: --first-touch" 125 "wscap: process $pid cannot be captured: it has several threads, and --first-touch is for one" \
	wscap -p $pid --first-touch -o n.ws
tid=${tids#* } tid=${tid%% *}
gives "a thread" 125 "wscap: process $tid cannot be captured: it is a thread of process $pid" wscap -p $tid -o n.ws
kill -USR2 $pid
wait $pid
is "threads: their end" "$? $(sed -n 2p out)" "9 all worked"
# the end comes amid the capture
crowd
attached
kill -USR2 $pid
wait $pid
is "threads, ended: status" "$? $(sed -n 2p out)" "9 all worked"
wait $cap
is "threads, ended: wscap" "$? $(cat err)" "0 "
is "threads, ended: recorded" "$(wsinfo c.ws:1 | awk '/^ended/ { print $2, $3, $4 }')" "exit status 9"
exact "threads, ended"

# Refused
gives "no such process" 125 "wscap: process $pid cannot be captured: there is no such process" wscap -p $pid -o n.ws
perl -e '$p = fork // die; exit unless $p; select undef, undef, undef, 0.2; exec "wscap", "-p", $p, "-o", "n.ws"' 2>err
is "a zombie" "$? $(sed 's/process [0-9]*/process/' err)" "125 wscap: process cannot be captured: it has ended"
begin busy
attached
gives "traced" 125 "wscap: process $pid cannot be captured: it is traced by another process" wscap -p $pid -o n.ws
kill -TERM $cap
wait $cap
kill $pid
wait $pid 2>/dev/null
ok "nothing was written" [ ! -e n.ws ]
exec 8>&-
tap_end
