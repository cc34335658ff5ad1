# Other processes, which -1 does not capture, and what ends a capture
. "$HERE/lib.sh"
gcc -O1 $static -o kids "$HERE/kids.c" -lpthread || exit 1

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
tap_end
