# A trimmed capture is smaller, and every tool gives the same answers of it
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }

# answers WHAT: of c.ws and of t.ws
answers() {
	# a window of the middle: keyframes are used there
	n=$(ws2addr -c c.ws | sed -n 's/^instructions //p')
	part=$((n / 2)):$((n / 2 + 5000))
	while read -r command; do
		for f in c t; do
			# shellcheck disable=SC2086
			(eval "$(echo "$command" | sed "s/%/$f.ws/g; s/PART/$part/g")") >$f.out 2>$f.err </dev/null
			echo "status $?" >>$f.out
		done
		# a trimmed capture says how long it is before it is replayed
		for f in c t; do sed "s/$f\\.ws/it/; s/, after [0-9]* instructions//" $f.err >$f.said; done
		same "$1: $command" c.out t.out
		same "$1: $command: messages" c.said t.said
	done <<-'C'
		ws2addr %
		ws2addr -c %
		ws2addr -c -j 2 %
		ws2addr -f text -n PART %
		ws2addr -w 1 %
		wsverify -n PART %
		wsinfo % | sed '/^$/q' | grep -E '^(program|arguments|processor|state|kernel|ended)'
		wsinfo % | sed -n '/^calls/,$p' | awk '{ print $1, $2, $3 }'
		wsinfo -l % | awk '$2 == "sys"' | cut -d ' ' -f 3-
		ws2wet -n PART %
		ws2laplace -k - -o /dev/null %
		ws2laplace -k /dev/null -o - %
	C
}

# traces WHAT: the same of the whole execution trace, which takes longer
traces() {
	while read -r command; do
		for f in c t; do
			(eval "$(echo "$command" | sed "s/%/$f.ws/g")") >$f.out 2>&1 </dev/null
			echo "status $?" >>$f.out
		done
		same "$1: $command" c.out t.out
	done <<-'C'
		ws2wet %
		wetz -o w.wet % && wetz -d w.wet
		wetz -m loads -o w.wet % && wetz -d w.wet
		wetq list %
		wetq cf %
		wetq slice $(wetq list % | tail -n 1 | cut -d ' ' -f 1)#0 %
	C
}

cat >p.c <<'C'
#include <stdio.h>
#include <stdlib.h>
static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(int argc, char **argv)
{
	int n = atoi(argv[1]), *v = malloc(n * sizeof *v);
	for (int i = 0; i < n; i++)
		v[i] = i * 7919 % 10007;
	qsort(v, n, sizeof *v, cmp);
	printf("%d %d\n", v[0], v[n - 1]);
	return argc;
}
C
${CC:-gcc} -O1 -g $static p.c -o p || exit 1
seq 300 >numbers
# trimmed WHAT COMMAND...: c.ws, and t.ws, which is smaller
trimmed() {
	what=$1
	shift
	wscap -o c.ws "$@" >out 2>err </dev/null
	is "$what: as it is captured" "$(wsinfo c.ws 2>err | grep -E -c '^kind.*raw')" 1
	cp c.ws t.ws
	chmod 640 t.ws
	ok "$what: trimmed" wstrim t.ws
	is "$what: its mode" "$(stat -c %a t.ws)" 640
	is "$what: nothing is left" "$(echo t.ws.*)" "t.ws.*"
	is "$what: it says so" "$(wsinfo t.ws 2>err | grep -E -c '^kind.*trimmed')" 1
	[ "$(bytes t.ws)" -lt $(($(bytes c.ws) / 2)) ] && pass "$what: less than half" || fail "$what: less than half" "$(bytes c.ws) $(bytes t.ws)"
	answers "$what"
}
trimmed "gzip" gzip -9nc numbers
trimmed "a small program" ./p 100
traces "a small program"
gcc -O1 $static -o sig "$SRC/testdata/wscap/sig.c" && trimmed "signals" ./sig queue
# with keyframes
wscap -o c.ws ./p 2000 >out
"$BUILD/test/trimtest" c.ws t.ws 100000 1000000 >got
is "keyframes" "$(grep -c '^[1-9]' got)" 1
answers "keyframes"

# What goes where
cp c.ws t.ws
wstrim <c.ws >got.ws
wstrim t.ws
same "standard input and output" got.ws t.ws
# shellcheck disable=SC2002
cat c.ws | wstrim - | cmp -s - t.ws && pass "a pipe" || fail "a pipe"
cp c.ws kept.ws
ok "-o" wstrim -o o.ws c.ws
same "-o: the result" o.ws t.ws
same "-o: the input stays" c.ws kept.ws
ln -s kept.ws link.ws
ok "a link" wstrim link.ws
is "which is one still" "$(readlink link.ws)" kept.ws
same "and what it leads to is trimmed" kept.ws t.ws
wstrim -v -o o.ws c.ws 2>err
grep -q -E "^wstrim: c.ws: $(bytes c.ws) bytes to $(bytes t.ws) \([0-9.]+ %\), [0-9]+ instructions, [0-9]+ keyframes$" err &&
	pass "-v" || fail "-v" "$(cat err)"

# What is trimmed stays as it is
ls -i t.ws >before
gives "trimmed already" 0 "wstrim: t.ws: is trimmed already, and stays as it is" wstrim t.ws
is "it is the same file" "$(ls -i t.ws)" "$(cat before)"
wstrim -o again.ws t.ws 2>err
is "to another file" "$? $(cat err)" "0 wstrim: t.ws: is trimmed already, and is copied"
same "it is the same" again.ws t.ws

# One that ends early, and one that is cut off
wscap -1 -o c.ws env true 2>err
cp c.ws t.ws
wstrim t.ws 2>err
is "early" "$? $(sed 's/after [0-9]* i/i/' err)" "0 wstrim: t.ws: the capture ends before the program, instructions: it executes another program"
answers "early"
# cut_off WHAT: c.ws is not replaced, and -o makes t.ws of what can be replayed
cut_off() {
	cp c.ws t.ws
	wstrim t.ws 2>err
	is "$1" "$? $(grep -c '^wstrim: t.ws: byte [0-9]* .*is cut off: ' err)" "1 1"
	same "$1: the capture stays" t.ws c.ws
	wstrim -o t.ws c.ws 2>err
	is "$1: -o" "$? $(grep -c '^wstrim: c.ws: byte [0-9]* .*is cut off: ' err)" "1 1"
}

# what is damaged or cut off is not replaced, and -o writes what can be replayed; kept files would be at its end
wscap --names no -o whole.ws ./p 100 >out
head -c $(($(bytes whole.ws) * 8 / 10)) whole.ws >c.ws
cut_off "cut off"
is "which is a whole one then" "$(ws2addr -c t.ws 2>err; sed 's/, after [0-9]* i/ i/' err)" \
	"$(ws2addr -c c.ws 2>err; echo "ws2addr: t.ws: the capture ends before the program instructions: it was cut off")"
# what is missing at the end of this one is the index only: nothing is lost
head -c -20 whole.ws >t.ws
ok "no index" wstrim t.ws
is "no index: all is there" "$(ws2addr -c t.ws)" "$(ws2addr -c whole.ws)"
# the same of one that was trimmed before, which has nothing to be left out
cp whole.ws trimmed.ws
wstrim trimmed.ws 2>err
head -c $(($(bytes trimmed.ws) * 9 / 10)) trimmed.ws >c.ws
cut_off "trimmed and cut off"
head -c -20 trimmed.ws >t.ws
ok "trimmed, no index" wstrim t.ws
is "trimmed, no index: all is there" "$(ws2addr -c t.ws)" "$(ws2addr -c whole.ws)"
gives "two captures" 2 "wstrim: t.ws: one operand too many; see wstrim --help" wstrim c.ws t.ws
tap_end
