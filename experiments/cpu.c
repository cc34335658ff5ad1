/*
 * cpu: CPU time of a command, as the kernel counts it, the median of several runs.
 *
 *   cpu [-m] [-n runs] [-i file] [-o file] command [argument ...]
 *
 * Prints user and system seconds, `1.234 0.056`; -m: and the most memory it had, in kilobytes.  Standard output goes to -o (default /dev/null), standard input
 * comes from -i (default /dev/null).  The exit status is that of the last run.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct cost { double user, sys; };

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

static int
by_sum(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;
	double d = x->user + x->sys - y->user - y->sys;

	return (d > 0) - (d < 0);
}

static void
onto(const char *name, int flags, int fd)
{
	int f = open(name, flags, 0666);

	if (f < 0 || dup2(f, fd) < 0) {
		perror(name);
		_exit(126);
	}
	close(f);
}

int
main(int argc, char **argv)
{
	const char *in = "/dev/null", *out = "/dev/null";
	struct cost cost[99];
	int c, n = 1, status = 0, memory = 0;
	long most = 0;

	while ((c = getopt(argc, argv, "+i:mn:o:")) != -1) {
		switch (c) {
		case 'i': in = optarg; break;
		case 'o': out = optarg; break;
		case 'm': memory = 1; break;
		case 'n': n = atoi(optarg); break;
		default: return 2;
		}
	}
	if (optind == argc || n < 1 || n > 99) {
		fputs("usage: cpu [-m] [-n runs] [-i file] [-o file] command [argument ...]\n", stderr);
		return 2;
	}
	for (int i = 0; i < n; i++) {
		struct rusage ru;
		pid_t pid = fork();

		if (pid == 0) {
			onto(in, O_RDONLY, 0);
			onto(out, O_WRONLY | O_CREAT | O_TRUNC, 1);
			execvp(argv[optind], argv + optind);
			perror(argv[optind]);
			_exit(127);
		}
		if (pid < 0 || wait4(pid, &status, 0, &ru) != pid) {
			perror("cpu");
			return 2;
		}
		cost[i].user = seconds(ru.ru_utime);
		cost[i].sys = seconds(ru.ru_stime);
		most = ru.ru_maxrss > most ? ru.ru_maxrss : most;
	}
	qsort(cost, (size_t)n, sizeof(*cost), by_sum);
	printf("%.4f %.4f", cost[n / 2].user, cost[n / 2].sys);
	printf(memory ? " %ld\n" : "\n", most);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
