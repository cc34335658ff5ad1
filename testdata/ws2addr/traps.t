# What the processor makes up, and what only an exact replay comes out of: traps, random numbers, loops that are interrupted
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
cc() { ${CC:-gcc} -w -D_GNU_SOURCE "$@"; }

# replays WHAT: c.ws, raw or trimmed, to its end; of one in five natively the same
replays() {
	ws2addr -c c.ws >counts 2>err
	is "$1: replays to its end" "$?$(cat err)" 0
	turn 5 || return 0
	# the end, where what is tested is: most of a program with libraries is the loader's
	from=$(awk '$1 == "instructions" && NR == 1 && $2 > 10000 { from = $2 - 10000 } END { print from + 0 }' counts)
	[ "${MATRIX-}" = full ] && from=0
	wsverify -n "$from:$((from + 200000))" c.ws >out 2>err
	is "$1: as natively" "$?$(cat err)" 0
}

cat >trap.c <<'P'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void on(int s) { write(1, "trapped\n", 8); }
int main(int argc, char **argv)
{
	static volatile int mine = 1;
	int v = 77, f;
	if (!strcmp(argv[1], "handled") || !strcmp(argv[1], "wide"))
		signal(SIGTRAP, on);
	if (!strcmp(argv[1], "ignored"))
		signal(SIGTRAP, SIG_IGN);
	if (!strcmp(argv[1], "memory")) {
		f = open("/proc/self/mem", O_RDWR);
		pwrite(f, &v, 4, (long)&mine);
		lseek(f, (long)&mine, SEEK_SET);
		v += mine;
		write(f, &v, 4);
		printf("%d\n", mine);
	} else if (!strcmp(argv[1], "wide"))
		__asm__ volatile(".byte 0xcd, 3");
	else
		__asm__ volatile("int3");
	puts("behind");
	return 5;
}
P
cc -static trap.c -o trap || exit 1
for how in handled ignored killed wide memory; do
	./trap $how >want.out 2>/dev/null
	want=$?
	# shellcheck disable=SC3045
	(ulimit -c 0; exec wscap -o c.ws ./trap $how) >got.out 2>/dev/null
	is "$how: status" $? $want
	same "$how: output" got.out want.out
	replays "$how"
	ok "$how: wstrim" wstrim c.ws
	replays "$how, trimmed"
done

# more of them than there are debug registers, in a program that has children
cat >rand.c <<'P'
#include <cpuid.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#define R(n) __attribute__((noinline)) static unsigned long f##n(void) \
	{ unsigned long x; unsigned char ok; do __asm__ volatile("rdrand %0; setc %1" : "=r"(x), "=q"(ok) :: "cc"); while (!ok); return x; }
R(0) R(1) R(2) R(3) R(4) R(5)
__attribute__((noinline)) static unsigned short seed(void) { unsigned short x = 0; __asm__ volatile("rdseed %0" : "+r"(x) :: "cc"); return x; }
static int has_seed;
static unsigned long all(void) { return f0() ^ f1() ^ f2() ^ f3() ^ f4() ^ f5() ^ (has_seed ? seed() : 0); }
extern char **environ;
int main(int argc, char **argv)
{
	char *again[] = { argv[0], "again", NULL };
	unsigned a_, b, c, d;
	has_seed = __get_cpuid_count(7, 0, &a_, &b, &c, &d) && b >> 18 & 1;
	if (argc > 1)
		return all() == 0;
	unsigned long a = all();
	int status;
	pid_t p = fork();
	if (!p)
		_exit(all() == 0);
	waitpid(p, &status, 0);
	a ^= all();
	posix_spawn(&p, argv[0], NULL, NULL, again, environ);
	waitpid(p, &status, 0);
	a ^= all();
	printf("%d %016lx\n", status, a);
	return a == 0;
}
P
if grep -q rdrand /proc/cpuinfo; then
	cc -O1 -static rand.c -o rand || exit 1
	for opts in "" --first-touch; do
		# shellcheck disable=SC2086
		wscap $opts -o c.ws ./rand >got.out 2>err
		is "random numbers $opts: status" "$?$(cat err)" 0
		ws2addr -w 1 c.ws >again.out
		same "random numbers $opts: the same again" again.out got.out
		replays "random numbers $opts"
		ok "random numbers $opts: recorded" sh -c 'wsinfo c.ws:1 | grep -q "^rand  *\(1[89]\|2[0-9]\) "'
	done
	ok "random numbers: wstrim" wstrim c.ws
	replays "random numbers, trimmed"
	ws2wet -o rand.wet c.ws:1 2>err
	is "random numbers: their dependences" "$?$(cat err)" 0
else
	skip "the processor has no rdrand"
fi

# the time, made to fault or found and stopped at; with libraries, and with labels only
cat >tsc.c <<'P'
#include <stdio.h>
#include <x86intrin.h>
unsigned long asked(void);
__asm__(".section .text.asked, \"ax\"\n.globl asked\nasked:\n\trdtsc\n\tshl $32, %rdx\n\tor %rdx, %rax\n\tret\n.text");
int main(void)
{
	static const unsigned short constant = 0x310f;
	unsigned aux;
	unsigned long a = __rdtsc(), b = __rdtscp(&aux), c = asked();
	printf("%lx %lx %lx %u %x\n", a, b, c, a < b && b < c, *(volatile const unsigned short *)&constant + 0x310f0f31);
	return 0;
}
P
for how in dynamic static; do
	case $how in static) opts=-static ;; *) opts= ;; esac
	# shellcheck disable=SC2086
	cc -O1 $opts tsc.c -o tsc || exit 1
	for traps in yes no; do
		TRACEMILL_TRAPS=$traps wscap -o c.ws ./tsc >got.out 2>err
		is "the time, $how, traps: $traps: status" "$?$(cat err)" 0
		ws2addr -w 1 c.ws >again.out
		same "the time, $how, traps: $traps: the same again" again.out got.out
		replays "the time, $how, traps: $traps"
		wsinfo c.ws | awk '$1 == "tsc" { print $2 }' >tsc.$traps
	done
	is "the time, $how: as often" "$(cat tsc.no)" "$(cat tsc.yes)"
	ok "the time, $how: at least what the program asks" test "$(cat tsc.no)" -ge 3
done
# what no function tells to be an instruction: bytes of another one, and of constants; one of them is an instruction
cat >unknown.c <<'P'
#include <stdio.h>
__asm__(".text\n\t.fill 16, 1, 6\n\t.fill 60, 1, 0x90\n\tmovdqa %xmm1, (%rdi)\n\txor %eax, %eax\n\tret\n\t.fill 16, 1, 6\n"
    "\t.byte 0x0f, 0x31, 0x42, 0x39, 0xd7, 0x67, 0x6a, 0x38, 0x28, 0xcc, 0x31, 0x44, 0x8d, 0x8d, 0x54, 0x25, 0x24, 0xc5, 0x5d\n"
    "\t.byte 0x98, 0x42, 0xf1, 0xcf\n\t.fill 60, 1, 0x90\n"
#ifdef INSTRUCTION
    "\t.fill 16, 1, 6\n\t.fill 60, 1, 0x90\n\trdtsc\n\tshl $32, %rdx\n\tor %rdx, %rax\n\tret\n"
#endif
    "\t.previous\n");
int main(void) { return puts("done") < 0; }
P
for i in '' -DINSTRUCTION; do
	# shellcheck disable=SC2086
	cc -O1 -s $i unknown.c -o unknown || exit 1
	TRACEMILL_TRAPS=no wscap -o c.ws ./unknown >got.out 2>err
	is "constants $i: status, messages" "$? $(sed 's/0x.*(.*)/()/' err)" \
	    "0 ${i:+wscap: rdtsc at () cannot be stopped at: a replay ends where it is executed}"
	replays "constants $i"
done
if grep -q rdrand /proc/cpuinfo; then
	TRACEMILL_TRAPS=no wscap -o c.ws ./rand >got.out 2>err
	is "random numbers, no debug registers: status" "$?$(cat err)" 0
	ws2addr -w 1 c.ws >again.out
	same "random numbers, no debug registers: the same again" again.out got.out
	replays "random numbers, no debug registers"
fi

# killed in a loop, wherever it keeps its counter: exact, and as fast as a loop that is not
cat >loop.c <<'P'
#include <string.h>
#include <sys/time.h>
volatile unsigned long in_memory;
__attribute__((noinline)) static void zone(void) { volatile unsigned long i; for (i = 0;; i++); }
int main(int argc, char **argv)
{
	struct itimerval t = { { 0, 0 }, { 0, 5000 } };
	double x = 1;
	setitimer(ITIMER_VIRTUAL, &t, 0);
	if (!strcmp(argv[1], "memory"))
		for (;;)
			__asm__ volatile("incq %0" : "+m"(in_memory));
	if (!strcmp(argv[1], "zone"))
		zone();
	if (!strcmp(argv[1], "vector"))
		for (;;) {
			x += 0.5;
			__asm__ volatile("" : "+x"(x));
		}
	for (unsigned long i = 0;; i++)
		__asm__ volatile("" : "+r"(i));
}
P
cc -O1 -static loop.c -o loop || exit 1
for how in register memory zone vector; do
	# shellcheck disable=SC3045
	(ulimit -c 0; exec wscap -o c.ws ./loop $how) 2>/dev/null
	is "a loop with its counter in $how: status" $? 154
	n=$(timeout 60 ws2addr -c c.ws | sed -n 's/^instructions //p')
	[ "${n:-0}" -gt 1000000 ] && pass "$how: all of the loop" || fail "$how: all of the loop" "$n instructions"
done

# one memory at several addresses
cat >twice.c <<'P'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>
int main(void)
{
	int f = memfd_create("x", 0), sum = 0, id = shmget(IPC_PRIVATE, 8192, 0600);
	ftruncate(f, 16384);
	unsigned char *w = mmap(0, 16384, 3, MAP_SHARED, f, 0), *x = mmap(0, 8192, 5, MAP_SHARED, f, 4096);
	unsigned char *a = mmap(0, 8192, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0), *b;
	int *p = shmat(id, 0, 0), *q = shmat(id, 0, 0);
	memcpy(w + 4096, "\270\0\0\0\0\303", 6);
	for (int i = 0; i < 100; i++) {                 /* code that is written elsewhere */
		w[4097] = (unsigned char)i;
		sum += ((int (*)(void))x)();
		p[i] = i;
		sum += q[i] * 3;
	}
	memcpy(x = mremap(w, 16384, 32768, MREMAP_MAYMOVE), "hello", 5);
	pwrite(f, "there", 5, 8192);
	b = mremap(a, 0, 8192, MREMAP_MAYMOVE);
	strcpy((char *)a + 4096, "and here");
	printf("%d %.5s %.5s %s\n", sum, x, x + 8192, b + 4096);
	shmctl(id, IPC_RMID, 0);
	return 0;
}
P
cc -O1 -static twice.c -o twice || exit 1
wscap -o c.ws ./twice >got.out 2>err
is "memory at two addresses: status" "$?$(cat err)" 0
is "memory at two addresses: output" "$(cat got.out)" "19800 hello there and here"
for what in "" ", trimmed"; do
	[ -z "$what" ] || ok "memory at two addresses: wstrim" wstrim c.ws
	ws2addr -w 1 c.ws >again.out
	same "memory at two addresses$what: the same again" again.out got.out
	replays "memory at two addresses$what"
	ok "memory at two addresses$what: forked replays" ws2addr -f text -o refs.txt c.ws
done
# the first identifier of a system is 0
if unshare -i true 2>/dev/null; then
	unshare -i wscap -o c.ws ./twice >got.out 2>err
	ok "shared memory 0" grep -q 'shmget(.* = 0x0 ' <<-X
	$(wsinfo -l c.ws)
	X
	replays "shared memory 0"
else
	skip "no other IPC name space here"
fi

# what is refused by name
cat >vsyscall.c <<'P'
int main(void) { return ((long (*)(long *))0xffffffffff600400)(0) == 0; }
P
cc -O1 -static vsyscall.c -o vsyscall || exit 1
if ./vsyscall 2>/dev/null; then
	wscap -o c.ws ./vsyscall
	ws2addr -c c.ws >out 2>err
	is "the vsyscall page: status" $? 1
	ok "the vsyscall page: why" grep -q 'a call into the vsyscall page' err
fi

# memory that another process changes while the program waits for it
cat >wait.c <<'P'
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	volatile int *p = mmap(0, 4096, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!fork()) {
		while (!p[1])		/* until it waits, however busy the machine is */
			usleep(1000);
		usleep(100000);
		*p = 1;
		_exit(0);
	}
	do
		p[1] = 1;
	while (!*p);
	return 0;
}
P
cc -O1 -static wait.c -o wait || exit 1
wscap -o c.ws ./wait 2>/dev/null
ok "a wait for a captured process" ws2addr -o /dev/null c.ws
wscap -1 -o c.ws ./wait 2>/dev/null
timeout 120 ws2addr -c c.ws >out 2>err
is "a wait for another process: status" $? 1
ok "a wait for another process: why" grep -q 'drifted.*continues where the program had a .* long ago' err

# a gather that faults at its third element: the first two are in the register already
if grep -q -w avx2 /proc/cpuinfo; then
	cat >gather.c <<'P'
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noinline, noclone)) int gather(int *p, __m256i k, __m256i i)
{
	__m256i r = _mm256_mask_i32gather_epi32(i, p, i, k, 4);
	return _mm256_extract_epi32(r, 0) + _mm256_extract_epi32(r, 7);
}
int main(void)
{
	char *m = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(m + 4096, 4096, 0);
	write(1, "before\n", 7);
	return gather((int *)(m + 4096) - 5, _mm256_setr_epi32(-1, 0, -1, 0, 0, -1, -1, 0), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
P
	cc -O2 -mavx2 -static gather.c -o gather || exit 1
	wscap -o c.ws ./gather >out
	is "a gather that faults: status" $? 139
	replays "a gather that faults"
	is "it is not executed" "$(ws2addr -f text c.ws | tail -n 1 | cut -d ' ' -f 1)" inst
else
	skip "the processor has no AVX2"
fi
tap_end
