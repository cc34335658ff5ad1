# Programs that end, fork, exec, take signals and start threads: output and exit status as untraced, the recording whole.
# shellcheck shell=sh source=/dev/null
. "$HERE/lib.sh"

# run ACT N REASON SIGNAL MESSAGE: compare with the same executable untraced
run() {
	# the way to link has to do with few of these
	case $kind$1 in dynamic* | *inside | *closeall | *stderr | *fork) ;; *) turn 4 || return ;; esac
	rm -f ae.out* mine data
	AE_OUT=off sh -c '"$@"; exit $?' - "$prog" "$1" "$2" >want.out 2>want.err
	want=$?
	rm -f mine data
	sh -c '"$@"; exit $?' - "$prog" "$1" "$2" >got.out 2>got.err
	got=$?
	is "$kind $1 $2: status" "$got" "$want"
	same "$kind $1 $2: output" got.out want.out
	grep '^ae:' got.err >got.msg
	is "$kind $1 $2: message" "$(cat got.msg)" "$5"
	set -- "$1" "$2" "$3" "$4" "$(record ae.out)"
	is "$kind $1 $2: end record" "${5% * *}" "$3 $4"
	ok "$kind $1 $2: regenerates" whole "$prog" ae.out
}

big=280000      # more than half a buffer of 2 MiB, at 4 bytes each: the act is before it is full
for kind in dynamic static; do
	prog=$PWD/acts-$kind flag=''
	if [ $kind = static ]; then flag=-static; fi
	aecc -O2 $flag "$HERE/acts.c" -o "$prog" -lpthread || fail "aecc $kind"

	run plain $big 0 0 ''
	run atexit 20 0 0 ''
	run _exit 20 0 0 ''
	run _Exit 20 0 0 ''
	run quick 20 0 0 ''
	run abort 20 1 6 ''
	run raise 20 1 15 ''
	run fault 20 1 11 ''
	run fpe 20 1 8 ''
	run overflow 20 1 11 ''
	run outside 20 0 0 ''
	run inside 20 0 0 ''
	is "$kind inside: a stream of its own" "$(ae2addr "$prog" ae.out | "$BUILD/test/taskcount")" 2
	run old 20 0 0 ''
	run reset 20 1 10 ''
	run query $big 0 0 ''
	run segv $big 0 0 ''
	run faultjump $big 3 0 'ae: recording stopped: a signal handler that interrupted traced code did not return'
	run faultfix $big 0 0 ''
	run altstack $big 0 0 ''
	run suspend $big 0 0 ''
	run vfork 20 0 0 ''
	run system $big 0 0 ''
	run exec 20 2 0 ''
	run badexec $big 0 0 ''
	run chdir $big 0 0 ''
	run fds 20 0 0 ''
	run closeall $big 0 0 ''
	is "$kind closeall: the program's file" "$(tail -c 5 mine)" mine

	# descriptor 2 is a file of the program's by then: the message must not be in it
	run stderr 20 0 0 ''
	is "$kind stderr: the program's file" "$(cat data)" data

	AE_OUT=off "$prog" threads 20 >want.out
	"$prog" threads 20 >got.out 2>got.err
	same "$kind threads: output" got.out want.out
	is "$kind threads: message" "$(grep '^ae:' got.err)" ''
	is "$kind threads: end record" "$(record ae.out)" '0 0 0 0'
	ok "$kind threads: regenerates" whole "$prog" ae.out
	rm -f ae.out
	is "$kind storm: output" "$("$prog" storm 20000 2>got.err | tail -n 1)" calm
	is "$kind storm: message" "$(grep '^ae:' got.err)" ''
	is "$kind storm: end record" "$(record ae.out)" '0 0 0 0'
	ok "$kind storm: regenerates" whole "$prog" ae.out
	rm -f ae.out
	"$prog" threadexit 20 >got.out 2>got.err
	is "$kind exit by another thread: status" $? 12
	ok "$kind exit by another thread: regenerates" whole "$prog" ae.out
	rm -f ae.out
	"$prog" threadexit2 20 >got.out 2>got.err
	is "$kind exit by another thread in traced code: status" $? 14
	is "$kind exit by another thread in traced code: end record" "$(record ae.out)" '0 0 0 0'
	ok "$kind exit by another thread in traced code: has events" [ "$(wc -c <ae.out)" -gt 1000 ]
	ae2addr "$prog" <ae.out 2>said | addrconv -f text >refs
	is "$kind exit by another thread in traced code: regenerates, and says" "$(cat said)" 'ae2addr: standard input: threads were running traced code when the process ended: their last references may be past that place'
	ok "$kind exit by another thread in traced code: all of both" [ "$(wc -l <refs)" -gt 2000 ]

	run fork 560000 0 0 ''         # more than a buffer in the child, too
	set -- ae.out.*
	is "$kind fork: one more file" $# 1
	is "$kind fork: the child's end" "$(record "$1")" '0 0 0 0'
	is "$kind fork: the child's header" "$(od -An -v -tu4 -j64 -N4 "$1" | tr -d ' ')" 1
	is "$kind fork: the parent's name" "$(dd if="$1" bs=1 skip=92 count=$((${#PWD} + 7)) 2>/dev/null)" "$PWD/ae.out"
	ok "$kind fork: the child regenerates" whole "$prog" "$1"

	for sig in TERM:15 HUP:1 USR1:10 ALRM:14; do
		num=${sig#*:} sig=${sig%:*}
		rm -f ae.out got.out
		"$prog" wait 20 >got.out 2>/dev/null &
		pid=$!
		while ! grep -q ready got.out 2>/dev/null; do sleep 0.01; done
		kill -s $sig $pid
		wait $pid
		is "$kind kill -$sig: status" $? $((num + 128))
		is "$kind kill -$sig: end record" "$(record ae.out)" "1 $num 0 0"
		ok "$kind kill -$sig: regenerates" whole "$prog" ae.out
	done
	rm -f ae.out got.out
	"$prog" spin 20 >got.out 2>/dev/null &
	pid=$!
	while ! grep -q ready got.out 2>/dev/null; do sleep 0.01; done
	kill -s TERM $pid
	wait $pid
	is "$kind killed in traced code: status" $? 143
	is "$kind killed in traced code: end record" "$(record ae.out)" '1 15 0 0'
	ok "$kind killed in traced code: regenerates" whole "$prog" ae.out
done
# A program that becomes itself again, and again: nothing is overwritten.  Alone, and in a forked child.
cat >again.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int a[100];
int work(int n) { int s = 0; for (int i = 0; i < n; i++) if (a[i % 100] < 5) s += i; return s; }
int main(int c, char **v)
{
	char left[2] = {(char)(*v[1] - 1), 0};
	if (c > 2 && fork()) { wait(NULL); return work(10) < 0; }
	if (*v[1] == '0') { printf("%d\n", (int)getpid()); return work(10) < 0; }
	fflush(stdout);
	return work(1000) >= 0 ? execl(v[0], v[0], left, (char *)NULL) : 1;
}
END
aecc -O1 again.c -o again || exit 1
# inst FILE: how many instructions; 1000 rounds of the loop before each exec
inst() { ae2addr -c ../again "$1" | awk '$1 == "instructions" { print $2 }'; }
mkdir alone && cd alone || exit 1
pid=$(../again 2 2>err)
is 'exec: a file each' "$(echo *)" "ae.out ae.out.$pid ae.out.$pid.2 err"
is 'exec: says' "$(cat err)" "ae: $PWD/ae.out.$pid: the events after an exec; those before it stay in a file of their own
ae: $PWD/ae.out.$pid.2: the events after an exec; those before it stay in a file of their own"
is 'exec: what was before' "$([ "$(inst ae.out)" -gt 4000 ] && [ "$(inst "ae.out.$pid")" -gt 4000 ] && [ "$(inst "ae.out.$pid.2")" -lt 1000 ] && echo all)" all
../again 0 2>err >../out
is 'another run takes the name' "$(cat err; inst ae.out)" "$(inst "ae.out.$pid.2")"
cd .. && mkdir child && cd child || exit 1
pid=$(../again 1 fork 2>err)
is 'fork and exec: a file each' "$(echo *)" "ae.out ae.out.$pid ae.out.$pid.2 err"
is 'fork and exec: what was before' "$([ "$(inst "ae.out.$pid")" -gt 4000 ] && echo all)" all
cd .. && mkdir pattern && cd pattern || exit 1
pid=$(AE_OUT=x%%p-%p.ae ../again 0)
is 'AE_OUT with %p' "$(echo *)" "x%p-$pid.ae"
cd ..
tap_end
