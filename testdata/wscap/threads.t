# Threads: programs with several run as without us, and their captures replay to the same end, trimmed ones too
. "$HERE/lib.sh"
gcc -O1 -pthread $static -o threads "$HERE/threads.c" || exit 1
trim=$BUILD/test/trimtest
keys=$BUILD/test/wskeys

# trimmed WHAT: c.ws, from each keyframe
every=5
[ "${MATRIX-}" = full ] && every=15
trimmed() {
	n=$(ws2addr -c c.ws 2>err | sed -n 's/^instructions //p' | tail -n 1)
	"$trim" c.ws t.ws $((n / every + 1)) 1000000 >out || fail "$1: trimmed" "$(cat out)"
	ok "$1: from each keyframe, $(cat out)" "$keys" c.ws t.ws
}

for i in locks conditions robust many leader kill vectors faults filtered; do
	captured "$i" -- ./threads $i 2>/dev/null
	case $i in locks | robust) trimmed "$i" ;; esac
	case $i in conditions)
		n=$(ws2addr -c c.ws | sed -n 's/^instructions //p')
		ok "$i: batches that end where threads are switched" "$BUILD/test/wsbatches" c.ws
		ok "$i: verified" wsverify -n $((n - 30000)): c.ws
		;;
	esac
done
# the timer interrupts them, amid loops, whose passes would take long natively
for i in spin compute passes strings signals server group; do
	wscap -o c.ws ./threads $i >got.out 2>got.err
	is "$i: status" $? 7
	is "$i: errors" "$(cat got.err)" ""
	is "$i: output replayed" "$(ws2addr -w 1 c.ws)" "$(cat got.out)"
	case $i in strings | signals) trimmed $i ;; esac
done
wscap -o c.ws ./threads late >got.out 2>got.err
is "late: status, output, errors" "$? $(cat got.out) $(cat got.err)" "7 late 4 "
is "late: output replayed" "$(ws2addr -w 1 c.ws)" "late 4"
ok "the timer has interrupted one" grep -q 'words=' - <<-EOF
	$(wscap -o c.ws ./threads spin; wsinfo -l c.ws | grep '^[0-9]* sig thread')
EOF

# calls that wait for other threads; all memory is compared at each, so that they have small stacks
# shellcheck disable=SC3045
(ulimit -S -s 256; exec wscap --audit -o c.ws ./threads conditions) >got.out 2>got.err
is "--audit: status, errors" "$? $(cat got.err)" "7 "
is "--audit: output replayed" "$(ws2addr -w 1 c.ws)" "$(cat got.out)"

# several processes: threads that fork, wait for children and execute programs
for i in waits forks exec; do
	./threads $i >want.out
	want=$?
	wscap -o c.ws ./threads $i >got.out 2>got.err
	is "$i: status" $? $want
	same "$i: output" got.out want.out
	is "$i: errors" "$(cat got.err)" ""
	ok "$i: all runs" ws2addr -o /dev/null c.ws
done

# the events of tasks
wscap -o c.ws ./threads locks >got.out
ws2addr -o whole.ref c.ws
addrconv --kinds task -f text whole.ref >tasks
is "each thread has references" "$(sort -u tasks | tr '\n' ' ')" "task 0x1 task 0x2 task 0x3 task 0x4 task 0x5 "
is "the first one begins" "$(head -n 1 tasks)" "task 0x1"
sum=0
for i in 1 2 3 4 5; do
	k=$(addrconv --task $i --kinds inst -f text whole.ref | grep -c inst)
	sum=$((sum + k))
done
is "the threads together are the run" "instructions $sum" "$(ws2addr -c c.ws | head -n 1)"
ws2addr -n $((sum / 2)): c.ws >part.ref
tail -c 80000 whole.ref >whole.end
tail -c 80000 part.ref >part.end
same "a part of it" whole.end part.end
is "its first event is that of the thread that runs" "$(addrconv --kinds task -f text part.ref | head -n 1 | cut -c 1-7)" "task 0x"

# what cannot be captured
wscap --first-touch -o c.ws ./threads locks >got.out 2>got.err
is "with --first-touch: status" $? 7
is "which is said" "$(sed 's/.*: //' got.err)" "it starts a thread, which cannot be captured with --first-touch"
tap_end
