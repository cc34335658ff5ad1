/* What a program may do with system calls that are recorded inside it: recorder NAME. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MANY 150

static volatile unsigned count;

static void
on_signal(int sig)
{
	(void)sig;
	count++;
}

/* Many calls of some kinds: a number that depends on what they returned. */
static unsigned long
work(int times)
{
	unsigned long sum = 0;
	struct timespec t;
	struct timeval v;
	struct stat st;
	char b[300];
	int fd;

	for (int i = 0; i < times; i++) {
		sum = sum * 31 + (unsigned long)getppid();
		fd = open("/dev/zero", O_RDONLY);
		memset(b, 1, sizeof(b));
		sum += (unsigned long)read(fd, b, (size_t)(i % 300)) + (unsigned char)b[0];
		fstat(fd, &st);
		sum += st.st_ino;
		sum += (unsigned long)lseek(fd, 0, SEEK_CUR) + (unsigned long)close(fd);
		sum += (unsigned long)stat("/nowhere", &st) + (unsigned long)read(-1, b, 5) + (unsigned long)errno;
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
		gettimeofday(&v, NULL);
		sum += (unsigned long)t.tv_nsec + (unsigned long)v.tv_usec;
		sum += (unsigned long)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (void *)8);
	}
	return sum;
}

/* All general registers and flags are what the kernel leaves, and the red zone stays. */
static int
registers(void)
{
	static const unsigned long want[] = {2, 3, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15};
	static unsigned long v[12], rcx, r11, flags, here, near, far;  /* not on the stack */

	for (int i = 0; i < MANY; i++) {
		__asm__ volatile(
		    "push %%rbx; push %%rbp; pushq $0xad7; popfq\n"
		    "mov $2, %%rdx; mov $3, %%rbx; mov $5, %%rbp; mov $6, %%rsi; mov $7, %%rdi; mov $8, %%r8\n"
		    "mov $9, %%r9; mov $10, %%r10; mov $12, %%r12; mov $13, %%r13; mov $14, %%r14; mov $15, %%r15\n"
		    "movq %%rdi, %%xmm5; mov $110, %%eax; movq $77, -8(%%rsp); movq $78, -128(%%rsp)\n"
		    "syscall\n"
		    "1: mov -8(%%rsp), %%rax; mov %%rax, %[near]; mov -128(%%rsp), %%rax; mov %%rax, %[far]\n"
		    "pushfq; cld\n"
		    "mov %%rdx, %[v]; mov %%rbx, 8+%[v]; pop %%rax; mov %%rax, %[flags]\n"
		    "mov %%rbp, 16+%[v]; mov %%rsi, 24+%[v]; mov %%rdi, 32+%[v]; mov %%r8, 40+%[v]; mov %%r9, 48+%[v]\n"
		    "mov %%r10, 56+%[v]; mov %%r12, 64+%[v]; mov %%r13, 72+%[v]; mov %%r14, 80+%[v]; mov %%r15, 88+%[v]\n"
		    "mov %%rcx, %[rcx]; mov %%r11, %[r11]; lea 1b(%%rip), %%rax; mov %%rax, %[here]\n"
		    "pop %%rbp; pop %%rbx\n"
		    : [v] "=m"(v), [rcx] "=m"(rcx), [r11] "=m"(r11), [flags] "=m"(flags), [here] "=m"(here),
		      [near] "=m"(near), [far] "=m"(far)
		    :
		    : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm5", "cc",
		      "memory");
		if (memcmp(v, want, sizeof(v)) || near != 77 || far != 78 || rcx != here || r11 != flags ||
		    (flags & 0xcd5) != 0x8d5)
			return printf("wrong in call %d: rcx %d, r11 %lx, flags %lx\n", i, rcx == here, r11, flags);
	}
	return printf("right\n");
}

/* A jump to the instruction after `syscall`, whose bytes are not there any more. */
static long
amid(int i)
{
	long nr = i % 10 == 9 ? -5000 : 110, ret;

	__asm__ volatile("cmp $0, %1; jl 1f; syscall; 1: cmp $-4096, %%rax; ja 2f; mov $1, %%eax; 2:"
	    : "=a"(ret) : "r"(nr), "a"(nr) : "rcx", "r11", "memory");
	return ret;
}

static void
timer(long us)
{
	struct itimerval v = {{0, us}, {0, us}};

	setitimer(ITIMER_REAL, &v, NULL);
}

static void
child(int vforked)
{
	int status;
	pid_t pid = vforked ? vfork() : fork();

	if (pid == 0) {
		if (vforked)
			execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
		_exit((int)(work(MANY) & 7));
	}
	while (waitpid(pid, &status, 0) < 0)
		;
	printf("child %d\n", status != 0 || !vforked);
}

static void
handle(int sig, int flags)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_signal;
	sa.sa_flags = flags;
	sigaction(sig, &sa, NULL);
}

static void
raised(void)
{
	handle(SIGUSR1, 0);
	for (unsigned i = 0; i < MANY; i++) {
		kill(getpid(), SIGUSR1);
		if (count != i + 1)
			printf("late %u\n", i);
	}
	printf("%u\n", count);
}

static void
piped(int sig)
{
	int fd[2], n = 0;
	char b[1] = "x";

	if (pipe(fd))
		exit(1);
	if (sig)
		handle(SIGPIPE, 0);
	for (int i = 0; i < MANY; i++)
		n += (int)write(fd[1], b, 1) + (int)read(fd[0], b, 1);
	close(fd[0]);
	printf("%d\n", n);
	fflush(stdout);
	n = (int)write(fd[1], b, 1);
	printf("%d %u\n", n, count);
}

/* Takes away every page that it can, but its own. */
static void
greedy(void)
{
	unsigned long got = 0;
	static const unsigned long from[] = {0x10000000, 0x7fffa0000000, 0x7fffc0000000,
		0x7fffe0000000, 0x555500000000};

	printf("%d\n", work(MANY) != 0);
	for (int i = 0; i < 5; i++) {
		void *p = mmap((void *)from[i], 0x8000000, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

		got += p == (void *)from[i];
		if (p == (void *)from[i])
			memset(p, i, 4096);
	}
	printf("%lu %d\n", got, work(MANY) != 0);
}

static void *
thread(void *arg)
{
	*(unsigned long *)arg = work(MANY);
	return NULL;
}

/* Is there a mapping that nobody but the recorder has made? */
static int
shown(void)
{
	char line[256];
	FILE *f = fopen("/proc/self/maps", "r");
	int in = 0;

	while (f && fgets(line, sizeof(line), f))
		in += strstr(line, "memfd:recorder") != NULL;
	if (f)
		fclose(f);
	return in;
}

/* Two threads after many calls: where is the recorder then? */
static void
threads(void)
{
	unsigned long mine = work(MANY), other = 0;
	pthread_t t;

	if (pthread_create(&t, NULL, thread, &other))
		exit(1);
	mine += work(MANY);
	pthread_join(t, NULL);
	printf("%d %d\n", shown(), mine != 0 && other != 0);
}

/* A thread whose calls the recorder makes computes for long between two of them. */
static void *
computing(void *arg)
{
	unsigned long x = work(MANY);

	for (int i = 0; i < 60000000; i++)
		x = x * 5 ^ x >> 3;
	*(unsigned long *)arg = x + work(2);
	return NULL;
}

static void
computed(void)
{
	unsigned long x = work(MANY);
	pthread_t t;

	if (pthread_create(&t, NULL, computing, &x))
		exit(1);
	pthread_join(t, NULL);
	printf("%d\n", x != 0);
}

/* A thread that ends. */
static int
joined(void)
{
	unsigned long made = 0;
	pthread_t t;

	if (pthread_create(&t, NULL, thread, &made))
		exit(1);
	pthread_join(t, NULL);
	return made != 0;
}

/* A file of n bytes, which nobody else has. */
static int
file_of(size_t n)
{
	char name[] = "recorder.XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	for (size_t i = 0; i < n; i += 8)
		if (pwrite(fd, &i, 8, (off_t)i) != 8)
			exit(4);
	return fd;
}

/* What may be made of a private mapping of a file, while its contents may not have been read. */
static unsigned long
mapping(int fd, int how)
{
	const int ro = PROT_READ, rw = PROT_READ | PROT_WRITE;
	unsigned long sum = 0;
	unsigned char *p = mmap(NULL, 20000, ro, MAP_PRIVATE, fd, 0), *q;
	unsigned char c = (unsigned char)how;

	if (p == MAP_FAILED)
		return 1;
	if (how % 8 != 7)               /* else what the file has now is first seen later */
		sum += p[8] + p[4096] + p[16001];
	switch (how % 8) {
	case 0:                         /* it is written to */
		mprotect(p, 8192, rw);
		p[8] = p[4096] = c;
		break;
	case 1:                         /* replaced by zeros, in part */
		mmap(p + 4096, 4096, rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		p[4100] = c;
		break;
	case 2:                         /* by another part of the file */
		mmap(p, 4096, ro, MAP_PRIVATE | MAP_FIXED, fd, 8192);
		break;
	case 3:                         /* unmapped in part, and something else comes there */
		munmap(p + 8192, 4096);
		q = mmap(p + 8192, 4096, rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		q[1] = c;
		break;
	case 4:                         /* inaccessible, and accessible again */
		mprotect(p, 4096, PROT_NONE);
		sum += (unsigned long)write(-1, p, 1);
		mprotect(p, 4096, ro);
		break;
	case 5:                         /* the descriptor is closed, and another file has its number */
		q = mmap(NULL, 4096, ro, MAP_PRIVATE, dup2(fd, 77), 4096);
		close(77);
		sum += q[9] + (unsigned long)(dup2(0, 77) > 0) + q[4001];
		munmap(q, 4096);
		break;
	case 6:                         /* the file changes */
		pwrite(fd, &c, 1, 9000);
		break;
	case 7:
		mprotect(p, 4096, rw);
		p[1] = c;
		sum += (unsigned long)read(fd, p + 8, 100);
		lseek(fd, 0, SEEK_SET);
		break;
	}
	sum += p[8] + p[4096] + p[4100] + p[8193] + p[9000] + p[16001];
	munmap(p, 20000);
	return sum;
}

static unsigned long
maps(void)
{
	unsigned long sum = 0;
	int fd = file_of(20000), other;
	char name[] = "recorder.XXXXXX", *p;

	for (int i = 0; i < 4 * MANY; i++)
		sum = sum * 31 + mapping(fd, i % 50 < 40 ? 2 + i % 5 : i);
	for (int i = 0; i < MANY; i++) {        /* what it was before it is cut off; the heap grows and shrinks */
		other = mkstemp(name);
		sum += (unsigned long)write(other, "abcdefgh", 8);
		p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, other, 0);
		sum += (unsigned char)p[i % 8];
		close(open(name, O_WRONLY | O_TRUNC));
		munmap(p, 4096);
		unlink(name);
		close(other);
		memcpy(name + strlen(name) - 6, "XXXXXX", 6);
		*(char *)sbrk(5000) = (char)i;
		sbrk(-(i % 3) * 1000);
		sum += ((unsigned char *)sbrk(0))[-1];
	}
	return sum;
}

/* Do calls that change mappings leave the processor to us seldom? */
static int
maps_seldom(void)
{
	struct rusage before, after;
	void *p;

	for (int i = 0; i < 2000; i++) {
		if (i == 100)
			getrusage(RUSAGE_SELF, &before);
		p = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mprotect(p, 4096, PROT_READ | PROT_WRITE);
		*(int *)p = i;
		munmap(p, 8192);
		sbrk(i % 2 ? 4096 : -4096);
	}
	getrusage(RUSAGE_SELF, &after);
	return after.ru_nvcsw - before.ru_nvcsw < 1000;
}

/* Code and data that are mapped over a file, as a loader does, used at once, and unmapped: what each call returns. */
static unsigned long
code(int times)
{
	char name[] = "recorder.XXXXXX";
	int self = open("/proc/self/exe", O_RDONLY), size = 1 << 18;
	unsigned char b[8192] = {0xb8, 0, 0, 0, 0, 0xc3};       /* mov number, %eax; ret */
	unsigned long sum = 0;

	for (int i = 0; i < times; i++) {
		int fd = mkstemp(name), (*f)(void);
		unsigned char *p, *w, *e;

		memcpy(b + 1, &i, sizeof(i));
		memcpy(b + 4096, &i, sizeof(i));
		if (pwrite(fd, b, sizeof(b), 0) != sizeof(b) || ftruncate(fd, size))
			exit(1);
		p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
		sum = sum * 31 + p[4097 + i % 3];
		mmap(p, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
		memcpy(&f, &p, sizeof(f));
		sum += (unsigned)f();
		w = mmap(p + 4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 4096);
		w[0] = (unsigned char)(w[0] + i % 7);
		w[4] = 3;
		mmap(p + 8192, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
		p[8193] = w[0];
		e = mmap(NULL, (size_t)size, PROT_READ | PROT_EXEC, MAP_PRIVATE, self, 0);
		sum += w[0] + w[1] + p[8193] + p[16000] + p[16385] + e[1] + e[(i + 1) * 100];
		munmap(i % 2 ? e : p, (size_t)size);
		munmap(i % 2 ? p : e, (size_t)size);
		close(fd);
		unlink(name);
		memcpy(name + strlen(name) - 6, "XXXXXX", 6);
	}
	close(self);
	return sum;
}

/* What cpuid answers, of leaves that are the same for all processors of a machine; wrong[0]: other registers changed. */
static unsigned long
answers(int times, int *wrong)
{
	static const unsigned leaf[] = {0, 0x80000002, 0x80000003, 0x80000004, 0x12345678, 0x80000000};
	static unsigned long flags, sp, was, r[8];      /* not on the stack */
	unsigned long sum = 0;

	for (int i = 0; i < times; i++) {
		unsigned long a = leaf[i % 6] | 5ul << 32, c = 7ul << 32, b, d;

		__asm__ volatile("lea -128(%%rsp), %%rsp; mov %%rsp, %[was]; pushq $0xad7; popfq\n"
		    "mov $6, %%rsi; mov $7, %%rdi; mov $8, %%r8; mov $9, %%r9; mov $10, %%r10; mov $11, %%r11\n"
		    "movq $77, -16(%%rsp)\n"
		    "cpuid\n"
		    "mov %%rsi, %[r0]\n"
		    "mov %%rdi, 8+%[r0]; mov %%r8, 16+%[r0]; mov %%r9, 24+%[r0]; mov %%r10, 32+%[r0]; mov %%r11, 40+%[r0]\n"
		    "mov -16(%%rsp), %%rsi; mov %%rsi, 48+%[r0]; mov %%rsp, %[sp]; pushfq; pop %[flags]; cld\n"
		    "lea 128(%%rsp), %%rsp\n"
		    : "+a"(a), "=b"(b), "+c"(c), "=d"(d), [r0] "=m"(r), [sp] "=m"(sp), [was] "=m"(was), [flags] "=m"(flags)
		    : : "rsi", "rdi", "r8", "r9", "r10", "r11", "cc", "memory");
		*wrong |= r[0] != 6 || r[1] != 7 || r[2] != 8 || r[3] != 9 || r[4] != 10 || r[5] != 11 || r[6] != 77 ||
		    sp != was || (flags & 0xcd5) != 0x8d5 || (a | b | c | d) >> 32;
		sum = sum * 31 + a + b * 3 + c * 5 + d * 7;
	}
	return sum;
}

/* The same, and do they leave the processor to us seldom? */
static void
cpuids(void)
{
	struct rusage before, after;
	unsigned long sum = 0;
	int wrong = 0;

	for (int i = 0; i < 1000; i++) {
		if (i == 10)
			getrusage(RUSAGE_SELF, &before);
		sum += answers(1 + i % 6, &wrong);
	}
	getrusage(RUSAGE_SELF, &after);
	printf("%lx %d %d\n", sum, wrong, after.ru_nvcsw - before.ru_nvcsw < 500);
}

/* How many megabytes can be mapped if 200 are the limit? */
static int
room(void)
{
	struct rlimit r = {200 << 20, RLIM_INFINITY};
	int n = 0;

	setrlimit(RLIMIT_AS, &r);
	while (mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		n++;
	r.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_AS, &r);
	return n;
}

static void
limited(void)
{
	int status = 0, n;

	if (fork() == 0)
		_exit(room());
	wait(&status);
	n = WEXITSTATUS(status);
	printf("%d\n", work(MANY) != 0);
	printf("%d\n", room() - n);
}

/* All limits are raised, which limits nothing: are most calls made without us after that? */
static void
unlimited(void)
{
	struct rlimit r = {RLIM_INFINITY, RLIM_INFINITY};
	struct rusage before, after;
	int all = !setrlimit(RLIMIT_AS, &r);

	all += !prlimit(0, RLIMIT_AS, &r, NULL);
	printf("%d\n", work(MANY) != 0);
	getrusage(RUSAGE_SELF, &before);
	printf("%d\n", work(2000) != 0);
	getrusage(RUSAGE_SELF, &after);
	printf("%d %d\n", all, after.ru_nvcsw - before.ru_nvcsw < 20000);
}

/* A program whose filter kills it for calls that the recorder needs, executes this one again. */
static void
filtered(const char *self)
{
	static const unsigned bad[] = {SYS_memfd_create, SYS_prctl, SYS_ftruncate};
	struct sock_filter f[8] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	struct sock_fprog p = {6, f};

	for (unsigned i = 0; i < 3; i++)
		f[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, bad[i], 3 - i, 0);
	f[4] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	f[5] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	if (work(MANY) == 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		return;
	execl(self, self, "work", (char *)NULL);
}

/*
 * Another process begins to write to a file that this one has mapped, while this one waits in a call that
 * the recorder makes.
 */
static void
foreign(void)
{
	char name[] = "recorder.XXXXXX", b[1] = "x";
	int fd = mkstemp(name), in[2], back[2];
	volatile char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	long sum = 0;
	pid_t pid;

	unlink(name);
	if (ftruncate(fd, 4096) || p == MAP_FAILED || pipe(in) || pipe(back))
		exit(1);
	pid = fork();
	if (pid == 0) {
		char *q;

		if (read(back[0], b, 1) != 1)
			_exit(1);
		usleep(20000);
		q = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		for (int i = 0; i < 5; i++) {
			*q = (char)('a' + i);
			if (write(in[1], b, 1) != 1 || read(back[0], b, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < MANY; i++)
		sum += write(in[1], b, 1) + read(in[0], b, 1);
	for (int i = 0; i < 5; i++) {
		sum += write(back[1], b, 1) + read(in[0], b, 1);
		printf("%c", *p);
	}
	sum += write(back[1], b, 1);
	waitpid(pid, NULL, 0);
	printf(" %ld\n", sum);
}

/* A descriptor is closed and given out again: nothing is remembered of the former file. */
static void
closed(void)
{
	char name[] = "recorder.XXXXXX";
	int fd = mkstemp(name), again;
	volatile char *p;
	long sum = 0;

	for (int i = 0; i < MANY; i++)
		sum += pwrite(fd, "abcd", 4, 0);
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	for (int i = 0; i < 4; i++) {
		sum += syscall(SYS_close, fd);  /* at a place that makes few calls */
		again = open(name, O_RDWR);
		sum += again != fd;
		sum += pwrite(again, &"wxyz"[i], 1, 0);
		printf("%c", p[0]);
	}
	unlink(name);
	printf(" %ld\n", sum);
}

static void
on_other(int sig)
{
	count += (unsigned)sig * 1000;
}

/* Actions of signals change often, also in place; the program break too; children and pipes come and go. */
static void
actions(void)
{
	struct sigaction sa, was;
	int fd[2], status;

	memset(&sa, 0, sizeof(sa));
	for (int i = 0; i < MANY; i++) {
		sa.sa_handler = i % 3 ? i % 3 == 1 ? on_signal : on_other : SIG_IGN;
		sa.sa_flags = i % 4 == 1 ? (int)SA_RESETHAND : 0;
		sigaction(SIGUSR1, &sa, &was);
		raise(SIGUSR1);
		sigaction(SIGUSR1, i % 2 ? &was : NULL, &was);
		count += was.sa_handler == on_other;
	}
	syscall(SYS_rt_sigaction, SIGUSR1, &sa, &sa, 8);
	printf("%u %d\n", count, sigaction(99, &sa, NULL));
	for (int i = 0; i < MANY; i++) {
		char *p = sbrk(i % 5 == 4 ? -15000 : 5000);

		if (i % 5 == 4)
			continue;
		count += (unsigned char)p[4999] + (unsigned char)p[0];
		memset(p, i, 5000);
	}
	printf("%u\n", count);
	for (int i = 0; i < 40; i++) {
		if (pipe(fd) || (i % 20 == 0 && fork() == 0))
			_exit(i);
		close(fd[0]);
		close(fd[1]);
		count += (unsigned)waitpid(-1, &status, i % 20 ? WNOHANG : 0) & 0;
		count += (unsigned)WEXITSTATUS(status);
	}
	printf("%u\n", count);
	fflush(stdout);
	for (int i = 0; i < MANY; i++) {
		sa.sa_handler = on_other;
		sa.sa_flags = 0;
		sigaction(i < MANY - 1 ? SIGUSR2 : SIGSYS, &sa, NULL);
	}
	raise(SIGSYS);
	printf("%u\n", count);
}

/* Signals come while the program changes what they do, and whether they do it. */
static void
masks(void)
{
	struct sigaction sa, was;
	sigset_t all, one;
	int i;

	memset(&sa, 0, sizeof(sa));
	sigfillset(&all);
	sa.sa_handler = on_signal;
	sigaction(SIGALRM, &sa, NULL);
	timer(300);
	for (i = 0; count % 1000 < 20 || i < 2000; i++) {
		sigprocmask(i % 2 ? SIG_BLOCK : SIG_SETMASK, &all, &one);
		sigprocmask(i % 3 ? SIG_SETMASK : SIG_UNBLOCK, i % 3 ? &one : &all, &one);
		sa.sa_handler = i % 5 ? on_signal : on_other;
		sigaction(SIGALRM, &sa, i % 7 ? NULL : &was);
	}
	timer(0);
	printf("%d\n", i > 0);
}

/* Threads have ended: the recorder may come again, until there are others. */
static void
again(void)
{
	for (int i = 0; i < 3; i++) {
		printf("%d\n", joined());
		masks();
	}
	child(0);
	child(1);
	joined();
	signal(SIGSYS, on_signal);              /* not after that */
	raise(SIGSYS);
	printf("%d %d\n", count > 0, work(MANY) != 0);
}

/* SIGSYS is ignored, also by programs that are executed; the recorder needs it itself. */
static void
ignored(void)
{
	struct sigaction was;
	int status;

	signal(SIGSYS, SIG_IGN);
	count = work(MANY) != 0;
	raise(SIGSYS);
	kill(getpid(), SIGSYS);
	count += work(MANY) != 0;
	sigaction(SIGSYS, NULL, &was);
	printf("%u %d\n", count, was.sa_handler == SIG_IGN);
	fflush(stdout);
	status = system("kill -SYS $$; grep -q 'SigIgn.*[4-7c-f].......$' /proc/self/status");
	printf("%d\n", WEXITSTATUS(status));
	if (!fork()) {
		raise(SIGSYS);
		count += work(MANY) != 0;
		sigaction(SIGSYS, NULL, &was);
		if (was.sa_handler != SIG_IGN)
			_exit(9);
		signal(SIGSYS, SIG_DFL);
		count += work(MANY) != 0;
		raise(SIGSYS);
	}
	wait(&status);
	printf("%d %d\n", WIFSIGNALED(status), WTERMSIG(status));
	signal(SIGSYS, on_signal);
	raise(SIGSYS);
	printf("%u\n", count + (work(MANY) != 0));
}

/* System V shared memory; and memory that is shared with a child until that ends, or executes a program. */
static void
parted(int executes)
{
	volatile int *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int id = shmget(IPC_PRIVATE, 4096, 0600), fd[2];
	volatile int *q = shmat(id, NULL, 0);
	char b;

	if (p == MAP_FAILED || q == (void *)-1 || pipe(fd))
		exit(9);
	shmctl(id, IPC_RMID, NULL);
	q[1] = p[1] = 4;
	if (!fork()) {
		close(fd[0]);
		if (write(fd[1], "", 1) != 1)
			_exit(9);
		p[0] = 3;
		q[5] = 6;
		close(fd[1]);
		if (executes)
			execlp("true", "true", NULL);
		_exit(0);
	}
	if (read(fd[0], &b, 1) != 1)
		exit(9);
	wait(NULL);
	for (int i = 0; i < 3; i++) {
		count += work(MANY) != 0;
		printf("%d %d %d %d %u\n", p[0]++, p[1] += 2, q[1], q[5] += p[0], count);
	}
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	sigset_t all;
	long sum = 0;

	if (!strcmp(how, "work")) {
		printf("%d\n", work(MANY) != 0);
	} else if (!strcmp(how, "registers")) {
		registers();
	} else if (!strcmp(how, "amid")) {
		for (int i = 0; i < MANY; i++)
			sum += amid(i);
		printf("%ld\n", sum);
	} else if (!strcmp(how, "raise")) {
		raised();
	} else if (!strcmp(how, "timer")) {
		handle(SIGALRM, SA_RESTART);
		timer(300);
		do              /* on a busy machine, all signals may come before this */
			sum += work(20) != 0;
		while (count < 8);
		timer(0);
		printf("%d\n", sum != 0);
	} else if (!strcmp(how, "sleep")) {
		int fd[2];
		char b[1];

		if (pipe(fd))
			return 1;
		handle(SIGALRM, 0);
		for (int i = 0; i < 100; i++)
			sum += write(fd[1], b, 1) + read(fd[0], b, 1);
		timer(3000);
		while (count < 20)
			if (read(fd[0], b, 1) < 0)
				sum += errno == EINTR;
		timer(0);
		printf("%d\n", sum > 200);	/* not each signal comes amid a read */
	} else if (!strcmp(how, "blocked")) {
		sigfillset(&all);
		for (int i = 0; i < 30; i++) {
			sigprocmask(SIG_BLOCK, &all, NULL);
			sum += work(20) != 0;
			sigprocmask(SIG_UNBLOCK, &all, NULL);
		}
		printf("%ld\n", sum);
	} else if (!strcmp(how, "fork") || !strcmp(how, "vfork")) {
		for (int i = 0; i < 3; i++) {
			sum += work(100) != 0;
			fflush(stdout);
			child(how[0] == 'v');
		}
		printf("%ld\n", sum);
	} else if (!strcmp(how, "pipe") || !strcmp(how, "pipekill")) {
		piped(!strcmp(how, "pipe"));
	} else if (!strcmp(how, "unlimited")) {
		unlimited();
	} else if (!strcmp(how, "greedy")) {
		/* at random addresses, its own code may be where it maps something */
		if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE)) {
			personality(ADDR_NO_RANDOMIZE);
			execv("/proc/self/exe", argv);
		}
		greedy();
	} else if (!strcmp(how, "files")) {
		for (int i = 0; i < 100; i++)
			sum += dup2(1, 3 + i % 50) + (long)(work(3) != 0) + close(3 + i % 50);
		close_range(3, ~0u, 0);
		printf("%ld %d\n", sum, work(MANY) != 0);
	} else if (!strcmp(how, "seccomp")) {
		sum = work(MANY) != 0;
		prctl(PR_SET_SECCOMP, 1);
		for (int i = 0; i < MANY; i++)
			sum += write(1, "s", 1);
		syscall(SYS_exit, 3);
	} else if (!strcmp(how, "mapped")) {
		char name[] = "recorder.XXXXXX", *p;
		int fd = mkstemp(name);

		unlink(name);
		for (int i = 0; i < MANY; i++)
			sum += write(fd, "abcd", 4);
		p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		for (int i = 0; i < 100; i++) {
			char c = (char)('a' + i % 20);

			sum += pwrite(fd, &c, 1, i) + p[i];
		}
		printf("%ld\n", sum);
	} else if (!strcmp(how, "maps")) {
		printf("%lu\n", maps());
	} else if (!strcmp(how, "maptimer")) {
		unsigned long of = 0;

		handle(SIGALRM, SA_RESTART);
		timer(300);
		do
			of = of * 31 + maps();
		while (count < 8);
		timer(0);
		printf("%d\n", of != 0);
	} else if (!strcmp(how, "code")) {
		printf("%lu\n", code(MANY));
	} else if (!strcmp(how, "codetimer")) {
		handle(SIGALRM, SA_RESTART);
		timer(300);
		do
			sum += code(20) != 0 && answers(60, &(int){0}) != 0;
		while (count < 8);
		timer(0);
		printf("%d\n", sum != 0);
	} else if (!strcmp(how, "cpuid")) {
		cpuids();
	} else if (!strcmp(how, "seldom")) {
		printf("%d\n", maps_seldom());
	} else if (!strcmp(how, "computed")) {
		computed();
	} else if (!strcmp(how, "thread")) {
		threads();
	} else if (!strcmp(how, "shown")) {
		sum = work(MANY) != 0;
		printf("%ld %d\n", sum, shown());
		printf("%d\n", work(MANY) != 0);
	} else if (!strcmp(how, "limited")) {
		limited();
	} else if (!strcmp(how, "filtered")) {
		filtered(argv[0]);
	} else if (!strcmp(how, "masks")) {
		masks();
	} else if (!strcmp(how, "closed")) {
		closed();
	} else if (!strcmp(how, "actions")) {
		actions();
	} else if (!strcmp(how, "foreign")) {
		foreign();
	} else if (!strcmp(how, "ignored")) {
		ignored();
	} else if (!strcmp(how, "parted")) {
		parted(0);
		parted(1);
	} else if (!strcmp(how, "again")) {
		again();
	} else if (!strcmp(how, "forever")) {
		if (argc > 2 && !strcmp(argv[2], "again"))
			sum += joined() + joined();
		if (argc > 2 && !strcmp(argv[2], "ignored"))
			signal(SIGSYS, SIG_IGN);
		if (argc > 2 && !strcmp(argv[2], "parted"))
			parted(0);
		sum = work(MANY) != 0;          /* it is in the recorder by then */
		printf("ready\n");
		fflush(stdout);
		for (;;)
			sum += (long)work(200) + (long)maps() + (long)code(50) + (long)answers(300, &(int){0});
	}
	fflush(stdout);
	return 0;
}
