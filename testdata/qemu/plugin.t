# The plugin for QEMU: what another plugin, which shares no code with it, makes of the same programs; threads, children, its options
. "$SRC/testdata/tap.sh"
command -v qemu-x86_64 >/dev/null || { skip "no qemu-x86_64"; exit 0; }
plugin=$BUILD/lib/tracemill/qemu-tracemill.so
ok "it is built" test -f "$plugin"
$GCC -std=gnu17 -O2 -fPIC -shared -fvisibility=hidden "$SRC/testdata/ae/qemu/fetchmem.c" -o fetchmem.so || exit 1
for p in flow values; do
	$GCC -O2 -fno-stack-protector -fcf-protection=none -nostdlib -static -o $p "$SRC/testdata/addrconv/$p.s" || exit 1
	qemu-x86_64 -plugin ./fetchmem.so,out=want.ref ./$p
	qemu-x86_64 -plugin "$plugin,out=$p.ref" ./$p
	is "$p: the program's status" $? 7
	same "$p: the references" $p.ref want.ref
done
qemu-x86_64 -plugin "$plugin,out=data.ref,inst=off" ./flow
addrconv -i -f text flow.ref >want
addrconv -f text data.ref >got
same "without fetches" got want

# a program with a library of C, a pipe, and a child
cat >prog.c <<'!'
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long child[2];

int
main(void)
{
	char a[300], b[300];
	double d = 0;

	memset(a, 1, sizeof a);
	memcpy(b, a, sizeof b);
	for (int i = 0; i < 300; i++)
		d += b[i] / 3.0;
	if (fork() == 0) {
		child[1] = 5;
		_exit(3);
	}
	wait(NULL);
	printf("%g\n", d);
	return 0;
}
!
$GCC -O2 -static -o prog prog.c || exit 1
mkfifo pipe
cat pipe >prog.ref &
qemu-x86_64 -plugin "$plugin,out=pipe" ./prog >out
is "the program's output" "$? $(cat out)" "0 100"
wait $!
# addresses of the stack, of random numbers and of the child differ from run to run
qemu-x86_64 -plugin ./fetchmem.so,out=want.ref ./prog >out
for f in prog want; do addrconv -f text $f.ref | cut -d' ' -f1,3 | sort | uniq -c >$f.count; done
n=$(grep -c . prog.count)
ok "a program with a library, to a pipe: kinds and sizes" test "$(comm -12 prog.count want.count | grep -c .)" -gt $((n * 3 / 4))
ok "the child has a file of its own" test "$(find . -name 'pipe.*' | grep -c .)" = 1
addr=$(nm prog | sed -n 's/^0*\([0-9a-f]*\) b child$/\1/p')
is "the child's store" "$(addrconv -f text --address "$addr:$(printf %x $((0x$addr + 16)))" pipe.* | grep -c "^store")" 1
is "and not the parent's" "$(addrconv -f text --address "$addr:$(printf %x $((0x$addr + 16)))" prog.ref | grep -c "^store")" 0

# threads: tasks, and each store once
cat >threads.c <<'!'
#include <pthread.h>

static volatile long sum[4];

static void *
count(void *arg)
{
	volatile long *p = arg;

	for (int i = 0; i < 20000; i++)
		*p += i;
	return 0;
}

int
main(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], 0, count, (void *)&sum[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	return sum[3] != 199990000;
}
!
$GCC -O2 -static -pthread -o threads threads.c || exit 1
qemu-x86_64 -plugin "$plugin,out=t.ref" ./threads
is "threads: status" $? 0
addr=$(nm threads | sed -n 's/^0*\([0-9a-f]*\) b sum$/\1/p')
addrconv -f text t.ref | awk -v from="$addr" '
	$1 == "task" { task = $2 }
	$1 == "modify" || $1 == "store" { n[$2, task]++ }
	END {
		# the lowest hexadecimal digits are enough for 4 words
		for (k in n) { split(k, a, SUBSEP); if (n[k] >= 20000) print a[1], n[k], a[2] != 0 }
	}' | sort >got
is "threads: each has one word, in a task of its own" "$(wc -l <got | tr -d ' ') $(cut -d' ' -f2,3 got | sort -u)" "4 20000 1"

# errors: QEMU ends with status 1
qemu-x86_64 -plugin "$plugin" ./flow 2>err
is "no file" "$? $(grep -c 'out=FILE is missing' err)" "1 1"
qemu-x86_64 -plugin "$plugin,out=x,other=1" ./flow 2>err
is "an unknown option" "$? $(grep -c 'other=1: no such option' err)" "1 1"
qemu-x86_64 -plugin "$plugin,out=/nowhere/x" ./flow 2>err
is "no folder" "$? $(grep -c '^qemu-tracemill: /nowhere/x: No such file' err)" "1 1"
if [ -w /dev/full ]; then
	qemu-x86_64 -plugin "$plugin,out=/dev/full" ./flow 2>err
	is "no room" "$? $(cat err)" "1 qemu-tracemill: /dev/full: No space left on device"
fi
tap_end
