# A capture that ends before its program: every reader says so, and how much there is; one that is cut off is an error of all
. "$HERE/lib.sh"
cat >thread.c <<-'EOF'
	#include <pthread.h>
	#include <stdio.h>
	static void *run(void *p) { return p; }
	int main(void)
	{
		pthread_t t;

		puts("before");
		fflush(stdout);
		pthread_create(&t, NULL, run, NULL);
		pthread_join(t, NULL);
		puts("after");
		return 3;
	}
EOF
gcc -O1 -pthread $static -o thread thread.c || exit 1
cat >first.c <<-'EOF'
	#include <unistd.h>
	int main(int argc, char **argv) { return argc > 1 ? execvp(argv[1], argv + 1) : 0; }
EOF
gcc -O1 $static -o first first.c || exit 1

# early WHAT WHY COMMAND...: it succeeds, and its only message is that of c.ws or what was made from it
early() {
	e_what=$1 e_why=$2
	shift 2
	"$@" >out 2>err
	e_status=$?
	if [ $e_status = 0 ] && [ "$(grep -c . err)" = 1 ] &&
	    grep -q -E "^$1: (c\.(ws|wet)|standard input): the capture ends before the program$e_why\$" err; then
		pass "$e_what: $*"
	else
		fail "$e_what: $*" "status $e_status: $(cat err)"
	fi
}

readers() {
	n=$1 why=", after $1 instructions: $2" raw="$3"
	early "$2" "$why" ws2addr -c c.ws
	is "which are those that it counts" "$(sed -n 's/^instructions //p' out)" "$n"
	early "$2" "$why" ws2addr -j 2 -c c.ws
	early "$2" "$why" ws2addr -j 2 -f text -o x c.ws
	early "$2" "$why" ws2addr -f din -o x c.ws
	early "$2" "$why" ws2addr -w 1 c.ws
	early "$2" "$raw: $2" ws2addr -n 0:100 -o x c.ws
	early "$2" "$why" ws2wet -o x c.ws
	early "$2" "$why" ws2wet --main -o x c.ws
	early "$2" "$why" ws2laplace -k k -o x c.ws
	early "$2" "$why" wetq list c.ws
	early "$2" "(, after $1 instructions)?: $2" wetq -n 3 cf c.ws
	early "$2" "(, after $1 instructions)?: $2" wetq -i c.ws </dev/null
	early "$2" "$raw: $2" wsinfo c.ws
	early "$2" "$raw: $2" wsinfo -l c.ws
	early "$2" "$raw: $2" wsverify -n 0:100 c.ws
	early "$2" "$why" wsverify -n $((n - 100)): c.ws
}

for kind in raw trimmed; do
	wscap -1 -o c.ws ./first sh -c 'echo out; exit 3' >out 2>err
	is "exec: status, output, error" "$? $(cat out) $(cat err)" \
		"3 out wscap: the capture ends here, the program continues: it executes another program"
	[ $kind = raw ] || ok "trimmed" wstrim c.ws
	n=$(ws2addr -c c.ws 2>err | sed -n 's/^instructions //p')
	readers "$n" "it executes another program" "$([ $kind = raw ] || echo ", after $n instructions")"
done
wscap --first-touch -o c.ws ./thread >out 2>err
is "thread: status, output" "$? $(tr '\n' ' ' <out)" "3 before after "
why=$(sed -n 's/.*the program continues: //p' err)
# which says how long it is
ok "trimmed" wstrim c.ws
n=$(ws2addr -c c.ws 2>err | sed -n 's/^instructions //p')
early "thread" ", after $n instructions: $why" ws2addr -c c.ws
for c in "ws2addr -c" "ws2wet -o x" "ws2laplace -k k -o x" "wsinfo" "wetq list" "wetz -o x"; do
	# shellcheck disable=SC2086
	early "from standard input" ", after $n instructions: $why" $c <c.ws
done
for c in "ws2addr -c" "ws2addr -j 2 -c" "ws2addr -j 2 -f din -o x" "ws2wet -o x" "ws2laplace -k k -o x" wsinfo; do
	cat c.ws >pipe.ws
	# shellcheck disable=SC2002,SC2086
	cat pipe.ws | { early "from a pipe" ", after $n instructions: $why" $c; [ $tap_bad = 0 ]; } || tap_bad=1
done

for m in full loads replay paper; do
	early "to kind $m" ", after $n instructions: $why" wetz -m $m -o c.wet c.ws
	early "kind $m" ", after $n instructions: $why" wetz -d -o x c.wet
	early "kind $m" ", after $n instructions: $why" wetq list c.wet
	[ $m = full ] || continue
	cp c.wet full.wet
	early "full to paper" ", after $n instructions: $why" wetz -m paper -o x c.wet
	ok "the file without that" sh -c 'wetz -d c.wet 2>err >x; ws2wet c.ws 2>err | cmp - x'
done
early "labels" ", after $n instructions: $why" wetz -a -o c.wet c.ws
early "labels" ", after $n instructions: $why" wetq arch c.wet

# A whole one, and the same without its last bytes
wscap -o whole.ws ./first
n=$(ws2addr -c whole.ws | sed -n 's/^instructions //p')
for c in "ws2addr -c" "ws2addr -j 2 -c" "ws2wet -o x" "ws2laplace -k k -o x" "wsinfo" "wetq list" "wetz -o x" "wetz -m replay -o x" \
    "wetz -m loads -o x" "wetz -m paper -o x" "wsverify -n $((n - 100)):"; do
	case $c in wsverify*) want=2 ;; *) want=1 ;; esac
	# shellcheck disable=SC2086
	$c whole.ws >out 2>err
	is "whole: $c" "$? $(cat err)" "0 "
	for k in 1 17 38; do
		turn 2 || continue
		head -c -$k whole.ws >cut.ws
		rm -f x
		# shellcheck disable=SC2086
		$c cut.ws >out 2>err
		is "$k bytes less: $c" "$? $(grep -c . err)" "$want 1"
	done
done
# Trimming takes what there is
head -c -20 whole.ws >cut.ws
ok "it can be trimmed again" "$BUILD/test/trimtest" cut.ws again.ws 0 0
ok "and is whole then" ws2addr -c again.ws
tap_end
