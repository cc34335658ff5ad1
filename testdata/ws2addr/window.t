# Where the memory of the program lies in the process that replays it: a program with terabytes of address space, as
# AddressSanitizer reserves it; a process that has its own libraries where the window is by default
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }

cat >far.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *kept;
static void drop(char *p) { free(p); }
int
main(int argc, char **argv)
{
	long sum = 0;
	kept = malloc(32);
	strcpy(kept, "hello");
	for (int i = 0; i < 100; i++)
		sum += kept[i % 5] * i;
	printf("%ld\n", sum);
	drop(kept);
	if (argc > 1)
		printf("%c\n", kept[argc]);
	return 0;
}
C
${CC:-gcc} -g -O0 -fsanitize=address -o far far.c 2>err || { skip "the compiler has no AddressSanitizer"; far=no; }
if [ "${far-}" != no ]; then
	# its search for leaks goes on in a process that shares the memory, where a capture ends
	export ASAN_OPTIONS=detect_leaks=0
	./far >native
	wscap -o far.ws ./far >out
	same "AddressSanitizer: it runs as without a capture" native out
	gives "to the end" 0 "" ws2addr -c far.ws
	gives "checked against the processor" 0 "" wsverify -n 0:20000 far.ws
	wstrim -o small.ws far.ws
	ws2addr far.ws | cksum >whole
	ws2addr small.ws | cksum >part
	same "trimmed" whole part
	is "there are references" "$(awk '{ print ($2 > 1000000) }' whole)" 1
	line=$(grep -n 'sum += ' far.c | cut -d : -f 1)
	wetq who "sum@far.c:$line#last" far.ws >who 2>err
	is "who wrote a variable" "$(awk '{ print $2, $3, $4 }' who)" "far.c main $line"
	wetz -m full -o far.wet far.ws
	wetq slice -t data -c "far.c:$line#last" far.ws >slice 2>err
	wetq slice -t data -c "far.c:$line#last" far.wet >again 2>>err
	same "a slice of the capture and of its file" slice again
	is "it has the program" "$(grep -c "far.c main" slice | sed 's/^[1-9][0-9]*$/yes/')" yes
	wscap -o uaf.ws ./far x >out 2>err
	is "a fault is found" "$(grep -c 'ERROR: AddressSanitizer: heap-use-after-free' err)" 1
	wetq why "far.c:$(grep -n 'free(p)' far.c | cut -d : -f 1)#last" uaf.ws >why 2>err
	is "and followed to where it was freed" "$(grep -c 'far.c:.*drop' why | sed 's/^[1-9][0-9]*$/yes/')" yes
fi

tiny || exit 1
ws2addr tiny.ws >want
wetq list tiny.ws >wantlist
for k in "sh -c 'ulimit -s unlimited 2>/dev/null; exec \"\$@\"' sh" "setarch -L" "setarch -R"; do
	eval "$k ws2addr tiny.ws" >got 2>err
	same "$k: references" want got
	eval "$k wetq list tiny.ws" >got 2>err
	same "$k: statements" wantlist got
done
tap_end
