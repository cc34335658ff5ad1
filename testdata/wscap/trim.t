# Trimming: it can be interrupted, is seen on a terminal, and what was captured is there whatever becomes of it
. "$HERE/lib.sh"
gcc -nostdlib -static -o spin "$HERE/spin.s" || exit 1

# The child of $1 that trims, once the capture is whole
worker() {
	until wsinfo t.ws >/dev/null 2>&1; do sleep 0.05; done
	while :; do
		for k in $(cat "/proc/$1/task/$1/children"); do
			read -r comm <"/proc/$k/comm"
			[ "$comm" = wscap ] && echo "$k" && return
		done
		sleep 0.05
	done
}

gone() {
	n=0
	while [ $n -lt 200 ]; do
		state=$(sed -n 's/^State:[^A-Z]*//p' "/proc/$1/status" 2>/dev/null)
		case $state in '' | Z* | X*) return 0 ;; esac
		sleep 0.05
		n=$((n + 1))
	done
	return 1
}

mkdir tmp
export TMPDIR="$PWD/tmp"
left="wscap: t.ws: not trimmed, left as it was captured: interrupted"
if [ -e "/proc/$$/task/$$/children" ]; then
	for s in INT.130 TERM.143 HUP.129 QUIT.131 KILL.137; do
		env --default-signal=INT,QUIT wscap -o t.ws ./spin 2>err &
		pid=$!
		k=$(worker $pid)
		kill "-${s%.*}" $pid
		wait $pid 2>/dev/null
		is "${s%.*}: status" $? "${s#*.}"
		ok "${s%.*}: it ends" gone "$k"
		[ "$s" = KILL.137 ] || is "${s%.*}: said" "$(cat err)" "$left"
		is "${s%.*}: what was captured is there" "$(wsinfo t.ws | grep -E '^(kind|ended)' | tr -s ' ' | tr '\n' ' ')" \
			"kind raw times ended exit status 0 "
		is "${s%.*}: nothing else is" "$(echo t.ws.*) $(ls tmp)" "t.ws.* "
		rm t.ws
	done
	env --default-signal=INT,QUIT wscap -o t.ws ./spin 2>err &
	pid=$!
	kill -KILL "$(worker $pid)"
	wait $pid
	is "the replay is killed: status" $? 0
	is "the replay is killed: said" "$(cat err)" "wscap: t.ws: not trimmed, left as it was captured: Killed"
else
	skip "the system does not tell of children"
fi

# As timeout(1) ends what it starts: the program first, and the capture is not trimmed then
cat >wait.sh <<-'EOF'
	trap 'exit 5' TERM HUP
	echo ready
	while :; do sleep 0.1; done
EOF
for s in TERM HUP; do
	rm -f out   # the shell that runs this in the background makes it, maybe after the first look
	wscap -o t.ws sh wait.sh >out 2>err &
	pid=$!
	until grep -qs ready out; do sleep 0.05; done
	kill -$s $pid
	wait $pid
	is "$s while the program runs: status" $? 5
	case $s in
	TERM) is "it was to end" "$(cat err) $(wsinfo t.ws | grep -c '^kind *raw')" \
		"wscap: t.ws: not trimmed, left as it was captured: wscap was asked to end 1" ;;
	# daemons take that for another thing
	HUP) is "it was not to end" "$(cat err) $(wsinfo t.ws | grep -c '^kind *trimmed')" " 1" ;;
	esac
done

# No room for what comes out
rmdir tmp
gives "no folder for temporary files" 3 "wscap: t.ws: not trimmed, left as it was captured: No such file or directory" wscap -o t.ws sh -c 'exit 3'
ok "what was captured is there" ws2addr -c t.ws
mkdir tmp

if command -v script >/dev/null; then
	script -qec 'wscap -o t.ws awk "BEGIN { for (i = 0; i < 500000; i++) s += i }"' typescript >/dev/null
	tr '\r' '\n' <typescript >lines
	grep -q '^wscap: trimming: [1-9][0-9]* million instructions$' lines && pass "progress on a terminal" || fail "progress on a terminal" "$(cat lines)"
	tail -n 2 lines | grep -q "^$(printf '\033')\\[K" && pass "which goes when it is over" || fail "which goes when it is over" "$(od -c lines | tail -n 5)"
	wscap -o t.ws awk 'BEGIN { for (i = 0; i < 500000; i++) s += i }' 2>err
	is "and nowhere else" "$(cat err)" ""
else
	skip "no script(1)"
fi
tap_end
