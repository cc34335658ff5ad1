# Of mapped files, the pages that were touched are recorded, and no others; whatever happens to the mapping or to the file
. "$HERE/lib.sh"
gcc -O1 $static -o hold "$HERE/hold.c" || exit 1
data() { awk 'BEGIN { for (i = 0; i < 130000; i++) printf "%015d\n", i * i % 999983 }' >data.tmp; }
data
cp data.tmp keep.tmp

# the memory of run N (of one, of the last) in the capture, in kilobytes
memory() { wsinfo "c.ws$1" | awk '$1 == "memory" { print int($2 / 1024) }'; }

# held WHAT [shared]: as natively, with the recorder and, of three, one without; of two with it, one is verified and one trimmed
# shellcheck disable=SC2086
held() {
	without=
	turn 3 && without=off
	for r in on $without; do
		cp $old keep.tmp data.tmp
		./hold "$1" $2 >want.out
		want=$?
		cp $old keep.tmp data.tmp
		wscap --recorder $r -o c.ws ./hold "$1" $2 >got.out 2>got.err
		is "$1, $r: status and messages" "$? $(grep -v 'mapped shared and private' got.err)" "$want "
		same "$1, $r: output" got.out want.out
		cp keep.tmp data.tmp            # a replay does not look at it
		case $1 in
		*fork | exec | child) ok "$1, $r: replayed" sh -c 'ws2addr -c c.ws:1 && ws2addr -c c.ws:2' ;;
		*) replayed "$1, $r" got.out ;;
		esac
		[ $few = 1 ] || [ $r = on ] || continue
		odd=$((1 - ${odd:-0}))
		[ $few != 1 ] && [ $odd = 0 ] ||
			ok "$1, $r: verified" sh -c 'wsverify -e 20000 -l 1000 c.ws >verified'
		[ $few != 1 ] && [ $odd = 1 ] && continue
		n=$(ws2addr -c c.ws | head -n 1)
		ok "$1, $r: trimmed" wstrim -o t.ws c.ws
		is "$1, $r: trimmed replays to the same end" "$(ws2addr -c t.ws | head -n 1)" "$n"
	done
}

old=
for i in read unmap over advise private write shared cut fork vfork exec file move load kill; do held $i; done
# a file that was not changed for a while may be mapped shared, to read it
old=-p
touch -d '1 hour ago' keep.tmp
for i in read unmap advise write shared cut fork exec file move protect child; do held $i shared; done
for i in load over file unmap private; do held $i; done
# little WHAT MODE RUN KILOBYTES: unless the kernel looks for memory to take back, when all is recorded
little() {
	for _ in 1 2 3 4 5 6; do
		scan=$(grep '^pgscan_file\|^nr_.*_hugepages' /proc/vmstat)
		# shellcheck disable=SC2086
		wscap -o c.ws ./hold $2 >got.out
		[ "$scan" = "$(grep '^pgscan_file\|^nr_.*_hugepages' /proc/vmstat)" ] && break
		scan=
	done
	if [ "$scan" ]; then ok "$1: $(memory "$3")" [ "$(memory "$3")" -lt "$4" ]; else skip "$1: the system is short of memory"; fi
}
little "of 2 megabytes, little is recorded" read '' 2700
little "also if the mapping is writable" private '' 2700
little "and in a child" fork :2 2700
cp -p keep.tmp data.tmp
little "and if it is mapped shared" "read shared" '' 2700
cp keep.tmp data.tmp

# a page that is touched after a part of the capture was written
rm -f go c.ws
wscap -o c.ws ./hold late >got.out 2>got.err &
pid=$!
until [ -s c.ws ] && wsinfo c.ws 2>/dev/null | grep -q 'access'; do sleep 0.1; done
: >go
wait $pid
want=0
replayed "touched later" got.out
ok "touched later: verified" sh -c 'wsverify -e 20000 -l 1000 c.ws >verified'

# wscap is killed
rm -f go c.ws
wscap -o c.ws ./hold late >got.out 2>got.err &
pid=$!
until [ -s c.ws ] && wsinfo c.ws 2>/dev/null | grep -q 'access'; do sleep 0.1; done
kill -9 $pid
wait $pid 2>/dev/null
ws2addr -c c.ws >count 2>err
ok "wscap killed: the capture is replayed as far as it was written" grep -q 'replayed up to' err

# another process changes the file
rm -f go c.ws
wscap -o c.ws ./hold late >got.out 2>got.err &
pid=$!
until [ -s c.ws ] && wsinfo c.ws 2>/dev/null | grep -q 'access'; do sleep 0.1; done
printf 'changed' | dd of=data.tmp bs=1 seek=1600000 conv=notrunc status=none
: >go
wait $pid
ok "another process changes the file: it is said" grep -q 'a file was changed while it was mapped' got.err
replayed "and the replay has what was read" got.out
tap_end
