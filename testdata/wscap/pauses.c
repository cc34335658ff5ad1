/*
 * Threads that wait for others by reading memory, with `pause`: turns, barrier, asleep, all, fork, timer.  Each prints what
 * it has counted; argument 2: how often, divided by 10 for those that take time.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
on_timer(int sig)
{
	(void)sig;
	handled++;
}

int
main(int argc, char **argv)
{
	pthread_t t[THREADS];
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
	for (unsigned long i = 0; i < ends; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (unsigned i = 0; i < ends; i++)
		pthread_join(t[i], NULL);
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
