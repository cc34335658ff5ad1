# Memory that nobody has used: a capture does not use it either, and what is written there is recorded
. "$HERE/lib.sh"
gcc -O1 -pthread $static -o untouched "$HERE/untouched.c" || exit 1

for o in '' '--recorder off' --first-touch --audit; do
	for i in thread plain self other far; do
		[ "$i$o" != thread--first-touch ] || continue
		# only an audit looks for what others write to a process's own memory, and tells of it
		[ $i != other ] || [ "$o" = --audit ] || continue
		what="$i $o"
		./untouched $i >want.out
		case $? in 77) skip "$what: not permitted here"; continue ;; esac
		# shellcheck disable=SC2086
		wscap $o -o c.ws ./untouched $i >got.out 2>err
		is "$what: status" "$? $(grep -v '^wscap: audit: wait4 wrote' err)" "3 "
		[ $i != other ] || is "$what: told" "$(grep -c 'audit: wait4 wrote 5000 bytes at 0x100012' err)" 1
		same "$what: output" got.out want.out
		first=c.ws
		[ "$(wsinfo c.ws | grep -c ^runs)" = 0 ] || first=c.ws:1
		ws2addr -w 1 $first 2>err | grep pages >again.out
		same "$what: the same again" again.out want.out
		is "$what: to its end" "$(cat err)" ""
	done
done
tap_end
