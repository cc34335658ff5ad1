# Trimmed captures are smaller and give the same references, from their start, from every keyframe, and by regions
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
trim=$BUILD/test/trimtest

cat >p.c <<'P'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* reads into a buffer that is reused, memory that moves, goes and comes again, zeroes from the system */
int main(void)
{
	unsigned char buf[300], *m = mmap(NULL, 8192, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long sum = 0;
	size_t size = 8192;
	FILE *f = fopen("in", "r");
	for (int i = 0; read(fileno(f), buf + i % 7, 100 + i % 150) > 0; i++) {
		for (int k = 0; k < 90; k++)
			sum = sum * 31 + buf[k + i % 7];
		memcpy(m + i * 64 % size, buf, 40);
		if (i % 10 == 9) {
			m = mremap(m, size, size + 4096, MREMAP_MAYMOVE);
			size += 4096;
		}
		if (i % 25 == 24) {
			madvise(m, 4096, MADV_DONTNEED);
			sum += m[5] + m[4096 + 5];
		}
		if (i % 40 == 39) {
			munmap(m, size);
			size = 8192;
			m = mmap(m, size, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
			sum += m[77];
		}
	}
	for (size_t i = 0; i < size; i += 5)
		sum = sum * 17 + m[i];
	printf("%lu\n", sum);
	return 0;
}
P
${CC:-gcc} -O1 p.c -o p || exit 1
awk 'BEGIN { for (i = 0; i < 4000; i++) print i * i % 7919, "line", i }' >in
wscap -o raw.ws ./p >out || exit 1
ws2addr -o raw.ref raw.ws
n=$(ws2addr -c raw.ws | sed -n 's/instructions //p')

is "without keyframes" "$("$trim" raw.ws small.ws 0 0)" "0 keyframes, whole"
ws2addr -o small.ref small.ws
same "the same references" raw.ref small.ref
if [ "$(bytes small.ws)" -lt $(($(bytes raw.ws) / 5)) ]; then pass "smaller"; else fail "smaller" "$(bytes raw.ws) $(bytes small.ws)"; fi
ws2addr -w 1 small.ws >again
same "the same output" out again
"$trim" small.ws twice.ws 0 0 >/dev/null
same "trimming what is trimmed changes nothing" small.ws twice.ws

every=$((n / 20))
got=$("$trim" raw.ws keys.ws $every 1000000)
case $got in
1[0-9]*' keyframes, whole' | 2[0-9]*' keyframes, whole') pass "many keyframes: $got" ;;
*) fail "many keyframes" "$got" ;;
esac
ws2addr -o keys.ref keys.ws
same "the same references through keyframes" raw.ref keys.ref
is "counts by segments" "$(ws2addr -c -j 4 keys.ws)" "$(ws2addr -c raw.ws)"
# cut off in a group: ranges up to there, where it is, and an error; the last one goes on to that place, and finds it, too
size=$(($(bytes keys.ws) * 2 / 3))
head -c $size keys.ws >part.ws
ws2addr --segments 4 part.ws >ranges 2>err
is "segments of what is cut off" "$? $(wc -l <ranges | tr -d ' ') $(sed 's/ (record [1-9][0-9]*): the group is cut off: [0-9]* of [0-9]* bytes are there$//' err)" \
	"1 4 ws2addr: part.ws: byte $size"
ws2addr -f text part.ws >all.txt 2>err
while read -r range; do ws2addr -f text -n "$range" part.ws; echo $? >>ends; done <ranges >parts.txt 2>err2
same "are all that it has" all.txt parts.txt
is "and the last one finds the end" "$(tr '\n' ' ' <ends) $(cat err2)" "0 0 0 1  $(cat err)"
rm ranges ends all.txt parts.txt part.ws
# the test program of keyframes goes to each and replays from there to the end
ok "from each keyframe to the end" "$BUILD/test/wskeys" raw.ws keys.ws
is "a share of nothing" "$("$trim" raw.ws few.ws $every 1)" "0 keyframes, whole"

# what SIGKILL would leave
size=$(bytes raw.ws)
for part in 30 60 90; do
	head -c $((size * part / 100)) raw.ws >cut.ws
	got=$("$trim" cut.ws cuts.ws 0 0 2>&1)
	case $got in
	*': the'* | *before* | *trimtest*) pass "cut at $part %: nothing to keep" ;;
	'0 keyframes, cut off')
		ws2addr -o cut.ref cuts.ws 2>err
		is "cut at $part %: a capture that ends early" "$? $(sed 's/, after [0-9]* instructions//' err)" \
			"0 ws2addr: cuts.ws: the capture ends before the program: it was cut off"
		head -c "$(bytes cut.ref)" raw.ref >want.ref
		same "cut at $part %: the same references" want.ref cut.ref ;;
	*) fail "cut at $part %" "$got" ;;
	esac
done
tap_end
