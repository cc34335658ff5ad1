# --pin: the processors that a captured program runs on, and what it knows of that
. "$HERE/lib.sh"
list() { sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/${1:-self}/status"; }
all=$(list)
one=${all%%[,-]*}               # a processor that may be used
# computes until it may run on $1, or elsewhere than on $2; or until it is told that another one does, or long after that
cat >busy.sh <<'E2'
where() { while read -r k cpu; do [ "$k" != Cpus_allowed_list: ] || break; done </proc/$$/status; }
where
echo "$cpu" >cpu
[ "$2" = here ] && here=$cpu || here=
i=0
until [ -e other ] || [ $i -ge 400 ] || { [ "$here" ] && [ "$cpu" != "$here" ]; } || [ "$cpu" = "$1" ]; do
	i=$((i + 1)) j=0
	while [ $j -lt 20000 ]; do j=$((j + 1)); done
	where
done
[ $i -ge 400 ] || echo >other
E2

# told WHAT COMMAND...: it is told what it could use without us
told() {
	what=$1
	shift
	"$@" >want.out
	for when in on off; do
		wscap --pin $when -o c.ws "$@" >got.out 2>got.err
		is "$what, $when: status, errors" "$? $(cat got.err)" "0 "
		same "$what, $when: output" got.out want.out
		ok "$what, $when: replayed" ws2addr -o /dev/null c.ws
	done
}
told "of itself" nproc
# shellcheck disable=SC2016
told "of another" sh -c 'taskset -p $$ | sed "s/.*mask//"; nproc; (nproc; nproc)'
told "it chooses" taskset -c "$one" sh -c 'nproc; grep Cpus_allowed /proc/self/status'
told "it is chosen for" sh -c 'taskset -cp '"$one"' $$ >/dev/null; nproc; grep Cpus_allowed_list /proc/$$/status; nproc'
if [ "$one" = "$all" ]; then
	skip "--pin: there is one processor, $all"
	tap_end
	exit
fi
is "bound" "$(wscap -o c.ws grep -c '^Cpus_allowed_list:[[:space:]]*[0-9]*$' /proc/self/status)" 1
cat >region.c <<'E2'
#include <stdio.h>
#include <string.h>
__attribute__((noinline)) int
region(void)
{
	char line[300];
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "Cpus_allowed_list:\t", 19))
			fputs(line + 19, stdout);
	return 0;
}
int
main(void)
{
	return region();
}
E2
gcc -O1 $static -o region region.c || exit 1
is "bound from the place of --from on" "$(wscap --from region -o c.ws ./region | grep -cx '[0-9]*')" 1
is "let go at that of --to" "$(wscap --to region -o c.ws ./region)" "$all"
is "--pin off" "$(wscap --pin off -o c.ws sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)" "$all"
is "--pin of another word" "$(wscap --pin=of -o c.ws true 2>&1)" "wscap: --pin of: neither on nor off; see wscap --help"

# what is not captured, or no longer, runs anywhere
is "a child with -1" "$(wscap -1 -o c.ws sh -c 'cat /proc/self/status; :' | sed -n 's/^Cpus_allowed_list:[[:space:]]*//p')" "$all"
is "after --calls" "$(wscap --calls 20 -o c.ws grep -c "^Cpus_allowed_list:.$all\$" /proc/self/status)" 1
wscap -o c.ws sh -c 'sleep 60 & echo $! >pid; exec >/dev/null; while :; do read x <pid; [ "$x" ] && exit; done' &
until [ -s pid ]; do sleep 0.05; done
sleep 0.2
kill $!
wait $!
is "after wscap was told to end" "$(list "$(cat pid)")" "$all"
kill "$(cat pid)"

# two that compute: one of them runs elsewhere
wscap -o c.ws sh -c 'sh busy.sh "$1" & sh busy.sh "$1" & wait' sh "$all"
ok "two that compute: one of them is let go" [ -e other ]
ok "they replay" ws2addr -o /dev/null c.ws

# another program uses the processor: it goes elsewhere
if read -r ran waited _ </proc/self/schedstat 2>/dev/null && [ "$((ran + waited))" -gt 0 ]; then
	rm -f cpu other
	wscap -o c.ws sh busy.sh none here &
	captures=$!
	until [ -s cpu ]; do sleep 0.05; done
	taskset -c "$(cat cpu)" sh -c 'while :; do :; done' &
	wait "$captures"
	kill $!
	ok "it has moved" [ -e other ]
else
	skip "--pin: the kernel does not tell how long a process waits for the processor"
fi
tap_end
