# wscap --from, --to: a region is the same slice of references as in the capture of the whole run
. "$HERE/lib.sh"
for o in '' -static; do
	# few of the places in a program with libraries, where the loader is most of what is compared
	gcc -O1 -pthread -fno-builtin $o -I"$SRC/src" -o region "$HERE/region.c" || exit 1
	wscap -o w.ws ./region >/dev/null
	ws2addr -f text w.ws >whole 2>/dev/null
	for r in '--from work --to work#3' '--from work#3 --to work' '--from main --to memcpy#4' '--from memcpy --to memcpy' \
		'--from TRACEMILL_BEGIN --to TRACEMILL_END' '--from work#13' '--to work#2'; do
		[ "$o" ] || turn 3 || continue
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
gcc -O1 -pthread $static -fno-builtin -I"$SRC/src" -o region "$HERE/region.c" || exit 1
# threads that begin in the region; it ends in one of them, or when they have ended
for r in '--from work --to work#25' '--from work --to TRACEMILL_END' '--to work#2' '--to work#31' '--from main --time 0.1'; do
	# a time grows until threads have begun in it
	for time in 0.1 0.4 2; do
		# shellcheck disable=SC2046,SC2086
		got=$(wscap ${r% 0.1} $(case $r in *0.1) echo $time ;; esac) -o c.ws ./region later 2>&1)
		status=$?
		wsinfo -l c.ws >list
		grep -q '^[0-9]* sig thread' list && break
	done
	is "threads $r: the program" "$status $got" "4 done"
	ok "threads $r: replayed" ws2addr -o /dev/null c.ws
	ok "threads $r: they are in the capture" grep -q '^[0-9]* sig thread' list
done
got=$(wscap --from work -o c.ws ./region before 2>&1)
is "threads before" "$? $got" "4 done"
# an instruction that is executed unseen
echo 'int main(void) { __asm__ volatile("movl $39, %%eax; .globl place; .type place, @function; place: syscall" ::: "rax", "rcx", "r11"); return 4; }' >call.c
gcc -O1 $static -o call call.c || exit 1
gives "a system call as an end" 125 "wscap: --to place: a system call is there, which would not be captured; take an instruction before it" \
	wscap --to place -o n.ws ./call
gives "never" 125 "wscap: --from nosuch: the program ended and had no such function, or only inlined" wscap --from nosuch -o n.ws ./region
ok "never: no capture" [ ! -e n.ws ]
gives "a line is no place" 125 "wscap: --to region.c:4: not a place: a function, NAME#N, 0xADDRESS, MODULE+0xADDRESS or a signal; see wscap --help" \
	wscap --to region.c:4 -o n.ws ./region
tap_end
