# --keyframes: so many, evenly; -j and -n give what they give without; with stores, threads, processes, and what is trimmed already
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }

cat >p.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static unsigned table[5000], sum[2];
/* reads what it wrote long ago */
static void *work(void *arg)
{
	unsigned *s = arg;
	for (int k = 0; k < 30; k++)
		for (int i = 0; i < 5000; i++) {
			*s = *s * 31 + table[i];
			table[i * 7 % 5000] += (unsigned)k;
		}
	return NULL;
}
int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t t;
	for (int i = 0; i < 5000; i++)
		table[i] = (unsigned)i * 7919;
	if (!strcmp(what, "fork") && fork() == 0)
		sum[0] = 5;
	if (!strcmp(what, "threads"))
		pthread_create(&t, NULL, work, sum + 1);
	work(sum);
	if (!strcmp(what, "threads"))
		pthread_join(t, NULL);
	while (wait(NULL) > 0)
		;
	printf("%u %u\n", sum[0], sum[1]);
	return 0;
}
C
${CC:-gcc} -O1 -static -pthread p.c -o p || exit 1

# the places of the keyframes of a file, in instructions
places() { wsinfo -l "$1" | awk '$2 == "key" { sub("^icount=", "", $3); print $3 }'; }
# alike WHAT CAPTURE TRIMMED: the same references of all, of parts, and counts by several processes
alike() {
	ws2addr -o raw.ref "$2"
	ws2addr -o t.ref "$3"
	same "$1: the same references" t.ref raw.ref
	ws2addr -c "$2" >raw.n
	for j in 1 2 3; do
		ws2addr -c -j $j "$3" >t.n
		same "$1: counted by $j" t.n raw.n
	done
}
# parts WHAT CAPTURE TRIMMED: references from the middle, before and after each keyframe
parts() {
	for at in $(places "$3"); do
		for from in $((at - 300)) "$at" $((at + 300)); do
			ws2addr -n $from:$((from + 500)) -o raw.ref "$2"
			ws2addr -n $from:$((from + 500)) -o t.ref "$3"
			cmp -s raw.ref t.ref || { fail "$1: from $from" "differs"; return; }
		done
	done
	[ "$at" ] && pass "$1: the same from each keyframe" || fail "$1: the same from each keyframe" "there are none"
}

wscap -o c.ws ./p >out
n=$(ws2addr -c c.ws | sed -n 's/^instructions //p')
wstrim -o plain.ws c.ws
for k in 0 1 3; do
	wstrim -v --keyframes $k -o k$k.ws c.ws 2>err
	ok "$k: said" grep -q ", $k keyframes\$" err
	is "$k: there" "$(wsinfo k$k.ws | sed -n 's/.* groups, \([0-9]*\) keyframes$/\1/p')" $k
	alike "$k" c.ws k$k.ws
done
parts 3 c.ws k3.ws
ok "0: as without" test "$(bytes k0.ws)" -le "$(bytes plain.ws)"
# each is within a twentieth of its place
is "3: even" "$(places k3.ws | awk -v n="$n" '{ d = $1 / n - NR / 4; if (d < 0) d = -d; print d < 0.05 ? "yes" : "no " $1 " of " n }' | tr '\n' ' ')" "yes yes yes "
ok "3: from each keyframe to the end" "$BUILD/test/wskeys" c.ws k3.ws
ok "3: no difference to the processor" wsverify -e $((n / 5)) -l 1000 k3.ws
wstrim --keyframes 64 -v -o many.ws c.ws 2>err
ok "as many as there is room for: $(sed 's/.*instructions, //' err)" test "$(places many.ws | wc -l)" -ge 20
alike many c.ws many.ws

# what is trimmed already
wstrim --keyframes 3 -o again.ws plain.ws 2>err
is "into a trimmed one: nothing is said" "$(cat err)" ""
alike "into a trimmed one" c.ws again.ws
is "into a trimmed one: there" "$(places again.ws)" "$(places k3.ws)"
ok "into a trimmed one: from each keyframe to the end" "$BUILD/test/wskeys" c.ws again.ws
wstrim --keyframes 1 again.ws
alike "others in their place" c.ws again.ws
is "others in their place: there" "$(places again.ws)" "$(places k1.ws)"
wstrim --keyframes 0 again.ws
alike "and none" c.ws again.ws
is "and none: there" "$(places again.ws | wc -l)" 0

# threads, processes, a store
wscap -o c.ws ./p threads >out
wstrim --keyframes 3 -o t.ws c.ws
alike threads c.ws t.ws
parts threads c.ws t.ws
wscap -o c.ws ./p fork >out
wstrim --keyframes 2 -o t.ws c.ws
alike processes c.ws t.ws
wstrim -v --keyframes 2 -o v.ws c.ws 2>err
is "processes: -v" "$(sed 's/[0-9.]* %/P %/; s/[0-9]* instructions/N instructions/; s/ws:\([12]\): [0-9]*/ws:\1: N/' err | head -n 2 | tr '\n' ' ')$(tail -n 1 err | sed 's/[0-9.]* %/P %/')" \
	"wstrim: c.ws:1: N bytes, N instructions, 2 keyframes wstrim: c.ws:2: N bytes, N instructions, 2 keyframes wstrim: c.ws: $(wc -c <c.ws) bytes to $(wc -c <v.ws) (P %), in 2 runs"
is "processes: each has them" "$(places t.ws:1 | wc -l) $(places t.ws:2 | wc -l)" "2 2"
TRACEMILL_STORE=$PWD/store
export TRACEMILL_STORE
wscap --store store -o c.ws ./p >out
wstrim --keyframes 2 -o t.ws c.ws 2>err
ok "a store: it refers to it" grep -q 'stay in the store' err
is "a store: there" "$(places t.ws | wc -l)" 2
alike "a store" c.ws t.ws
wstrim --alone --keyframes 2 -o alone.ws t.ws 2>err
unset TRACEMILL_STORE
mv store gone
is "alone" "$(ws2addr -c -j 3 alone.ws) $(places alone.ws | wc -l)" "$(cat raw.n) 2"

for bad in 65 -1 x ''; do
	gives "a number that is none: '$bad'" 2 "wstrim: --keyframes $bad: not a number from 0 to 64; see wstrim --help" wstrim --keyframes "$bad" k0.ws
done
gives "with --fetch" 2 "wstrim: --fetch only copies: --keyframes is for another call; see wstrim --help" wstrim --fetch --keyframes 1 k0.ws
tap_end
