# wscap --from in a process with several threads, whichever comes to the place
. "$HERE/lib.sh"

gcc -O1 -static -pthread -o herd "$HERE/herd.c" || exit 1
address() { nm herd | awk -v name="$1" '$3 == name { sub(/^0*/, "", $1); print "0x" $1 }'; }
want=$(./herd)
# how many calls of a function are in the capture
calls() { ws2addr -f text c.ws 2>/dev/null | grep -c "^inst $(address "$1") "; }

for n in 1 30 $(turn 3 2 15 45) 61 $(turn 3 70 77 84); do
	got=$(wscap -1 --from place#$n -o c.ws ./herd 2>&1)
	is "the $n-th time: the program" "$? $got" "3 $want"
	is "the $n-th time: the calls from there" "$(calls place)" $((85 - n))
	ok "the $n-th time: verified" wsverify -n :2000 c.ws
done
got=$(wscap -1 --from place#20 --to place#20 -o c.ws ./herd 2>&1)
is "from and to: the program" "$? $got" "3 $want"
is "from and to: the calls between" "$(calls place)" 20
got=$(wscap -1 --from SIGUSR1#5 -o c.ws ./herd 2>&1)
is "a signal of a thread: the program" "$? $got" "3 $want"
# those that came before to the other two may have their handlers before them
n=$(calls handler)
ok "a signal of a thread: it and those after it" [ "$n" -ge 8 -a "$n" -le 10 ]

got=$(wscap --from place#100 -o n.ws ./herd 2>&1)
is "never: the program" "$? $got" "125 $want
wscap: --from place#100: the program ended before it came there so often"
ok "never: no capture" [ ! -e n.ws ]
got=$(wscap --from nosuch -o n.ws ./herd exec 2>&1)
is "a thread's process executes a program" "$? $got" "125 executedwscap: --from nosuch: the program ended and had no such function, or only inlined"
wscap --from place#20 -o n.ws ./herd leave >out 2>err
is "the first thread has ended" "$? $(cat err)" \
	"125 wscap: --from place#20: its first thread has ended, and others have not; the program continues"

got=$(wscap --from place#100000 -o n.ws ./herd share 2>&1 >out)
is "a process that shares the memory" "$? $(sed -n 1p out) $got" \
	"125 begun wscap: --from place#100000: it begins a process that shares its memory; the program continues"

# a process that runs already, again and again
./herd serve >out &
pid=$!
until grep -q begun out; do sleep 0.05; done
for n in 1 5 $(turn 2 9 40); do
	wscap -p $pid --from place#$n --to place#4 -o c.ws 2>err
	is "running, the $n-th time" "$? $(cat err)" "0 "
	is "running, the $n-th time: the calls" "$(calls place)" 4
	ok "running, the $n-th time: verified" wsverify -n :2000 c.ws
done
wscap -p $pid --from nosuch -o n.ws 2>err &
told=$!
sleep 0.2
# the first ones may come before it listens
while kill -TERM $told 2>/dev/null; do sleep 0.1; done
wait $told
is "told to end" "$? $(cat err)" "125 wscap: --from nosuch: wscap was told to end; the program continues"
is "no thread is traced" "$(cat /proc/$pid/task/*/status | awk '/^TracerPid/ && $2 { n++ } END { print n + 0 }')" 0
kill -TERM $pid
wait $pid
is "its end" $? 4
tap_end
