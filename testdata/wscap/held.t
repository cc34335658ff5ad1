# Signals that come while the program computes: they come before its next system call, whole, and without harm to others
. "$HERE/lib.sh"
gcc -O1 -o held "$HERE/held.c" || exit 1

for what in timers values blocked exec default ignored mask exit; do
	./held $what >want.out
	want=$?
	for how in on off; do
		wscap --recorder=$how -o c.ws ./held $what >got.out 2>err
		is "$what, recorder $how: status, and what is said" "$? $(cat err)" "$want "
		same "$what, recorder $how: output" got.out want.out
		ok "$what, recorder $how: replayed" ws2addr -c c.ws
	done
done
# the same where our process has no id
unshare --pid --fork true 2>/dev/null &&
	is "in a namespace of process ids" "$(wscap -o c.ws unshare --pid --fork ./held timers 2>&1)" often
tap_end
