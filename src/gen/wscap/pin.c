/*
 * --pin: a program runs on the processor that wscap runs on.  When it stops, one task of that processor follows another; elsewhere,
 * a processor is woken at each stop, which takes some times as long, most of all in virtual machines.  Processes that could
 * run at the same time are let go, to others; and wscap goes elsewhere when somebody else uses the processor.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gen/wscap/thread.h"

enum {
	LOOKS = 64,             /* processes that are looked at on each tick, at most */
	SOON = 10,              /* ticks in which a new process is looked at */
	STOPS_FEW = 20,         /* in a tick: it computes */
	STOPS_MANY = 100,
	CALM = 3,               /* ticks in which a process computes before it is let go */
	EVERY = 100,            /* milliseconds from a look at the processor to the next, at least */
};

static void
pin_thread(const struct tree *a, pid_t tid, enum pinned p)
{
	const struct pin *pin = &a->pin;

	(void)syscall(SYS_sched_setaffinity, tid, pin->n, p == PIN_BOUND ? pin->one : pin->all);
}

/* Binds the process, or lets it go. */
static void
pin_process(struct cap *c, enum pinned p)
{
	c->pinned = p;
	if (!c->th)
		pin_thread(c->all, c->t.pid, p);
	for (struct thread *t = c->th ? c->th->all : NULL; t; t = t->next)
		pin_thread(c->all, t->tid, p);
}

/* wscap itself is bound to the processor where it is, or to another one, which the kernel chooses. */
static int
pin_here(struct tree *a, int other)
{
	struct pin *pin = &a->pin;
	uint8_t rest[sizeof(pin->all)];
	unsigned cpu;

	if (other) {
		for (size_t i = 0; i < pin->n; i++)
			rest[i] = (uint8_t)(pin->all[i] & ~pin->one[i]);
		if (syscall(SYS_sched_setaffinity, 0, pin->n, rest) < 0)
			return -1;
	}
	if (syscall(SYS_getcpu, &cpu, NULL, NULL) < 0 || cpu / 8 >= pin->n)
		return -1;
	memset(pin->one, 0, sizeof(pin->one));
	pin->one[cpu / 8] = (uint8_t)(1u << cpu % 8);
	return syscall(SYS_sched_setaffinity, 0, pin->n, pin->one) < 0 ? -1 : 0;
}

void
pin_begin(struct tree *a)
{
	struct pin *pin = &a->pin;
	long n = syscall(SYS_sched_getaffinity, 0, sizeof(pin->all), pin->all);
	unsigned cpus = 0;

	if (n <= 0)
		return;
	for (long i = 0; i < 8 * n; i++)
		cpus += pin->all[i / 8] >> i % 8 & 1;
	pin->n = (size_t)n;
	pin->on = cpus > 1 && !pin_here(a, 0);
}

void
pin_first(struct cap *c)
{
	if (c->all->pin.on)
		pin_process(c, PIN_BOUND);
}

void
pin_end(struct tree *a)
{
	if (a->pin.on)
		pin_thread(a, 0, PIN_FREE);
	a->pin.on = 0;
}

void
pin_begun(const struct cap *c, pid_t tid)
{
	if (c->pinned == PIN_NOT)
		return;
	pin_thread(c->all, tid, c->pinned);     /* its creator may have been let go meanwhile, or bound */
	if (tid != c->pid)
		return;
	c->all->pin.soon = SOON;
	cap_set_timer(1);
}

void
pin_release(const struct cap *c, pid_t tid)
{
	if (c->pinned != PIN_NOT)
		pin_thread(c->all, tid, PIN_FREE);
}

void
pin_stray(const struct tree *a, pid_t pid)
{
	if (a->pin.on)
		pin_thread(a, pid, PIN_FREE);
}

/* The process that a system call of c names by the id of one of its threads; NULL: it is none of those that wscap binds. */
static struct cap *
pin_named(struct cap *c, uint64_t id)
{
	struct thread *t = id ? thread_find(c->all, (pid_t)id) : NULL;
	struct cap *named = !id ? c : t ? t->c : tree_find(c->all, (pid_t)id);

	return named && named->pinned != PIN_NOT ? named : NULL;
}

void
pin_chosen(struct cap *c, const struct call *k)
{
	struct cap *named = pin_named(c, k->arg[0]);

	if (!named)
		return;
	pin_process(named, PIN_FREE);
	named->pinned = PIN_NOT;
}

void
pin_asked(struct cap *c, const struct call *k)
{
	if (k->ret > 0 && (size_t)k->ret <= sizeof(c->all->pin.all) && pin_named(c, k->arg[0]))
		tracee_write(&c->t, k->arg[2], c->all->pin.all, (size_t)k->ret);
}

/* Could it run now?  It does, or it has stopped and wscap will come to that. */
static int
pin_is_busy(const struct cap *c)
{
	int state;

	if (c->listen || c->turn.ready || (c->th && !c->th->turn))
		return 0;
	state = sched_state(c->t.pid);
	return state == 'R' || state == 't';
}

/* Nanoseconds that a thread could have run, but waited for the processor; 0: the kernel does not tell. */
static uint64_t
pin_waited(pid_t tid)
{
	char text[80];
	unsigned long long ran, waited = 0;
	int fd = tracee_open(tid, "schedstat", O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? waited : 0;
}

static uint64_t
pin_own_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * Somebody else uses the processor if the thread that runs on it and wscap have waited for it for longer than wscap has used it,
 * by a quarter of the time.
 */
static void
pin_check(struct cap *c)
{
	struct tree *a = c->all;
	struct pin *pin = &a->pin;
	uint64_t now = tree_now(a), waited, own, since = now - pin->looked;

	if (pin->tid == c->t.pid && since < EVERY * 1000000ull)
		return;
	waited = pin_waited(c->t.pid) + pin_waited(getpid());
	own = pin_own_time();
	if (pin->tid == c->t.pid && waited - pin->waited > own - pin->own + since / 4 && !pin_here(a, 1))
		for (size_t i = 0; i < NBUCKETS; i++)
			for (struct cap *k = a->bucket[i]; k; k = k->next)
				if (k->pinned == PIN_BOUND)
					pin_process(k, PIN_BOUND);
	pin->tid = c->t.pid;
	pin->looked = now;
	pin->waited = waited;
	pin->own = own;
}

/*
 * Several could run now.  Those that compute are let go but for the first, when that was so for some ticks; those that stop often
 * are not, as wscap comes to one stop at a time.
 */
static void
pin_several(struct cap *const *busy, unsigned n)
{
	unsigned bound = 0;

	for (unsigned i = 0; i < n; i++) {
		struct cap *c = busy[i];

		c->calm = c->nstops < STOPS_FEW ? c->calm + 1 : 0;
		if (c->pinned == PIN_BOUND && bound && c->calm >= CALM)
			pin_process(c, PIN_FREE);
		else if (c->pinned == PIN_FREE && c->nstops > STOPS_MANY)
			pin_process(c, PIN_BOUND);
		bound += c->pinned == PIN_BOUND;
	}
}

int
pin_tick(struct tree *a)
{
	struct cap *busy[LOOKS];
	unsigned n = 0, looks = 0;

	if (!a->pin.on)
		return 0;
	for (size_t i = 0; i < NBUCKETS; i++)
		for (struct cap *c = a->bucket[i]; c && looks < LOOKS; c = c->next) {
			looks++;
			if (c->pinned != PIN_NOT && pin_is_busy(c))
				busy[n++] = c;
		}
	if (n == 1 && busy[0]->pinned == PIN_FREE)
		pin_process(busy[0], PIN_BOUND);
	if (n == 1)
		pin_check(busy[0]);
	else
		pin_several(busy, n);
	for (unsigned i = 0; i < n; i++)
		busy[i]->nstops = 0;
	if (a->pin.soon)
		a->pin.soon--;
	return n > 1 || a->pin.soon;
}
