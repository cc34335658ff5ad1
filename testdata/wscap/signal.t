# Signals
. "$HERE/lib.sh"
gcc -O1 $static -o sig "$HERE/sig.c" || exit 1

for i in raise queue altstack wait fault sleep restart; do captured "$i" -- ./sig $i; done
for i in raise altstack fault; do captured "$i, first touch" --first-touch -- ./sig $i; done
for i in segv abort term stack; do captured "$i" -- ./sig $i 2>/dev/null; done
# how many come is not the same twice
for i in spin scan; do
	wscap -o c.ws ./sig $i >out
	want=0
	replayed "$i" out
done
# natively, the place would be looked at a million times
wscap -o c.ws ./sig timer >out
is "timer: replayed" "$(ws2addr -w 1 c.ws)" "$(cat out)"
for opts in '' --first-touch; do
	# until the timer comes amid it, and not only at a system call
	for i in 1 2 3 4 5 6 7 8; do
		# shellcheck disable=SC2086
		wscap $opts -o c.ws ./sig tally >out
		wsinfo -l c.ws | grep '^[0-9]* sig' >signals
		grep -q stack= signals && break
	done
	is "a loop that counts in memory $opts" "$(ws2addr -w 1 c.ws)" "$(cat out)"
	ok "signals that come amid it $opts" grep -q stack= signals
done

# An interpreter's loop changes objects somewhere in its heap, and the timer comes again and again where its registers are the same
if [ -x /usr/bin/python3 ]; then
	cat >timer.py <<-'X'
		import signal
		seen = []
		def tick(*a): seen.append(s)
		s = 0
		signal.signal(signal.SIGALRM, tick)
		signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
		while len(seen) < 12: s += 1
		print(seen)
	X
	for i in 1 2 3 4; do
		wscap -o c.ws /usr/bin/python3 timer.py >out
		is "a timer in python, run $i" "$(ws2addr -w 1 c.ws 2>&1)" "$(cat out)"
	done
else
	skip "no /usr/bin/python3"
fi

# To the one who asks to end us, the program answers
wscap -o c.ws perl -e '$SIG{TERM} = sub { print "term\n"; exit 9 }; $| = 1; print "ready\n"; sleep 60' >out &
until grep -q ready out; do sleep 0.1; done
kill -TERM $!
wait $!
is "terminated: status" $? 9
is "terminated: output" "$(tail -n 1 out)" term
tap_end
