# The file: nothing is destroyed that wscap did not make, and nothing is lost of what it did
. "$HERE/lib.sh"

# kept WHAT FILE: it is as it was, and there is nothing beside it
kept() {
	is "$1: what was there stays" "$(cat "$2")" old
	is "$1: nothing is left" "$(echo "$2".*)" "$2.*"
}

echo old >a.ws
echo old >old
gives "no program of that name" 127 "wscap: no-such-program: not found in PATH" wscap -o old no-such-program
kept "no program of that name" old
gives "none, by default" 127 "wscap: no-such-program: not found in PATH" wscap no-such-program
kept "none, by default" a.ws
gives "one that may not be executed" 126 "wscap: ./old: Permission denied" wscap -o old ./old
kept "one that may not be executed" old

# The program itself, by its own name, from PATH, as a script, by a link
cp /bin/true prog
printf '#!/bin/sh\necho script\n' >script
chmod +x script
ln -s prog link
cp prog prog.was
for p in ./prog "$PWD/prog" ./script ./link; do
	gives "the program itself: ${p##*/}" 125 "wscap: $p: is the program itself" wscap -o "$p" "$p"
done
gives "the program itself, from PATH" 125 "wscap: prog: is the program itself" env PATH="$PWD:$PATH" "$BUILD/bin/wscap" -o prog prog
gives "where a link leads" 125 "wscap: ./link: is the program itself" wscap -o ./link ./prog
gives "where the capture begins later" 125 "wscap: ./prog: is the program itself" wscap --from 0x1000 -o ./prog ./prog
gives "as a script" 125 "wscap: ./script: is the program itself" wscap --from 0x1000 -o ./script ./script
mkfifo wait
cp "$(command -v cat)" cat
./cat wait >read &
exec 9>wait
gives "one that runs" 125 "wscap: cat: is the program itself" wscap -o cat -p $!
echo more >&9
exec 9>&-
wait
is "which goes on" "$(cat read)" more
same "it is as it was, too" cat "$(command -v cat)"
same "it is as it was" prog prog.was
is "and the script" "$(./script)" script

gives "standard output" 125 "wscap: -o -: standard output is the program's; name a file, or another descriptor, as /dev/fd/3; see wscap --help" wscap -o - true
[ -e - ] && fail "no file of that name" || pass "no file of that name"

# What is no regular file is written through, and stays
mkfifo fifo
wsinfo fifo >info 2>err &
pid=$!
wscap -o fifo echo hi >out || wsinfo /dev/null >fifo
wait $pid
is "a pipe" "$? $(cat out) $(grep '^ended' info)" "0 hi ended         exit status 0"
[ -p fifo ] && pass "which is one still" || fail "which is one still"
gives "a pipe, no program" 127 "wscap: no-such-program: not found in PATH" timeout 120 wscap -o fifo no-such-program &
pid=$!
cat fifo >out
wait $pid
[ -p fifo ] && pass "which is one still" || fail "which is one still"
# One that executes what it has open, by a name such as /dev/fd/3, which has another meaning in wscap
cat >open.c <<-'EOF'
	#include <fcntl.h>
	#include <unistd.h>
	extern char **environ;
	int main(int argc, char **argv) { return argc + fexecve(open("/bin/echo", O_RDONLY | O_CLOEXEC), argv, environ); }
EOF
gcc $static -o open open.c
is "a program by its descriptor" "$(wscap -o c.ws ./open hi 2>&1) $(ws2addr -c c.ws 2>&1 | grep -c '^run')" "hi 2"
# Messages do not go into the capture, and the program has no more descriptors than before
cat >closed.c <<-'EOF'
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <sched.h>
	#include <unistd.h>
	static char stack[65536];
	static int child(void *arg) { return *(char *)arg; }
	int main(void) {
		int n = 0;
		for (int fd = 0; fd < 3; fd++)
			n += fcntl(fd, F_GETFD) >= 0;
		clone(child, stack + sizeof(stack), CLONE_VM, stack);
		return n;
	}
EOF
gcc $static -o closed closed.c
said="it starts a process that shares its memory for good"
gives "a message" 3 "wscap: the capture ends here, the program continues: $said" wscap -o c.ws ./closed
wscap -o c.ws ./closed 2>&-
is "no standard error: status" $? 2
wscap -o c.ws ./closed <&- >&- 2>&-
is "no standard descriptors: status" $? 0
is "the capture is whole" "$(ws2addr -c c.ws 2>&1 | grep -c "$said")" 1
is "another descriptor" "$({ wscap -o /dev/fd/3 echo hi >out; } 3>&1 | ws2addr -w 1) $(cat out)" "hi hi"
if [ "$(id -u)" = 0 ] && mknod null c 1 3 2>err; then
	wscap -o null true
	is "a device" "$?" 0
	wscap -o null no-such-program 2>err
	is "a device, no program" "$?" 127
	[ -c null ] && pass "which is one still" || fail "which is one still"
else
	skip "no device can be made here"
fi
ln -s led leads
wscap -o leads true
is "a link to where nothing is" "$(readlink leads) $(wsinfo led | grep -c '^ended')" "led 1"
(umask 077; wscap -o private true)
chmod 640 led
wscap -o led true
is "modes" "$(stat -c %a private led | tr '\n' ' ')" "600 640 "

# A limit of files' sizes is the program's, and nobody's end.  The first memory does not fit
for opts in '' --first-touch; do
	# shellcheck disable=SC2086
	(ulimit -f 1; exec wscap $opts -o old sh -c 'echo out; exit 3') >out 2>err
	is "a small limit $opts" "$? $(cat out) $(cat err)" "125 out wscap: old: File too large"
	kept "a small limit $opts" old
done
# It does, and what comes later does not
# nothing makes it smaller
head -c 15000000 /dev/urandom | base64 -w 0 >big
(ulimit -f 16000; exec wscap -o part.ws awk '{ n += length } END { print n; exit 3 }' big) >out 2>err
is "a limit that is reached" "$? $(cat out) $(cat err)" "125 20000000 wscap: part.ws: File too large"
ws2addr -c part.ws >out 2>err
is "what came before can be replayed" "$? $(grep -c . out)" "1 4"
grep -q 'cut off.*replayed up to instruction [1-9]' err && pass "up to there" || fail "up to there" "$(cat err)"
# The program's own files
cat >limit <<-'EOF'
	ulimit -f 100
	head -c 1000000 /dev/zero >mine
	echo "head: $?"
	trap '' XFSZ
	head -c 1000000 /dev/zero >mine 2>/dev/null
	echo "head: $?"
EOF
(sh limit) >want.out 2>/dev/null
(wscap -o limit.ws sh limit) >out 2>/dev/null
same "the program's limit is as it was" out want.out
is "which ends what it starts" "$(head -n 1 out)" "head: 153"
(trap '' XFSZ; exec sh limit) >want.out 2>/dev/null
(trap '' XFSZ; exec wscap -o limit.ws sh limit) >out 2>/dev/null
same "as is a signal that is ignored" out want.out
tap_end
