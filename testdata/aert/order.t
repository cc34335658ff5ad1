# Threads together: ae2addr --merge gives their references in an order in which they can have been, by what the program wrote
# shellcheck shell=sh source=/dev/null
. "$HERE/lib.sh"
. "$SRC/testdata/aec/lib.sh"

# judge NAME PROG FILE: the program has written `out`
judge() {
	ae2addr --merge -f text "$2" "$3" >m.txt
	said="$? $(awk -f "$HERE/order.awk" out m.txt)"
	case $said in '0 ok '*) pass "$1" ;; *) fail "$1" "$said" ;; esac
}

rounds() {
	for how in $2; do
		./order "$how" "$3" "$4" >out || fail "$1: $how"
		judge "$1: $how, $3 threads" order ae.out
	done
}

# shellcheck disable=SC2086
for opt in '-O2' '-O1 -static' '-O1 -fPIE -pie'; do
	aecc $opt "$HERE/order.c" -o order -pthread || fail "aecc $opt"
	rounds "$opt" 'm w q' 4 300
done
rounds several 's r t c p o b j' 5 100
aecc -O1 -shared -fPIC -DLIBRARY "$HERE/order.c" -o liborder.so -pthread && aecc -DMAIN "$HERE/order.c" -o order -L. -lorder -Wl,-rpath,"$PWD" ||
	fail 'a library'
rounds 'in a library' 'm q' 4 100
aecc -O2 "$HERE/order.c" -o order -pthread
rounds 'more than a buffer of events' 'o' 3 4000

# the order of a file that is not merged is none
./order w 3 50 >out
ae2addr -f text order ae.out >all.txt
case $(awk -f "$HERE/order.awk" out all.txt) in
ok*) fail 'one thread after the other is no such order' ;;
*) pass 'one thread after the other is no such order' ;;
esac

# the references of each thread are those of the thread
ae2addr --merge -o m.ref order ae.out
for i in 1 2 3 4; do
	ok "thread $i is as it is alone" sh -c "addrconv --task $i m.ref | addrconv -f text | grep -v '^task' >x; ae2addr --task $i -f text order ae.out | cmp - x"
done
is 'there is nothing else' "$(addrconv -f text m.ref | grep -c -v '^task')" "$(grep -c -v '^task' all.txt)"
for z in 'gzip -1' 'zstd -q' 'aepack order'; do
	$z <ae.out >z && ae2addr --merge order z | cmp - m.ref
	is "from $z" $? 0
done
ok 'packed and unpacked' sh -c 'aepack order ae.out | aepack -d order | cmp - ae.out'
ok 'standard input' sh -c 'ae2addr --merge order <ae.out | cmp - m.ref'
cat ae.out | ae2addr --merge -o none order 2>err
is 'a pipe' "$? $(cat err)" '1 ae2addr: standard input: has several threads: name the file, or choose one of them'
addrconv -f text m.ref >m.txt
n=$(grep -c '^inst' m.txt)
ae2addr --merge -n $((n / 3)):$((n / 2)) -f text order ae.out | grep -v '^task' >part
awk -v from=$((n / 3)) -v to=$((n / 2)) '$1 == "task" { next } $1 == "inst" { i++ } i > from && i <= to' m.txt >want
same 'a part' part want
ok 'a compiled regenerator passes the numbers over' sh -c 'aec -b order && ./order.regen ae.out >r.ref; ae2addr order ae.out | cmp - r.ref'
gives 'with counts' 2 "ae2addr: --merge is of the references of all threads, not with -c, -s, --sites or --task; see ae2addr --help" ae2addr --merge -c order ae.out
head -c 3000 ae.out >cut
ae2addr --merge -o none order cut 2>err
is 'cut off' "$? $(sed 's/byte [0-9]*/byte N/' err)" '1 ae2addr: cut: byte N: chunk ends early'
ae2addr --merge -o none order <cut 2>err
is 'cut off, standard input' "$? $(sed 's/byte [0-9]*/byte N/' err)" '1 ae2addr: standard input: byte N: chunk ends early'

# a program with one thread records no number, and is as it is without --merge
./order m 0 0 >out
is 'one thread: nothing more is recorded' "$(ae2addr -c order ae.out | sed -n 's/^event-bytes //p')" "$(AE_OUT=one ./order m 0 0 >/dev/null; ae2addr -c order one | sed -n 's/^event-bytes //p')"
ok 'one thread' sh -c 'ae2addr order ae.out >a; ae2addr --merge order ae.out | cmp - a'

# handlers have streams among those of the threads; a forked child has a file with numbers of its own
cat >child.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile long n, ticks[64];
static void tick(int sig) { ticks[(n + sig) & 63]++; }
static void *work(void *p)
{
	for (int i = 0; i < 20000; i++) {
		pthread_mutex_lock(&m);
		n++;
		pthread_mutex_unlock(&m);
	}
	return p;
}
static void two(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}
int main(void)
{
	struct itimerval v = {{0, 1000}, {0, 1000}};
	int status = 0;
	pid_t p;
	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &v, NULL);
	two();
	p = fork();
	two();
	if (p > 0)
		while (waitpid(p, &status, 0) < 0)
			;
	return n != 80000 || status;
}
END
aecc -O2 child.c -o child -pthread
ok 'handlers and a child' env AE_OUT=child.ae.%n.%p ./child
for i in child.ae.*; do
	ae2addr --merge -f text child "$i" | grep -v '^task' | sort | cksum >merged
	is "its file, merged: the same references" "$? $(cat merged)" "0 $(ae2addr -f text child "$i" | grep -v '^task' | sort | cksum)"
	ok 'among them thousands of each kind' [ "$(cut -d ' ' -f 2 merged)" -gt 1000000 ]
done
set -- child.ae.*
is 'two files' $# 2

# threads that libraries make
if echo 'int main(void) { return 0; }' | gcc -xc -fopenmp - -o omp 2>/dev/null; then
	for o in -O2 '-O0 -fPIE -pie' '-O1 -static'; do
		# shellcheck disable=SC2086
		aecc $o -fopenmp -DOPENMP "$HERE/order.c" -o order && ./order >out || fail "OpenMP, $o"
		judge "OpenMP, $o" order ae.out
	done
fi
if [ -n "$(g++ -print-prog-name=cc1plus 2>/dev/null)" ] && ae++ -O2 "$HERE/order.cc" -o orderxx -pthread; then
	./orderxx >out || fail C++
	judge C++ orderxx ae.out
	ae++ -O2 -static "$HERE/order.cc" -o orderxx -pthread && ./orderxx >out || fail 'C++, static'
	judge 'C++, static' orderxx ae.out
fi

# a program's own functions of such names get their own arguments
cat >own.c <<'END'
int select(int a, int b, int c, int d, int e, int f, int g, int h)
{
	return a + b + c + d + e + f + g * 100 + h;
}
END
cat >use.c <<'END'
#include <stdio.h>
int select(int a, int b, int c, int d, int e, int f, int g, int h);
int main(void)
{
	printf("%d\n", select(1, 2, 3, 4, 5, 6, 7, 8));
	return 0;
}
END
aecc -O1 use.c own.c -o own
is 'a function of eight arguments' "$(./own)" 729
tap_end
