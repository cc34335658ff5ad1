# What trimming keeps of memory that is changed, executed, moved, shared, or used in parts, and of the words that it asks for
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }

${CC:-gcc} -O1 $static "$SRC/testdata/wstrim/hard.c" -o hard -pthread || exit 1
awk 'BEGIN { for (i = 0; i < 400; i++) print i * i % 7919, "line", i }' >hard.in
for mode in code parts vectors faults twins h; do
	wscap -o raw.ws ./hard $mode >out 2>err
	is "$mode: captured" "$? $(cat err)" "0 "
	# instructions after one that faults, up to a branch, are counted as fetched
	more='the same, 0 more'
	[ $mode = faults ] && more='the same, [0-9]* more'
	"$BUILD/test/trimwords" raw.ws >got
	ok "$mode: words: $(cat got)" grep -q -x "$more" got
	ws2addr -o raw.ref raw.ws
	wstrim -o small.ws raw.ws
	ws2addr -o small.ref small.ws
	same "$mode: the same references" small.ref raw.ref
	n=$(ws2addr -c raw.ws | sed -n 's/^instructions //p')
	"$BUILD/test/trimtest" raw.ws keys.ws $((n / 6)) 1000000 >got
	ok "$mode: $(cat got)" grep -q '^[1-9][0-9]* keyframes, whole' got
	ws2addr -o keys.ref keys.ws
	same "$mode: the same references through keyframes" keys.ref raw.ref
	ok "$mode: from each keyframe to the end" "$BUILD/test/wskeys" raw.ws keys.ws
done
tap_end
