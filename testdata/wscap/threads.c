/* Programs with threads: threads MODE.  Each prints one line that is the same in every run but of `passes`, and exits with 7. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N 4

static pthread_t thread[N];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile uint64_t sum;
static _Thread_local volatile uint64_t own;

static void
start(void *(*f)(void *))
{
	for (uintptr_t i = 0; i < N; i++)
		if (pthread_create(&thread[i], NULL, f, (void *)(i + 1)))
			exit(1);
}

static void
join(void)
{
	for (int i = 0; i < N; i++)
		pthread_join(thread[i], NULL);
}

/* locks: a counter under a lock, and one of each thread */
static void *
locks_thread(void *arg)
{
	for (int i = 0; i < 500; i++) {
		pthread_mutex_lock(&lock);
		sum += (uintptr_t)arg;
		own++;
		pthread_mutex_unlock(&lock);
		if (i % 50 == 0)
			sched_yield();
	}
	pthread_mutex_lock(&lock);
	sum += own;
	pthread_mutex_unlock(&lock);
	return arg;
}

static void
locks(void)
{
	start(locks_thread);
	join();
}

/* conditions: the threads take turns */
static volatile uintptr_t next = 1;

static void *
conditions_thread(void *arg)
{
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&lock);
		while (next != (uintptr_t)arg)
			pthread_cond_wait(&cond, &lock);
		sum = sum * 3 + next;
		next = next % N + 1;
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void
conditions(void)
{
	start(conditions_thread);
	join();
}

/* spin: threads that compute, without a system call, and wait for one another by looking at memory */
static atomic_ulong stage;

static void *
spin_thread(void *arg)
{
	uint64_t x = (uintptr_t)arg;

	while (atomic_load(&stage) != (uintptr_t)arg - 1)
		;
	for (int i = 0; i < 300000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	sum += x;
	atomic_store(&stage, (uintptr_t)arg);
	return arg;
}

static void
spin(void)
{
	start(spin_thread);
	while (atomic_load(&stage) != N)
		;
	join();
}

/* compute: loops of several kinds side by side, which only the timer interrupts */
static uint64_t table[4096];

static uint64_t
fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void *
compute_thread(void *arg)
{
	uint64_t x = (uintptr_t)arg;
	double d = 1;

	switch (x) {
	case 1:
		for (int i = 0; i < 3000000; i++)
			x = (x ^ x >> 7) * 0x9e3779b97f4a7c15u;
		break;
	case 2:
		x = fib(26);
		break;
	case 3:
		for (int i = 0; i < 2000000; i++)
			table[i * 7 % 4096]++;
		x = table[17];
		break;
	default:
		for (int i = 1; i < 2000000; i++)
			d = d * 0.75 + 1.0 / i;
		x = (uint64_t)(d * 1e9);
	}
	pthread_mutex_lock(&lock);
	sum += x;
	pthread_mutex_unlock(&lock);
	return arg;
}

static void
compute(void)
{
	start(compute_thread);
	join();
}

/* late: a thread computes for long, while the other one waits, and then wakes it, by a call that does not stop the process */
static void *
late_thread(void *arg)
{
	for (int i = 0; i < 4; i++) {
		uint64_t n = 80000000;

		__asm__ volatile("1: dec %0\n jnz 1b" : "+r"(n));
		pthread_mutex_lock(&lock);
		sum++;
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void
late(void)
{
	if (pthread_create(&thread[0], NULL, late_thread, NULL))
		exit(1);
	pthread_mutex_lock(&lock);
	while (sum < 4)
		pthread_cond_wait(&cond, &lock);
	pthread_mutex_unlock(&lock);
	pthread_join(thread[0], NULL);
}

/*
 * passes: loops whose passes differ only in memory, which is far from where its mapping begins, and to which no register points.
 * What is printed depends on when the threads were switched.
 */
static struct far {
	struct far *volatile next;
	volatile uint64_t n, seen;
	uint8_t pad[1 << 20];
} far[N][2];

static __attribute__((noinline)) void
passes_inner(struct far *f)
{
	uint64_t x = 1;

	for (int i = 0; i < 20000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	__asm__ volatile("" : : "r"(x), "r"(f));
}

static void *
passes_thread(void *arg)
{
	size_t me = (uintptr_t)arg - 1;
	struct far *f = far[me];

	f->next = f + 1;
	if (me > 1)
		return arg;
	while (f->next->n < 2000) {
		f->next->n++;
		f->next->seen = f->next->seen * 31 + far[1 - me][1].n;
		passes_inner(f);
	}
	pthread_mutex_lock(&lock);
	sum = sum * 31 + f->next->seen;
	pthread_mutex_unlock(&lock);
	return arg;
}

static void
passes(void)
{
	start(passes_thread);
	join();
}

/* strings: the timer comes during repeated string instructions */
static void *
strings_thread(void *arg)
{
	static uint8_t from[N][1 << 18], to[N][1 << 18];
	uint8_t *d = to[(uintptr_t)arg - 1], *s = from[(uintptr_t)arg - 1];

	for (int i = 0; i < 100; i++) {
		void *a = d, *b = s;
		size_t n = 1 << 18;

		s[i] = (uint8_t)i;
		__asm__ volatile("rep movsb" : "+D"(a), "+S"(b), "+c"(n) : : "memory");
	}
	pthread_mutex_lock(&lock);
	sum += d[100];
	pthread_mutex_unlock(&lock);
	return arg;
}

static void
strings(void)
{
	start(strings_thread);
	join();
}

/* waits: calls that wait, whose results another thread looks at while they come */
static int ends[2], pair[2];
static volatile uint8_t seen[4096];
static volatile struct pollfd polled;
static atomic_int stop;

static void *
waits_reader(void *arg)
{
	size_t n = 0;
	ssize_t k;

	polled = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	while (n < sizeof(seen)) {
		poll((struct pollfd *)(uintptr_t)&polled, 1, -1);
		k = read(ends[0], (void *)(uintptr_t)(seen + n), sizeof(seen) - n);
		if (k <= 0)
			break;
		n += (size_t)k;
	}
	atomic_store(&stop, 1);
	return arg;
}

static void *
waits_looker(void *arg)
{
	uint64_t here = 0;

	for (unsigned n = 0; !atomic_load(&stop); n++) {
		for (size_t i = 0; i < sizeof(seen); i++)
			here = here * 31 + seen[i] + (uint64_t)polled.revents;
		if (n % 4 == 0)
			sched_yield();
	}
	own = here;
	return arg;
}

static void *
waits_message(void *arg)
{
	static volatile uint8_t head[16], body[64];
	struct iovec v[2] = { { (void *)(uintptr_t)head, 16 }, { (void *)(uintptr_t)body, 64 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };

	for (int i = 0; i < 20; i++) {
		ssize_t k = i % 2 ? recvmsg(pair[0], &m, 0) : readv(pair[0], v, 2);

		if (k != 40 || head[3] != i || body[20] != i)
			exit(2);
	}
	return arg;
}

static void *
waits_writer(void *arg)
{
	uint8_t b[64];
	struct timespec t = { .tv_nsec = 100000 }, left;

	for (int i = 0; i < 64; i++) {
		memset(b, i + 1, sizeof(b));
		if (write(ends[1], b, sizeof(b)) != sizeof(b))
			exit(2);
		if (i % 4 == 0)
			nanosleep(&t, &left);
	}
	for (int i = 0; i < 20; i++) {
		memset(b, i, 40);
		if (write(pair[1], b, 40) != 40)
			exit(2);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &left);
	}
	return arg;
}

static void
waits(void)
{
	static void *(*const f[N])(void *) = { waits_reader, waits_looker, waits_message, waits_writer };
	struct timespec t = { .tv_nsec = 500000 };
	siginfo_t si;
	pid_t child;

	if (pipe(ends) || socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		exit(1);
	for (int i = 0; i < N; i++)
		if (pthread_create(&thread[i], NULL, f[i], NULL))
			exit(1);
	child = fork();
	if (!child) {
		nanosleep(&t, NULL);
		_exit(0);
	}
	if (waitid(P_PID, (id_t)child, &si, WEXITED) || si.si_pid != child)
		exit(2);
	join();
	for (size_t i = 0; i < sizeof(seen); i++)
		sum = sum * 31 + seen[i];
}

/* vectors, faults: calls with many or large buffers that another thread watches, and with some that cannot be written */
#define LARGE (1u << 20)
static volatile char large[LARGE];
static uint64_t watched;

static void
add(long n)
{
	sum = sum * 31 + (uint64_t)(n < 0 ? -errno : n);
}

static void *
vectors_reader(void *arg)
{
	struct iovec v[300];
	char *to = (char *)(uintptr_t)large;

	for (int i = 0; i < 300; i++)
		v[i] = (struct iovec){ to + i, 1 };
	add(*(int *)arg == 0 ? readv(ends[0], v, 300) :
	    *(int *)arg == 1 ? preadv2(ends[0], v, 8, -1, 0) : read(ends[0], to, LARGE));
	return arg;
}

static void
vectors(void)
{
	struct timespec t = { .tv_nsec = 2000000 };

	for (int i = 0; i < 3; i++) {
		if (pipe(ends) || pthread_create(&thread[0], NULL, vectors_reader, &i))
			exit(1);
		nanosleep(&t, NULL);
		large[0] = 0;
		if (write(ends[1], "several", 7) != 7)
			exit(1);
		for (; !large[0]; watched++)
			sched_yield();
		pthread_join(thread[0], NULL);
		sum = sum * 31 + (uint64_t)large[6];
		for (uint64_t n = watched % 50; n; n--)
			getppid();
	}
}

static void *
faults_sleeper(void *arg)
{
	struct timespec t = { .tv_nsec = 1000000 };

	while (!atomic_load(&stop))
		nanosleep(&t, NULL);
	return arg;
}

static void *
faults_reader(void *arg)
{
	add(read(ends[0], arg, 10));
	return arg;
}

/* The page `to` becomes one that cannot be written while a thread waits for ten bytes there. */
static void
faults_late(char *to, int prot)
{
	struct timespec t = { .tv_nsec = 2000000 };

	if (pipe(ends) || pthread_create(&thread[1], NULL, faults_reader, to))
		exit(1);
	nanosleep(&t, NULL);
	if (mprotect(to, 4096, prot) || write(ends[1], "0123456789", 10) != 10)
		exit(1);
	pthread_join(thread[1], NULL);
	mprotect(to, 4096, PROT_READ | PROT_WRITE);
	for (int i = 0; i < 10; i++)
		add(to[i]);
}

static void
faults(void)
{
	static const char constant[8192] __attribute__((aligned(4096))) = "constant";
	void *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char b[16] = "";
	struct iovec v[3] = { { b, 2 }, { bad, 4 }, { b + 8, 4 } };
	struct msghdr h = { .msg_iov = v, .msg_iovlen = 2 };
	struct pollfd f;

	if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || bad == MAP_FAILED || m == MAP_FAILED ||
	    pthread_create(&thread[0], NULL, faults_sleeper, NULL))
		exit(1);
	faults_late(m, PROT_NONE);
	faults_late(m, PROT_READ);
	mprotect(m + 4096, 4096, PROT_NONE);
	if (pipe(ends) || write(ends[1], "0123456789ab", 12) != 12 || write(pair[0], "0123456789", 10) != 10)
		exit(1);
	add(read(ends[0], bad, 4));
	add(read(ends[0], (void *)(uintptr_t)constant, 4));
	add(*(const volatile char *)constant);
	f = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	add(poll(&f, 1, 0));
	add(poll(bad, 1, 0));
	add(read(ends[0], m + 4092, 6));
	add(readv(ends[0], v, 3));
	add(recv(pair[1], bad, 4, 0));
	add(recvmsg(pair[1], &h, 0));
	add(recv(pair[1], b, 16, MSG_DONTWAIT));
	for (int i = 0; i < 16; i++)
		add(b[i]);
	atomic_store(&stop, 1);
	pthread_join(thread[0], NULL);
}

/* filtered: threads begin under a filter that kills for what else could be done for them */
static void
filtered(void)
{
#define KILLS(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
	struct sock_filter f[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), KILLS(SYS_mmap), KILLS(SYS_mremap),
		KILLS(SYS_mprotect), KILLS(SYS_munmap), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { sizeof(f) / sizeof(f[0]), f };
	static char stack[256 << 10] __attribute__((aligned(4096)));
	struct timespec t = { .tv_nsec = 2000000 };
	pthread_attr_t a;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ||
	    pthread_attr_init(&a) || pthread_attr_setstack(&a, stack, sizeof(stack)))
		exit(1);
	for (int i = 0; i < 3; i++) {
		if (pipe(ends) || pthread_create(&thread[0], &a, vectors_reader, &i))
			exit(1);
		nanosleep(&t, NULL);
		if (write(ends[1], "several", 7) != 7)
			exit(1);
		pthread_join(thread[0], NULL);
		sum = sum * 31 + (uint64_t)large[6];
	}
}

/* signals: between threads, amid a loop, and in calls that wait */
static atomic_int got[N + 1], ready;

static void
on_signal(int sig)
{
	(void)sig;
	own++;
	atomic_fetch_add(&got[own ? N : 0], 1);
}

static void *
signals_thread(void *arg)
{
	struct timespec t = { .tv_sec = 1000 };
	uint64_t x = 0;

	atomic_fetch_add(&ready, 1);
	if ((uintptr_t)arg <= N / 2)
		while (own < 10)
			x++;
	else
		while (own < 10)
			nanosleep(&t, &t);
	atomic_fetch_add(&ready, 1);
	return arg;
}

static void
signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct timespec t = { .tv_nsec = 300000 };

	sigaction(SIGUSR1, &sa, NULL);
	start(signals_thread);
	while (atomic_load(&ready) < N)
		sched_yield();
	while (atomic_load(&ready) < 2 * N) {
		for (int i = 0; i < N; i++)
			pthread_kill(thread[i], SIGUSR1);
		nanosleep(&t, NULL);
	}
	join();
	sum = 1;
}

/* robust: threads that end with a lock that the kernel gives back, one after the other */
static pthread_mutex_t robust_lock;

static void *
robust_thread(void *arg)
{
	int e = pthread_mutex_lock(&robust_lock);

	if (e == EOWNERDEAD) {
		pthread_mutex_consistent(&robust_lock);
		sum++;
	}
	return arg;
}

static void
robust(void)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&robust_lock, &a);
	start(robust_thread);
	join();
}

/* many: threads that come and go; detached ones too */
static sem_t done;

static void *
many_thread(void *arg)
{
	own = (uintptr_t)arg;
	atomic_fetch_add(&stage, own);
	sem_post(&done);
	return arg;
}

static void
many(void)
{
	pthread_attr_t a;
	pthread_t t;

	sem_init(&done, 0, 0);
	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	for (uintptr_t i = 0; i < 40; i++) {
		if (pthread_create(&t, i % 2 ? &a : NULL, many_thread, (void *)i))
			exit(1);
		if (i % 2 == 0)
			pthread_join(t, NULL);
	}
	for (int i = 0; i < 40; i++)
		while (sem_wait(&done))
			;
	sum = atomic_load(&stage);
}

/* leader: the first thread ends before the others */
static void *
leader_thread(void *arg)
{
	pthread_join(*(pthread_t *)arg, NULL);
	puts("leader 1");
	fflush(stdout);
	exit(7);
}

static void
leader(void)
{
	static pthread_t self;

	self = pthread_self();
	if (pthread_create(&thread[0], NULL, leader_thread, &self))
		exit(1);
	pthread_exit(NULL);
}

/* exec: a thread executes a program while others wait and spin.  group: a thread ends the process. */
static const char *path;

static void *
wait_thread(void *arg)
{
	struct timespec t = { .tv_sec = 1000 };

	atomic_fetch_add(&stage, 1);
	if ((uintptr_t)arg == 2)
		for (;;)
			;
	nanosleep(&t, NULL);
	return arg;
}

static void *
exec_thread(void *arg)
{
	execl(path, path, "locks", (char *)NULL);
	return arg;
}

static void *
group_thread(void *arg)
{
	(void)arg;
	puts("group 1");
	fflush(stdout);
	_exit(7);
}

static void
ends_by(void *(*f)(void *))
{
	start(wait_thread);
	while (atomic_load(&stage) < N)
		sched_yield();
	if (pthread_create(&thread[0], NULL, f, NULL))
		exit(1);
	for (;;)
		pause();
}

static void
execs(void)
{
	ends_by(exec_thread);
}

static void
group(void)
{
	ends_by(group_thread);
}

/* kill: a fault of one thread ends all */
static void *
kill_thread(void *arg)
{
	puts("kill 1");
	fflush(stdout);
	*(volatile char *)arg = 1;
	return arg;
}

static void
killed(void)
{
	ends_by(kill_thread);
}

/* forks: processes from threads, by fork and by vfork, while others run */
static void *
forks_thread(void *arg)
{
	int status;
	pid_t pid = (uintptr_t)arg % 2 ? fork() : vfork();

	if (!pid) {
		if ((uintptr_t)arg % 2)
			_exit((int)(uintptr_t)arg);
		execl("/bin/true", "true", (char *)NULL);
		_exit(99);
	}
	if (waitpid(pid, &status, 0) != pid)
		exit(2);
	pthread_mutex_lock(&lock);
	sum += (uint64_t)WEXITSTATUS(status);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void
forks(void)
{
	start(forks_thread);
	join();
}

/* server: threads answer clients on the loopback interface */
static int listening;
static struct sockaddr_in address = { .sin_family = AF_INET };

static void *
server_thread(void *arg)
{
	char b[64];
	socklen_t n = sizeof(address);
	struct sockaddr_in from;
	ssize_t k;
	int fd;

	for (int i = 0; i < 5; i++) {
		n = sizeof(from);
		fd = accept(listening, (struct sockaddr *)&from, &n);
		if (fd < 0)
			exit(2);
		while ((k = recv(fd, b, sizeof(b), 0)) > 0)
			if (send(fd, b, (size_t)k, 0) != k)
				exit(2);
		close(fd);
	}
	return arg;
}

static void *
client_thread(void *arg)
{
	char b[64];

	for (int i = 0; i < 5; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
			exit(2);
		for (int k = 0; k < 4; k++) {
			memset(b, k + 1, sizeof(b));
			if (send(fd, b, sizeof(b), 0) != sizeof(b) ||
			    recv(fd, b, sizeof(b), MSG_WAITALL) != sizeof(b))
				exit(2);
			pthread_mutex_lock(&lock);
			sum += (uint64_t)b[k];
			pthread_mutex_unlock(&lock);
		}
		close(fd);
	}
	return arg;
}

static void
server(void)
{
	socklen_t n = sizeof(address);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listening = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listening, (struct sockaddr *)&address, sizeof(address)) || listen(listening, 16) ||
	    getsockname(listening, (struct sockaddr *)&address, &n))
		exit(1);
	for (int i = 0; i < N; i++)
		if (pthread_create(&thread[i], NULL, i % 2 ? client_thread : server_thread, NULL))
			exit(1);
	join();
}

static const struct mode {
	const char *name;
	void (*run)(void);
} modes[] = {
	{ "locks", locks }, { "conditions", conditions }, { "spin", spin }, { "compute", compute }, { "passes", passes },
	{ "strings", strings }, { "waits", waits }, { "signals", signals }, { "robust", robust },
	{ "many", many }, { "leader", leader }, { "exec", execs }, { "group", group }, { "kill", killed },
	{ "forks", forks }, { "late", late }, { "server", server }, { "vectors", vectors }, { "faults", faults }, { "filtered", filtered },
};

int
main(int argc, char **argv)
{
	path = argv[0];
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name))
			continue;
		modes[i].run();
		printf("%s %llu\n", argv[1], (unsigned long long)sum);
		return 7;
	}
	return 1;
}
