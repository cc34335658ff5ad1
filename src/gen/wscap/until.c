/* --time, --calls: when a capture ends before its program. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/diag.h"
#include "gen/wscap/wscap.h"

#define EVERY 20000000          /* nanoseconds between two looks at the clock when the time is over */

/* A signal interrupts the wait for the processes when the time is over, and again and again after it. */
void
until_begin(struct tree *a)
{
	struct sigevent e;
	struct itimerspec when = {{0, EVERY}, {0, 0}};

	if (!a->until.time)
		return;
	memset(&e, 0, sizeof(e));
	e.sigev_notify = SIGEV_SIGNAL;
	e.sigev_signo = SIGALRM;
	when.it_value.tv_sec = (time_t)(a->until.time / 1000000000);
	when.it_value.tv_nsec = (long)(a->until.time % 1000000000);
	if (timer_create(CLOCK_MONOTONIC, &e, &a->until.timer) ||
	    timer_settime(a->until.timer, 0, &when, NULL))
		die_sys("--time");
	a->until.ticks = 1;
	a->until.time += tree_now(a);
}

void
until_end(struct tree *a)
{
	if (a->until.ticks)
		timer_delete(a->until.timer);
	a->until.ticks = 0;
}

int
until_over(struct tree *a)
{
	struct until *u = &a->until;

	if (a->over)
		return 0;
	if (u->calls && u->ncalls >= u->calls)
		snprintf(u->why, sizeof(u->why), "--calls %llu", (unsigned long long)u->calls);
	else if (u->time && tree_now(a) >= u->time)
		snprintf(u->why, sizeof(u->why), "--time");
	else
		return 0;
	a->over = u->why;
	return 1;
}
