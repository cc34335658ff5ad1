/*
 * What programs do that a recording must survive: acts NAME N does one of it.  N is how much traced
 * work lies before and after.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static long n;
static volatile sig_atomic_t hits, done;
static sigjmp_buf jump;
static char **args;

static volatile unsigned seed = 1;

static unsigned table[4096], *volatile where_table = table;

/* Traced work with k branches and half as many addresses that nothing but an event can tell: 4 bytes each time round on x86-64 */
static __attribute__((noinline)) unsigned work(long k)
{
	unsigned odd = 0;
	long i;

	for (i = 0; i < k; i++) {
		unsigned s = seed * 1103515245u + 12345u;

		seed = s;
		if (s >> 16 & 1)
			odd += where_table[s >> 20] + (s >> 20);
	}
	return odd;
}

static void before(void)
{
	printf("%u\n", work(n));
	fflush(stdout);
}

static void onhit(int sig)
{
	hits += sig + (int)(work(9) & 0);
	done = 1;
}

static void onjump(int sig)
{
	hits += sig;
	siglongjmp(jump, 1);
}

/* An event each time round; divisions that wait for each other, so that there are not millions of them to regenerate */
static volatile unsigned long rounds, quotient;
static void spin(void)
{
	while (!done) {
		unsigned long x = ++rounds;

#define DIV x = ~0ul / (x | 1);
		DIV DIV DIV DIV DIV DIV DIV DIV DIV DIV
		quotient = x;
	}
}

static void soon(void)
{
	struct itimerval t = { { 0, 0 }, { 0, 100000 } };

	setitimer(ITIMER_REAL, &t, NULL);
}

static void set(int sig, void (*h)(int), int flags)
{
	struct sigaction a;

	memset(&a, 0, sizeof a);
	a.sa_handler = h;
	a.sa_flags = flags;
	sigfillset(&a.sa_mask);
	sigaction(sig, &a, NULL);
}

static int do_plain(void) { return (int)(work(n) & 1) + 3; }
static void bye(void) { printf("bye %u\n", work(n)); }
static int do_atexit(void) { atexit(bye); return 7; }
static int do__exit(void) { _exit(9); }
static int do__Exit(void) { _Exit(10); }
static int do_quick(void) { at_quick_exit(bye); fflush(stdout); quick_exit(11); }
static int do_abort(void) { abort(); }
static int do_raise(void) { return raise(SIGTERM); }
static int do_wait(void) { puts("ready"); fflush(stdout); pause(); return 1; }
static int do_spin(void) { puts("ready"); fflush(stdout); spin(); return 1; }
static int do_fault(void) { return *(volatile int *)(uintptr_t)8; }
static int do_fpe(void) { volatile int z = 0; return (int)n / z; }

static long deep(volatile long *p)
{
	volatile long here[64];

	here[0] = *p + 1;
	return here[0] ? deep(here) + here[0] : 0;
}
static int do_overflow(void) { long z = 0; return (int)deep(&z); }

/* a handler that comes inside libc, and one that comes in traced code */
static int do_outside(void) { set(SIGUSR1, onhit, 0); raise(SIGUSR1); printf("%d\n", (int)hits); return 0; }
static int do_inside(void) { set(SIGALRM, onhit, 0); soon(); spin(); printf("%d\n", (int)hits); return 0; }
static int do_old(void)
{
	void (*was)(int) = signal(SIGUSR1, onhit);

	printf("%d ", was == SIG_DFL);
	raise(SIGUSR1);
	was = signal(SIGUSR1, SIG_IGN);
	printf("%d ", was == onhit);
	raise(SIGUSR1);
	printf("%d %d\n", signal(SIGUSR1, SIG_DFL) == SIG_IGN, (int)hits);
	return 0;
}
static int do_reset(void)
{
	struct sigaction a;

	set(SIGUSR1, onhit, (int)SA_RESETHAND);
	raise(SIGUSR1);
	sigaction(SIGUSR1, NULL, &a);
	printf("%d %d\n", (int)hits, a.sa_handler == SIG_DFL);
	fflush(stdout);
	return raise(SIGUSR1);
}
static int do_query(void)
{
	struct sigaction a;
	stack_t s;
	sigset_t m;
	int sig;

	for (sig = 1; sig < 32; sig++)
		if (sigaction(sig, NULL, &a) == 0)
			printf("%d:%d,%x,%d ", sig, a.sa_handler == SIG_DFL, (unsigned)a.sa_flags,
			    sigismember(&a.sa_mask, SIGINT));
	set(SIGSEGV, onhit, SA_RESTART);
	sigaction(SIGSEGV, NULL, &a);
	printf("%d %x %d\n", a.sa_handler == onhit, (unsigned)a.sa_flags, sigismember(&a.sa_mask, SIGSEGV));
	sigaltstack(NULL, &s);
	sigfillset(&m);
	sigprocmask(SIG_BLOCK, &m, NULL);
	before();
	sigprocmask(SIG_SETMASK, NULL, &m);
	printf("%d %d\n", s.ss_flags == SS_DISABLE, sigismember(&m, SIGSEGV));
	return 0;
}
static int do_segv(void)
{
	set(SIGSEGV, onjump, 0);
	if (!sigsetjmp(jump, 1))
		raise(SIGSEGV);
	before();
	printf("%d\n", (int)hits);
	return 0;
}
static int do_faultjump(void)
{
	set(SIGSEGV, onjump, SA_NODEFER);
	if (!sigsetjmp(jump, 1))
		return *(volatile int *)(uintptr_t)8;
	before();
	printf("%d\n", (int)hits);
	return 0;
}
static char *page;
static void fix(int sig) { hits += sig; mprotect(page, 4096, PROT_READ | PROT_WRITE); }
static int do_faultfix(void)
{
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	set(SIGSEGV, fix, 0);
	page[5] = (char)(n & 7);
	before();
	printf("%d %d\n", page[5], (int)hits);
	return 0;
}

/* Timer signals by the hundred, in traced code, in libc, in each other, while the buffer fills */
static volatile unsigned noise;
static void storm(int sig)
{
	unsigned i;

	hits++;
	for (i = 0; i < 20; i++)
		noise = noise * 69069u + (unsigned)sig;
	if (sig == SIGALRM && hits % 4 == 0)
		raise(SIGUSR2);
}
static int do_storm(void)
{
	struct itimerval t = { { 0, 150 }, { 0, 150 } };
	struct sigaction a;
	unsigned sum = 0;

	memset(&a, 0, sizeof a);
	a.sa_handler = storm;
	a.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &a, NULL);
	a.sa_flags = SA_RESTART | SA_NODEFER;
	sigaction(SIGUSR2, &a, NULL);
	sigaction(SIGPROF, &a, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
	setitimer(ITIMER_PROF, &t, NULL);
	while (hits < n) {
		char buf[64];

		work(200);
		snprintf(buf, sizeof buf, "%d", (int)(sum & 15));
		sum += (unsigned)buf[0];
		raise(SIGUSR2);
	}
	memset(&t, 0, sizeof t);
	setitimer(ITIMER_REAL, &t, NULL);
	setitimer(ITIMER_PROF, &t, NULL);
	puts("calm");
	return 0;
}
static void where(int sig) { char c; printf("%d\n", &c >= (char *)args &&
    &c < (char *)args + 65536); onhit(sig); }
static int do_altstack(void)
{
	stack_t s = { .ss_sp = malloc(65536), .ss_size = 65536 }, old;

	args = s.ss_sp;
	sigaltstack(&s, NULL);
	set(SIGUSR1, where, SA_ONSTACK);
	raise(SIGUSR1);
	set(SIGUSR1, where, 0);
	raise(SIGUSR1);
	before();
	sigaltstack(NULL, &old);
	printf("%d %d\n", old.ss_sp == s.ss_sp, (int)hits);
	return 0;
}
static int do_suspend(void)
{
	sigset_t all, old;

	set(SIGALRM, onhit, 0);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	soon();
	sigdelset(&all, SIGALRM);
	sigsuspend(&all);
	before();
	sigprocmask(SIG_SETMASK, &old, NULL);
	printf("%d\n", (int)hits);
	return 0;
}

static __attribute__((noinline)) void twist(volatile unsigned *p, long i)
{
	*p = *p * 1103515245u + (unsigned)i;
}

static void *thread(void *p)
{
	long i;

	for (i = 0; i < 100; i++)
		twist(p, i);
	return p;
}
static int do_threads(void)
{
	pthread_t t[4];
	unsigned sum[4] = { 0 };
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(t + i, NULL, thread, sum + i);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("%u\n", sum[0] + sum[1] + sum[2] + sum[3]);
	return 0;
}
static void *ender(void *p) { exit(*(int *)p); }
static int do_threadexit(void)
{
	pthread_t t;
	int code = 12;

	pthread_create(&t, NULL, ender, &code);
	pthread_join(t, NULL);
	return 1;
}

static void *late(void *p) { while (rounds < 2000) usleep(1000); exit(*(int *)p); }
static int do_threadexit2(void)
{
	pthread_t t;
	int code = 14;

	pthread_create(&t, NULL, late, &code);
	spin();
	return 1;
}

static int do_fork(void)
{
	pid_t p = fork();
	int st = 0;

	if (p == 0)
		exit((int)(work(n) & 1) + 5);
	waitpid(p, &st, 0);
	printf("%d %u\n", WEXITSTATUS(st), work(n));
	return 0;
}
static int do_vfork(void)
{
	pid_t p = vfork();
	int st = 0;

	if (p == 0) {
		execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
		_exit(1);
	}
	waitpid(p, &st, 0);
	printf("%d %u\n", WEXITSTATUS(st), work(n));
	return 0;
}
static int do_system(void) { printf("%d\n", WEXITSTATUS(system("exit 8"))); before(); return 0; }
static int do_exec(void) { execlp("sh", "sh", "-c", "echo \"$0\"; exit 13", "zero", (char *)NULL); return 1; }
static int do_badexec(void)
{
	char *v[] = { (char *)"x", NULL };
	int r = execv("/nonexistent", v);

	printf("%d %d\n", r, errno == ENOENT);
	before();
	return 0;
}

static int do_chdir(void) { return chdir("/") != 0 || (before(), 0); }
static int do_fds(void)
{
	int a = open("/dev/null", O_RDONLY), b = dup(1);

	printf("%d %d\n", a, b);
	return 0;
}
static int do_closeall(void)
{
	struct rlimit l;
	int i, fd;

	getrlimit(RLIMIT_NOFILE, &l);
	for (i = 3; i < 10000 && (rlim_t)i < l.rlim_cur; i++)
		close(i);
	fd = open("mine", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	/* the runtime needs one to open its file again */
	for (i = fd + 1; i < 10000 && (rlim_t)i + 2 < l.rlim_cur; i++)
		dup2(fd, i);
	before();
	return write(fd, "mine\n", 5) != 5;
}
static int do_stderr(void)
{
	int fd = open("data", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	dup2(fd, 2);
	set(SIGALRM, onhit, 0);
	soon();
	spin();
	return write(2, "data\n", 5) != 5;
}

static const struct { const char *name; int (*f)(void); } acts[] = {
#define A(x) { #x, do_##x }
	A(plain), A(atexit), A(_exit), A(_Exit), A(quick), A(abort), A(raise), A(wait), A(spin), A(fault),
	    A(fpe), A(overflow),
	A(outside), A(inside), A(old), A(reset), A(query), A(segv), A(faultjump), A(faultfix), A(storm),
	    A(altstack), A(suspend), A(threads),
	A(threadexit), A(threadexit2), A(fork), A(vfork), A(system), A(exec), A(badexec), A(chdir), A(fds),
	    A(closeall), A(stderr),
};

int main(int argc, char **argv)
{
	size_t i;

	n = argc > 2 ? atol(argv[2]) : 10;
	for (i = 0; i < sizeof acts / sizeof acts[0]; i++)
		if (argc > 1 && strcmp(acts[i].name, argv[1]) == 0) {
			before();
			return acts[i].f();
		}
	return 99;
}
