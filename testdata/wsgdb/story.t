# Debian's gdb on captures of a program whose answers are known: forward, backward, breakpoints, watchpoints, signals
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
here=yes
cp "$HERE/story.c" .
line() { grep -n -m 1 -e "$1" story.c | cut -d : -f 1; }
wrote=$(line 'wrote it last') crash=$(line 'the crash') seven=$(line 'watched = 7') result=$(line 'return result')
below=$(line 'below = fact')
# shellcheck disable=SC2086     # options
$GCC -O0 -g $static -o story story.c
$GCC -O0 -g -o dynamic story.c
$GCC -O2 -g -o story2 story.c
$GCC -O1 -s -o bare story.c
for k in story dynamic story2 bare; do wscap -o $k.ws ./$k >out-$k; done
wscap -o crash.ws ./story crash >/dev/null
wscap -o abort.ws ./story abort >/dev/null
is "the program" "$(cat out-story)" "830 3628800 47.500"
wscap -o two.ws env ./story >out
gives "which run of several it is" 0 "wsgdb: two.ws: run 2 of 2, of story; FILE:NUMBER is another one (wsinfo lists them)" wsgdb two.ws </dev/null
gives "one that is named" 0 "" wsgdb two.ws:2 </dev/null

# (gdb's reverse-finish stops at the first entry of the function on the way back, in a recursion that of an inner call)
t=$(run_gdb story.ws 'handle SIGUSR1 nostop noprint' 'break factorial if n == 3' continue 'bt' finish 'reverse-stepi' 'bt 1' 'delete' \
	'break interest if a->id == 4' reverse-continue reverse-finish 'bt 1' 'x/i $pc' 'step' 'bt 1')
has "recursion: break, bt, finish, back; reverse-finish and step" "$t" '^Breakpoint 1, factorial (n=3)' \
	'^#0  factorial (n=3)' '^#7  .*factorial (n=10)' '^#8  .*main' '^Value returned is .1 = 6$' '^#0 .*factorial (n=3)' \
	'^Breakpoint 2, interest' '^#0 .*main' '=> .*call.*interest' '^Breakpoint 2, interest' '^#0 .*interest (a='

t=$(run_gdb story.ws 'break interest' continue 'next' 'next' 'info locals' 'p *a' 'p $xmm0' 'reverse-next' 'reverse-next' \
	'p a->rate' 'reverse-next' 'reverse-next' 'reverse-step' 'reverse-step' 'bt 1')
has "locals, structs and vectors, and reverse-next" "$t" '^Breakpoint 1, interest' "^$result" 'factor = 0.01499' \
	'result = 3.29' '{id = 1, balance = 220, rate = 1.5, name = "account 0' 'v2_double = {3.29[0-9]*, 0}' \
	'double result' '= 1.5$' 'double factor' 'sum += interest' '^#0 .*main'

# What gdb's own recording of a live process shows, and the replay: the same commands, the same lines
for k in 1 2 3; do
	echo "next
step
reverse-next
next
next
finish
reverse-step
bt 2
info locals
reverse-next
reverse-next
stepi
stepi
reverse-stepi
info registers rcx rdx eflags
x/3i \$pc
reverse-finish
p *a
p total"
done >commands
middle='tbreak deposit if amount == 30\ncontinue\nbreak deposit if amount == 17\nreverse-continue\n'
printf "tbreak deposit\nrun\nrecord\n$middle" | cat - commands >live.gdb
printf "tbreak deposit\ncontinue\n$middle" | cat - commands >replay.gdb
for k in live replay; do
	if [ $k = live ]; then set -- ./story; else set -- -ex 'set remotetimeout 600' -ex 'target remote | wsgdb story.ws' -ex 'set width 0'; fi
	timeout 300 gdb -q -nx -batch -iex "set debug-file-directory $lines" "$@" -x $k.gdb 2>&1 </dev/null | sed -n '/^Breakpoint 3, /,$p' |
		sed -e 's/0x[0-9a-f]\{6,\}/ADDR/g' -e '/^Reading /d' -e '/^.Inferior/d' >$k.got
done
if grep -q ptrace live.got; then
	skip "a process cannot be traced here"
else
	[ "$(wc -l <live.got)" -gt 60 ] && pass "many lines" || fail "many lines" "$(cat live.got)"
	same "as gdb's own recording" live.got replay.got
fi

t=$(run_gdb story.ws 'handle SIGUSR1 nostop noprint' 'break 70' continue 'watch watched' reverse-continue 'p a->id' 'p amount' 'bt 2' continue 'p watched')
has "watch and reverse-continue find the line that wrote it last" "$t" "^Breakpoint 1, main .*:$seven" \
	'^Hardware watchpoint 2: watched' 'Old value = 2' 'New value = 0' "^$wrote" '= 2$' '= 13$' '#1 .*main' \
	'Old value = 0' 'New value = 2' '= 2$'

t=$(run_gdb story.ws 'handle SIGUSR1 nostop noprint' 'break 70' continue 'rwatch total' reverse-continue 'x/i $pc' 'delete 2' \
	'awatch book[3].balance' reverse-continue reverse-continue)
has "rwatch and awatch, backward" "$t" '^Hardware read watchpoint 2: total' 'Value = 830' '=> ' \
	'^Hardware access (read/write) watchpoint 3' 'Value = 510' 'Old value = 510' 'New value = 471'

brief=$lines lines=/usr/lib/debug        # the function of a signal is none that libc exports
t=$(run_gdb story.ws continue 'bt 1' stepi 'bt 2' reverse-stepi continue continue 'bt 1' reverse-continue reverse-continue 'monitor when')
has "a signal on the way, the end, the beginning" "$t" '^Program received signal SIGUSR1' '^#0 .*kill' '^on_usr1 (sig=' \
	'^#1  <signal handler called>' 'kill' '^Program received signal SIGUSR1' 'the program exits here with status 3' \
	'^No more reverse-execution history' 'exit' '^Program received signal SIGUSR1' '^No more reverse-execution history' \
	'^before instruction 0'

t=$(run_gdb '-a end crash.ws' bt 'info registers rip' 'p watched' 'watch watched' reverse-continue 'delete' continue continue)
has "a crash: begin at its end, who wrote the variable, and on to the crash" "$t" "main .*:$crash" '^#0 .*main' '= 2$' \
	'SIGUSR1' 'SIGSEGV' 'signal 11 killed the program here'
t=$(run_gdb abort.ws 'handle SIGUSR1 nostop noprint pass' continue bt reverse-finish reverse-finish)
has "abort" "$t" '^Program received signal SIGABRT' '^#0 .*kill' '^#[0-9]* .*abort' '^#[0-9]* .*main'

lines=$brief
t=$(run_gdb story2.ws 'handle SIGUSR1 nostop noprint' 'break deposit' 'continue' 'info sharedlibrary' 'break printf' 'continue' bt)
has "-O2, a breakpoint in a library" "$t" 'libc.so' '^Breakpoint 2,.*printf' '^#1 .*main'
t=$(run_gdb bare.ws 'handle SIGUSR1 nostop noprint' 'break printf' 'break puts' 'continue' 'x/s $rdi' 'reverse-stepi' 'x/i $pc' 'stepi' 'info registers rip')
has "no symbols: a call of libc" "$t" '^Breakpoint .*printf' '%ld %ld %.3f' '=> .*jmp' 'rip .*printf'

t=$(run_gdb story.ws 'break deposit' continue 'monitor who 0' 'x/1xw 8' 'p watched = 3' 'p $rax = 77' 'call factorial(3)' 'p total' \
	'info proc mappings' 'info auxv' 'monitor bogus' 'monitor help' 'monitor goto x')
has "nothing is written, and unmapped memory is none" "$t" 'nothing has changed it' '0x8:.*Cannot access memory at address 0x8' \
	'Cannot access memory' "Could not write register.*a captured run cannot be changed" 'Cannot access memory' '= 0$' 'stack' 'AT_ENTRY' 'AT_NULL' \
	'bogus: no such command' 'monitor who ADDR' 'is a number, start or end'
has "with a word" "$t" '^wsgdb: memory is not written: a captured run cannot be changed'

here=   # that the libraries come from wsgdb, too
t=$(run_gdb dynamic.ws 'monitor goto end' stepi 'monitor when' 'bt -1' 'info sharedlibrary' 'monitor goto start' stepi 'monitor when' \
	'monitor goto 5000' 'break deposit' continue 'monitor when' \
	'python gdb.execute("monitor who %d 8" % int(gdb.parse_and_eval("&book[1].balance")))')
has "monitor goto, when and who" "$t" 'stepi shows it' 'the program exits here' '^before instruction [0-9]* of\|^before instruction' \
	'libc.so' '^before instruction 0' '^Breakpoint 1, deposit (a=.*book+40' 'before instruction' 'instruction [0-9]* at 0x.* (.*/dynamic+0x'
here=yes
all=$(ws2addr -c dynamic.ws | awk '$1 == "instructions" { print $2 }')
has "the end is that of ws2addr" "$t" "^before instruction $all"
t=$(run_gdb story.ws 'handle SIGUSR1 nostop' 'break deposit' 'monitor goto end' reverse-continue 'monitor goto start' reverse-continue)
has "back from the end, not only to it" "$t" 'stepi shows it' '^Breakpoint 1, deposit' 'stepi shows it' '^No more reverse'

t=$(run_gdb story.ws disconnect 'target extended-remote | wsgdb story.ws' 'break deposit' continue delete \
	'break main' run 'monitor when' starti 'monitor when')
has "run begins again" "$t" '^Breakpoint [0-9]*, deposit' '^Breakpoint [0-9]*, main' '^before instruction [1-9]' \
	'^before instruction 0'

cat >reader.c <<'EOF'
#include <unistd.h>
static char text[64];
int
main(void)
{
	long n = read(0, text, 32);

	n += write(1, text, 6);
	text[0] = 'j';
	return n != 20;
}
EOF
$GCC -O0 -g -o reader reader.c
echo "hello, reader" | wscap -o reader.ws ./reader >/dev/null
t=$(run_gdb reader.ws 'break main' continue 'watch text[0]' continue 'bt' 'p text' reverse-continue 'p text' continue continue continue)
has "what a system call writes is a write" "$t" "Old value = 0" "New value = 104 'h'" '^#0 .*read' '^#[12] .*main' \
	'"hello, reader' "Old value = 104 'h'" 'New value = 0' '000' "New value = 104 'h'" "New value = 106 'j'"
tap_end
