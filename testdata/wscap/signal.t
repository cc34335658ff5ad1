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

# To the one who asks to end us, the program answers
wscap -o c.ws perl -e '$SIG{TERM} = sub { print "term\n"; exit 9 }; $| = 1; print "ready\n"; sleep 60' >out &
until grep -q ready out; do sleep 0.1; done
kill -TERM $!
wait $!
is "terminated: status" $? 9
is "terminated: output" "$(tail -n 1 out)" term
tap_end
