# rdtsc faults in a captured process, where the kernel can do that; in one that executes it often, the recorder makes it
. "$HERE/lib.sh"
gcc -O1 -pthread $static -o tsc "$HERE/tsc.c" || exit 1

# often HOW OPTION...: a program that executes rdtsc often; how often it was stopped is in $stops
often() {
	how=$1
	shift
	wscap "$@" -o c.ws ./tsc "$how" >got.out 2>stops
	is "$how $*: status" $? 0
	stops=$(cat stops)
	# the first process writes what the capture must give
	ws2addr -w 1 c.ws:1 >again.out
	same "$how $*: the same again" again.out got.out
	ok "$how $*: replayed" ws2addr -o /dev/null c.ws
	wsverify -n 0:3000 c.ws >verified 2>&1
	is "$how $*: verified" "$? $(grep -vc ' 0 differences$' verified)" "0 0"
}

for i in alone blocked threads; do
	often $i
	is "$i: few stops" "$stops" few
done
often filtered
often late
often alone --recorder off
is "without the recorder" "$stops" often
often alone --audit
if ./tsc faults; then
	is "with --audit all are stopped at" "$stops" often
	# code that it writes, of which nobody knows: it goes on to fault there
	often written
	n=$(wsinfo c.ws | awk '$1 == "tsc" { print $2 }')
	ok "code that the program writes: all of them" test "$n" -ge 3100
else
	skip "rdtsc does not fault here"
fi
TRACEMILL_TRAPS=no
export TRACEMILL_TRAPS
often alone
is "where it does not fault: few stops" "$stops" few
tap_end
