# What threads do to a recording: ends of every kind, fork, exec, signals, regions, limits. Output and status as untraced.
# shellcheck shell=sh source=/dev/null
. "$HERE/lib.sh"

aecc -O2 "$HERE/threadacts.c" -o prog -pthread || fail aecc

# act ACT THREADS REASON [MESSAGE]: and the trace has that many threads, is regenerated, and ended for that reason
running='threads were running traced code when the process ended: their last references may be past that place'
act() {
	rm -f ae.out*
	AE_OUT=off sh -c '"$@"; exit $?' - ./prog "$1" >want.out 2>/dev/null
	want=$?
	sh -c '"$@"; exit $?' - ./prog "$1" >got.out 2>got.err
	is "$1: status" $? $want
	same "$1: output" got.out want.out
	is "$1: message" "$(grep '^ae:' got.err | sed "s|$PWD/||; s/[0-9][0-9]*/N/g")" "${4-}"
	is "$1: end record" "$(record ae.out | cut -d ' ' -f 1-3)" "$3"
	ae2addr -o all.ref ./prog ae.out 2>said
	is "$1: regenerates" "$?" 0
	is "$1: threads" "$("$BUILD/test/taskcount" <all.ref)" "$2"
	# a spinner may be outside traced code just then
	is "$1: says" "$(grep -v "$running" said)" "${5-}"
}

act exit 3 '0 0 0'
act threadexit 4 '0 0 0'
act thread_exit 4 '0 0 0'
act abort 4 '1 6 0'
act fault 4 '1 11 0' '' 'ae2addr: ae.out: signal 11 ended the program in traced code, at the instruction after the last reference'
act exec 4 '2 0 0' "ae: ae.out.N: the events after an exec; those before it stay in a file of their own"
act badexec 5 '0 0 0'
ok 'badexec: all of the thread' [ "$(ae2addr -c --task 4 ./prog ae.out | sed -n 's/instructions //p')" -gt 8000000 ]
act raise 2 '0 0 0'
act many 301 '0 0 0'
act mainexits 2 '0 0 0'
act segv 2 '0 0 0'
act storm 3 '0 0 0'
is 'storm: nothing was untraced' "$(record ae.out)" '0 0 0 0'
aecc -O2 -DREGION -I"$SRC/src" -I"$SRC/src/lib" "$HERE/threadacts.c" -o region -pthread || fail aecc
rm ae.out
./region region
is 'region: one thread began in it' "$(for i in 1 2 3 4; do ae2addr -c --task $i ./region ae.out | sed -n 's/instructions [1-9].*/some/p; s/instructions 0/0/p'; done | xargs)" '0 0 some 0'

# the child of a thread has that thread for its first one; of the others it has nothing
act fork 5 '0 0 0'
set -- ae.out.*
is 'fork: the child regenerates' "$(ae2addr ./prog "$1" | addrconv -f text | grep '^task' | xargs)" 'task 0x1 task 0x2'
if wscap -o x.ws ./prog fork >/dev/null 2>&1; then
	rm -f ae.out*
	AE_OUT=off setarch -R wscap -o x.ws ./prog fork >/dev/null 2>&1
	setarch -R ./prog fork >/dev/null
	set -- ae.out.*
	ws2addr -o x2.ref x.ws:2
	for i in 1 2; do
		ae2addr --task $i -o a.ref ./prog "$1"
		case $i in 1) "$BUILD/test/taskcount" <x2.ref >tasks; cp x2.ref b.ref ;; esac
		addrconv --task $i -o b.ref x2.ref 2>/dev/null
		ok "fork: thread $i of the child is that of the capture" addrdiff -qls -e prog a.ref b.ref
	done
else
	skip 'wscap does not work here'
fi

rm -f ae.out
./prog cancel >got.out
is 'cancelled in traced code: output' "$(cat got.out)" cancelled
ae2addr --task 2 ./prog ae.out 2>err >/dev/null
is 'cancelled in traced code: says' "$? $(sed 's/byte [0-9]*/byte N/' err)" '1 ae2addr: ae.out: byte N: the last events of a thread that ended in traced code are missing'
ae2addr -c --task 1 ./prog ae.out >counts
is 'cancelled in traced code: the other thread' "$? $(sed -n 's/instructions [1-9].*/some/p' counts)" '0 some'
ae2addr -o all.ref ./prog ae.out 2>err
is 'cancelled in traced code: all' "$? $("$BUILD/test/taskcount" <all.ref)" '1 2'

AE_LIMIT=300k ./prog limit
is 'AE_LIMIT: status' $? 3
ae2addr -o all.ref ./prog ae.out 2>err
is 'AE_LIMIT: regenerates' "$? $(cat err)" '0 ae2addr: ae.out: recording ended here by AE_LIMIT, before the run did'
AE_FROM=spinner ./prog storm >/dev/null 2>&1
is 'AE_FROM: begins in a thread' "$(for i in 1 2; do ae2addr -c --task $i ./prog ae.out | sed -n 's/instructions [1-9].*/some/p; s/instructions 0/0/p'; done | xargs)" '0 some'
tap_end
