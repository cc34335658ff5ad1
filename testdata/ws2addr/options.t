# Options: regions add up to the whole, by number and by symbol; jobs change nothing; formats; counts; standard input
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
ok "a program is captured" tiny

ok "replays" ws2addr -o all.ref tiny.ws
ws2addr -f text tiny.ws >all.txt
is "text has as many references" "$(wc -l <all.txt | tr -d ' ')" $((($(bytes all.ref) - 16) / 8))
# 1000 rounds of 9, 4 before the copy, 14 + 1 of it, 5 + 3 behind, 1 at the start
n=$((1 + 9000 + 3 + 15 + 5 + 3))
is "instructions" "$(grep -c ^inst all.txt)" $n
is "stores: call, push; the copy" "$(grep -c ^store all.txt)" $((2000 + 14))
is "loads: pop, ret; the copy; the answer" "$(grep -c ^load all.txt)" $((2000 + 14 + 1))
is "counts" "$(ws2addr -c tiny.ws | tr '\n' ' ')" "instructions $n loads 2015 stores 2014 modifies 0 "
is "counts by two jobs" "$(ws2addr -c -j 2 tiny.ws | tr '\n' ' ')" "instructions $n loads 2015 stores 2014 modifies 0 "

ws2addr -f lackey tiny.ws >all.lackey
is "lackey's lines" "$(sed -n '1s/^\(...\)0*\([0-9a-f]*\),5$/\1\2/p' all.lackey)" "I  $(nm tiny | sed -n 's/^0*\([0-9a-f]*\) T _start/\1/p')"
ws2addr -f din tiny.ws >all.din
is "din's lines" "$(sort -u -k1,1 all.din | cut -d' ' -f1 | tr '\n' ' ')" "0 1 2 "
ws2addr -i -f text tiny.ws >data.txt
grep -v ^inst all.txt >want.txt
same "without fetches" want.txt data.txt

for cut in 1 5000 9010 9018 9019 9025 $((n - 1)); do
	ws2addr -f text -n :$cut tiny.ws >a.txt
	ws2addr -f text -n $cut: tiny.ws >b.txt
	cat a.txt b.txt >ab.txt
	same "two regions cut at $cut are the whole" all.txt ab.txt
	is "the first has $cut instructions" "$(grep -c ^inst a.txt)" $cut
done
is "nothing between" "$(ws2addr -f text -n 17:17 tiny.ws)" ""
for how in '' '-f text -j 2' '-c -j 2'; do
	# shellcheck disable=SC2086
	gives "behind the end $how" 0 "ws2addr: tiny.ws: nothing is in this range: the run has $n instructions" ws2addr $how -n 99999999: tiny.ws
done
gives "at the end" 0 "" ws2addr -f text -n $n: tiny.ws
is "is nothing" "$(cat tap.out)" ""

# a call of twice: lea, push, pop, ret, and the next instruction is not in it
ws2addr -f text -s twice tiny.ws >twice.txt
is "a symbol's region" "$(sed 's/ 0x[0-9a-f]*//' twice.txt | tr '\n' ',')" "inst 4,inst 1,store 8,inst 1,load 8,inst 1,load 8,"
gives "a symbol that is not there" 1 "ws2addr: tiny.ws: no function thrice in the files that the program mapped" ws2addr -s thrice tiny.ws

cat >q.c <<'P'
#include <stdio.h>
#include <stdlib.h>
static int n;
static int by(const void *a, const void *b) { n++; return *(const int *)a - *(const int *)b; }
__attribute__((noipa)) long deep(long n) { return n ? n + deep(n - 1) : 0; }
int main(void)
{
	int v[16];
	for (int i = 0; i < 16; i++)
		v[i] = i * 7 % 16;
	qsort(v, 16, sizeof *v, by);
	printf("%d %ld\n", n, deep(9));
	return 0;
}
P
${CC:-gcc} -O0 q.c -o q && wscap -o q.ws ./q >q.out
ws2addr -s by -f text q.ws >by.txt
ws2addr -s qsort -f text q.ws >qsort.txt
ws2addr -s deep -f text q.ws >deep.txt
ws2addr -f text q.ws >q.txt
by=$(sed -n 's/^inst \(.*\) .*/\1/; 1p' by.txt) deep=$(sed -n 's/^inst \(.*\) .*/\1/; 1p' deep.txt)
is "a library's function, with what it calls" "$(grep -c "^inst $by " qsort.txt)" "$(cut -d' ' -f1 q.out)"
is "ws2wet finds it, too" "0x$(ws2wet -s qsort q.ws | sed -n 2p | cut -d' ' -f3)" "$(sed -n 's/^inst \(.*\) .*/\1/; 1p' qsort.txt)"
is "one call of a recursive one is all of it" "$(grep -c "^inst $deep " deep.txt)" 10
is "no more of it before or behind" "$(grep -c "^inst $deep " q.txt)" 10

# the files that the capture keeps are asked, as by the other tools; one that is gone is named
wscap --names no -o bare.ws ./q >q.out
mv q q.gone
gives "a function of a program that is gone" 0 "" ws2addr -s by -f text -o gone.txt q.ws
same "is that of its capture" by.txt gone.txt
gives "without the names of a program that is gone" 1 "ws2addr: bare.ws: $PWD/q: No such file or directory: its functions and lines are not known
ws2addr: bare.ws: no function by in the files that the program mapped" ws2addr -s by bare.ws
mv q.gone q

ws2addr - <tiny.ws >stdin.ref
same "from standard input" all.ref stdin.ref
# shellcheck disable=SC2002
cat tiny.ws | ws2addr >pipe.ref
same "from a pipe" all.ref pipe.ref
ws2addr -w 1 tiny.ws >out
same "what the program wrote" tiny.out out

# jobs, and keyframes
for f in addr text; do
	ws2addr -f $f tiny.ws >one
	for jobs in 2 3; do
		ws2addr -j $jobs -f $f tiny.ws >more
		same "-f $f: $jobs jobs" one more
	done
done
ws2addr -i -f text tiny.ws >one
ws2addr -i -f text -j 2 tiny.ws >more
same "without fetches: 2 jobs" one more

gives "an unknown format" 2 "ws2addr: -f what: not a format; there are addr, lackey, din and text; addrconv(1) writes others; see ws2addr --help" \
	ws2addr -f what tiny.ws
gives "a region that ends before it begins" 2 "ws2addr: -n 5:4: not a range FROM:TO, of which one may be left out, with FROM before TO; see ws2addr --help" \
	ws2addr -n 5:4 tiny.ws
gives "no such file" 1 "ws2addr: nowhere: No such file or directory" ws2addr nowhere
tap_end
