# Signals: handlers at system calls and anywhere, faults that are handled, and programs that die of one
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }

cat >s.c <<'P'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
static volatile sig_atomic_t n, stop;
static sigjmp_buf back;
static void count(int s) { n += s == SIGUSR1; }
static void alarmed(int s) { stop = s; }
static void fault(int s) { siglongjmp(back, s); }
int main(int argc, char **argv)
{
	volatile double x = 1;
	struct itimerval it = { .it_value = { 0, 20000 } };
	signal(SIGUSR1, count);
	signal(SIGALRM, alarmed);
	signal(SIGSEGV, fault);
	signal(SIGFPE, fault);
	for (int i = 0; i < 10; i++)
		raise(SIGUSR1);
	setitimer(ITIMER_REAL, &it, NULL);
	while (!stop)
		x = x * 1.0000001 + 0.5;
	printf("%d %d\n", (int)n, (int)stop);
	for (volatile int i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			*(volatile int *)0x10 = i;
		else
			printf("fault %d\n", i);
	volatile int zero = 0;
	if (!sigsetjmp(back, 1))
		printf("%d\n", 1 / zero);
	else
		printf("division\n");
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "abort"))
		abort();
	if (argc > 1 && !strcmp(argv[1], "segv")) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile int *)0x10 = 1;
	}
	if (argc > 1)
		kill(getpid(), SIGTERM);
	return 7;
}
P
${CC:-gcc} -O2 s.c -o s || exit 1
for how in "" abort segv term; do
	# shellcheck disable=SC2086,SC3045
	(ulimit -c 0; exec wscap -o s.ws ./s $how) >cap.out 2>cap.err
	status=$?
	case $how in
	"") want=7 ;; abort) want=134 ;; segv) want=139 ;; term) want=143 ;;
	esac
	is "${how:-exit}: status" $status $want
	ws2addr -w 1 s.ws >again.out 2>again.err
	is "${how:-exit}: replays to its end" "$?$(cat again.err)" 0
	same "${how:-exit}: output" cap.out again.out
done
tap_end
