/*
 * Threads that wait for others by reading memory, with `pause`: turns, barrier, asleep, all, fork, timer, and those
 * of odd[], of which bare, counting and locked wait without it; processes: two of them do.  Each prints what it has counted; argument 2: how often, less for those that take time.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3

static volatile unsigned turn, arrived, sense, ends;
static volatile unsigned long counted[THREADS], handled;
static unsigned rounds;
static const char *mode;

static void
await(const volatile unsigned *p, unsigned value)
{
	while (*p != value)
		__builtin_ia32_pause();
}

/* Begins behind the pause, and counts in memory: the registers are the same each time. */
static void
await_counted(const volatile unsigned *p, unsigned value, volatile unsigned long *n)
{
	__asm__ volatile("jmp 2f\n"
	    "1:	pause\n"
	    "2:	incq (%2)\n"
	    "	cmpl %1, (%0)\n"
	    "	jne 1b"
	    : : "r"(p), "r"(value), "r"(n) : "memory", "cc");
}

/* The same with an instruction of three bytes. */
static void
await_prefixed(const volatile unsigned *p, unsigned value)
{
	__asm__ volatile("jmp 2f\n"
	    "1:	.byte 0x66\n"
	    "	pause\n"
	    "2:	cmpl %1, (%0)\n"
	    "	jne 1b"
	    : : "r"(p), "r"(value) : "memory", "cc");
}

/* A page of code that can be moved. */
void await_moved(const volatile unsigned *p, unsigned value);
__asm__(".text\n"
    "	.p2align 12\n"
    "await_moved:\n"
    "	jmp 2f\n"
    "1:	pause\n"
    "2:	cmpl %esi, (%rdi)\n"
    "	jne 1b\n"
    "	ret\n"
    "	.p2align 12\n");

static void (*await_odd)(const volatile unsigned *, unsigned);

/* Without a pause: it only reads. */
static void
await_bare(const volatile unsigned *p, unsigned value)
{
	while (*p != value)
		;
}

/* The same with a jump of six bytes, and a register that counts. */
static void
await_counting(const volatile unsigned *p, unsigned value)
{
	unsigned long n = 0;

	__asm__ volatile("jmp 2f\n"
	    "1:	inc %0\n"
	    "	jmp 2f\n"
	    "	.skip 200, 0x90\n"
	    "2:	cmpl %2, (%1)\n"
	    "	jne 1b"
	    : "+r"(n) : "r"(p), "r"(value) : "cc");
}

/* The same with an instruction that writes, but changes nothing while it waits. */
static void
await_locked(const volatile unsigned *p, unsigned value)
{
	unsigned v = value;

	while (!__atomic_compare_exchange_n((volatile unsigned *)(unsigned long)p, &v, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		v = value;
}

static void
barrier(void)
{
	unsigned was = sense;

	if (__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST) == THREADS) {
		arrived = 0;
		sense = was + 1;
	} else {
		await(&sense, was + 1);
	}
}

static void
rest(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 15000000}, NULL);
}

static void *
work(void *arg)
{
	unsigned me = (unsigned)(unsigned long)arg;

	for (unsigned i = 0; i < rounds; i++) {
		if (!strcmp(mode, "barrier")) {
			barrier();
			counted[me] = counted[me] * 31 + sense;
			barrier();
			counted[me] += i;
		} else if (!strcmp(mode, "asleep") || !strcmp(mode, "all")) {
			/* one that sleeps, and one that waits for it, or two */
			if (me == 0)
				rest();
			if (me == 0) {
				sense = i + 1;
				await(&arrived, (i + 1) * (ends - 1));
			} else {
				await(&sense, i + 1);
				__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
			}
			counted[me] = counted[me] * 31 + i;
		} else if (await_odd) {
			await_odd(&turn, i * ends + me);
			counted[me] = counted[me] * 31 + turn;
			turn++;
		} else if (i % 2) {
			await(&turn, i * ends + me);
			counted[me] = counted[me] * 31 + turn;
			turn++;
		} else {
			await_counted(&turn, i * ends + me, &counted[THREADS - 1]);
			turn++;
		}
	}
	return NULL;
}

static void
all_turns(void)
{
	pthread_t t[THREADS];

	for (unsigned long i = 0; i < ends; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (unsigned i = 0; i < ends; i++)
		pthread_join(t[i], NULL);
}

static void
on_timer(int sig)
{
	(void)sig;
	handled++;
}

static void
prefixed(void)
{
	rounds /= 50;
	await_odd = await_prefixed;
	all_turns();
}

static void
bare(void)
{
	await_odd = await_bare;
	all_turns();
}

static void
counting(void)
{
	await_odd = await_counting;
	all_turns();
}

static void
locked(void)
{
	await_odd = await_locked;
	all_turns();
}

/* Two processes in the same memory, with pauses, and without. */
static void
processes(void)
{
	volatile unsigned *next = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t other = fork();
	unsigned me = other == 0;
	int status = 1;

	for (unsigned i = 0; i < rounds; i++) {
		(i < rounds / 2 ? await : await_bare)(next, 2 * i + me);
		counted[me] = counted[me] * 31 + *next;
		++*next;
	}
	if (!other)
		_exit(0);
	waitpid(other, &status, 0);
	counted[1] = (unsigned long)status;
	turn = *next;
}

/* their code moves */
static void
moved(void)
{
	void *to = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	await_odd = await_moved;
	all_turns();
	memcpy(&await_odd, &to, sizeof(to));
	if (mremap((void *)(unsigned long)await_moved, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED)
		exit(1);
	rounds = 20;
	turn = 0;
	all_turns();
}

/* a signal of the number that breakpoints have waits until it is unblocked */
static void
blocked(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	signal(SIGTRAP, on_timer);
	all_turns();
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGTRAP);
	turn = 0;
	all_turns();
	counted[0] += handled;
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	__asm__("int3");
	counted[1] += handled;
}

/* The bytes of rdrand amid others, which are not executed; then other code at the same place. */
static int (*remapped)(void);

static void
map_code(int other)
{
	unsigned char code[] = { 0x0f, 0xc7, 0xf0, 0x90, 0xb8, 7, 0, 0, 0, 0xc3 };
	int fd = memfd_create("code", 0);

	if (other)
		memset(code, 0x90, 4);
	if (write(fd, code, sizeof(code)) != sizeof(code))
		exit(1);
	if (mmap((void *)0x10000000, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		exit(1);
	close(fd);
}

static void *
calls_remapped(void *arg)
{
	await(&sense, 1);
	arrived = 1;
	await(&sense, 2);
	for (unsigned i = 0; i < rounds; i++)
		counted[1] += (unsigned long)remapped();
	return arg;
}

static void
other_code(void)
{
	pthread_t t;
	unsigned long at = 0x10000000;

	memcpy(&remapped, &at, sizeof(at));
	pthread_create(&t, NULL, calls_remapped, NULL);
	map_code(0);
	sense = 1;
	await(&arrived, 1);
	map_code(1);
	sense = 2;
	pthread_join(t, NULL);
}

static const struct { const char *name; void (*run)(void); } odd[] = {
	{ "prefixed", prefixed }, { "moved", moved }, { "blocked", blocked }, { "remapped", other_code },
	{ "bare", bare }, { "counting", counting }, { "locked", locked }, { "processes", processes },
};

int
main(int argc, char **argv)
{
	void (*run)(void) = all_turns;
	pid_t child = 0;

	mode = argc > 1 ? argv[1] : "turns";
	rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 1000;
	ends = !strcmp(mode, "barrier") || !strcmp(mode, "all") ? THREADS : 2;
	if (!strcmp(mode, "asleep") || !strcmp(mode, "all"))
		rounds /= 50;
	if (!strcmp(mode, "timer")) {
		struct itimerval v = {{0, 3000}, {0, 3000}};
		struct sigaction a = {.sa_handler = on_timer, .sa_flags = SA_RESTART};

		sigaction(SIGALRM, &a, NULL);
		setitimer(ITIMER_REAL, &v, NULL);
	}
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		if (!strcmp(mode, odd[i].name))
			run = odd[i].run;
	run();
	if (!strcmp(mode, "fork")) {
		child = fork();
		if (!child) {
			turn = 0;
			for (unsigned i = 0; i < 100; i++) {
				turn = i;
				await_counted(&turn, i, &handled);
				await(&turn, i);
				__builtin_ia32_pause();
			}
			_exit(handled == 100 ? 0 : 1);
		}
	}
	if (child) {
		int status = 1;

		waitpid(child, &status, 0);
		printf("child %d\n", status);
	}
	/* how often it has looked differs from run to run: it is told to nobody */
	printf("%s %lx %lx %u\n", mode, counted[0], counted[1], turn);
	fprintf(stderr, "looked %lu, handled %lu\n", counted[THREADS - 1], handled);
	return 7;
}
