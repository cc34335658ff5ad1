# memory that the kernel or a process that is not captured writes to is recorded at the program's next system call
. "$HERE/lib.sh"
gcc -O1 $static -o outside "$HERE/outside.c" || exit 1

# replays NAME: c.ws, whose output was got.out, gives it again, and says that it has such memory
replays() {
	ws2addr -w 1 c.ws >again.out 2>err
	same "$1: the same again" again.out got.out
	ok "$1: replayed" ws2addr -o /dev/null c.ws
	is "$1: a note" "$(wsinfo -l c.ws | grep -c 'the kernel, a device or a process that is not captured')" 1
	wsverify -n 0:3000 c.ws >verified 2>&1
	is "$1: verified" "$? $(grep -vc ' 0 differences$' verified)" "0 0"
}

for i in packets events; do
	./outside $i >alone.out
	if [ $? = 77 ]; then
		skip "$i: no such memory here"
		continue
	fi
	wscap -o c.ws ./outside $i >got.out 2>said
	is "$i: status" $? 0
	ok "$i: something was read" [ "$(grep -c . got.out)" -ge 40 ]
	if grep -q 'cannot be read' said; then
		ok "$i: which it says in the capture, too" [ "$(wsinfo -l c.ws | grep -c 'cannot be read')" = 1 ]
		continue
	fi
	replays $i
done

if [ -w /dev/shm ]; then
	shm=/dev/shm/tm-outside.$$
	for o in "" "--recorder off"; do
		mkfifo to from
		./outside answer $shm to from &
		until [ -s $shm ]; do sleep 0.05; done
		# shellcheck disable=SC2086
		wscap $o -o c.ws ./outside ask $shm to from >got.out
		is "another process $o: status" $? 0
		wait
		rm -f $shm to from
		ok "another process $o: its numbers" awk '$1 < 17 * NR { exit 1 } END { if (NR != 50) exit 1 }' got.out
		replays "another process $o"
	done
else
	skip "no /dev/shm"
fi

# memory that is not recorded: it is said once, and in the capture
if [ -w /dev/shm ]; then
	mkfifo to from
	./outside answer $shm to from &
	until [ -s $shm ]; do sleep 0.05; done
	wscap --first-touch -o c.ws ./outside ask $shm to from >got.out 2>said
	is "--first-touch: status" $? 0
	wait
	rm -f to from
	is "--first-touch: said" "$(grep -c 'not recorded with --first-touch' said) $(wsinfo -l c.ws | grep -c 'not recorded with --first-touch')" "1 1"
	truncate -s 300M $shm
	./outside hold $shm >held &
	until [ -s held ]; do sleep 0.05; done
	wscap -o c.ws ./outside twice $shm >got.out 2>said
	is "much memory: status" $? 0
	kill $!
	rm -f $shm
	is "much memory: said once" "$(grep -c 'too large' said)" 1
	ok "much memory: replayed" ws2addr -o /dev/null c.ws
fi
