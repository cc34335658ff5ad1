# It can be interrupted, is seen on a terminal, and the capture is there as it was whatever becomes of it
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
gcc -nostdlib -static -o spin "$HERE/spin.s" && wscap -o spin.ws ./spin || exit 1

for s in INT.130 TERM.143 HUP.129 QUIT.131 KILL.137; do
	mkdir at && cp spin.ws at/t.ws
	env --default-signal=INT,QUIT wstrim at/t.ws 2>err &
	pid=$!
	until ls at | grep -q 't.ws[.]'; do sleep 0.05; done
	kill "-${s%.*}" $pid
	wait $pid 2>/dev/null
	is "${s%.*}: status" $? "${s#*.}"
	is "${s%.*}: nothing is said" "$(cat err)" ""
	same "${s%.*}: the capture is as it was" at/t.ws spin.ws
	# a process that is killed leaves that to another one
	[ "$s" = KILL.137 ] || is "${s%.*}: nothing else is there" "$(ls at)" t.ws
	rm -rf at
done

# kept WHAT: t.ws is as it was, and nothing is beside it
kept() {
	same "$1: the capture is as it was" t.ws c.ws
	is "$1: nothing is left" "$(echo t.ws.*)" "t.ws.*"
}
seq 3000 >numbers
wscap -o c.ws sort -rn numbers >out && cp c.ws t.ws || exit 1
(ulimit -f 8; exec wstrim t.ws) 2>err
is "no room" "$? $(cat err)" "1 wstrim: t.ws: File too large"
kept "no room"
gives "a full disk" 1 "wstrim: /dev/full: No space left on device" wstrim -o /dev/full t.ws
gives "a folder that is not there" 1 "wstrim: no/such/folder: No such file or directory" wstrim -o no/such/folder t.ws
kept "another output"
# one byte is another: the check sum of its group says so
cp c.ws damaged.ws
printf 'X' | dd of=damaged.ws bs=1 seek=$(($(bytes c.ws) / 2)) conv=notrunc 2>/dev/null
cp damaged.ws t.ws
wstrim t.ws 2>err
is "damaged" "$? $(grep -c '^wstrim: t.ws: ' err)" "1 1"
same "damaged: the capture is as it was" t.ws damaged.ws
is "damaged: nothing is left" "$(echo t.ws.*)" "t.ws.*"
gives "no capture" 1 "wstrim: numbers: byte 0: not a capture" wstrim numbers
gives "no file" 1 "wstrim: none.ws: No such file or directory" wstrim none.ws
gives "a device" 1 "wstrim: /dev/zero: not a regular file: give it as standard input" wstrim /dev/zero

# Progress, of a capture that comes slowly and is replayed for long
command -v script >/dev/null || { skip "no script(1)"; tap_end; exit; }
# shown PATTERN: waits until it is on the terminal
shown() {
	n=0
	until tr '\r' '\n' <tty | grep -qE "$1"; do
		[ $((n += 1)) -gt 1200 ] && return 1
		sleep 0.1
	done
}
export TERM=xterm
mkfifo in
script -qefc "exec sh -c 'echo \$\$ >pid; exec wstrim -o got.ws <in'" tty </dev/null >/dev/null 2>&1 &
exec 3>in
dd if=spin.ws bs=100 count=1 2>/dev/null >&3
n=1
until tr '\r' '\n' <tty | grep -q 's)' || [ $((n += 1)) -gt 600 ]; do
	dd if=spin.ws bs=1 skip=$((n + 98)) count=1 2>/dev/null >&3
	sleep 0.1
done
dd if=spin.ws bs=1 skip=$((n + 99)) 2>/dev/null >&3
exec 3>&-
ok "reading" shown "^.\[Kwstrim: standard input: reading [0-9]+ B \([0-9]+ B/s\)$"
ok "instructions" shown "^.\[Kwstrim: standard input: [0-9]+ M instructions \([0-9.]+ M/s\)$"
kill -TERM "$(cat pid)"
wait
is "it is cleared by a signal, too" "$(tr '\r' '\n' <tty | sed '/^$/d; /^Script done/d' | tail -n 1)" "$(printf '\033')[K"
is "and the file is gone" "$(ls -d got.ws*)" ""
script -qec 'ws2addr -n :1000000000 -f text -o /dev/null spin.ws' tty </dev/null >/dev/null 2>&1 &
ok "a part of a run: how much of it, and the time left" shown \
	"^.\[Kws2addr: spin.ws: [1-9][0-9]?% \([0-9]+ M instructions, [0-9.]+ M/s, [0-9]+:[0-9][0-9] left\)$"
kill $!
wait
wstrim -o parts.ws spin.ws
# Counted too soon to be seen, but for a stop amid it, of those who count: script(1) would stop with the one that it waits for
rm -f pid
script -qefc "exec sh -c 'echo \$\$ >pid; exec ws2addr -c -j 2 parts.ws >n'" tty </dev/null >/dev/null 2>&1 &
# working: one of $kids has counted for some hundredths of a second
working() {
	kids=$(cat "/proc/$(cat pid)/task/$(cat pid)/children") || return
	for k in $kids; do
		read -r _ _ _ _ _ _ _ _ _ _ _ _ _ ticks _ <"/proc/$k/stat" && [ "$ticks" -ge 5 ] && return
	done
	return 1
}
n=0
until working 2>/dev/null || [ $((n += 1)) -gt 600 ]; do sleep 0.02; done
# shellcheck disable=SC2086  # numbers
kill -STOP $kids
sleep 2.2
# shellcheck disable=SC2086
kill -CONT $kids
ok "the same of several processes" shown "^.\[Kws2addr: parts.ws: [1-9][0-9]?% \([0-9]+ M instructions, [0-9.]+ M/s, [0-9]+:[0-9][0-9] left\)$"
kill $! 2>/dev/null
wait
tap_end
