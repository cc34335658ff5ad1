# Threads that wait by reading memory, without calls: the turn goes on at `pause`, and captures replay to the same end
. "$HERE/lib.sh"
gcc -O1 -pthread $static -o pauses "$HERE/pauses.c" || exit 1

# A few passes of each loop are executed.  If a thread waited until its time is over, 10 milliseconds for each of a
# thousand turns, there would be thousands of millions.
for i in turns barrier asleep all fork timer prefixed moved blocked remapped bare counting locked processes; do
	./pauses $i 1000 >want.out 2>want.err
	wscap -o c.ws ./pauses $i 1000 >got.out 2>got.err
	is "$i: status" $? 7
	same "$i: output" got.out want.out
	is "$i: output replayed" "$(ws2addr -w 1 c.ws:1)" "$(cat got.out)"
	is "$i: how often it has looked" "$(ws2addr -w 2 c.ws:1)" "$(cat got.err)"
	ok "$i: all runs" ws2addr -o /dev/null c.ws
	n=$(ws2addr -c c.ws:1 | sed -n 's/^loads //p')
	ok "$i: few loads: $n" [ "$n" -gt 1000 -a "$n" -lt 1000000000 ]
	[ $i = turns ] && ok "$i: verified" wsverify -e 20000 -l 1000 c.ws
done
# such a place needs no stack and no words of memory
for i in turns bare counting locked processes; do
	wscap -o c.ws ./pauses $i 1000 >got.out 2>got.err
	n=$(wsinfo -l c.ws:1 | grep -E '^[0-9]* sig (thread|19) ' | grep -vc 'words=')
	ok "switched at pauses or jumps: $i: $n times" [ "$n" -gt 800 ]
done
