# Other processes, which -1 does not capture, and what ends a capture
. "$HERE/lib.sh"
gcc -O1 $static -o kids "$HERE/kids.c" -lpthread || exit 1

for o in "--recorder on" "--recorder off" --audit; do
	# shellcheck disable=SC2086
	wscap $o -o c.ws ./kids counts >got.out 2>/dev/null
	is "counts $o: output" "$(cat got.out)" 5
	ok "counts $o: replayed" ws2addr -o /dev/null c.ws
done
for o in '' --first-touch --audit; do
	for i in fork vfork spawn popen; do
		./kids $i >want.out
		wscap -1 $o -o c.ws ./kids $i >got.out 2>got.err
		is "$i $o: status" $? 0
		same "$i $o: output" got.out want.out
		# what another process writes is no call's doing
		is "$i $o: errors" "$(grep -v 'audit: wait4 wrote 1 bytes' got.err)" ""
		want=0
		replayed "$i $o" ""
	done
	for i in $([ -z "$o" ] || [ $o = --audit ] || echo thread) exec; do
		./kids $i >want.out
		want=$?
		wscap -1 $o -o c.ws ./kids $i >got.out 2>got.err
		is "$i $o: status" $? $want
		same "$i $o: output" got.out want.out
		is "$i $o: replayed" "$("$native" c.ws)" "stopped 0"
		case $i in
		thread) why="it starts a thread, which cannot be captured with --first-touch" ;;
		exec) why="it executes another program" ;;
		esac
		is "$i $o: said" "$(cat got.err)" "wscap: the capture ends here, the program continues: $why"
	done
done

# No descriptors for all of them: the others are not captured, and all runs can be read
# shellcheck disable=SC3045      # the shells that there are have it
is "few descriptors" "$(ulimit -n 20; wscap -o c.ws ./kids crowd 2>err) $?" "20 0"
is "few descriptors: said" "$(sed 's/\[[0-9]*\]//; s/: its m[a-z]* cannot be read$//' err | sort -u)" \
	"wscap: kids: the capture ends here, the program continues"
is "few descriptors: runs" "$(wsinfo c.ws | awk '$3 == "fork" { n[$8]++ } END { print n["exited"] + n["stopped"], (n["stopped"] > 0) }')" "20 1"
ok "few descriptors: replayed" ws2addr -c c.ws

# What may not be read is not captured, and all runs can be
powers=
[ "$(id -u)" != 0 ] || powers="setpriv --bounding-set=-all"
cp kids unread
chmod 111 unread
printf 'int main(void) { return 3; }\n' >three.c
gcc $static -o three three.c && chmod 111 three
if $powers sh -c '! cat unread' >/dev/null 2>err && ! grep -qv 'Permission denied' err; then
	# whole WHAT SAID LIST: of c.ws
	whole() {
		is "$1: said" "$(sed 's/\[[0-9]*\]//' err)" "wscap: $2: the capture ends here, the program continues: its memory cannot be read"
		is "$1: runs" "$(wsinfo c.ws | awk 'list { print $1, $3, $8, $9 } $1 == "run" { list = 1 }' | tr '\n' ,)" "$3"
		ok "$1: replayed" ws2addr -c c.ws
		ok "$1: checked, a run without instructions too" wsverify c.ws
	}
	is "a secret child" "$($powers wscap -o c.ws ./kids secret 2>err) $?" "0 0"
	whole "a secret child" kids "1 first exited 0,2 fork stopped ./kids,"
	$powers wscap -o c.ws sh -c './three; exit $?' 2>err
	is "a program that may not be read" $? 3
	whole "a program that may not be read" three "1 first exited 3,2 vfork executed sh,3 exec stopped ./three,"
	gives "the first one may not be read" 125 "wscap: ./three: cannot be traced: Permission denied" \
		timeout 120 $powers wscap -o n.ws ./three
	is "and no file is left" "$(ls -A | grep -c '^\.*n\.ws')" 0
else
	skip "all can be read here"
fi
tap_end
