# What the program sees, gives and leaves is as without us
. "$HERE/lib.sh"

seq 20000 | sed 's/.*/& line & of text/' >in
captured "true" -- true
captured "false" -- false
captured "arguments" -- printf '%s\n' -o --raw 'two words' ''
captured "gzip" -- gzip -9c in
captured "sort" -- sort -k3 in
captured "sort, an option that means nothing now" --raw -- sort -rn in
captured "sort, first touch" --first-touch -- sort -rn in
captured "awk, audit" --audit -- awk '{ s += $1 } END { print s }' in
captured "perl" -- perl -e 'my %h; $h{$_ % 97} += $_ for 1 .. 5000; print join(",", map { "$_=$h{$_}" } sort keys %h), "\n"; exit 3'
captured "errors" -- ls /no/such/file
captured "descriptors" -- ls /proc/self/fd

is "standard input" "$(wscap -o c.ws wc -l <in | tr -d ' ')" 20000
is "the working folder" "$(wscap -o c.ws pwd)" "$(pwd)"
is "processors" "$(wscap -o c.ws nproc)" "$(nproc)"
is "status above 128" "$(wscap -o c.ws sh -c 'exit 200'; echo $?)" 200
is "killed" "$(wscap -o c.ws sh -c 'kill -9 $$'; echo $?)" 137
is "signals ignored" "$(trap '' USR1; wscap -o c.ws sh -c 'kill -USR1 $$; echo alive')" alive
is "children" "$(wscap -o c.ws sh -c '(exit 4); echo $?; ls /no/such/file 2>/dev/null | cat; date >/dev/null; echo $(echo sub)')" "4
sub"

# Addresses are the same each time, unless they are to be random
addresses() { for i in 1 2 3 4; do wscap "$@" -o c.ws true; wsinfo -l c.ws | sed -n 's/.* start \(rip=[^ ]* rsp=[^ ]*\).*/\1/p'; done | sort -u | grep -c .; }
if setarch -R true 2>/dev/null && [ "$(cat /proc/sys/kernel/randomize_va_space)" != 0 ]; then
	is "the same addresses in all runs" "$(addresses) $(addresses --aslr off)" "1 1"
	[ "$(addresses --aslr=on)" -gt 1 ] && pass "random addresses" || fail "random addresses"
	is "an uncaptured child has them, too" "$(wscap -o c.ws sh -c 'cat /proc/self/personality; exit')" 00040000
else
	skip "addresses are not random here, or random for good"
fi
gives "neither on nor off" 125 "wscap: --aslr x: neither on nor off; see wscap --help" wscap --aslr x true
is "a pipe" "$(wscap -o c.ws seq 100000 | head -n 1)" 1

gives "no program of that name" 127 "wscap: no-such-program: not found in PATH" wscap -o n.ws no-such-program
gives "no file of that name" 127 "wscap: ./no-such-program: No such file or directory" wscap -o n.ws ./no-such-program
[ -e n.ws ] && fail "and no file is left" || pass "and no file is left"
gives "one that may not be executed" 126 "wscap: ./in: Permission denied" wscap -o n.ws ./in
if command -v strace >/dev/null; then
	gives "one that is traced already" 125 "wscap: true: cannot be traced: Operation not permitted" timeout 120 \
		strace -qq -f -o strace.out -e trace=none wscap -o n.ws true
fi
gives "no program" 125 "wscap: no program is given; see wscap --help" wscap
gives "an output that cannot be made" 125 "wscap: no/such/folder: No such file or directory" wscap -o no/such/folder true

# A full disk: the program runs to its end all the same
wscap -o /dev/full sh -c 'echo out; exit 3' >out 2>err
is "a full disk: status" $? 125
is "a full disk: output" "$(cat out)" out
is "a full disk: said" "$(cat err)" "wscap: /dev/full: No space left on device"
wscap -o /dev/full awk 'BEGIN { for (i = 0; i < 30000; i++) s += i; print s; system("echo child") }' >out 2>err
is "a full disk: a longer program" "$(cat out)" "449985000
child"

# Killed: the program is as well, and what was captured can be read
wscap -o k.ws sh -c 'echo $$ >pid; while :; do read -r x <pid; done' &
sleep 3
kill -9 $!
wait $! 2>/dev/null
sleep 0.2
state=$(sed -n 's/^State:[^A-Z]*//p' "/proc/$(cat pid)/status" 2>/dev/null)
case $state in '' | Z* | X*) pass "killed: the program too" ;; *) fail "killed: the program too" "$state" ;; esac
wsinfo k.ws >info 2>err
is "killed: wsinfo's status" $? 1
[ "$(sed -n 's/^read  *\([0-9]*\).*/\1/p' info)" -gt 10 ] && pass "killed: most of it is there" || fail "killed: most of it is there" "$(cat info)"
tap_end
