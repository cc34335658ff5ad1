/* A bound on the memory that this process fills: a timer reads /proc/self/status. See memwatch.h. */
#include "base/memwatch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/num.h"
#include "base/progress.h"

#define TICK 50000000l                  /* nanoseconds of processor time between two looks */

static unsigned jobs = 1;
static uint64_t bound;                  /* bytes */
static int status = -1;                 /* descriptor of /proc/self/status */
static volatile sig_atomic_t full;
static char words[160];

/* Memory of this process in bytes: resident, swapped, and page tables; 0 if it cannot be read. */
static uint64_t
memwatch_used(void)
{
	static const char *const key[] = { "VmRSS:", "VmSwap:", "VmPTE:" };
	char b[4096];
	ssize_t n = pread(status, b, sizeof b - 1, 0);
	uint64_t sum = 0;

	if (n <= 0)
		return 0;
	b[n] = '\0';
	for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
		const char *s = strstr(b, key[i]);
		uint64_t kb = 0;

		if (!s)
			continue;
		for (s += strlen(key[i]); *s == ' ' || *s == '\t'; s++)
			;
		for (; *s >= '0' && *s <= '9'; s++)
			kb = 10 * kb + (uint64_t)(*s - '0');
		sum += kb << 10;
	}
	return sum;
}

/*
 * Timer handler. An eighth above the bound, the process is ended here, as it has not asked
 * memwatch_exceeded() in time.
 */
static void
memwatch_check(int sig)
{
	uint64_t n = memwatch_used();

	(void)sig;
	if (n <= bound)
		return;
	full = 1;
	if (n - bound < bound / 8)
		return;
	progress_clear();
	(void)!write(STDERR_FILENO, diag_name(), strlen(diag_name()));
	(void)!write(STDERR_FILENO, ": ", 2);
	(void)!write(STDERR_FILENO, words, strlen(words));
	(void)!write(STDERR_FILENO, "\n", 1);
	_exit(diag_exit_status());
}

static int
memwatch_start_timer(void)
{
	struct sigaction sa = { .sa_handler = memwatch_check, .sa_flags = SA_RESTART };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX };
	struct itimerspec t = { { 0, TICK }, { 0, TICK } };
	sigset_t set;
	timer_t id;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMAX);
	return sigaction(SIGRTMAX, &sa, NULL) != 0 || sigprocmask(SIG_UNBLOCK, &set, NULL) != 0 ||
	    timer_create(CLOCK_PROCESS_CPUTIME_ID, &ev, &id) != 0 ||
	    timer_settime(id, 0, &t, NULL) != 0 ? -1 : 0;
}

int
memwatch_bound(uint64_t *n)
{
	const char *env = getenv("TRACEMILL_MEMORY");

	*n = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4 * 3;
	return env ? num_size(env, 1, UINT64_C(1) << 60, n) : 0;
}

const char *
memwatch_start(void)
{
	int fd;

	if (memwatch_bound(&bound) != 0)
		return "TRACEMILL_MEMORY is no number of bytes";
	bound /= jobs;
	snprintf(words, sizeof words, "%llu bytes of memory are filled, which is the bound: "
	    "TRACEMILL_MEMORY=bytes sets another",
	    (unsigned long long)bound);
	/* makes the kernel kill this process first; failure is no reason not to replay */
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!write(fd, "1000", 4);
		close(fd);
	}
	status = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	return status < 0 ? NULL :
	    memwatch_start_timer() != 0 ? "the memory cannot be watched: no timer" : NULL;
}

void
memwatch_jobs(unsigned n)
{
	jobs = n;
}

const char *
memwatch_exceeded(void)
{
	return full ? words : NULL;
}
