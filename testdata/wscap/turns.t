# Processes that share memory run one at a time: a replay reads what each of them has read, whatever the others wrote
. "$HERE/lib.sh"
gcc -O1 -pthread $static -o turns "$HERE/turns.c" || exit 1

# shared WHAT ARGUMENTS...: what the processes print, all of which depends on what they read, is what their runs print again
shared() {
	what=$1
	shift
	wscap -o c.ws ./turns "$@" >got.out 2>got.err
	is "$what: status" "$? $(cat got.err)" "0 "
	: >again
	for i in $(seq 2 "$(wsinfo c.ws | awk '$1 == "runs" { print $2 + 0 }')"); do
		ws2addr -w 1 c.ws:$i >>again 2>>got.err
	done
	is "$what: replayed" "$(sort again) $(cat got.err)" "$(sort got.out) "
}

# native WHAT: run 2 of c.ws, by the processor
native() { is "$1: replayed natively" "$("$native" c.ws:2 native.out)" "exited 0"; }

shared "a loop without calls" spin 4
native "a loop without calls"
ok "a loop without calls: verified" wsverify -n 0:300 c.ws
shared "passes of a loop" passes 2000
shared "a lock with sched_yield" yield 2000 3
shared "a futex" futex 1000 3
shared "no lock" race 3000 3
native "no lock"
for i in 1 2 3; do
	shared "cpuid, $i" ids 500000 3
done
shared "handlers" alarms 3000 3
shared "threads" threads 1000 2
shared "threads without a lock" threads-race 1500 2
shared "a thread is woken while another process has the turn" woken 20
shared "words are set back" back 20 3
shared "a file grows and shrinks" sizes 40 2
for i in 'spin 4 2' 'yield 1500 3' 'race 1500 3' 'futex 1000 3' 'threads 1000 2'; do
	# shellcheck disable=SC2086
	shared "mapped later: ${i%% *}" $i late
done
for i in 2000 10000 10001; do
	shared "stopped and continued, $i" jobs $i 3
done
# The capture ends before the program
for i in 'spin 90' 'race 60000 3'; do
	# shellcheck disable=SC2086
	wscap --time 0.3 -o c.ws ./turns $i >got.out 2>&1
	is "ended early: ${i%% *}" "$? $(ws2addr -c c.ws 2>&1 >/dev/null | grep -c drifted)" "0 0"
done

# What is waited for is no signal to a debugger
wscap -o c.ws ./turns spin 3 >got.out
is "there are places of turns" "$(wsinfo -l c.ws:2 | grep -c '[0-9] sig 19 at ' | awk '{ print ($1 > 0) }')" 1
printf 'set remotetimeout 200\ntarget remote | wsgdb c.ws:2\ncontinue\n' >g.gdb
is "a debugger does not see them" "$(gdb -nx -batch -x g.gdb 2>&1 | grep -c -e SIGSTOP -e 'No more reverse-execution history')" 1
tap_end
