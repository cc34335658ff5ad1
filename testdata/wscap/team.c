/* Several threads that make many system calls: what the recorder may and may not do for them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEAM 4
#define MANY 150

static volatile int flag, caught;
static int fd, pipes[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;

static void
on_signal(int sig)
{
	(void)sig;
	caught++;
}

/* Calls of some kinds: 0 if one of them was wrong. */
static int
calls(int times)
{
	unsigned long sum = 0;
	struct timespec t, was = {0, 0};
	struct stat st;
	char b[64];
	int own = dup(fd), good = own >= 0;

	for (int i = 0; i < times; i++) {
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
		good &= t.tv_sec > was.tv_sec || (t.tv_sec == was.tv_sec && t.tv_nsec >= was.tv_nsec);
		was = t;
		good &= fstat(own, &st) == 0 && st.st_size == 26;
		good &= pread(own, b, 26, i % 26) == 26 - i % 26 && b[0] == 'a' + i % 26;
		good &= syscall(SYS_gettid) != 0 && getppid() != 0;
		good &= stat("/nowhere", &st) == -1 && errno == ENOENT;
		sum += (unsigned long)t.tv_nsec + (unsigned char)b[3];
	}
	close(own);
	pthread_mutex_lock(&lock);
	total += sum;
	pthread_mutex_unlock(&lock);
	return good;
}

static void *
caller(void *arg)
{
	return (void *)(long)!calls((int)(long)arg);
}

/* All of them at once: are their calls right? */
static int
team(void *(*fn)(void *), long arg)
{
	pthread_t t[TEAM];
	void *bad;
	int good = 1;

	for (int i = 0; i < TEAM; i++)
		if (pthread_create(&t[i], NULL, fn, (void *)arg))
			exit(1);
	good &= calls(MANY);
	for (int i = 0; i < TEAM; i++) {
		pthread_join(t[i], &bad);
		good &= !bad;
	}
	return good;
}

static void *
computes(void *arg)
{
	for (volatile long i = 0; i < (long)arg; i++)
		;
	flag = 1;
	return NULL;
}

/* A thread that makes calls until another has computed; none of them waits. */
static int
spinning(void)
{
	unsigned long n = 0;
	struct timespec t;
	pthread_t other;

	for (int i = 0; i < 5; i++) {
		flag = 0;
		pthread_create(&other, NULL, computes, (void *)3000000L);
		while (!flag)
			n += (unsigned long)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t) + 1;
		pthread_join(other, NULL);
	}
	return n > 0;
}

static void *
opens(void *arg)
{
	int out, good = 1;

	for (long i = 0; i < (long)arg; i++) {
		while (flag <= i)               /* the other end has been closed */
			usleep(1000);
		out = open("fifo", O_WRONLY);
		good &= write(out, "x", 1) == 1;
		close(out);
	}
	return (void *)(long)!good;
}

/* An open that waits for a thread, which must be able to run. */
static int
fifo(void)
{
	pthread_t other;
	void *bad;
	int in, good = mkfifo("fifo", 0600) == 0;
	char c;

	pthread_create(&other, NULL, opens, (void *)20L);
	for (int i = 0; i < 20; i++) {
		flag = i + 1;
		in = open("fifo", O_RDONLY);
		good &= in >= 0 && read(in, &c, 1) == 1 && c == 'x' && read(in, &c, 1) == 0;
		close(in);
	}
	pthread_join(other, &bad);
	unlink("fifo");
	return good && !bad;
}

static void *
writes(void *arg)
{
	char b[3000];

	memset(b, 7, sizeof(b));
	for (long i = 0; i < (long)arg; i++)
		if (write(pipes[1], b, sizeof(b)) != sizeof(b))
			return (void *)1;
	return NULL;
}

/* A pipe that is full or empty most of the time. */
static int
piped(void)
{
	const long times = 200;
	pthread_t other;
	char b[1000];
	long n = 0, k;
	void *bad;

	if (pipe(pipes))
		return 0;
	pthread_create(&other, NULL, writes, (void *)times);
	while (n < times * 3000 && (k = read(pipes[0], b, sizeof(b))) > 0 && b[k - 1] == 7)
		n += k;
	pthread_join(other, &bad);
	return n == times * 3000 && !bad;
}

/* The number of lines of a file; those with the name of the recorder's memory are counted in *in. */
static int
lines(const char *name, int *in)
{
	FILE *f = fopen(name, "r");
	char b[600];
	int n = 0;

	for (*in = 0; f && fgets(b, sizeof(b), f); n++)
		*in += strstr(b, "memfd:recorder") != NULL;
	if (f)
		fclose(f);
	return n;
}

static void *
waits(void *arg)
{
	while (!flag)
		usleep(2000);
	return (void *)(long)!calls((int)(long)arg);
}

/* What ends the recorder for others, while several threads have it: calls go on. */
static int
quits(const char *how)
{
	struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {1, all};
	struct rlimit r;
	pthread_t other;
	int in, good = calls(MANY);
	void *bad;

	pthread_create(&other, NULL, waits, (void *)(long)MANY);
	good &= calls(MANY) && lines("/proc/self/maps", &in) > 5;
	if (!strcmp(how, "seccomp"))
		good &= !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	else if (!strcmp(how, "limit"))
		good &= !getrlimit(RLIMIT_AS, &r) && !setrlimit(RLIMIT_AS, &(struct rlimit){(rlim_t)1 << 46, r.rlim_max});
	good &= calls(MANY);
	flag = 1;
	pthread_join(other, &bad);
	return good && !bad && team(caller, MANY);
}

/* Its maps are read before there are threads, and again afterwards. */
static int
shows(void)
{
	int in, good = calls(MANY), n = lines("/proc/self/maps", &in);

	good &= n > 5 && !in && calls(MANY) && team(caller, MANY);
	n = lines("/proc/self/maps", &in);
	return good && n > 5 && !in && calls(MANY);
}

static void *
begins(void *arg)
{
	char *const more[] = {(char *)arg, (char *)"calls", NULL};
	int status, good = 1;
	pid_t pid;

	for (int i = 0; i < 3; i++) {
		pid = fork();
		if (!pid)
			_exit(!calls(50));
		good &= waitpid(pid, &status, 0) == pid && status == 0;
		good &= posix_spawn(&pid, more[0], NULL, NULL, more, NULL) == 0 && waitpid(pid, &status, 0) == pid && status == 0;
	}
	return (void *)(long)!good;
}

/* Threads that have children, of both kinds, while the others make calls. */
static int
children(char *name)
{
	pthread_t a, b;
	void *bad, *worse;
	int good = calls(MANY);

	fflush(stdout);
	pthread_create(&a, NULL, begins, name);
	pthread_create(&b, NULL, begins, name);
	good &= calls(2 * MANY);
	pthread_join(a, &bad);
	pthread_join(b, &worse);
	return good && !bad && !worse;
}

static void *
maps(void *arg)
{
	for (long i = 0; i < (long)arg; i++) {
		char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED || p[4096] || mprotect(p, 4096, PROT_READ) || munmap(p + 8192, 4096))
			return (void *)1;
		p[5000] = 3;
		if (p[5000] != 3 || munmap(p, 8192))
			return (void *)1;
		free(malloc(200000 + (size_t)i * 100));
	}
	return NULL;
}

/* A timer interrupts all of it; one thread blocks the signal. */
static int
interrupted(void)
{
	struct itimerval v = {{0, 1500}, {0, 1500}};
	struct sigaction sa;
	int good;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_signal;
	sa.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &v, NULL);
	good = team(caller, MANY) & team(maps, 200);
	v.it_value.tv_usec = v.it_interval.tv_usec = 0;
	setitimer(ITIMER_REAL, &v, NULL);
	return good && caught > 0;
}

static void *
raises(void *arg)
{
	sigset_t set;
	int good = calls(MANY);

	sigemptyset(&set);
	sigaddset(&set, SIGSYS);
	if (arg)
		pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 20; i++) {
		raise(SIGSYS);
		good &= calls(5);
	}
	if (arg)
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	return (void *)(long)!good;
}

static void *
blocks(void *arg)
{
	sigset_t set;
	int good;

	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	good = calls((int)(long)arg) && sched_yield() == 0 && signal(SIGSYS, on_signal) == on_signal;
	return (void *)(long)!good;
}

/* The program has its own use for SIGSYS; some threads block it. */
static int
handled(void)
{
	pthread_t a, b;
	void *bad, *worse;

	signal(SIGSYS, on_signal);
	if (!calls(MANY) || !team(blocks, MANY))
		return 0;
	pthread_create(&a, NULL, raises, NULL);
	pthread_create(&b, NULL, raises, (void *)1);
	pthread_join(a, &bad);
	pthread_join(b, &worse);
	return !bad && !worse && caught > 20;
}

static void *
yields(void *arg)
{
	for (long i = 0; i < (long)arg; i++) {
		sched_yield();
		if (!calls(1))
			return (void *)1;
	}
	return NULL;
}

/* To the end of the file that is there: threads append to it. */
static void *
appends(void *arg)
{
	for (long i = 0; i < (long)arg; i++)
		if (write(pipes[1], "line\n", 5) != 5 || lseek(pipes[1], 0, SEEK_CUR) < 5)
			return (void *)1;
	return NULL;
}

static int
appended(void)
{
	struct stat st;

	pipes[1] = open("appended", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	return team(appends, MANY) && fstat(pipes[1], &st) == 0 && st.st_size == TEAM * MANY * 5 && !unlink("appended");
}

static int
run(const char *how, char *name)
{
	if (!strcmp(how, "calls"))
		return calls(MANY);
	if (!strcmp(how, "team"))
		return team(caller, MANY);
	if (!strcmp(how, "spinning"))
		return spinning();
	if (!strcmp(how, "fifo"))
		return calls(MANY) && fifo();
	if (!strcmp(how, "piped"))
		return calls(MANY) && piped();
	if (!strcmp(how, "seccomp") || !strcmp(how, "limit") || !strcmp(how, "none"))
		return quits(how);
	if (!strcmp(how, "shows"))
		return shows();
	if (!strcmp(how, "children"))
		return children(name);
	if (!strcmp(how, "maps"))
		return team(maps, MANY);
	if (!strcmp(how, "interrupted"))
		return interrupted();
	if (!strcmp(how, "handled"))
		return handled();
	if (!strcmp(how, "yields"))
		return team(yields, MANY);
	if (!strcmp(how, "appended"))
		return appended();
	if (!strcmp(how, "exec")) {
		int good = team(caller, MANY);

		printf("%d\n", good);
		fflush(stdout);
		execl(name, name, "team", (char *)NULL);
	}
	if (!strcmp(how, "forever")) {
		flag = team(caller, MANY);
		printf("ready\n");
		fflush(stdout);
		while (flag)
			flag = team(caller, 3 * MANY);
	}
	if (!strcmp(how, "long")) {
		int good = 1;

		for (int i = 0; i < 25; i++)
			good &= team(caller, 3 * MANY) & team(maps, 20);
		return good;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	char name[] = "/tmp/team.XXXXXX";

	fd = mkstemp(name);
	unlink(name);
	if (argc < 2 || fd < 0 || write(fd, "abcdefghijklmnopqrstuvwxyz", 26) != 26)
		return 2;
	printf("%s: %s\n", argv[1], run(argv[1], argv[0]) ? "right" : "wrong");
	return 0;
}
