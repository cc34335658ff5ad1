# -n: references of ranges, which together are those of the whole
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "captures: $why"; tap_end; exit; }
wscap -o t.ws sh -c 'echo a | sort' >out || fail "the capture"
n=$(ws2addr -c t.ws | awk '/^instructions/ { print $2 }')
for form in text wide; do      # classic has no addresses of this processor
	ws2laplace -f $form -t 1000 -k kernel -o whole t.ws 2>err
	: >got
	for r in 0:1 1:1 1:5000 5000:$((n - 7)) $((n - 7)):; do
		ws2laplace -f $form -t 1000 -n $r -o part t.ws 2>err || fail "$form $r: $(cat err)"
		# only the first of the wide form leaves its header there
		if [ $form = wide ] && [ $r != 0:1 ]; then tail -c +17 part; else cat part; fi >>got
	done
	cmp -s got whole && pass "$form: ranges are the whole" || fail "$form: ranges are the whole"
done
is "there are references" "$(awk -v n="$(wc -c <whole)" 'BEGIN { print (n > 100000) }')" 1
ws2laplace -f text -n "$n:" t.ws >got 2>err
is "beyond the end: nothing" "$? $(wc -c <got | tr -d ' ')" "0 0"
ws2laplace -f text -n 99999999: t.ws >got 2>err
is "well beyond it: said" "$? $(wc -c <got | tr -d ' ') $(grep -c '^ws2laplace: t.ws: nothing is in this range: the run has [1-9][0-9]* instructions$' err)" "0 0 1"
s="; see ws2laplace --help"
gives "with a kernel trace" 2 "ws2laplace: -n comes without -k: the kernel trace is that of the whole run$s" ws2laplace -n 1:2 -k k t.ws
gives "neither" 2 "ws2laplace: -k with a file for the kernel trace is missing$s" ws2laplace t.ws
ws2laplace -n 5:4 t.ws >got 2>err
is "no range" "$? $(wc -c <got | tr -d ' ')" "2 0"
tap_end
