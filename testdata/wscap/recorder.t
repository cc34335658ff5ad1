# The recorder inside the process: what a program can notice of it, and what a replay must not
. "$HERE/lib.sh"
gcc -O1 -pthread ${static:+-static-pie ${static#-static}} -o recorder "$HERE/recorder.c" || exit 1
gcc -O1 -pthread -static -no-pie -o recorders "$HERE/recorder.c" || exit 1

rec() { captured "$1" --recorder on -- "$2" "$3"; }
for i in work registers amid raise timer sleep blocked fork vfork pipe greedy unlimited files seccomp mapped maps maptimer code codetimer cpuid seldom closed actions masks ignored parted again; do
	rec "$i" ./recorder $i
done
rec "a pipe without a reader" ./recorder pipekill
for i in registers amid fork maps code cpuid; do rec "$i, static, at low addresses" ./recorders $i; done
rec "a thread begins" ./recorder thread
wsverify -n 0:2000 c.ws >verified 2>&1
is "verified" "$? $(grep -vc ' 0 differences$' verified)" "0 0"
rec "a thread computes" ./recorder computed

# killed OPTION...: a process that is killed at any place, in $state: the capture replays up to there
state=
killed() {
	: >out
	# shellcheck disable=SC2086
	wscap "$@" -o c.ws ./recorder forever $state >out &
	until grep -q ready out; do sleep 0.05; done
	read -r pid <"/proc/$!/task/$!/children"
	in=$(grep -c memfd:recorder "/proc/$pid/maps")
	kill -9 "$pid"
	wait $!
	is "killed $*: status" $? 137
	ok "killed $*: replayed" ws2addr -o /dev/null c.ws
}

for i in 1 2 3 4 5; do killed --recorder on; done
is "it is in the process" "$((in > 0))" 1
for state in ignored parted again; do
	killed --recorder on
	is "it is in the process: $state" "$((in > 0))" 1
done
state=
killed --recorder off
is "and not with --recorder off" "$in" 0

# a kernel that cannot do it: all by ptrace, also with several processes and threads
gcc -O1 -o nodispatch "$HERE/nodispatch.c" || exit 1
gcc -O1 -pthread $static -o threads "$HERE/threads.c" && gcc -O1 $static -o kids "$HERE/kids.c" -lpthread || exit 1
for i in "recorder work" "recorder masks" "recorder ignored" "recorder parted" "threads locks" "kids fork" "kids exec"; do
	# shellcheck disable=SC2086
	./$i >want.out 2>want.err
	want=$?
	# shellcheck disable=SC2086
	./nodispatch wscap -o c.ws ./$i >got.out 2>got.err
	is "no user dispatch: $i: status" $? $want
	same "no user dispatch: $i: output" got.out want.out
	same "no user dispatch: $i: errors" got.err want.err
	ok "no user dispatch: $i: replayed" ws2addr -o /dev/null c.ws
done

# valgrind executes nothing of the code that it maps, but reads it: it must find neither jumps nor breakpoints there
if command -v valgrind >/dev/null && valgrind -q --tool=none true 2>/dev/null; then
	for i in on off; do captured "valgrind, --recorder $i" --recorder $i -- valgrind -q --tool=none sort "$HERE/lib.sh"; done
else
	skip "no valgrind"
fi
tap_end
