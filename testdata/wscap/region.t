# wscap --from, --to: a region is the same slice of references as in the capture of the whole run
. "$HERE/lib.sh"
for o in '' -static; do
	# shellcheck disable=SC2086
	gcc -O1 -fno-builtin $o -I"$SRC/src" -o region "$HERE/region.c" || exit 1
	wscap -o w.ws ./region >/dev/null
	ws2addr -f text w.ws >whole 2>/dev/null
	for r in '--from work --to work#3' '--from work#3 --to work' '--from main --to memcpy#4' '--from memcpy --to memcpy' \
		'--from TRACEMILL_BEGIN --to TRACEMILL_END' '--from work#13' '--to work#2'; do
		# shellcheck disable=SC2086
		got=$(wscap $r -o c.ws ./region 2>&1)
		is "region $o $r: the program" "$? $got" "4 done"
		ws2addr -f text c.ws >part 2>/dev/null
		# where the part is in the whole: the first place that agrees throughout
		awk 'NR == FNR { p[++n] = $0; next } { w[++m] = $0 }
			END { for (i = 1; n && i + n - 1 <= m; i++) {
				for (j = 1; j <= n && w[i + j - 1] == p[j]; j++);
				if (j > n) { print "found"; exit } } }' part whole >found
		is "region $o $r: in the whole" "$(cat found)" found
	done
done
gives "never" 125 "wscap: --from nosuch: the program ended and had no such place" wscap --from nosuch -o n.ws ./region
ok "never: no capture" [ ! -e n.ws ]
tap_end
